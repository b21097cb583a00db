// NCCL's calls where each rank is in a process of its own.
#pragma once

#include "api_streams.h"
#include "nccl_calls.h"

namespace {

// The work of this rank, with messages to and from the others: its sends and receives, or one call of all ranks.
void do_across(const std::vector<NcclCall>& calls) {
    const NcclCall& first = calls[0];
    const int rank = first.comm->rank, ranks = static_cast<int>(first.ranks());
    const size_t bytes = first.bytes();
    std::vector<Meeting::Message> messages;
    if (first.between_two()) {
        for (const NcclCall& call : calls) {
            const bool is_sent = call.is("ncclSend");
            char* const data =
                static_cast<char*>(is_sent ? const_cast<void*>(call.send) : call.receive);
            is_sent ? observer::read(data, call.bytes()) : observer::filled(data, call.bytes());
            messages.push_back({call.other, data, call.bytes(), is_sent});
        }
        return first.comm->meeting->exchange("ncclSend", std::move(messages));
    }
    char* const own = static_cast<char*>(const_cast<void*>(first.send));
    const bool scatters = first.is("ncclReduceScatter"), is_root = rank == first.other;
    const bool from_root = first.is("ncclBroadcast"), to_root = first.is("ncclReduce");
    std::vector<std::vector<char>> got(static_cast<size_t>(ranks));
    for (int other = 0; other < ranks; ++other) {
        std::vector<char>& from = got[static_cast<size_t>(other)];
        char* const part = own + (scatters ? static_cast<size_t>(other) * bytes : 0);
        const bool is_wanted = to_root ? is_root : !from_root || other == first.other;
        const bool is_given = from_root ? is_root : !to_root || other == first.other;
        if (is_wanted) from.resize(bytes);
        if (other == rank) {
            if (is_wanted && bytes > 0) std::memcpy(from.data(), part, bytes);
            continue;
        }
        if (is_given) messages.push_back({other, part, bytes, true});
        if (is_wanted) messages.push_back({other, from.data(), bytes, false});
    }
    if (!from_root || is_root)
        observer::read(own, scatters ? static_cast<size_t>(ranks) * bytes : bytes);
    first.comm->meeting->exchange(first.function, std::move(messages));
    if (from_root) return put(got[static_cast<size_t>(first.other)], first.receive);
    if (first.is("ncclAllGather")) {
        for (size_t other = 0; other < got.size(); ++other)
            put(got[other], static_cast<char*>(first.receive) + other * bytes);
        return;
    }
    if (to_root && !is_root) return;
    for (size_t other = 1; other < got.size(); ++other)
        combine(first.type, first.operation, got[0].data(), got[other].data(), first.count);
    if (first.operation == ncclAvg) divide(first.type, got[0].data(), first.count, got.size());
    put(got[0], first.receive);
}

// Puts these calls, of one rank, into its stream.
void enqueue_across(const std::vector<NcclCall>& calls) {
    const std::lock_guard<std::recursive_mutex> lock(Queue::instance().mutex());
    const AsCurrent device(calls[0].comm->device);
    const uint64_t number = Queue::instance().add(calls[0].stream, [calls] {
        if (lost_device != cudaSuccess) return;
        Memory::instance().set_open(all_devices);
        do_across(calls);
    });
    run_behind_the_host(number);
}

// Calls of ranks whose others are in other processes go into their streams: sends and receives that belong together in one
// piece. The calls that are left are returned.
std::vector<NcclCall> without_those_across(const std::vector<NcclCall>& calls) {
    std::vector<NcclCall> left, together;
    const auto flush = [&] {
        if (!together.empty()) enqueue_across(together);
        together.clear();
    };
    for (const NcclCall& call : calls) {
        if (call.comm->meeting == nullptr) {
            left.push_back(call);
            continue;
        }
        if (!call.between_two() || (!together.empty() && together[0].stream != call.stream))
            flush();
        together.push_back(call);
        if (!call.between_two()) flush();
    }
    flush();
    return left;
}

}  // namespace
