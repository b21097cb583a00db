// persistent: all rounds in one kernel. The blocks meet once a round, and the host has nothing to say.
//
// Know before: `signature` (given/signature_table.cuh) and `retire`, this lab's tasks 7 to 9; atomics that
// publish what was written before them (lab 10).
//
// A class is called by one of its states, which stands for it. A state that still has that one's signature
// keeps its class: then nothing is written, and no table is asked. The others look for their like in the
// table, and the first of each kind stands for a new class. So a round in which little splits costs two
// look-ups a letter, and the meeting:
//
//        block 0        block 1        block 2         meetings[round % 3]
//        refines        refines        refines
//        +1, 2 new      +1, 0 new         |              2 blocks, 2 new
//        waits          waits          +1, 1 new         3 blocks, 3 new   all are there:
//        goes on        goes on        goes on           3 classes more; 0 would end it
//
// Blocks may wait for each other only if all of them run at the same time. That is what a cooperative launch
// promises: it fails where the grid is larger than the card holds at once.
//
// What it brought: B_5000,20 has 10000 rounds, in which nearly nothing splits. `signature`, a launch a round,
// takes 286 ms for it, and this kernel 24 ms (NVIDIA H200, CUDA 13.0, 1 December 2026, make bench LAB=16
// SOLUTION=1). Where rounds are few and long it brings little: 6.3 and 9.1 ms for A_20000000,2.
#pragma once

#include "../given/signature_table.cuh"

// Everything the rounds share.
struct Persistent {
    DeviceAutomaton automaton;
    int32_t* labels;            // (2, states), who stands for the state's class: now, and next
    unsigned long long* slots;  // (mask + 1), 0 at first
    uint32_t mask;
    unsigned long long* meetings;  // (3), 0 at first
    int64_t classes;               // before the first round
    Refined* result;
};

#ifdef CUDA_ON_CPU
__device__ inline unsigned long long look_again(unsigned long long* place) {
    return atomicAdd(place, 0ull);
}
#else
__device__ inline unsigned long long look_again(unsigned long long* place) {
    unsigned long long value;
    asm volatile("ld.acquire.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(place) : "memory");
    return value;
}
#endif

// The barrier of the grid: all blocks wait for each other, and learn how many new classes they have found
// together. What one wrote before is then seen by all. A meeting is one number in memory: above, how many
// blocks have come; below, what they bring. Who sees that all are there knows the sum too. Three
// take turns: this round's, the last one's, at which some may still look, and the next one's, which is
// set to 0. Rounds count from 1.
__device__ inline unsigned meet(unsigned long long* meetings, int32_t round, unsigned fresh) {
    __shared__ unsigned in_block[2], in_grid;
    if (round == 1) {
        if (threadIdx.x == 0) in_block[1] = 0;
        __syncthreads();
    }
    if (fresh > 0) atomicAdd(&in_block[round % 2], fresh);
    __syncthreads();
    if (threadIdx.x == 0) {
        unsigned long long* const meeting = &meetings[round % 3];
        if (blockIdx.x == 0) meetings[(round + 1) % 3] = 0;
        __threadfence();
        atomicAdd(meeting, 1ull << 32 | in_block[round % 2]);
        unsigned long long now;
        do {
            now = look_again(meeting);
        } while (now >> 32 < gridDim.x);
        in_grid = unsigned(now);
        in_block[(round + 1) % 2] = 0;
    }
    __syncthreads();
    return in_grid;
}

// Where a state leads, and where the one that stands for its class does: looked up in every round.
struct LookedUp {
    const DeviceAutomaton& automaton;
    int64_t q, label;

    __device__ int32_t target(int64_t letter, bool of_label) const {
        return __ldg(&automaton.next[letter * automaton.states + (of_label ? label : q)]);
    }
};

// The same, kept by the thread in shared memory.
struct Kept {
    int32_t* place;  // (symbols, 2), a block's width apart

    __device__ int32_t& target(int64_t letter, bool of_label) const {
        return place[(2 * letter + of_label) * blockDim.x];
    }

    __device__ void fill(const DeviceAutomaton& automaton, int64_t state, bool of_label) const {
#pragma unroll 4
        for (int64_t letter = 0; letter < automaton.symbols; letter++) {
            target(letter, of_label) = __ldg(&automaton.next[letter * automaton.states + state]);
        }
    }
};

// Does the state differ from the one that stands for its class? And the hash of its signature, which is then
// needed: the look-ups for both are the same.
struct Compared {
    bool differs;
    uint64_t hash;
};

template <class Targets>
__device__ Compared compare(const Targets& targets, int64_t symbols, const int32_t* labels,
                            int32_t own) {
    int32_t difference = 0;
    uint64_t bits = uint32_t(own);
#pragma unroll 8
    for (int64_t letter = 0; letter < symbols; letter++) {
        const int32_t its = labels[targets.target(letter, false)];
        difference |= its ^ labels[targets.target(letter, true)];
        bits = longer_hash(bits, its);
    }
    return {difference != 0, finished_hash(bits)};
}

// The state that stands from now on for all with q's signature: whichever came first. A slot holds the round
// and a state. What an earlier round has left is as good as empty, so nothing is ever cleared.
__device__ inline int32_t first_of_kind(const Persistent& all, const int32_t* labels, int32_t round,
                                        uint64_t hash, int64_t q) {
    const auto entry = (unsigned long long)(round) << 32 | uint32_t(q);
    for (uint32_t slot = uint32_t(hash) & all.mask;; slot = (slot + 1) & all.mask) {
        unsigned long long found = look(&all.slots[slot]);
        while (int32_t(found >> 32) != round) {
            const unsigned long long before = atomicCAS(&all.slots[slot], found, entry);
            if (before == found) return int32_t(q);
            found = before;
        }
        const auto other = int32_t(found);
        if (same_signature(all.automaton, labels, other, q)) return other;
    }
}

// keeps: a thread has at most one state, and remembers its label and, in shared memory, its targets.
template <bool keeps>
__global__ void __launch_bounds__(1024) refine_until_stable(Persistent all) {
    extern __shared__ int32_t targets[];
    const DeviceAutomaton& automaton = all.automaton;
    const int64_t states = automaton.states, threads = int64_t{gridDim.x} * blockDim.x;
    const Kept kept = {targets + threadIdx.x};
    int32_t *from = all.labels, *to = all.labels + states, kept_label = 0;
    if (keeps && global_thread() < states) {
        kept_label = from[global_thread()];
        kept.fill(automaton, global_thread(), false);
        kept.fill(automaton, kept_label, true);
    }
    int32_t round = 0;
    int64_t classes = all.classes;
    for (unsigned all_fresh = 1; all_fresh > 0; classes += all_fresh) {
        round++;
        unsigned fresh = 0;
        for (int64_t q = global_thread(); q < states; q += threads) {
            const int32_t label = keeps ? kept_label : from[q], written = to[q];
            int32_t refined = label;
            if (label != q) {
                const LookedUp looked_up = {automaton, q, label};
                const Compared compared = keeps
                                              ? compare(kept, automaton.symbols, from, label)
                                              : compare(looked_up, automaton.symbols, from, label);
                if (compared.differs) refined = first_of_kind(all, from, round, compared.hash, q);
            }
            if (refined != written) to[q] = refined;
            fresh += refined == q && label != q;
            if (keeps && refined != label && refined != q) kept.fill(automaton, refined, true);
            kept_label = refined;
        }
        all_fresh = meet(all.meetings, round, fresh);
        int32_t* const swapped = from;
        from = to;
        to = swapped;
    }
    if (global_thread() == 0) *all.result = {classes, round};
}

// lowest: (2), the lowest state that is not final, and the lowest that is. labels: (2, states)
__global__ void label_by_lowest(const int32_t* lowest, const uint8_t* is_final, int64_t states,
                                int32_t* labels) {
    const int64_t q = global_thread();
    if (q < states) labels[q] = labels[states + q] = lowest[is_final[q]];
}

// ---------------------------------------------------------------------------------------------
// Launching

// All cards of the course can, but not under every system. CPU mode has one block in its place.
inline bool has_cooperative_launch() {
    return lab::on_cpu || lab::device_attribute(cudaDevAttrCooperativeLaunch) != 0;
}

// As many blocks as run at the same time, each with as few threads as the states need.
struct CooperativeShape {
    int blocks = 1, threads;
    size_t shared_bytes;

    template <class Kernel>
    CooperativeShape(Kernel kernel, int64_t states, int most_threads = 512,
                     int64_t bytes_a_thread = 0)
        : threads(threads_for(states, most_threads)), shared_bytes(threads * bytes_a_thread) {
        if (lab::on_cpu) return;
        int each = 0;
        CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                   int(shared_bytes)));
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&each, kernel, threads, shared_bytes));
        const int64_t wanted = lab::divide_up(states, threads);
        blocks = int(std::max<int64_t>(1, std::min<int64_t>(wanted, multiprocessors() * each)));
    }

    static int64_t multiprocessors() {
        return lab::on_cpu ? 1 : lab::device_attribute(cudaDevAttrMultiProcessorCount);
    }

    static int threads_for(int64_t states, int most_threads) {
        const int64_t share = lab::divide_up(lab::divide_up(states, multiprocessors()), 32) * 32;
        return int(std::max<int64_t>(64, std::min<int64_t>(share, most_threads)));
    }
};

template <bool keeps>
void run_rounds(Persistent all, const CooperativeShape& shape) {
#ifdef CUDA_ON_CPU
    refine_until_stable<keeps><<<1, shape.threads, shape.shared_bytes>>>(all);
    CHECK_LAUNCH();
#else
    void* arguments[] = {&all};
    void (*const kernel)(Persistent) = refine_until_stable<keeps>;
    CHECK(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(kernel), shape.blocks, shape.threads,
                                      arguments, shape.shared_bytes, nullptr));
#endif
}

// A thread keeps the targets of its state where there is a thread for each and shared memory enough.
inline void run_rounds(const Persistent& all) {
    const int64_t states = all.automaton.states, bytes_a_thread = 8 * all.automaton.symbols;
    const int64_t threads = CooperativeShape::threads_for(states, 1024);
    const int64_t most = lab::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin) - 1024;
    if (threads * CooperativeShape::multiprocessors() >= states &&
        threads * bytes_a_thread <= most) {
        run_rounds<true>(all,
                         CooperativeShape(refine_until_stable<true>, states, 1024, bytes_a_thread));
    } else {
        run_rounds<false>(all, CooperativeShape(refine_until_stable<false>, states));
    }
}

inline int64_t persistent_bytes(int64_t states, int64_t, const RefineOptions&) {
    return 8 * slots_for(states) + 8 * states + 24 + int64_t(sizeof(Refined)) +
           Numbering::bytes(states, states);
}

inline Refined refine_persistently(const DeviceAutomaton& automaton, int32_t* class_of,
                                   const RefineOptions& options) {
    const int64_t states = automaton.states, slot_count = slots_for(states);
    if (states == 0) return {};
    if (!has_cooperative_launch()) return refine_by_signatures(automaton, class_of, options);
    DeviceArray<unsigned long long> slots(slot_count), meetings(3);
    DeviceArray<int32_t> labels(2 * states);
    DeviceArray<Refined> result(1);
    Numbering numbering(states, states);
    const int64_t classes = separate_final(automaton, numbering, class_of);
    label_by_lowest<<<blocks_for(states, usual_threads), usual_threads>>>(
        numbering.lowest(), automaton.is_final, states, labels.get());
    CHECK_LAUNCH();
    CHECK(cudaMemsetAsync(slots.get(), 0, 8 * slot_count));
    CHECK(cudaMemsetAsync(meetings.get(), 0, 24));
    run_rounds({automaton, labels.get(), slots.get(), uint32_t(slot_count - 1), meetings.get(),
                classes, result.get()});
    Refined refined = copied_back(result.get());
    report_round(options, refined.rounds, refined.classes);
    refined.classes = numbering.number(labels.get() + refined.rounds % 2 * states, class_of);
    return refined;
}
