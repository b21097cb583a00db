// 14 gauss_jordan: A X = B for n unknowns and any number of right-hand sides, by elimination with
// partial pivoting. From a student report's kernels to a solver by blocks, one idea a variant:
//
//   report         the report's algorithm, kernel by kernel; the host drives each step
//   on_device      the pivot's row stays on the device, and elimination finds the next candidates
//   gauss_jordan   eliminates above the diagonal as well: no substitution at the end
//   tiled          tiles of 32 x 128, and one launch a step: the last block takes the next pivot
//   blocked        LU: panels of columns in the registers of one block, the rest by matrix products
//   refined        factors in float, and refinement to the accuracy of double (double only)
//
// The pages with tasks, each with its kernels, their launches and a sketch:
//   report.cuh      report                          tasks 1 to 5
//   on_device.cuh   on_device, gauss_jordan, tiled  tasks 6 to 9
//   blocked.cuh     blocked                         tasks 10 to 12
//   refined.cuh     refined                         task 13
// What is yours to write is marked by TODO in them.
// Nothing is to be written in the others: what a system is on the device (given/system.h) and on the host
// (given/input.h), the CPU's elimination (given/reference.h), how a solution is judged (given/errors.h),
// timed and reported (given/run.h), and which launcher a variant has (given/path_variants.cuh). `cpu` is
// the same elimination on the host. FURTHER=1 builds the pages of further/, which are there to be read;
// make bench compares with cusolver and openblas.
#include "../../common/lab.h"
#include "given/path_variants.cuh"
#include "given/program.h"
#ifdef LAB_FURTHER
#include "further/variants.cuh"
#endif

int main(int argc, char** argv) { return run_program(argc, argv); }
