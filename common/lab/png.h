// Whether a PNG file is whole: stb looks at no check sum.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <limits.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "checks.h"
#include "files.h"
#include "image_bytes.h"
#include "stb.h"

namespace lab {

// The check sum of PNG: CRC-32.
inline uint32_t crc32(const uint8_t* bytes, size_t count) {
    static const std::vector<uint32_t> table = [] {
        std::vector<uint32_t> remainders(256);
        for (uint32_t i = 0; i < 256; ++i) {
            uint32_t bits = i;
            for (int bit = 0; bit < 8; ++bit) bits = bits >> 1 ^ (bits & 1 ? 0xEDB88320u : 0);
            remainders[i] = bits;
        }
        return remainders;
    }();
    uint32_t sum = 0xFFFFFFFFu;
    for (size_t i = 0; i < count; ++i) sum = sum >> 8 ^ table[(sum ^ bytes[i]) & 255];
    return ~sum;
}

// A PNG file has parts, each of them length, name, content, check sum.
struct PngFile {
    ImageBytes data;       // compressed, of all parts
    ImageBytes header;     // width, height, bits, kind of colour, 0, 0, interlaced
    bool apple = false;    // Apple's form: blue first, and data without their check sum
    bool surplus = false;  // bytes behind the end
    size_t end = 0;        // where the last part begins

    // Returns what is wrong, or "".
    std::string read(const ImageBytes& bytes) {
        for (size_t at = 8; bytes.size() - at >= 12;) {
            const size_t length = big_endian(bytes, at, 4);
            if (length > bytes.size() - at - 12) break;
            const std::string name(&bytes[at + 4], &bytes[at + 8]);
            const auto content = bytes.begin() + int64_t(at) + 8;
            if (crc32(&bytes[at + 4], length + 4) != big_endian(bytes, at + 8 + length, 4)) {
                return "it is damaged: the check sum of its part " + quoted(name) + " is wrong";
            }
            if (name == "IEND") end = at;
            at += 12 + length;
            apple = apple || name == "CgBI";
            if (name == "IHDR" && length == 13) header.assign(content, content + 13);
            if (name == "IDAT") data.insert(data.end(), content, content + int64_t(length));
            surplus = at < bytes.size();
            if (name == "IEND") return "";
        }
        return "it ends early: it is cut short, copy it again";
    }

    // How many bytes the rows are before compression, each with its filter's number.
    int64_t bytes_of_rows() const {
        const int64_t width = big_endian(header, 0, 4), height = big_endian(header, 4, 4);
        const int kind = header[9], channels = (kind & 2 && kind != 3 ? 3 : 1) + (kind & 4 ? 1 : 0);
        const auto rows = [&](int64_t across, int64_t down) {
            return across < 1 ? 0 : down * (divide_up(across * channels * header[8], 8) + 1);
        };
        if (header[12] == 0) return rows(width, height);
        int64_t bytes = 0;
        constexpr int first_x[] = {0, 4, 0, 2, 0, 1, 0}, first_y[] = {0, 0, 4, 0, 2, 0, 1};
        constexpr int step_x[] = {8, 8, 4, 4, 2, 2, 1}, step_y[] = {8, 8, 8, 4, 4, 2, 2};
        for (int pass = 0; pass < 7; ++pass) {
            bytes += rows(divide_up(std::max<int64_t>(width - first_x[pass], 0), step_x[pass]),
                          divide_up(std::max<int64_t>(height - first_y[pass], 0), step_y[pass]));
        }
        return bytes;
    }

    // What can be read, though it looks like damage; or "".
    std::string remark() const {
        if (surplus) return "bytes follow its end: they are not read";
        if (apple || data.size() < 6) return "";
        int count = 0;
        const int64_t expected = bytes_of_rows();
        uint8_t* const rows = reinterpret_cast<uint8_t*>(stbi_zlib_decode_malloc_guesssize(
            reinterpret_cast<const char*>(data.data()), int(data.size()),
            int(std::min<int64_t>(expected + 64, INT_MAX)), &count));
        if (!rows) return "";        // stb will say
        uint32_t low = 1, high = 0;  // Adler's check sum
        for (int i = 0; i < count; ++i) {
            low = (low + rows[i]) % 65521;
            high = (high + low) % 65521;
        }
        STBI_FREE(rows);
        // It stands at the end of the pixels, and other bytes may follow.
        const uint32_t sum = high << 16 | low;
        const uint8_t bytes[] = {uint8_t(sum >> 24), uint8_t(sum >> 16), uint8_t(sum >> 8),
                                 uint8_t(sum)};
        if (std::search(data.begin(), data.end(), bytes, bytes + 4) == data.end())
            return "the check sum of its pixels is wrong: it may be damaged";
        return count > expected ? "it holds more pixels than its size says: it may be damaged" : "";
    }
};

}  // namespace lab
