// The header of a .npy file, NumPy's format for arrays: "\x93NUMPY", version, length, and a Python
// dictionary.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "words.h"

namespace lab {

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

}  // namespace lab
