// Moore's algorithm on the host: rounds of refinement, by sorting signatures as the report does.
// given/rounds.h repeats them until nothing splits; given/moore_hash.h has the same rounds by a hash table.
#pragma once

#include <cstdint>
#include <vector>

#include "given/signatures.h"

// The phases of a round. Radix sort is a stable counting sort by each digit in turn, and so phase
// A, B and C of a digit follow one another; those of different digits may run side by side:
//
//   A make_digit     write that digit of all signatures
//   B count_digit    how often each value occurs, summed up: where it ends in the sorted order
//   C sort_digit     move the states there; after C of the digit before
//
// States whose signatures are equal lie side by side once they are sorted. given/signatures.h has the
// signatures (values_), the order (order_), the classes before the round (class_of_), and where words lead (target).
class SignatureSort : public Signatures {
 public:
    using Signatures::Signatures;

    // For the states from `first` to below `end`. A digit that is no class is noted, and not used.
    void make_digit(int64_t digit, int64_t first, int64_t end) {
        int32_t* const value = values(digit);
        for (int64_t state = first; state < end; ++state) {
            // BEGIN SOLUTION
            value[state] = class_of_[target(digit, state)];
            //: // TODO 1 (1 line): the class of the state that this digit's word leads to.
            //: // Replace the line below.
            //: value[state] = 0;
            // END SOLUTION
            if (value[state] >= 0 && value[state] < classes_) continue;
            note_no_class(digit, state);
            value[state] = 0;
        }
    }
    void make_digit(int64_t digit) { make_digit(digit, 0, states()); }

    void count_digit(int64_t digit) {
        const int32_t* const value = values(digit);
        int32_t* const end = ends(digit);
        std::fill(end, end + classes_, 0);
        for (int64_t state = 0; state < states(); ++state) ++end[value[state]];
        sum_up(digit);
    }

    void sum_up(int64_t digit) {
        int32_t* const end = ends(digit);
        for (int64_t label = 1; label < classes_; ++label) end[label] += end[label - 1];
    }

    // Only the values from `low` to below `high`; all by default. Then swap_orders().
    void sort_digit(int64_t digit, int64_t low = 0, int64_t high = INT32_MAX) {
        const int32_t* const value = values(digit);
        int32_t* const end = ends(digit);
        for (int64_t i = states() - 1; i >= 0; --i) {
            const int32_t state = order_[i];
            if (value[state] < low || value[state] >= high) continue;
            sorted_[--end[value[state]]] = state;
        }
    }
    void swap_orders() { order_.swap(sorted_); }

    // True if the state at this place of the sorted order differs from the one before it.
    bool begins_class(int64_t place) const {
        if (place == 0) return true;
        // BEGIN SOLUTION
        for (int64_t digit = 0; digit < digits_; ++digit) {
            const int32_t* const value = &values_[digit * states()];
            if (value[order_[place]] != value[order_[place - 1]]) return true;
        }
        //: // TODO 2 (about 3 lines): compare all digits of the two states, order_[place] and
        //: // order_[place - 1]. The digit of a state is values_[digit * states() + state].
        // END SOLUTION
        return false;
    }

    // After all phases: a number for each class, in sorted order.
    int64_t number_classes(std::vector<int32_t>& class_of) const {
        verify_round();
        int32_t label = -1;
        for (int64_t place = 0; place < states(); ++place) {
            label += begins_class(place);
            class_of[order_[place]] = label;
        }
        return label + 1;
    }

 protected:
    void verify_round() const {
        Signatures::verify_round([this](int64_t place) { return begins_class(place); });
    }
};

inline Partition moore_radix(const Automaton& automaton, const HostOptions& options) {
    SignatureSort sort(transitions_of(automaton), options);
    return moore(automaton, options, [&](std::vector<int32_t>& class_of, int64_t classes) {
        sort.begin(class_of, classes);
        for (int64_t digit = 0; digit < sort.digits(); ++digit) {
            sort.make_digit(digit);
            sort.count_digit(digit);
            sort.sort_digit(digit);
            sort.swap_orders();
        }
        return sort.number_classes(class_of);
    });
}
