// CUB: elements from thread to thread, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

template <class T, int block_x, int items, bool = false, int block_y = 1, int block_z = 1, int = 0>
class BlockExchange {
    static constexpr int threads = block_x * block_y * block_z;

 public:
    using TempStorage = detail::Room<T, threads * items>;
    explicit BlockExchange(TempStorage& storage) : values_(storage.elements()) {}
    void BlockedToStriped(T (&in)[items], T (&out)[items]) const { exchange(in, out, false); }
    void StripedToBlocked(T (&in)[items], T (&out)[items]) const { exchange(in, out, true); }
    void BlockedToStriped(T (&values)[items]) const { exchange(values, values, false); }
    void StripedToBlocked(T (&values)[items]) const { exchange(values, values, true); }

    // Each element to the place that its rank tells, of the block's elements in the thread's order or by stripes.
    template <class Rank>
    void ScatterToBlocked(T (&in)[items], T (&out)[items], Rank (&ranks)[items]) const {
        scatter(in, out, ranks, false);
    }
    template <class Rank>
    void ScatterToStriped(T (&in)[items], T (&out)[items], Rank (&ranks)[items]) const {
        scatter(in, out, ranks, true);
    }
    template <class Rank>
    void ScatterToBlocked(T (&values)[items], Rank (&ranks)[items]) const {
        scatter(values, values, ranks, false);
    }
    template <class Rank>
    void ScatterToStriped(T (&values)[items], Rank (&ranks)[items]) const {
        scatter(values, values, ranks, true);
    }

 private:
    template <class Rank>
    void scatter(T (&in)[items], T (&out)[items], Rank (&ranks)[items], bool striped) const {
        const int thread = detail::thread_of_block();
        for (int i = 0; i < items; ++i) values_[ranks[i]] = in[i];
        __syncthreads();
        for (int i = 0; i < items; ++i)
            out[i] = values_[striped ? thread + i * threads : thread * items + i];
    }
    void exchange(T (&in)[items], T (&out)[items], bool from_striped) const {
        const int thread = detail::thread_of_block();
        const auto place = [=](int i, bool striped) {
            return striped ? thread + i * threads : thread * items + i;
        };
        for (int i = 0; i < items; ++i) values_[place(i, from_striped)] = in[i];
        __syncthreads();
        for (int i = 0; i < items; ++i) out[i] = values_[place(i, !from_striped)];
    }
    T* values_;
};

}  // namespace cub
