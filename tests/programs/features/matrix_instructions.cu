// Feature: `mma.sync` and `ldmatrix` | products of half, bfloat16, tf32, 8-bit integers and double in the shapes m16n8k16, m16n8k8, m16n8k32, m8n8k4, ...; `ldmatrix` with and without `.trans`
// Flags: -arch=native
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "../runtime_expect.h"

// Small whole numbers, so that every sum is exact.
__host__ __device__ int of_a(int row, int term) { return (row * 3 + term * 5) % 7 - 3; }
__host__ __device__ int of_b(int term, int column) { return (term * 2 + column * 3) % 5 - 2; }
__host__ __device__ int of_c(int row, int column) { return row - 2 * column; }
__host__ __device__ int expected(int row, int column, int terms) {
    int sum = of_c(row, column);
    for (int k = 0; k < terms; ++k) sum += of_a(row, k) * of_b(k, column);
    return sum;
}

__device__ uint32_t two(__half low, __half high) {
    return uint32_t{__half_as_ushort(low)} | uint32_t{__half_as_ushort(high)} << 16;
}
__device__ uint32_t two_bf(float low, float high) {
    return __float_as_uint(low) >> 16 | (__float_as_uint(high) & 0xffff0000u);
}
template <class Pack>
__device__ uint32_t pair_of_a(int row, int term, Pack pack) {
    return pack(of_a(row, term), of_a(row, term + 1));
}
template <class Pack>
__device__ uint32_t pair_of_b(int term, int column, Pack pack) {
    return pack(of_b(term, column), of_b(term + 1, column));
}
template <class T>
__device__ void check(const T (&sums)[4], int terms) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int i = 0; i < 4; ++i) EXPECT(sums[i] == T(expected(g + i / 2 * 8, 2 * t + i % 2, terms)));
}
template <class T>
__device__ void start(T (&sums)[4]) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    for (int i = 0; i < 4; ++i) sums[i] = T(of_c(g + i / 2 * 8, 2 * t + i % 2));
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__global__ void products() {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4;
    const auto halves = [](int low, int high) {
        return two(__int2half_rn(low), __int2half_rn(high));
    };
    const auto bfloats = [](int low, int high) { return two_bf(float(low), float(high)); };
    float sums[4];
    start(sums);
    uint32_t a[4], b[2];
    for (int i = 0; i < 4; ++i) a[i] = pair_of_a(g + i % 2 * 8, 2 * t + i / 2 * 8, halves);
    for (int i = 0; i < 2; ++i) b[i] = pair_of_b(2 * t + 8 * i, g, halves);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    check(sums, 16);

    start(sums);
    uint32_t low = halves(int(sums[0]), int(sums[1])), high = halves(int(sums[2]), int(sums[3]));
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%4}, {%0,%1};"
                 : "+r"(low), "+r"(high)
                 : "r"(a[0]), "r"(a[1]), "r"(b[0]));
    for (int i = 0; i < 4; ++i) {
        const uint32_t word = i < 2 ? low : high;
        sums[i] = __half2float(__ushort_as_half(static_cast<unsigned short>(word >> 16 * (i % 2))));
    }
    check(sums, 8);

    start(sums);
    for (int i = 0; i < 4; ++i) a[i] = pair_of_a(g + i % 2 * 8, 2 * t + i / 2 * 8, bfloats);
    for (int i = 0; i < 2; ++i) b[i] = pair_of_b(2 * t + 8 * i, g, bfloats);
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    check(sums, 16);

    start(sums);
    for (int i = 0; i < 4; ++i) {
        const float value = float(of_a(g + i % 2 * 8, t + i / 2 * 4));
        asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(a[i]) : "f"(value));
    }
    for (int i = 0; i < 2; ++i) b[i] = __float_as_uint(float(of_b(t + 4 * i, g)));
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    check(sums, 8);

    int whole[4];
    start(whole);
    for (int i = 0; i < 4; ++i) {
        a[i] = 0;
        for (int j = 0; j < 4; ++j)
            a[i] |= uint32_t(of_a(g + i % 2 * 8, 4 * t + j + i / 2 * 16) & 255) << 8 * j;
    }
    for (int i = 0; i < 2; ++i) {
        b[i] = 0;
        for (int j = 0; j < 4; ++j) b[i] |= uint32_t(of_b(4 * t + j + 16 * i, g) & 255) << 8 * j;
    }
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(whole[0]), "+r"(whole[1]), "+r"(whole[2]), "+r"(whole[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    check(whole, 32);

    double left = of_c(g, 2 * t), right = of_c(g, 2 * t + 1);
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};"
                 : "+d"(left), "+d"(right)
                 : "d"(double(of_a(g, t))), "d"(double(of_b(t, g))));
    EXPECT(left == expected(g, 2 * t, 4) && right == expected(g, 2 * t + 1, 4));
}
#else
__global__ void products() {}
#endif

__global__ void load() {
    __shared__ alignas(16) unsigned short tile[32][8];
    const int lane = threadIdx.x, g = lane / 4, t = lane % 4;
    for (int j = 0; j < 8; ++j) tile[lane][j] = static_cast<unsigned short>(100 * lane + j);
    __syncwarp();
    const auto row = static_cast<uint32_t>(__cvta_generic_to_shared(tile[lane]));
    uint32_t r[4], turned[2];
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(row));
    for (int i = 0; i < 4; ++i)
        EXPECT(r[i] == (tile[8 * i + g][2 * t] | uint32_t{tile[8 * i + g][2 * t + 1]} << 16));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                 : "=r"(turned[0]), "=r"(turned[1])
                 : "r"(row));
    for (int i = 0; i < 2; ++i)
        EXPECT(turned[i] == (tile[8 * i + 2 * t][g] | uint32_t{tile[8 * i + 2 * t + 1][g]} << 16));
}

int main() {
    products<<<1, 32>>>();
    EXPECT_RUN();
    load<<<1, 32>>>();
    EXPECT_RUN();
    printf("ok\n");
}
