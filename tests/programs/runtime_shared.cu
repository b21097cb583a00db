// Shared memory: static and dynamic, all sizes, fresh for each block; constant and local memory.
#include <cstdint>

#include "runtime_expect.h"

// ---------------------------------------------------------------- dynamic shared memory
__global__ void dynamic_kernel(int count) {
    extern __shared__ int numbers[];
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
#ifdef CUDA_ON_CPU
        EXPECT(unsigned(numbers[i]) == 0xfffd5a5d);  // fresh for each block
#endif
        numbers[i] = i + blockIdx.x;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        EXPECT(numbers[count - 1 - i] == count - 1 - i + int(blockIdx.x));
    }
}

// The same name in another kernel, and one block of bytes cut into arrays of several types.
__global__ void parts_kernel(int count) {
    extern __shared__ int numbers[];
    double* const doubles = reinterpret_cast<double*>(numbers);
    float* const floats = reinterpret_cast<float*>(doubles + count);
    char* const letters = reinterpret_cast<char*>(floats + count);
    EXPECT(reinterpret_cast<uintptr_t>(numbers) % 16 == 0);
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        doubles[i] = i * 0.5;
        floats[i] = i * 0.25f;
        letters[i] = static_cast<char>(i);
    }
    __syncthreads();
    for (int i = blockDim.x - 1 - threadIdx.x; i < count; i += blockDim.x) {
        EXPECT(doubles[i] == i * 0.5 && floats[i] == i * 0.25f &&
               letters[i] == static_cast<char>(i));
    }
}

template <class T>
__device__ T* shared_array() {
    extern __shared__ __align__(16) unsigned char bytes[];
    return reinterpret_cast<T*>(bytes);
}

template <class T>
__global__ void template_kernel() {
    T* const values = shared_array<T>();
    values[threadIdx.x] = static_cast<T>(threadIdx.x);
    __syncthreads();
    EXPECT(values[blockDim.x - 1 - threadIdx.x] == static_cast<T>(blockDim.x - 1 - threadIdx.x));
}

__global__ void large_kernel(int bytes) {
    extern __shared__ int numbers[];
    for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) numbers[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) EXPECT(numbers[bytes / 4 - 1] == bytes / 4 - 1);
}

void check_dynamic() {
    for (const int count : {0, 1, 7, 32, 1000, 12288}) {
        dynamic_kernel<<<40, 64, count * sizeof(int)>>>(count);
        EXPECT_RUN();
    }
    parts_kernel<<<5, 32, 100 * 13>>>(100);
    template_kernel<char><<<3, 128, 128>>>();
    template_kernel<double><<<3, 128, 1024>>>();
    EXPECT_RUN();

    int limit = 0;
    SUCCEEDS(cudaDeviceGetAttribute(&limit, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    large_kernel<<<1, 256, 48 * 1024>>>(48 * 1024);
    EXPECT_RUN();
    large_kernel<<<1, 256, 48 * 1024 + 1>>>(0);
    FAILS(cudaErrorInvalidValue, cudaPeekAtLastError());
    const auto attribute = cudaFuncAttributeMaxDynamicSharedMemorySize;
    FAILS(cudaErrorInvalidValue, cudaFuncSetAttribute(large_kernel, attribute, limit + 1));
    SUCCEEDS(cudaFuncSetAttribute(large_kernel, attribute, limit));
    large_kernel<<<3, 256, limit>>>(limit);
    EXPECT_RUN();
    large_kernel<<<1, 256, limit + 1>>>(0);
    FAILS(cudaErrorInvalidValue, cudaPeekAtLastError());
}

// ---------------------------------------------------------------- static shared memory
struct Cell {
    float weight;
    int3 place;
};

__global__ void static_kernel() {
    __shared__ float tile[16][17];
    __shared__ Cell cells[4];
    __shared__ int count, *pointer;
#ifdef CUDA_ON_CPU
    // A NaN in every number until somebody writes.
    if (threadIdx.x == 0 && threadIdx.y == 0)
        EXPECT(tile[15][15] != tile[15][15] && unsigned(count) == 0xfffd5a5d);
    __syncthreads();
#endif
    tile[threadIdx.y][threadIdx.x] = 100 * threadIdx.y + threadIdx.x;
    if (threadIdx.x < 4 && threadIdx.y == 0) cells[threadIdx.x] = {0.5f, {1, 2, int(threadIdx.x)}};
    if (threadIdx.x == 3 && threadIdx.y == 3) count = 5, pointer = &count;
    __syncthreads();
    EXPECT(tile[threadIdx.x][threadIdx.y] == 100 * threadIdx.x + threadIdx.y);
    EXPECT(cells[threadIdx.y % 4].place.z == int(threadIdx.y % 4) && *pointer == 5);
}

// Another array of the same name, and more of them in nested scopes and in a function.
__device__ int rotate(int value) {
    __shared__ int board[64];
    board[threadIdx.x] = value;
    __syncthreads();
    const int result = board[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    return result;
}

template <class T, int width>
__global__ void scoped_kernel() {
    __shared__ T tile[width];
    tile[threadIdx.x] = static_cast<T>(threadIdx.x);
    __syncthreads();
    for (int round = 0; round < 4; ++round) {
        __shared__ T other[width];
        other[threadIdx.x] = tile[width - 1 - threadIdx.x] + static_cast<T>(round);
        __syncthreads();
        EXPECT(other[width - 1 - threadIdx.x] == static_cast<T>(threadIdx.x + round));
        __syncthreads();
    }
    EXPECT(rotate(threadIdx.x) == (threadIdx.x + 1) % blockDim.x);
    EXPECT(rotate(2 * threadIdx.x) == 2 * ((threadIdx.x + 1) % blockDim.x));
}

__global__ void whole_kernel() {
    __shared__ char everything[48 * 1024];
    for (int i = threadIdx.x; i < sizeof everything; i += blockDim.x) everything[i] = char(i);
    __syncthreads();
    EXPECT(everything[sizeof everything - 1 - threadIdx.x] == char(-1 - int(threadIdx.x)));
}

// ---------------------------------------------------------------- constant and local memory
struct Settings {
    float scale;
    int offsets[3];
};
__constant__ float weights[1024];
__constant__ Settings settings;
__constant__ double fixed[] = {0.5, 1.5};
__device__ int counter = 7;
__device__ float table[2][3] = {{1, 2, 3}, {4, 5, 6}};
static __device__ unsigned long long total;
__device__ float* device_pointer;

__global__ void constant_kernel() {
    EXPECT(weights[threadIdx.x] == threadIdx.x * 2.0f && weights[1023] == 2046.0f);
    EXPECT(settings.scale == 2.5f && settings.offsets[2] == 9 && fixed[1] == 1.5);
    atomicAdd(&counter, 1);
    atomicAdd(&total, 1ull + threadIdx.x);
    if (threadIdx.x == 0) atomicAdd(&table[1][2], 1.0f), device_pointer[blockIdx.x] = 3;
}

void check_symbols() {
    float values[1024];
    for (int i = 0; i < 1024; ++i) values[i] = i * 2.0f;
    SUCCEEDS(cudaMemcpyToSymbol(weights, values, 512 * sizeof(float)));
    SUCCEEDS(cudaMemcpyToSymbol(weights, values + 512, 512 * sizeof(float), 512 * sizeof(float)));
    const Settings host_settings = {2.5f, {7, 8, 9}};
    SUCCEEDS(cudaMemcpyToSymbolAsync(settings, &host_settings, sizeof settings));
    float* const buffer = zeros<float>(10);
    SUCCEEDS(cudaMemcpyToSymbol(device_pointer, &buffer, sizeof buffer));
    constant_kernel<<<10, 100>>>();
    EXPECT_RUN();
    int count;
    SUCCEEDS(cudaMemcpyFromSymbol(&count, counter, sizeof count));
    EXPECT(count == 1007);
    unsigned long long sum = 0;
    SUCCEEDS(cudaMemcpyFromSymbolAsync(&sum, total, sizeof sum));
    SUCCEEDS(cudaDeviceSynchronize());
    EXPECT(sum == 10 * 5050);
    float row[3];
    SUCCEEDS(cudaMemcpyFromSymbol(row, table, sizeof row, 3 * sizeof(float)));
    EXPECT(row[0] == 4 && row[2] == 16 && read_back(buffer + 9) == 3);

    void* address = nullptr;
    size_t size = 0;
    SUCCEEDS(cudaGetSymbolAddress(&address, weights));
    SUCCEEDS(cudaGetSymbolSize(&size, weights));
    EXPECT(size == 4096 && read_back(static_cast<float*>(address) + 5) == 10);
    FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, values, 4097));
    FAILS(cudaErrorInvalidValue, cudaMemcpyToSymbol(weights, values, 8, 4092));
    FAILS(cudaErrorInvalidValue, cudaMemcpyFromSymbol(values, counter, 5));
    const float* const no_symbol = values;
    FAILS(cudaErrorInvalidSymbol, cudaMemcpyToSymbol(no_symbol, values, 4));
}

__global__ void local_kernel(int* results) {
    int numbers[200];
    for (int i = 0; i < 200; ++i) numbers[i] = i * threadIdx.x;
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 200; ++i) sum += numbers[(i * 7) % 200];
    results[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main() {
    check_dynamic();
    static_kernel<<<20, dim3(16, 16)>>>();
    scoped_kernel<float, 64><<<20, 64>>>();
    scoped_kernel<int, 33><<<20, 33>>>();
    static_kernel<<<2, dim3(16, 16)>>>();
    whole_kernel<<<4, 128>>>();
    EXPECT_RUN();
    check_symbols();
    int* const results = zeros<int>(2048);
    local_kernel<<<2, 1024>>>(results);
    EXPECT_RUN();
    for (int i = 0; i < 2048; i += 37) EXPECT(read_back(results + i) == 19900 * (i % 1024));
    std::printf("ok\n");
}
