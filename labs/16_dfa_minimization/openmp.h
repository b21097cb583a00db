// The report's six OpenMP programs. The first five arrange the phases A, B and C of a round
// (moore.h) in different ways; the last one makes the sort itself parallel.
//
//   openmp_for        loops over states and symbols; the sort stays serial
//   openmp_tasks      a task for each phase of each digit, and what each depends on
//   openmp_sections   a timetable: A of a digit, B of the one before, C of the one before that
//   openmp_split      with C in two halves
//   openmp_unfolded   that, two rounds at once where there are two symbols
//   openmp_sort       a counting sort whose threads have counters of their own
#pragma once

#include <omp.h>

#include <cstdint>
#include <vector>

#include "given/phases.h"
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

// Tasks that wait for one another. What `depend` names are only marks: nobody reads or writes them.
inline Partition openmp_tasks(const Automaton& automaton, const HostOptions& options) {
    TaskedSort sort(transitions_of(automaton), options);
    const int64_t digits = sort.digits();
    std::vector<char> made_marks(digits), counted_marks(digits), sorted_marks(digits + 1);
    char *const made = made_marks.data(), *const counted = counted_marks.data();
    char* const sorted = sorted_marks.data();  // sorted[digit]: all digits before that one
    return moore(automaton, options, [&](std::vector<int32_t>& class_of, int64_t classes) {
        sort.begin(class_of, classes);
#pragma omp parallel num_threads(options.threads)
#pragma omp single
        for (int64_t digit = 0; digit < digits; ++digit) {
#pragma omp task depend(out : made[digit])
            sort.make_digit(digit);
#pragma omp task depend(in : made[digit]) depend(out : counted[digit])
            sort.count_digit(digit);
            // TODO 3 (about 5 lines): a task for phase C: sort_digit(digit), then
            // swap_orders(). It needs counted[digit] and sorted[digit], and it is what
            // sorted[digit + 1] waits for.
            // Replace the line below.
            (void)sorted;
        }
        sort.end();
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

// Where the words of two letters lead, (symbols * symbols, states).
inline std::vector<int32_t> pairs_of(const Automaton& automaton, FirstFault* fault) {
    const int64_t states = automaton.states, symbols = automaton.symbols;
    std::vector<int32_t> pairs(symbols * symbols * states);
    for (int64_t word = 0; word < symbols * symbols; ++word) {
        const int32_t* const first = &automaton.next[word / symbols * states];
        const int32_t* const second = &automaton.next[word % symbols * states];
        for (int64_t state = 0; state < states; ++state) {
            // TODO 4 (1 line): where the state comes to by the first letter and then the
            // second.
            // Replace the lines below.
            (void)second;
            pairs[word * states + state] = first[state];
            verify_pair(automaton, fault, word, state, pairs[word * states + state]);
        }
    }
    return pairs;
}

// Two rounds in one, by the unfolding lemma: from the second round on, p and q stay together after
// two more if they are together now and so are all pairs of states that two letters lead to. That
// is a signature of 5 digits for two symbols, in place of 3 digits twice. With more symbols it does
// not pay.
inline Partition openmp_unfolded(const Automaton& automaton, const HostOptions& options) {
    if (automaton.symbols != 2) return openmp_split(automaton, options);
    const std::vector<int32_t> pairs = pairs_of(automaton, options.fault);
    SignatureSort first_round(transitions_of(automaton), options);
    SignatureSort later_rounds({pairs.data(), 4, automaton.states}, options);
    bool is_first = true;
    return moore(automaton, options, [&](std::vector<int32_t>& class_of, int64_t classes) {
        SignatureSort& sort = is_first ? first_round : later_rounds;
        is_first = false;
        return refine_with_split_sort(sort, options.threads, class_of, classes);
    });
}

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
