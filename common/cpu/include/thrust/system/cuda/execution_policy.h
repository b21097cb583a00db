// Thrust's policies for CUDA, which are those of its sequential back end in CPU mode.
#pragma once
#include <thrust/execution_policy.h>
#include <thrust/system/cpp/execution_policy.h>

#include "cuda_runtime.h"

THRUST_NAMESPACE_BEGIN
namespace cuda {
// For any stream: a launch runs at once in a program with Thrust.
struct on_device : ::thrust::cpp::execution_policy<on_device> {
    on_device on(::cudaStream_t) const { return *this; }
};
constexpr on_device par{}, par_nosync{};
}  // namespace cuda
namespace system {
namespace cuda {
using ::thrust::cuda::par;
using ::thrust::cuda::par_nosync;
}  // namespace cuda
}  // namespace system
THRUST_NAMESPACE_END
