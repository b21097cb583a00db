// openmp_for, openmp_sections and openmp_split: the phases of a round in loops, and by a timetable.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "moore.h"

// One loop for all digits at once. Several threads count in one array, hence atomically.
inline Partition openmp_for(const Automaton& automaton, const HostOptions& options) {
    SignatureSort sort(transitions_of(automaton), options);
    const int64_t digits = sort.digits(), states = sort.states();
    return moore(automaton, options, [&](std::vector<int32_t>& class_of, int64_t classes) {
        sort.begin(class_of, classes);
#pragma omp parallel num_threads(options.threads)
        {
#pragma omp for schedule(static) collapse(2)
            for (int64_t digit = 0; digit < digits; ++digit) {
                for (int64_t label = 0; label < classes; ++label) sort.ends(digit)[label] = 0;
            }
#pragma omp for schedule(static) collapse(2)
            for (int64_t digit = 0; digit < digits; ++digit) {
                for (int64_t state = 0; state < states; ++state) {
                    const int32_t value = class_of[sort.target(digit, state)];
                    sort.values(digit)[state] = value;
#pragma omp atomic update
                    ++sort.ends(digit)[value];
                }
            }
#pragma omp for schedule(static)
            for (int64_t digit = 0; digit < digits; ++digit) sort.sum_up(digit);
        }
        for (int64_t digit = 0; digit < digits; ++digit) {
            sort.sort_digit(digit);
            sort.swap_orders();
        }
        return sort.number_classes(class_of);
    });
}

// The timetable of the sections. At each step three digits are at work, in different phases:
//
//   step                0    1    2    3   ...
//   A make_digit        0    1    2    3
//   B count_digit            0    1    2
//   C sort_digit                  0    1
inline int64_t refine_in_sections(SignatureSort& sort, int threads, std::vector<int32_t>& class_of,
                                  int64_t classes) {
    const int64_t digits = sort.digits();
    sort.begin(class_of, classes);
#pragma omp parallel num_threads(threads)
    for (int64_t step = 0; step < digits + 2; ++step) {
#pragma omp sections
        {
#pragma omp section
            if (step < digits) sort.make_digit(step);
#pragma omp section
            if (step >= 1 && step - 1 < digits) sort.count_digit(step - 1);
#pragma omp section
            if (step >= 2) {
                sort.sort_digit(step - 2);
                sort.swap_orders();
            }
        }
    }
    return sort.number_classes(class_of);
}

inline Partition openmp_sections(const Automaton& automaton, const HostOptions& options) {
    SignatureSort sort(transitions_of(automaton), options);
    return moore(automaton, options, [&](std::vector<int32_t>& class_of, int64_t classes) {
        return refine_in_sections(sort, options.threads, class_of, classes);
    });
}

// The value at which the sorted states are about half: the lowest up to which there are that many.
inline int64_t middle_value(SignatureSort& sort, int64_t digit, int64_t classes) {
    const int32_t* const end = sort.ends(digit);
    const int64_t half = sort.states() / 2;
    return std::lower_bound(end, end + classes, half) - end + 1;
}

// Phase C, the longest, in two: one section moves the states of low values, the other the rest.
// Both read all states. They must agree on the middle, and B's counters are its own only before C
// begins.
inline int64_t refine_with_split_sort(SignatureSort& sort, int threads,
                                      std::vector<int32_t>& class_of, int64_t classes) {
    const int64_t digits = sort.digits();
    std::vector<int64_t> middle(digits);
    sort.begin(class_of, classes);
#pragma omp parallel num_threads(threads)
    for (int64_t step = 0; step < digits + 2; ++step) {
#pragma omp sections
        {
#pragma omp section
            if (step < digits) sort.make_digit(step);
#pragma omp section
            if (step >= 1 && step - 1 < digits) {
                sort.count_digit(step - 1);
                middle[step - 1] = middle_value(sort, step - 1, classes);
            }
#pragma omp section
            if (step >= 2) sort.sort_digit(step - 2, 0, middle[step - 2]);
#pragma omp section
            if (step >= 2) sort.sort_digit(step - 2, middle[step - 2]);
        }
#pragma omp single
        if (step >= 2) sort.swap_orders();
    }
    return sort.number_classes(class_of);
}

inline Partition openmp_split(const Automaton& automaton, const HostOptions& options) {
    SignatureSort sort(transitions_of(automaton), options);
    return moore(automaton, options, [&](std::vector<int32_t>& class_of, int64_t classes) {
        return refine_with_split_sort(sort, options.threads, class_of, classes);
    });
}
