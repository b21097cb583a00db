// CUB's algorithms for a warp, or for a part of one: `size` lanes that follow each other.
#pragma once

#include "../cooperative_groups.h"
#include "operators.cuh"

namespace cub {
namespace detail {

// The lanes of this thread's part, and its place among them.
template <int size>
class Part {
 public:
    Part()
        : mask_(cooperative_groups::detail::tile_mask(cuda_cpu::this_lane(), size)),
          place_(static_cast<int>(cuda_cpu::this_lane()) % size),
          count_(__builtin_popcount(mask_)) {}
    int place() const { return place_; }
    int count() const { return count_; }
    template <class T>
    T from(const T& value, int place) const {
        return cuda_cpu::shuffled(mask_, value,
                                  static_cast<int>(cuda_cpu::this_lane()) - place_ + place,
                                  cuda_cpu::Site::here());
    }

 private:
    unsigned int mask_;
    int place_, count_;
};

}  // namespace detail

template <class T, int size = 32, int = 0>
class WarpReduce {
 public:
    struct TempStorage {};
    explicit WarpReduce(TempStorage&) {}
    // Right in the first lane; of `valid` lanes, the first ones.
    template <class Operator>
    T Reduce(T value, Operator combine, int valid = size) const {
        const detail::Part<size> part;
        const int end = valid < part.count() ? valid : part.count();
        for (int distance = 1; distance < size; distance *= 2) {
            const int other = part.place() + distance;
            const T theirs = part.from(value, other < end ? other : part.place());
            if (other < end && part.place() % (2 * distance) == 0) value = combine(value, theirs);
        }
        return value;
    }
    T Sum(T value, int valid = size) const { return Reduce(value, cub::Sum(), valid); }
};

template <class T, int size = 32, int = 0>
class WarpScan {
 public:
    struct TempStorage {};
    explicit WarpScan(TempStorage&) {}
    template <class Operator>
    void InclusiveScan(T value, T& result, Operator combine) const {
        const detail::Part<size> part;
        for (int distance = 1; distance < size; distance *= 2) {
            const int other = part.place() - distance;
            const T theirs = part.from(value, other >= 0 ? other : part.place());
            if (other >= 0) value = combine(theirs, value);
        }
        result = value;
    }
    template <class Operator>
    void InclusiveScan(T value, T& result, Operator combine, T& all) const {
        InclusiveScan(value, result, combine);
        const detail::Part<size> part;
        all = part.from(result, part.count() - 1);
    }
    template <class Operator>
    void ExclusiveScan(T value, T& result, T first, Operator combine) const {
        const detail::Part<size> part;
        T inclusive;
        InclusiveScan(value, inclusive, combine);
        const T before = part.from(inclusive, part.place() > 0 ? part.place() - 1 : 0);
        result = part.place() == 0 ? first : combine(first, before);
    }
    template <class Operator>
    void ExclusiveScan(T value, T& result, Operator combine) const {
        const detail::Part<size> part;
        T inclusive;
        InclusiveScan(value, inclusive, combine);
        const T before = part.from(inclusive, part.place() > 0 ? part.place() - 1 : 0);
        if (part.place() > 0) result = before;
    }
    void InclusiveSum(T value, T& result) const { InclusiveScan(value, result, cub::Sum()); }
    void InclusiveSum(T value, T& result, T& all) const {
        InclusiveScan(value, result, cub::Sum(), all);
    }
    void ExclusiveSum(T value, T& result) const { ExclusiveScan(value, result, T{}, cub::Sum()); }
    void ExclusiveSum(T value, T& result, T& all) const {
        T inclusive;
        InclusiveScan(value, inclusive, cub::Sum(), all);
        ExclusiveSum(value, result);
    }
    T Broadcast(T value, unsigned int place) const {
        return detail::Part<size>().from(value, static_cast<int>(place));
    }
};

}  // namespace cub
