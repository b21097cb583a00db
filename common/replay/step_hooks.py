"""Puts a call at each line of a program in assembly:  python3 step_hooks.py <PROGRAM.s >HOOKED.s

g++ -O0 says by .loc where the instructions of a line begin. There a call of cuda_cpu_line is added, and one of
cuda_cpu_leave where a function ends (common/cpu/runtime/film_steps.h), in functions with a frame and in files that are
neither the system's nor those of CPU mode, but for the makers of vectors, which return structures. Once a line: again only behind a label, to which the code may have jumped.
"""

import re
import sys
from collections.abc import Iterable, Iterator

FILE = re.compile(r'\t\.file (\d+) (?:"([^"]*)" )?"([^"]*)"')
LOCATION = re.compile(r"\t\.loc (\d+) (\d+) ")
OTHERS = re.compile(r"/common/cpu/|^common/cpu/|^/usr/|^<")
MAKERS = re.compile(r"/cuda_cpu/types\.h$")  # of vectors, as make_float4


def hooked(lines: Iterable[str]) -> Iterator[str]:
    """The lines of the program with those that are added."""
    own: dict[str, bool] = {}
    leaves: dict[str, bool] = {}
    here = False
    framed, inside, last, remembered = False, False, None, []
    for line in lines:
        if line.startswith("\t.loc ") and (match := LOCATION.match(line)):
            yield line
            here = leaves.get(match[1], False)
            if framed and own.get(match[1]) and match[2] != "0" and last != match.groups():
                last = match.groups()
                yield "\tcall\tcuda_cpu_line\n"
            continue
        if framed and inside and line in ("\tleave\n", "\tpopq\t%rbp\n"):
            yield "\tcall\tcuda_cpu_leave\n"
        elif line.startswith("\t.cfi_def_cfa_register 6"):
            framed = True
        elif line.startswith("\t.cfi_def_cfa 7"):
            framed = False
        elif line.startswith("\t.cfi_remember_state"):
            remembered.append(framed)
        elif line.startswith("\t.cfi_restore_state"):
            framed, last = remembered.pop() if remembered else True, None
        elif line.startswith("\t.cfi_startproc"):
            framed, inside, last, remembered = False, here, None, []  # its first line stands before
        elif line.startswith(".L") and not line.startswith((".LB", ".LE", ".LV", ".LF")) or "enter_kernel" in line:
            last = None
        elif line.startswith("\t.file") and (match := FILE.match(line)):
            name = f"{match[2]}/{match[3]}" if match[2] else match[3]
            own[match[1]], leaves[match[1]] = not OTHERS.search(name), not OTHERS.search(name) or bool(MAKERS.search(name))
        yield line


if __name__ == "__main__":
    sys.stdout.writelines(hooked(sys.stdin))
