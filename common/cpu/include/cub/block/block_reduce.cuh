// CUB: one value of all, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

enum BlockReduceAlgorithm {
    BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY,
    BLOCK_REDUCE_RAKING,
    BLOCK_REDUCE_WARP_REDUCTIONS
};

template <class T, int block_x, BlockReduceAlgorithm = BLOCK_REDUCE_WARP_REDUCTIONS,
          int block_y = 1, int block_z = 1, int = 0>
class BlockReduce {
    static constexpr int threads = block_x * block_y * block_z;

 public:
    using TempStorage = detail::Room<T, threads>;
    explicit BlockReduce(TempStorage& storage = detail::own_storage<TempStorage>())
        : values_(storage.elements()) {}
    // Right in the first thread; of `valid` threads, the first ones.
    template <class Operator>
    T Reduce(T value, Operator combine, int valid = threads) const {
        const int thread = detail::thread_of_block();
        values_[thread] = value;
        __syncthreads();
        if (thread != 0) return value;
        for (int i = 1; i < valid; ++i) value = combine(value, values_[i]);
        return value;
    }
    template <int items, class Operator>
    T Reduce(T (&values)[items], Operator combine) const {
        T all = values[0];
        for (int i = 1; i < items; ++i) all = combine(all, values[i]);
        return Reduce(all, combine);
    }
    T Sum(T value, int valid = threads) const { return Reduce(value, cub::Sum(), valid); }
    template <int items>
    T Sum(T (&values)[items]) const {
        return Reduce(values, cub::Sum());
    }

 private:
    T* values_;
};

}  // namespace cub
