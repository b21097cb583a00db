// expect: barrier 11 13
// Each warp goes round the loop as often as its number says, and the barrier is in the loop.

#include "../../common/lab.h"

__global__ void rounds(int* result) {
    __shared__ int done[64];
    done[threadIdx.x] = 0;
    for (int round = 0; round < int(threadIdx.x) / 32; ++round) {
        ++done[threadIdx.x];
        __syncthreads();
    }
    __syncthreads();
    result[threadIdx.x] = done[63 - threadIdx.x];
}

int main() {
    lab::DeviceArray<int> result(64);
    rounds<<<1, 64>>>(result.get());
    CHECK_LAUNCH();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
