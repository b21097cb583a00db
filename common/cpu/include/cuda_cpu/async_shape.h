// How much cuda::memcpy_async copies: a number of bytes, or one that says how both sides are aligned.
#pragma once

#include "scopes.h"

namespace cuda {

template <size_t alignment>
struct aligned_size_t {
    static constexpr size_t align = alignment;
    size_t value;
    explicit constexpr aligned_size_t(size_t bytes) : value(bytes) {}
    constexpr operator size_t() const { return value; }
};

}  // namespace cuda
