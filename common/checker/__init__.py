"""The package behind every labs/NN_name/check.py.

A check.py registers named cases. Each case makes its own input, runs the program that the learner
built, and judges what the program wrote against an oracle of its own. The whole file may read so:

    '''Judges vector_add: the sum of two vectors, against NumPy.'''

    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
    import checker

    lab = checker.Lab(__file__)
    TOLERANCE = checker.Tolerance(why="one float addition is rounded once, the same everywhere")


    def multiplied(expected, got, case):
        '''A diagnoser: a sentence when it knows what went wrong, otherwise None.'''
        product = case.inputs["a"] * case.inputs["b"]
        return "the kernel multiplies where it should add" if (got == product).all() else None


    def add(case, count, variant="1d_1d"):
        a, b = case.floats(count), case.floats(count)
        got = case.compute("--variant", variant, inputs={"a": a, "b": b})
        case.compare(a + b, got, TOLERANCE, diagnosers=[multiplied])


    for name, count in checker.SIZES.items():
        lab.case(name, add, count=count)
    lab.case("large", add, count=1 << 22, on_cpu={"count": 1 << 19}, quick=False)  # smaller in CPU mode


    @lab.case("a size nobody knows before", fresh=True)
    def any_size(case):
        add(case, count=int(case.random.integers(1, 100_000)))


    @lab.case("negative size")
    def negative(case):
        case.refuses("--elements", "-1", saying="elements")


    lab.main()

`python3 check.py --program path` runs every case, prints each cause once with its first case, and a count, and ends
with status 0 (all pass), 1 (a case fails), 2 (bad usage, no program) or 77 (the program says 77 to
everything, as it does without a GPU).
Further options: --all (every case; without it a screen), --case NAME, --list, --quick (without the long
cases), --first (stop after the first failure), --before NAME (begin with
the cases of a variant or kernel), --seed N (repeat fresh input), --json FILE, --timeout S, --workers N, --keep FOLDER.

Beside `lab.case`, each a line before `lab.main()`:

    lab.kernels({"tiled": "tiled_kernel"})         each variant launches its own kernels, and no other variant's
    lab.watched("no races", [["--elements", 3001]])    a run for each list in the build that looks for races
    lab.shown("neighbours load neighbours", ["--elements", 3001], "tiled_kernel", "load_sectors", 4, "...")
                                                   what `make explain` counts: more than 4 sectors a load fail, and "..." says why

What a case function gets is a `checker.Case`, followed by the keyword arguments of its `lab.case`:

    case.random             a numpy Generator: fixed seed, or the printed one when fresh=True
    case.floats(shape)      random float32 in [-1, 1); low=, high=, dtype=
    case.run(*arguments)    runs the program in the case's private folder and returns a Run with
                            .stdout .stderr .status .seconds .lines; status= says what is expected
                            (0; a number, a tuple, or None for any), env= adds variables, timeout=
    case.save(name, array)  writes name.npy into the folder and returns its file name; a picture, if the name is "name.png"
    case.compute(*arguments, inputs={"a": a}, output="output")
                            saves the inputs, runs with `--a a.npy --output output.npy`, and returns
                            the array that the program wrote; with kind="png" they are pictures
    case.load(name)         the array of a file that the program wrote, when run() was used; or the picture "name.png"
    case.compare(expected, got, tolerance, dtype=None, diagnosers=[], place=None)
                            fails unless shape, dtype (that of `expected`, or the one given) and
                            every element are right; place(index) names an element in the report
    case.refuses(*arguments, saying="text")
                            bad usage: status 2, a sentence with that text on stderr, no output file
    case.refuses_values("--height --width", "-1", "many")
                            the same of each option with each value
    case.refuses_broken("--input", good)
                            the same of a file that is missing, a folder, empty, of another kind, or a part of `good`
    case.calls_correct(run, variants)
                            the program's table has a row for each variant, and calls it correct
    case.same_lines(expected, got, any_order=False)
                            for programs that are judged by the lines they print
    case.kernels(what, own, others), case.threads(kernel, threads=, blocks=, storing=), case.copied_back(bytes),
    case.freed(), case.checked()
                            what the last run asked of CUDA, which CPU mode records (checker.record); on a card
                            they say nothing. `storing` is known in watched cases only
    case.expect(condition, sentence), case.fail(sentence)
                            the learner reads the sentence; so does `raise checker.Failure(sentence)`
    case.inputs, case.parameters, case.wrong, case.backend ("cpu" or "gpu"), case.folder, case.name

Files of a failing case stay in build/checks/NN_name/<case>/, so that the printed command repeats it.
A program that exits with 1 but did write its output is judged by the output: the learner is told
what differs, and a right output with status 1 still fails. Diagnosers of the lab are asked first,
then those of checker.diagnose. What a diagnoser returns is the cause; it returns checker.Fact(sentence) for
what only stands out, and checker.Shared(sentence, own=another) for what lies in the steps that all variants
share, which is not said once another variant passes. checker.Lab(__file__, tasks={"tiled": "TODO 3"}) names
the TODO of each variant: the report adds it to a cause that names none, once another variant passes.
"""

from importlib import import_module

# Sizes around a warp and a block, none of which a launch may leave half done.
SIZES = {
    "one element": 1,
    "31 elements": 31,
    "32 elements": 32,
    "33 elements": 33,
    "255 elements": 255,
    "256 elements": 256,
    "257 elements": 257,
    "1000 elements": 1000,
    "a prime, 1009": 1009,
    "100003 elements": 100_003,
}

# (height, width): one element, both kinds of line, square, and not square in both directions.
SHAPES = {
    "1 x 1": (1, 1),
    "one row, 1 x 1000": (1, 1000),
    "one column, 1000 x 1": (1000, 1),
    "31 x 33": (31, 33),
    "32 x 32": (32, 32),
    "33 x 31": (33, 31),
    "wide, 7 x 1000": (7, 1000),
    "tall, 1000 x 7": (1000, 7),
    "primes, 101 x 103": (101, 103),
}

# What a check.py uses is loaded when it is named: most commands need none of it, nor NumPy.
MODULES = {"Case": "case", "Fact": "diagnose", "Failure": "failure", "Lab": "lab", "Run": "program", "Shared": "diagnose",
           "Skipped": "failure", "Tolerance": "comparison", "counted": "usage"}
__all__ = ["SHAPES", "SIZES", *MODULES]


def __getattr__(name: str):
    if name not in MODULES:
        raise AttributeError(f"module 'checker' has no attribute '{name}'")
    return getattr(import_module(f".{MODULES[name]}", __name__), name)
