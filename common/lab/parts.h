// Work of the host on many elements, shared out to its cores.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace lab {

// How many parts `count` elements are worth: one a core, of a million elements or more, for a thread
// takes as long to begin as some ten thousand elements.
inline int64_t parts_of(int64_t count) {
    const int64_t cores = std::max(1u, std::thread::hardware_concurrency());
    return std::min(cores, std::max<int64_t>(1, count >> 20));
}

// Calls work(part, begin, end) for each part, all at the same time; together they are 0 to count.
inline void in_parts(int64_t count, const std::function<void(int64_t, int64_t, int64_t)>& work) {
    const int64_t parts = parts_of(count);
    const auto run = [&](int64_t part) {
        const int64_t begin = count / parts * part;
        work(part, begin, part + 1 < parts ? begin + count / parts : count);
    };
    std::vector<std::thread> others;
    for (int64_t part = 1; part < parts; ++part) others.emplace_back(run, part);
    run(0);
    for (std::thread& other : others) other.join();
}

}  // namespace lab
