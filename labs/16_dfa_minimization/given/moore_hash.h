// Moore's rounds on the host by a hash table. A state looks for one with an equal signature that came
// before it. The hash says where to look, and whether two signatures are equal is decided digit by
// digit. Within a class the first signature keeps the class's number and each further one gets a new
// number, so that a state that is alone in its class can be left out for ever.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <cstdint>
#include <utility>
#include <vector>

#include "rounds.h"

class HashedRounds {
 public:
    explicit HashedRounds(const Automaton& automaton)
        : automaton_(automaton),
          live_(automaton.states),
          fresh_(automaton.states),
          size_(automaton.states),
          used_in_(automaton.states) {
        for (int64_t state = 0; state < automaton.states; ++state) live_[state] = int32_t(state);
    }

    int64_t refine(std::vector<int32_t>& class_of, int64_t classes) {
        class_of_ = class_of.data();
        classes_ = classes;
        ++round_;
        if (round_ == 1) {
            for (const int32_t label : class_of) ++size_[label];
        }
        clear_table();
        for (int64_t first = 0; first < count_live(); first += group) {
            const int64_t end = std::min(count_live(), first + group);
            find_hashes(first, end);
            for (int64_t i = first; i < end; ++i) fresh_[i] = find_class(i, hashes_[i - first]);
        }
        for (int64_t i = 0; i < count_live(); ++i) class_of[live_[i]] = fresh_[i];
        retire();
        return classes_;
    }

    static int64_t bytes(int64_t states) { return states * (5 * 4 + 4 * 8); }

 private:
    // A group's reads go out together, so that they wait for memory together.
    static constexpr int64_t group = 128;

    // An entry is 0, or the upper half of the hash and one more than the place in live_.
    struct Entry {
        uint32_t hash, place;
    };

    int64_t count_live() const { return live_.size(); }

    void clear_table() {
        int bits = 6;
        while ((int64_t(1) << bits) < 2 * count_live()) ++bits;
        shift_ = 64 - bits;
        table_.assign(size_t(1) << bits, Entry{0, 0});
    }

    static uint64_t mix(uint64_t hash, int32_t digit) {
        hash = (hash ^ uint32_t(digit)) * 0x9E3779B97F4A7C15u;
        return hash ^ (hash >> 29);
    }

    void find_hashes(int64_t first, int64_t end) {
        for (int64_t i = first; i < end; ++i) hashes_[i - first] = mix(1, class_of_[live_[i]]);
        for (int64_t symbol = 0; symbol < automaton_.symbols; ++symbol) {
            const int32_t* const next = &automaton_.next[symbol * automaton_.states];
            for (int64_t i = first; i < end; ++i) {
                hashes_[i - first] = mix(hashes_[i - first], class_of_[next[live_[i]]]);
            }
        }
        for (int64_t i = first; i < end; ++i) {
            hashes_[i - first] *= 0xD6E8FEB86659FD93u;
            __builtin_prefetch(&table_[hashes_[i - first] >> shift_]);
        }
    }

    bool are_equal(int32_t state, int32_t other) const {
        if (class_of_[state] != class_of_[other]) return false;
        const int32_t* next = automaton_.next.data();
        for (int64_t symbol = 0; symbol < automaton_.symbols; ++symbol) {
            if (class_of_[next[state]] != class_of_[next[other]]) return false;
            next += automaton_.states;
        }
        return true;
    }

    int32_t find_class(int64_t place, uint64_t hash) {
        const size_t last = table_.size() - 1;
        for (size_t slot = hash >> shift_;; slot = (slot + 1) & last) {
            Entry& entry = table_[slot];
            if (entry.place == 0) {
                entry = {uint32_t(hash), uint32_t(place + 1)};
                return new_class(class_of_[live_[place]]);
            }
            const int64_t before = int64_t(entry.place) - 1;
            if (entry.hash != uint32_t(hash)) continue;
            if (are_equal(live_[before], live_[place])) return fresh_[before];
        }
    }

    // For a signature that is the first of its kind in a class.
    int32_t new_class(int32_t label) {
        if (used_in_[label] == round_) return int32_t(classes_++);
        used_in_[label] = round_;
        return label;
    }

    void retire() {
        for (const int32_t state : live_) size_[class_of_[state]] = 0;
        for (const int32_t state : live_) ++size_[class_of_[state]];
        const auto is_alone = [&](int32_t state) { return size_[class_of_[state]] == 1; };
        live_.erase(std::remove_if(live_.begin(), live_.end(), is_alone), live_.end());
    }

    const Automaton& automaton_;
    std::vector<int32_t> live_;     // the states that are not alone in their class
    std::vector<int32_t> fresh_;    // (live), their new classes
    std::vector<int32_t> size_;     // (classes), how many live states each has
    std::vector<int32_t> used_in_;  // (classes), the last round that found its number taken
    std::vector<Entry> table_;
    uint64_t hashes_[group];
    const int32_t* class_of_ = nullptr;
    int64_t classes_ = 0;
    int32_t round_ = 0;
    int shift_ = 0;
};

inline Partition moore_hash(const Automaton& automaton, const HostOptions& options) {
    HashedRounds rounds(automaton);
    return moore(automaton, options, [&](std::vector<int32_t>& class_of, int64_t classes) {
        return rounds.refine(class_of, classes);
    });
}
