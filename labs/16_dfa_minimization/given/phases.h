// What watches tasks 3 and 4. The phases of a round as openmp_tasks calls them, with an eye on their order. A phase that begins
// before what it needs is done is noted, and left out: then nothing is read half done.
#pragma once

#include <omp.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "moore.h"

class TaskedSort : public SignatureSort {
 public:
    TaskedSort(const Targets& targets, const HostOptions& options)
        : SignatureSort(targets, options),
          pause_(options.pause),
          made_(digits_),
          counted_(digits_) {}

    void begin(const std::vector<int32_t>& class_of, int64_t classes) {
        SignatureSort::begin(class_of, classes);
        for (int64_t digit = 0; digit < digits_; ++digit) made_[digit] = counted_[digit] = false;
        sorted_ = swapped_ = at_once_ = most_at_once_ = 0;
        team_ = 1;
    }

    void make_digit(int64_t digit) {
        const Phase phase(*this);
        SignatureSort::make_digit(digit);
        made_[digit] = true;
    }

    void count_digit(int64_t digit) {
        const Phase phase(*this);
        if (!require(made_[digit], "count_digit", digit, "made[digit]")) return;
        SignatureSort::count_digit(digit);
        counted_[digit] = true;
    }

    void sort_digit(int64_t digit) {
        const Phase phase(*this);
        const char* needed = sorted_ == digit
                                 ? "swap_orders, in the task that sorts the digit before it,"
                                 : "sorted[digit], the task that sorts the digit before it,";
        if (!counted_[digit]) needed = "counted[digit]";
        if (!require(counted_[digit] && swapped_ == digit, "sort_digit", digit, needed)) return;
        SignatureSort::sort_digit(digit);
        ++sorted_;
    }

    void swap_orders() {
        if (!require(swapped_ == sorted_ - 1, "swap_orders", sorted_, "sort_digit of it")) return;
        SignatureSort::swap_orders();
        ++swapped_;
    }

    // After the tasks of a round.
    void end() const {
        if (!fault_) return;
        if (swapped_ < digits_) {
            fault_->note(
                lab::format("TODO 3 in openmp.h: when all tasks were done, %lld of %lld digits had "
                            "been sorted, and their orders swapped",
                            (long long)swapped_, (long long)digits_));
        } else if (pause_ > 0 && team_ > 1 && most_at_once_ < 2) {
            fault_->note(lab::format(
                "TODO 3 in openmp.h: there are %d threads, and never did two phases run at "
                "a time: sort_digit shall be a task that depends on others, and "
                "nobody shall wait for it but those that need it",
                int(team_)));
        }
    }

 private:
    // Counts how many run at a time. The pause makes room for others to begin too early.
    class Phase {
     public:
        explicit Phase(TaskedSort& sort) : sort_(sort) {
            sort.team_ = omp_get_num_threads();
            const int now = ++sort.at_once_;
            int most = sort.most_at_once_;
            while (most < now && !sort.most_at_once_.compare_exchange_weak(most, now)) {
            }
            if (sort.pause_) std::this_thread::sleep_for(std::chrono::milliseconds(sort.pause_));
        }
        ~Phase() { --sort_.at_once_; }

     private:
        TaskedSort& sort_;
    };

    bool require(bool is_done, const char* phase, int64_t digit, const char* needed) const {
        if (!is_done && fault_) {
            fault_->note(
                lab::format("TODO 3 in openmp.h: %s began for digit %lld before %s was done", phase,
                            (long long)digit, needed));
        }
        return is_done;
    }

    int pause_;
    std::vector<std::atomic<bool>> made_, counted_;  // (digits)
    std::atomic<int64_t> sorted_{0}, swapped_{0};    // how many digits
    std::atomic<int> at_once_{0}, most_at_once_{0}, team_{1};
};

// Any state is no heap overflow, and with --verify it is the right one, in either order of the letters.
inline void verify_pair(const Automaton& automaton, FirstFault* fault, int64_t word, int64_t state,
                        int32_t& found) {
    const bool is_state = found >= 0 && found < automaton.states;
    if (is_state && !verifies(fault)) return;
    const int64_t states = automaton.states, symbols = automaton.symbols;
    const int32_t* const first = &automaton.next[word / symbols * states];
    const int32_t* const second = &automaton.next[word % symbols * states];
    const int32_t there = second[first[state]];
    if (is_state && (found == there || found == first[second[state]])) return;
    if (fault) {
        fault->note(
            lab::format("TODO 4 in openmp.h: by the word %s%s state %lld comes to state %d, and "
                        "pairs says %d",
                        automaton.names[word / symbols].c_str(),
                        automaton.names[word % symbols].c_str(), (long long)state, there, found));
    }
    found = 0;
}
