// warp_group_64x256x16: halves by the warp-group instructions of compute capability 9.0. For reading.
//
// To be known before: half.cuh, half_tile.cuh.
//
// In tensor_16x8x16 each value goes from shared memory to registers, and from there to the tensor cores; at
// their speed, warps do little else than fetch. Here four warps, a warp group, name two matrices in shared
// memory, and the tensor cores read them there: 64 x 16 halves of a, 16 x 256 of b, 64 x 256 sums in registers.
// The group goes on at once, as after an asynchronous copy; products are committed and waited for in the same
// way. What a group's thread has of the sums is that of m16n8k16, for 16 rows a warp:
//
//     warp 0   rows  0 - 15       sums[4 j], sums[4 j + 1]       row g,     columns 8 j + 2 t and + 1
//     warp 1   rows 16 - 31       sums[4 j + 2], sums[4 j + 3]   row g + 8, the same columns
//     ...
//
// A matrix is named by a descriptor of 64 bits: where it begins, in which order pieces lie (the one of half.cuh,
// 128-byte swizzle), how far eight rows are from the next eight, and the columns of b from the next 64.
//
// A step, for three stages of four in use:
//
//     copies of stage s have arrived; they are made visible to the tensor cores; barrier
//     begin the products of stage s
//     begin the copies of stage s + 2, to where s - 2 was: behind the barrier, all are done with it
//     wait for the products of stage s - 1, while those of s go on
//
// It brought, in TFLOP/s at 2048, 4096 and 8192 (H200, CUDA 13.0, 1 December 2026): 546, 678 and 703, where cuBLAS has
// 591, 742 and 704 and tensor_16x8x16 341, 396 and 366. At 1024, where 68 of 132 multiprocessors are idle: 176, cuBLAS 226.
#pragma once

#include "half_tile.cuh"

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define WARP_GROUPS 1  // device code for sm_90a, where these instructions are
#else
#define WARP_GROUPS 0
#endif

// What stores and copies brought to shared memory is there for the tensor cores, too.
__device__ __forceinline__ void show_to_tensor_cores() {
#if WARP_GROUPS
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

// Before the first product that adds to sums which other instructions wrote.
__device__ __forceinline__ void begin_products() {
#if WARP_GROUPS
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
}

__device__ __forceinline__ void commit_products() {
#if WARP_GROUPS
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
#endif
}

// Until all of this group's but the latest are done.
template <int but_the_latest>
__device__ __forceinline__ void wait_for_products() {
#if WARP_GROUPS
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(but_the_latest) : "memory");
#endif
}

#if WARP_GROUPS
// `first` is the first piece; eight rows are 1024 bytes. Units of 16 bytes.
__device__ __forceinline__ uint64_t descriptor(const __half* first, int to_next_columns) {
    const uint64_t begin = __cvta_generic_to_shared(first) / 16, columns = to_next_columns / 16;
    constexpr uint64_t rows = 1024 / 16, swizzle_128_bytes = 1;
    return begin | columns << 16 | rows << 32 | swizzle_128_bytes << 62;
}
#endif

#define SUMS(i) "+f"(sums[i]), "+f"(sums[i + 1]), "+f"(sums[i + 2]), "+f"(sums[i + 3])
#define MORE_SUMS(i) SUMS(i), SUMS(i + 4), SUMS(i + 8), SUMS(i + 12)

// sums += a b for the 16 terms from q on. a: 64 rows; b: four blocks of 64 columns. All threads of the group.
__device__ __forceinline__ void multiply_64x256x16(float (&sums)[128],
                                                   const __half (*a)[half_depth],
                                                   const __half (*b)[half_depth][64], int q) {
#if defined(CUDA_ON_CPU)
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32 % 4;
    for (int i = 0; i < 128; i++) {
        const int row = 16 * warp + lane / 4 + i / 2 % 2 * 8;
        const int column = i / 4 * 8 + lane % 4 * 2 + i % 2;
        for (int term = q; term < q + 16; term++) {
            const __half factor = b[column / 64][term][swizzled(term, column % 64)];
            sums[i] += __half2float(a[row][swizzled(row, term)]) * __half2float(factor);
        }
    }
#elif WARP_GROUPS
    const uint64_t of_a = descriptor(&a[0][q], 16);  // its 16 terms lie in one row of pieces
    const uint64_t of_b = descriptor(&b[0][q][0], sizeof(b[0]));
    // add, 1, 1: to the sums; a and b as they are. 0, 1: terms are neighbours in a, columns in b
    asm volatile(
        "{.reg .pred add; setp.eq.u32 add, 1, 1; "
        "wgmma.mma_async.sync.aligned.m64n256k16.f32.f16.f16 {"
        "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
        "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
        "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
        "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
        "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
        "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
        "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, "
        "%111, "
        "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, "
        "%127"
        "}, %128, %129, add, 1, 1, 0, 1;}"
        : MORE_SUMS(0), MORE_SUMS(16), MORE_SUMS(32), MORE_SUMS(48), MORE_SUMS(64), MORE_SUMS(80),
          MORE_SUMS(96), MORE_SUMS(112)
        : "l"(of_a), "l"(of_b));
#endif
}
#undef SUMS
#undef MORE_SUMS

// Two warp groups, one below the other, each with 64 x 256 sums; or one, in a tile that is half as high.
template <class Tile, bool aligned>
__global__ void __launch_bounds__(Tile::threads, 1)
    warp_group_64x256x16(const __half* a, const __half* b, float* c, int m, int n, int k) {
#if defined(CUDA_ON_CPU) || WARP_GROUPS
    constexpr int stages = Tile::stages;
    extern __shared__ __align__(1024) unsigned char stages_of_halves[];
    typename Tile::Stage* const stage = reinterpret_cast<typename Tile::Stage*>(stages_of_halves);
    const Corner corner = grouped_corner<Tile>(m, n);
    const int group = threadIdx.x / 128, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    float sums[128] = {};
#pragma unroll
    for (int s = 0; s < stages - 2; s++) {
        copy_stage<Tile, aligned>(stage[s], a, b, m, n, k, corner, s * half_depth);
    }
    for (int p = 0, step = 0; p < k; p += half_depth, step++) {
        const typename Tile::Stage& now = stage[step % stages];
        lab::wait_for_copies<stages - 3>();
        show_to_tensor_cores();
        __syncthreads();
        begin_products();
#pragma unroll
        for (int q = 0; q < half_depth; q += 16) {
            multiply_64x256x16(sums, &now.a[64 * group], now.b, q);
        }
        commit_products();
        copy_stage<Tile, aligned>(stage[(step + stages - 2) % stages], a, b, m, n, k, corner,
                                  p + (stages - 2) * half_depth);
        wait_for_products<1>();
    }
    wait_for_products<0>();
    const int row = corner.row + 16 * warp + lane / 4;
#pragma unroll
    for (int i = 0; i < 128; i += 4) {
        const int column = corner.column + 2 * i + lane % 4 * 2;
        store_pair(c, m, n, row, column, sums[i], sums[i + 1]);
        store_pair(c, m, n, row + 8, column, sums[i + 2], sums[i + 3]);
    }
#endif
}

using LargeHalfTile = HalfTile<128, 256, 4>;  // 192 KiB
using FlatHalfTile = HalfTile<64, 256, 5>;    // 200 KiB

template <class Tile>
lab::Launch launch_warp_group_of(const HalfProduct& product) {
    return launch_half<Tile>(warp_group_64x256x16<Tile, true>, warp_group_64x256x16<Tile, false>,
                             product);
}

// The names of the tiles for --block-tile: rows, columns, blocks a multiprocessor.
inline const std::vector<std::string> half_tile_names = {"64x256x1", "128x256x1"};

// Flat tiles where there are multiprocessors for twice as many, or as --block-tile says.
inline lab::Launch launch_warp_group(const HalfProduct& product) {
    const int64_t tiles = lab::divide_up(product.m, LargeHalfTile::height) *
                          lab::divide_up(product.n, LargeHalfTile::width);
    const int multiprocessors = lab::device_attribute(cudaDevAttrMultiProcessorCount);
    const bool flat = product.block_tile == "auto" ? 2 * tiles <= multiprocessors
                                                   : product.block_tile == half_tile_names[0];
    return flat ? launch_warp_group_of<FlatHalfTile>(product)
                : launch_warp_group_of<LargeHalfTile>(product);
}

// Why it cannot run here, or "". Code for sm_90a runs on cards of compute capability 9.0 alone.
inline std::string no_warp_group(const std::string& block_tile) {
    if (block_tile != "auto" &&
        !std::count(half_tile_names.begin(), half_tile_names.end(), block_tile)) {
        return "has no tile " + block_tile;
    }
#ifndef CUDA_ON_CPU
    const int capability = lab::device_attribute(cudaDevAttrComputeCapabilityMajor);
    if (capability != 9) {
        return lab::format("needs compute capability 9.0, this card has %d", capability);
    }
#ifndef LAB_SM_90A
    return "not compiled for sm_90a: make FURTHER=1 does it for a card of compute capability 9.0";
#endif
#endif
    return missing<__half, float>(warp_group_64x256x16<LargeHalfTile, true>, 9,
                                  shared_bytes<FlatHalfTile>);
}
