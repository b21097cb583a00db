// Whether a JPEG file is whole: every block of every scan is decoded as far as its codes go. stb
// alone takes what is missing for gray, jumps over what it does not understand, and says nothing.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "checks.h"
#include "jpeg_scans.h"

namespace lab {

class JpegReader : JpegScans {
 public:
    explicit JpegReader(const ImageBytes& bytes) : JpegScans(bytes) {}

    // What is wrong, or "": then stb may find something itself, or the end of the file.
    std::string read() {
        for (int marker = next_marker(); marker != 0xD9; marker = next_marker()) {
            const size_t left = bytes_.size() - at_;
            const size_t length = left < 2 ? 2 : big_endian(bytes_, at_, 2);
            if (left < 2 || length > left) return "it ends early: it is cut short, copy it again";
            const size_t end = at_ + std::max<size_t>(length, 2);
            at_ += 2;
            std::string problem = segment_problem(marker, end);
            at_ = end;
            if (problem.empty() && marker == 0xDA) problem = scan_problem();
            if (!problem.empty()) return problem;
        }
        const bool whole = !channels_.empty() && missing_ == 0;
        return whole ? "" : "it ends early: parts of the picture are missing";
    }

    // After read(): what can be read, though it looks like damage; or "".
    std::string remark() const {
        if (surplus_) return "it holds bytes that belong to nothing: it may be damaged";
        if (odd_table_) return "no program writes tables like its own: it may be damaged";
        for (const Channel& channel : channels_) {
            for (int k = 0; k < 64 && progressive_; ++k) {
                if (channel.open_bits[k] != 0)
                    return "it ends before its last scan: details are missing";
            }
        }
        return "";
    }

 private:
    static constexpr const char* broken = "it is a broken JPEG file";

    // Moves behind the next FF and the byte of the kind that follows it; at the end, to the end.
    // Zeros in between, and a restart at the very end of a scan, are what some cameras write.
    int next_marker() {
        while (at_ < bytes_.size()) {
            for (; at_ < bytes_.size() && bytes_[at_] != 0xFF; ++at_) surplus_ |= bytes_[at_] != 0;
            while (at_ < bytes_.size() && bytes_[at_] == 0xFF) ++at_;
            const int marker = at_ < bytes_.size() ? bytes_[at_++] : 0;
            if (marker != 0 && (marker & ~7) != 0xD0) return marker;
            surplus_ |= marker == 0;  // FF 00 is a byte of data, and none is due
        }
        return 0;
    }

    std::string segment_problem(int marker, size_t end) {
        if (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC)
            return frame_problem(marker, end);
        bool right = true;
        if (marker == 0xC4) right = read_huffman(end);
        if (marker == 0xDB) right = read_quantisers(end);
        if (marker == 0xDA) right = read_scan(end);
        if (marker == 0xDD && (right = end - at_ == 2)) interval_ = big_endian(bytes_, at_, 2);
        if (marker == 0xEE && end - at_ >= 12) adobe_ = std::memcmp(&bytes_[at_], "Adobe", 5) == 0;
        return right ? "" : broken;
    }

    // Tables: kind and number, how many codes of 1 to 16 bits, and what they mean.
    bool read_huffman(size_t end) {
        while (at_ < end) {
            if (end - at_ < 17) return false;
            const int kind = bytes_[at_] >> 4, number = bytes_[at_] & 15;
            Huffman table;
            int place = 0;
            for (int bits = 1, code = 0; bits <= 16; ++bits) {
                table.first_code[bits] = code *= 2;
                table.first_place[bits] = place;
                table.count[bits] = bytes_[at_ + size_t(bits)];
                code += table.count[bits];
                place += table.count[bits];
                if (code > 1 << bits) return false;
            }
            at_ += 17;
            if (kind > 1 || number > 3 || place > 256 || size_t(place) > end - at_) return false;
            std::copy_n(bytes_.begin() + int64_t(at_), place, table.meanings);
            std::vector<uint8_t> sorted(table.meanings, table.meanings + place);
            std::sort(sorted.begin(), sorted.end());
            odd_table_ |= std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end();
            table.given = true;
            huffman_[kind][number] = table;
            at_ += size_t(place);
        }
        return true;
    }

    // Tables: precision and number, and 64 numbers of one byte or two.
    bool read_quantisers(size_t end) {
        while (at_ < end) {
            const int wide = bytes_[at_] >> 4, table = bytes_[at_] & 15;
            const size_t bytes = wide ? 129 : 65;
            if (wide > 1 || table > 3 || end - at_ < bytes) return false;
            quantiser_[table] = true;
            for (size_t i = 1; i < bytes; i += size_t(wide) + 1)
                odd_table_ |= bytes_[at_ + i] == 0 && bytes_[at_ + i + size_t(wide)] == 0;
            at_ += bytes;
        }
        return true;
    }

    std::string frame_problem(int marker, size_t end) {
        const size_t count = end - at_ < 6 ? 0 : bytes_[at_ + 5];
        if (count < 1 || count > 4 || end - at_ != 6 + 3 * count || !channels_.empty())
            return broken;
        if (marker > 0xC2 || bytes_[at_] != 8) {
            const char* const kind = marker > 0xC8    ? "arithmetic codes"
                                     : marker > 0xC4  ? "several frames"
                                     : marker == 0xC3 ? "lossless coding"
                                                      : "more than 8 bits a channel";
            return format("it is a JPEG file with %s, which are not read; save it as PNG", kind);
        }
        const int64_t height = big_endian(bytes_, at_ + 1, 2);
        const int64_t width = big_endian(bytes_, at_ + 3, 2);
        for (size_t i = at_ + 6; i < end; i += 3) {
            channels_.push_back({bytes_[i], bytes_[i + 1] >> 4, bytes_[i + 1] & 15, bytes_[i + 2]});
            const Channel& last = channels_.back();
            if (std::min(last.across, last.down) < 1 || std::max(last.across, last.down) > 4)
                return broken;
            across_ = std::max(across_, last.across);
            down_ = std::max(down_, last.down);
        }
        const std::string problem = image_size_problem(height, width, int64_t(bytes_.size()));
        if (!problem.empty()) return problem;
        progressive_ = marker == 0xC2;
        missing_ = count;
        groups_across_ = divide_up(width, 8 * across_);
        groups_down_ = divide_up(height, 8 * down_);
        for (Channel& channel : channels_) {
            channel.blocks_across = divide_up(divide_up(width * channel.across, across_), 8);
            channel.blocks_down = divide_up(divide_up(height * channel.down, down_), 8);
            std::fill_n(channel.open_bits, 64, int8_t(-1));
            if (progressive_)
                channel.nonzero.resize(size_t(channel.blocks_across * channel.blocks_down));
        }
        if (count < 4 || adobe_) return "";
        return "it has four channels, and says nothing of what they are; save it as RGB";
    }

    // The channels of a scan and their tables, then which bits of which coefficients it holds.
    bool read_scan(size_t end) {
        const size_t count = at_ < end ? bytes_[at_] : 0;
        if (count < 1 || count > 4 || end - at_ != 4 + 2 * count) return false;
        const uint8_t* const range = &bytes_[at_ + 1 + 2 * count];
        scan_ = {{}, {}, {}, 0, 63, 0, 0};
        if (progressive_) scan_ = {{}, {}, {}, range[0], range[1], range[2] >> 4, range[2] & 15};
        const bool dc = scan_.first == 0, ac = scan_.last > 0;
        if (scan_.first > scan_.last || scan_.last > 63) return false;
        if (progressive_ && ac && (dc || count > 1)) return false;
        for (size_t i = 0; i < count; ++i) {
            const int name = bytes_[at_ + 1 + 2 * i], tables = bytes_[at_ + 2 + 2 * i];
            const auto channel = std::find_if(channels_.begin(), channels_.end(),
                                              [=](const Channel& one) { return one.name == name; });
            if (channel == channels_.end() || channel->quantiser > 3) return false;
            if (tables >> 4 > 3 || (tables & 15) > 3 || !quantiser_[channel->quantiser])
                return false;
            scan_.channels.push_back(&*channel);
            scan_.dc.push_back(&huffman_[0][tables >> 4]);
            scan_.ac.push_back(&huffman_[1][tables & 15]);
            if (dc && scan_.high == 0 && !scan_.dc.back()->given) return false;
            if (ac && !scan_.ac.back()->given) return false;
            if (dc && !channel->scanned) --missing_;
            if (dc) channel->scanned = true;
            std::fill(channel->open_bits + scan_.first, channel->open_bits + scan_.last + 1,
                      int8_t(scan_.low));
        }
        return true;
    }

    Huffman huffman_[2][4];
    bool quantiser_[4] = {};
    bool adobe_ = false, surplus_ = false;
    bool odd_table_ = false;  // a step of 0, or two codes for one meaning
    std::vector<Channel> channels_;
    size_t missing_ = 0;
    int across_ = 1, down_ = 1;  // blocks of a group
};

}  // namespace lab
