// For panel.cuh, `one_block`: how the warps of one block agree on a pivot.
//
// Teams: how the warps of one block, or of several, agree on a pivot. For each step k, and each with all lanes
// of a warp, all warps call
//
//   announce(k, offer)   what this warp has to offer; all lanes know it
//   decide(k)            the best of all offers, the pivot; this warp's row is in staged(k) by then
//   send_row(k, pivot)   so that the others get the row, if this warp has it
//   row(k, pivot)        the pivot's row, in this block's shared memory
//
// A row may be used until the next decide().
#pragma once

#include "offers.cuh"

constexpr int panel_most_warps = panel_most_threads / 32;

__device__ inline int warps_of_team() { return gridDim.x * (blockDim.x / 32); }
__device__ inline int warp_of_team() { return (blockIdx.x * blockDim.x + threadIdx.x) / 32; }

// Warps of one block: a barrier of those, and everything is there.
template <class T>
class Alone {
 public:
    struct Shared {
        Offer<T> offers[2][panel_most_warps];
        PanelRow<T> staged[2][panel_most_warps];
    };
    struct Place {
        int warps;  // the first ones of the block
    };

    // How many warps it takes for `rows` rows of 32 columns (last_panels.cuh asks). CPU mode has no barrier for some of the warps: there it takes all.
    __device__ static int warps_for(int rows) {
#ifdef __CUDA_ARCH__
        constexpr int of_warp = panel_rows_of_warp(32);
        return (rows + of_warp - 1) / of_warp;
#else
        return blockDim.x / 32;
#endif
    }

    __device__ Alone(const Place& place, Shared& shared) : shared_(shared), warps_(place.warps) {}
    __device__ PanelRow<T>& staged(int k) { return shared_.staged[k % 2][threadIdx.x / 32]; }
    __device__ void announce(int k, const Offer<T>& offer) {
        if (threadIdx.x % 32 == 0) shared_.offers[k % 2][threadIdx.x / 32] = offer;
    }
    __device__ Offer<T> decide(int k) {
        wait_for_warps();
        return best_offer(shared_.offers[k % 2], warps_);
    }
    __device__ void send_row(int, const Offer<T>&) {}
    __device__ const PanelRow<T>& row(int k, const Offer<T>& pivot) {
        return shared_.staged[k % 2][pivot.warp];
    }
    __device__ void end() {}

 private:
    Shared& shared_;
    const int warps_;

    __device__ void wait_for_warps() const {
#ifdef __CUDA_ARCH__
        asm volatile("bar.sync 1, %0;" ::"r"(32 * warps_) : "memory");
#else
        __syncthreads();
#endif
    }
};
