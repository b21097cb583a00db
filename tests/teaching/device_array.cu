// expect: silent
// A __device__ array with an element for each thread.

#include "../../common/lab.h"

__device__ int squares[64];

__global__ void fill() { squares[threadIdx.x] = threadIdx.x * threadIdx.x; }

__global__ void collect(int* result) { result[threadIdx.x] = squares[threadIdx.x]; }

int main() {
    int h_result[64];
    lab::DeviceArray<int> result(64);
    fill<<<1, 64>>>();
    collect<<<1, 64>>>(result.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpy(h_result, result.get(), result.bytes(), cudaMemcpyDeviceToHost));
    return h_result[63] == 63 * 63 ? 0 : 1;
}
