// Lab 16: the smallest automaton of a language, by Moore's algorithm, on the host and on the
// device.
//
// Moore's algorithm refines a partition of the states, round by round, until no class splits any
// more. A round is a sort, or a hash table, over the signatures of all states. What it teaches: a
// whole algorithm on the GPU, from a counting sort that is built by hand to rounds that the host
// does not even see; and that a better algorithm may beat a better machine.
//
// The pages with tasks:
//   moore.h            moore_radix: Moore's algorithm on one core
//   openmp.h           openmp_for to openmp_unfolded: the report's programs for several cores
//   counting_sort.cuh  the report's counting sorts on the device
//   fold.cuh           letters folded into numbers by a hash table
//   retire.cuh         states that are alone drop out
// BEGIN SOLUTION
//: // What is yours to write is marked by TODO in them; the handout lists it, task by task.
// END SOLUTION
// Nothing is to be written in the others, but two are worth a look before task 5: given/device.cuh, the
// variants on the device in the order of their ladder, and given/partition.cuh, what they all share.
// further/ has the fastest ones, which are there to be read: FURTHER=1 builds them. given/program.h leads
// from the command line to the table.
#include "../../common/lab.h"
#include "given/device.cuh"
#include "given/host.h"
#include "given/program.h"

int main(int argc, char** argv) { return run_program(argc, argv); }
