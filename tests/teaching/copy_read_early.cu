// expect: race 16 17
// The host reads what an asynchronous copy may still be writing.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    lab::DeviceArray<int> values(64);
    int* pinned = nullptr;
    CHECK(cudaMallocHost(&pinned, values.bytes()));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    fill<<<1, 64, 0, stream>>>(values.get());
    CHECK_LAUNCH();
    CHECK(cudaMemcpyAsync(pinned, values.get(), values.bytes(), cudaMemcpyDeviceToHost, stream));
    const int value = pinned[63];
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    return value == 1 << 30;
}
