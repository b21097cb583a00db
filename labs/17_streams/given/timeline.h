// When each piece of work began and ended, by events; a line of letters a stream, and a CSV for a plot.
#pragma once

#include <algorithm>
#include <cstring>
#include <map>
#include <string>
#include <vector>

class Timeline {
 public:
    Timeline() {
        CHECK(cudaEventCreate(&zero_));
        CHECK(cudaEventRecord(zero_, nullptr));
    }
    ~Timeline() {
        for (const Piece& piece : pieces_)
            cudaEventDestroy(piece.begin), cudaEventDestroy(piece.end);
        cudaEventDestroy(zero_);
    }
    Timeline(const Timeline&) = delete;
    Timeline& operator=(const Timeline&) = delete;

    // `what`: 'i' a copy in, 'k' a kernel, 'o' a copy out.
    template <class Work>
    void around(char what, int strip, int stream, cudaStream_t handle, Work&& work) {
        Piece piece = {what, strip, stream, nullptr, nullptr, 0, 0};
        CHECK(cudaEventCreate(&piece.begin));
        CHECK(cudaEventCreate(&piece.end));
        CHECK(cudaEventRecord(piece.begin, handle));
        work();
        CHECK(cudaEventRecord(piece.end, handle));
        pieces_.push_back(piece);
    }

    // Reads the events, once all is done. A stream has reached a copy before the copy begins, if the engine that copies in this
    // direction is still busy: so a copy begins where the one before it ends, at the earliest.
    void read() {
        std::map<char, float> busy;
        for (Piece& piece : pieces_) {
            CHECK(cudaEventElapsedTime(&piece.from, zero_, piece.begin));
            CHECK(cudaEventElapsedTime(&piece.to, zero_, piece.end));
        }
        const auto begins_earlier = [](const Piece& a, const Piece& b) { return a.to < b.to; };
        std::stable_sort(pieces_.begin(), pieces_.end(), begins_earlier);
        const float first =
            std::min_element(pieces_.begin(), pieces_.end(), [](const Piece& a, const Piece& b) {
                return a.from < b.from;
            })->from;
        for (Piece& piece : pieces_) {
            piece.from -= first, piece.to -= first;
            if (piece.what != 'k')
                piece.from = std::min(std::max(piece.from, busy[piece.what]), piece.to);
            busy[piece.what] = piece.to;
        }
    }

    // A line a stream, 64 columns wide.
    std::vector<std::string> lines(const std::string& name) const {
        constexpr int columns = 64;
        float end = 0;
        std::map<int, std::string> rows;
        for (const Piece& piece : pieces_) end = std::max(end, piece.to);
        for (const Piece& piece : pieces_) {
            std::string& row = rows[piece.stream];
            row.resize(columns, ' ');
            const int first = std::min(int(columns * piece.from / end), columns - 1);
            const int last =
                std::max(first + 1, std::min(int(columns * piece.to / end + 0.5f), columns));
            for (int x = first; x < last; ++x) row[x] = piece.what;
        }
        std::vector<std::string> lines = {lab::format(
            "%s: %.3f ms (i copy in, k kernel, o copy out)", name.c_str(), double(end))};
        const int digits = int(std::to_string(rows.rbegin()->first).size());
        for (const auto& [stream, row] : rows)
            lines.push_back(lab::format("  stream %*d |%s|", digits, stream, row.c_str()));
        return lines;
    }

    void write(const std::string& path, const std::string& name) const {
        std::string text = "variant,stream,strip,what,begin,end\n";
        for (const Piece& piece : pieces_)
            text += lab::format("%s,%d,%d,%c,%.6g,%.6g\n", name.c_str(), piece.stream, piece.strip,
                                piece.what, double(piece.from), double(piece.to));
        if (const int error = lab::write_file(path, {{text.data(), text.size()}}))
            lab::fail("cannot write %s: %s", lab::quoted(path).c_str(), std::strerror(error));
    }

 private:
    struct Piece {
        char what;
        int strip, stream;
        cudaEvent_t begin, end;
        float from, to;  // in ms since the first
    };
    cudaEvent_t zero_ = nullptr;
    std::vector<Piece> pieces_;
};
