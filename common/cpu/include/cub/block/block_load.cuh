// CUB: elements from memory, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

enum BlockLoadAlgorithm {
    BLOCK_LOAD_DIRECT,
    BLOCK_LOAD_STRIPED,
    BLOCK_LOAD_VECTORIZE,
    BLOCK_LOAD_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE,
    BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED
};
// Elements that follow each other for a thread; with the striped form neighbours for neighbouring threads.
template <class T, int block_x, int items, BlockLoadAlgorithm algorithm = BLOCK_LOAD_DIRECT,
          int block_y = 1, int block_z = 1, int = 0>
class BlockLoad {
    static int place(int i) {
        const int thread = detail::thread_of_block();
        return algorithm == BLOCK_LOAD_STRIPED ? thread + i * block_x * block_y * block_z
                                               : thread * items + i;
    }

 public:
    using TempStorage = detail::NoStorage;
    BlockLoad() = default;
    explicit BlockLoad(TempStorage&) {}
    template <class Input>
    void Load(Input from, T (&to)[items]) const {
        for (int i = 0; i < items; ++i) to[i] = from[place(i)];
    }
    template <class Input>
    void Load(Input from, T (&to)[items], int valid) const {
        for (int i = 0; i < items; ++i)
            if (place(i) < valid) to[i] = from[place(i)];
    }
    template <class Input, class Default>
    void Load(Input from, T (&to)[items], int valid, Default other) const {
        for (int i = 0; i < items; ++i)
            to[i] = place(i) < valid ? static_cast<T>(from[place(i)]) : static_cast<T>(other);
    }
};

// The same without the class, for a thread by its number.
template <class T, int items, class Input>
void LoadDirectBlocked(int thread, Input from, T (&to)[items]) {
    for (int i = 0; i < items; ++i) to[i] = from[thread * items + i];
}
template <class T, int items, class Input>
void LoadDirectBlocked(int thread, Input from, T (&to)[items], int valid) {
    for (int i = 0; i < items && thread * items + i < valid; ++i) to[i] = from[thread * items + i];
}
template <int threads, class T, int items, class Input>
void LoadDirectStriped(int thread, Input from, T (&to)[items]) {
    for (int i = 0; i < items; ++i) to[i] = from[thread + i * threads];
}
template <int threads, class T, int items, class Input>
void LoadDirectStriped(int thread, Input from, T (&to)[items], int valid) {
    for (int i = 0; i < items && thread + i * threads < valid; ++i)
        to[i] = from[thread + i * threads];
}

}  // namespace cub
