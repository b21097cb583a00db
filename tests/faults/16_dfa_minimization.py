"""What learners get wrong in lab 16."""

from faults import Fault

REVERSED = "            for (int other = {}; other {}; {}other) {{\n                int32_t& counter"

DIGITS = """        for (int64_t digit = 0; digit < digits_; ++digit) {
            const int32_t* const value = &values_[digit * states()];
            if (value[order_[place]] != value[order_[place - 1]]) return true;
        }
"""
KEY = """        uint32_t one = 0, other = 0;
        for (int64_t digit = 0; digit < digits_; ++digit) {
            one = one * 31 + values_[digit * states() + order_[place]];
            other = other * 31 + values_[digit * states() + order_[place - 1]];
        }
        if (one != other) return true;
"""
SWAP = "if (found == no_pair) found = atomicCAS(&slots[slot], no_pair, pair);"
STORE = "if (found == no_pair) slots[slot] = pair;"

FAULTS = [
    Fault(name="the own class is not compared", file="moore.h",
          caught=r"TODO 2 in moore.h: begins_class\(\d+\) is false, though the states \d+ and \d+ differ in digit 0\n",
          old="for (int64_t digit = 0; digit < digits_; ++digit) {\n            const int32_t* const value = &values_[digit",
          new="for (int64_t digit = 1; digit < digits_; ++digit) {\n            const int32_t* const value = &values_[digit",
          cases=("moore_radix: 1300 small automata of every kind",)),
    Fault(name="retired too early", file="moore_hash.h", old="size_[class_of_[state]] == 1;",
          new="size_[class_of_[state]] <= 2;", caught="FAIL  moore_hash", cases=("moore_hash: 1300 small automata of every kind",)),
    Fault(name="two rounds in one from the beginning", file="openmp.h", old="bool is_first = true;",
          new="bool is_first = false;", caught="FAIL  openmp_unfolded", cases=("openmp_unfolded: 1300 small automata of every kind",)),
    Fault(name="segments in the wrong order", file="parallel_sort.h", old=REVERSED.format("0", "< threads", "++"),
          new=REVERSED.format("threads - 1", ">= 0", "--"), caught="FAIL  openmp_sort", cases=("openmp_sort: 1300 small automata of every kind",)),
    Fault(name="a splitter left out", file="hopcroft.h", old="for (int32_t label = 1; label < ranges.classes()",
          new="for (int32_t label = 2; label < ranges.classes()", caught="FAIL  hopcroft", cases=("hopcroft: 1300 small automata of every kind",)),
    Fault(name="not numbered by breadth", file="program.h", old="numbered_by_breadth(quotient(automata[i], found[i]))",
          new="quotient(automata[i], found[i])", caught="not numbered by breadth",
          cases=("the automata that are written, by hopcroft and moore_hash",)),
    Fault(name="state 0 taken for the start", file="listing.h", old="listing.start = number;",
          new="listing.start = 0;", caught="FAIL  hopcroft"),
    Fault(name="the start is not written first", file="automaton_text.h", old="const int64_t state = i < 0 ? automaton.start : i;",
          new="const int64_t state = i < 0 ? 0 : i;", caught="FAIL  the sink left out"),
    Fault(name="conflicting transitions accepted", file="automaton_file.h",
          old="if (place(before) == place(now)) refuse_pair(before, now);", new="(void)before, (void)now;",
          caught="FAIL  bad files"),
    Fault(name="the hash decides what is equal", file="fold.cuh", old="if (found == no_pair || found == pair) return slot;",
          new="return slot;", caught="TODO 7 in fold.cuh: slot_of_pair returns slot .* and that slot holds another",
          cases=("fold: 195 small automata of every kind",)),
    Fault(name="a plain store into the slot", file="fold.cuh", old=SWAP, new=STORE, backends=("cpu",), watched=True,
          caught=r"fold.cuh:\d+: race in kernel fold_letter on the array slots"),
    Fault(name="a pair without the number so far", file="fold.cuh", old="(unsigned long long)(numbers[q]) << 32 |",
          new="", caught="TODO 8 in fold.cuh: state .* has the number .* so far and its target is of class",
          cases=("fold: 195 small automata of every kind",)),
    Fault(name="only representatives go on", file="retire.cuh", old="others[i] != q || now.crowded[q] == now.round",
          new="others[i] != q",
          caught="TODO 9 in retire.cuh: state .* stands for its class and the class has .* states, yet it leaves",
          cases=("retire: 195 small automata of every kind",)),
    Fault(name="the state, not its class", file="moore.h", old="value[state] = class_of_[target(digit, state)];",
          new="value[state] = target(digit, state);",
          caught="TODO 1 in moore.h: digit .* and the classes are .*: that is the state, and its class is wanted"),
    Fault(name="equal digits begin a class", file="moore.h", old="if (value[order_[place]] != value[order_[place - 1]])",
          new="if (value[order_[place]] == value[order_[place - 1]])", caught=r"TODO 2 in moore.h: begins_class\(\d+\) is true, though"),
    Fault(name="a key of 32 bits", file="moore.h", old=DIGITS, new=KEY, caught="TODO 2 in moore.h: begins_class.* is false, though the states 0 and 1 differ",
          cases=("signatures that a hash or a short key confuses",)),
    Fault(name="digits are sorted in no order", file="openmp.h", old="depend(in : counted[digit], sorted[digit]) depend(out",
          new="depend(in : counted[digit]) depend(out",
          caught="TODO 3 in openmp.h: sort_digit began for digit .* before (sorted.digit., the task|swap_orders)",
          cases=("openmp_tasks: phases side by side, and none too early",)),
    Fault(name="tasks one after the other", file="openmp.h", old="#pragma omp task depend(in : counted[digit], sorted[digit]) "
          "depend(out : sorted[digit + 1])", new="#pragma omp taskwait", caught="TODO 3 in openmp.h: .* never did two phases run",
          cases=("openmp_tasks: phases side by side, and none too early",)),
    Fault(name="orders are not swapped", file="openmp.h", old="sort.sort_digit(digit);\n                sort.swap_orders();",
          new="sort.sort_digit(digit);", caught="TODO 3 in openmp.h: sort_digit began for digit 1 before swap_orders, in the task"),
    Fault(name="words of one letter", file="openmp.h", old="pairs[word * states + state] = second[first[state]];",
          new="(void)first, pairs[word * states + state] = second[state];",
          caught="TODO 4 in openmp.h: by the word .* comes to state", cases=("rounds and classes",)),
    Fault(name="elements of a value backwards", file="counting_sort.cuh", old="for (int p = 0; p < length; p++) {\n        if (segment[p]",
          new="for (int p = length - 1; p >= 0; p--) {\n        if (segment[p]",
          caught="TODO 5 in counting_sort.cuh: .* states of one digit must keep their order",
          cases=("horizontal_a: big classes in several segments",)),
    Fault(name="all elements of a value to one place", file="counting_sort.cuh", old="sorted[start++]", new="sorted[start]",
          caught=r"TODO 5 in counting_sort.cuh: (nothing is moved to|sorted\[)", cases=("horizontal_a: 104 small automata of every kind",)),
    Fault(name="whoever comes first", file="counting_sort.cuh", old="if (first) {", new="if (!done) {",
          caught="TODO 6 in counting_sort.cuh: ", cases=("horizontal_c: 104 small automata of every kind",)),
    Fault(name="a warp waits for the lowest thread", file="counting_sort.cuh", old="__syncthreads();\n            const bool first =",
          new="__syncwarp();\n            const bool first =", backends=("cpu",), watched=True,
          caught="race in kernel move_by_atomics on the shared variable shared"),
    Fault(name="the next slot without the mask", file="fold.cuh", old="slot = (slot + 1) & mask;", new="slot = slot + 1;", backends=("cpu",),
          caught=r"TODO 7 in fold.cuh: slot_of_pair looks behind the last slot", cases=("fold: 195 small automata of every kind",)),
    Fault(name="places counted in 8 bits", file="counting_sort.cuh", old="for (int p = 0; p < length; p++) {\n        if (segment[p]",
          new="for (uint8_t p = 0; p < length; p++) {\n        if (segment[p]", caught="FAIL  horizontal_a: .* more than 255(.*\\n)+?.*ends at 255, so count places in int .TODO 5",
          cases=("horizontal_a: a segment of more than 255 places",)),
    Fault(name="a pair in 48 bits", file="fold.cuh", old="(numbers[q]) << 32", new="(numbers[q]) << 16",
          caught="FAIL  98304 classes(.|\n)*TODO 8 in fold.cuh"),
    Fault(name="one variant launches another", file="device.cuh", old='{"adaptive", refine_adaptively,', new='{"adaptive", refine_by_worklist,',
          caught="variant adaptive launches .*, but never mark_codes", backends=("cpu",), further=True,
          cases=("adaptive: 31 to 257 states",)),
    Fault(name="no state retires", file="retire.cuh", old="may_split = others[i] != q || now.crowded[q] == now.round",
          new="may_split = true", caught="TODO 9 in retire.cuh: state .* and the class has 1 state, yet it stays",
          cases=("retire: 31 to 257 states",)),
    Fault(name="the empty word is a letter", file="listing.h", old='words[2] == "<eps>"', new="false", caught="FAIL  bad files", cases=("bad files",)),
    Fault(name="a chain goes on behind a state that comes again", file="narrow_round.cuh", old=" + 1 && !comes_again;",
          new=" + 1;", caught="FAIL  worklist", cases=("worklist: 31 to 257 states",)),
    Fault(name="a sieve of one bit", file="short_rounds.cuh", old="if ((found >> shift & 1) != 0) atomicOr(word, 2u << shift);", new="",
          caught="FAIL  adaptive", cases=("adaptive: 31 to 257 states",)),
    Fault(name="codes of one bit a class", file="short_rounds.cuh", old="code = code << bits |", new="code = code << 1 |",
          caught="FAIL  adaptive", cases=("adaptive: 31 to 257 states",)),
]
