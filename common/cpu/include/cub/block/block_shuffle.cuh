// CUB: the elements of other threads, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

template <class T, int block_x, int block_y = 1, int block_z = 1, int = 0>
class BlockShuffle {
    static constexpr int threads = block_x * block_y * block_z;

 public:
    using TempStorage = detail::Room<T, threads>;
    explicit BlockShuffle(TempStorage& storage = detail::own_storage<TempStorage>())
        : values_(storage.elements()) {}
    // Of the thread that is `distance` further; where there is none the output stays.
    void Offset(T in, T& out, int distance = 1) const {
        const int other = bring(in) + distance;
        if (other >= 0 && other < threads) out = values_[other];
    }
    void Rotate(T in, T& out, unsigned int distance = 1) const {
        out = values_[(static_cast<unsigned int>(bring(in)) + distance) % threads];
    }
    // All elements of the block by one place up or down; the first or the last one stays.
    template <int items>
    void Up(T (&in)[items], T (&out)[items]) const {
        const int thread = bring(in[items - 1]);
        for (int i = items - 1; i > 0; --i) out[i] = in[i - 1];
        if (thread > 0) out[0] = values_[thread - 1];
    }
    template <int items>
    void Up(T (&in)[items], T (&out)[items], T& last_of_block) const {
        Up(in, out);
        last_of_block = values_[threads - 1];
    }
    template <int items>
    void Down(T (&in)[items], T (&out)[items]) const {
        const int thread = bring(in[0]);
        for (int i = 0; i + 1 < items; ++i) out[i] = in[i + 1];
        if (thread + 1 < threads) out[items - 1] = values_[thread + 1];
    }
    template <int items>
    void Down(T (&in)[items], T (&out)[items], T& first_of_block) const {
        Down(in, out);
        first_of_block = values_[0];
    }

 private:
    int bring(const T& value) const {
        const int thread = detail::thread_of_block();
        values_[thread] = value;
        __syncthreads();
        return thread;
    }
    T* values_;
};

}  // namespace cub
