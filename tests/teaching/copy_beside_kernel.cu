// expect: race 6 18
// A copy in another stream takes what a kernel may still be writing.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    lab::DeviceArray<int> values(64);
    int* pinned = nullptr;
    CHECK(cudaMallocHost(&pinned, values.bytes()));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaMemset(values.get(), 0, values.bytes()));
    CHECK(cudaDeviceSynchronize());
    fill<<<1, 64>>>(values.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpyAsync(pinned, values.get(), values.bytes(), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaDeviceSynchronize());
    const int value = pinned[63];
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    return value == 1 << 30;
}
