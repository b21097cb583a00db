"""Explains a program's kernels:  python3 -m explain [OPTION]... PROGRAM [ARGUMENT]...

`make explain` builds the program and calls this; its EXPLAIN="..." holds the options.
"""

import argparse
import os
import shlex
import signal
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

from . import cards, ncu, page, picture, table
from .frames import MissingTool
from .operations import operations_for, operations_of, with_times
from .order import mistake_in_order
from .record import Record
from .summary import Kernel, kernels_of


TOUCHES = 4000  # requests of a launch that pictures show
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
NO_KERNEL = "make explain: no kernel ran, so there is nothing to explain."


def main() -> int:
    parser = argparse.ArgumentParser(prog="make explain", description="What kernels ask of memory, line by line.",
                                     usage='make explain LAB=03 [SOLUTION=1] [ARGS="..."] [EXPLAIN="OPTION..."]')
    parser.add_argument("--backend", choices=["cpu", "gpu"], default="cpu", help=argparse.SUPPRESS)
    parser.add_argument("--card", default="T4", help=f"for the roofline's time: {', '.join(cards.CARDS)} (T4)")
    parser.add_argument("--kernel", default="", help="only kernels whose name contains this")
    parser.add_argument("--html", metavar="FILE", type=Path, help="write all of it as one page")
    parser.add_argument("--picture", metavar="FOLDER", type=Path, help="draw who touches which element (small sizes)")
    parser.add_argument("--width", type=positive, default=0, help="elements in a row of the pictures' arrays")
    parser.add_argument("--events", type=positive, default=20_000_000,
                        help="accesses of a launch to look at; a larger one is sampled (20000000)")
    parser.add_argument("--small", metavar="WORDS", help=argparse.SUPPRESS)  # of a lab: its arguments without ARGS
    parser.add_argument("program", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    try:
        card = cards.find(options.card)
        if options.picture:
            options.picture.mkdir(parents=True, exist_ok=True)
    except ValueError as error:
        parser.error(str(error))
    except OSError as error:
        parser.error(f"cannot write {error.filename}: {error.strerror}")
    if options.html and (options.html.is_dir() or not os.access(options.html.parent, os.W_OK)):
        parser.error(f"cannot write {options.html}: a file's name is needed, in a folder that is there")
    if options.backend == "cpu" and (mistake := mistake_in_order()):
        parser.exit(2, f"make explain: {mistake}\n")
    program = options.program.absolute()
    if not options.arguments and options.small is not None:
        options.arguments = shlex.split(options.small)
        print(f"a small case: {' '.join(options.arguments) or 'as it is'} (ARGS says otherwise)\n", flush=True)
    if options.backend == "gpu":
        return on_card(program, options)
    return on_cpu(program, options, card)


def positive(text: str) -> int:
    """A number of an option."""
    if not text.isdigit() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"a whole number from 1 on is needed, not {text}")
    return int(text)


def on_card(program: Path, options: argparse.Namespace) -> int:
    """The same figures, as far as ncu has them, a kernel at a time."""
    from checker import profile_ncu, profiling  # with NumPy, which the CPU's side does not need

    try:
        rows = ncu.profile(program, options.arguments, first_only=True, ncu=profile_ncu.TOOL.find())
    except (ncu.NoCounters, profiling.NoProfile) as problem:
        print(f"make explain: {problem} BACKEND=cpu counts without a card.", file=sys.stderr)
        return 1
    wanted = [row for row in rows if options.kernel in row["kernel"]]
    for line in ncu.table(wanted):
        print(line)
    if not rows:
        print(NO_KERNEL, file=sys.stderr)
    elif not wanted:
        print(no_such_kernel(options.kernel, (row["kernel"] for row in rows)), file=sys.stderr)
        return 1
    return 0


def no_such_kernel(wanted: str, names: Iterable[str]) -> str:
    return f"make explain: no kernel's name contains {wanted}; there are {', '.join(dict.fromkeys(names))}."


def on_cpu(program: Path, options: argparse.Namespace, card: cards.Card) -> int:
    environment = {"CUDA_CPU_EVENTS": str(options.events)}
    if options.picture:
        environment["CUDA_CPU_TOUCHES"] = str(TOUCHES)
    with tempfile.TemporaryDirectory() as folder:
        times = Path(folder) / "times.csv"
        record = Record.of_run(program, with_times(program, options.arguments, times), environment)
        operations = operations_of(times)
    sys.stderr.write(record.said)
    status = status_of(record)
    if status:
        until = ("the launches that ended before that follow" if record.launches else
                 "before that no launch had come to its end")
        print(f"make explain: the program {ending(record.status, options.small is not None)}; {until}.", file=sys.stderr)
    elif not record.launches:
        print(NO_KERNEL, file=sys.stderr)
    if not record.launches:
        return status
    found = kernels_of(record)
    kernels = [kernel for kernel in found if options.kernel in kernel.name]
    if not kernels:
        print(no_such_kernel(options.kernel, (kernel.name for kernel in found)), file=sys.stderr)
        return 1
    for line in report(kernels, card, operations):
        print(line)
    width = options.width or width_of(options.arguments)
    pictures = picture.all_of(kernels, width) if options.picture else {}
    for path in picture.write(pictures, options.picture):
        print(f"picture: {path}")
    for kernel in [kernel.name for kernel in kernels if any(len(launch.touches) == TOUCHES for launch in kernel.launches)]:
        print(f"pictures of {kernel} show its first {TOUCHES} requests only: a smaller case is seen in full")
    if options.html:
        options.html.write_text(page.page(kernels, card, operations, program.name, pictures))
        print(f"page: {options.html}")
    return status


def status_of(record: Record) -> int:
    """The program's status as a shell has it; to skip is no failure."""
    return 0 if record.status == 77 else record.status if record.status >= 0 else 128 - record.status


def ending(status: int, of_lab: bool) -> str:
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}" + (" (make run shows what it says)" if of_lab else "")


def report(kernels: list[Kernel], card: cards.Card, operations: dict[str, float]):
    for kernel in kernels:
        yield table.heading(kernel)
        yield from table.table(kernel)
        yield from table.kernel_figures(kernel, card, operations_for(kernel, operations))
        yield ""
    yield from table.margin(kernels)
    yield ""
    yield from table.worst_lines(kernels)  # last, where a terminal shows them


def width_of(arguments: list[str]) -> int:
    """Elements in a row, as the program's own options say; 32 without them."""
    for option in ("--width", "--n", "--size"):
        if option in arguments[:-1] and arguments[arguments.index(option) + 1].isdigit():
            return int(arguments[arguments.index(option) + 1])
    return 32


def interrupt(*_) -> None:
    """Ctrl+C and kill end the program that is explained as well; a second one, from make say, changes nothing."""
    for number in INTERRUPTS:
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    for number in INTERRUPTS:
        signal.signal(number, interrupt)
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        sys.exit(130)
    except MissingTool as missing:
        sys.exit(f"make explain: {missing}")
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
