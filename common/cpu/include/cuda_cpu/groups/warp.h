// Groups inside a warp: tiles of 1 to 32 lanes, and the lanes that are active together. All are a mask of lanes.
#pragma once

#include "../device.h"

#define CUDA_CPU_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace cuda_cpu {

// Lane `source` of the warp gives its value, of any size, to each lane of `mask` that asks for it.
template <class T>
T shuffled(unsigned int mask, const T& value, int source, const Site& site) {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) <= 32,
                  "a group exchanges plain values of at most 32 bytes");
    constexpr size_t words = (sizeof(T) + 7) / 8;
    uint64_t bits[words] = {};
    std::memcpy(bits, &value, sizeof(T));
    for (uint64_t& word : bits)
        word = warp_meeting(WarpOperation::shuffle, mask, word, source, site);
    T result;
    std::memcpy(&result, bits, sizeof(T));
    return result;
}

// The lanes of a mask, with a number each, from 0.
class Lanes {
 public:
    explicit Lanes(unsigned int mask) : mask_(mask) {}
    unsigned int thread_rank() const { return rank_of(this_lane()); }
    unsigned int size() const { return static_cast<unsigned int>(__builtin_popcount(mask_)); }
    unsigned int num_threads() const { return size(); }
    void sync(CUDA_CPU_SITE) const { warp_meeting(WarpOperation::sync, mask_, 0, 0, {file, line}); }

    template <class T>
    T shfl(T value, int rank, CUDA_CPU_SITE) const {
        return shuffled(mask_, value, lane_of(static_cast<unsigned int>(rank) % size()),
                        {file, line});
    }
    // Beyond either end of the group a lane gets its own value back.
    template <class T>
    T shfl_up(T value, unsigned int distance, CUDA_CPU_SITE) const {
        const unsigned int rank = thread_rank();
        return shuffled(mask_, value, lane_of(distance <= rank ? rank - distance : rank),
                        {file, line});
    }
    template <class T>
    T shfl_down(T value, unsigned int distance, CUDA_CPU_SITE) const {
        const unsigned int rank = thread_rank();
        return shuffled(mask_, value, lane_of(rank + distance < size() ? rank + distance : rank),
                        {file, line});
    }
    template <class T>
    T shfl_xor(T value, unsigned int bits, CUDA_CPU_SITE) const {
        const unsigned int rank = thread_rank();
        return shuffled(mask_, value, lane_of((rank ^ bits) < size() ? rank ^ bits : rank),
                        {file, line});
    }
    int any(int predicate, CUDA_CPU_SITE) const { return ballot(predicate, file, line) != 0; }
    int all(int predicate, CUDA_CPU_SITE) const { return ballot(predicate == 0, file, line) == 0; }
    // One bit for each rank of the group.
    unsigned int ballot(int predicate, CUDA_CPU_SITE) const {
        return ranks(static_cast<unsigned int>(
            warp_meeting(WarpOperation::ballot, mask_, predicate != 0, 0, {file, line})));
    }
    template <class T>
    unsigned int match_any(T value, CUDA_CPU_SITE) const {
        return ranks(static_cast<unsigned int>(
            warp_meeting(WarpOperation::match_any, mask_, to_bits(value), 0, {file, line})));
    }
    template <class T>
    unsigned int match_all(T value, int& all_equal, CUDA_CPU_SITE) const {
        const auto lanes = static_cast<unsigned int>(
            warp_meeting(WarpOperation::match_all, mask_, to_bits(value), 0, {file, line}));
        all_equal = lanes != 0;
        return ranks(lanes);
    }
    unsigned int lane_mask() const { return mask_; }

 protected:
    unsigned int rank_of(unsigned int lane) const {
        return static_cast<unsigned int>(__builtin_popcount(mask_ & ((1u << lane) - 1)));
    }
    int lane_of(unsigned int rank) const {
        unsigned int rest = mask_;
        for (; rank > 0; --rank) rest &= rest - 1;
        return __builtin_ctz(rest);
    }
    unsigned int ranks(unsigned int lanes) const {
        unsigned int result = 0;
        for (unsigned int rest = lanes & mask_; rest != 0; rest &= rest - 1)
            result |= 1u << rank_of(static_cast<unsigned int>(__builtin_ctz(rest)));
        return result;
    }
    unsigned int mask_;
};

// Whole warps of the block that follow each other. They meet at a barrier, and show each other where their values lie.
class Warps {
 public:
    explicit Warps(unsigned int size) : size_(size), first_(number_in_block() & ~(size - 1)) {}
    unsigned int thread_rank() const { return number_in_block() - first_; }
    void sync(CUDA_CPU_SITE) const {
        const unsigned int left = blockDim.x * blockDim.y * blockDim.z - first_;
        numbered_barrier(barriers_of_ptx + first_ / 32, left < size_ ? left : size_, true, file,
                         line);
    }
    template <class T>
    T shfl(T value, unsigned int rank, CUDA_CPU_SITE) const {
        return shown(value, rank % size_, {file, line});
    }
    template <class T>
    T shfl_up(T value, unsigned int distance, CUDA_CPU_SITE) const {
        const unsigned int rank = thread_rank();
        return shown(value, distance <= rank ? rank - distance : rank, {file, line});
    }
    template <class T>
    T shfl_down(T value, unsigned int distance, CUDA_CPU_SITE) const {
        const unsigned int rank = thread_rank();
        return shown(value, rank + distance < size_ ? rank + distance : rank, {file, line});
    }
    int any(int predicate, CUDA_CPU_SITE) const {
        int count = predicate != 0;
        for (unsigned int bit = 1; bit < size_; bit *= 2)
            count |= shown(count, thread_rank() ^ bit, {file, line});
        return count;
    }
    int all(int predicate, CUDA_CPU_SITE) const { return !any(predicate == 0, file, line); }

 private:
    static unsigned int number_in_block() {
        return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    }
    template <class T>
    T shown(const T& value, unsigned int rank, const Site& site) const {
        Shown* const block = shown_to_warp() - number_in_block() / 32 * 32;
        block[number_in_block()].first = &value;
        sync(site.file, site.line);
        const T result = copy_of(static_cast<const T*>(block[first_ + rank].first));
        sync(site.file, site.line);
        return result;
    }
    // What is read is another thread's own.
    template <class T>
    __attribute__((CUDA_CPU_OWN)) static inline T copy_of(const T* value) {
        return *value;
    }
    unsigned int size_, first_;
};
template <unsigned int size>
using Tile = std::conditional_t<(size <= 32), Lanes, Warps>;

// The lanes of the warp that exist; the last warp of a block may have fewer than 32.
inline unsigned int lanes_of_warp() {
    const unsigned int count = blockDim.x * blockDim.y * blockDim.z;
    const unsigned int number = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    const unsigned int left = count - number / 32 * 32;
    return left >= 32 ? ~0u : (1u << left) - 1;
}

}  // namespace cuda_cpu

namespace cooperative_groups {

class coalesced_group : public cuda_cpu::Lanes {
 public:
    explicit coalesced_group(unsigned int mask, unsigned int parts = 1, unsigned int part = 0)
        : Lanes(mask), parts_(parts), part_(part) {}
    unsigned int meta_group_size() const { return parts_; }
    unsigned int meta_group_rank() const { return part_; }

 private:
    unsigned int parts_, part_;
};
inline coalesced_group coalesced_threads(CUDA_CPU_SITE) {
    return coalesced_group(cuda_cpu::active_lanes({file, line}));
}

// A tile of `size_of_tile` threads that follow each other: lanes of a warp, or whole warps.
template <unsigned int size_of_tile, class Parent = void>
class thread_block_tile : public cuda_cpu::Tile<size_of_tile> {
    static_assert(size_of_tile >= 1 && size_of_tile <= 1024 &&
                      (size_of_tile & (size_of_tile - 1)) == 0,
                  "a tile has 1, 2, 4, ... or 1024 threads");
    using Tile = cuda_cpu::Tile<size_of_tile>;

 public:
    thread_block_tile(const Tile& threads, unsigned int parts, unsigned int part)
        : Tile(threads), parts_(parts), part_(part) {}
    template <class OtherParent>
    thread_block_tile(const thread_block_tile<size_of_tile, OtherParent>& other)
        : Tile(other), parts_(other.meta_group_size()), part_(other.meta_group_rank()) {}
    static constexpr unsigned int size() { return size_of_tile; }
    static constexpr unsigned int num_threads() { return size_of_tile; }
    unsigned int meta_group_size() const { return parts_; }
    unsigned int meta_group_rank() const { return part_; }

 private:
    unsigned int parts_, part_;
};

// The lanes whose label is this lane's; those for which a predicate is as it is here.
template <class Group, class Label>
coalesced_group labeled_partition(const Group& group, Label label, CUDA_CPU_SITE) {
    return coalesced_group(static_cast<unsigned int>(
        cuda_cpu::warp_meeting(cuda_cpu::WarpOperation::match_any, group.lane_mask(),
                               cuda_cpu::to_bits(label), 0, {file, line})));
}
template <class Group>
coalesced_group binary_partition(const Group& group, bool predicate, CUDA_CPU_SITE) {
    return labeled_partition(group, static_cast<int>(predicate), file, line);
}

}  // namespace cooperative_groups
