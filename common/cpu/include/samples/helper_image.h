// Images in the forms PGM and PPM, and comparisons of arrays, under the names of NVIDIA's samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "helper_string.h"

namespace cuda_cpu {

// A binary image of `channels` bytes a pixel; false with a sentence if the file is none.
inline bool read_image(const char* name, unsigned int channels, std::vector<unsigned char>& bytes,
                       unsigned int* width, unsigned int* height) {
    std::ifstream file(name, std::ios::binary);
    const auto word = [&] {
        std::string text;
        while (file >> text && text[0] == '#') std::getline(file, text);
        return text;
    };
    const std::string kind = word();
    const unsigned int w = static_cast<unsigned int>(std::atoi(word().c_str()));
    const unsigned int h = static_cast<unsigned int>(std::atoi(word().c_str()));
    const bool known = kind == (channels == 1 ? "P5" : "P6") && word() == "255";
    file.get();
    bytes.resize(static_cast<size_t>(w) * h * channels);
    const bool read = known && file.read(reinterpret_cast<char*>(bytes.data()),
                                         static_cast<std::streamsize>(bytes.size()));
    if (!read) {
        std::fprintf(stderr, "%s is no binary %s image of 8 bits\n", name,
                     channels == 1 ? "PGM" : "PPM");
        return false;
    }
    *width = w, *height = h;
    return true;
}
inline bool write_image(const char* name, unsigned int channels, const unsigned char* bytes,
                        unsigned int width, unsigned int height) {
    std::ofstream file(name, std::ios::binary);
    file << (channels == 1 ? "P5" : "P6") << "\n" << width << " " << height << "\n255\n";
    file.write(reinterpret_cast<const char*>(bytes),
               static_cast<std::streamsize>(static_cast<size_t>(width) * height * channels));
    if (!file) std::fprintf(stderr, "%s could not be written\n", name);
    return static_cast<bool>(file);
}
// A pixel's byte as a number of the program, 0 to 1 as a float.
template <class T>
T from_byte(unsigned char byte) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<T>(byte) / 255;
    return static_cast<T>(byte);
}
template <class T>
unsigned char to_byte(T value) {
    if constexpr (std::is_floating_point_v<T>) return static_cast<unsigned char>(value * 255);
    return static_cast<unsigned char>(value);
}
// The program's memory, or new memory of malloc.
template <class T>
T* room_for(T** data, size_t count) {
    if (*data == nullptr) *data = static_cast<T*>(std::malloc(count * sizeof(T)));
    return *data;
}

}  // namespace cuda_cpu

template <class T>
bool sdkLoadPGM(const char* name, T** data, unsigned int* width, unsigned int* height) {
    std::vector<unsigned char> bytes;
    if (!cuda_cpu::read_image(name, 1, bytes, width, height)) return false;
    std::transform(bytes.begin(), bytes.end(), cuda_cpu::room_for(data, bytes.size()),
                   cuda_cpu::from_byte<T>);
    return true;
}
template <class T>
bool sdkSavePGM(const char* name, T* data, unsigned int width, unsigned int height) {
    std::vector<unsigned char> bytes(static_cast<size_t>(width) * height);
    std::transform(data, data + bytes.size(), bytes.begin(), cuda_cpu::to_byte<T>);
    return cuda_cpu::write_image(name, 1, bytes.data(), width, height);
}
inline bool sdkLoadPPMub(const char* name, unsigned char** data, unsigned int* width,
                         unsigned int* height) {
    std::vector<unsigned char> bytes;
    if (!cuda_cpu::read_image(name, 3, bytes, width, height)) return false;
    std::copy(bytes.begin(), bytes.end(), cuda_cpu::room_for(data, bytes.size()));
    return true;
}
inline bool sdkSavePPMub(const char* name, unsigned char* data, unsigned int width,
                         unsigned int height) {
    return cuda_cpu::write_image(name, 3, data, width, height);
}
// Four bytes a pixel in memory, three in the file.
inline bool sdkLoadPPM4ub(const char* name, unsigned char** data, unsigned int* width,
                          unsigned int* height) {
    std::vector<unsigned char> bytes;
    if (!cuda_cpu::read_image(name, 3, bytes, width, height)) return false;
    const size_t pixels = bytes.size() / 3;
    unsigned char* const to = cuda_cpu::room_for(data, 4 * pixels);
    for (size_t i = 0; i < 4 * pixels; ++i) to[i] = i % 4 == 3 ? 0 : bytes[i / 4 * 3 + i % 4];
    return true;
}
inline bool sdkSavePPM4ub(const char* name, unsigned char* data, unsigned int width,
                          unsigned int height) {
    std::vector<unsigned char> bytes(static_cast<size_t>(width) * height * 3);
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = data[i / 3 * 4 + i % 3];
    return cuda_cpu::write_image(name, 3, bytes.data(), width, height);
}

// Numbers as text, and files as bytes.
template <class T>
bool sdkReadFile(const char* name, T** data, unsigned int* count, bool = false) {
    std::ifstream file(name);
    const std::vector<T> values{std::istream_iterator<T>(file), std::istream_iterator<T>()};
    if (values.empty()) return false;
    std::copy(values.begin(), values.end(), cuda_cpu::room_for(data, values.size()));
    *count = static_cast<unsigned int>(values.size());
    return true;
}
template <class T, class Margin>
bool sdkWriteFile(const char* name, const T* data, unsigned int count, Margin, bool = false,
                  bool append = false) {
    std::ofstream file(name, append ? std::ios::app : std::ios::trunc);
    for (unsigned int i = 0; i < count; ++i) file << data[i] << " ";
    return static_cast<bool>(file);
}
inline void sdkDumpBin(void* data, unsigned int bytes, const char* name) {
    std::ofstream(name, std::ios::binary).write(static_cast<const char*>(data), bytes);
}

// Whether two arrays differ by no more than a margin, in all but a share of the elements.
template <class T, class Margin>
bool compareData(const T* reference, const T* data, unsigned int count, Margin margin,
                 float share) {
    unsigned int apart = 0;
    for (unsigned int i = 0; i < count; ++i) {
        const double difference =
            std::abs(static_cast<double>(reference[i]) - static_cast<double>(data[i]));
        apart += !(difference <= static_cast<double>(margin));
    }
    return static_cast<double>(apart) <= static_cast<double>(share) * count;
}
template <class T>
bool compareData(const T* reference, const T* data, unsigned int count) {
    return compareData(reference, data, count, 0, 0.0f);
}
// By the length of the difference of two vectors, as a part of the reference's.
inline bool sdkCompareL2fe(const float* reference, const float* data, unsigned int count,
                           float margin) {
    double error = 0, length = 0;
    for (unsigned int i = 0; i < count; ++i) {
        const double difference = static_cast<double>(reference[i]) - data[i];
        error += difference * difference;
        length += static_cast<double>(reference[i]) * reference[i];
    }
    return length > 0 && std::sqrt(error / length) < margin;
}
inline bool compareL2fe(const float* reference, const float* data, unsigned int count,
                        float margin) {
    return sdkCompareL2fe(reference, data, count, margin);
}
namespace cuda_cpu {
inline bool same_images(const char* first, const char* second, unsigned int channels, float margin,
                        float share) {
    std::vector<unsigned char> a, b;
    unsigned int width[2], height[2];
    if (!read_image(first, channels, a, &width[0], &height[0]) ||
        !read_image(second, channels, b, &width[1], &height[1]))
        return false;
    return width[0] == width[1] && height[0] == height[1] &&
           compareData(a.data(), b.data(), static_cast<unsigned int>(a.size()), margin, share);
}
}  // namespace cuda_cpu
inline bool sdkComparePGM(const char* data, const char* reference, float margin, float share,
                          bool = false) {
    return cuda_cpu::same_images(data, reference, 1, margin, share);
}
inline bool sdkComparePPM(const char* data, const char* reference, float margin, float share,
                          bool = false) {
    return cuda_cpu::same_images(data, reference, 3, margin, share);
}
