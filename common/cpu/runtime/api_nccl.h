// NCCL between the pretend devices of one process: a call of a rank is posted; when those of all ranks that take part
// are there, each one's stream waits for all, the work is done in one of them, and the others wait for that.
#pragma once

#include "nccl_across.h"

namespace {

// The work of all ranks together; calls[r] is that of rank r.
void do_together(const std::vector<NcclCall>& calls) {
    const NcclCall& first = calls[0];
    const size_t bytes = first.bytes();
    if (first.is("ncclAllReduce") || first.is("ncclReduce")) {
        const std::vector<char> sum = reduced(calls, 0, first.count);
        for (const NcclCall& call : calls)
            if (first.other < 0 || call.comm->rank == first.other) put(sum, call.receive);
    } else if (first.is("ncclReduceScatter")) {
        std::vector<std::vector<char>> sums;
        for (size_t rank = 0; rank < calls.size(); ++rank)
            sums.push_back(reduced(calls, rank * first.count, first.count));
        for (size_t rank = 0; rank < calls.size(); ++rank) put(sums[rank], calls[rank].receive);
    } else if (first.is("ncclBroadcast")) {
        for (const NcclCall& call : calls)
            move(calls[static_cast<size_t>(first.other)].send, call.receive, bytes);
    } else {  // ncclAllGather
        for (size_t rank = 0; rank < calls.size(); ++rank)
            for (const NcclCall& call : calls)
                move(calls[rank].send, static_cast<char*>(call.receive) + rank * bytes, bytes);
    }
}

// Whether all ranks have called the same as the first; else why not.
std::string disagreement(const std::vector<NcclCall*>& calls) {
    const NcclCall& first = *calls[0];
    for (const NcclCall* const call : calls) {
        const int rank = call->comm->rank;
        if (!call->is(first.function))
            return format("rank 0 calls %s, rank %d %s", first.function, rank, call->function);
        if (call->count != first.count)
            return format("%s: rank 0 gives a count of %zu, rank %d one of %zu", first.function,
                          first.count, rank, call->count);
        if (call->type != first.type || call->operation != first.operation ||
            call->other != first.other)
            return format("%s: ranks 0 and %d name another type, operation or root", first.function,
                          rank);
    }
    return "";
}

void take(Clique& clique, NcclCall* call) {
    auto& posted = clique.posted[static_cast<size_t>(call->comm->rank)];
    posted.erase(std::find(posted.begin(), posted.end(), call));
}
void end(Clique& clique, const std::vector<NcclCall*>& calls, const std::string& wrong) {
    for (NcclCall* const call : calls) {
        take(clique, call);
        call->wrong = wrong;
        call->done = true;
    }
}

// What `rank` sends to `peer`, or receives from it, before its next call of all ranks.
NcclCall* between(Clique& clique, int rank, int peer, const char* function) {
    for (NcclCall* const call : clique.posted[static_cast<size_t>(rank)]) {
        if (!call->between_two()) return nullptr;
        if (call->is(function) && call->other == peer) return call;
    }
    return nullptr;
}

// Takes what can be done from what was posted. Whether there was something.
bool matched(Clique& clique) {
    const int ranks = static_cast<int>(clique.comms.size());
    for (int from = 0; from < ranks; ++from)
        for (int to = 0; to < ranks; ++to) {
            NcclCall* const send = between(clique, from, to, "ncclSend");
            NcclCall* const receive = between(clique, to, from, "ncclRecv");
            if (send == nullptr || receive == nullptr) continue;
            const std::string wrong =
                send->bytes() == receive->bytes()
                    ? ""
                    : format("rank %d sends %zu bytes to rank %d, which expects %zu", from,
                             send->bytes(), to, receive->bytes());
            if (wrong.empty())
                enqueue({send, receive}, [a = send->send, b = receive->receive,
                                          bytes = send->bytes()] { move(a, b, bytes); });
            end(clique, {send, receive}, wrong);
            return true;
        }
    std::vector<NcclCall*> calls;
    for (const auto& posted : clique.posted)
        if (!posted.empty() && !posted.front()->between_two()) calls.push_back(posted.front());
    if (calls.size() < clique.comms.size()) return false;
    const std::string wrong = disagreement(calls);
    if (wrong.empty()) {
        std::vector<NcclCall> copies;
        for (const NcclCall* const call : calls) copies.push_back(*call);
        enqueue(calls, [copies] { do_together(copies); });
    }
    end(clique, calls, wrong);
    return true;
}

// Posts calls and waits until each has met those of the other ranks.
ncclResult_t post(const std::vector<NcclCall>& all) {
    std::vector<NcclCall> calls = without_those_across(all);
    std::unique_lock<std::mutex> lock(nccl_mutex);
    for (NcclCall& call : calls) {
        Clique& clique = *call.comm->clique;
        clique.posted[static_cast<size_t>(call.comm->rank)].push_back(&call);
    }
    for (const NcclCall& call : calls)
        while (matched(*call.comm->clique)) nccl_changed.notify_all();
    const auto all_done = [&] {
        return std::all_of(calls.begin(), calls.end(),
                           [](const NcclCall& call) { return call.done; });
    };
    const bool in_time = nccl_changed.wait_for(lock, nccl_patience, all_done);
    std::string wrong;
    for (NcclCall& call : calls) {
        if (wrong.empty()) wrong = call.wrong;
        if (call.done) continue;
        take(*call.comm->clique, &call);
        if (wrong.empty())
            wrong = format(
                "%s of rank %d waits for a rank that does not come. A thread with "
                "several ranks makes their calls between ncclGroupStart() and "
                "ncclGroupEnd(); and each rank must make the same calls",
                call.function, call.comm->rank);
    }
    if (wrong.empty() && in_time) return ncclSuccess;
    return nccl_failed(ncclInvalidUsage, wrong);
}

// Why a buffer cannot be used by a rank, or "".
std::string wrong_buffer(const char* which, const void* buffer, size_t bytes, int device) {
    if (bytes == 0) return "";
    const Side side = look_at(buffer, bytes, which);
    if (!side.wrong.empty()) return side.wrong;
    if (!side.on_device) return format("the %s buffer is host memory", which);
    const Allocation* const allocation = Memory::instance().find(buffer);
    if (allocation->kind == MemoryKind::device && allocation->device != device)
        return format("the %s buffer is memory of device %d, but the rank is on device %d", which,
                      allocation->device, device);
    return "";
}

// `sent`, `received`: how many times `count` elements a rank gives and gets.
ncclResult_t nccl_call(const NcclCall& call, size_t sent, size_t received) {
    if (const Call logged(call.function); !logged) return ncclUnhandledCudaError;
    const auto refuse = [&](const std::string& why) {
        return nccl_failed(ncclInvalidArgument, format("%s: ", call.function) + why);
    };
    if (call.comm == nullptr) return refuse("the communicator is null");
    const int ranks = static_cast<int>(call.ranks());
    if (call.type < ncclInt8 || call.type > ncclBfloat16) return refuse("there is no such type");
    if (call.other < -1 || call.other >= ranks)
        return refuse(format("there is no rank %d among %d", call.other, ranks));
    if (call.between_two() && call.other == call.comm->rank && call.comm->meeting != nullptr)
        return refuse("in CPU mode a rank sends nothing to itself");
    if (!is_stream(call.stream)) return refuse("the stream does not exist");
    {
        const AsCurrent device(call.comm->device);
        if (Queue::device_of(call.stream) != call.comm->device)
            return refuse(format("the stream is of device %d, but rank %d is on device %d",
                                 Queue::device_of(call.stream), call.comm->rank,
                                 call.comm->device));
        if (Queue::instance().captures.count(call.stream) != 0)
            return refuse("CPU mode does not capture it into a graph");
    }
    std::string wrong = wrong_buffer("send", call.send, sent * call.bytes(), call.comm->device);
    if (wrong.empty())
        wrong = wrong_buffer("receive", call.receive, received * call.bytes(), call.comm->device);
    if (!wrong.empty()) return refuse(wrong);
    collected.push_back(call);
    if (open_groups > 0) return ncclSuccess;
    std::vector<NcclCall> calls = std::move(collected);
    collected.clear();
    return post(calls);
}

ncclResult_t wait_for_ranks() {
    const std::vector<ncclComm_t> comms = std::move(waiting);
    waiting.clear();
    for (const ncclComm_t comm : comms) {
        const int ranks = static_cast<int>(comm->clique->comms.size()),
                  came = comm->meeting->come();
        if (came < ranks)
            return nccl_failed(ncclRemoteError,
                               format("ncclCommInitRank: of %d ranks only %d came", ranks, came));
        const int here = comm->meeting->in_this_process();
        if (here > 1 && here < ranks)
            return nccl_failed(ncclInvalidUsage,
                               "CPU mode has all ranks in one process, or each in one of its own");
        if (here == ranks) comm->meeting = nullptr;
    }
    return ncclSuccess;
}

}  // namespace
