// For panel.cuh, `team` on other cards: several blocks that agree on a pivot through flags in global memory.
//
// Know before: panel_alone.cuh, whose calls these are; atomics and fences (lab 10). New here: a release store and
// the acquire load that sees it hand over all that the storing thread has written before (set_flag and
// wait_for_flag in given/system.h). All blocks have to run at the same time: a cooperative launch promises it.
//
//        block 0                              global memory                  block 1
//        best of its warps: 7.2, its row ---> offers[0], then steps[0] = k   (waits for all steps = k)
//        (waits for all steps = k)            offers[1], then steps[1] = k   <--- best of its warps: 3.1
//        takes the best of both, 7.2, and its row                            takes the same
#pragma once

#include "panel_alone.cuh"

// Any number of blocks that run at the same time, on any card: what a block has to offer lies in global
// memory, with a number that says for which step it is. Nobody waits at a barrier: one warp of each block
// looks at all numbers until they are there. That takes a way to the L2 cache and back, twice.
template <class T>
class Grid {
 public:
    struct Shared {
        Offer<T> offers[2][panel_most_warps];
        PanelRow<T> staged[2][panel_most_warps], row;
        Offer<T> pivot;
    };
    struct OfferWithRow {
        Offer<T> offer;
        PanelRow<T> row;
    };
    struct Place {
        OfferWithRow* offers;  // (2, blocks)
        int* steps;            // (2, blocks), at first 0
        int first;             // the steps before this launch
    };

    __device__ Grid(const Place& place, Shared& shared) : place_(place), shared_(shared) {}
    __device__ PanelRow<T>& staged(int k) { return shared_.staged[k % 2][threadIdx.x / 32]; }
    __device__ void announce(int k, const Offer<T>& offer) {
        if (threadIdx.x % 32 == 0) shared_.offers[k % 2][threadIdx.x / 32] = offer;
    }
    __device__ Offer<T> decide(int k) {
        __syncthreads();
        if (threadIdx.x < 32) decide_for_block(k);
        __syncthreads();
        return shared_.pivot;
    }
    __device__ void send_row(int, const Offer<T>&) {}
    __device__ const PanelRow<T>& row(int, const Offer<T>&) { return shared_.row; }
    __device__ void end() {}

 private:
    const Place place_;
    Shared& shared_;

    __device__ void decide_for_block(int k) {
        constexpr int parts = PanelRow<T>::parts;
        const int lane = threadIdx.x, team = gridDim.x, now = place_.first + k + 1;
        OfferWithRow* const received = place_.offers + now % 2 * team;
        int* const steps = place_.steps + now % 2 * team;
        const Offer<T> ours = best_offer(shared_.offers[k % 2], blockDim.x / 32);
        const PanelRow<T>& row = shared_.staged[k % 2][ours.warp % (blockDim.x / 32)];
        if (lane < parts) *received[blockIdx.x].row.part(lane) = *row.part(lane);
        if (lane == 0) received[blockIdx.x].offer = ours;
        __syncwarp();
        if (lane == 0) set_flag(&steps[blockIdx.x], now);
        Candidate mine = nobody();
        int from = 0;
        for (int block = lane; block < team; block += 32) {
            wait_for_flag(&steps[block], now);
            const Offer<T>& offer = received[block].offer;
            const Candidate theirs = candidate(__ldcg(&offer.value), __ldcg(&offer.standing));
            mine = better(mine, theirs);
            if (mine.row == theirs.row) from = block;
        }
        __syncwarp();
        from = __shfl_sync(~0u, from, best_lane<T>(mine));
        if (lane < parts) *shared_.row.part(lane) = __ldcg(received[from].row.part(lane));
        if (lane == 0) {
            const Offer<T>& offer = received[from].offer;
            shared_.pivot = {__ldcg(&offer.value), __ldcg(&offer.standing), __ldcg(&offer.warp)};
        }
    }
};
