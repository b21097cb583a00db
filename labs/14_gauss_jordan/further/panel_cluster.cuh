// For panel.cuh, `team` on cards of compute capability 9.0 and later: several blocks that agree on a pivot through
// each other's shared memory.
//
// Know before: panel_alone.cuh, whose calls these are; shared memory and barriers (lab 10). New here: a cluster is
// a group of blocks that run at the same time on neighbouring multiprocessors. An mbarrier lies in shared memory
// and counts who has arrived and how many bytes have; who waits there goes on when all are there. `asm` holds
// instructions of the machine's language PTX for which C++ has no word; what CPU mode does stands beside them.
//
//        block 0                    block 1                    block 2
//        warp 3 has 7.2   -------->  offers[..][3] = 7.2        offers[..][3] = 7.2     one store a block, a
//                                   offered: 16 bytes came     offered: 16 bytes came  lane for each
//        waits for offered          waits for offered          waits for offered       all offers of the step
//        warp 3 has the best: it sends its row in the same way; `sent` counts its bytes
//
// What it brought: a step costs about as much with 16 blocks as with one, so panels may be 32 columns wide for
// 8192 rows. `one_block` takes 6.49 ms for 2048 unknowns in double, `team` 2.68
// (NVIDIA H200, CUDA 13.0, 1 December 2026, make bench LAB=14 SOLUTION=1).
#pragma once

#include "panel_alone.cuh"

// A barrier that counts bytes counts each message by itself. Of more warps than this, only one a block
// announces something, when it has heard the others (`by_block`).
constexpr int most_offers = 128;

// A cluster of up to 16 blocks, as of compute capability 9.0: they run at the same time and reach each
// other's shared memory. Each warp stores its offer in the shared memory of all blocks, a lane for each
// of them; the winner does the same with its row, 16 bytes a lane. The stores are asynchronous: they report to
// a barrier there, which lets its block go on when all bytes of a step have come; nobody waits for a
// barrier of the cluster, or of the block. Two sets of everything in turn: a fast warp may begin the next step
// while a slow one is still in this one, but not the one after, for which it needs the slow one's offer.
template <class T, bool by_block>
class Cluster {
 public:
    struct Shared {
        Offer<T> offers[2][most_offers], of_block[2][panel_most_warps];
        PanelRow<T> rows[2], staged[panel_most_warps];
        uint64_t offered[2], sent[2];  // barriers in shared memory
    };
    struct Place {};

    __device__ Cluster(const Place&, Shared& shared) : shared_(shared) {
        if (threadIdx.x == 0) {
            for (int i = 0; i < 2; i++) {
                make_barrier(&shared_.offered[i]);
                make_barrier(&shared_.sent[i]);
            }
        }
        wait_for_cluster();
    }

    // All that was sent to this block has come, so the others may still send to each other.
    __device__ void end() {
        __syncthreads();
        if (threadIdx.x > 0) return;
        for (int i = 0; i < 2; i++) {
            give_up_barrier(&shared_.offered[i]);
            give_up_barrier(&shared_.sent[i]);
        }
    }

    __device__ PanelRow<T>& staged(int) { return shared_.staged[threadIdx.x / 32]; }

    __device__ void announce(int k, const Offer<T>& offer) {
        if constexpr (by_block) {
            Offer<T>* const of_block = shared_.of_block[k % 2];
            if (threadIdx.x % 32 == 0) of_block[threadIdx.x / 32] = offer;
            if (threadIdx.x >= 32) return arrive_for_first_warp();
            wait_as_first_warp();
            send_offer(k, best_offer(of_block, blockDim.x / 32));
        } else {
            send_offer(k, offer);
        }
    }

    __device__ Offer<T> decide(int k) {
        wait_for_phase(&shared_.offered[k % 2], k / 2 % 2);
        return best_offer(shared_.offers[k % 2], offers_of_team());
    }

    // compute-sanitizer's racecheck warns here: it sees no barrier between this reading and the stores of the next step, by other
    // lanes of the warp. None gets there before all have taken part in the shuffles in between. A __syncwarp() behind it would
    // say so, and makes 4096 unknowns in double 17 % slower.
    __device__ void send_row(int k, const Offer<T>& pivot) {
        if (pivot.warp != warp_of_team()) return;
        constexpr int parts = PanelRow<T>::parts;
        const int lane = threadIdx.x % 32;
        const ulonglong2 part = *staged(k).part(lane % parts);
        for (int block = lane / parts; block < int(gridDim.x); block += 32 / parts) {
            send(shared_.rows[k % 2].part(lane % parts), part, &shared_.sent[k % 2], block);
        }
    }

    __device__ const PanelRow<T>& row(int k, const Offer<T>&) {
        wait_for_phase(&shared_.sent[k % 2], k / 2 % 2);
        return shared_.rows[k % 2];
    }

 private:
    Shared& shared_;

    __device__ static int offers_of_team() { return by_block ? gridDim.x : warps_of_team(); }

    __device__ void send_offer(int k, const Offer<T>& offer) {
        const int block = threadIdx.x % 32, place = by_block ? blockIdx.x : warp_of_team();
        if (block < int(gridDim.x)) {
            send(&shared_.offers[k % 2][place], offer, &shared_.offered[k % 2], block);
        }
        if (threadIdx.x == 0) {
            expect_bytes(&shared_.offered[k % 2], offers_of_team() * int(sizeof(Offer<T>)));
            expect_bytes(&shared_.sent[k % 2], PanelRow<T>::parts * 16);
        }
    }

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900 && CUDART_VERSION >= OLDEST_FOR_CLUSTERS
    __device__ static unsigned address(const void* shared) {
        return unsigned(__cvta_generic_to_shared(shared));
    }

    // The same place in the shared memory of another block of the cluster.
    __device__ static unsigned address_in(const void* shared, int block) {
        unsigned there;
        asm("mapa.shared::cluster.u32 %0, %1, %2;"
            : "=r"(there)
            : "r"(address(shared)), "r"(block));
        return there;
    }

    // 16 bytes
    template <class Value>
    __device__ static void send(Value* to, const Value& value, uint64_t* arrived, int block) {
        static_assert(sizeof(Value) == sizeof(ulonglong2));
        ulonglong2 bits;
        memcpy(&bits, &value, sizeof bits);
        asm volatile(
            "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, "
            "[%3];" ::"r"(address_in(to, block)),
            "l"(bits.x), "l"(bits.y), "r"(address_in(arrived, block))
            : "memory");
    }

    __device__ static void make_barrier(uint64_t* barrier) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(barrier)) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }

    __device__ static void give_up_barrier(uint64_t* barrier) {
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(address(barrier)) : "memory");
    }

    // The warps beside the first do not wait when they have arrived, only the first one does.
    __device__ static void arrive_for_first_warp() {
        asm volatile("barrier.cta.arrive.aligned 1, %0;" ::"r"(blockDim.x) : "memory");
    }

    __device__ static void wait_as_first_warp() {
        asm volatile("barrier.cta.sync.aligned 1, %0;" ::"r"(blockDim.x) : "memory");
    }

    __device__ static void expect_bytes(uint64_t* barrier, int bytes) {
        asm volatile(
            "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(barrier)),
            "r"(bytes)
            : "memory");
    }

    __device__ static void wait_for_phase(uint64_t* barrier, int parity) {
        int done = 0;
        while (!done) {
            asm volatile(
                "{ .reg .pred p;\n"
                "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
                "selp.s32 %0, 1, 0, p; }"
                : "=r"(done)
                : "r"(address(barrier)), "r"(parity)
                : "memory");
        }
    }

    __device__ static void wait_for_cluster() {
        asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
        asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
    }
#else  // never launched
    template <class Value>
    __device__ static void send(Value*, const Value&, uint64_t*, int) {}
    __device__ static void arrive_for_first_warp() {}
    __device__ static void wait_as_first_warp() {}
    __device__ static void make_barrier(uint64_t*) {}
    __device__ static void give_up_barrier(uint64_t*) {}
    __device__ static void expect_bytes(uint64_t*, int) {}
    __device__ static void wait_for_phase(uint64_t*, int) {}
    __device__ static void wait_for_cluster() {}
#endif
};
