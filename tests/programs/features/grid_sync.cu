// Feature: grid-wide barriers | `cudaLaunchCooperativeKernel`, `this_grid().sync()`, as many blocks as fit on the device
#include <cooperative_groups.h>

#include "../runtime_expect.h"

namespace cg = cooperative_groups;

// Each round every block adds what all blocks had before it.
__global__ void rounds(int* values, int* sums, int count) {
    const cg::grid_group grid = cg::this_grid();
    __shared__ int sum;
    for (int round = 0; round < count; ++round) {
        if (threadIdx.x == 0) sum = 0;
        __syncthreads();
        for (unsigned int i = threadIdx.x; i < gridDim.x; i += blockDim.x)
            atomicAdd(&sum, values[i]);
        __syncthreads();
        if (threadIdx.x == 0) sums[blockIdx.x] = sum;
        grid.sync();
        if (threadIdx.x == 0) values[blockIdx.x] = sums[(blockIdx.x + 1) % gridDim.x];
        grid.sync();
    }
    EXPECT(grid.size() == gridDim.x * blockDim.x &&
           grid.thread_rank() == blockIdx.x * blockDim.x + threadIdx.x);
}

int main() {
    int device = 0, multiprocessors = 0, blocks = 0, cooperative = 0, count = 3;
    SUCCEEDS(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device));
    SUCCEEDS(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device));
    SUCCEEDS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, rounds, 64, 0));
    EXPECT(cooperative == 1);
    int *values = zeros<int>(16), *sums = zeros<int>(16), one = 1;
    SUCCEEDS(cudaMemcpy(values, &one, sizeof one, cudaMemcpyHostToDevice));
    void* arguments[] = {&values, &sums, &count};
    SUCCEEDS(cudaLaunchCooperativeKernel((void*)rounds, dim3(16), dim3(64), arguments));
    EXPECT_RUN();
    EXPECT(read_back(values) == 256 && read_back(values + 15) == 256);
    FAILS(cudaErrorCooperativeLaunchTooLarge,
          cudaLaunchCooperativeKernel((void*)rounds, dim3(blocks * multiprocessors + 1), dim3(64),
                                      arguments));
    SUCCEEDS(cudaFree(values));
    SUCCEEDS(cudaFree(sums));
    printf("ok\n");
}
