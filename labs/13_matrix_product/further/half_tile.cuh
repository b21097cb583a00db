// tensor_16x8x16: halves by the tensor cores of compute capability 8.0 and later. For reading.
//
// To be known before: half.cuh.
//
// As tensor_8x8x4, a warp multiplies small matrices, here 16 x 16 elements of a by 16 x 8 of b. A register
// holds two halves. With g = lane / 4 and t = lane % 4 a thread has
//
//   a[0], a[1]   rows g, g + 8, terms 2 t, 2 t + 1       sums[0], sums[1]   row g, columns 2 t, 2 t + 1
//   a[2], a[3]   the same rows, terms 8 further on       sums[2], sums[3]   row g + 8, the same columns
//   b[0], b[1]   column g, the same terms, and 8 further on
//
// ldmatrix fetches that: 32 threads name 32 rows of 8 halves, four matrices of 8 x 8, and each thread
// receives its two halves of each. The two terms of a register are neighbours in a row of a, but in b they lie
// in two rows: there ldmatrix transposes.
//
//      lanes  0 -  7   rows 0 -  7 of the left half         +----+----+
//      lanes  8 - 15   rows 8 - 15 of the left half         | 0  | 2  |     to[i] is of matrix i
//      lanes 16 - 23   rows 0 -  7 of the right half        +----+----+
//      lanes 24 - 31   rows 8 - 15 of the right half        | 1  | 3  |
//                                                           +----+----+
#pragma once

#include "half.cuh"

#ifdef CUDA_ON_CPU
__device__ inline float2 both(unsigned halves) {
    __half2 pair;
    memcpy(&pair, &halves, 4);
    return __half22float2(pair);
}
#endif

// Four matrices of 8 x 8 halves in shared memory; `row` is that of this lane, as above.
template <bool transposed>
__device__ __forceinline__ void load_matrices(unsigned (&to)[4], const __half* row) {
#if defined(CUDA_ON_CPU)
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    const auto row_of = [&](int lane) {
        return reinterpret_cast<const __half*>(
            __shfl_sync(~0u, reinterpret_cast<unsigned long long>(row), lane));
    };
    for (int i = 0; i < 4; i++) {
        const __half *first = row_of(8 * i + (transposed ? 2 * t : g)),
                     *second = row_of(8 * i + (transposed ? 2 * t + 1 : g));
        const __half pair[2] = {first[transposed ? g : 2 * t], second[transposed ? g : 2 * t + 1]};
        memcpy(&to[i], pair, 4);
    }
#elif __CUDA_ARCH__ >= 800
    const unsigned place = unsigned(__cvta_generic_to_shared(row));
    if constexpr (transposed) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(place)
                     : "memory");
    } else {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                     : "r"(place)
                     : "memory");
    }
#endif
}

// sums += a b.
__device__ __forceinline__ void multiply_16x8x16(float (&sums)[4], const unsigned (&a)[4],
                                                 const unsigned* b) {
#if defined(CUDA_ON_CPU)
    const int g = threadIdx.x % 32 / 4, t = threadIdx.x % 4;
    for (int i = 0; i < 8; i++) {  // two terms at a time, from the lanes that hold them
        const int from = i % 4, later = i / 4;
        const float2 upper = both(__shfl_sync(~0u, a[2 * later], 4 * g + from));
        const float2 lower = both(__shfl_sync(~0u, a[2 * later + 1], 4 * g + from));
        const float2 left = both(__shfl_sync(~0u, b[later], 8 * t + from));
        const float2 right = both(__shfl_sync(~0u, b[later], 8 * t + 4 + from));
        sums[0] += upper.x * left.x + upper.y * left.y;
        sums[1] += upper.x * right.x + upper.y * right.y;
        sums[2] += lower.x * left.x + lower.y * left.y;
        sums[3] += lower.x * right.x + lower.y * right.y;
    }
#elif __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, "
        "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
}

// 8 warps, 2 x 4, of 64 x 32 sums each. There is one barrier a stage: behind it all copies of this stage have
// arrived, and nobody uses the one before any longer, so that one is filled anew.
template <class Tile, bool aligned>
__global__ void __launch_bounds__(Tile::threads, 2)
    tensor_16x8x16(const __half* a, const __half* b, float* c, int m, int n, int k) {
    constexpr int stages = Tile::stages;
    extern __shared__ __align__(1024) unsigned char stages_of_halves[];
    typename Tile::Stage* const stage = reinterpret_cast<typename Tile::Stage*>(stages_of_halves);
    const Corner corner = grouped_corner<Tile>(m, n);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int y = warp / 4 * 64, x = warp % 4 * 32;
    float sums[4][4][4] = {};
#pragma unroll
    for (int s = 0; s < stages - 1; s++) {
        copy_stage<Tile, aligned>(stage[s], a, b, m, n, k, corner, s * half_depth);
    }
    for (int p = 0, step = 0; p < k; p += half_depth, step++) {
        lab::wait_for_copies<stages - 2>();
        __syncthreads();
        copy_stage<Tile, aligned>(stage[(step + stages - 1) % stages], a, b, m, n, k, corner,
                                  p + (stages - 1) * half_depth);
        const typename Tile::Stage& now = stage[step % stages];
#pragma unroll
        for (int q = 0; q < half_depth; q += 16) {
            unsigned a_values[4][4], b_values[2][4];
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const int row = y + 16 * i + lane % 16;
                load_matrices<false>(a_values[i], &now.a[row][swizzled(row, q + lane / 16 * 8)]);
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int row = q + lane % 16, column = x + 16 * j + lane / 16 * 8;
                load_matrices<true>(b_values[j],
                                    &now.b[column / 64][row][swizzled(row, column % 64)]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++) {
#pragma unroll
                for (int j = 0; j < 4; j++) {
                    multiply_16x8x16(sums[i][j], a_values[i], &b_values[j / 2][j % 2 * 2]);
                }
            }
        }
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int row = corner.row + y + 16 * i + lane / 4;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const int column = corner.column + x + 8 * j + lane % 4 * 2;
            store_pair(c, m, n, row, column, sums[i][j][0], sums[i][j][1]);
            store_pair(c, m, n, row + 8, column, sums[i][j][2], sums[i][j][3]);
        }
    }
}

using SmallHalfTile = HalfTile<128, 128, 3>;  // 96 KiB

inline lab::Launch launch_tensor_16x8x16(const HalfProduct& product) {
    return launch_half<SmallHalfTile>(tensor_16x8x16<SmallHalfTile, true>,
                                      tensor_16x8x16<SmallHalfTile, false>, product);
}

// Why it cannot run here, or "".
inline std::string no_tensor_16x8x16() {
    return missing<__half, float>(tensor_16x8x16<SmallHalfTile, true>, 8,
                                  shared_bytes<SmallHalfTile>);
}
