// Small kernels, each with one fault, and one without: what tests/test_sanitize.py starts by number.
#include <cuda_runtime.h>

#include <cstdlib>

constexpr int count = 48;  // more than a warp, and no multiple of 64 elements

__global__ void turn(int* values) {
    __shared__ int tile[count];
    tile[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = tile[count - 1 - threadIdx.x];
}

__global__ void turn_without_barrier(int* values) {
    __shared__ int tile[count];
    tile[threadIdx.x] = values[threadIdx.x];
    values[threadIdx.x] = tile[count - 1 - threadIdx.x];
}

__global__ void clear_one_too_many(int* values) {
    if (threadIdx.x <= count) values[threadIdx.x] = 0;
}

__device__ int hits;

__global__ void count_without_atomics() { hits += 1; }

__global__ void turn_in_rounds(int* values) {
    __shared__ int tile[count];
    for (int round = 0; round < 2; ++round) {
        tile[threadIdx.x] = values[threadIdx.x];
        __syncthreads();  // and none at the end of the round
        values[threadIdx.x] = tile[count - 1 - threadIdx.x];
    }
}

struct Vector {
    int* data;
};

__global__ void doubled(Vector vector) { vector.data[threadIdx.x] = 2 * vector.data[threadIdx.x]; }

__global__ void shifted_left(int* values) { values[static_cast<int>(threadIdx.x) - 1] = 0; }

__global__ void stopped_early() {
    if (threadIdx.x < 8) __syncthreads();
}

struct Pair {
    int first, second;
};

__global__ void second_of_neighbour(int* values) {
    __shared__ Pair pairs[count];
    pairs[threadIdx.x].second = values[threadIdx.x];
    values[threadIdx.x] = pairs[(threadIdx.x + 1) % count].second;
}

__device__ void point_to_own(int** pointer) {
    int own[4] = {1, 2, 3, 4};
    *pointer = own;
}

__global__ void read_what_is_gone(int* values) {
    int* pointer;
    point_to_own(&pointer);
    values[threadIdx.x] = pointer[2];
}

// How host code ends after a race.
void end_badly(int fault) {
    volatile int zero = 0;
    if (fault == 12) *reinterpret_cast<volatile int*>(zero + 8) = 1;
    if (fault == 13) {
        while (zero == 0) continue;
    }
    if (fault == 14) std::abort();
}

int main(int argc, char** argv) {
    const int fault = argc > 1 ? std::atoi(argv[1]) : 0;
    if (fault == 9) return 77;
    int* d_values = nullptr;
    cudaMalloc(&d_values, count * sizeof(int));
    if (fault != 4) cudaMemset(d_values, 0, count * sizeof(int));
    if (fault == 0 || fault == 4) turn<<<1, count>>>(d_values);
    if (fault == 1) turn_without_barrier<<<1, count>>>(d_values);
    if (fault == 2) clear_one_too_many<<<1, 2 * count>>>(d_values);
    if (fault == 3 || (fault >= 12 && fault <= 14)) count_without_atomics<<<2, 1>>>();
    int h_values[count] = {};
    if (fault == 7) doubled<<<1, count>>>(Vector{h_values});
    if (fault == 8) shifted_left<<<1, count>>>(d_values);
    if (fault == 10) turn_in_rounds<<<1, count>>>(d_values);
    if (fault == 11) stopped_early<<<1, count>>>();
    if (fault == 15) second_of_neighbour<<<1, count>>>(d_values);
    if (fault == 16) read_what_is_gone<<<1, count>>>(d_values);
    cudaDeviceSynchronize();
    end_badly(fault);
    if (fault != 5) cudaFree(d_values);
    return fault == 6 ? 2 : 0;
}
