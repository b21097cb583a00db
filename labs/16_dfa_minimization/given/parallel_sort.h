// openmp_sort, the last of the report's OpenMP programs: the sort itself is parallel.
#pragma once

#include <omp.h>

#include <cstdint>
#include <vector>

#include "moore.h"

// Counting sort by all threads, each with a segment of the order and with counters of its own.
// Those of all threads are summed up value by value: first what is less, then what is equal and
// lies in the segments before. So each knows where its states go, and the sort is stable.
class ParallelSort : public SignatureSort {
 public:
    // The counters take up no more memory than four arrays of all states.
    ParallelSort(const Targets& targets, const HostOptions& options)
        : SignatureSort(targets, options), threads_(options.threads) {}

    int64_t refine(std::vector<int32_t>& class_of, int64_t classes) {
        begin(class_of, classes);
        const int64_t room = std::max<int64_t>(1, 4 * states() / classes);
        const int threads = int(std::min<int64_t>(threads_, room));
        starts_.resize(threads * classes);
        total_.resize(threads + 1);
#pragma omp parallel num_threads(threads)
        {
            make_digits_in_segments();
            for (int64_t digit = 0; digit < digits_; ++digit) sort_in_segments(digit);
#pragma omp single
            verify_round();
            number_in_segments(class_of);
        }
        return total_[threads];
    }

 private:
    // The part of `count` things that a thread works on.
    static int64_t begin_of(int64_t count, int thread) {
        return count * thread / omp_get_num_threads();
    }

    void make_digits_in_segments() {
        const int thread = omp_get_thread_num();
        for (int64_t digit = 0; digit < digits_; ++digit) {
            make_digit(digit, begin_of(states(), thread), begin_of(states(), thread + 1));
        }
#pragma omp barrier
    }

    void sort_in_segments(int64_t digit) {
        const int thread = omp_get_thread_num();
        const int64_t first = begin_of(states(), thread), end = begin_of(states(), thread + 1);
        const int32_t* const value = values(digit);
        int32_t* const start = &starts_[thread * classes_];
        std::fill(start, start + classes_, 0);
        for (int64_t i = first; i < end; ++i) ++start[value[order_[i]]];
#pragma omp barrier
        sum_up_counters();
        for (int64_t i = first; i < end; ++i) {
            const int32_t state = order_[i];
            sorted_[start[value[state]]++] = state;
        }
#pragma omp barrier
#pragma omp single
        swap_orders();
    }

    // From counts to starts. Each thread takes a range of values, whose sum the others need first.
    void sum_up_counters() {
        const int thread = omp_get_thread_num(), threads = omp_get_num_threads();
        const int64_t low = begin_of(classes_, thread), high = begin_of(classes_, thread + 1);
        int64_t sum = 0;
        for (int64_t label = low; label < high; ++label) {
            for (int other = 0; other < threads; ++other) sum += starts_[other * classes_ + label];
        }
        int64_t start = sum_before(sum);
        for (int64_t label = low; label < high; ++label) {
            for (int other = 0; other < threads; ++other) {
                int32_t& counter = starts_[other * classes_ + label];
                const int32_t count = counter;
                counter = int32_t(start);
                start += count;
            }
        }
#pragma omp barrier
    }

    // The sum of what the threads before this one have.
    int64_t sum_before(int64_t own) {
        const int thread = omp_get_thread_num();
        total_[thread + 1] = own;
#pragma omp barrier
#pragma omp single
        for (int other = 1; other <= omp_get_num_threads(); ++other) {
            total_[other] += other > 1 ? total_[other - 1] : 0;
        }
        return thread > 0 ? total_[thread] : 0;
    }

    void number_in_segments(std::vector<int32_t>& class_of) {
        const int thread = omp_get_thread_num();
        const int64_t first = begin_of(states(), thread), end = begin_of(states(), thread + 1);
        int64_t begun = 0;
        for (int64_t place = first; place < end; ++place) begun += begins_class(place);
        int64_t label = sum_before(begun) - 1;
        for (int64_t place = first; place < end; ++place) {
            label += begins_class(place);
            class_of[order_[place]] = int32_t(label);
        }
    }

    int threads_;
    std::vector<int32_t> starts_;  // (threads, classes)
    std::vector<int64_t> total_;   // (threads + 1)
};

inline Partition openmp_sort(const Automaton& automaton, const HostOptions& options) {
    ParallelSort sort(transitions_of(automaton), options);
    return moore(automaton, options, [&](std::vector<int32_t>& class_of, int64_t classes) {
        return sort.refine(class_of, classes);
    });
}
