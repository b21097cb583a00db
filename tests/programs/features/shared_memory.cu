// Feature: kinds of shared memory | unions, bit fields and structures, several arrays in dynamic shared memory, a template's `SharedMemory<T>`, `__shared__` in functions and templates, more than 48 KiB, alignment of more than a page
#include "../runtime_expect.h"

union Word {
    int whole;
    float real;
    unsigned char bytes[4];
};
struct Fields {
    unsigned int low : 4, middle : 12, high : 16;
};
__global__ void kinds(int* out) {
    __shared__ Word words[32];
    __shared__ Fields fields;
    __shared__ __align__(16 * 1024) int aligned[4];
    __shared__ union {
        int whole;
        float real;
    } either;
    __shared__ struct {
        int values[4];
        double factor;
    } both;
    words[threadIdx.x].real = float(threadIdx.x);
    if (threadIdx.x == 0) {
        fields.low = 5, fields.middle = 100, fields.high = 7;
        either.real = 2;
        both.values[1] = 8, both.factor = 3;
    }
    __syncthreads();
    if (threadIdx.x != 1) return;
    out[0] = words[1].whole;
    out[1] = words[1].bytes[3];
    out[2] = fields.middle;
    out[3] = either.whole;
    out[4] = int(both.values[1] * both.factor);
    aligned[0] = int(reinterpret_cast<size_t>(aligned) % 1024);
    out[5] = aligned[0];
}

// Arrays of floats that are read as vectors.
__global__ void as_vectors(float* out) {
    __shared__ float first[32];
    __shared__ float second[32];
    const int i = threadIdx.x;
    first[i] = i, second[i] = 100 - i;
    __syncthreads();
    if (i >= 8) return;
    const float4 a = reinterpret_cast<float4*>(first)[i], b = reinterpret_cast<float4*>(second)[i];
    out[i] = a.x + b.x + a.w - b.w;
}

// Three arrays share what the launch asked for.
__global__ void divided(int count, double* out) {
    extern __shared__ __align__(16) unsigned char memory[];
    double* const large = reinterpret_cast<double*>(memory);
    int* const whole = reinterpret_cast<int*>(large + count);
    char* const letters = reinterpret_cast<char*>(&whole[count]);
    const int i = threadIdx.x;
    large[i] = i * 0.5, whole[i] = 2 * i, letters[i] = char(i);
    __syncthreads();
    const int other = count - 1 - i;
    out[i] = large[other] + whole[other] + letters[other];
}

// As NVIDIA's samples do it: one name would have one type.
template <class T>
struct SharedMemory {
    __device__ operator T*() const {
        extern __shared__ __align__(16) int common_to_all_types[];
        return reinterpret_cast<T*>(common_to_all_types);
    }
};
template <class T>
__global__ void reverse(T* values) {
    T* const own = SharedMemory<T>();
    own[threadIdx.x] = values[threadIdx.x];
    __syncthreads();
    values[threadIdx.x] = own[blockDim.x - 1 - threadIdx.x];
}

// Each call, and each instance of a template, has memory of its own in its function.
template <class T, int threads>
__device__ T block_sum(T value) {
    __shared__ T parts[threads];
    parts[threadIdx.x] = value;
    for (int half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) parts[threadIdx.x] += parts[threadIdx.x + half];
    }
    __syncthreads();
    const T result = parts[0];
    __syncthreads();
    return result;
}
__global__ void sums(float* out) {
    const float first = block_sum<float, 64>(0.5f);
    const int second = block_sum<int, 64>(threadIdx.x);
    if (threadIdx.x == 0) *out = first + second;
}
__global__ void large(int* out) {
    extern __shared__ int numbers[];
    for (int i = threadIdx.x; i < 15000; i += blockDim.x) numbers[i] = i;
    __syncthreads();
    if (threadIdx.x == 0) *out = numbers[14999];
}

int main() {
    int* out = zeros<int>(8);
    kinds<<<1, 32>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 0x3f800000 && read_back(out + 1) == 0x3f &&
           read_back(out + 2) == 100 && read_back(out + 3) == 0x40000000 &&
           read_back(out + 4) == 24 && read_back(out + 5) == 0);
    double* numbers = zeros<double>(32);
    divided<<<1, 32, 32 * (8 + 4 + 1)>>>(32, numbers);
    EXPECT_RUN();
    EXPECT(read_back(numbers) == 31 * 3.5 && read_back(numbers + 31) == 0);
    reverse<<<1, 32, 32 * sizeof(double)>>>(numbers);
    int* few = zeros<int>(8);
    reverse<<<1, 8, 8 * sizeof(int)>>>(few);
    EXPECT_RUN();
    EXPECT(read_back(numbers) == 0 && read_back(numbers + 31) == 31 * 3.5);
    float* sum = zeros<float>(1);
    sums<<<1, 64>>>(sum);
    EXPECT_RUN();
    EXPECT(read_back(sum) == 32 + 2016);
    float* vectors = zeros<float>(8);
    as_vectors<<<1, 32>>>(vectors);
    EXPECT_RUN();
    for (int i = 0; i < 8; ++i) EXPECT(read_back(vectors + i) == 8 * i + 6);
    SUCCEEDS(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000));
    large<<<1, 128, 60000>>>(out);
    EXPECT_RUN();
    EXPECT(read_back(out) == 14999);
    printf("ok\n");
}
