// Pictures in and out, by the stb headers (Debian's libstb-dev): 8 bits a channel, row by row, the
// channels of a pixel side by side. What a file is goes by its content when it is read, and by the
// end of its name when it is written. Of an animation the first picture is read; what a camera says
// about its orientation is ignored.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <functional>

#include "lab.h"
#include "lab/jpeg.h"  // whether a JPEG file is whole, down to its last bit

// From here on at -Og: at -O3 this takes ten seconds more to compile, and no lab measures it.
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diagnostic push
#pragma nv_diag_suppress 1675  // nvcc hands that pragma on, and says that it does not know it
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC push_options
#pragma GCC optimize("Og")
#endif
#ifdef __NVCC_DIAG_PRAGMA_SUPPORT__
#pragma nv_diagnostic pop
#endif

#include "lab/image_formats.h"  // of which format a file is
#include "lab/stb.h"            // the code of stb, with its settings
#include "lab/whole_image.h"    // whether it is a whole picture: PNG, GIF and PNM, each a page

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
// Reading
// ---------------------------------------------------------------------------------------------

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

#include "lab/picture_input.h"  // --input, or random pixels
