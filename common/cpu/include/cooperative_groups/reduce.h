// Sums and the like over the lanes of a group.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

// Every lane gets the result. Lanes are combined in pairs, then those in pairs, and so on.
template <class Group, class T, class Operation>
T reduce(const Group& group, const T& value, Operation operation,
         const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    T result = value;
    const unsigned int size = group.size(), rank = group.thread_rank();
    for (unsigned int distance = 1; distance < size; distance *= 2) {
        const T other = group.shfl_down(result, distance, file, line);
        if (rank % (2 * distance) == 0 && rank + distance < size) result = operation(result, other);
    }
    return group.shfl(result, 0, file, line);
}

}  // namespace cooperative_groups
