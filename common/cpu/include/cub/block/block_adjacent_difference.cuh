// CUB: differences of neighbours, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

// op(element, its neighbour); where a block has none the element is copied, unless what stands outside is given.
template <class T, int block_x, int block_y = 1, int block_z = 1, int = 0>
class BlockAdjacentDifference {
    static constexpr int threads = block_x * block_y * block_z;

 public:
    using TempStorage = detail::Room<T, 2 * threads>;
    explicit BlockAdjacentDifference(TempStorage& storage = detail::own_storage<TempStorage>())
        : firsts_(storage.elements()), lasts_(storage.elements() + threads) {}
    template <int items, class Output, class Operator>
    void SubtractLeft(T (&in)[items], Output (&out)[items], Operator op) const {
        left(in, out, op, nullptr);
    }
    template <int items, class Output, class Operator>
    void SubtractLeft(T (&in)[items], Output (&out)[items], Operator op, T before) const {
        left(in, out, op, &before);
    }
    template <int items, class Output, class Operator>
    void SubtractRight(T (&in)[items], Output (&out)[items], Operator op) const {
        const int thread = bring(in);
        const T last = in[items - 1];
        for (int i = 0; i + 1 < items; ++i) out[i] = op(in[i], in[i + 1]);
        out[items - 1] = thread + 1 < threads ? op(last, firsts_[thread + 1]) : last;
    }

 private:
    template <int items>
    int bring(T (&in)[items]) const {
        const int thread = detail::thread_of_block();
        firsts_[thread] = in[0];
        lasts_[thread] = in[items - 1];
        __syncthreads();
        return thread;
    }
    template <int items, class Output, class Operator>
    void left(T (&in)[items], Output (&out)[items], Operator op, const T* before) const {
        const int thread = bring(in);
        if (thread > 0) before = lasts_ + thread - 1;
        for (int i = items - 1; i > 0; --i) out[i] = op(in[i], in[i - 1]);
        out[0] = before != nullptr ? op(in[0], *before) : in[0];
    }
    T *firsts_, *lasts_;
};

}  // namespace cub
