// Results that come from memory which nobody had written, written to FILE as 4 floats, 4 doubles and 4 ints:
// from shared memory, from past the end of an array, from device memory, from a lane that is not there.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

struct Results {
    float floats[4];
    double doubles[4];
    int32_t ints[4];
};

template <class T>
__device__ void collect(T* results, const T* values) {
    __shared__ T part[4];
    results[0] = part[1];
    results[1] = values[2];
    results[2] = values[1];
    results[3] = __shfl_down_sync(0xffffffffu, T(1), 16);
    if constexpr (T(0.5) != T(0)) {
        for (int i = 0; i < 4; ++i) results[i] = -(2 * results[i] + 1);
    }
}

__global__ void collect_all(Results* results, const float* floats, const double* doubles,
                            const int32_t* ints) {
    collect(results->floats, floats);
    collect(results->doubles, doubles);
    collect(results->ints, ints);
    results->doubles[1] = floats[2];  // a conversion keeps the payload
    results->floats[1] = float(doubles[2]);
}

int main(int, char** argv) {
    float* floats;
    double* doubles;
    int32_t* ints;
    Results results, *d_results;
    cudaMalloc(&floats, 2 * sizeof *floats);
    cudaMalloc(&doubles, 2 * sizeof *doubles);
    cudaMalloc(&ints, 2 * sizeof *ints);
    cudaMalloc(&d_results, sizeof results);
    collect_all<<<1, 1>>>(d_results, floats, doubles, ints);
    cudaMemcpy(&results, d_results, sizeof results, cudaMemcpyDeviceToHost);
    FILE* const file = std::fopen(argv[1], "wb");
    std::fwrite(&results, sizeof results, 1, file);
    return std::fclose(file);
}
