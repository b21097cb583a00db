// CUB: where elements differ from their neighbours, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

// Flags of heads, which differ from the element before, and of tails, which differ from the one after. The first head and the last
// tail of a block are set, or compared with what stands outside.
template <class T, int block_x, int block_y = 1, int block_z = 1, int = 0>
class BlockDiscontinuity {
    static constexpr int threads = block_x * block_y * block_z;

 public:
    using TempStorage = detail::Room<T, 2 * threads>;
    explicit BlockDiscontinuity(TempStorage& storage = detail::own_storage<TempStorage>())
        : firsts_(storage.elements()), lasts_(storage.elements() + threads) {}
    template <int items, class Flag, class Differ>
    void FlagHeads(Flag (&heads)[items], T (&in)[items], Differ differ) const {
        bring(in);
        flag_heads(heads, in, differ, nullptr);
    }
    template <int items, class Flag, class Differ>
    void FlagHeads(Flag (&heads)[items], T (&in)[items], Differ differ, T before) const {
        bring(in);
        flag_heads(heads, in, differ, &before);
    }
    template <int items, class Flag, class Differ>
    void FlagTails(Flag (&tails)[items], T (&in)[items], Differ differ) const {
        bring(in);
        flag_tails(tails, in, differ, nullptr);
    }
    template <int items, class Flag, class Differ>
    void FlagTails(Flag (&tails)[items], T (&in)[items], Differ differ, T after) const {
        bring(in);
        flag_tails(tails, in, differ, &after);
    }
    template <int items, class Flag, class Differ>
    void FlagHeadsAndTails(Flag (&heads)[items], Flag (&tails)[items], T (&in)[items],
                           Differ differ) const {
        bring(in);
        flag_heads(heads, in, differ, nullptr);
        flag_tails(tails, in, differ, nullptr);
    }

 private:
    template <int items>
    void bring(T (&in)[items]) const {
        firsts_[detail::thread_of_block()] = in[0];
        lasts_[detail::thread_of_block()] = in[items - 1];
        __syncthreads();
    }
    template <int items, class Flag, class Differ>
    void flag_heads(Flag (&heads)[items], T (&in)[items], Differ differ, const T* before) const {
        const int thread = detail::thread_of_block();
        if (thread > 0) before = lasts_ + thread - 1;
        heads[0] = before == nullptr || differ(*before, in[0]);
        for (int i = 1; i < items; ++i) heads[i] = differ(in[i - 1], in[i]);
    }
    template <int items, class Flag, class Differ>
    void flag_tails(Flag (&tails)[items], T (&in)[items], Differ differ, const T* after) const {
        const int thread = detail::thread_of_block();
        if (thread + 1 < threads) after = firsts_ + thread + 1;
        tails[items - 1] = after == nullptr || differ(in[items - 1], *after);
        for (int i = 0; i + 1 < items; ++i) tails[i] = differ(in[i], in[i + 1]);
    }
    T *firsts_, *lasts_;
};

}  // namespace cub
