// CUB's algorithms for a warp, or for a part of one: `size` lanes that follow each other.
#pragma once

#include <algorithm>

#include "../cooperative_groups.h"
#include "block_call.cuh"

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
    void wait() const { __syncwarp(mask_); }
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

}  // namespace cub
