// Thrust's own, and what its third version has taken away and older programs derive from.
#pragma once
#include_next <thrust/functional.h>
#include <thrust/version.h>

#if THRUST_VERSION >= 300000
#include <cuda/std/__algorithm/max.h>
#include <cuda/std/__algorithm/min.h>
THRUST_NAMESPACE_BEGIN
using ::cuda::std::max;
using ::cuda::std::min;
template <class Argument, class Result>
struct unary_function {
    using argument_type = Argument;
    using result_type = Result;
};
template <class First, class Second, class Result>
struct binary_function {
    using first_argument_type = First;
    using second_argument_type = Second;
    using result_type = Result;
};
template <class T = void>
struct identity {
    using argument_type = T;
    using result_type = T;
    const T& operator()(const T& x) const { return x; }
};
THRUST_NAMESPACE_END
#endif
