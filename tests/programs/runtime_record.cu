// What CUDA_CPU_RECORD writes down: launches, copies, what is never freed, who never asked for an error.
// An argument is the status to end with.
#include <cuda_runtime.h>

#include <cstdlib>

template <class T, int step>
__global__ void count_up(T* values, size_t count) {
    const size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x;
    if (i < count) values[i] += step;
}

namespace work {
__global__ void one_thread(float* values, int count) {
    if (threadIdx.x > 0 || blockIdx.x > 0) return;
    for (int i = 0; i < count; ++i) values[i] = 1;
}
}  // namespace work

__global__ void early(float* values) {
    if (threadIdx.x < 16) values[threadIdx.x] = __shfl_down_sync(~0u, 1.0f, 16);  // HERE absent
}

__global__ void parent(float* values) { work::one_thread<<<1, 2>>>(values, 10); }

int main(int argc, char** argv) {
    void (*kernels[])(float*, int) = {work::one_thread, work::one_thread};
    float h_values[100] = {}, *d_values = nullptr, *d_other = nullptr;
    cudaMalloc(&d_values, sizeof h_values);
    cudaMalloc(&d_other, 4 * sizeof h_values);  // HERE leak
    cudaMemcpy(d_values, h_values, sizeof h_values, cudaMemcpyHostToDevice);
    cudaMemcpy(d_other, d_values, 8, cudaMemcpyDefault);
    for (auto* kernel : kernels) {
        kernel<<<3, 32>>>(d_values, 100);
        cudaGetLastError();
    }
    count_up<float, 2><<<dim3(2, 2), 25>>>(d_values, size_t{100});  // HERE unchecked
    cudaDeviceSynchronize();
    parent<<<1, 1>>>(d_values);
    if (cudaPeekAtLastError() != cudaSuccess) return 3;
    cudaMemcpy(h_values, d_values, 40, cudaMemcpyDeviceToHost);
    cudaFree(d_values);
    if (argc > 2) {
        early<<<1, 32>>>(d_other);
        cudaDeviceSynchronize();
        kernels[0]<<<1, 32>>>(h_values, 1);  // HERE stops
    }
    return argc > 1 ? std::atoi(argv[1]) : 0;
}
