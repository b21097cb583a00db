// Arrays in and out, in NumPy's .npy format: float, double, int32_t and uint8_t of any shape,
// little-endian, in C order (row-major). Anything else is refused with the command that repairs it.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include "lab.h"
#include "lab/array_header.h"

namespace lab {

template <class T>
struct Array {
    std::vector<int64_t> shape;  // empty for a single value
    std::vector<T> values;       // row-major

    // How many values the shape holds.
    int64_t count() const {
        int64_t product = 1;
        for (int64_t side : shape) product *= side;
        return product;
    }
};

// ---------------------------------------------------------------------------------------------
// Reading
// ---------------------------------------------------------------------------------------------

// What keeps the header from being that of such an array in a file of `size` bytes, and what to do
// about it; or "". `name` is the file's name in quotation marks.
inline std::string array_problem(const ArrayHeader& header, int64_t size, ArrayType type,
                                 int dimensions, const std::string& name) {
    std::string shape = array_shape_text(header.shape);
    if (shape.size() > 80) shape = shape.substr(0, 77) + "...";
    const bool objects = header.type == "|O";
    const std::string load = format("numpy.save(%s, numpy.load(%s%s)", name.c_str(), name.c_str(),
                                    objects ? ", allow_pickle=True" : "");
    if (header.type != type.code) {
        return format(
            "it holds %s, and %s is expected; in Python: %s.astype(numpy.%s, order=\"C\"))",
            array_type_words(header.type).c_str(), type.name, load.c_str(), type.name);
    }
    if (header.fortran_order && header.shape.size() > 1) {
        return format(
            "it is in Fortran order (by columns), and C order (by rows) is expected; "
            "in Python: %s.copy(order=\"C\"))",
            load.c_str());
    }
    if (dimensions >= 0 && int64_t(header.shape.size()) != dimensions) {
        return format("its shape is %s, and %d dimension%s expected; in Python: %s.reshape(...))",
                      shape.c_str(), dimensions, dimensions == 1 ? " is" : "s are", load.c_str());
    }
    int64_t bytes = 0;
    if (header.shape.size() > 64 || !array_bytes(header.shape, type.bytes, bytes)) {
        return "its shape " + shape + " is more than any file holds";
    }
    const int64_t values = size - int64_t(header.values_start);
    if (values == bytes) return "";
    return format(
        "its shape %s of %s takes %lld bytes, and %lld follow the header; it is %s", shape.c_str(),
        type.name, (long long)bytes, (long long)values,
        values < bytes ? "cut short: save or copy it again" : "longer than that: save it again");
}

// The path with .npy in the place of another ending, as numpy.save would have it.
inline std::string as_npy(const std::string& path) {
    const size_t name = path.rfind('/') + 1, dot = path.rfind('.');
    return (dot == std::string::npos || dot <= name ? path : path.substr(0, dot)) + ".npy";
}

// Opens the file, judges its header, and returns the file with the values next to be read.
inline std::FILE* open_array(const std::string& path, ArrayType type, int dimensions,
                             std::vector<int64_t>& shape) {
    const std::string name = quoted(path);
    std::string problem = reading_problem(path);
    struct stat status = {};
    std::FILE* const file = problem.empty() ? std::fopen(path.c_str(), "rb") : nullptr;
    if (problem.empty() && (!file || fstat(fileno(file), &status) != 0)) {
        problem = std::strerror(errno);
    }
    if (!problem.empty()) refuse("cannot read %s: %s", name.c_str(), problem.c_str());
    std::vector<unsigned char> start(std::min<size_t>(status.st_size, longest_array_header));
    start.resize(std::fread(start.data(), 1, start.size(), file));
    problem = foreign_file(std::string(start.begin(), start.end()));
    if (!problem.empty()) refuse("cannot read %s: %s", name.c_str(), problem.c_str());
    ArrayHeader header;
    problem = parse_array_header(start.data(), start.size(), header);
    if (!problem.empty()) {
        refuse("cannot read %s: %s; write it from Python by numpy.save(%s, array.astype(numpy.%s))",
               name.c_str(), problem.c_str(), quoted(as_npy(path)).c_str(), type.name);
    }
    problem = array_problem(header, status.st_size, type, dimensions, name);
    if (!problem.empty()) refuse("cannot read %s: %s", name.c_str(), problem.c_str());
    require_host_memory(status.st_size, name.c_str());
    if (std::fseek(file, long(header.values_start), SEEK_SET) != 0) {
        refuse("cannot read %s: %s", name.c_str(), std::strerror(errno));
    }
    shape = header.shape;
    return file;
}

// Reads a whole array. `dimensions` is how many its shape must have, -1 for any. Whatever is wrong
// with the file is refused (exit status 2) with its name, what was found and what was expected.
template <class T>
Array<T> read_array(const std::string& path, int dimensions = -1) {
    Array<T> array;
    std::FILE* const file = open_array(path, array_type<T>(), dimensions, array.shape);
    const size_t count = size_t(array.count());
    array.values.resize(count);
    if (count > 0 && std::fread(array.values.data(), sizeof(T), count, file) != count) {
        refuse("cannot read %s: its values cannot be read in full", quoted(path).c_str());
    }
    std::fclose(file);
    return array;
}

// Refuses (exit status 2) an array, as read from `path`, that holds a NaN or an infinity: these would
// spread over results, and none could be judged. Says where it is.
template <class T>
void require_finite(const Array<T>& array, const std::string& path) {
    const int64_t width = array.shape.size() > 1 ? array.shape[1] : 1;
    for (int64_t i = 0; i < array.count(); i++) {
        if (std::isfinite(array.values[i])) continue;
        refuse(
            "%s: the element in row %lld, column %lld (counted from 0) is %s; all must be finite",
            quoted(path).c_str(), (long long)(i / width), (long long)(i % width),
            std::isnan(array.values[i]) ? "NaN" : "infinite");
    }
}

// ---------------------------------------------------------------------------------------------
// Writing
// ---------------------------------------------------------------------------------------------

inline void write_array_file(const std::string& path, ArrayType type, const void* values,
                             const std::vector<int64_t>& shape) {
    const std::string name = quoted(path);
    const std::string refusal = writing_problem(path);  // renaming would replace a device file
    if (!refusal.empty()) fail("cannot write %s: %s", name.c_str(), refusal.c_str());
    int64_t bytes = 0;
    if (!array_bytes(shape, type.bytes, bytes)) {
        fail("cannot write %s: no file holds the shape %s", name.c_str(),
             array_shape_text(shape).c_str());
    }
    const std::string header = make_array_header(type.code, shape);
    const int problem = write_file(path, {{header.data(), header.size()}, {values, size_t(bytes)}});
    if (problem != 0) fail("cannot write %s: %s", name.c_str(), std::strerror(problem));
}

// Writes the values, row-major, with their shape. The file appears under its name only when it is
// complete; on any failure (exit status 1) nothing is left behind.
template <class T>
void write_array(const std::string& path, const T* values, const std::vector<int64_t>& shape) {
    write_array_file(path, array_type<T>(), values, shape);
}

}  // namespace lab
