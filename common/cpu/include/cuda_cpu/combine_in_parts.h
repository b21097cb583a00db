// One value of many, as a card makes it: of parts, and then of the parts' values. One after the other, millions of floats
// would lose digits that they keep on a card.
#pragma once

#include <type_traits>

namespace cuda_cpu {

// Each call of next() gives another of the `count` values.
template <class T, class Next, class Operator>
T combine_in_parts(T first, long long count, Next& next, Operator& combine) {
    constexpr long long part = 256;
    if constexpr (std::is_constructible_v<T, decltype(next())> &&
                  std::is_invocable_r_v<T, Operator&, T&, T&>) {
        if (count > part) {
            T left = combine_in_parts(first, count / 2, next, combine);
            T begin = static_cast<T>(next());
            T right = combine_in_parts(begin, count - count / 2 - 1, next, combine);
            return combine(left, right);
        }
    }
    for (; count > 0; --count) first = combine(first, next());
    return first;
}

}  // namespace cuda_cpu
