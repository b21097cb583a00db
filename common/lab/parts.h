// Work of the host on many elements, shared out to its cores.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

namespace lab {

// How many parts `count` things with `steps` steps each are worth: one a core, of a million steps or more, for a
// thread takes as long to begin as some ten thousand steps.
inline int64_t parts_of(int64_t count, int64_t steps = 1) {
    const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    return std::max<int64_t>(1, std::min({cores, count, count * steps >> 20}));
}

// Calls work(part, begin, end) for each part, all at the same time; together they are 0 to count.
inline void in_parts(int64_t count, const std::function<void(int64_t, int64_t, int64_t)>& work,
                     int64_t steps = 1) {
    const int64_t parts = parts_of(count, steps), length = count / parts;
    const auto run = [&](int64_t part) {
        work(part, part * length, part + 1 < parts ? (part + 1) * length : count);
    };
    std::vector<std::thread> others;
    for (int64_t part = 1; part < parts; ++part) others.emplace_back(run, part);
    run(0);
    for (std::thread& other : others) other.join();
}

template <class T>
void fill(std::vector<T>& values, T value) {
    in_parts(int64_t(values.size()), [&](int64_t, int64_t begin, int64_t end) {
        std::fill(values.begin() + begin, values.begin() + end, value);
    });
}

// A vector of zeros. Most of the time is the system's, which gives a page of memory when it is first written to: so that
// is shared out as well, before the vector has its elements.
template <class T>
std::vector<T> zeros(int64_t count) {
    std::vector<T> values;
    values.reserve(size_t(count));
    void* const memory = values.data();
    in_parts(count * int64_t(sizeof(T)), [&](int64_t, int64_t begin, int64_t end) {
        std::memset(static_cast<char*>(memory) + begin, 0, size_t(end - begin));
    });
    values.resize(size_t(count));
    return values;
}

}  // namespace lab
