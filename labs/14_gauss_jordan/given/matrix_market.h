// Matrix Market's files (.mtx): a heading, comments, a line of sizes, then the values, column after column
// (array) or each with its row and column, counted from 1 (coordinate).
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "../../../common/lab.h"

constexpr int64_t largest_n = int64_t{1} << 20;
constexpr const char* byte_order_mark = "\xEF\xBB\xBF";  // in UTF-8, where it says nothing

// How a file begins, without the byte order mark that UTF-8 may have.
inline std::string beginning(const std::string& path) {
    std::string start(4096, '\0');
    std::FILE* const file = std::fopen(path.c_str(), "rb");
    start.resize(file ? std::fread(&start[0], 1, start.size(), file) : 0);
    if (file) std::fclose(file);
    return start.compare(0, 3, byte_order_mark) == 0 ? start.substr(3) : start;
}

// Whether the file begins as one of the Harwell-Boeing collection: in line 3 three letters (RUA, say), rows
// and columns.
inline bool is_harwell_boeing(const std::string& start) {
    const size_t second = start.find('\n') + 1, third = start.find('\n', second) + 1;
    char type[4] = "";
    long rows = 0, columns = 0;
    return second > 0 && third > 0 &&
           std::sscanf(start.c_str() + third, "%3s %ld %ld", type, &rows, &columns) == 3 &&
           std::strlen(type) == 3 && std::strchr("RCPIQrcpiq", type[0]) &&
           std::strchr("SUHZRsuhzr", type[1]) && std::strchr("AEae", type[2]);
}

class MatrixMarketFile {
 public:
    explicit MatrixMarketFile(const std::string& path) : path_(path), file_(path) {
        if (!file_) {
            lab::refuse("cannot read %s: %s", lab::quoted(path).c_str(), std::strerror(errno));
        }
        read_heading();
        read_sizes();
    }

    int64_t height() const { return height_; }
    int64_t width() const { return width_; }

    // The whole matrix, row-major; what a coordinate file does not name is 0.
    template <class T>
    std::vector<T> read() {
        std::vector<T> values(size_t(height_ * width_));
        if (is_array_) {
            for (int64_t j = 0; j < width_; j++) {
                for (int64_t i = symmetry_ == general ? 0 : j + (symmetry_ == skew); i < height_;
                     i++) {
                    store(values, i, j, number<T>(next_words(1)[0]));
                }
            }
        } else {
            read_entries(values);
        }
        while (next_line()) {
            if (!words_.empty()) refuse_line("there are more values than the sizes say");
        }
        return values;
    }

 private:
    enum Symmetry { general, symmetric, skew };

    [[noreturn]] void refuse_line(const std::string& problem) const {
        lab::refuse("cannot read %s: line %lld: %s", lab::quoted(path_).c_str(), (long long)line_,
                    problem.c_str());
    }

    // The words of the next line, without comments. False at the end of the file.
    bool next_line() {
        std::string text;
        if (!std::getline(file_, text)) return false;
        line_++;
        words_.clear();
        if (line_ == 1 && text.compare(0, 3, byte_order_mark) == 0) text.erase(0, 3);
        if (line_ > 1 && text[0] == '%') return true;
        if (text.size() > longest_line) {  // part of a number would be another number
            refuse_line(lab::format("it is longer than %zu letters", longest_line));
        }
        std::istringstream stream(text);
        for (std::string word; stream >> word;) words_.push_back(word);
        return true;
    }

    // The next line that is not empty; it must have so many words.
    const std::vector<std::string>& next_words(size_t count) {
        do {
            if (!next_line()) {
                line_++;
                refuse_line("the file ends before all its values are there");
            }
        } while (words_.empty());
        if (words_.size() != count) {
            refuse_line(
                lab::format("it has %zu words where %zu are expected", words_.size(), count));
        }
        return words_;
    }

    static std::string lower(std::string word) {
        for (char& letter : word) letter = char(std::tolower((unsigned char)letter));
        return word;
    }

    void read_heading() {
        if (!next_line() || words_.size() != 5 || lower(words_[0]) != "%%matrixmarket" ||
            lower(words_[1]) != "matrix") {
            line_ = 1;
            refuse_line("it must be \"%%MatrixMarket matrix FORMAT TYPE SYMMETRY\"");
        }
        const std::string format = lower(words_[2]), type = lower(words_[3]),
                          symmetry = lower(words_[4]);
        if (format != "array" && format != "coordinate") {
            refuse_line("the format " + lab::quoted(format) + " is neither array nor coordinate");
        }
        if (type == "complex" || symmetry == "hermitian") {
            refuse_line("complex numbers are not solved for here");
        }
        is_array_ = format == "array";
        is_pattern_ = type == "pattern";
        is_integer_ = type == "integer";
        if ((type != "real" && type != "integer" && type != "double" && !is_pattern_) ||
            (is_array_ && is_pattern_)) {
            refuse_line("the type " + lab::quoted(type) + " is not real or integer");
        }
        symmetry_ = symmetry == "symmetric"        ? symmetric
                    : symmetry == "skew-symmetric" ? skew
                                                   : general;
        if (symmetry_ == general && symmetry != "general") {
            refuse_line("the symmetry " + lab::quoted(symmetry) +
                        " is not general, symmetric or skew-symmetric");
        }
    }

    void read_sizes() {
        const std::vector<std::string>& words = next_words(is_array_ ? 2 : 3);
        int64_t* const sizes[] = {&height_, &width_, &entries_};
        for (size_t i = 0; i < words.size(); i++) {
            if (!parse_count(words[i], *sizes[i])) {
                refuse_line(lab::quoted(words[i]) + " is not a size");
            }
        }
        if (std::max(height_, width_) > largest_n) {
            refuse_line(lab::format("more than %lld rows or columns", (long long)largest_n));
        }
        if (symmetry_ != general && height_ != width_)
            refuse_line("a symmetric matrix must be square");
        lab::require_host_memory(height_ * width_ * 2 * int64_t(sizeof(double)), "the matrix");
    }

    template <class T>
    void read_entries(std::vector<T>& values) {
        std::vector<bool> there(values.size());
        for (int64_t e = 0; e < entries_; e++) {
            const std::vector<std::string>& words = next_words(is_pattern_ ? 2 : 3);
            const int64_t i = place(words[0], height_, "row"),
                          j = place(words[1], width_, "column");
            if (symmetry_ != general && i < j + (symmetry_ == skew)) {
                refuse_line(symmetry_ == skew
                                ? "of a skew-symmetric matrix only what lies below the diagonal "
                                  "may be given"
                                : "of a symmetric matrix only the diagonal and what lies below it "
                                  "may be given");
            }
            if (there[i * width_ + j]) {
                refuse_line(lab::format("row %lld, column %lld is given twice", (long long)i + 1,
                                        (long long)j + 1));
            }
            there[i * width_ + j] = true;
            store(values, i, j, is_pattern_ ? T(1) : number<T>(words[2]));
        }
    }

    int64_t place(const std::string& word, int64_t size, const char* what) const {
        int64_t value = 0;
        if (!parse_count(word, value) || value < 1 || value > size) {
            refuse_line(lab::format("%s %s is not between 1 and %lld", what,
                                    lab::quoted(word).c_str(), (long long)size));
        }
        return value - 1;
    }

    // Digits alone: no sign, and none of the suffixes that an option may have (1Ki).
    static bool parse_count(const std::string& word, int64_t& value) {
        return word.find_first_not_of("0123456789") == std::string::npos &&
               lab::parse_integer(word, value);
    }

    // Decimal, as the format has it: strtod() alone would also take 0x10, and stop at a byte of 0.
    template <class T>
    T number(const std::string& word) const {
        char* end = nullptr;
        const double value = std::strtod(word.c_str(), &end);
        if (!std::isfinite(value) && end == word.c_str() + word.size()) {
            refuse_line(lab::quoted(word) + " is not a finite number");
        }
        const bool is_decimal = word.find_first_not_of("0123456789+-.eE") == std::string::npos;
        if (!is_decimal || *end) refuse_line(lab::quoted(word) + " is not a number");
        if (is_integer_ && word.find_first_of(".eE") != std::string::npos) {
            refuse_line(lab::quoted(word) +
                        " is not written as a whole number, and the type in line 1 is integer");
        }
        const std::string digits = word.substr(0, word.find_first_of("eE"));
        const bool is_lost = T(value) == 0 && digits.find_first_of("123456789") != digits.npos;
        if (is_lost || !std::isfinite(T(value))) {
            const char* const type = sizeof(T) == sizeof(double) ? "double" : "float";
            const bool fits_double = type[0] == 'f' && value != 0;
            refuse_line(lab::quoted(word) +
                        (is_lost ? " is too small for a " : " is too large for a ") + type +
                        (fits_double ? ": use --type double" : ""));
        }
        return T(value);
    }

    template <class T>
    void store(std::vector<T>& values, int64_t i, int64_t j, T value) const {
        values[i * width_ + j] = value;
        if (symmetry_ == symmetric) values[j * width_ + i] = value;
        if (symmetry_ == skew) values[j * width_ + i] = -value;
    }

    static constexpr size_t longest_line = 4096;  // a line has five words at most

    std::string path_;
    std::ifstream file_;
    int64_t line_ = 0, height_ = 0, width_ = 0, entries_ = 0;
    bool is_array_ = false, is_pattern_ = false, is_integer_ = false;
    Symmetry symmetry_ = general;
    std::vector<std::string> words_;
};
