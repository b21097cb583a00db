// The code of stb, with its settings: no file is opened, and where it breaks off, a program refuses.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

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

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include "words.h"

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

#if __has_include(<stb/stb_image.h>)
#include <stb/stb_image.h>
#include <stb/stb_image_write.h>
#else
#include "stb_image.h"
#include "stb_image_write.h"
#endif

namespace lab {

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

}  // namespace lab
