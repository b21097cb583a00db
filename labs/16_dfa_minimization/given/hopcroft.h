// Hopcroft's algorithm, n log n steps for each symbol: the reference of this lab, and its rival.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <cstdint>
#include <vector>

#include "automaton.h"
#include "rounds.h"

// Classes as ranges of one array of states. A class is split in time proportional to the part that
// was marked; the smaller part becomes the new class.
class Ranges {
 public:
    explicit Ranges(const Partition& partition)
        : states_(partition.class_of.size()),
          place_of_(partition.class_of.size()),
          class_of_(partition.class_of),
          ranges_(partition.classes) {
        for (const int32_t label : class_of_) ++ranges_[label].end;
        for (int64_t label = 1; label < classes(); ++label) {
            ranges_[label].begin = ranges_[label - 1].end;
            ranges_[label].end += ranges_[label].begin;
        }
        std::vector<Range> unfilled = ranges_;
        for (size_t state = 0; state < class_of_.size(); ++state) {
            const int32_t place = unfilled[class_of_[state]].begin++;
            states_[place] = int32_t(state);
            place_of_[state] = place;
        }
    }

    int64_t classes() const { return ranges_.size(); }
    int64_t size(int32_t label) const { return ranges_[label].end - ranges_[label].begin; }
    const int32_t* begin(int32_t label) const { return &states_[ranges_[label].begin]; }
    std::vector<int32_t>& class_of() { return class_of_; }

    // Marked states come first in their range. True for the first one of a class that may be split.
    // A state is marked at most once between two splits.
    bool mark(int32_t state) {
        Range& range = ranges_[class_of_[state]];
        if (range.end - range.begin == 1) return false;
        const int32_t to = range.begin + range.marked, from = place_of_[state];
        states_[from] = states_[to];
        place_of_[states_[from]] = from;
        states_[to] = state;
        place_of_[state] = to;
        return range.marked++ == 0;
    }

    // Takes the marks away. If they were not on all states, the class is split: the smaller part
    // becomes a new class.
    void split(int32_t label) {
        Range &range = ranges_[label], fresh = range;
        const int32_t middle = range.begin + range.marked;
        range.marked = fresh.marked = 0;
        if (middle == range.end) return;
        if (middle - range.begin <= range.end - middle) {
            range.begin = fresh.end = middle;
        } else {
            range.end = fresh.begin = middle;
        }
        for (int32_t i = fresh.begin; i < fresh.end; ++i)
            class_of_[states_[i]] = int32_t(classes());
        ranges_.push_back(fresh);
    }

 private:
    struct Range {
        int32_t begin = 0, end = 0, marked = 0;
    };
    std::vector<int32_t> states_, place_of_;  // (states), inverse to each other
    std::vector<int32_t> class_of_;           // (states)
    std::vector<Range> ranges_;               // (classes), places in states_
};

// The states that lead to a state, by symbol.
class Inverse {
 public:
    explicit Inverse(const Automaton& automaton)
        : states_(automaton.states),
          first_(automaton.symbols * (automaton.states + 1)),
          sources_(automaton.next.size()) {
        for (int64_t symbol = 0; symbol < automaton.symbols; ++symbol) {
            const int32_t* const next = &automaton.next[symbol * states_];
            int32_t* const first = &first_[symbol * (states_ + 1)];
            for (int64_t state = 0; state < states_; ++state) ++first[next[state]];
            for (int64_t state = 0; state < states_; ++state) first[state + 1] += first[state];
            for (int64_t state = states_ - 1; state >= 0; --state) {
                sources_[symbol * states_ + --first[next[state]]] = int32_t(state);
            }
        }
    }

    const int32_t* begin(int64_t symbol, int32_t target) const {
        return &sources_[symbol * states_] + first_[symbol * (states_ + 1) + target];
    }
    const int32_t* end(int64_t symbol, int32_t target) const { return begin(symbol, target + 1); }

 private:
    int64_t states_;
    std::vector<int32_t> first_;    // (symbols, states + 1)
    std::vector<int32_t> sources_;  // (symbols, states)
};

// What leads into a class must not be in one class with what does not: each class is a splitter
// once, by its states at that time. Of a class that was split, it is enough to look at the smaller
// part, if the whole had been a splitter before, and at both if not. As the smaller part is always
// the one with the new number, the numbers are the waiting list.
inline Partition hopcroft(const Automaton& automaton, const HostOptions&) {
    const Inverse inverse(automaton);
    Partition partition = by_finality(automaton);
    Ranges ranges(partition);
    std::vector<int32_t> splitter, touched;
    // of the first two classes one is enough, and it may be either
    for (int32_t label = 1; label < ranges.classes(); ++label) {
        if (ranges.classes() == automaton.states) break;  // nothing is left to be split
        ++partition.rounds;
        splitter.assign(ranges.begin(label), ranges.begin(label) + ranges.size(label));
        for (int64_t symbol = 0; symbol < automaton.symbols; ++symbol) {
            for (const int32_t target : splitter) {
                const int32_t* const end = inverse.end(symbol, target);
                for (const int32_t* at = inverse.begin(symbol, target); at != end; ++at) {
                    if (ranges.mark(*at)) touched.push_back(ranges.class_of()[*at]);
                }
            }
            for (const int32_t other : touched) ranges.split(other);
            touched.clear();
        }
    }
    partition.class_of = std::move(ranges.class_of());
    partition.classes = ranges.classes();
    number_by_lowest_state(partition);
    return partition;
}

inline int64_t hopcroft_bytes(int64_t states, int64_t symbols) {
    return 8 * symbols * states + 4 * 8 * states;
}
