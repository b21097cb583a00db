// The report's OpenMP programs that have a task. They arrange the phases A, B and C of a round (moore.h) in
// different ways, and so do those that are given:
//
//   openmp_for        in given/sections.h: loops over states and symbols; the sort stays serial
//   openmp_tasks      a task for each phase of each digit, and what each depends on
//   openmp_sections   in given/sections.h: a timetable, A of a digit, B of the one before, C of the one before that
//   openmp_split      there, with C in two halves
//   openmp_unfolded   that, two rounds at once where there are two symbols
//   openmp_sort       in given/parallel_sort.h: the sort itself is parallel
#pragma once

#include <omp.h>

#include <cstdint>
#include <vector>

#include "given/phases.h"
#include "given/sections.h"
#include "moore.h"

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
            // BEGIN SOLUTION
#pragma omp task depend(in : counted[digit], sorted[digit]) depend(out : sorted[digit + 1])
            {
                sort.sort_digit(digit);
                sort.swap_orders();
            }
            //: // TODO 3 (about 5 lines): a task for phase C: sort_digit(digit), then
            //: // swap_orders(). It needs counted[digit] and sorted[digit], and it is what
            //: // sorted[digit + 1] waits for.
            //: // Replace the line below.
            //: (void)sorted;
            // END SOLUTION
        }
        sort.end();
        return sort.number_classes(class_of);
    });
}

// Where the words of two letters lead, (symbols * symbols, states).
inline std::vector<int32_t> pairs_of(const Automaton& automaton, FirstFault* fault) {
    const int64_t states = automaton.states, symbols = automaton.symbols;
    std::vector<int32_t> pairs(symbols * symbols * states);
    for (int64_t word = 0; word < symbols * symbols; ++word) {
        const int32_t* const first = &automaton.next[word / symbols * states];
        const int32_t* const second = &automaton.next[word % symbols * states];
        for (int64_t state = 0; state < states; ++state) {
            // BEGIN SOLUTION
            pairs[word * states + state] = second[first[state]];
            //: // TODO 4 (1 line): where the state comes to by the first letter and then the
            //: // second.
            //: // Replace the lines below.
            //: (void)second;
            //: pairs[word * states + state] = first[state];
            // END SOLUTION
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
