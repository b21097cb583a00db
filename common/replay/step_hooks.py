"""Puts calls into a program in assembly:  python3 step_hooks.py <PROGRAM.s >HOOKED.s

They stand in functions with a frame and lead to common/cpu/runtime/film_steps.h:

cuda_cpu_line          at each line, which g++ -O0 says by .loc, in files that are neither the system's nor those of CPU mode. Once
                       a line: again only behind a label, to which the code may have jumped.
cuda_cpu_leave         where a function of such a file ends.
cuda_cpu_load, _store  before what moves memory outside of the function's frame, where accesses are watched. The compiler has
                       announced most of it; not the load of a structure that is handed over by value, nor the store of one that a
                       function returns. And when it copies a structure, it announces the store before the load: that call goes.
"""

import re
import sys
from collections.abc import Iterable, Iterator

FILE = re.compile(r'\t\.file (\d+) (?:"([^"]*)" )?"([^"]*)"')
LOCATION = re.compile(r"\t\.loc (\d+) (\d+) ")
# CPU mode plays asynchronous copies in a header of the labs, whose first call makes what all threads use: none stops there.
OTHERS = re.compile(r"/common/cpu/|^common/cpu/|/common/async_copy\.h$|^/usr/|^<")
SIZES = {name: size for size, names in {
    1: "movb movzbl movzbw movsbl movsbw movzbq movsbq", 2: "movw movzwl movswl movzwq movswq", 4: "movl movslq movss movd",
    8: "movq movsd movlps movhps pushq", 16: "movaps movups movapd movupd movdqa movdqu"}.items() for name in names.split()}
CODE = re.compile(r"\t([a-z]\w*)\t(?:(.+), )?([^(,]*(?:\([^)]*\))?)\n")
MEMORY = re.compile(r"(?!\.L)([A-Za-z_$][\w.$]*?)?(?:\+?(-?\d+))?\(((?!%r[bs]p)[%\w,]+)\)")
COPY = "\trep movsq\n"  # of 8 times %rcx bytes
CALL = "\tpushq\t%rdi\n\tpushq\t%rsi\n\tleaq\t{}, %rdi\n\tleaq\t{}, %rsi\n\tcall\tcuda_cpu_{}\n\tpopq\t%rsi\n\tpopq\t%rdi\n"


def move_of(line: str) -> tuple[tuple[bool, str, str, int], int] | None:
    """What an instruction moves: whether it stores, the memory's symbol, registers and offset; and how many bytes."""
    code = CODE.match(line)
    size = code and SIZES.get(code[1].removeprefix("v").rstrip("2468"))
    if not size:
        return None
    source, target = MEMORY.fullmatch(code[2] or code[3]), MEMORY.fullmatch(code[3])
    if not (memory := source or target):
        return None
    return (not source, memory[1] or "", memory[3], int(memory[2] or 0)), size * (4 if "%zmm" in line else 2 if "%ymm" in line else 1)


def register(name: str) -> str:
    """The same name for %rax and %eax, %r8 and %r8d."""
    return re.sub(r"%[re]?(\w+?)d?$", r"\1", name)


def told(lines: list[str], at: int, done: set[int]) -> Iterator[str]:
    """The call before an instruction that moves memory; what those behind it move of the same structure is told with it."""
    if lines[at] == COPY:
        yield CALL.format("(%rdi)", "(,%rcx,8)", "store")
        yield CALL.format("(%rsi)", "(,%rcx,8)", "load")
    if at in done or not (move := move_of(lines[at])):
        return
    (stores, symbol, registers, first), end = move[0], move[0][3]
    for i in range(at, len(lines)):
        if not (code := CODE.match(lines[i])) or code[1].startswith(("call", "j")):
            break
        if (other := move_of(lines[i])) and other[0] == (stores, symbol, registers, end):
            end += other[1]
            done.add(i)
        if register(code[3]) in map(register, registers.split(",")):
            break
    yield CALL.format(f"{symbol}{first:+}({registers})", end - first, "store" if stores else "load")


def is_copy(lines: list[str], at: int) -> bool:
    """Whether the store that is announced here waits for a load."""
    for line in lines[at + 1:]:
        if line.startswith("\tcall\t__tsan_"):
            return "read" in line
        if not line.startswith("\t") or line.startswith(("\tcall", "\tj")) or (move := move_of(line)) and move[0][0]:
            return False
    return False


def hooked(lines: Iterable[str]) -> Iterator[str]:
    """The lines of the program with those that are added."""
    lines = list(lines)
    own: dict[str, bool] = {}
    here = False  # whether the last line is in a file of the learner's
    framed, inside, watched, last, remembered, done = False, False, False, None, [], set()
    for at, line in enumerate(lines):
        if line.startswith("\t.loc ") and (match := LOCATION.match(line)):
            yield line
            here = own.get(match[1], False)
            if framed and here and match[2] != "0" and last != match.groups():
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
            framed, inside, watched, last, remembered = False, here, False, None, []  # its first line stands before
        elif line.startswith(".L") and not line.startswith((".LB", ".LE", ".LV", ".LF")) or "enter_kernel" in line:
            last = None
        elif line.startswith("\t.file") and (match := FILE.match(line)):
            own[match[1]] = not OTHERS.search(f"{match[2]}/{match[3]}" if match[2] else match[3])
        elif line == "\tcall\t__tsan_func_entry\n":
            watched = True
        elif line.startswith("\tcall\t__tsan_") and "write" in line and is_copy(lines, at):
            continue
        elif framed and watched:
            yield from told(lines, at, done)
        yield line


if __name__ == "__main__":
    sys.stdout.writelines(hooked(sys.stdin))
