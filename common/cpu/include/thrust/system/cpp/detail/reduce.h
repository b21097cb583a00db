// Thrust's reduction in CPU mode, which inner_product and transform_reduce call, too. This file stands in for Thrust's own
// of the same name.
#pragma once
#include <thrust/detail/function.h>
#include <thrust/distance.h>
#include <thrust/system/cpp/detail/execution_policy.h>
#include <thrust/system/detail/sequential/reduce.h>

#include "cuda_cpu/combine_in_parts.h"

THRUST_NAMESPACE_BEGIN
namespace system {
namespace cpp {
namespace detail {

template <class Policy, class Iterator, class T, class Operator>
T reduce(execution_policy<Policy>&, Iterator begin, Iterator end, T first, Operator combine) {
    ::thrust::detail::wrapped_function<Operator, T> wrapped{combine};
    const auto next = [&]() -> decltype(auto) {
        Iterator here = begin;
        ++begin;
        return *here;
    };
    return ::cuda_cpu::combine_in_parts(first, ::thrust::distance(begin, end), next, wrapped);
}

}  // namespace detail
}  // namespace cpp
}  // namespace system
THRUST_NAMESPACE_END
