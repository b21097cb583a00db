// Arrays in and out, in NumPy's .npy format: float, double, int32_t and uint8_t of any shape,
// little-endian, in C order (row-major). Anything else is refused with the command that repairs it.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include "lab.h"

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
// Names
// ---------------------------------------------------------------------------------------------

// NumPy's name of a type, how a file's header spells it (byte order, kind, bytes), and its bytes.
struct ArrayType {
    const char* name;
    const char* code;
    int64_t bytes;
};

template <class T>
constexpr ArrayType array_type();
template <>
constexpr ArrayType array_type<float>() {
    return {"float32", "<f4", 4};
}
template <>
constexpr ArrayType array_type<double>() {
    return {"float64", "<f8", 8};
}
template <>
constexpr ArrayType array_type<int32_t>() {
    return {"int32", "<i4", 4};
}
template <>
constexpr ArrayType array_type<uint8_t>() {
    return {"uint8", "|u1", 1};
}

// What a code means, in words: "big-endian float32", "bool", "text", or the code itself.
inline std::string array_type_words(const std::string& code) {
    const std::string unknown = quoted(code.substr(0, 20));
    int64_t bytes = 0;
    if (code == "|O") return "Python objects";
    if (code.size() < 3 || !parse_integer(code.substr(2), bytes)) return unknown;
    if (bytes < 0 || bytes > 32) return unknown;
    const std::string order = code[0] == '>' && bytes > 1 ? "big-endian " : "";
    const std::string bits = std::to_string(8 * bytes);
    switch (code[1]) {
        case 'f':
            return order + "float" + bits;
        case 'i':
            return order + "int" + bits;
        case 'u':
            return order + "uint" + bits;
        case 'c':
            return order + "complex" + bits;
        case 'b':
            return "bool";
        case 'U':
        case 'S':
            return "text";
        default:
            return unknown;
    }
}

// A shape as Python writes it: "()", "(3,)", "(2, 3)".
inline std::string array_shape_text(const std::vector<int64_t>& shape) {
    std::vector<std::string> sides;
    for (int64_t side : shape) sides.push_back(std::to_string(side));
    return "(" + joined(sides, ", ") + (shape.size() == 1 ? ",)" : ")");
}

// The bytes that a shape of values takes. False when the shape is no shape, or they are more than
// 64 bits count (a side of 0 does not hide that).
inline bool array_bytes(const std::vector<int64_t>& shape, int64_t value_bytes, int64_t& bytes) {
    bool empty = false;
    bytes = value_bytes;
    for (int64_t side : shape) {
        if (side < 0) return false;
        empty = empty || side == 0;
        if (side > 0 && __builtin_mul_overflow(bytes, side, &bytes)) return false;
    }
    if (empty) bytes = 0;
    return true;
}

// ---------------------------------------------------------------------------------------------
// The header: "\x93NUMPY", version, length, and a Python dictionary
// ---------------------------------------------------------------------------------------------

struct ArrayHeader {
    std::string type;  // such as "<f4"
    bool fortran_order = false;
    std::vector<int64_t> shape;
    size_t values_start = 0;  // where in the file the values begin
};

// Reads the dictionary, {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }, with its
// keys in any order. Each take_ function moves on and returns true, or returns false.
class ArrayHeaderReader {
 public:
    ArrayHeaderReader(const char* text, size_t size) : at_(text), end_(text + size) {}

    // What is wrong with the dictionary, or "".
    std::string read(ArrayHeader& header) {
        bool type = false, order = false, shape = false;
        if (!take('{')) return "its header is no dictionary";
        while (!take('}')) {
            std::string key;
            if (!take_string(key) || !take(':')) return "its header is no dictionary";
            if (key == "descr" && !type) {
                type = take_type(header.type);
                if (!type) return "it holds records, not plain numbers";
            } else if (key == "fortran_order" && !order) {
                order = take_bool(header.fortran_order);
                if (!order) return "its header's fortran_order is neither True nor False";
            } else if (key == "shape" && !shape) {
                shape = take_shape(header.shape);
                if (!shape) return "its header's shape is no tuple of sizes";
            } else {
                return "its header has a key that does not belong there, " +
                       quoted(key.substr(0, 20));
            }
            if (!take(',') && !next_is('}')) return "its header is no dictionary";
        }
        skip_space();
        if (at_ != end_) return "its header has more than a dictionary";
        if (!type || !order || !shape) return "its header lacks descr, fortran_order or shape";
        return "";
    }

 private:
    void skip_space() {
        while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
    }

    bool next_is(char wanted) {
        skip_space();
        return at_ < end_ && *at_ == wanted;
    }

    bool take(char wanted) {
        if (!next_is(wanted)) return false;
        ++at_;
        return true;
    }

    bool take_string(std::string& value) {
        if (next_is('u')) ++at_;  // Python 2 wrote u'descr' for 'descr'
        const char quote = next_is('"') ? '"' : '\'';
        if (!take(quote)) return false;
        const char* const close = std::find(at_, end_, quote);
        if (close == end_) return false;
        value.assign(at_, close);
        at_ = close + 1;
        return true;
    }

    // One spelling for the several that NumPy reads: "=f4", "|f4", "f4", "f", "single" and "float32"
    // are in this machine's order, "<f4"; single bytes have none, "|u1".
    bool take_type(std::string& code) {
        constexpr const char* spellings[][4] = {{"f4", "f", "single", "float32"},
                                                {"f8", "d", "double", "float64"},
                                                {"i4", "i", "intc", "int32"},
                                                {"u1", "B", "ubyte", "uint8"}};
        if (!take_string(code)) return false;
        const bool has_order = !code.empty() && std::strchr("<>=|", code[0]);
        std::string kind = code.substr(has_order ? 1 : 0);
        for (const auto& [short_name, letter, word, name] : spellings) {
            if (kind == letter || code == word || code == name) kind = short_name;
        }
        if (kind.size() < 2 || !std::strchr("fiuc", kind[0])) return true;
        const bool big = has_order && code[0] == '>';
        code = (kind.substr(1) == "1" ? '|' : big ? '>' : '<') + kind;
        return true;
    }

    bool take_word(const char* word) {
        const size_t length = std::strlen(word);
        skip_space();
        if (size_t(end_ - at_) < length || std::memcmp(at_, word, length) != 0) return false;
        at_ += length;
        return true;
    }

    bool take_bool(bool& value) {
        value = take_word("True");
        return value || take_word("False");
    }

    // Python 2 wrote 3L for 3.
    bool take_size(int64_t& value) {
        skip_space();
        const char* const digits = at_;
        while (at_ < end_ && *at_ >= '0' && *at_ <= '9') ++at_;
        if (at_ == digits || !parse_integer(std::string(digits, at_), value)) return false;
        if (at_ < end_ && *at_ == 'L') ++at_;
        return true;
    }

    // (), (3,), (2, 3), (2, 3, )
    bool take_shape(std::vector<int64_t>& shape) {
        bool comma = true;
        shape.clear();
        if (!take('(')) return false;
        while (!take(')')) {
            int64_t side = 0;
            if (!comma || !take_size(side)) return false;
            shape.push_back(side);
            comma = take(',');
            if (next_is(')') && shape.size() == 1 && !comma) return false;
        }
        return true;
    }

    const char* at_;
    const char* end_;
};

// The longest header that is read; NumPy itself stops at 10000 bytes.
constexpr size_t longest_array_header = 65536;

// Reads the header from a file's first bytes (all of them, or at least longest_array_header).
// Returns what is wrong with it, or "". A pure function: it touches nothing but its arguments.
inline std::string parse_array_header(const unsigned char* bytes, size_t size,
                                      ArrayHeader& header) {
    const size_t fixed = 8;  // the magic word and the version
    if (size == 0) return "it is empty";
    if (std::memcmp(bytes, "\x93NUMPY", std::min<size_t>(size, 6)) != 0)
        return "it is no .npy file";
    if (size < fixed) return "it ends inside its header";
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
        return format("its format version is %d.%d, not 1.0, 2.0 or 3.0", bytes[6], bytes[7]);
    }
    const size_t length_bytes = bytes[6] == 1 ? 2 : 4;
    if (size < fixed + length_bytes) return "it ends inside its header";
    size_t length = 0;
    for (size_t i = length_bytes; i-- > 0;) length = 256 * length + bytes[fixed + i];
    header.values_start = fixed + length_bytes + length;
    if (header.values_start > longest_array_header) {
        return format("its header claims %zu bytes, more than any array needs", length);
    }
    if (header.values_start > size) return "it ends inside its header";
    const char* text = reinterpret_cast<const char*>(bytes) + fixed + length_bytes;
    return ArrayHeaderReader(text, length).read(header);
}

// The header of a file that holds such an array, padded as NumPy does: the values begin at a
// multiple of 64 bytes.
inline std::string make_array_header(const std::string& type, const std::vector<int64_t>& shape) {
    std::string text = "{'descr': '" + type +
                       "', 'fortran_order': False, 'shape': " + array_shape_text(shape) + ", }";
    const size_t fixed = 10;  // the magic word, the version and two bytes of length
    text.append(63 - (fixed + text.size()) % 64, ' ');
    text += '\n';
    std::string header("\x93NUMPY\x01\x00", 8);
    header += char(text.size() % 256);
    header += char(text.size() / 256);
    return header + text;
}

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
