// Reads an array as one of the four types, prints its shape and writes it again.
#include "../../common/array_file.h"

template <class T>
void copy(const std::string& input, int dimensions, const std::string& output) {
    const lab::Array<T> array = lab::read_array<T>(input, dimensions);
    std::printf("%s %lld\n", lab::array_shape_text(array.shape).c_str(), (long long)array.count());
    if (!output.empty()) lab::write_array(output, array.values.data(), array.shape);
}

int main(int argc, char** argv) {
    lab::Arguments arguments(argc, argv, "copies an array");
    // not arguments.input() and output(), which would find most faults before the functions do
    const std::string input = arguments.text("input", "", "the array to read");
    const std::string output = arguments.text("output", "", "where to write it");
    const std::string type = arguments.text("type", "float32", "of its values");
    const int dimensions = int(arguments.integer("dimensions", -1, -1, 9, "that it must have"));
    arguments.finish();
    if (type == "float32") copy<float>(input, dimensions, output);
    if (type == "float64") copy<double>(input, dimensions, output);
    if (type == "int32") copy<int32_t>(input, dimensions, output);
    if (type == "uint8") copy<uint8_t>(input, dimensions, output);
    return 0;
}
