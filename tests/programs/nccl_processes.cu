// NCCL between processes, each with a rank: started by itself it starts three more. Arguments: what goes wrong on purpose,
// "" (nothing), "count" (rank 1 gives another count), "dies" (rank 1 ends before the sum).
#include <nccl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "runtime_expect.h"

#define WORKS(...) EXPECT((__VA_ARGS__) == ncclSuccess)

constexpr int ranks = 4, count = 30000;  // more than a box of shared memory holds at a time

int be(int rank, const ncclUniqueId& id, const std::string& wrong) {
    ncclComm_t comm;
    cudaStream_t stream;
    int devices = 0;
    SUCCEEDS(cudaGetDeviceCount(&devices));
    SUCCEEDS(cudaSetDevice(rank % devices));
    SUCCEEDS(cudaStreamCreate(&stream));
    WORKS(ncclCommInitRank(&comm, ranks, id, rank));
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i) values[i] = 100 * rank + i;
    int *d_values = zeros<int>(count), *d_result = zeros<int>(ranks * count);
    SUCCEEDS(cudaMemcpy(d_values, values.data(), count * sizeof(int), cudaMemcpyHostToDevice));

    if (wrong == "dies" && rank == 1) _exit(0);
    WORKS(ncclAllReduce(d_values, d_result, count - (wrong == "count" && rank == 1), ncclInt,
                        ncclSum, comm, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(read_back(d_result + count - 1) == 600 + 4 * (count - 1));
    WORKS(ncclReduce(d_values, d_result, count, ncclInt, ncclMax, 2, comm, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(read_back(d_result + 5) == (rank == 2 ? 305 : 620));
    WORKS(ncclBroadcast(d_values, d_result, count, ncclInt, 3, comm, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(read_back(d_result + 7) == 307);
    WORKS(ncclAllGather(d_values, d_result, count, ncclInt, comm, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(read_back(d_result + 2 * count + 1) == 201);
    WORKS(ncclReduceScatter(d_values, d_result, count / ranks, ncclInt, ncclSum, comm, stream));
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(read_back(d_result) == 600 + ranks * (rank * (count / ranks)));

    WORKS(ncclGroupStart());  // round a ring: nobody receives before he sends
    WORKS(ncclSend(d_values, count, ncclInt, (rank + 1) % ranks, comm, stream));
    WORKS(ncclRecv(d_result, count, ncclInt, (rank + ranks - 1) % ranks, comm, stream));
    WORKS(ncclGroupEnd());
    SUCCEEDS(cudaStreamSynchronize(stream));
    EXPECT(read_back(d_result + 1) == 100 * ((rank + ranks - 1) % ranks) + 1);
    WORKS(ncclCommDestroy(comm));
    return 0;
}

int main(int argc, char** argv) {
    ncclUniqueId id;
    WORKS(ncclGetUniqueId(&id));
    const std::string wrong = argc > 1 ? argv[1] : "";
    int right = 0, status = 0;
    for (int rank = 1; rank < ranks; ++rank)
        if (fork() == 0) return be(rank, id, wrong);
    if (fork() == 0) return be(0, id, wrong);
    for (int rank = 0; rank < ranks; ++rank) {
        wait(&status);
        right += status == 0;
    }
    printf("%d of %d ranks end well\n", right, ranks);
}
