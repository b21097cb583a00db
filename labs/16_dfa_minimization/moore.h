// Moore's algorithm on the host: rounds of refinement, by sorting signatures as the report does.
// given/rounds.h repeats them until nothing splits; given/moore_hash.h has the same rounds by a hash table.
#pragma once

#include <cstdint>
#include <vector>

#include "given/rounds.h"

// ---------------------------------------------------------------------------------------------
// By sorting. The signature of a state has a digit for its own class and one for the class of each
// state that it leads to. States whose signatures are equal lie side by side once they are sorted.
// ---------------------------------------------------------------------------------------------

// Where the words of the signature lead, (words, states): with one-letter words the transitions.
struct Targets {
    const int32_t* states_of;
    int64_t words, states;
};

inline Targets transitions_of(const Automaton& automaton) {
    return {automaton.next.data(), automaton.symbols, automaton.states};
}

// The phases of a round. Radix sort is a stable counting sort by each digit in turn, and so phase
// A, B and C of a digit follow one another; those of different digits may run side by side:
//
//   A make_digit     write that digit of all signatures
//   B count_digit    how often each value occurs, summed up: where it ends in the sorted order
//   C sort_digit     move the states there; after C of the digit before
class SignatureSort {
 public:
    SignatureSort(const Targets& targets, const HostOptions& options)
        : fault_(options.fault),
          targets_(targets),
          digits_(targets.words + 1),
          values_(digits_ * targets.states),
          order_(targets.states),
          sorted_(targets.states) {}

    int64_t digits() const { return digits_; }
    int64_t states() const { return targets_.states; }

    // Before the phases of a round: the partition that it refines.
    void begin(const std::vector<int32_t>& class_of, int64_t classes) {
        class_of_ = class_of.data();
        classes_ = classes;
        for (int64_t state = 0; state < states(); ++state) order_[state] = int32_t(state);
        ends_.resize(digits_ * classes);
    }

    // Where the state comes to by the digit's word; the word of digit 0 is empty.
    int32_t target(int64_t digit, int64_t state) const {
        if (digit == 0) return int32_t(state);
        return targets_.states_of[(digit - 1) * states() + state];
    }

    int32_t* values(int64_t digit) { return &values_[digit * states()]; }  // (states)
    int32_t* ends(int64_t digit) { return &ends_[digit * classes_]; }      // (classes)

    // For the states from `first` to below `end`. A digit that is no class is noted, and not used.
    void make_digit(int64_t digit, int64_t first, int64_t end) {
        int32_t* const value = values(digit);
        for (int64_t state = first; state < end; ++state) {
            // TODO 1 (1 line): the class of the state that this digit's word leads to.
            // Replace the line below.
            value[state] = 0;
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
        // TODO 2 (about 3 lines): compare all digits of the two states, order_[place] and
        // order_[place - 1]. The digit of a state is values_[digit * states() + state].
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

    static int64_t bytes(int64_t states, int64_t words) {
        return 4 * states * (2 * (words + 1) + 4);
    }

 protected:
    // With --verify: what TODO 1 and 2 have to say of this round.
    void verify_round() const {
        if (!verifies(fault_)) return;
        for (int64_t digit = 0; digit < digits_; ++digit) {
            for (int64_t state = 0; state < states(); ++state) verify_digit(digit, state);
        }
        for (int64_t place = 1; place < states(); ++place) verify_beginning(place);
    }

    FirstFault* fault_;
    Targets targets_;
    int64_t digits_;
    std::vector<int32_t> values_;          // (digits, states), the signatures
    std::vector<int32_t> ends_;            // (digits, classes)
    std::vector<int32_t> order_, sorted_;  // (states)
    const int32_t* class_of_ = nullptr;    // (states)
    int64_t classes_ = 0;

 private:
    int32_t digit_of(int64_t digit, int64_t state) const {
        return values_[digit * states() + state];
    }

    void note_no_class(int64_t digit, int64_t state) const {
        if (!fault_) return;
        const int32_t value = digit_of(digit, state);
        fault_->note(lab::format(
            "TODO 1 in moore.h: digit %lld of state %lld is %d, and the classes are 0 to %lld%s",
            (long long)digit, (long long)state, value, (long long)classes_ - 1,
            value == target(digit, state) ? ": that is the state, and its class is wanted" : ""));
    }

    void verify_digit(int64_t digit, int64_t state) const {
        const int32_t leads_to = target(digit, state), value = digit_of(digit, state);
        if (value == class_of_[leads_to]) return;
        fault_->note(lab::format(
            "TODO 1 in moore.h: digit %lld of state %lld is %d; that digit's word leads to state "
            "%d, which is in class %d",
            (long long)digit, (long long)state, value, leads_to, class_of_[leads_to]));
    }

    void verify_beginning(int64_t place) const {
        const int32_t state = order_[place], before = order_[place - 1];
        int64_t first = digits_, count = 0;  // of the digits that differ
        for (int64_t digit = digits_ - 1; digit >= 0; --digit) {
            if (digit_of(digit, state) == digit_of(digit, before)) continue;
            first = digit;
            ++count;
        }
        if (begins_class(place) != (count == 0)) return;
        std::string says = lab::format("differ in digit %lld", (long long)first);
        if (count > 1) says += lab::format(" and %lld more", (long long)count - 1);
        if (count == 0) says = lab::format("agree in all %lld digits", (long long)digits_);
        fault_->note(lab::format(
            "TODO 2 in moore.h: begins_class(%lld) is %s, though the states %d and %d %s",
            (long long)place, count == 0 ? "true" : "false", before, state, says.c_str()));
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
