// Copies between the device and the host's usual memory, carried by several threads of the host.
//
// A card reads and writes by itself only memory that is pinned. From any other, cudaMemcpy lets one thread carry
// the data piece by piece to pinned memory of the driver, and that thread is slower than the bus. Here each
// thread has a pinned piece and a stream, and carries its own part; while some carry, the pieces of others are on
// the bus (streams and pinned memory: lab 17).
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "checks.h"
#include "parts.h"

namespace lab {

class Carriers {
 public:
    Carriers() : streams_(size_t(parts_of(INT64_MAX))) {
        CHECK(cudaMallocHost(&pieces_, streams_.size() * piece_bytes));
        for (cudaStream_t& stream : streams_) {
            CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        }
    }
    ~Carriers() {
        for (const cudaStream_t stream : streams_) cudaStreamDestroy(stream);
        cudaFreeHost(pieces_);
    }
    Carriers(const Carriers&) = delete;
    Carriers& operator=(const Carriers&) = delete;

    // Both begin when the default stream has nothing left to do, and return when everything is there.
    void to_device(void* d_values, const void* h_values, int64_t bytes) {
        carry(bytes, [&](int64_t at, int64_t length, char* piece, cudaStream_t stream) {
            std::memcpy(piece, static_cast<const char*>(h_values) + at, size_t(length));
            CHECK(cudaMemcpyAsync(static_cast<char*>(d_values) + at, piece, size_t(length),
                                  cudaMemcpyHostToDevice, stream));
            CHECK(cudaStreamSynchronize(stream));
        });
    }
    void to_host(void* h_values, const void* d_values, int64_t bytes) {
        carry(bytes, [&](int64_t at, int64_t length, char* piece, cudaStream_t stream) {
            CHECK(cudaMemcpyAsync(piece, static_cast<const char*>(d_values) + at, size_t(length),
                                  cudaMemcpyDeviceToHost, stream));
            CHECK(cudaStreamSynchronize(stream));
            std::memcpy(static_cast<char*>(h_values) + at, piece, size_t(length));
        });
    }

 private:
    static constexpr int64_t piece_bytes = 2 << 20;

    template <class Carry>
    void carry(int64_t bytes, Carry&& carry_piece) {
        CHECK(cudaStreamSynchronize(nullptr));
        in_parts(bytes, [&](int64_t part, int64_t begin, int64_t end) {
            for (int64_t at = begin; at < end; at += piece_bytes) {
                carry_piece(at, std::min(piece_bytes, end - at), pieces_ + part * piece_bytes,
                            streams_[size_t(part)]);
            }
        });
    }

    std::vector<cudaStream_t> streams_;  // one a thread
    char* pieces_ = nullptr;             // (threads, piece_bytes), pinned
};

}  // namespace lab
