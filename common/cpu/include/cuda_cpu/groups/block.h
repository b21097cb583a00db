// The groups of a whole block and of a whole grid, a group of a kind that is known when it runs, and partitions.
#pragma once

#include "warp.h"

namespace cuda_cpu {
// All threads of the grid of a cooperative launch meet here.
void grid_barrier(const Site& site);
bool grid_is_cooperative();
}  // namespace cuda_cpu

namespace cooperative_groups {

// A group whose kind is known only when it runs: a block, or lanes of a warp.
class thread_group {
 public:
    thread_group(const cuda_cpu::Lanes& lanes) : mask_(lanes.lane_mask()) {}
    void sync(CUDA_CPU_SITE) const {
        if (mask_ == 0) {
            cuda_cpu::block_barrier(false, {file, line});
        } else {
            lanes().sync(file, line);
        }
    }
    unsigned int size() const { return mask_ == 0 ? threads_of_block() : lanes().size(); }
    unsigned int num_threads() const { return size(); }
    unsigned int thread_rank() const {
        return mask_ == 0 ? rank_in_block() : lanes().thread_rank();
    }
    unsigned int lane_mask() const { return mask_ == 0 ? cuda_cpu::lanes_of_warp() : mask_; }

 protected:
    thread_group() : mask_(0) {}
    static unsigned int rank_in_block() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    static unsigned int threads_of_block() { return blockDim.x * blockDim.y * blockDim.z; }

 private:
    cuda_cpu::Lanes lanes() const { return cuda_cpu::Lanes(mask_); }
    unsigned int mask_;  // 0: the block
};

class thread_block : public thread_group {
 public:
    static void sync(CUDA_CPU_SITE) { cuda_cpu::block_barrier(false, {file, line}); }
    static unsigned int thread_rank() { return rank_in_block(); }
    static unsigned int size() { return threads_of_block(); }
    static unsigned int num_threads() { return size(); }
    static dim3 group_index() { return dim3(blockIdx); }
    static dim3 thread_index() { return dim3(threadIdx); }
    static dim3 group_dim() { return blockDim; }
    static dim3 dim_threads() { return blockDim; }
    // Here a thread that arrives goes on, and waits only in barrier_wait.
    struct arrival_token {};
    static arrival_token barrier_arrive() { return {}; }
    static void barrier_wait(arrival_token&&, CUDA_CPU_SITE) { sync(file, line); }
};
inline thread_block this_thread_block() { return thread_block(); }
// What tiles of several warps need on a card; here they have it anyway.
template <unsigned int most_threads = 1024>
struct block_tile_memory {};
template <unsigned int most_threads>
thread_block this_thread_block(block_tile_memory<most_threads>&) {
    return thread_block();
}

class grid_group {
 public:
    static bool is_valid() { return cuda_cpu::grid_is_cooperative(); }
    static void sync(CUDA_CPU_SITE) { cuda_cpu::grid_barrier({file, line}); }
    static unsigned long long block_rank() {
        return blockIdx.x +
               gridDim.x * (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
    }
    static unsigned long long num_blocks() {
        return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
    }
    static unsigned long long thread_rank() {
        return block_rank() * thread_block::size() + thread_block::thread_rank();
    }
    static unsigned long long size() { return num_blocks() * thread_block::size(); }
    static unsigned long long num_threads() { return size(); }
    static dim3 group_dim() { return gridDim; }
    static dim3 dim_blocks() { return gridDim; }
    static dim3 block_index() { return dim3(blockIdx); }
};
inline grid_group this_grid() { return {}; }

// This thread's tile among those of `size` lanes. Of a coalesced group they are taken by rank.
namespace detail {
inline unsigned int tile_mask(unsigned int lane, unsigned int size) {
    const unsigned int all = size >= 32 ? ~0u : (1u << size) - 1;
    return (all << (lane & ~(size - 1))) & cuda_cpu::lanes_of_warp();
}
}  // namespace detail
template <unsigned int size, class Parent>
thread_block_tile<size, Parent> tiled_partition(const Parent& parent) {
    const auto rank = static_cast<unsigned int>(parent.thread_rank());
    const unsigned int parts = (static_cast<unsigned int>(parent.size()) + size - 1) / size;
    if constexpr (size <= 32) {
        const cuda_cpu::Lanes lanes(detail::tile_mask(cuda_cpu::this_lane(), size));
        return {lanes, parts, rank / size};
    } else {
        return {cuda_cpu::Warps(size), parts, rank / size};
    }
}
inline thread_group tiled_partition(const thread_group& parent, unsigned int size) {
    if (size >= parent.size()) return parent;
    return cuda_cpu::Lanes(detail::tile_mask(cuda_cpu::this_lane(), size));
}
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned int size) {
    unsigned int mask = 0, rank = 0;
    const unsigned int part = parent.thread_rank() / size;
    for (unsigned int rest = parent.lane_mask(); rest != 0; rest &= rest - 1, ++rank) {
        if (rank / size == part) mask |= rest & (~rest + 1);
    }
    return coalesced_group(mask, (parent.size() + size - 1) / size, part);
}

template <class Group>
void sync(const Group& group, CUDA_CPU_SITE) {
    group.sync(file, line);
}
template <class Group>
auto thread_rank(const Group& group) {
    return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
    return group.size();
}
// One thread of the group calls it.
template <class Group, class Function, class... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
    if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}

template <class T>
struct plus {
    T operator()(const T& a, const T& b) const { return a + b; }
};
template <class T>
struct less {  // the smaller of two, as CUDA has it
    T operator()(const T& a, const T& b) const { return b < a ? b : a; }
};
template <class T>
struct greater {
    T operator()(const T& a, const T& b) const { return a < b ? b : a; }
};
template <class T>
struct bit_and {
    T operator()(const T& a, const T& b) const { return a & b; }
};
template <class T>
struct bit_or {
    T operator()(const T& a, const T& b) const { return a | b; }
};
template <class T>
struct bit_xor {
    T operator()(const T& a, const T& b) const { return a ^ b; }
};

}  // namespace cooperative_groups
#undef CUDA_CPU_SITE
