// Where Thrust gets the memory of a device_vector. In CPU mode its algorithms are those of its sequential back end, which
// touch device memory from the host; so from the start of a program that includes Thrust device memory stays open, and
// a launch runs at once. This file stands in for Thrust's own of the same name.
#pragma once
#include <thrust/detail/config.h>
#include <thrust/detail/raw_pointer_cast.h>
#include <thrust/system/cuda/error.h>  // which the back end for cards brings with it
#include <thrust/system/detail/sequential/execution_policy.h>
#include <thrust/system_error.h>

#include <cstdlib>

#include "cuda_runtime.h"

namespace cuda_cpu {
void share_device_memory();
inline const bool thrust_shares_device_memory = (share_device_memory(), true);
}  // namespace cuda_cpu

THRUST_NAMESPACE_BEGIN
namespace system {
namespace detail {
namespace sequential {

template <class Policy>
void* malloc(execution_policy<Policy>&, std::size_t bytes) {
    void* memory = nullptr;
    return ::cudaMalloc(&memory, bytes) == ::cudaSuccess ? memory : nullptr;
}
template <class Policy>
void* malloc(const execution_policy<Policy>&, std::size_t bytes) {
    void* memory = nullptr;
    return ::cudaMalloc(&memory, bytes) == ::cudaSuccess ? memory : nullptr;
}
template <class Policy, class Pointer>
void free(execution_policy<Policy>&, Pointer memory) {
    ::cudaFree(THRUST_NS_QUALIFIER::raw_pointer_cast(memory));
}
template <class Policy, class Pointer>
void free(const execution_policy<Policy>&, Pointer memory) {
    ::cudaFree(THRUST_NS_QUALIFIER::raw_pointer_cast(memory));
}

}  // namespace sequential
}  // namespace detail
}  // namespace system
THRUST_NAMESPACE_END
