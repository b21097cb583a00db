// Where a lab's picture comes from: a file, or random bytes. A page of image.h, which includes it.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

namespace lab {

// Random bytes for pixels, the same on every machine.
inline Image random_image(int64_t height, int64_t width, int channels, uint64_t seed) {
    Image image = {height, width, channels, {}};
    image.pixels.resize(size_t(image.count()));
    const uint64_t start = mixed_bits(seed + 1);
    in_parts(divide_up(image.count(), 8), [&](int64_t, int64_t begin, int64_t end) {
        for (int64_t i = 8 * begin; i < 8 * end; i += 8) {
            const uint64_t bits = mixed_bits(start + uint64_t(i));
            std::memcpy(&image.pixels[size_t(i)], &bits,
                        size_t(std::min<int64_t>(8, image.count() - i)));
        }
    });
    return image;
}

// Declares --input, --height, --width and --seed: a file, or random pixels of that size, `side` x
// `side` unless the command line says otherwise.
class PictureInput {
 public:
    PictureInput(Arguments& arguments, int64_t side, int64_t longest_side) {
        path_ = arguments.input("input", "a picture: PNG, JPEG, BMP, PPM, ...");
        height_ = arguments.integer("height", side, 0, longest_side, "rows of random pixels");
        width_ = arguments.integer("width", side, 0, longest_side, "columns of random pixels");
        seed_ = arguments.integer("seed", 1, 0, INT64_MAX, "of the random pixels");
        arguments.excludes("input", {"height", "width", "seed"}, "random pixels");
    }

    // Random pixels have `channels`; those of a file are made `file_channels`, or stay as they are
    // with 0. `before_pixels` is called when the size is known, and may ask for memory.
    Image read(int channels, int file_channels, const BeforePixels& before_pixels) const {
        if (!path_.empty()) return read_image(path_, file_channels, before_pixels);
        before_pixels(height_, width_, channels);
        return random_image(height_, width_, channels, uint64_t(seed_));
    }

 private:
    std::string path_;
    int64_t height_, width_, seed_;
};

}  // namespace lab
