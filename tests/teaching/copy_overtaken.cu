// expect: race 15 16
// The host writes new values where an asynchronous copy may still be reading the old ones.

#include "../../common/lab.h"

__global__ void fill(int* values) { values[threadIdx.x] = threadIdx.x; }

int main() {
    lab::DeviceArray<int> values(64);
    int* pinned = nullptr;
    CHECK(cudaMallocHost(&pinned, values.bytes()));
    cudaStream_t stream;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int i = 0; i < 64; ++i) pinned[i] = i;
    CHECK(cudaMemcpyAsync(values.get(), pinned, values.bytes(), cudaMemcpyHostToDevice, stream));
    pinned[0] = 1;
    CHECK(cudaStreamSynchronize(stream));
    const int value = pinned[63];
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(pinned));
    return value == 1 << 30;
}
