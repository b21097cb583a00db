// Inputs: signals and matrices from .npy files, pictures, and random ones; and outputs of their kind.
// The page that includes this has Sizes.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../../../common/array_file.h"
#include "../../../common/image.h"
#include "../../../common/lab.h"

constexpr int64_t longest_side = 2147483647;  // rows or columns

// Float or 8-bit inputs: plane after plane, each (height, width), row-major.
template <class T>
struct Input {
    int64_t planes, height, width;
    bool signal;
    std::vector<T> values;
};

inline void write_output(const std::string& path, const Input<float>& input,
                         const std::vector<float>& values, const Sizes& s) {
    if (input.signal) {
        lab::write_array(path, values.data(), {s.out_width});
    } else {
        lab::write_array(path, values.data(), {s.out_height, s.out_width});
    }
}

inline void write_output(const std::string& path, const Input<uint8_t>& input,
                         const std::vector<uint8_t>& values, const Sizes& s) {
    const int64_t count = s.out_height * s.out_width;
    std::vector<uint8_t> pixels(values.size());  // the channels side by side, as in the file
    for (int64_t i = 0; i < count; i++) {
        for (int64_t p = 0; p < input.planes; p++)
            pixels[i * input.planes + p] = values[p * count + i];
    }
    lab::write_image(path, pixels.data(), s.out_height, s.out_width, int(input.planes));
}

inline bool ends_in_npy(const std::string& path) {
    return path.size() >= 4 && path.substr(path.size() - 4) == ".npy";
}

inline Input<float> read_array_input(const std::string& path) {
    lab::Array<float> array = lab::read_array<float>(path);
    if (array.shape.size() != 1 && array.shape.size() != 2) {
        lab::refuse("--input: %s has the shape %s: a signal has one dimension, a matrix two",
                    lab::quoted(path).c_str(), lab::array_shape_text(array.shape).c_str());
    }
    const bool signal = array.shape.size() == 1;
    if (signal) array.shape.insert(array.shape.begin(), 1);
    if (std::max(array.shape[0], array.shape[1]) > longest_side) {
        lab::refuse("--input: %s has more than 2147483647 rows or columns",
                    lab::quoted(path).c_str());
    }
    return {1, array.shape[0], array.shape[1], signal, array.values};
}

// Input, output, reference and sums of this size; 2^52 elements are more than any machine has. A
// picture is there twice: its channels side by side, and in planes.
inline void require_memory_for(const Sizes& s, int64_t planes, bool picture) {
    const auto elements = [](int64_t rows, int64_t columns) {
        return std::min(rows * columns, int64_t{1} << 52);
    };
    const int64_t count = planes * elements(s.height, s.width), bytes = picture ? 1 : 4;
    const int64_t out_count = planes * elements(s.out_height, s.out_width);
    const int64_t between = elements(s.height, s.out_width) * int64_t(sizeof(float));
    lab::require_memory((picture ? 2 : 4) * count + out_count * (bytes + int64_t(sizeof(double))),
                        (count + out_count) * bytes + between, "input and output of this size");
}

// A picture's channels, each in a plane of its own. Alpha is no colour, and is dropped.
inline Input<uint8_t> planes_of(const lab::Image& image) {
    Input<uint8_t> input = {image.channels, image.height, image.width, false, {}};
    const int64_t count = image.height * image.width;
    input.values.resize(size_t(count * image.channels));
    for (int64_t i = 0; i < count; i++) {
        for (int p = 0; p < image.channels; p++) {
            input.values[p * count + i] = image.pixels[i * image.channels + p];
        }
    }
    return input;
}

inline Input<uint8_t> read_picture(const std::string& path, int channels,
                                   const lab::BeforePixels& require_memory) {
    lab::Image image = lab::read_image(path, channels, require_memory);
    if (image.channels % 2 == 0) image = lab::read_image(path, image.channels - 1);
    return planes_of(image);
}

constexpr int64_t default_side = lab::on_cpu ? 384 : 8192;

struct InputRequest {
    std::string path;
    int64_t height, width;
    bool picture;
    int channels;
    int64_t seed;
};

inline InputRequest parse_input(lab::Arguments& arguments) {
    InputRequest request;
    request.path = arguments.input("input", "a signal or matrix, float32 .npy, or a picture");
    request.height =
        arguments.integer("height", default_side, 0, longest_side, "rows of random input");
    request.width =
        arguments.integer("width", default_side, 0, longest_side, "columns of random input");
    const std::string type = arguments.choice("type", {"float32", "uint8"}, "float32",
                                              "of random input: a matrix or a picture");
    const std::string channels = arguments.choice(
        "channels", {"1", "3"}, "", "of a picture; those of the file, or 1, when it is not given");
    request.channels = channels.empty() ? 0 : std::stoi(channels);
    request.seed = arguments.integer("seed", 1, 0, INT64_MAX, "of random input");
    request.picture = request.path.empty() ? type == "uint8" : !ends_in_npy(request.path);
    arguments.excludes("input", {"height", "width", "type", "seed"}, "random input");
    if (request.channels && !request.picture) lab::refuse("--channels is for pictures");
    return request;
}
