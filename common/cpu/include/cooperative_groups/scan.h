// Running sums and the like over the lanes of a group.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T, class Operation>
T inclusive_scan(const Group& group, const T& value, Operation operation,
                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    T result = value;
    const unsigned int size = group.size(), rank = group.thread_rank();
    for (unsigned int distance = 1; distance < size; distance *= 2) {
        const T other = group.shfl_up(result, distance, file, line);
        if (rank >= distance) result = operation(other, result);
    }
    return result;
}
template <class Group, class T>
T inclusive_scan(const Group& group, const T& value, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
    return inclusive_scan(group, value, plus<T>(), file, line);
}
// The first lane gets a value that is T().
template <class Group, class T, class Operation>
T exclusive_scan(const Group& group, const T& value, Operation operation,
                 const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    const T before =
        group.shfl_up(inclusive_scan(group, value, operation, file, line), 1, file, line);
    return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T>
T exclusive_scan(const Group& group, const T& value, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
    return exclusive_scan(group, value, plus<T>(), file, line);
}

}  // namespace cooperative_groups
