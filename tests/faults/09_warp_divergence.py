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
    Fault(name="even and odd swapped", old=THREAD_PARITY, new=THREAD_PARITY.replace("== 0", "!= 0"),
          caught="the two paths are swapped"),
    Fault(name="branch never taken", old=THREAD_PARITY, new=THREAD_PARITY.replace("i % 2", "i / 2 * 0"),
          caught="every element took path 0"),
    Fault(name="element of the thread in place of that of the warp", old=PAIRS,
          new="const unsigned i = thread;", caught="goes by its warp"),
    Fault(name="odd elements without a thread", old=PAIRS, new=PAIRS.replace(" + warp % 2", ""),
          caught="have no thread|differ"),
    Fault(name="parity of the lane in the kernel of the warps", old=WARP_PARITY, new="    if (lane % 2 == 0) {",
          caught="FAIL  warp_parity: 31 elements"),
    Fault(name="thread_parity copied", old=PAIRS + BRANCH + "warp % 2", new="const unsigned i = thread;" + BRANCH + "i % 2",
          caught="warps diverge: warp 0 takes 2 paths"),
    Fault(name="path by the lane in the kernel of the warps", old="const unsigned path = warp % paths;",
          new="const unsigned path = lane % paths;", caught="have no thread"),
    Fault(name="bounds test off by one", old="    if (i < count) y[i] = work_of_path(path, x[i], rounds);",
          new="    if (i + 1 < count) y[i] = work_of_path(path, x[i], rounds);", caught="FAIL  by_warp"),
    Fault(name="path by a mask, right for powers of two only", old=BY_THREAD,
          new=BY_THREAD.replace("i % paths", "i & (paths - 1)"), caught="FAIL  by_thread: 1 to 32 paths"),
    Fault(name="lane and path swapped in the element", old=BY_WARP,
          new="const unsigned i = (warp / paths * paths + path) * 32 + lane;", caught="goes by its warp"),
    Fault(name="two of the paths alike", old="FOUR_PATHS(28)",
          new="ONE_PATH(28) ONE_PATH(29) ONE_PATH(30) case 31: return work<30>(value, rounds);",
          caught="FAIL  by_thread: 32 paths"),
    Fault(name="no wait in the lower half", old=LOWER, new="", caught="A wait is missing", backends=CPU),
    Fault(name="no wait in the upper half", old=UPPER, new="", caught="A wait is missing", backends=CPU),
    Fault(name="no wait for the whole warp", old=LAST, new="", caught="A wait is missing", backends=CPU),
    Fault(name="mask of the whole warp in one half", old=LOWER, new=LOWER.replace("0x0000FFFFu", ""),
          caught="names the wrong lanes", backends=CPU),
    Fault(name="early return before the wait", old="    const unsigned thread = threadIdx.x, place",
          new="    if (i >= count) return;\n    const unsigned thread = threadIdx.x, place", backends=CPU,
          caught="FAIL  exchange: 1 element"),
]
