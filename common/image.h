// Pictures in and out, by the stb headers (Debian's libstb-dev): 8 bits a channel, row by row, the
// channels of a pixel side by side. What a file is goes by its content when it is read, and by the
// end of its name when it is written. Of an animation the first picture is read; what a camera says
// about its orientation is ignored.
#pragma once

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

using ImageBytes = std::vector<uint8_t>;

inline bool begins_with(const ImageBytes& bytes, const std::string& start) {
    return bytes.size() >= start.size() &&
           std::memcmp(bytes.data(), start.data(), start.size()) == 0;
}

// A number of two or four bytes, the highest first.
inline uint32_t big_endian(const ImageBytes& bytes, size_t at, int count) {
    uint32_t value = 0;
    for (int i = 0; i < count; ++i) value = value << 8 | bytes[at + size_t(i)];
    return value;
}

// A TGA file begins with no mark of its own. No text passes: its second byte is 0 or 1 here.
inline bool is_tga(const ImageBytes& bytes) {
    if (bytes.size() < 18) return false;
    const int kind = bytes[2] & 7, bits = bytes[16];
    if (bytes[2] != kind && bytes[2] != kind + 8) return false;
    if (bytes[1] == 1) return kind == 1 && (bits == 8 || bits == 16);
    return bytes[1] == 0 && (kind == 2 || kind == 3) && bits >= 8 && bits <= 32;
}

// The format's name, nullptr for one that is not read. stb asks in the same order.
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

// What is wrong with the parts of a PNG file: each is length, name, content, check sum.
inline std::string png_problem(const ImageBytes& bytes) {
    for (size_t at = 8; bytes.size() - at >= 12;) {
        const size_t length = big_endian(bytes, at, 4);
        if (length > bytes.size() - at - 12) break;
        const std::string name(&bytes[at + 4], &bytes[at + 8]);
        if (crc32(&bytes[at + 4], length + 4) != big_endian(bytes, at + 8 + length, 4)) {
            return "it is damaged: the check sum of its part " + quoted(name) + " is wrong";
        }
        if (name == "IEND") return "";
        at += 12 + length;
    }
    return "it ends early: it is cut short, copy it again";
}

// Goes through a JPEG file as stb will, and asks what stb takes on trust: that codes fit their
// table, that the tables of a scan are there, and that no channel is left out.
class JpegReader {
 public:
    explicit JpegReader(const ImageBytes& bytes) : bytes_(bytes) {}

    // What is wrong, or "": then stb may find something itself, or the end of the file.
    std::string read() {
        for (int marker = next_marker(); marker != 0xD9; marker = next_marker()) {
            const size_t left = bytes_.size() - at_;
            const size_t length = left < 2 ? 2 : big_endian(bytes_, at_, 2);
            if (left < 2 || length > left) return "it ends early: it is cut short, copy it again";
            const size_t end = at_ + std::max<size_t>(length, 2);
            at_ += 2;
            const std::string problem = segment_problem(marker, end);
            if (!problem.empty()) return problem;
            at_ = end;
            if (marker == 0xDA) skip_scan();
        }
        const bool whole = !channels_.empty() && missing_ == 0;
        return whole ? "" : "it ends early: parts of the picture are missing";
    }

 private:
    struct Channel {
        int name;
        int quantiser;
        bool scanned;
    };

    // Moves behind the next FF and the byte of the kind that follows it; at the end, to the end.
    int next_marker() {
        while (at_ < bytes_.size() && bytes_[at_] != 0xFF) ++at_;
        while (at_ < bytes_.size() && bytes_[at_] == 0xFF) ++at_;
        return at_ < bytes_.size() ? bytes_[at_++] : 0;
    }

    // Within a scan, FF 00 stands for a byte FF, and FF D0 to FF D7 are marks between its parts.
    void skip_scan() {
        for (; at_ + 1 < bytes_.size(); ++at_) {
            const int next = bytes_[at_ + 1];
            if (bytes_[at_] == 0xFF && next != 0 && next != 0xFF && (next & ~7) != 0xD0) return;
        }
    }

    std::string segment_problem(int marker, size_t end) {
        const bool frame = marker >= 0xC0 && marker <= 0xC2;
        bool right = true;
        if (marker == 0xC4) right = read_huffman(end);
        if (marker == 0xDB) right = read_quantisers(end);
        if (marker == 0xDA) right = read_scan(end);
        if (marker == 0xEE && end - at_ >= 12) adobe_ = std::memcmp(&bytes_[at_], "Adobe", 5) == 0;
        if (frame) right = read_frame(marker, end);
        if (!right) return "it is a broken JPEG file";
        if (!frame || channels_.size() < 4 || adobe_) return "";
        return "it has four channels, and says nothing of what they are; save it as RGB";
    }

    // Tables: kind and number, how many codes of 1 to 16 bits, and what they mean.
    bool read_huffman(size_t end) {
        while (at_ < end) {
            if (end - at_ < 17) return false;
            const int kind = bytes_[at_] >> 4, table = bytes_[at_] & 15;
            size_t count = 0;
            for (int bits = 1, code = 0; bits <= 16; ++bits) {
                count += bytes_[at_ + size_t(bits)];
                code = 2 * code + bytes_[at_ + size_t(bits)];
                if (code > 1 << bits) return false;
            }
            at_ += 17;
            if (kind > 1 || table > 3 || count > 256 || count > end - at_) return false;
            huffman_[kind][table] = true;
            at_ += count;
        }
        return true;
    }

    // Tables: precision and number, and 64 numbers of one byte or two.
    bool read_quantisers(size_t end) {
        while (at_ < end) {
            const int wide = bytes_[at_] >> 4, table = bytes_[at_] & 15;
            const size_t bytes = wide ? 129 : 65;
            if (wide > 1 || table > 3 || end - at_ < bytes) return false;
            quantiser_[table] = true;
            at_ += bytes;
        }
        return true;
    }

    bool read_frame(int marker, size_t end) {
        const size_t count = end - at_ < 6 ? 0 : bytes_[at_ + 5];
        if (count < 1 || count > 4 || end - at_ != 6 + 3 * count || !channels_.empty())
            return false;
        for (size_t i = at_ + 6; i < end; i += 3) {
            channels_.push_back({bytes_[i], bytes_[i + 2], false});
        }
        progressive_ = marker == 0xC2;
        missing_ = count;
        return true;
    }

    // The channels of a scan and their tables, then which coefficients it holds.
    bool read_scan(size_t end) {
        const size_t count = at_ < end ? bytes_[at_] : 0;
        if (count < 1 || end - at_ != 4 + 2 * count) return false;
        const uint8_t* const range = &bytes_[at_ + 1 + 2 * count];
        const bool first = !progressive_ || range[0] == 0, rest = !progressive_ || range[0] > 0;
        for (size_t i = 0; i < count; ++i) {
            const int name = bytes_[at_ + 1 + 2 * i], tables = bytes_[at_ + 2 + 2 * i];
            const auto channel = std::find_if(channels_.begin(), channels_.end(),
                                              [=](const Channel& one) { return one.name == name; });
            if (channel == channels_.end() || channel->quantiser > 3) return false;
            if (tables >> 4 > 3 || (tables & 15) > 3 || !quantiser_[channel->quantiser])
                return false;
            if (first && range[2] >> 4 == 0 && !huffman_[0][tables >> 4]) return false;
            if (rest && !huffman_[1][tables & 15]) return false;
            if (first && !channel->scanned) --missing_;
            if (first) channel->scanned = true;
        }
        return true;
    }

    const ImageBytes& bytes_;
    size_t at_ = 2;
    bool huffman_[2][4] = {};
    bool quantiser_[4] = {};
    bool adobe_ = false, progressive_ = false;
    std::vector<Channel> channels_;
    size_t missing_ = 0;
};

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

// The next number of a PNM header, behind white space and comments; -1 when there is none.
inline int64_t pnm_number(const ImageBytes& bytes, size_t& at) {
    while (at < bytes.size() && (std::isspace(bytes[at]) || bytes[at] == '#')) {
        const bool comment = bytes[at++] == '#';
        while (comment && at < bytes.size() && bytes[at] != '\n') ++at;
    }
    int64_t value = -1;
    for (; at < bytes.size() && std::isdigit(bytes[at]) && value < (1 << 28); ++at) {
        value = 10 * std::max<int64_t>(value, 0) + (bytes[at] - '0');
    }
    return value;
}

// Turns any PNM file into one whose samples are bytes from 0 to 255: the only kind that stb reads
// right. Returns what is wrong with it, or "".
inline std::string plain_pnm(ImageBytes& bytes, bool& reduced) {
    size_t at = 2;
    const int64_t width = pnm_number(bytes, at), height = pnm_number(bytes, at);
    const int64_t highest = pnm_number(bytes, at), channels = bytes[1] == '5' ? 1 : 3;
    ++at;  // one white space
    if (width < 1 || height < 1 || highest < 1 || highest > 65535) return "its header is broken";
    const std::string problem = image_size_problem(height, width, int64_t(bytes.size()));
    if (!problem.empty()) return problem;
    reduced = highest > 255;
    const int64_t count = width * height * channels, follow = int64_t(bytes.size()) - int64_t(at);
    const int64_t needed = count * (reduced ? 2 : 1);
    if (follow < needed) {
        return format("its %lld x %lld pixels take %lld bytes, and %lld follow the header",
                      (long long)height, (long long)width, (long long)needed,
                      (long long)std::max<int64_t>(follow, 0));
    }
    const std::string header =
        format("P%c\n%lld %lld\n255\n", bytes[1], (long long)width, (long long)height);
    ImageBytes plain(header.begin(), header.end());
    plain.reserve(header.size() + size_t(count));
    plain.insert(plain.end(), bytes.begin() + int64_t(at), bytes.begin() + int64_t(at) + count);
    for (int64_t i = 0; i < count && highest != 255; ++i) {
        const int64_t from = int64_t(at) + (reduced ? 2 * i : i);
        const int64_t sample = big_endian(bytes, size_t(from), reduced ? 2 : 1);
        plain[header.size() + size_t(i)] =
            uint8_t((std::min(sample, highest) * 255 + highest / 2) / highest);
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

// Refuses what cannot be a whole picture of the format, before any room is made for its pixels.
inline void require_whole_image(ImageBytes& bytes, const std::string& kind) {
    std::string problem;
    bool reduced = kind == "HDR";
    if (kind == "PNG") problem = png_problem(bytes);
    if (kind == "JPEG") problem = JpegReader(bytes).read();
    if (kind == "PNM") problem = plain_pnm(bytes, reduced);
    int width = 0, height = 0, channels = 0;
    if (problem.empty() &&
        !stbi_info_from_memory(bytes.data(), int(bytes.size()), &width, &height, &channels)) {
        problem = "the header of this " + kind + " file is broken, or of a kind that is not read";
    }
    const int64_t rows = std::abs(int64_t(height));  // below 0 in a BMP file: from top to bottom
    if (problem.empty()) problem = image_size_problem(rows, width, int64_t(bytes.size()));
    if (!problem.empty()) refuse("cannot read %s: %s", image_name().c_str(), problem.c_str());
    require_host_memory(2 * rows * width * std::max(channels, 3), image_name().c_str());
    reduced = reduced || (kind == "PNG" && bytes[24] == 16) || (kind == "PSD" && bytes[23] == 16);
    if (reduced) note_image("its channels are reduced to 8 bits");
}

// Decodes the bytes of a file.
inline Image decode_image(ImageBytes bytes, const std::string& path, int channels) {
    image_name() = quoted(path);
    const char* const kind = image_format(bytes);
    if (!kind) {
        refuse(
            "cannot read %s: it is no picture (PNG, JPEG, BMP, GIF, TGA, PSD, HDR, PIC, PPM or "
            "PGM)",
            image_name().c_str());
    }
    require_whole_image(bytes, kind);
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
// is wrong with the file is refused (exit status 2) with its name.
inline Image read_image(const std::string& path, int channels = 0) {
    return decode_image(read_bytes(path), path, channels);
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
