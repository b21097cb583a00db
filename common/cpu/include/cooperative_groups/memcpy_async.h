// Copies that a group makes together. They are made at once; wait() is the barrier after which all threads may use them.
#pragma once

#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T>
void memcpy_async(const Group& group, T* target, const T* source, size_t bytes) {
    char* const to = reinterpret_cast<char*>(target);
    const char* const from = reinterpret_cast<const char*>(source);
    constexpr size_t piece = sizeof(T);
    for (size_t at = group.thread_rank() * piece; at < bytes; at += group.size() * piece)
        std::memcpy(to + at, from + at, bytes - at < piece ? bytes - at : piece);
}
// `count` elements of the source into `room` elements of the target, as many as fit.
template <class Group, class T>
void memcpy_async(const Group& group, T* target, size_t room, const T* source, size_t count) {
    memcpy_async(group, target, source, (room < count ? room : count) * sizeof(T));
}
template <class Group>
void wait(const Group& group, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
    group.sync(file, line);
}
template <unsigned int newest, class Group>
void wait_prior(const Group& group, const char* file = __builtin_FILE(),
                int line = __builtin_LINE()) {
    group.sync(file, line);
}

}  // namespace cooperative_groups
