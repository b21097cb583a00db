// The table of results: one row a variant.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <cuda_runtime.h>
#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>
#include <vector>

#include "arguments.h"
#include "comparison.h"
#include "memory.h"

namespace lab {

// Rows of words in columns: the first line is the heading; `right` marks right-aligned columns.
inline void print_table(const std::vector<std::vector<std::string>>& lines,
                        const std::vector<bool>& right) {
    std::vector<size_t> widths(right.size());
    for (const auto& line : lines) {
        for (size_t column = 0; column < line.size(); ++column) {
            widths[column] = std::max(widths[column], line[column].size());
        }
    }
    for (const auto& line : lines) {
        std::string text;
        for (size_t column = 0; column < line.size(); ++column) {
            const std::string gap(widths[column] - line[column].size(), ' ');
            if (column > 0) text += "  ";
            text += right[column] ? gap + line[column] : line[column] + gap;
        }
        text.erase(text.find_last_not_of(' ') + 1);
        std::printf("%s\n", text.c_str());
        if (&line == &lines.front()) std::printf("%s\n", std::string(text.size(), '-').c_str());
    }
}

// Appends all of the text to a table, after the heading in a new file, or leaves the file as it was.
inline void append_to_file(const std::string& path, const std::string& heading,
                           const std::string& text) {
    std::FILE* file = std::fopen(path.c_str(), "a");
    if (!file) fail("cannot write %s: %s", quoted(path).c_str(), std::strerror(errno));
    std::fseek(file, 0, SEEK_END);
    const long before = std::ftell(file);
    const bool written = std::fputs(((before == 0 ? heading : "") + text).c_str(), file) >= 0;
    if (std::fclose(file) == 0 && written) return;
    const std::string problem = std::strerror(errno);
    const bool undone = truncate(path.c_str(), before) == 0;
    fail("cannot write %s: %s%s", quoted(path).c_str(), problem.c_str(),
         undone ? "" : "; its last line may be cut short");
}

// Collects what each variant did; finish() prints the table and gives the exit status. Constructed
// before Arguments::finish(), as it declares --csv FILE.
class Results {
 public:
    explicit Results(Arguments& arguments)
        : csv_path_(arguments.output("csv", "append the times to this CSV file")) {
        if (!csv_path_.empty()) require_csv();
    }

    // The size of the problem in words ("1000 x 500 floats"): above the table, and in the CSV.
    void size(const std::string& words) { size_ = words; }

    // The GB/s of a plain copy, from copy_bandwidth(): adds the column "of copy" to the table, and a
    // row of that name to the CSV.
    void limit(double gigabytes_per_second) { limit_ = gigabytes_per_second; }

    // A line of text below the table.
    void note(const std::string& line) { notes_.push_back(line); }

    // A variant that ran. `bytes` (moved to and from memory) and `operations` give the columns
    // GB/s and GFLOP/s; 0 leaves them out. `milliseconds` 0: not timed.
    void add(const std::string& variant, dim3 grid, dim3 block, double milliseconds, double bytes,
             double operations, const Comparison& comparison) {
        Row row = {variant, shape_text(grid), shape_text(block), milliseconds, 0, 0, "", Right};
        if (milliseconds > 0) row.bandwidth = 1e-6 * bytes / milliseconds;
        if (milliseconds > 0) row.arithmetic = 1e-6 * operations / milliseconds;
        row.result = (comparison.right() ? "" : "WRONG: ") + comparison.sentence();
        if (!comparison.right()) row.state = Wrong;
        if (comparison.right() && !comparison.doubt.empty()) {
            row.result = "not judged: " + comparison.doubt;
            row.state = Skipped;
        }
        rows_.push_back(row);
    }

    // A variant that cannot run here.
    void skip(const std::string& variant, const std::string& reason) {
        rows_.push_back({variant, "-", "-", 0, 0, 0, "skipped: " + reason, Skipped});
    }

    // Prints the table, appends the CSV. Returns the exit status: 0 when all are right, 1 when one
    // is wrong, 77 when there was nothing but skipped variants.
    int finish() {
        const std::string device = device_name();
        std::printf("device: %s\n", device.c_str());
        if (!size_.empty()) std::printf("size: %s\n", size_.c_str());
        if (limit_ > 0) std::printf("copy within the device: %.1f GB/s\n", limit_);
        if (!rows_.empty()) print();
        if (!notes_.empty()) std::printf("\n%s\n", joined(notes_, "\n").c_str());
        if (on_cpu) std::printf("\nCPU mode: these are not GPU times.\n");
        if (!csv_path_.empty()) append_csv(device);
        require_printed();
        if (count(Wrong) > 0) return 1;
        return count(Skipped) > 0 && count(Right) == 0 ? 77 : 0;
    }

 private:
    enum State { Right, Wrong, Skipped };
    struct Row {
        std::string variant, grid, block;
        double milliseconds, bandwidth, arithmetic;
        std::string result;
        State state;
    };

    int64_t count(State state) const {
        return std::count_if(rows_.begin(), rows_.end(),
                             [=](const Row& row) { return row.state == state; });
    }

    // One column of numbers: as many decimals as the smallest needs (one for a share), "-" where
    // there is no number.
    std::vector<std::string> column(const std::string& heading, double Row::*member, double factor,
                                    const char* unit) const {
        double smallest = INFINITY;
        for (const Row& row : rows_) {
            const double value = row.*member * factor;
            if (value > 0) smallest = std::min(smallest, value);
        }
        int decimals = smallest < 1 ? 4 : smallest < 10 ? 3 : smallest < 100 ? 2 : 1;
        if (*unit) decimals = 1;
        std::vector<std::string> cells = {heading};
        for (const Row& row : rows_) {
            const double value = row.*member * factor;
            cells.push_back(value > 0 ? format("%.*f%s", decimals, value, unit) : "-");
        }
        const bool shown = smallest < INFINITY;
        return shown ? cells : std::vector<std::string>();
    }

    void print() const {
        std::vector<std::vector<std::string>> numbers = {
            column("ms", &Row::milliseconds, 1, ""),
            column("GB/s", &Row::bandwidth, 1, ""),
            column("GFLOP/s", &Row::arithmetic, 1, ""),
        };
        if (limit_ > 0) numbers.push_back(column("of copy", &Row::bandwidth, 100 / limit_, " %"));
        std::vector<std::vector<std::string>> lines = {{"variant", "grid", "block"}};
        for (const Row& row : rows_) lines.push_back({row.variant, row.grid, row.block});
        std::vector<bool> right(3, false);
        for (const auto& cells : numbers) {
            if (cells.empty()) continue;
            right.push_back(true);
            for (size_t i = 0; i < lines.size(); ++i) lines[i].push_back(cells[i]);
        }
        right.push_back(false);
        lines[0].push_back("result");
        for (size_t i = 0; i < rows_.size(); ++i) lines[i + 1].push_back(rows_[i].result);
        std::printf("\n");
        print_table(lines, right);
    }

    static const char* csv_heading() {
        return "card,date,lab,variant,size,grid,block,milliseconds,GB/s,GFLOP/s,result\n";
    }

    // Refuses a file that holds anything but an earlier table.
    void require_csv() const {
        char line[256] = "";
        std::FILE* file = std::fopen(csv_path_.c_str(), "r");
        if (!file) return;
        const bool empty = !std::fgets(line, sizeof line, file);
        std::fclose(file);
        if (!empty && std::strcmp(line, csv_heading()) != 0) {
            refuse("--csv: %s holds something else than such a table; choose another name",
                   quoted(csv_path_).c_str());
        }
    }

    static std::string csv_field(const std::string& text) {
        if (text.find_first_of(",\"\n") == std::string::npos) return text;
        std::string field;
        for (char letter : text) field += letter == '"' ? "\"\"" : std::string(1, letter);
        return '"' + field + '"';
    }

    void append_csv(const std::string& device) const {
        char date[32];
        const std::time_t now = std::time(nullptr);
        std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
        std::string text;
        const std::string origin =
            joined({csv_field(device), date, program_invocation_short_name}, ",");
        if (limit_ > 0) {
            text += format("%s,copy,%s,-,-,0,%.6g,0,right\n", origin.c_str(),
                           csv_field(size_).c_str(), limit_);
        }
        for (const Row& row : rows_) {
            if (row.state == Skipped) continue;
            const std::string words =
                joined({origin, csv_field(row.variant), csv_field(size_)}, ",");
            text += format("%s,%s,%s,%.6g,%.6g,%.6g,%s\n", words.c_str(), row.grid.c_str(),
                           row.block.c_str(), row.milliseconds, row.bandwidth, row.arithmetic,
                           row.state == Right ? "right" : "wrong");
        }
        append_to_file(csv_path_, csv_heading(), text);
    }

    std::string csv_path_;
    std::string size_;
    double limit_ = 0;
    std::vector<Row> rows_;
    std::vector<std::string> notes_;
};

}  // namespace lab
