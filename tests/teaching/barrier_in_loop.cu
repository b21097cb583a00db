// expect: barrier 10
// Each thread goes round the loop as often as its number says, and the barrier is in the loop.

#include "../../common/lab.h"

__global__ void rounds(int* result) {
    int done = 0;
    for (int round = 0; round < int(threadIdx.x) / 32; ++round) {
        ++done;
        __syncthreads();
    }
    result[threadIdx.x] = done;
}

int main() {
    lab::DeviceArray<int> result(64);
    rounds<<<1, 64>>>(result.get());
    CHECK_LAUNCH();
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
