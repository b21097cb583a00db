// PNM files: PBM, PGM and PPM.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <ctype.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "checks.h"
#include "image_bytes.h"
#include "words.h"

namespace lab {

// The next number of a PNM file's text, behind white space and comments; -1 when there is none.
inline int64_t pnm_number(const ImageBytes& bytes, size_t& at, int most_digits = 10) {
    while (at < bytes.size() && (std::isspace(bytes[at]) || bytes[at] == '#')) {
        const bool comment = bytes[at++] == '#';
        while (comment && at < bytes.size() && bytes[at] != '\n' && bytes[at] != '\r') ++at;
    }
    int64_t value = -1;
    for (int i = 0; i < most_digits && at < bytes.size() && std::isdigit(bytes[at]); ++i) {
        value = 10 * std::max<int64_t>(value, 0) + (bytes[at++] - '0');
    }
    return value;
}

// Turns any PNM file (P1 to P3 are text, P4 to P6 bytes; P1 and P4 hold bits, 1 for black) into one
// whose samples are bytes from 0 to 255: the only kind that stb reads right. Returns what is wrong
// with it, or "", and what can be read though it looks like damage.
inline std::string plain_pnm(ImageBytes& bytes, bool& reduced, std::string& remark) {
    const int kind = bytes[1] - '0';
    const bool text = kind < 4, bits = kind % 3 == 1;
    size_t at = 2;
    const int64_t width = pnm_number(bytes, at), height = pnm_number(bytes, at);
    const int64_t highest = bits ? 1 : pnm_number(bytes, at), channels = kind % 3 == 0 ? 3 : 1;
    if (!text) ++at;  // one white space
    if (width < 1 || height < 1 || highest < 1 || highest > 65535) return "its header is broken";
    const std::string problem = image_size_problem(height, width, int64_t(bytes.size()));
    if (!problem.empty()) return problem;
    reduced = highest > 255;
    const int64_t follow = std::max<int64_t>(int64_t(bytes.size()) - int64_t(at), 0);
    const int64_t count = width * height * channels, sample_bytes = !text && reduced ? 2 : 1;
    const int64_t needed = kind == 4 ? height * divide_up(width, 8) : count * sample_bytes;
    if (follow < needed) {
        return format("its %lld x %lld pixels take %lld bytes, and %lld follow the header",
                      (long long)height, (long long)width, (long long)needed, (long long)follow);
    }
    const std::string header =
        format("P%d\n%lld %lld\n255\n", channels == 1 ? 5 : 6, (long long)width, (long long)height);
    ImageBytes plain(header.begin(), header.end());
    plain.resize(header.size() + size_t(count));
    const uint8_t* const data = bytes.data() + at;
    const auto next_sample = [&](int64_t i) -> int64_t {
        if (text) return pnm_number(bytes, at, bits ? 1 : 10);
        if (!bits) return reduced ? data[2 * i] << 8 | data[2 * i + 1] : data[i];
        return data[i / width * divide_up(width, 8) + i % width / 8] >> (7 - i % width % 8) & 1;
    };
    const bool as_it_is = !text && highest == 255;
    if (as_it_is) std::memcpy(&plain[header.size()], data, size_t(count));
    for (int64_t i = as_it_is ? count : 0; i < count; ++i) {
        const int64_t sample = next_sample(i);
        if (sample < 0) {
            return format("its pixels take %lld numbers, and behind %lld of them %s",
                          (long long)count, (long long)i,
                          at < bytes.size() ? "stands something else" : "it ends");
        }
        if (sample > highest) {
            return format("it holds the number %lld, and its header says that the highest is %lld",
                          (long long)sample, (long long)highest);
        }
        const int64_t shade = bits ? 1 - sample : sample;
        plain[header.size() + size_t(i)] = uint8_t((shade * 255 + highest / 2) / highest);
    }
    if (!text) at += size_t(needed);
    if (!text && follow == needed + 1 && bytes[at - size_t(needed) - 1] == '\r' &&
        bytes[at - size_t(needed)] == '\n') {
        remark =
            "its header ends with two bytes, CR and LF, and the second counts as a pixel's: are "
            "all shifted by one?";
    } else if (pnm_number(bytes, at) >= 0 || at < bytes.size()) {
        remark = "bytes follow its pixels: they are not read";
    }
    bytes = std::move(plain);
    return "";
}

}  // namespace lab
