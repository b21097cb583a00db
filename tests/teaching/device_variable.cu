// expect: silent
// A counter that is a __device__ variable, raised by atomics and read back by its name.

#include "../../common/lab.h"

__device__ int raised;

__global__ void raise(int times) {
    for (int k = 0; k < times; ++k) atomicAdd(&raised, 1);
}

int main() {
    int h_raised = 0;
    CHECK(cudaMemcpyToSymbol(raised, &h_raised, sizeof(int)));
    raise<<<4, 32>>>(2);
    CHECK_LAUNCH();
    CHECK(cudaMemcpyFromSymbol(&h_raised, raised, sizeof(int)));
    return h_raised == 4 * 32 * 2 ? 0 : 1;
}
