// Feature: NCCL | between pretend devices of one process, by one thread in groups or a thread a rank: `AllReduce`, `Reduce`, `Broadcast`, `AllGather`, `ReduceScatter`, `Send`, `Recv`
// Flags: -lnccl
#include <nccl.h>

#include <cstring>
#include <thread>
#include <vector>

#include "../runtime_expect.h"

#define WORKS(...) EXPECT((__VA_ARGS__) == ncclSuccess)

constexpr int ranks = 3;

struct Rank {
    ncclComm_t comm;
    cudaStream_t stream;
    int *values, *result;  // (3), (9)
};

// Rank r begins with 10 r + 1, 10 r + 2, 10 r + 3.
void fill(const std::vector<Rank>& all) {
    for (int r = 0; r < ranks; ++r) {
        const int values[3] = {10 * r + 1, 10 * r + 2, 10 * r + 3};
        SUCCEEDS(cudaSetDevice(r));
        SUCCEEDS(cudaMemset(all[r].result, 0, 9 * sizeof(int)));
        SUCCEEDS(cudaMemcpy(all[r].values, values, sizeof values, cudaMemcpyHostToDevice));
        SUCCEEDS(cudaDeviceSynchronize());
    }
}

// Does the same for each rank, in a group; then result[0..] of each is to begin with these.
template <class Call>
void together(const std::vector<Rank>& all, Call call, std::vector<std::vector<int>> expected) {
    fill(all);
    WORKS(ncclGroupStart());
    for (int r = 0; r < ranks; ++r) WORKS(call(all[r], r));
    WORKS(ncclGroupEnd());
    for (int r = 0; r < ranks; ++r) {
        SUCCEEDS(cudaSetDevice(r));
        SUCCEEDS(cudaStreamSynchronize(all[r].stream));
        for (size_t i = 0; i < expected[r].size(); ++i)
            EXPECT(read_back(all[r].result + i) == expected[r][i]);
    }
}

int main() {
#ifdef CUDA_ON_CPU
    setenv("CUDA_CPU_DEVICES", "3", 1);
#endif
    int count = 0;
    SUCCEEDS(cudaGetDeviceCount(&count));
    if (count < ranks) {
        fprintf(stderr, "skipped: fewer than 3 devices\n");
        return 77;
    }
    std::vector<Rank> all(ranks);
    ncclComm_t comms[ranks];
    WORKS(ncclCommInitAll(comms, ranks, nullptr));
    for (int r = 0; r < ranks; ++r) {
        SUCCEEDS(cudaSetDevice(r));
        all[r].comm = comms[r];
        SUCCEEDS(cudaStreamCreate(&all[r].stream));
        all[r].values = zeros<int>(3);
        all[r].result = zeros<int>(9);
    }
    const std::vector<int> sums = {33, 36, 39}, all_values = {1, 2, 3, 11, 12, 13, 21, 22, 23};
    together(all,
             [](const Rank& r, int) {
                 return ncclAllReduce(r.values, r.result, 3, ncclInt, ncclSum, r.comm, r.stream);
             },
             {sums, sums, sums});
    together(all,
             [](const Rank& r, int) {
                 return ncclReduce(r.values, r.result, 3, ncclInt, ncclMax, 1, r.comm, r.stream);
             },
             {{0, 0, 0}, {21, 22, 23}, {0, 0, 0}});
    together(all,
             [](const Rank& r, int) {
                 return ncclBroadcast(r.values, r.result, 3, ncclInt, 2, r.comm, r.stream);
             },
             {{21, 22, 23}, {21, 22, 23}, {21, 22, 23}});
    together(all,
             [](const Rank& r, int) {
                 return ncclAllGather(r.values, r.result, 3, ncclInt, r.comm, r.stream);
             },
             {all_values, all_values, all_values});
    together(all,
             [](const Rank& r, int) {
                 return ncclReduceScatter(r.values, r.result, 1, ncclInt, ncclSum, r.comm,
                                          r.stream);
             },
             {{33, 0}, {36, 0}, {39, 0}});
    together(all,
             [](const Rank& r, int k) {  // to the next rank of the ring, from the one before
                 WORKS(ncclSend(r.values, 2, ncclInt, (k + 1) % ranks, r.comm, r.stream));
                 return ncclRecv(r.result, 2, ncclInt, (k + ranks - 1) % ranks, r.comm, r.stream);
             },
             {{21, 22, 0}, {1, 2, 0}, {11, 12, 0}});

#ifdef CUDA_ON_CPU  // where a card hangs, or does anything
    const auto refused = [&](size_t fewer, int device, const char* said) {
        WORKS(ncclGroupStart());
        ncclResult_t result = ncclSuccess;
        for (int r = 0; r < ranks; ++r) {
            const ncclResult_t one =
                ncclAllReduce(all[r == 1 ? device : r].values, all[r].result, 3 - (r == 1) * fewer,
                              ncclInt, ncclSum, all[r].comm, all[r].stream);
            if (one != ncclSuccess) result = one;
        }
        const ncclResult_t end = ncclGroupEnd();
        if (result == ncclSuccess) result = end;
        EXPECT(result != ncclSuccess);
        EXPECT(std::strstr(ncclGetErrorString(result), said) != nullptr);
    };
    refused(1, 1, "rank 0 gives a count of 3, rank 1 one of 2");
    refused(0, 2, "the send buffer is memory of device 2, but the rank is on device 1");
#endif

    // A thread a rank: each begins by itself, and waits for the others.
    for (const ncclComm_t comm : comms) WORKS(ncclCommDestroy(comm));
    fill(all);
    ncclUniqueId id;
    WORKS(ncclGetUniqueId(&id));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
        threads.emplace_back([&all, id, r] {
            Rank& rank = all[r];
            SUCCEEDS(cudaSetDevice(r));
            WORKS(ncclCommInitRank(&rank.comm, ranks, id, r));
            WORKS(ncclAllReduce(rank.values, rank.result, 3, ncclInt, ncclSum, rank.comm,
                                rank.stream));
            SUCCEEDS(cudaStreamSynchronize(rank.stream));
        });
    for (std::thread& thread : threads) thread.join();
    for (int r = 0; r < ranks; ++r) EXPECT(read_back(all[r].result + 2) == 39);
    for (const Rank& rank : all) WORKS(ncclCommDestroy(rank.comm));
    printf("ok\n");
}
