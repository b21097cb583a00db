// Pictures in and out, by the stb headers (Debian's libstb-dev): 8 bits a channel, row by row, the
// channels of a pixel side by side. What a file is goes by its content when it is read, and by the
// end of its name when it is written. Of an animation the first picture is read; what a camera says
// about its orientation is ignored.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include "jpeg.h"
#include "lab.h"

#if !__has_include(<stb/stb_image.h>) && !__has_include("stb_image.h")
#error \
    "stb_image.h is missing: install libstb-dev (Debian, Ubuntu), stb-devel (Fedora) or stb (Arch)"
#endif

// What stb includes itself, so that the settings below are for its own code only.
#include <assert.h>
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <functional>

namespace lab {

// The file that is being read, in quotation marks.
inline std::string& image_name() {
    static std::string name;
    return name;
}

// stb calls it where it would end the program by assert().
[[noreturn]] inline void refuse_image() {
    refuse("cannot read %s: it breaks a rule of its format", image_name().c_str());
}

}  // namespace lab

// Zeros, where a broken file leaves a part of the picture out.
#ifndef STBI_MALLOC
#define STBI_MALLOC(bytes) ::std::calloc(1, bytes)
#define STBI_REALLOC ::std::realloc
#define STBI_FREE ::std::free
#endif
#define STBI_ASSERT(holds) ((holds) ? void() : ::lab::refuse_image())
#define STBI_NO_STDIO
#define STBI_NO_LINEAR
#define STBI_NO_SIMD
#define STBI_WRITE_NO_STDIO
#define STBIDEF static inline
#define STBIWDEF static inline
#define STB_IMAGE_STATIC
#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STB_IMAGE_WRITE_IMPLEMENTATION

// From here on at -Og: at -O3 this takes ten seconds more to compile, and no lab measures it.
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675  // nvcc hands that pragma on, and says that it does not know it
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("Og")
#endif
#if __has_include(<stb/stb_image.h>)
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#else
#include "stb_image.h"
#include "stb_image_write.h"
#endif
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diagnostic pop
#endif

namespace lab {

// Pixel (row, column) begins at pixels[(row * width + column) * channels]. The channels: 1 gray,
// 2 gray and alpha, 3 red, green and blue, 4 the same and alpha.
struct Image {
    int64_t height = 0;
    int64_t width = 0;
    int channels = 0;
    std::vector<uint8_t> pixels;

    // How many bytes the pixels take.
    int64_t count() const { return height * width * channels; }
};

// ---------------------------------------------------------------------------------------------
// What a file is, and whether it is whole: stb believes what a header says, takes the place of
// what is missing for zeros, and looks at no check sum
// ---------------------------------------------------------------------------------------------

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

// ---------------------------------------------------------------------------------------------
// Reading
// ---------------------------------------------------------------------------------------------

// Hands a file to stb, and refuses it when stb asks for bytes behind its end.
struct ImageStream {
    const uint8_t* bytes;
    size_t size;
    size_t at;
    char* window;  // stb's own small buffer, which it fills as far as the file goes

    static int read(void* user, char* target, int wanted) {
        ImageStream& stream = *static_cast<ImageStream*>(user);
        const size_t count = std::min(size_t(std::max(wanted, 0)), stream.size - stream.at);
        if (!stream.window) stream.window = target;
        if (count == 0 || (target != stream.window && count < size_t(wanted))) {
            refuse("cannot read %s: it ends early: it is cut short, copy it again",
                   image_name().c_str());
        }
        std::memcpy(target, stream.bytes + stream.at, count);
        stream.at += count;
        return int(count);
    }
    static void skip(void* user, int count) {
        ImageStream& stream = *static_cast<ImageStream*>(user);
        stream.at += std::min(size_t(std::max(count, 0)), stream.size - stream.at);
    }
    static int at_end(void* user) {
        const ImageStream& stream = *static_cast<ImageStream*>(user);
        return stream.at >= stream.size;
    }
};

// A remark about the file that is being read; the program goes on.
inline void note_image(const char* remark) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: note: %s: %s\n", program_invocation_short_name, image_name().c_str(),
                 remark);
}

inline ImageBytes read_bytes(const std::string& path) {
    const std::string name = quoted(path);
    std::string problem = reading_problem(path);
    struct stat status = {};
    std::FILE* const file = problem.empty() ? std::fopen(path.c_str(), "rb") : nullptr;
    if (problem.empty() && (!file || fstat(fileno(file), &status) != 0)) {
        problem = std::strerror(errno);
    }
    if (problem.empty() && status.st_size == 0) problem = "it is empty";
    if (problem.empty() && status.st_size > INT_MAX) problem = "it is larger than 2 GiB";
    if (!problem.empty()) refuse("cannot read %s: %s", name.c_str(), problem.c_str());
    require_host_memory(status.st_size, name.c_str());
    ImageBytes bytes(size_t(status.st_size));
    if (std::fread(bytes.data(), 1, bytes.size(), file) != bytes.size()) {
        refuse("cannot read %s: it cannot be read in full", name.c_str());
    }
    std::fclose(file);
    return bytes;
}

// Copies pixels of `from` channels to pixels of `to` channels. Gray is that of stb, 0.299 R +
// 0.587 G + 0.114 B in 256ths; a new alpha channel is opaque.
inline ImageBytes convert_channels(const uint8_t* pixels, int64_t count, int from, int to) {
    if (from == to) return ImageBytes(pixels, pixels + count * from);
    ImageBytes converted(size_t(count * to));
    uint8_t* target = converted.data();
    for (const uint8_t* pixel = pixels; pixel < pixels + count * from; pixel += from) {
        const bool gray = from < 3;
        if (to < 3) {
            target[0] =
                gray ? pixel[0] : uint8_t((77 * pixel[0] + 150 * pixel[1] + 29 * pixel[2]) >> 8);
        } else {
            for (int channel = 0; channel < 3; ++channel) {
                target[channel] = pixel[gray ? 0 : channel];
            }
        }
        if (to % 2 == 0) target[to - 1] = from % 2 == 0 ? pixel[from - 1] : 255;
        target += to;
    }
    return converted;
}

// True when the alpha channel says something: stb gives one to every GIF and PSD file.
inline bool has_alpha(const uint8_t* pixels, int64_t count, int channels, const char* format) {
    if (channels % 2 != 0) return false;
    if (std::strcmp(format, "GIF") != 0 && std::strcmp(format, "PSD") != 0) return true;
    for (int64_t i = 1; i <= count; ++i) {
        if (pixels[i * channels - 1] != 255) return true;
    }
    return false;
}

// What a program does as soon as it knows the size of a picture, before any work: it may say how
// much memory it needs.
using BeforePixels = std::function<void(int64_t height, int64_t width, int channels)>;

// Refuses what cannot be a whole picture of the format, before any room is made for its pixels.
inline void require_whole_image(ImageBytes& bytes, const std::string& kind, int channels,
                                const BeforePixels& before_pixels) {
    std::string problem, remark;
    bool reduced = kind == "HDR";
    const auto refuse_any = [&] {
        if (!problem.empty()) refuse("cannot read %s: %s", image_name().c_str(), problem.c_str());
    };
    PngFile png;
    if (kind == "PNG") problem = png.read(bytes);
    if (kind == "PNM") problem = plain_pnm(bytes, reduced, remark);
    refuse_any();
    if (png.apple) {  // stb looks two bytes ahead, for a check sum that is not there
        const uint8_t part[] = {0, 0, 0, 4, 'I', 'D', 'A', 'T', 0, 0, 0, 0, 0, 0, 0, 0};
        bytes.insert(bytes.begin() + int64_t(png.end), part, part + sizeof part);
    }
    int width = 0, height = 0, stored = 0;
    const bool known =
        stbi_info_from_memory(bytes.data(), int(bytes.size()), &width, &height, &stored);
    const int64_t rows = std::abs(int64_t(height));  // below 0 in a BMP file: from top to bottom
    if (known) {
        problem = image_size_problem(rows, width, int64_t(bytes.size()));
        refuse_any();
        require_host_memory(2 * rows * width * std::max(stored, 3), image_name().c_str());
        if (before_pixels) before_pixels(rows, width, channels ? channels : stored);
    }
    JpegReader jpeg(bytes);
    if (kind == "JPEG") problem = jpeg.read();
    if (kind == "GIF") problem = gif_problem(bytes);
    if (problem.empty() && !known)
        problem = format("the header of this %s file is broken, or of a kind that is not read (%s)",
                         kind.c_str(), stbi_failure_reason());
    refuse_any();
    if (kind == "JPEG") remark = jpeg.remark();
    if (kind == "PNG") remark = png.remark();
    if (!remark.empty()) note_image(remark.c_str());
    reduced =
        reduced || (kind == "PNG" && png.header[8] == 16) || (kind == "PSD" && bytes[23] == 16);
    if (reduced) note_image("its channels are reduced to 8 bits");
}

// Decodes the bytes of a file.
inline Image decode_image(ImageBytes bytes, const std::string& path, int channels,
                          const BeforePixels& before_pixels = nullptr) {
    image_name() = quoted(path);
    const bool marked = begins_with(bytes, "\xef\xbb\xbfP");  // as editors mark text
    if (marked) bytes.erase(bytes.begin(), bytes.begin() + 3);
    const char *const kind = image_format(bytes), *const other = unread_format(bytes);
    if (!kind && other) {
        refuse("cannot read %s: it is %s, which is not read here; save it as PNG",
               image_name().c_str(), other);
    }
    if (!kind) {
        refuse(
            "cannot read %s: it is no picture (PNG, JPEG, BMP, GIF, TGA, PSD, HDR, PIC, PPM, PGM "
            "or PBM)",
            image_name().c_str());
    }
    require_whole_image(bytes, kind, channels, before_pixels);
    stbi_convert_iphone_png_to_rgb(1);
    stbi_set_unpremultiply_on_load(1);
    ImageStream stream = {bytes.data(), bytes.size(), 0, nullptr};
    const stbi_io_callbacks calls = {ImageStream::read, ImageStream::skip, ImageStream::at_end};
    int width = 0, height = 0, stored = 0;
    // asked for anything but 4 channels, some versions of stb fall over a broken PIC file
    const int asked = std::strcmp(kind, "PIC") == 0 ? 4 : 0;
    uint8_t* const pixels =
        stbi_load_from_callbacks(&calls, &stream, &width, &height, &stored, asked);
    if (!pixels) {
        refuse("cannot read %s: it is a broken %s file, or of a kind that is not read (%s)",
               image_name().c_str(), kind, stbi_failure_reason());
    }
    ImageBytes().swap(bytes);  // room for the copy
    const int64_t count = int64_t(height) * width;
    if (channels % 2 == 1 && has_alpha(pixels, count, stored, kind)) {
        note_image("its alpha channel is dropped");
    }
    if (channels == 0) channels = stored;
    const int held = asked ? asked : stored;
    Image image = {height, width, channels, convert_channels(pixels, count, held, channels)};
    stbi_image_free(pixels);
    return image;
}

// Reads a picture. `channels` is how many are wanted, 1 to 4; 0 takes those of the file. Whatever
// is wrong with the file is refused (exit status 2) with its name. `before_pixels` is called when
// the size is known.
inline Image read_image(const std::string& path, int channels = 0,
                        const BeforePixels& before_pixels = nullptr) {
    return decode_image(read_bytes(path), path, channels, before_pixels);
}

// ---------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------

// The end of the name in small letters, without the point: "png" for "Photo.PNG".
inline std::string name_ending(const std::string& path) {
    const size_t point = path.rfind('.');
    if (point == std::string::npos || path.find('/', point) != std::string::npos) return "";
    std::string ending = path.substr(point + 1);
    for (char& letter : ending) letter = char(std::tolower(uint8_t(letter)));
    return ending;
}

// The format that the name says: those of .ppm and .pgm are written alike.
inline std::string image_extension(const std::string& path) {
    const std::string ending = name_ending(path);
    return ending == "jpeg" ? "jpg" : ending == "pgm" ? "ppm" : ending;
}

// Why no picture of this size and number of channels can be written under this name, or "".
inline std::string image_writing_problem(const std::string& path, int64_t height, int64_t width,
                                         int channels) {
    const std::string kind = image_extension(path);
    const std::string size = format("%lld x %lld pixels", (long long)height, (long long)width);
    if (kind != "png" && kind != "jpg" && kind != "bmp" && kind != "tga" && kind != "ppm") {
        return "its name must end in .png, .jpg, .bmp, .tga, .ppm or .pgm";
    }
    if (height < 1 || width < 1) return "there is no picture of " + size;
    if (channels < 1 || channels > 4) return format("no picture has %d channels", channels);
    if (channels > 2 && name_ending(path) == "pgm") {
        return "a .pgm file holds gray pictures, and this one has colours; write a .ppm";
    }
    const int64_t longest = kind == "jpg" || kind == "tga" ? 65535 : INT_MAX;
    if (height > longest || width > longest) {
        return format("a .%s file has at most %lld pixels a side, and this one %s; write a .png",
                      kind.c_str(), (long long)longest, size.c_str());
    }
    if (kind == "ppm" || (width * std::max(channels, 3) + 4) * height <= 1000000000) return "";
    return format("%s are too many for a .%s file; write a .ppm", size.c_str(), kind.c_str());
}

// Refuses a picture that cannot be written to the file that an option names; "" is no file. To be
// asked as soon as the size is known: what the format cannot hold should not cost any work.
inline void require_writable_image(const std::string& option, const std::string& path,
                                   int64_t height, int64_t width, int channels) {
    if (path.empty()) return;
    const std::string problem = image_writing_problem(path, height, width, channels);
    if (problem.empty()) return;
    refuse("--%s: cannot write %s: %s", option.c_str(), quoted(path).c_str(), problem.c_str());
}

// Declares the option for a picture to write; a name that says no known format is refused at once.
inline std::string image_output(Arguments& arguments, const std::string& name,
                                const std::string& help) {
    const std::string path = arguments.output(name, help);
    require_writable_image(name, path, 1, 1, 1);
    return path;
}

// The whole file in the format, but for .ppm, where it is the header.
inline ImageBytes encode_image(const std::string& kind, const uint8_t* pixels, int height,
                               int width, int channels) {
    ImageBytes file;
    const auto append = [](void* target, void* piece, int count) {
        const uint8_t* const bytes = static_cast<const uint8_t*>(piece);
        ImageBytes& all = *static_cast<ImageBytes*>(target);
        all.insert(all.end(), bytes, bytes + count);
    };
    int made = 1;
    if (kind == "png") {
        made = stbi_write_png_to_func(append, &file, width, height, channels, pixels, 0);
    } else if (kind == "bmp") {
        made = stbi_write_bmp_to_func(append, &file, width, height, channels, pixels);
    } else if (kind == "tga") {
        made = stbi_write_tga_to_func(append, &file, width, height, channels, pixels);
    } else if (kind == "jpg") {
        made = stbi_write_jpg_to_func(append, &file, width, height, channels, pixels, 95);
    } else {
        const std::string header =
            format("P%d\n%d %d\n255\n", channels == 1 ? 5 : 6, width, height);
        file.assign(header.begin(), header.end());
    }
    if (!made) file.clear();
    return file;
}

// Writes a picture in the format that the end of the name says: png, jpg (of quality 95), bmp, tga,
// ppm (gray for one channel, as in a pgm file, RGB otherwise) or pgm (gray only). A jpg, ppm or pgm
// file holds no alpha channel: it is dropped, and that is said. The file appears under its name only
// when it is complete; on any failure (exit status 1) nothing is left behind and nothing is lost.
inline void write_image(const std::string& path, const uint8_t* pixels, int64_t height,
                        int64_t width, int channels) {
    const std::string kind = image_extension(path);
    std::string problem = writing_problem(path);
    if (problem.empty()) problem = image_writing_problem(path, height, width, channels);
    if (!problem.empty()) fail("cannot write %s: %s", quoted(path).c_str(), problem.c_str());
    ImageBytes opaque;
    const bool alpha = channels % 2 == 0;
    // stb's bmp files have an alpha channel beside three of colour only
    if (alpha && (kind == "jpg" || kind == "ppm" || (kind == "bmp" && channels == 2))) {
        image_name() = quoted(path);
        note_image("such a file has no alpha channel; it is dropped");
        opaque = convert_channels(pixels, height * width, channels, channels - 1);
        pixels = opaque.data();
        --channels;
    }
    const ImageBytes file = encode_image(kind, pixels, int(height), int(width), channels);
    const Bytes body = {pixels, kind == "ppm" ? size_t(height * width * channels) : 0};
    if (file.empty()) fail("cannot write %s: %s", quoted(path).c_str(), std::strerror(ENOMEM));
    const int error = write_file(path, {{file.data(), file.size()}, body});
    if (error != 0) fail("cannot write %s: %s", quoted(path).c_str(), std::strerror(error));
}

}  // namespace lab

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC pop_options
#endif

namespace lab {

// Random bytes for pixels, the same on every machine.
inline Image random_image(int64_t height, int64_t width, int channels, uint64_t seed) {
    Image image = {height, width, channels, {}};
    image.pixels.resize(size_t(image.count()));
    const uint64_t start = mixed_bits(seed + 1);
    for (int64_t i = 0; i < image.count(); i += 8) {
        const uint64_t bits = mixed_bits(start + uint64_t(i));
        std::memcpy(&image.pixels[size_t(i)], &bits,
                    size_t(std::min<int64_t>(8, image.count() - i)));
    }
    return image;
}

}  // namespace lab
