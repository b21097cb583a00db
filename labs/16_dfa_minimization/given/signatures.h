// The signatures of a round. That of a state has a digit for its own class and one for the class of each
// state that it leads to. With --verify it is said here what goes wrong with them first.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <cstdint>
#include <vector>

#include "rounds.h"

// Where the words of the signature lead, (words, states): with one-letter words the transitions.
struct Targets {
    const int32_t* states_of;
    int64_t words, states;
};

inline Targets transitions_of(const Automaton& automaton) {
    return {automaton.next.data(), automaton.symbols, automaton.states};
}

class Signatures {
 public:
    Signatures(const Targets& targets, const HostOptions& options)
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

    static int64_t bytes(int64_t states, int64_t words) {
        return 4 * states * (2 * (words + 1) + 4);
    }

 protected:
    // With --verify: what TODO 1 and 2 have to say of this round. begins(place): whether a class begins there
    template <class Begins>
    void verify_round(const Begins& begins) const {
        if (!verifies(fault_)) return;
        for (int64_t digit = 0; digit < digits_; ++digit) {
            for (int64_t state = 0; state < states(); ++state) verify_digit(digit, state);
        }
        for (int64_t place = 1; place < states(); ++place) verify_beginning(place, begins(place));
    }

    void note_no_class(int64_t digit, int64_t state) const {
        if (!fault_) return;
        const int32_t value = digit_of(digit, state);
        fault_->note(lab::format(
            "TODO 1 in moore.h: digit %lld of state %lld is %d, and the classes are 0 to %lld%s",
            (long long)digit, (long long)state, value, (long long)classes_ - 1,
            value == target(digit, state) ? ": that is the state, and its class is wanted" : ""));
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

    void verify_digit(int64_t digit, int64_t state) const {
        const int32_t leads_to = target(digit, state), value = digit_of(digit, state);
        if (value == class_of_[leads_to]) return;
        fault_->note(lab::format(
            "TODO 1 in moore.h: digit %lld of state %lld is %d; that digit's word leads to state "
            "%d, which is in class %d",
            (long long)digit, (long long)state, value, leads_to, class_of_[leads_to]));
    }

    void verify_beginning(int64_t place, bool begins) const {
        const int32_t state = order_[place], before = order_[place - 1];
        int64_t first = digits_, count = 0;  // of the digits that differ
        for (int64_t digit = digits_ - 1; digit >= 0; --digit) {
            if (digit_of(digit, state) == digit_of(digit, before)) continue;
            first = digit;
            ++count;
        }
        if (begins != (count == 0)) return;
        std::string says = lab::format("differ in digit %lld", (long long)first);
        if (count > 1) says += lab::format(" and %lld more", (long long)count - 1);
        if (count == 0) says = lab::format("agree in all %lld digits", (long long)digits_);
        fault_->note(lab::format(
            "TODO 2 in moore.h: begins_class(%lld) is %s, though the states %d and %d %s",
            (long long)place, count == 0 ? "true" : "false", before, state, says.c_str()));
    }
};
