// CUB: elements to memory, in a block.
#pragma once

#include "../block_call.cuh"

namespace cub {

enum BlockStoreAlgorithm {
    BLOCK_STORE_DIRECT,
    BLOCK_STORE_STRIPED,
    BLOCK_STORE_VECTORIZE,
    BLOCK_STORE_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE,
    BLOCK_STORE_WARP_TRANSPOSE_TIMESLICED
};

template <class T, int block_x, int items, BlockStoreAlgorithm algorithm = BLOCK_STORE_DIRECT,
          int block_y = 1, int block_z = 1, int = 0>
class BlockStore {
 public:
    using TempStorage = detail::NoStorage;
    BlockStore() = default;
    explicit BlockStore(TempStorage&) {}
    template <class Output>
    void Store(Output to, T (&from)[items], int valid = block_x * block_y * block_z * items) const {
        const int thread = detail::thread_of_block();
        for (int i = 0; i < items; ++i) {
            const int place = algorithm == BLOCK_STORE_STRIPED
                                  ? thread + i * block_x * block_y * block_z
                                  : thread * items + i;
            if (place < valid) to[place] = from[i];
        }
    }
};

// The same without the class, for a thread by its number.
template <class T, int items, class Output>
void StoreDirectBlocked(int thread, Output to, T (&from)[items]) {
    for (int i = 0; i < items; ++i) to[thread * items + i] = from[i];
}
template <class T, int items, class Output>
void StoreDirectBlocked(int thread, Output to, T (&from)[items], int valid) {
    for (int i = 0; i < items && thread * items + i < valid; ++i) to[thread * items + i] = from[i];
}
template <int threads, class T, int items, class Output>
void StoreDirectStriped(int thread, Output to, T (&from)[items]) {
    for (int i = 0; i < items; ++i) to[thread + i * threads] = from[i];
}
template <int threads, class T, int items, class Output>
void StoreDirectStriped(int thread, Output to, T (&from)[items], int valid) {
    for (int i = 0; i < items && thread + i * threads < valid; ++i)
        to[thread + i * threads] = from[i];
}

}  // namespace cub
