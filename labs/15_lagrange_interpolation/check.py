"""Judges lagrange_interpolation: every variant against a reference of higher precision, with bounds."""

import re
import sys
from fractions import Fraction
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from causes import BLOCKED, LINEAR, LONG, PHASES
from causes import careful_cause, careful_counts, likely_cause
from checker import comparison
from checker.comparison import counted, poisoned
from checker.record import launches_of

TODO = {"basis": "TODO 1", **dict.fromkeys(PHASES, "TODO 2 to 5"), "barycentric": "TODO 6, 7, 9 and 10",
        **dict.fromkeys(["product", "constant"], "TODO 6 and 8 to 10"), "warp_a_point": "TODO 6 and 9 to 11",
        **dict.fromkeys(BLOCKED, "TODO 6, 8 to 10 and 12"), "overlapped": "TODO 6, 8 to 10, 12 and 13"}
lab = checker.Lab(__file__, shared=TODO, further=["constant"])
VARIANTS = ["basis", *PHASES, *LINEAR]
VARIANTS_THERE = [variant for variant in VARIANTS if lab.further or variant not in lab.beyond]  # in the program
KERNELS = {variant: [variant] for variant in VARIANTS} | dict.fromkeys(BLOCKED, ["blocked"]) | dict.fromkeys(
    PHASES, ["find_constants", "intra_block", "inter_block"])
UNIT = 2.0 ** -53  # half a step in the last place of a double


# The reference: long double, and exact fractions where they are few. The bound is not a guess:
# a double is rounded a few times for every node, and each rounding changes a term y_j L_j(x) by at most
# UNIT of its size. The sum of the |y_j L_j(x)| is at most Lebesgue's constant times the largest |y|.


class Reference:
    """Values, and how far from them rounding may carry a right program."""

    def __init__(self, x, y, at):
        with numpy.errstate(all="ignore"):  # what overflows is not judged
            self.evaluate(x, y, at)

    def evaluate(self, x, y, at):
        x, y, at = (numpy.asarray(values, LONG) for values in (x, y, at))
        width = x.max() - x.min()
        self.factor = LONG(4) / width if width > 0 else LONG(1)
        nodes = len(x)
        differences = (at[:, None] - x) * self.factor
        before = numpy.ones((len(at), nodes), LONG)
        behind = numpy.ones((len(at), nodes), LONG)
        numpy.cumprod(differences[:, :-1], axis=1, out=before[:, 1:])
        behind[:, :-1] = numpy.cumprod(differences[:, :0:-1], axis=1)[:, ::-1]
        terms = y * before * behind / self.denominators(x)
        self.exact = terms.sum(axis=1)
        size = numpy.abs(terms).sum(axis=1)
        distances = numpy.abs(at[:, None] - x)
        share = numpy.where(distances > 0, (numpy.abs(at[:, None]) + numpy.abs(x)) / numpy.where(distances > 0, distances, 1), 0)
        least = 5e-324 * (nodes + 2)  # denormal results are rounded to steps of 5e-324
        self.value = self.exact.astype(float)
        self.bound = (UNIT * (6 * nodes + 20) * size).astype(float) + least
        # x / t - z: each quotient may be far larger than the difference; term j has no factor j
        cancelled = (numpy.abs(terms) * (share.sum(axis=1)[:, None] - share)).sum(axis=1)
        self.phases_bound = self.bound + (4 * UNIT * cancelled).astype(float)
        # where x is a node the value is its y, whatever the reference says
        self.node = numpy.full(len(at), -1)
        places, found = numpy.nonzero(at[:, None] == x)
        self.node[places] = found
        self.value[places] = y[found].astype(float)

    def denominators(self, x):
        products = []
        for j in range(len(x)):
            row = (x[j] - x) * self.factor
            row[j] = 1
            products.append(row.prod())
        return numpy.array(products, LONG)


class Bound(checker.Tolerance):
    """One bound an element."""

    def __str__(self):
        return self.why


ROUNDING = Bound(absolute=1, why="allowed is what n roundings can do to the sum of |y_j L_j(x)|")
AT_NODES = Bound(absolute=0, why="no difference is allowed: at a node the value is that node's y")


# Judging


def judge(case, variant, x, y, at, *options):
    """Runs a variant and judges its values; returns them with the reference."""
    x, y, at = (numpy.asarray(values, float) for values in (x, y, at))
    got = case.compute("--variant", variant, *options, inputs={"x": x, "y": y, "at": at})
    reference = Reference(x, y, at)
    complaint = comparison.shape_complaint(reference.value, got, None)
    case.expect(not complaint, complaint)
    bound = reference.phases_bound if variant in PHASES else reference.bound
    at_nodes = reference.node >= 0
    with numpy.errstate(all="ignore"):
        far = ~(numpy.abs(got - reference.value) <= bound)
    far &= numpy.isfinite(reference.value) & numpy.isfinite(bound)
    case.wrong = numpy.where(at_nodes, got != reference.value, far | poisoned(got))
    if case.wrong.any():
        why = AT_NODES if (case.wrong & at_nodes).any() and not (case.wrong & ~at_nodes).any() else ROUNDING
        text = comparison.difference_text(reference.value, got, case.wrong, why)
        cause = likely_cause(reference.value, got, case)
        case.fail(text + (f"\nlikely cause: {cause}" if cause else ""))
    require_reasons(case, variant)
    others = sorted({kernel for kernels in KERNELS.values() for kernel in kernels} - set(KERNELS[variant]))
    case.kernels(f"variant {variant}", KERNELS[variant], others, elements=len(at))
    case.copied_back(got.nbytes)
    return got, reference


def require_reasons(case, variant):
    """No point takes the careful way unless it is a node, or a product comes near the limits of double."""
    without = careful_counts(case.last_run.stdout).get(variant, (0, 0, 0))[2]
    if without:
        case.fail(f"{counted(without, 'value')} of {len(case.inputs['at'])} came by the careful way without a reason: no node "
                  f"lies there, and no product comes near the limits of double\nlikely cause: {careful_cause(case, without)}")


def chebyshev_like(case, nodes):
    """Well-placed nodes in no order, none at a round place."""
    x = numpy.cos((numpy.arange(nodes) + case.random.uniform(0.3, 0.7, nodes)) * numpy.pi / nodes)
    case.random.shuffle(x)
    return x


def around(case, x, points):
    return case.random.uniform(x.min(), x.max(), points) if len(x) > 1 else case.random.uniform(-3, 3, points)


def random_problem(case, variant, nodes, points, options=()):
    x = chebyshev_like(case, nodes)
    judge(case, variant, x, case.random.uniform(-2, 2, nodes), around(case, x, points), *options)


for variant in VARIANTS:
    for nodes, points in ((6, 33), (1, 3), (33, 37), (100, 19)):
        lab.case(f"{variant}: {counted(nodes, 'node')}, {points} points", random_problem, variant=variant,
                 nodes=nodes, points=points)
for nodes, points in ((2, 1), (32, 31), (65, 32)):
    lab.case(f"phases: {nodes} nodes, {counted(points, 'point')}", random_problem, variant="phases", nodes=nodes,
             points=points)
for nodes, points in ((2, 1), (31, 1023), (64, 1025), (512, 33), (513, 129), (1030, 20)):
    lab.case(f"blocked: {nodes} nodes, {counted(points, 'point')}", random_problem, variant="blocked",
             nodes=nodes, points=points)
for variant in ("basis", "product", "blocked", "overlapped"):
    lab.case(f"{variant}: 9 nodes, 100003 points", random_problem, variant=variant, nodes=9, points=100_003,
             quick=variant == "blocked")
for piece in (1, 7, 333, 1000, 5000):
    lab.case(f"overlapped: 1000 points, {piece} at a time", random_problem, variant="overlapped", nodes=40,
             points=1000, options=("--piece", piece))


@lab.case("overlapped: streams in another order", variant="overlapped")
def other_order(case, variant):
    for case.order in ("reversed", "random:3") if case.backend == "cpu" else ("",):
        random_problem(case, variant, 20, 700, ("--piece", 50))
    record = case.last_run.record
    if record:  # of CPU mode
        launches = max(launch["streams"] for launch in launches_of(record, "blocked"))
        copies = min(record["copies"][way]["streams"] for way in ("to_device", "to_host"))
        case.expect(min(launches, copies) == 3, f"of 14 pieces the launches use {launches} of the 3 streams, and the copies of one direction "
                    f"{copies}: the values are right, but nothing overlaps unless a piece has its copies and its launch in its own stream (TODO 13)")


@lab.case("sizes nobody knows before", fresh=True)
def fresh(case):
    for variant in VARIANTS_THERE:
        nodes = int(case.random.integers(1, 80))
        random_problem(case, variant, nodes, int(case.random.integers(1, 30 if variant in PHASES else 3000)))


# Two windows and two groups of columns; two tiles of nodes.
lab.watched("no race between threads", [["--degree", 40, "--points", 2, "--variant", "phases"],
                                        ["--degree", 520, "--points", 2, "--variant", "blocked"]])


# Nodes, and what lies close to them


def at_nodes(case, variant):
    x = numpy.concatenate([case.random.uniform(-7, 9, 40), [1 / 3]])
    y = case.random.uniform(-1, 1, 41)
    at = numpy.concatenate([x[:15] if variant in PHASES else x, around(case, x, 5)])  # and not only at nodes
    judge(case, variant, x, y, at)
    judge(case, variant, [0, 1, 2, 3], [5, 7, 1, 4], [0, 1, 2, 3, 3, 0])


def beside_nodes(case, variant):
    x = chebyshev_like(case, 40) * 3 + 1
    y = case.random.uniform(1, 2, 40)
    near_x = numpy.concatenate([numpy.nextafter(x, 9), numpy.nextafter(x, -9)])
    judge(case, variant, x, y, near_x[::4] if variant in PHASES else near_x)
    # between two close nodes the polynomial is so steep that any distance from them counts
    pairs = numpy.array([-0.5, 0.25, 0.75])
    x = numpy.concatenate([chebyshev_like(case, 12) / 5, pairs, pairs + 1e-6])
    y = numpy.concatenate([case.random.uniform(-1, 1, 15), 10 + case.random.uniform(-1, 1, 3)])
    distances = 10.0 ** -numpy.arange(6.5, 16.5, 3 if variant in PHASES else 1)
    at = numpy.concatenate([pair + distances for pair in pairs] + [numpy.nextafter(pairs, 9)])
    judge(case, variant, x, y, at)


for variant in VARIANTS:
    lab.case(f"{variant}: at the nodes", at_nodes, variant=variant)
    lab.case(f"{variant}: beside the nodes, down to one step", beside_nodes, variant=variant)


# Several groups of nodes, whose ordinates have different sizes


def groups(case, variant):
    x = numpy.cos((numpy.arange(1100) + 0.5) * numpy.pi / 1100)
    size = numpy.array([1, 1e-9, 1e9])[numpy.arange(1100) % 3]  # as the nodes are dealt out
    for sizes in (size, size[::-1] ** -20):
        y = case.random.uniform(1, 2, 1100) * sizes
        judge(case, variant, x, y, numpy.concatenate([around(case, x, 40), x[:3]]))


for variant in ("barycentric", "product", "constant", "warp_a_point", "blocked"):
    lab.case(f"{variant}: 1100 nodes in 3 groups, ordinates of all sizes", groups, variant=variant)


# Facts that are known


def points_between(low, high, count):
    return numpy.linspace(low, high, count)


# nodes, function, degree, largest error over 1001 equispaced points, to what share of it it is known
FACTS = [("chebyshev", "runge", 20, 0.017736366, 1e-7), ("chebyshev", "runge", 100, 2.2490997e-9, 1e-6),
         ("equispaced", "runge", 20, 59.768328, 1e-7), ("chebyshev", "abs_line", 20, 0.029783373, 1e-7),
         ("chebyshev", "abs_line", 100, 0.0059545439, 1e-7), ("chebyshev", "exp_cos", 20, 8.337e-9, 1e-4),  # the last two are known roughly
         ("equispaced", "runge", 50, 4.7e6, 0.05), ("chebyshev", "runge", 50, 4e-5, 0.2)]
FUNCTIONS = {"runge": lambda x: 1 / (1 + 25 * x * x), "sign": numpy.sign, "sine": numpy.sin,
             "exp_cos": lambda x: numpy.exp(x) / numpy.cos(x), "abs_line": lambda x: abs(x) + x / 2 - x * x}


@lab.case("largest errors that are known (Runge's among them)", variant="blocked")
def facts(case, variant):
    for nodes, function, degree, known, share in FACTS:
        case.run("--variant", variant, "--nodes", nodes, "--function", function, "--degree", degree,
                 "--points", 1001, "--output", "output.npy")
        at = points_between(-1, 1, 1001)
        error = numpy.abs(case.load("output") - FUNCTIONS[function](at)).max()
        case.expect(abs(error - known) <= share * known + 1e-15, f"{nodes} nodes of {function}, degree {degree}: the largest error "
                    f"over 1001 equispaced points is {error:.9g}, and it should be {known:.8g}")


@lab.case("generated nodes and points are where they should be", variant="product")
def generated(case, variant):
    for nodes, low, high in (("equispaced", -3.0, 5.0), ("chebyshev", -3.0, 5.0)):
        case.run("--variant", variant, "--nodes", nodes, "--function", "sine", "--degree", 7, "--from", low, "--to",
                 high, "--points", 57, "--output", "output.npy")
        j = numpy.arange(8)
        x = low + (high - low) * (j / 7 if nodes == "equispaced" else (1 - numpy.cos(numpy.pi * j / 7)) / 2)
        expected = Reference(x, numpy.sin(x), points_between(low, high, 57)).value
        case.compare(expected, case.load("output"),
                     checker.Tolerance(1e-13, why="places may differ in the last bit, and the slope is below 5"))


@lab.case("exact fractions, 25 nodes", variant="blocked")
def exact(case, variant):
    x, y = case.random.uniform(-1, 1, 25), case.random.uniform(-1, 1, 25)
    at = case.random.uniform(-1, 1, 12)
    got, reference = judge(case, variant, x, y, at)
    nodes = [(Fraction(a), Fraction(b)) for a, b in zip(x.tolist(), y.tolist())]
    for s, point in enumerate(Fraction(value) for value in at.tolist()):
        total = Fraction(0)
        for j, (xj, yj) in enumerate(nodes):
            for i, (xi, _) in enumerate(nodes):
                if i != j:
                    yj *= (point - xi) / (xj - xi)
            total += yj
        error = abs(Fraction(float(got[s])) - total)
        case.expect(error <= Fraction(float(reference.bound[s])), f"at point {s} the value is {got[s]!r}, and exact "
                    f"fractions give {float(total)!r}: an error of {float(error):.3g}, allowed are {reference.bound[s]:.3g}")


@lab.case("no digits are wasted: degree 100 on good nodes", variant="blocked")
def accuracy(case, variant):
    for variant in ("barycentric", "product", "blocked"):
        x = numpy.cos(numpy.arange(101) * numpy.pi / 100)
        got, reference = judge(case, variant, x, numpy.sin(3 * x), case.random.uniform(-1, 1, 2000))
        error = numpy.abs(got - reference.exact).max()
        case.expect(error < 2e-14, f"{variant} is {float(error):.3g} away from the polynomial; 2e-14 is plenty")


# Extremes


def intervals(case, variant):
    x, y = chebyshev_like(case, 36), case.random.uniform(-1, 1, 36)
    few = 6 if variant in PHASES else 60
    for middle, half in ((0, 1000), (0, 1e-200), (0, 1e200), (1e6, 0.5), (0, 1.7e308), (0, 1e-310)):
        with numpy.errstate(under="ignore"):
            nodes = middle + half * x
        at = numpy.concatenate([around(case, nodes / 2, few) * 2, nodes[:2]])
        judge(case, variant, nodes, y, at)


for variant in VARIANTS:
    lab.case(f"{variant}: intervals of all sizes", intervals, variant=variant)


@lab.case("high degrees: 200 nodes at 0..199, Chebyshev 700 on [-1000, 1000], degree 1000 on both", variant="blocked")
def high_degrees(case, variant):
    for x in (numpy.arange(200.0), 1000 * numpy.cos(numpy.arange(701) * numpy.pi / 700),
              numpy.cos(numpy.arange(1001) * numpy.pi / 1000), numpy.linspace(-1, 1, 1001)):
        y = 1 / (1 + 25 * (x / x.max()) ** 2)
        at = numpy.concatenate([case.random.uniform(x.min(), x.max(), 20), x[::100], numpy.nextafter(x[::100], 0)])
        for variant in ("barycentric", "product", "warp_a_point", "blocked"):
            got, _ = judge(case, variant, x, y, at)
            case.expect(numpy.isfinite(got).all(), f"{variant} with {len(x)} nodes gives values that are not finite")


@lab.case("5000 nodes, more than constant memory holds", variant="blocked", quick=False)
def many_nodes(case, variant):
    x = numpy.cos(numpy.arange(5000) * numpy.pi / 4999)
    at = numpy.concatenate([case.random.uniform(-1, 1, 15), x[::1000]])
    judge(case, variant, x, numpy.sin(x), at)
    if not lab.further:
        return
    run = case.run("--degree", 4999, "--points", 3, "--variant", "product,constant")
    case.expect(re.search(r"^constant .*skipped", run.stdout, re.M), "constant was not skipped with 5000 nodes")
    case.refuses("--degree", 4999, "--points", 3, "--variant", "constant", saying="constant memory")


@lab.case("denormal abscissae", variant="product")
def denormals(case, variant):
    x = numpy.array([-1, 1, 0, 0.5, -0.25, 1e-300, 5e-324 * 9])
    at = numpy.array([5e-324, -5e-324, 1e-310, 0, 5e-324 * 9, 5e-324 * 8, 2e-308, -1e-320])
    for variant in ("basis", "barycentric", "product", "warp_a_point", "blocked"):
        judge(case, variant, x[:5], [1, 2, 3, 4, 5], at)
        judge(case, variant, [0, 5e-324, 1.5e-323, 1e-322], [1, -2, 3, 4], numpy.arange(20) * 5e-324)


@lab.case("ordinates of all sizes", variant="product")
def ordinates(case, variant):
    x = chebyshev_like(case, 40)
    at = numpy.concatenate([around(case, x, 50), x])
    for scale in (1e300, 1e-300, 2e-310, 0):
        for variant in ("product", "warp_a_point", "blocked"):
            judge(case, variant, x, scale * case.random.uniform(-1, 1, 40), at)
    judge(case, "blocked", x, numpy.where(numpy.arange(40) % 3 == 0, 1e200, 1e-200), at)


@lab.case("far outside the nodes", variant="product")
def outside(case, variant):
    x = chebyshev_like(case, 16)
    at = numpy.array([-2, 2, 10, -1000, 1e6, 1e10, -1e15, 1e19, 1.5])
    for variant in ("basis", "barycentric", "product", "warp_a_point", "blocked"):
        judge(case, variant, x, case.random.uniform(-1, 1, 16), at)
    judge(case, "blocked", chebyshev_like(case, 40), case.random.uniform(-1, 1, 40), [1.1, -3, 1e5, -1e7])
    judge(case, "blocked", [3], [7], [-1e308, 1e308, 3, 0])


@lab.case("two clusters of nodes", variant="product")
def clusters(case, variant):
    x = numpy.concatenate([-1 + 1e-9 * chebyshev_like(case, 40), 1 + 1e-9 * chebyshev_like(case, 40)])
    at = numpy.concatenate([around(case, x, 5), -1 + 1e-9 * case.random.uniform(-1, 1, 20), x[:5]])
    for variant in ("product", "barycentric", "blocked"):
        judge(case, variant, x, case.random.uniform(-1, 1, 80), at)


# What no double can hold


def accuracy_of(case, variant, x, y, at):
    """Judged like any other, and the lines in which the program says how far its values can be trusted."""
    judge(case, variant, x, y, at)
    return [line for line in case.last_run.lines if line.startswith(("accuracy", "warning", f"{variant} "))]


@lab.case("nodes that no variant can interpolate in double", variant="blocked")
def hopeless(case, variant):
    equispaced = numpy.linspace(-numpy.pi, numpy.pi, 100)
    noisy = numpy.sin(equispaced) + 1e-3 * noise(case, 100)
    exponential = numpy.linspace(-4, 4, 70)
    for x, y, judged in ((equispaced, numpy.sin(equispaced), False), (exponential, numpy.exp(-exponential), False),
                         (equispaced, noisy, True)):
        for variant in ("blocked",) if judged else ("blocked", "basis"):
            said = "\n".join(accuracy_of(case, variant, x, y, numpy.linspace(x.min(), x.max(), 300)))
            case.expect("not one digit can be trusted" in said and "warning" in said,
                        f"rounding may change values by more than the largest y, and the program does not say so:\n{said}")
            case.expect(judged or "correct\n" not in said,
                        f"{variant} is called correct, where no digit of some values is certain:\n{said}")


@lab.case("how many digits can be trusted", variant="blocked")
def digits(case, variant):
    chebyshev, equispaced, far = numpy.cos(numpy.arange(101) * numpy.pi / 100), numpy.linspace(-1, 1, 51), numpy.linspace(-4, 4, 40)
    for x, y, low, high in ((chebyshev, noise(case, 101), 12, 13), (equispaced, FUNCTIONS["runge"](equispaced), 6, 8),
                            (far, numpy.exp(-far), 3, 6)):
        said = accuracy_of(case, variant, x, y, numpy.linspace(x.min(), x.max(), 500))
        found = [int(line.split()[-5]) for line in said if re.search(r"\d digits can be trusted", line)]
        case.expect(found and low <= found[0] <= high and len(said) == 2,
                    f"of these values {low} to {high} digits can be trusted, and the program says:\n" + "\n".join(said))
        case.expect(f"{said[0].split()[-1]}" == "correct", f"with so many digits a right value is correct:\n{said[0]}")


def noise(case, count):
    return case.random.uniform(-1, 1, count)


# The program as a whole


@lab.case("all variants in one run")
def everything(case):
    run = case.run("--degree", 40, "--points", 20, status=(0, 1))
    rows = [line for line in run.lines if re.match(rf"({'|'.join(VARIANTS_THERE)}) +\d", line)]
    wrong = [row for row in rows if not row.endswith(" correct")]
    case.expect(not wrong, "the program itself finds these wrong:\n" + "\n".join(wrong))
    case.expect(len(rows) == len(VARIANTS_THERE) and run.status == 0,
                f"the table has {len(rows)} rows, and there are {len(VARIANTS_THERE)} variants")
    case.expect("largest error against runge" in run.stdout, "the largest error against the function is not printed")


@lab.case("no points")
def empty(case):
    for variant in ("phases", "blocked", "overlapped"):
        got = case.compute("--variant", variant, inputs={"x": numpy.ones(1), "y": numpy.ones(1), "at": numpy.zeros(0)})
        case.expect(got.shape == (0,), f"the output has the shape {got.shape}")


@lab.case("duplicate nodes")
def duplicates(case):
    y = case.save("y", numpy.arange(6.0))
    for x, indices in (([0, 3, 1, 2, 3, 5], "1 and 4"), ([0.0, 1, 2, 3, 4, -0.0], "0 and 5")):
        files = ("--x", case.save("x", numpy.array(x, float)), "--y", y)
        case.refuses(*files, "--variant", "product", saying=f"nodes {indices} have the same")
    x = case.save("x", numpy.array([0, 1e-320, 1e300, -1e300, 1, 2]))
    case.refuses("--x", x, "--y", y, "--variant", "product", saying="too close")


@lab.case("NaN and infinity")
def not_finite(case):
    good = case.save("good", numpy.arange(6.0))
    for bad, word in ((numpy.nan, "NaN"), (numpy.inf, "infinite"), (-numpy.inf, "infinite")):
        values = numpy.arange(6.0)
        values[4] = bad
        name = case.save("bad", values)
        for files in (("--x", name, "--y", good), ("--x", good, "--y", name), ("--x", good, "--y", good, "--at", name)):
            run = case.refuses(*files, saying=f"{word} at index 4")
            case.expect(f"--{files[files.index(name) - 1].strip('-')} is" in run.stderr, "the sentence does not name the file's option")


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--degree --points --piece", "-1", "many", "1.5", "")
    case.refuses("--nodes", "random", saying="nodes")
    case.refuses("--function", "cosine", saying="function")
    case.refuses("--from", "1", "--to", "1", saying="less")
    case.refuses("--from", "nan", saying="from")
    case.refuses("--function", "exp_cos", "--to", "1000", saying="infinite at index")
    case.refuses("--points", "9", "--output", "values.npy", saying="variant")
    case.refuses("--variant", "newton", saying="variant")
    case.refuses("--from", "1", "--to", "1.000000000000001", "--degree", "50", saying="same abscissa")


@lab.case("bad input files")
def bad_files(case):
    good = case.save("good", numpy.arange(5.0))
    case.refuses("--x", good, saying="--y")
    case.refuses("--x", good, "--y", case.save("short", numpy.arange(4.0)), saying="one of each")
    case.refuses("--x", good, "--y", case.save("single", numpy.arange(5, dtype=numpy.float32)), saying="float64")
    case.refuses("--x", good, "--y", case.save("matrix", numpy.ones((5, 1))), saying="matrix")
    case.refuses("--x", good, "--y", good, "--degree", "4", saying="degree")
    case.refuses("--x", good, "--y", good, "--at", good, "--points", "4", saying="points")
    case.refuses_broken("--x", good, "--y", good)
    nothing = case.save("nothing", numpy.zeros(0))
    case.refuses("--x", nothing, "--y", nothing, saying="at least one node")


lab.main()
