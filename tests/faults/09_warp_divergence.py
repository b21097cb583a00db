"""What learners get wrong in lab 09."""

from faults import Fault

THREAD_PARITY = "    if (i % 2 == 0) {\n        value = work<0>(value, rounds);"
WARP_PARITY = "    if (warp % 2 == 0) {"
PAIRS = "const unsigned i = warp / 2 * 64 + 2 * lane + warp % 2;"
BRANCH = "\n    if (i >= count) return;\n    uint32_t value = x[i];\n    if ("
BY_THREAD = "y[i] = work_of_path(i % paths, x[i], rounds);"
BY_WARP = "const unsigned i = (warp / paths * 32 + lane) * paths + path;"
LOWER, UPPER = "        __syncwarp(0x0000FFFFu);\n", "        __syncwarp(0xFFFF0000u);\n"
LAST = "    __syncwarp();\n"
CPU = ("cpu",)  # on a GPU this may go wrong without a sign

FAULTS = [
    Fault(name="a launch the first time only", file="program.cuh", old="    const dim3 grid = grid_of(count, paths, block);\n    kernel",
          new="    static bool done = false;\n    if (done) return {};\n    done = true;\n"
              "    const dim3 grid = grid_of(count, paths, block);\n    kernel", caught="right only once: in a later launch",
          cases=("all variants in one run, random input",)),
    Fault(name="no else", old="    } else {\n        value = work<1>(value, rounds);\n    }\n    y[i] = value;\n    //: // TODO 1",
          new="    }\n    value = work<1>(value, rounds);\n    y[i] = value;\n    //: // TODO 1",
          caught="took one path and then the other: the second belongs into an else .TODO 1"),
    Fault(name="even and odd swapped", old=THREAD_PARITY, new=THREAD_PARITY.replace("== 0", "!= 0"),
          caught="the path of a thread is .i . 1. % 2, and it is to be i % 2 .TODO 1"),
    Fault(name="branch never taken", old=THREAD_PARITY, new=THREAD_PARITY.replace("i % 2", "i / 2 * 0"),
          caught="the path of a thread is 0 for all, and it is to be i % 2 .TODO 1"),
    Fault(name="element of the thread in place of that of the warp", old=PAIRS,
          new="const unsigned i = thread;", caught="the element of a thread is thread, and it is to be warp / 2 . 64 .*TODO 2"),
    Fault(name="odd elements without a thread", old=PAIRS, new=PAIRS.replace(" + warp % 2", ""),
          caught="the element of a thread is warp / 2 . 64 . 2 . lane, and it is to be .*TODO 2"),
    Fault(name="parity of the lane in the kernel of the warps", old=WARP_PARITY, new="    if (lane % 2 == 0) {",
          caught="the path of a thread is lane % 2, and it is to be warp % 2 .TODO 2"),
    Fault(name="thread_parity copied", old=PAIRS + BRANCH + "warp % 2", new="const unsigned i = thread;" + BRANCH + "i % 2",
          caught="warps diverge: warp 0 takes 2 paths(.|\n)*the element of its own number, as in thread_parity.*TODO 2"),
    Fault(name="path by the lane in the kernel of the warps", old="const unsigned path = warp % paths;",
          new="const unsigned path = lane % paths;", caught="the element of a thread is .warp / paths . 32 . lane. . paths . lane % paths.*TODO 4"),
    Fault(name="bounds test off by one", old="    if (i < count) y[i] = work_of_path(path, x[i], rounds);",
          new="    if (i + 1 < count) y[i] = work_of_path(path, x[i], rounds);",
          caught="the last element is not written: the bounds test is i < count .TODO 4"),
    Fault(name="path by a mask, right for powers of two only", old=BY_THREAD,
          new=BY_THREAD.replace("i % paths", "i & (paths - 1)"), caught="the path of a thread is i & .paths - 1., and it is to be i % paths .TODO 3"),
    Fault(name="lane and path swapped in the element", old=BY_WARP,
          new="const unsigned i = (warp / paths * paths + path) * 32 + lane;",
          caught="the element of a thread is .*, and it is to be .warp / paths . 32 . lane. . paths . path.*TODO 4"),
    Fault(name="two of the paths alike", old="FOUR_PATHS(28)",
          new="ONE_PATH(28) ONE_PATH(29) ONE_PATH(30) case 31: return work<30>(value, rounds);",
          caught="FAIL  by_thread: 32 paths", cases=("by_thread: 32 paths, 33 elements",)),
    Fault(name="no wait in the lower half", old=LOWER, new="", caught="lanes 0-15 read own.next. before .*0x0000FFFF .TODO 5",
          backends=CPU),
    Fault(name="no wait in the upper half", old=UPPER, new="", caught="lanes 16-31 read own.next. before .*0xFFFF0000 .TODO 5",
          backends=CPU),
    Fault(name="no wait for the whole warp", old=LAST, new="", caught="reads the pair of the other half before .*TODO 5", backends=CPU),
    Fault(name="mask of the whole warp in one half", old=LOWER, new=LOWER.replace("0x0000FFFFu", ""),
          caught="the whole warp is to wait, and before that each half for its own lanes only .TODO 5", backends=CPU),
    Fault(name="early return before the wait", old="    const unsigned thread = threadIdx.x, place",
          new="    if (i >= count) return;\n    const unsigned thread = threadIdx.x, place", backends=CPU,
          caught="threads beyond the end of the array leave before their neighbours"),
]
