// Kernels whose figures are known by hand, for tests/test_explain.py.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int count = 4096, block_size = 128;

__global__ void stride_copy(const float* in, float* out, int stride) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * stride];
}

__global__ void offset_copy(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i + 1];
}

__global__ void broadcast(const float* in, float* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[blockIdx.x];
}

__global__ void vectors(const float4* in, float4* out) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    v.x += v.w;
    out[i] = v;
}

// A vector that is put together where it is stored, and a structure that no wide access fits.
struct Three {
    float x, y, z;
};
__global__ void parts(const float* in, float4* out, Three* threes) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    *(out + i) = {in[i], in[i] + 1, in[i] + 2, in[i] + 3};
    threes[i] = {in[i], in[i] + 1, in[i] + 2};
}

// The last warp has only some of its lanes.
__global__ void guarded(const float* in, float* out, int n) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = in[i];
}

template <int columns>
__global__ void tile_columns(const float* in, float* out) {
    __shared__ float tile[32][columns];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}

// Accesses of 8 and 16 bytes to shared memory, side by side and far apart.
__global__ void wide_shared(double2* out, int stride) {
    extern __shared__ double2 pairs[];
    double* const singles = reinterpret_cast<double*>(pairs);
    singles[threadIdx.x] = 1;
    __syncthreads();
    double2 pair = pairs[threadIdx.x / 2 * stride];
    pair.x += singles[threadIdx.x * stride];
    out[threadIdx.x] = pair;
}

// Lanes take `paths` ways; each is a loop, so that no compiler makes it a selection.
__global__ void many_paths(int* out, int paths) {
    const int path = threadIdx.x % paths;
    for (int k = 0; k < paths; ++k) {
        if (k == path) {
            for (int step = 0; step < 8; ++step) out[k * block_size + threadIdx.x] += step;
        }
    }
}

// After a loop of different lengths the lanes are together again.
__global__ void meet_again(int* out) {
    const int lane = threadIdx.x % 32;
    for (int round = 0; round < 4; ++round) {
        for (int step = 0; step < lane; ++step) out[threadIdx.x] += step;
        out[block_size + threadIdx.x] = round;
    }
}

__global__ void histogram(const int* in, int* bins) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&bins[in[i]], 1);
}

__global__ void sum_of_floats(float* sum) { atomicAdd(sum, 1.0f); }

// A sum whose lanes talk to each other: shuffles are no place where lanes part.
__global__ void shuffled_sum(const float* in, float* out) {
    float value = in[threadIdx.x];
    for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(~0u, value, offset);
    if (threadIdx.x % 32 == 0) out[threadIdx.x / 32] = value;
}

// What a function gets by value is loaded like everything else, also by one that is large.
__device__ unsigned mixed(uint4 vector) {
    unsigned result = 0;
    for (int round = 0; round < 99; ++round) {
        result = result * 31 + (vector.x ^ vector.y >> round % 7);
        result = result * 17 + (vector.z ^ vector.w >> round % 5);
        if (result % 3 == 0) vector.x += result;
    }
    return result;
}
__global__ void by_value(const uint4* vectors, unsigned* out) {
    out[threadIdx.x] = mixed(vectors[threadIdx.x]) ^ mixed(vectors[block_size + threadIdx.x]);
}

using OfVectors = void (*)(const uint4* vectors, unsigned* out);
template <OfVectors kernel>
void launched(const uint4* vectors, unsigned* out) {
    kernel<<<1, block_size>>>(vectors, out);
}

// Three words, of which two pairs are shifted together: no compiler may load the pairs.
__global__ void shifted_together(const unsigned* words, unsigned* out, unsigned shift) {
    const unsigned* const word = words + threadIdx.x;
    const unsigned low = __funnelshift_r(word[0], word[1], shift);
    out[threadIdx.x] = low ^ __funnelshift_r(word[1], word[2], shift) * 3;
}

// A condition around an atomic stays a branch, however short. That around an addition does not, nor
// does a loop of a few fixed rounds.
__global__ void few_update(int* sums, int rounds) {
    int sum = threadIdx.x;
    for (int round = 0; round < 4; ++round) sum += round * sum;
    for (int round = 0; round < rounds; ++round) {
        if (threadIdx.x % 2 == 0) atomicAdd(&sums[round], sum);
    }
}

// A loop whose code begins and ends with operations that a header defines.
__global__ void escape(double* out) {
    double value = threadIdx.x;
    int steps = 0;
    while (__dmul_rn(value, value) < 1e6 && steps < 900) {
        value = __dadd_rn(value, 3);
        ++steps;
    }
    out[threadIdx.x] = steps;
}

__constant__ float factors[4];
__device__ float in_program[block_size];

// Constants and local arrays are no requests to global memory, a variable of the program is.
__global__ void other_memory(float* out, int which) {
    float local[4];
    for (int k = 0; k < 4; ++k) local[k] = factors[k];
    in_program[threadIdx.x] = local[(threadIdx.x + which) % 4];
    out[threadIdx.x] = in_program[threadIdx.x];
}

__global__ void first_of_two(float* out) { out[threadIdx.x] = 1; }
__global__ void second_of_two(float* out) { out[2 * threadIdx.x] = 2; }

// Through one pointer, at one place, with one shape.
void launch_often() {
    float* out = nullptr;
    cudaMalloc(&out, 256);
    for (int launch = 0; launch < 44; ++launch) {
        void (*const kernel)(float*) = launch < 40 ? first_of_two : second_of_two;
        kernel<<<1, 32>>>(out);
    }
    cudaFree(out);
}

int main(int count_of_words, char**) {
    if (count_of_words > 1) return launch_often(), 0;
    float *in = nullptr, *out = nullptr;
    int* numbers = nullptr;
    cudaMalloc(&in, 128 * count);
    cudaMalloc(&out, 128 * count);
    cudaMalloc(&numbers, 128 * count);
    cudaMemset(in, 0, 128 * count);
    cudaMemset(numbers, 0, 128 * count);
    const int blocks = count / block_size;
    for (int stride : {1, 2, 32}) stride_copy<<<blocks, block_size>>>(in, out, stride);
    offset_copy<<<blocks, block_size>>>(in, out);
    broadcast<<<blocks, block_size>>>(in, out);
    vectors<<<blocks, block_size>>>(reinterpret_cast<float4*>(in), reinterpret_cast<float4*>(out));
    parts<<<blocks, block_size>>>(in, reinterpret_cast<float4*>(out),
                                  reinterpret_cast<Three*>(numbers));
    guarded<<<blocks, block_size>>>(in, out, count - block_size - 24);
    tile_columns<32><<<1, dim3(32, 32)>>>(in, out);
    tile_columns<33><<<1, dim3(32, 32)>>>(in, out);
    for (int stride : {1, 2}) {
        wide_shared<<<1, 32, 4096>>>(reinterpret_cast<double2*>(out), stride);
    }
    for (int paths : {1, 2, 4, 8, 16, 32}) many_paths<<<1, block_size>>>(numbers, paths);
    meet_again<<<1, 32>>>(numbers);
    cudaMemset(numbers, 0, 128 * count);
    histogram<<<blocks, block_size>>>(numbers, numbers + count);
    sum_of_floats<<<1, 64>>>(out);
    shuffled_sum<<<1, block_size>>>(in, out);
    other_memory<<<1, block_size>>>(out, 3);
    unsigned* const results = reinterpret_cast<unsigned*>(out);
    by_value<<<1, block_size>>>(reinterpret_cast<uint4*>(in), results);
    launched<by_value>(reinterpret_cast<uint4*>(in), results);
    shifted_together<<<1, block_size>>>(reinterpret_cast<unsigned*>(in), results, 8);
    few_update<<<1, block_size>>>(numbers, 10);
    escape<<<1, block_size>>>(reinterpret_cast<double*>(out));
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    std::printf("done\n");
}
