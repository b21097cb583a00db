// The scans of a JPEG file, block by block: every code is read, and none is turned into pixels.
#pragma once
#ifdef LAB_COMPILED
#pragma interface  // compiled once, in cpu/course.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "image_bytes.h"

namespace lab {

// JpegReader (jpeg.h) fills in what the headers say, then asks what is wrong with the scan at at_.
class JpegScans {
 protected:
    explicit JpegScans(const ImageBytes& bytes) : bytes_(bytes) {}

    struct Channel {
        int name, across, down, quantiser;  // `across` and `down`: its blocks in a group
        bool scanned = false;
        int64_t blocks_across = 0, blocks_down = 0;
        std::vector<uint64_t> nonzero = {};  // of a progressive file: a bit a coefficient, by block
        int8_t open_bits[64] = {};  // which the scans so far have left out; -1: all of them
    };
    struct Huffman {
        bool given = false;
        int count[17] = {}, first_code[17] = {}, first_place[17] = {};
        uint8_t meanings[256] = {};
    };
    struct Scan {
        std::vector<Channel*> channels;
        std::vector<const Huffman*> dc, ac;
        int first, last, high, low;
    };

    std::string scan_problem() {
        const Channel& only = *scan_.channels[0];
        const bool alone = scan_.channels.size() == 1;
        const int64_t groups =
            alone ? only.blocks_across * only.blocks_down : groups_across_ * groups_down_;
        bits_left_ = run_of_blocks_ = 0;
        ended_ = false;
        for (int64_t group = 0; group < groups; ++group) {
            if (interval_ > 0 && group > 0 && group % interval_ == 0) {
                const std::string problem = restart_problem(group / interval_);
                if (!problem.empty()) return problem;
            }
            const bool sense = read_group(group);
            if (ended_) return "it ends early: parts of the picture are missing";
            if (!sense) return "it is damaged: its data break the rules of their code";
        }
        return "";
    }

    const ImageBytes& bytes_;
    size_t at_ = 2;
    bool progressive_ = false;
    int64_t groups_across_ = 0, groups_down_ = 0;
    int64_t interval_ = 0;  // groups between two restart marks; 0: there are none
    Scan scan_ = {};

 private:
    // The bits of a scan. A byte FF is followed by 00; FF with another byte ends the data.
    int bit() {
        if (bits_left_ == 0) {
            size_t next = at_ + 1;
            if (at_ < bytes_.size() && bytes_[at_] == 0xFF) {
                while (next < bytes_.size() && bytes_[next] == 0xFF) ++next;
                ended_ |= next >= bytes_.size() || bytes_[next] != 0;
                ++next;
            }
            ended_ |= at_ >= bytes_.size();
            if (ended_) return 0;
            byte_ = bytes_[at_];
            at_ = next;
            bits_left_ = 8;
        }
        return byte_ >> --bits_left_ & 1;
    }

    int bits(int count) {
        int value = 0;
        for (int i = 0; i < count; ++i) value = 2 * value + bit();
        return value;
    }

    // What the next code means; -1 when it is none of the table's.
    int symbol(const Huffman& table) {
        for (int length = 1, code = 0; length <= 16; ++length) {
            code = 2 * code + bit();
            const int place = code - table.first_code[length];
            if (place < table.count[length])
                return table.meanings[table.first_place[length] + place];
        }
        return -1;
    }

    // The next functions read what a scan holds of one block. False where its codes make no sense.

    bool read_dc(const Huffman& table) {
        if (scan_.high > 0) return bit() >= 0;
        const int size = symbol(table);
        bits(std::max(size, 0));
        return size >= 0 && size < 16;
    }

    // A symbol says how many zeros come first, and how many bits the coefficient behind them has.
    bool read_ac(const Huffman& table, uint64_t* nonzero) {
        if (run_of_blocks_ > 0) return run_of_blocks_--, true;
        for (int k = std::max(scan_.first, 1); k <= scan_.last; ++k) {
            const int code = symbol(table), zeros = code >> 4, size = code & 15;
            if (code < 0) return false;
            if (size == 0 && zeros < 15) {
                if (progressive_) run_of_blocks_ = (1 << zeros) - 1 + bits(zeros);
                return true;
            }
            k += zeros;
            if (k > scan_.last) return false;
            bits(size);
            if (nonzero && size > 0) *nonzero |= uint64_t{1} << k;
        }
        return true;
    }

    // One bit more of what is not zero already; a symbol speaks of the zeros in between.
    bool refine_ac(const Huffman& table, uint64_t& nonzero) {
        int k = scan_.first;
        while (k <= scan_.last && run_of_blocks_ == 0) {
            const int code = symbol(table), size = code & 15;
            int zeros = code >> 4;
            if (code < 0 || size > 1) return false;
            if (size == 0 && zeros < 15) {
                run_of_blocks_ = (1 << zeros) + bits(zeros);
                break;
            }
            bits(size);
            for (; k <= scan_.last; ++k) {
                if (nonzero >> k & 1) {
                    bit();
                } else if (zeros-- == 0) {
                    break;
                }
            }
            if (size > 0 && k > scan_.last) return false;
            if (size > 0) nonzero |= uint64_t{1} << k;
            ++k;
        }
        if (run_of_blocks_ == 0) return true;
        for (; k <= scan_.last; ++k) {
            if (nonzero >> k & 1) bit();
        }
        --run_of_blocks_;
        return true;
    }

    bool read_block(size_t i, int64_t place) {
        if (scan_.first == 0 && !read_dc(*scan_.dc[i])) return false;
        if (scan_.last == 0) return true;
        uint64_t* const nonzero =
            progressive_ ? &scan_.channels[i]->nonzero[size_t(place)] : nullptr;
        if (scan_.high > 0) return refine_ac(*scan_.ac[i], *nonzero);
        return read_ac(*scan_.ac[i], nonzero);
    }

    // A group has one block, or all that lie over each other where a scan has several channels.
    bool read_group(int64_t place) {
        for (size_t i = 0; i < scan_.channels.size(); ++i) {
            const Channel& channel = *scan_.channels[i];
            const int blocks = scan_.channels.size() == 1 ? 1 : channel.across * channel.down;
            for (int block = 0; block < blocks; ++block) {
                if (!read_block(i, place)) return false;
            }
        }
        return true;
    }

    // Between two parts of a scan stand FF and a mark, D0 to D7 in turn.
    std::string restart_problem(int64_t part) {
        bits_left_ = run_of_blocks_ = 0;
        while (at_ + 1 < bytes_.size() && bytes_[at_] == 0xFF && bytes_[at_ + 1] == 0xFF) ++at_;
        const int marker = at_ + 1 < bytes_.size() && bytes_[at_] == 0xFF ? bytes_[at_ + 1] : 0;
        at_ += 2;
        if (marker == 0xD0 + (part - 1) % 8) return "";
        if (marker == 0xD9) return "it ends early: parts of the picture are missing";
        return "it is damaged: a restart mark is missing, or not where it belongs";
    }

    int byte_ = 0, bits_left_ = 0, run_of_blocks_ = 0;
    bool ended_ = false;  // the data of the scan, before all its groups were there
};

}  // namespace lab
