// Of which format a picture is, by its content.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "image_bytes.h"

namespace lab {

inline bool begins_with(const ImageBytes& bytes, const std::string& start) {
    return bytes.size() >= start.size() &&
           std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

// A TGA file begins with no mark of its own. No text passes: its second byte is 0 or 1 here.
inline bool is_tga(const ImageBytes& bytes) {
    if (bytes.size() < 18) return false;
    const int kind = bytes[2] & 7, bits = bytes[16];
    if (bytes[2] != kind && bytes[2] != kind + 8) return false;
    if (bytes[1] == 1) return kind == 1 && (bits == 8 || bits == 16);
    return bytes[1] == 0 && (kind == 2 || kind == 3) && (bits == 1 || (bits >= 8 && bits <= 32));
}

// The format's name, nullptr for what is no picture. stb asks in the same order.
inline const char* image_format(const ImageBytes& bytes) {
    struct Mark {
        const char* format;
        std::string start;
    };
    const Mark marks[] = {
        {"PNG", "\x89PNG\r\n\x1a\n"},
        {"BMP", "BM"},
        {"GIF", "GIF87a"},
        {"GIF", "GIF89a"},
        {"PSD", "8BPS"},
        {"PIC", "\x53\x80\xf6\x34"},
        {"JPEG", "\xff\xd8\xff"},
        {"PNM", "P1"},
        {"PNM", "P2"},
        {"PNM", "P3"},
        {"PNM", "P4"},
        {"PNM", "P5"},
        {"PNM", "P6"},
        {"HDR", "#?RADIANCE\n"},
        {"HDR", "#?RGBE\n"},
    };
    for (const Mark& mark : marks) {
        if (begins_with(bytes, mark.start)) return mark.format;
    }
    return is_tga(bytes) ? "TGA" : nullptr;
}

// What a picture is that is known, and not read; nullptr for anything else.
inline const char* unread_format(const ImageBytes& bytes) {
    const std::string start(bytes.begin(), bytes.begin() + std::min<int64_t>(bytes.size(), 16));
    const auto holds = [&](size_t at, const char* mark, size_t length) {
        return start.compare(at, length, mark, length) == 0;
    };
    if (holds(0, "II*\0", 4) || holds(0, "MM\0*", 4)) return "a TIFF picture";
    if (holds(0, "RIFF", 4) && start.size() > 12 && holds(8, "WEBP", 4)) return "a WebP picture";
    if (start.size() > 8 && holds(4, "ftyp", 4)) return "a HEIC or AVIF picture, or a film";
    if (holds(0, "\0\0\0\x0cjP  ", 8)) return "a JPEG 2000 picture";
    if (holds(0, "\xff\x0a", 2) || holds(0, "\0\0\0\x0cJXL ", 8)) return "a JPEG XL picture";
    if (holds(0, "P7\n", 3)) return "a PAM picture";
    if (holds(0, "\xff\xfeP", 4) || holds(0, "\xfe\xff\0P", 4)) return "text in UTF-16";
    return nullptr;
}

}  // namespace lab
