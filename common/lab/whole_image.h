// Whether a file is a whole picture: stb believes what a header says, takes the place of what is
// missing for zeros, and looks at no check sum.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <errno.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>

#include "gif.h"
#include "image_bytes.h"
#include "jpeg.h"
#include "memory.h"
#include "png.h"
#include "pnm.h"
#include "stb.h"
#include "words.h"

namespace lab {

// A remark about the file that is being read; the program goes on.
inline void note_image(const char* remark) {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: note: %s: %s\n", program_invocation_short_name, image_name().c_str(),
                 remark);
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

}  // namespace lab
