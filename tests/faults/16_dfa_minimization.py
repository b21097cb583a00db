"""What learners get wrong in lab 16."""

from faults import Fault

REVERSED = "            for (int other = {}; other {}; {}other) {{\n                int32_t& counter"

FAULTS = [
    Fault(name="the own class is not compared", file="moore.h", caught="FAIL  moore_radix",
          old="for (int64_t digit = 0; digit < digits_; ++digit) {\n            const int32_t* const value = &values_[digit",
          new="for (int64_t digit = 1; digit < digits_; ++digit) {\n            const int32_t* const value = &values_[digit"),
    Fault(name="retired too early", file="moore.h", old="size_[class_of_[state]] == 1;",
          new="size_[class_of_[state]] <= 2;", caught="FAIL  moore_hash"),
    Fault(name="two rounds in one from the beginning", file="openmp.h", old="bool is_first = true;",
          new="bool is_first = false;", caught="FAIL  openmp_unfolded"),
    Fault(name="segments in the wrong order", file="openmp.h", old=REVERSED.format("0", "< threads", "++"),
          new=REVERSED.format("threads - 1", ">= 0", "--"), caught="FAIL  openmp_sort"),
    Fault(name="a splitter left out", file="hopcroft.h", old="for (int32_t label = 1; label < ranges.classes()",
          new="for (int32_t label = 2; label < ranges.classes()", caught="FAIL  hopcroft"),
    Fault(name="not numbered by breadth", old="numbered_by_breadth(quotient(automata[i], found[i]))",
          new="quotient(automata[i], found[i])", caught="not numbered by breadth"),
    Fault(name="state 0 taken for the start", file="automaton_file.h", old="listing.start = number;",
          new="listing.start = 0;", caught="FAIL  hopcroft"),
    Fault(name="the start is not written first", file="automaton_file.h", old="const int64_t state = i < 0 ? automaton.start : i;",
          new="const int64_t state = i < 0 ? 0 : i;", caught="FAIL  the sink left out"),
    Fault(name="conflicting transitions accepted", file="automaton_file.h",
          old="if (place(before) == place(now)) refuse_pair(before, now);", new="(void)before, (void)now;",
          caught="FAIL  bad files"),
    Fault(name="the hash decides what is equal", file="fold.cuh", old="if (found == no_pair || found == pair) return slot;",
          new="return slot;", caught="FAIL  fold"),
    Fault(name="a pair without the number so far", file="fold.cuh", old="(unsigned long long)(numbers[q]) << 32 |",
          new="", caught="FAIL  fold"),
    Fault(name="only representatives go on", file="retire.cuh", old="others[i] != q || now.crowded[q] == now.round",
          new="others[i] != q", caught="FAIL  retire"),
    Fault(name="a chain goes on behind a state that comes again", file="narrow_round.cuh", old=" + 1 && !comes_again;",
          new=" + 1;", caught="FAIL  worklist"),
]
