// Whether the first picture of a GIF file is whole.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "image_bytes.h"

namespace lab {

// Counts the pixels that the codes of a GIF picture stand for, up to `wanted`. A code has from
// `least` + 1 to 12 bits, the lowest first; each new one means one pixel more than the code before.
inline int64_t gif_pixels(const ImageBytes& codes, int least, int64_t wanted) {
    const int clear = 1 << least;
    std::vector<int> lengths(4097, 1);
    int width = least + 1, next = clear + 2, before = -1;
    int64_t pixels = 0, at = 0;
    while (pixels < wanted && at + width <= 8 * int64_t(codes.size())) {
        int code = 0;
        for (int k = 0; k < width; ++k, ++at) code |= (codes[at / 8] >> at % 8 & 1) << k;
        if (code == clear + 1) break;
        if (code == clear) {
            width = least + 1, next = clear + 2, before = -1;
            continue;
        }
        if (before >= 0 && next < 4096) lengths[size_t(next++)] = lengths[size_t(before)] + 1;
        if (code >= next) return wanted;  // stb will say
        pixels += lengths[size_t(code)];
        before = code;
        if (next == 1 << width && width < 12) ++width;
    }
    return pixels;
}

// What is missing in the first picture of a GIF file: stb leaves it transparent.
inline std::string gif_problem(const ImageBytes& bytes) {
    const auto end_of_blocks = [&](size_t at, ImageBytes* content) {
        while (at < bytes.size() && bytes[at] > 0) {
            const size_t next = std::min(at + 1 + bytes[at], bytes.size());
            if (content) content->insert(content->end(), &bytes[at] + 1, &bytes[0] + next);
            at = next;
        }
        return at + 1;
    };
    const auto table = [](int flags) { return flags & 0x80 ? size_t(6) << (flags & 7) : 0; };
    size_t at = bytes.size() < 13 ? bytes.size() : 13 + table(bytes[10]);
    while (at + 1 < bytes.size() && bytes[at] == 0x21) at = end_of_blocks(at + 2, nullptr);
    if (at < bytes.size() && bytes[at] == 0x3B) return "it holds no picture";
    if (at + 10 >= bytes.size() || bytes[at] != 0x2C) return "";  // stb will say
    const int64_t width = bytes[at + 5] | bytes[at + 6] << 8,
                  height = bytes[at + 7] | bytes[at + 8] << 8;
    at += 10 + table(bytes[at + 9]);
    ImageBytes codes;
    if (at >= bytes.size() || bytes[at] < 1 || bytes[at] > 11) return "";
    const int least = bytes[at];
    end_of_blocks(at + 1, &codes);
    const bool whole = gif_pixels(codes, least, width * height) >= width * height;
    return whole ? "" : "it ends early: parts of the picture are missing";
}

}  // namespace lab
