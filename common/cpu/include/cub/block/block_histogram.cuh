// CUB: histograms, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

enum BlockHistogramAlgorithm { BLOCK_HISTO_SORT, BLOCK_HISTO_ATOMIC };

// The samples are the numbers of their bins; the counts lie in shared or global memory.
template <class T, int block_x, int items, int bins, BlockHistogramAlgorithm = BLOCK_HISTO_SORT,
          int block_y = 1, int block_z = 1, int = 0>
class BlockHistogram {
 public:
    using TempStorage = detail::NoStorage;
    BlockHistogram() = default;
    explicit BlockHistogram(TempStorage&) {}
    template <class Counter>
    void InitHistogram(Counter (&counts)[bins]) const {
        for (int i = detail::thread_of_block(); i < bins; i += block_x * block_y * block_z)
            counts[i] = 0;
        __syncthreads();
    }
    template <class Counter>
    void Composite(T (&samples)[items], Counter (&counts)[bins]) const {
        for (int i = 0; i < items; ++i) atomicAdd(&counts[samples[i]], Counter{1});
        __syncthreads();
    }
    template <class Counter>
    void Histogram(T (&samples)[items], Counter (&counts)[bins]) const {
        InitHistogram(counts);
        Composite(samples, counts);
    }
};

}  // namespace cub
