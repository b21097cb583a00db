// Thrust's own, and what its third version has taken away and older programs derive from.
#pragma once
#include_next <thrust/functional.h>
#include <thrust/version.h>

#if THRUST_VERSION >= 300000
THRUST_NAMESPACE_BEGIN
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
template <class T>
const T& min(const T& a, const T& b) {
    return b < a ? b : a;
}
template <class T>
const T& max(const T& a, const T& b) {
    return a < b ? b : a;
}
THRUST_NAMESPACE_END
#endif
