// The arithmetic of NCCL's reductions.
#pragma once

#include <algorithm>
#include <cstdint>

#include "../include/nccl.h"
#include "report.h"

namespace {

size_t size_of(ncclDataType_t type) {
    constexpr size_t sizes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    return sizes[type];
}

// Calls `work` with a value of the type.
template <class Work>
void with_type(ncclDataType_t type, Work work) {
    switch (type) {
        case ncclInt8:
            return work(int8_t{});
        case ncclUint8:
            return work(uint8_t{});
        case ncclInt32:
            return work(int32_t{});
        case ncclUint32:
            return work(uint32_t{});
        case ncclInt64:
            return work(int64_t{});
        case ncclUint64:
            return work(uint64_t{});
        case ncclFloat32:
            return work(float{});
        case ncclFloat64:
            return work(double{});
        default:
            stop("NCCL in CPU mode moves numbers of 16 bits, but does not reduce them.");
    }
}

template <class T>
T combined(ncclRedOp_t operation, T a, T b) {
    if (operation == ncclProd) return static_cast<T>(a * b);
    if (operation == ncclMax) return std::max(a, b);
    if (operation == ncclMin) return std::min(a, b);
    if constexpr (std::is_integral_v<T>)  // as a card's, a sum goes on from the other end
        return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
    else
        return a + b;
}

// sum[i] = sum[i] combined with values[i]
void combine(ncclDataType_t type, ncclRedOp_t operation, char* sum, const char* values,
             size_t count) {
    with_type(type, [&](auto zero) {
        using T = decltype(zero);
        T* const to = reinterpret_cast<T*>(sum);
        const T* const from = reinterpret_cast<const T*>(values);
        for (size_t i = 0; i < count; ++i) to[i] = combined(operation, to[i], from[i]);
    });
}
void divide(ncclDataType_t type, char* sum, size_t count, size_t ranks) {
    with_type(type, [&](auto zero) {
        using T = decltype(zero);
        T* const to = reinterpret_cast<T*>(sum);
        for (size_t i = 0; i < count; ++i) to[i] = static_cast<T>(to[i] / static_cast<T>(ranks));
    });
}

}  // namespace
