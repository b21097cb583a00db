// Complete deterministic automata: what they are, the families that the lab measures with, and how
// a partition of the states makes a smaller automaton.
#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface  // compiled once, in host.cpp
#endif

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "../../../common/lab.h"

// A complete deterministic automaton. next: (symbols, states), letter-major:
// next[symbol * states + state].
struct Automaton {
    int64_t states = 0, symbols = 0, start = 0;
    std::vector<int32_t> next;       // (symbols, states); states < 2^31, the product is 64-bit
    std::vector<uint8_t> is_final;   // (states), 0 or 1
    std::vector<std::string> names;  // (symbols), how files call them
};

// Which states are equivalent. Classes are numbered by their lowest state: class_of[0] == 0, and a
// new number is the next one. So equal partitions are equal vectors, whoever computed them.
struct Partition {
    std::vector<int32_t> class_of;  // (states)
    int64_t classes = 0;
    int64_t rounds = 0;  // refinement rounds, counted as the handout says (A_n,m takes two)
};

constexpr int64_t most_states = INT32_MAX, most_symbols = 65536;

// Called before an automaton is made: it is refused when the machine cannot hold it.
inline void require_memory(int64_t states, int64_t symbols) {
    if (states > most_states) {
        lab::refuse("%lld states are more than this program numbers: at most %lld",
                    (long long)states, (long long)most_states);
    }
    const std::string what = lab::format("an automaton of %lld states and %lld symbols",
                                         (long long)states, (long long)symbols);
    lab::require_host_memory(states * (4 * symbols + 1) + 40 * symbols, what.c_str());
}

// a, b, ..., z, aa, ab, ...: no shorter name comes behind a longer one.
inline std::string letters(int64_t symbol) {
    std::string name;
    for (int64_t rest = symbol + 1; rest > 0; rest = (rest - 1) / 26) {
        name.insert(name.begin(), char('a' + (rest - 1) % 26));
    }
    return name;
}

// An automaton without final states, whose transitions all lead to state 0.
inline Automaton make_automaton(int64_t states, int64_t symbols) {
    require_memory(states, symbols);
    Automaton automaton;
    automaton.states = states;
    automaton.symbols = symbols;
    automaton.next.resize(symbols * states);
    automaton.is_final.resize(states);
    for (int64_t symbol = 0; symbol < symbols; ++symbol) automaton.names.push_back(letters(symbol));
    return automaton;
}

// ---------------------------------------------------------------------------------------------
// The families of the report, and copies
// ---------------------------------------------------------------------------------------------

// A_n,m: 3n states for (ab)*, of which 3 would do. Group i has a final state 3i, the state 3i + 1
// behind the letter a, and a sink 3i + 2; b leads on to the next group.
inline Automaton best_case(int64_t n, int64_t m) {
    Automaton automaton = make_automaton(3 * n, m);
    for (int64_t i = 0; i < n; ++i) {
        const int32_t sink = int32_t(3 * i + 2);
        for (int64_t symbol = 0; symbol < m; ++symbol) {
            int32_t* const next = &automaton.next[symbol * automaton.states];
            next[3 * i] = symbol == 0 ? sink - 1 : sink;
            next[3 * i + 1] = symbol == 1 ? int32_t(3 * ((i + 1) % n)) : sink;
            next[sink] = sink;
        }
        automaton.is_final[3 * i] = 1;
    }
    return automaton;
}

// B_n,m: 3n states for ((ab)^n)*, of which 2n + 1 are needed. States 0 to 2n - 1 are a cycle of
// which 0 alone is final; a wrong letter in the states 2i and 2i + 1 leads to the sink 2n + i.
inline Automaton worst_case(int64_t n, int64_t m) {
    Automaton automaton = make_automaton(3 * n, m);
    for (int64_t symbol = 0; symbol < m; ++symbol) {
        int32_t* const next = &automaton.next[symbol * automaton.states];
        for (int64_t state = 0; state < 2 * n; ++state) {
            const int64_t sink = 2 * n + state / 2;
            next[state] = int32_t(symbol == state % 2 ? (state + 1) % (2 * n) : sink);
            next[sink] = int32_t(sink);
        }
    }
    automaton.is_final[0] = 1;
    return automaton;
}

// Random numbers that are the same on every machine.
class Random {
 public:
    explicit Random(uint64_t seed) : counter_(lab::mixed_bits(seed + 1)) {}
    int64_t below(int64_t bound) {
        return int64_t((unsigned __int128)lab::mixed_bits(counter_++) * uint64_t(bound) >> 64);
    }

 private:
    uint64_t counter_;
};

// C_n,m: n states, all of which can be reached; a state is final with probability 1/2. State s is
// first reached by a free transition of a lower state, and what is free at the end leads anywhere.
// `tree`, if given, receives which transitions were the first to reach their state.
inline Automaton random_automaton(int64_t n, int64_t m, uint64_t seed,
                                  std::vector<bool>* tree = nullptr) {
    Automaton automaton = make_automaton(n, m);
    Random random(seed);
    std::vector<int32_t>& next = automaton.next;
    std::vector<bool> is_taken(next.size());
    for (int64_t state = 1; state < n; ++state) {
        int64_t place;
        do {  // at least half of the transitions are free, unless there is one a state
            place = m == 1 ? state - 1 : random.below(m) * n + random.below(state);
        } while (is_taken[place]);
        is_taken[place] = true;
        next[place] = int32_t(state);
    }
    for (size_t place = 0; place < next.size(); ++place) {
        if (!is_taken[place]) next[place] = int32_t(random.below(n));
    }
    for (uint8_t& is_final : automaton.is_final) is_final = uint8_t(random.below(2));
    if (tree) *tree = std::move(is_taken);
    return automaton;
}

// `count` copies of C_n,m, joined so that all can be reached: state s of copy c is c * n + s, and
// equivalent to s. The transitions that first reach a state stay in their copy, one leads to the
// beginning of the next copy, and the others lead to any.
inline Automaton copies(int64_t n, int64_t m, int64_t count, uint64_t seed) {
    require_memory(n * count, m);
    std::vector<bool> tree;
    Automaton one = random_automaton(n, m, seed, &tree);
    const int64_t back = std::find(tree.begin(), tree.end(), false) - tree.begin();
    one.next[back] = 0;
    Automaton all = make_automaton(n * count, m);
    Random random(~seed);
    for (int64_t copy = 0; copy < count; ++copy) {
        for (int64_t place = 0; place < n * m; ++place) {
            const int64_t to = place == back ? (copy + 1) % count
                               : tree[place] ? copy
                                             : random.below(count);
            const int64_t symbol = place / n, state = place % n;
            all.next[symbol * all.states + copy * n + state] = int32_t(to * n + one.next[place]);
        }
        std::copy(one.is_final.begin(), one.is_final.end(), all.is_final.begin() + copy * n);
    }
    return all;
}

// ---------------------------------------------------------------------------------------------
// Partitions and quotients
// ---------------------------------------------------------------------------------------------

// Numbers the classes by their lowest state. They may have had any numbers below `classes` before.
inline void number_by_lowest_state(Partition& partition) {
    std::vector<int32_t> number_of(partition.classes, -1);
    int32_t count = 0;
    for (int32_t& label : partition.class_of) {
        if (number_of[label] < 0) number_of[label] = count++;
        label = number_of[label];
    }
}

// The quotient: a state for each class, with the transitions of the class's lowest state.
inline Automaton quotient(const Automaton& automaton, const Partition& partition) {
    Automaton smaller = make_automaton(partition.classes, automaton.symbols);
    smaller.names = automaton.names;
    smaller.start = partition.class_of[automaton.start];
    int32_t seen = 0;
    for (int64_t state = 0; state < automaton.states; ++state) {
        const int32_t label = partition.class_of[state];
        if (label != seen) continue;  // numbered by the lowest state: a new class is the next one
        ++seen;
        smaller.is_final[label] = automaton.is_final[state];
        for (int64_t symbol = 0; symbol < automaton.symbols; ++symbol) {
            smaller.next[symbol * smaller.states + label] =
                partition.class_of[automaton.next[symbol * automaton.states + state]];
        }
    }
    return smaller;
}

// The same automaton with its states numbered in the order in which a breadth-first search from the
// start meets them. Two minimal automata of one language become equal, number by number. All
// states must be reachable.
inline Automaton numbered_by_breadth(const Automaton& automaton) {
    const int64_t states = automaton.states;
    std::vector<int32_t> order = {int32_t(automaton.start)}, number_of(states, -1);
    order.reserve(states);
    number_of[automaton.start] = 0;
    for (size_t at = 0; at < order.size(); ++at) {
        for (int64_t symbol = 0; symbol < automaton.symbols; ++symbol) {
            const int32_t target = automaton.next[symbol * states + order[at]];
            if (number_of[target] >= 0) continue;
            number_of[target] = int32_t(order.size());
            order.push_back(target);
        }
    }
    Automaton numbered = make_automaton(states, automaton.symbols);
    numbered.names = automaton.names;
    for (int64_t state = 0; state < states; ++state) {
        numbered.is_final[state] = automaton.is_final[order[state]];
        for (int64_t symbol = 0; symbol < automaton.symbols; ++symbol) {
            numbered.next[symbol * states + state] =
                number_of[automaton.next[symbol * states + order[state]]];
        }
    }
    return numbered;
}
