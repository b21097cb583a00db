// What the calls of NCCL have in common: their facts, what is wrong with the last one, sums over ranks. What would wait for ever
// on a card ends with a sentence.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "../include/nccl.h"
#include "api_copies.h"
#include "nccl_numbers.h"
#include "nccl_processes.h"

namespace cuda_cpu {
struct NcclCall;
struct Clique {  // the communicators of one initialisation, by rank
    std::vector<ncclComm_t> comms;
    std::vector<std::deque<NcclCall*>> posted;
};
}  // namespace cuda_cpu

struct ncclComm {
    std::shared_ptr<Clique> clique;
    int rank, device;
    std::shared_ptr<Meeting> meeting{};  // where ranks are in other processes
};

struct cuda_cpu::NcclCall {
    const char* function;
    ncclComm_t comm;
    const void* send;
    void* receive;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t operation;
    int other;  // the root or the peer, -1 without
    cudaStream_t stream;
    bool done = false;
    std::string wrong{};  // why it came to nothing

    size_t bytes() const { return count * size_of(type); }
    bool is(const char* name) const { return std::strcmp(function, name) == 0; }
    bool between_two() const { return is("ncclSend") || is("ncclRecv"); }
    size_t ranks() const { return comm->clique->comms.size(); }
};

namespace {

std::mutex nccl_mutex;  // is taken before the queue's
std::condition_variable nccl_changed;
std::map<std::string, std::shared_ptr<Clique>> cliques_of_ids;
thread_local int open_groups = 0;
thread_local std::vector<NcclCall> collected;
thread_local std::vector<ncclComm_t> waiting;  // for the other ranks of their initialisation
thread_local ncclResult_t detailed_result = ncclSuccess, first_failure = ncclSuccess;
thread_local std::string nccl_detail;

ncclResult_t nccl_failed(ncclResult_t result, const std::string& detail) {
    if (findings_are_wanted()) note("other", learners_place() + detail + ".");
    if (open_groups > 0 && first_failure == ncclSuccess) first_failure = result;
    detailed_result = result;
    nccl_detail = detail;
    return result;
}

// A device is current for a moment.
struct AsCurrent {
    const int before = current_device;
    explicit AsCurrent(int device) { current_device = device; }
    ~AsCurrent() { current_device = before; }
};

// Puts what the ranks have called into their streams.
void enqueue(const std::vector<NcclCall*>& calls, std::function<void()> work) {
    Queue& queue = Queue::instance();
    const std::lock_guard<std::recursive_mutex> lock(queue.mutex());
    std::vector<uint64_t> arrivals;
    for (const NcclCall* const call : calls) {
        const AsCurrent device(call->comm->device);
        arrivals.push_back(queue.add(call->stream, [] {}));
    }
    uint64_t number = 0;
    {
        const AsCurrent device(calls[0]->comm->device);
        for (const uint64_t arrival : arrivals) queue.wait(calls[0]->stream, arrival);
        number = queue.add(calls[0]->stream, [work = std::move(work)] {
            if (lost_device != cudaSuccess) return;
            Memory::instance().set_open(all_devices);
            work();
        });
    }
    for (NcclCall* const call : calls) {
        const AsCurrent device(call->comm->device);
        if (call != calls[0]) queue.wait(call->stream, number);
        call->done = true;
    }
}

void move(const void* from, void* to, size_t bytes) {
    if (from == to || bytes == 0) return;
    observer::copied(to, from, bytes);
    std::memmove(to, from, bytes);
}

// `count` elements from `offset` on, over all ranks.
std::vector<char> reduced(const std::vector<NcclCall>& calls, size_t offset, size_t count) {
    const NcclCall& first = calls[0];
    const size_t size = size_of(first.type);
    std::vector<char> sum(count * size);
    for (const NcclCall& call : calls) {
        const char* const from = static_cast<const char*>(call.send) + offset * size;
        observer::read(from, sum.size());
        if (&call == &first)
            std::memcpy(sum.data(), from, sum.size());
        else
            combine(first.type, first.operation, sum.data(), from, count);
    }
    if (first.operation == ncclAvg) divide(first.type, sum.data(), count, calls.size());
    return sum;
}

void put(const std::vector<char>& values, void* to) {
    if (values.empty()) return;
    observer::filled(static_cast<char*>(to), values.size());
    std::memcpy(to, values.data(), values.size());
}

}  // namespace
