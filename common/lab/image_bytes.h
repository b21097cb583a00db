// What the readers of pictures share: a file as bytes, and which sizes may be true.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <limits.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "words.h"

namespace lab {

using ImageBytes = std::vector<uint8_t>;

// A number of two or four bytes, the highest first.
inline uint32_t big_endian(const ImageBytes& bytes, size_t at, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | bytes[at + size_t(i)];
    return value;
}

// What is wrong with a header's size, or "". No format packs more than 8300 pixels into a byte
// (PNG, of one bit each); a small picture may be all background.
inline std::string image_size_problem(int64_t height, int64_t width, int64_t bytes) {
    const std::string size = format("%lld x %lld pixels", (long long)height, (long long)width);
    if (height < 1 || width < 1) return "its header claims " + size;
    if (height > 1 << 24 || width > 1 << 24 || height * width > INT_MAX) {
        return "its " + size + " are more than are read here";
    }
    if (height * width <= std::max<int64_t>(1 << 24, 8300 * bytes)) return "";
    return format("its header claims %s, more than %lld bytes hold", size.c_str(),
                  (long long)bytes);
}

}  // namespace lab
