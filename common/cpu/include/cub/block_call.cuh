// CUB's algorithms for a block: all threads bring what they have to TempStorage; the first one does the work.
#pragma once

#include <algorithm>
#include <vector>

#include "operators.cuh"

namespace cub {

namespace detail {
inline int thread_of_block() {
    return static_cast<int>(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
}
// Room for elements that are not made there.
template <class T, int count>
struct Room {
    alignas(T) char bytes[sizeof(T) * count];
    T* elements() { return reinterpret_cast<T*>(bytes); }
};
struct NoStorage {};
// Storage of a block that gives none: the threads of a block run on one core.
template <class Storage>
Storage& own_storage() {
    static thread_local Storage storage;
    return storage;
}
}  // namespace detail

}  // namespace cub
