// Fuzzes the reader of .npy files (README.md says how): any bytes are an array, or are refused.
#include "../../common/array_file.h"

template <class T>
static void read(const std::string& path, int dimensions) {
    try {
        const lab::Array<T> array = lab::read_array<T>(path, dimensions);
        if (array.count() != int64_t(array.values.size())) std::abort();
        const std::string header = lab::make_array_header(lab::array_type<T>().code, array.shape);
        lab::ArrayHeader again;  // what is written is what was read
        const auto* const bytes = reinterpret_cast<const unsigned char*>(header.data());
        if (!lab::parse_array_header(bytes, header.size(), again).empty()) std::abort();
        if (again.shape != array.shape || header.size() % 64 != 0) std::abort();
    } catch (const Stopped& stopped) {
        if (stopped.status != 2) std::abort();
    }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const std::string path = lab::format("/dev/shm/fuzzed-%d.npy", int(getpid()));
    if (size < 1) return 0;
    std::FILE* const file = std::fopen(path.c_str(), "wb");  // the first byte is not of the file
    if (!file || std::fwrite(data + 1, 1, size - 1, file) != size - 1) std::abort();
    if (std::fclose(file) != 0) std::abort();
    const int dimensions = data[0] % 8 - 1;
    switch (data[0] / 8 % 4) {
        case 0:
            read<float>(path, dimensions);
            break;
        case 1:
            read<double>(path, dimensions);
            break;
        case 2:
            read<int32_t>(path, dimensions);
            break;
        default:
            read<uint8_t>(path, dimensions);
    }
    return 0;
}
