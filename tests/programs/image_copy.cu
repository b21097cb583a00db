// Reads a picture, or makes a random one, and writes it.
#include "../../common/image.h"

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "Copies a picture.");
    const std::string input = arguments.input("input", "the picture to read");
    const std::string output = lab::image_output(arguments, "output", "the picture to write");
    const int channels = int(arguments.integer("channels", 0, 0, 9, "how many are wanted"));
    const int64_t height = arguments.integer("height", 3, 0, 100000, "of a random picture");
    const int64_t width = arguments.integer("width", 5, 0, 100000, "of a random picture");
    arguments.finish();
    const lab::Image image = input.empty() ? lab::random_image(height, width, channels, 7)
                                           : lab::read_image(input, channels);
    std::printf("%lld x %lld, %d\n", (long long)image.height, (long long)image.width,
                image.channels);
    if (output.empty()) return 0;
    lab::write_image(output, image.pixels.data(), image.height, image.width, image.channels);
}
