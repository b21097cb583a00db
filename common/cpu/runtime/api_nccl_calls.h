// The functions of NCCL themselves.
#pragma once

#include "api_nccl.h"

ncclResult_t ncclGetVersion(int* version) {
    *version = NCCL_VERSION_CODE;
    return ncclSuccess;
}

const char* ncclGetErrorString(ncclResult_t result) {
    static const char* const words[] = {"no error",
                                        "unhandled cuda error",
                                        "unhandled system error",
                                        "internal error",
                                        "invalid argument",
                                        "invalid usage",
                                        "remote process exited or there was a network error",
                                        "NCCL operation in progress"};
    static thread_local std::string sentence;
    if (result < ncclSuccess || result > ncclInProgress) return "unknown result code";
    sentence = words[result];
    if (result == detailed_result && !nccl_detail.empty()) sentence += " (" + nccl_detail + ")";
    return sentence.c_str();
}
const char* ncclGetLastError(ncclComm_t) { return nccl_detail.c_str(); }

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* list) {
    if (const Call call; !call) return ncclUnhandledCudaError;
    std::set<int> used;
    const auto clique = std::make_shared<Clique>();
    for (int rank = 0; rank < count; ++rank) {
        const int device = list == nullptr ? rank : list[rank];
        if (!is_device(device))
            return nccl_failed(ncclInvalidArgument,
                               format("ncclCommInitAll: there is no device %d", device));
        if (!used.insert(device).second)
            return nccl_failed(ncclInvalidUsage,
                               format("ncclCommInitAll: device %d is there twice", device));
    }
    for (int rank = 0; rank < count; ++rank) {
        comms[rank] = new ncclComm{clique, rank, list == nullptr ? rank : list[rank]};
        clique->comms.push_back(comms[rank]);
    }
    clique->posted.resize(clique->comms.size());
    return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
    std::random_device random;
    std::memset(id, 0, sizeof *id);
    std::snprintf(id->internal, sizeof id->internal, "%08x%08x", random(), random());
    return ncclSuccess;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank) {
    if (const Call call; !call) return ncclUnhandledCudaError;
    if (ranks < 1 || ranks > Meeting::most || rank < 0 || rank >= ranks)
        return nccl_failed(ncclInvalidArgument,
                           format("ncclCommInitRank: there is no rank %d among %d", rank, ranks));
    {
        const std::lock_guard<std::mutex> lock(nccl_mutex);
        auto& clique = cliques_of_ids[std::string(id.internal, sizeof id.internal)];
        if (clique == nullptr) {
            clique = std::make_shared<Clique>();
            clique->comms.resize(static_cast<size_t>(ranks));
            clique->posted.resize(static_cast<size_t>(ranks));
        }
        if (static_cast<int>(clique->comms.size()) != ranks)
            return nccl_failed(ncclInvalidArgument,
                               format("ncclCommInitRank: %d ranks, where another one said %zu",
                                      ranks, clique->comms.size()));
        ncclComm_t& place = clique->comms[static_cast<size_t>(rank)];
        if (place != nullptr)
            return nccl_failed(ncclInvalidUsage,
                               format("ncclCommInitRank: rank %d is there twice", rank));
        for (const ncclComm_t other : clique->comms)
            if (other != nullptr && other->device == current_device)
                return nccl_failed(ncclInvalidUsage,
                                   format("ncclCommInitRank: ranks %d and %d are both on device "
                                          "%d: call cudaSetDevice before it",
                                          other->rank, rank, current_device));
        *comm = place = new ncclComm{clique, rank, current_device,
                                     std::make_shared<Meeting>(id.internal, ranks, rank)};
        if (place->meeting->is_twice())
            return nccl_failed(ncclInvalidUsage,
                               format("ncclCommInitRank: rank %d is there twice", rank));
        waiting.push_back(place);
    }
    return open_groups > 0 ? ncclSuccess : wait_for_ranks();
}

ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }
ncclResult_t ncclCommDestroy(ncclComm_t comm) {
    if (const Call call; !call) return ncclUnhandledCudaError;
    if (comm == nullptr) return ncclSuccess;
    Queue::instance().wait_for_device(comm->device);
    delete comm;
    return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t comm) { return ncclCommDestroy(comm); }
ncclResult_t ncclCommGetAsyncError(ncclComm_t, ncclResult_t* error) {
    *error = ncclSuccess;
    return ncclSuccess;
}
ncclResult_t ncclCommCount(const ncclComm_t comm, int* count) {
    *count = static_cast<int>(comm->clique->comms.size());
    return ncclSuccess;
}
ncclResult_t ncclCommCuDevice(const ncclComm_t comm, int* device) {
    *device = comm->device;
    return ncclSuccess;
}
ncclResult_t ncclCommUserRank(const ncclComm_t comm, int* rank) {
    *rank = comm->rank;
    return ncclSuccess;
}

ncclResult_t ncclGroupStart() {
    if (open_groups++ == 0) first_failure = ncclSuccess;
    return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
    if (const Call call; !call) return ncclUnhandledCudaError;
    if (open_groups == 0)
        return nccl_failed(ncclInvalidUsage, "ncclGroupEnd() without ncclGroupStart()");
    if (--open_groups > 0) return ncclSuccess;
    std::vector<NcclCall> calls = std::move(collected);
    collected.clear();
    if (first_failure != ncclSuccess) return first_failure;
    const ncclResult_t met = wait_for_ranks();
    return met == ncclSuccess ? post(calls) : met;
}

ncclResult_t ncclAllReduce(const void* send, void* receive, size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
    return nccl_call({__func__, comm, send, receive, count, type, operation, -1, stream}, 1, 1);
}
ncclResult_t ncclReduce(const void* send, void* receive, size_t count, ncclDataType_t type,
                        ncclRedOp_t operation, int root, ncclComm_t comm, cudaStream_t stream) {
    const size_t received = comm != nullptr && comm->rank == root ? 1 : 0;
    return nccl_call({__func__, comm, send, receive, count, type, operation, root, stream}, 1,
                     received);
}
ncclResult_t ncclBroadcast(const void* send, void* receive, size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
    const size_t sent = comm != nullptr && comm->rank == root ? 1 : 0;
    return nccl_call({__func__, comm, send, receive, count, type, ncclSum, root, stream}, sent, 1);
}
ncclResult_t ncclBcast(void* buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
                       cudaStream_t stream) {
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}
ncclResult_t ncclAllGather(const void* send, void* receive, size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
    const size_t ranks = comm != nullptr ? comm->clique->comms.size() : 1;
    return nccl_call({__func__, comm, send, receive, count, type, ncclSum, -1, stream}, 1, ranks);
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, size_t count, ncclDataType_t type,
                               ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
    const size_t ranks = comm != nullptr ? comm->clique->comms.size() : 1;
    return nccl_call({__func__, comm, send, receive, count, type, operation, -1, stream}, ranks, 1);
}
ncclResult_t ncclSend(const void* send, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
    return nccl_call({__func__, comm, send, nullptr, count, type, ncclSum, peer, stream}, 1, 0);
}
ncclResult_t ncclRecv(void* receive, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
                      cudaStream_t stream) {
    return nccl_call({__func__, comm, nullptr, receive, count, type, ncclSum, peer, stream}, 0, 1);
}
