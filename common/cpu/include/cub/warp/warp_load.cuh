// CUB: elements from memory and back, in a warp.
#pragma once

#include "../warp_call.cuh"

namespace cub {

enum WarpLoadAlgorithm {
    WARP_LOAD_DIRECT,
    WARP_LOAD_STRIPED,
    WARP_LOAD_VECTORIZE,
    WARP_LOAD_TRANSPOSE
};
enum WarpStoreAlgorithm {
    WARP_STORE_DIRECT,
    WARP_STORE_STRIPED,
    WARP_STORE_VECTORIZE,
    WARP_STORE_TRANSPOSE
};
namespace detail {
template <int items, int size, bool striped>
int place_of_lane(int i) {
    const int lane = static_cast<int>(cuda_cpu::this_lane()) % size;
    return striped ? lane + i * size : lane * items + i;
}
}  // namespace detail

template <class T, int items, WarpLoadAlgorithm algorithm = WARP_LOAD_DIRECT, int size = 32,
          int = 0>
class WarpLoad {
    static int place(int i) {
        return detail::place_of_lane<items, size, algorithm == WARP_LOAD_STRIPED>(i);
    }

 public:
    using TempStorage = detail::NoStorage;
    WarpLoad() = default;
    explicit WarpLoad(TempStorage&) {}
    template <class Input>
    void Load(Input from, T (&to)[items], int valid = size * items) const {
        for (int i = 0; i < items; ++i)
            if (place(i) < valid) to[i] = from[place(i)];
    }
    template <class Input, class Default>
    void Load(Input from, T (&to)[items], int valid, Default other) const {
        for (int i = 0; i < items; ++i)
            to[i] = place(i) < valid ? static_cast<T>(from[place(i)]) : static_cast<T>(other);
    }
};
template <class T, int items, WarpStoreAlgorithm algorithm = WARP_STORE_DIRECT, int size = 32,
          int = 0>
class WarpStore {
 public:
    using TempStorage = detail::NoStorage;
    WarpStore() = default;
    explicit WarpStore(TempStorage&) {}
    template <class Output>
    void Store(Output to, T (&from)[items], int valid = size * items) const {
        for (int i = 0; i < items; ++i) {
            const int place =
                detail::place_of_lane<items, size, algorithm == WARP_STORE_STRIPED>(i);
            if (place < valid) to[place] = from[i];
        }
    }
};

}  // namespace cub
