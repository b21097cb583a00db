// Part one: a picture that is sharpened, whole or in strips of rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "timeline.h"

// What becomes of a pixel: itself, and once more by how much it differs from the mean of its eight
// neighbours, cut to 0..255. `eight` is their sum. Whole numbers only: every way gives the same bytes.
__host__ __device__ inline uint8_t sharpened(int pixel, int eight) {
    const int value = 16 * pixel - eight;
    return uint8_t(value < 0 ? 0 : value / 8 > 255 ? 255 : value / 8);
}

// input, output: (height, width), row-major. Writes `rows` rows of the output from row `first` on, and
// reads one row more above and below. Beyond the picture its edge goes on.
__global__ void sharpen_kernel(const uint8_t* input, uint8_t* output, int height, int width,
                               int first, int rows) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || row >= rows) return;
    const int y = first + row;
    int sum = 0;
    for (int dy = -1; dy <= 1; ++dy) {
        const int64_t start = int64_t{min(max(y + dy, 0), height - 1)} * width;
        for (int dx = -1; dx <= 1; ++dx) sum += input[start + min(max(x + dx, 0), width - 1)];
    }
    const int64_t here = int64_t{y} * width + x;
    output[here] = sharpened(input[here], sum - input[here]);
}

inline lab::Launch sharpen_shape(int width, int rows) {
    const dim3 block(64, 4);
    return {dim3(unsigned(lab::divide_up(width, block.x)), unsigned(lab::divide_up(rows, block.y))),
            block};
}

// The reference: the same on the host.
inline void sharpen_rows_on_cpu(const uint8_t* input, uint8_t* output, int height, int width,
                                int begin, int end) {
    for (int y = begin; y < end; ++y) {
        for (int x = 0; x < width; ++x) {
            int sum = 0;
            for (int dy = -1; dy <= 1; ++dy) {
                const int64_t start = int64_t{std::clamp(y + dy, 0, height - 1)} * width;
                for (int dx = -1; dx <= 1; ++dx)
                    sum += input[start + std::clamp(x + dx, 0, width - 1)];
            }
            const int64_t here = int64_t{y} * width + x;
            output[here] = sharpened(input[here], sum - input[here]);
        }
    }
}
inline void sharpen_on_cpu(const uint8_t* input, uint8_t* output, int height, int width) {
    const lab::NvtxRange range("reference");
    const auto work = [&](int64_t, int64_t begin, int64_t end) {
        sharpen_rows_on_cpu(input, output, height, width, int(begin), int(end));
    };
    lab::in_parts(height, work, 9 * int64_t{width});
}

// What the host is told of a strip that has come back: the sum of its first and its last row, as a sample.
struct Arrival {
    const uint8_t* first_row;
    const uint8_t* last_row;
    int width;
    int32_t sum;
};

// A function of the host that a stream calls (cudaLaunchHostFunc): `data` is an Arrival. It makes no CUDA calls.
inline void CUDART_CB note_arrival(void* data) {
    Arrival& arrival = *static_cast<Arrival*>(data);
    int32_t sum = 0;
    for (int x = 0; x < arrival.width; ++x) sum += arrival.first_row[x] + arrival.last_row[x];
    arrival.sum = sum;
}

// A picture on both sides, its strips, and the streams over which they are dealt out.
struct Picture {
    int height = 0, width = 0, strips = 0;
    const uint8_t* h_input = nullptr;  // all four (height, width); h_ on the host, d_ on the device
    uint8_t* h_output = nullptr;
    uint8_t* d_input = nullptr;
    uint8_t* d_output = nullptr;
    Arrival* arrivals = nullptr;      // (strips)
    std::vector<cudaEvent_t> copied;  // (strips): the strip is on the device
    std::vector<cudaStream_t> streams;
    std::vector<cudaEvent_t> joints;  // one a stream, for fork_streams() and join_streams()
    Timeline* timeline = nullptr;

    cudaStream_t stream(int strip) const { return streams[size_t(strip) % streams.size()]; }
    int first_row(int strip) const { return int(int64_t{height} * strip / strips); }
    int rows(int strip) const { return first_row(strip + 1) - first_row(strip); }
    int64_t offset(int strip) const { return int64_t{first_row(strip)} * width; }
    size_t bytes(int strip) const { return size_t(rows(strip)) * width; }
};

// All streams wait for what is in the first one; the first one waits for what is in all. What lies
// between two such points is one piece of work, whoever asks for it in the first stream.
inline void fork_streams(const Picture& picture) {
    CHECK(cudaEventRecord(picture.joints[0], picture.streams[0]));
    for (size_t i = 1; i < picture.streams.size(); ++i)
        CHECK(cudaStreamWaitEvent(picture.streams[i], picture.joints[0], 0));
}
inline void join_streams(const Picture& picture) {
    for (size_t i = 1; i < picture.streams.size(); ++i) {
        CHECK(cudaEventRecord(picture.joints[i], picture.streams[i]));
        CHECK(cudaStreamWaitEvent(picture.streams[0], picture.joints[i], 0));
    }
}
