// expect: race 7 17
// One of two kernels that read what a copy brings waits for the copy; the other does not.

#include "../../common/lab.h"

__global__ void twice(const int* values, int* result) {
    result[threadIdx.x] = 2 * values[threadIdx.x];
}

int main() {
    lab::DeviceArray<int> values(64), second_result(64), third_result(64);
    int* h_values = nullptr;
    CHECK(cudaMallocHost(&h_values, values.bytes()));
    for (int i = 0; i < 64; ++i) h_values[i] = i;
    cudaStream_t first, second, third;
    for (cudaStream_t* stream : {&first, &second, &third}) CHECK(cudaStreamCreate(stream));
    CHECK(cudaMemcpyAsync(values.get(), h_values, values.bytes(), cudaMemcpyHostToDevice, first));
    cudaEvent_t copied;
    CHECK(cudaEventCreate(&copied));
    CHECK(cudaEventRecord(copied, first));
    CHECK(cudaStreamWaitEvent(second, copied, 0));
    twice<<<1, 64, 0, second>>>(values.get(), second_result.get());
    CHECK_LAUNCH();
    twice<<<1, 64, 0, third>>>(values.get(), third_result.get());
    CHECK_LAUNCH();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventDestroy(copied));
    for (const cudaStream_t stream : {first, second, third}) CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFreeHost(h_values));
    return 0;
}
