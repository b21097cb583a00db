"""What a wrong array of lab 15 tells: mistakes of the tasks, each worked out as the broken kernel would do it."""

import re

import numpy
from checker.comparison import origins, poisoned
from checker.diagnose import right_only_once
from checker.failure import Failure

LONG = numpy.longdouble
GROUP = 512  # nodes, of the O(n) kernels
SIDE = 32     # of the phases' blocks
LANES = 32
BLOCKED_THREADS = 128
PHASES = ["phases", "phases_one_call"]
BY_ADD_NODE = ["product", "constant", "blocked", "copied", "overlapped"]
BLOCKED = ["blocked", "copied", "overlapped"]
LAST_COLUMNS = "the last columns are left out"
FIRST_COLUMNS = f"only the first {SIDE} basis polynomials are summed"
LINEAR = ["barycentric", "warp_a_point", *BY_ADD_NODE]


def dealt(x):
    """The order in which the program holds its nodes."""
    hands = -(-len(x) // GROUP)
    order = numpy.argsort(x, kind="stable")
    return numpy.concatenate([order[hand::hands] for hand in range(hands)])


class Problem:
    """Nodes and the first points, in the program's order and unit."""

    def __init__(self, x, y, at):
        order = dealt(x)
        width = float(x.max() - x.min())
        share, exponent = numpy.frexp(width)
        self.unit = LONG(2) ** int((3 if share < 0.7 else 2) - exponent if width > 0 else -2)
        self.given_x, self.y, self.given_at = x[order], y[order], at
        self.x, self.at = (self.given_x * self.unit).astype(float), (self.given_at * self.unit).astype(float)
        self.count, self.points = len(x), len(at)
        self.gaps = self.x[:, None] - self.x  # row j, column i: x_j - x_i
        numpy.fill_diagonal(self.gaps, 1)
        self.weights = self.y / self.gaps.prod(axis=1)  # w_j y_j
        self.distances = self.at[:, None] - self.x     # row s, column i
        self.away = ~numpy.isin(self.given_at, self.given_x)

    def factors(self, numerators=None, denominators=None):
        """numerators[s, j, i] / denominators[j, i], and 1 where i is j"""
        factors = (self.plain() if numerators is None else numerators) / (self.gaps if denominators is None else denominators)
        each = numpy.arange(self.count)
        factors[:, each, each] = 1
        return factors

    def products(self):
        """[s, j]: L_j(x_s)"""
        return self.factors().prod(axis=2)

    def sum_of(self, numerators, denominators=None, times=1):
        """The sum over j of y_j times the product of these factors, each so many times."""
        return ((self.factors(numerators, denominators) ** times).prod(axis=2) * self.y).sum(axis=1)

    def plain(self):
        """numerators[s, j, i] = x_s - x_i"""
        return numpy.repeat(self.distances[:, None, :], self.count, axis=1)

    def own(self):
        """numerators[s, j, i] = x_s - x_j"""
        return numpy.repeat(self.distances[:, :, None], self.count, axis=2)

    def others(self, nodes):
        """For a part of the nodes: their numerator P."""
        total = numpy.zeros(self.points, LONG)
        for j in nodes:
            total += self.weights[j] * numpy.prod(self.distances[:, [i for i in nodes if i != j]], axis=1)
        return total

    def at_points(self, at):
        """The polynomial elsewhere, at abscissae in the unit."""
        return self.sum_of(at[:, None, None] - self.x - 0 * self.gaps)


# Each yields (values, sentence): what the kernel computes with that mistake in it, and the words for it.


def unit_slips(p, task):
    yield p.at_points(p.at * p.unit), (
        f"{task} takes nodes.given_x, while x is in the unit: take nodes.x for the nodes' abscissae")
    yield p.at_points(p.given_at), (
        f"{task} takes the abscissa as it was given, while nodes.x are in the unit: x is the abscissa in that unit")


def basis_slips(p):
    task = "basis (TODO 1)"
    products = p.products()
    yield from unit_slips(p, task)
    yield (numpy.cumprod(products, axis=1) * p.y).sum(axis=1), (
        f"{task} goes on with the product of the node before: each j begins with a product of 1")
    yield products[:, -1] * p.y[-1], (
        f"{task} keeps only the last node's term: the sum must grow by every y_j times its product")
    yield products[:, 0] * p.y[0], f"{task} keeps only the first node's term: the sum goes over all j"
    yield products[:, 1:] @ p.y[1:], f"{task} leaves out the first node: j begins with 0"
    yield products[:, :-1] @ p.y[:-1], f"{task} leaves out the last node: j goes up to nodes.count - 1"
    node = numpy.arange(p.count)
    yield p.sum_of(p.plain(), times=node < p.count - 1), f"{task} leaves out the last factor: i goes up to nodes.count - 1"
    yield p.sum_of(p.plain(), times=node > 0), f"{task} leaves out the first factor: i begins with 0"
    last = numpy.where(node[:, None] == p.count - 1, node == p.count - 2, node == p.count - 1)
    yield p.sum_of(p.plain(), times=last), f"{task} keeps only the last factor: product *= factor, from i to i"
    below = numpy.tri(p.count, k=-1)
    yield p.sum_of(p.plain(), times=below), f"{task} multiplies the factors of i < j only: all i but j belong to it"
    yield p.sum_of(p.plain(), times=below.T), f"{task} multiplies the factors of i > j only: all i but j belong to it"
    yield p.sum_of(p.own()), f"{task} has x - x_j above the line: the factor is (x - x_i) / (x_j - x_i)"
    yield p.sum_of(p.plain(), numpy.ones_like(p.gaps)), (
        f"{task} does not divide by x_j - x_i: the factor is (x - x_i) / (x_j - x_i)")
    yield p.sum_of(p.plain(), p.gaps / p.unit), (
        f"{task} takes nodes.given_x below the line and nodes.x above it: take nodes.x in both")
    yield p.sum_of(p.plain(), -p.gaps), f"{task} divides by x_i - x_j: the factor is (x - x_i) / (x_j - x_i)"


def phases_slips(p):
    constants, window, tree = "find_constants (TODO 2)", "the window (TODO 3b)", "the tree (TODO 4)"
    yield from unit_slips(p, constants)
    yield p.sum_of(p.plain(), -p.gaps), f"{constants} has t = x_i - x_j: it is x_j - x_i"
    other = f"{constants} has x_j above the line of z: z = x_i / t"
    swapped = f"{window} reads t and z at i + j * count: element (j, i) lies at j + i * count"
    if p.count % 2:  # then both mistakes give the same
        other = swapped = f"{other}. Or {swapped}"
    yield p.sum_of(p.own()), other
    yield p.sum_of(p.at[:, None, None] - p.x * p.gaps), f"{constants} has z = x_i: it must be divided by t"
    yield p.sum_of(p.at[:, None, None] - p.given_x - 0 * p.gaps), f"{constants} takes nodes.given_x for z and nodes.x for t: take nodes.x in both"
    yield p.sum_of(p.own(), -p.gaps), swapped
    yield p.sum_of(p.at[:, None, None] + p.x + 0 * p.gaps), f"{window} adds z: the factor is x / t - z"
    yield p.y.sum() + 0 * p.at, f"{window} multiplies no factor: each thread has the rows threadIdx.y, threadIdx.y + 32, and so on"
    rows = numpy.arange(p.count)
    yield p.sum_of(p.plain(), times=rows < SIDE), (
        f"{window} multiplies only {SIDE} rows: it must slide on by blockDim.y until the last node")
    yield p.sum_of(p.plain(), times=numpy.where(rows % SIDE == 0, SIDE, 0)), (
        f"{window} begins at row 0 for every thread: a thread's first row is threadIdx.y")
    yield p.sum_of(p.plain(), times=numpy.minimum(rows + 1, SIDE)), (
        f"{window} goes on by one row, so that rows are multiplied several times: it must go on by blockDim.y")
    last = numpy.tile(rows >= p.count - SIDE, (p.count, 1))
    late = rows[max(SIDE, p.count - SIDE):]
    last[late, late - SIDE] = True  # of a thread whose last row is j itself: the one before
    yield p.sum_of(p.plain(), times=last), (
        f"{window} keeps only the last factor of each thread: product *= factor, from row to row")
    yield p.sum_of(p.plain(), times=numpy.isin(rows % SIDE, [0, 1, 2, 4, 8, 16])), (
        f"{tree} reads rows that others have not multiplied yet: __syncthreads() stands before the condition in every step")
    yield p.sum_of(p.plain(), times=rows % SIDE == 0), f"{tree} multiplies nothing: only what row 0 had is left"
    yield (p.y * sum(p.factors()[:, :, row::SIDE].prod(axis=2) for row in range(SIDE))).sum(axis=1), (
        f"{tree} adds the rows: they must be multiplied, as the factors of one product")
    yield from sums_slips(p)


def sums_slips(p):
    terms = p.products() * p.y
    sums = [terms[:, first:first + SIDE].sum(axis=1) for first in range(0, p.count, SIDE)]
    table = numpy.array(sums)  # row k, column s
    if len(table) == 1:
        return
    flat = table.T.reshape(-1)  # point by point
    yield flat.reshape(table.shape).sum(axis=0), (
        "R is stored point by point (TODO 5a) and read sum by sum (TODO 5b): the sums of one blockIdx.y lie together, "
        "at s + blockIdx.y * gridDim.x")
    yield table.reshape(-1).reshape(table.T.shape).sum(axis=1), (
        "R is stored sum by sum (TODO 5a) and read point by point (TODO 5b): sum k of point s lies at s + k * points")
    yield table[-1], "inter_block (TODO 5b) keeps only the last sum of a point: all must be added"
    yield table[0], FIRST_COLUMNS
    yield table[:p.count // SIDE].sum(axis=0), (
        LAST_COLUMNS)


def weight_slips(p):
    """Of all O(n) kernels."""
    task = "find_weights (TODO 6)"
    yield lagrange(p, p.y), f"the weights have no denominator: {task} multiplies all x_j - x_i but i = j"
    yield lagrange(p, p.weights * p.unit ** (p.count - 1)), (
        f"{task} takes nodes.given_x, while x is in the unit: take nodes.x")
    yield lagrange(p, p.weights * (-1) ** (p.count - 1)), f"{task} multiplies x_i - x_j: the factors are x_j - x_i"
    for some, words in ((numpy.tri(p.count), "i < j"), (numpy.tri(p.count).T, "i > j")):
        yield lagrange(p, p.y / numpy.where(some, p.gaps, 1).prod(axis=1)), (
            f"{task} multiplies the differences of {words} only: all i but j belong to it")
    product, exponent = numpy.ones(p.count, LONG), numpy.zeros(p.count, int)
    for i in range(p.count):
        now, last = numpy.frexp(product * p.gaps[:, i])
        rows = numpy.arange(p.count) != i
        product[rows], exponent[rows] = (now * 2)[rows], (last - 1)[rows]
    yield lagrange(p, p.y / (product * LONG(2) ** exponent)), (
        f"{task} begins with exponent 0 at every factor: the exponent so far, product.exponent, goes into normalised")
    yield lagrange(p, p.y / product), f"{task} loses the exponents: what normalised() returns is the new product, both halves"
    yield p.distances.prod(axis=1), "finished (TODO 10) returns the product L: the value is the numerator, as_double(all.numerator)"


def lagrange(p, coefficients):
    """The sum of the coefficients times the product of all distances but the own."""
    total = numpy.zeros(p.points, LONG)
    product = numpy.ones(p.points, LONG)
    for j in range(p.count):
        total = total * p.distances[:, j] + coefficients[j] * product
        product = product * p.distances[:, j]
    return total


def division_slips(p):
    task = "group_by_division (TODO 7)"
    with numpy.errstate(all="ignore"):
        quotients = (p.weights / p.distances).sum(axis=1)
        product = p.distances.prod(axis=1)
        yield quotients, f"{task} leaves the product at 1: it must be multiplied by every difference"
        yield Scaled(product * (1 / p.distances).sum(axis=1)), (
            f"{task} adds up 1 / difference: above the line stands the node's coefficient")
        yield product * (p.weights * p.distances).sum(axis=1), (
            f"{task} multiplies the coefficient by the difference: it must be divided by it")
        yield product * p.weights[-1] / p.distances[:, -1], f"{task} keeps only the last quotient: they must be added up"
        yield -quotients * product * (-1) ** p.count, f"{task} has node - x for the difference: it is x - node"
        yield quotients * p.distances[:, -1], f"{task} keeps only the last difference: product *= difference"


class Scaled:
    """Values up to a power of two: that of the group's exponent."""

    def __init__(self, values):
        self.values = values


def carried(p, step, blocked, twice=False):
    """Numerator after all nodes, when each is added by step(P, L, d, c) -> (P, L)."""
    numerator, product = numpy.zeros(p.points, LONG), numpy.ones(p.points, LONG)
    for j in range(p.count):
        if blocked and j == 0:
            numerator, product = numerator + p.weights[0], p.distances[:, 0]
            if not twice:
                continue
        numerator, product = step(numerator, product, p.distances[:, j], p.weights[j])
    return numerator


def node_slips(p, blocked):
    task = "add_node (TODO 8)"
    for step, sentence in (
            (lambda P, L, d, c: (P * d + c * L * d, L * d),
             "multiplies the product before it takes it for the numerator: the numerator comes first, with the old product"),
            (lambda P, L, d, c: (P * d + c, L * d), "adds the coefficient alone: it must be multiplied by the old product"),
            (lambda P, L, d, c: (P + c * L, L * d), "does not multiply the old numerator by the difference"),
            (lambda P, L, d, c: (P * d + c * L, L), "leaves the product as it is: product *= difference"),
            (lambda P, L, d, c: (P * d + c * L, d), "sets the product to the last difference: product *= difference"),
            (lambda P, L, d, c: (c * L, L * d), "drops the old numerator: it is multiplied by the difference, and the new term is added"),
            (lambda P, L, d, c: ((P + c * L) * d, L * d), "multiplies the new term by its own difference: only the old numerator gets it"),
            (lambda P, L, d, c: (-P * d + c * L, -L * d), "has node.x - x for the difference: it is x - node.x")):
        yield carried(p, step, blocked), f"{task} {sentence}"
    # a coefficient that is left out leaves the group's exponent as a factor
    if not blocked:
        ones = Problem.__new__(Problem)
        ones.__dict__.update(p.__dict__, weights=numpy.ones(p.count, LONG))
        yield Scaled(lagrange(ones, ones.weights)), f"{task} leaves out node.coefficient: the new term is coefficient * product"


def blocked_slips(p):
    task = "blocked (TODO 12)"
    right = lambda P, L, d, c: (P * d + c * L, L * d)  # noqa: E731
    yield carried(p, right, True, twice=True), f"{task} adds the first node of the tile twice: the loop begins with 1"
    yield p.others(range(p.count - 1)), f"{task} leaves out the last node of the tile: the loop ends with size"


# Parts of nodes with exponents, as `combined` joins them. A part: P, its exponent, L, its exponent.


def normalised(value, exponent):
    mantissa, shift = numpy.frexp(value)
    return mantissa * 2, numpy.where(value == 0, exponent - 1023, exponent + shift - 1)


def scale_by(exponent):
    return numpy.where(exponent < -1022, LONG(0), LONG(2) ** numpy.clip(exponent, -1022, 1023))


def combined(a, b, slip=""):
    (p1, e1), (l1, f1) = normalised(a[0], a[1]), normalised(a[2], a[3])
    (p2, e2), (l2, f2) = normalised(b[0], b[1]), normalised(b[2], b[3])
    first, second = e1 + f2, f1 + e2
    exponent = numpy.maximum(first, second)
    s1, s2 = scale_by(first - exponent), scale_by(second - exponent)
    one = numpy.ones_like(s1)
    s1, s2 = {"swapped": (s2, s1), "second": (s1, one), "first": (one, s2), "none": (one, one)}.get(slip, (s1, s2))
    pair = (p1 * l1, p2 * l2) if slip == "own" else (p1 * l2, l1 * p2)
    numerator_exponent = {"is_first": first, "is_second": second}.get(slip, exponent)
    product_exponent = {"l1": f1, "l2": f2, "no_l": f1 * 0, "same": exponent}.get(slip, f1 + f2)
    return pair[0] * s1 + pair[1] * s2, numerator_exponent, l1 * l2, product_exponent


COMBINED = {
    "swapped": "exchanges the two powers of two: P1 L2 has the exponent first, L1 P2 the exponent second",
    "second": "does not bring L1 P2 to the common exponent: it wants power_of_two(second - exponent)",
    "first": "does not bring P1 L2 to the common exponent: it wants power_of_two(first - exponent)",
    "none": "adds two products of different exponents: power_of_two(first - exponent) and power_of_two(second - exponent) bring them together",
    "own": "multiplies P1 by L1 and P2 by L2: the terms of one part lack the differences of the other, P = P1 L2 + L1 P2",
    "is_first": "gives the numerator the exponent first: it has the common one, exponent",
    "is_second": "gives the numerator the exponent second: it has the common one, exponent",
    "l1": "leaves the exponent of L at that of L1: the exponents of a product are added",
    "l2": "leaves the exponent of L at that of L2: the exponents of a product are added",
    "no_l": "loses the exponent of L: it is l1.exponent + l2.exponent",
    "same": "gives L the exponent of P: it is l1.exponent + l2.exponent",
}


def by_lanes(p, slip="", nodes_of=None, distances=(16, 8, 4, 2, 1)):
    """What warp_a_point computes: lanes take nodes one by one, then their parts become one."""
    def nothing(lanes):
        shape = (p.points, lanes)
        return [numpy.zeros(shape, LONG), numpy.full(shape, -(1 << 28)), numpy.ones(shape, LONG), numpy.zeros(shape, int)]

    part = nothing(LANES)
    nodes_of = nodes_of or (lambda lane: range(lane, p.count, LANES))
    each = [list(nodes_of(lane)) for lane in range(LANES)]
    for turn in range(max(len(nodes) for nodes in each)):
        lanes = [lane for lane in range(LANES) if turn < len(each[lane])]
        nodes = [each[lane][turn] for lane in lanes]
        zero = numpy.zeros((p.points, len(lanes)), int)
        new = (p.weights[nodes] + zero, zero, p.distances[:, nodes], zero)
        joined = combined([half[:, lanes] for half in part], new, slip)
        for half, value in zip(part, joined):
            half[:, lanes] = value
    for distance in distances:
        above = [numpy.concatenate([half[:, distance:], half[:, LANES - distance:]], axis=1) for half in part]
        part = list(combined(part, above, slip))
    return part[0][:, 0] * LONG(2) ** numpy.clip(part[1][:, 0], -16000, 16000)


def warp_slips(p):
    task = "warp_a_point (TODO 11)"
    for slip, sentence in COMBINED.items():
        yield by_lanes(p, slip), f"combined (TODO 9) {sentence}"
    yield by_lanes(p, nodes_of=lambda lane: [lane] if lane < p.count else []), (
        f"{task} gives one node to each lane: a lane goes on by 32 until the last node")
    yield by_lanes(p, nodes_of=lambda lane: range(p.count)), f"{task} lets every lane take all nodes: lane, lane + 32, ..."
    yield by_lanes(p, nodes_of=lambda lane: range(lane, p.count)), f"{task} goes on by one node: a lane goes on by 32"
    for missing in (16, 8, 4, 2, 1):
        yield by_lanes(p, distances=[d for d in (16, 8, 4, 2, 1) if d != missing]), (
            f"{task} leaves out the step of distance {missing}: the distances are 16, 8, 4, 2, 1")
    yield by_lanes(p, distances=()), f"{task} does not join the lanes: distances 16, 8, 4, 2, 1, with from_lane_above"
    yield by_lanes(p, distances=(1, 2, 4, 8)), f"{task} leaves out the step of distance 16: the distances are 16, 8, 4, 2, 1"


def slips_of(variant, p):
    if variant == "basis":
        yield from basis_slips(p)
    if variant in PHASES:
        yield from phases_slips(p)
    if variant in LINEAR:
        yield from weight_slips(p)
    if variant == "barycentric":
        yield from division_slips(p)
    if variant in BLOCKED:
        yield from blocked_slips(p)
    if variant in BY_ADD_NODE:
        yield from node_slips(p, variant in BLOCKED)
    if variant == "warp_a_point":
        yield from warp_slips(p)


def agree(got, values):
    """Whether these are the values that came out, up to rounding."""
    factor = 1.0
    if isinstance(values, Scaled):
        values = values.values
        with numpy.errstate(all="ignore"):
            ratios = (got / values).astype(float)
        factor = 2.0 ** numpy.round(numpy.log2(abs(numpy.median(ratios)))) if numpy.isfinite(ratios).all() else 1.0
    values = (values * factor).astype(float)
    usable = numpy.isfinite(values)
    if usable.sum() < min(2, len(values)) or not numpy.isfinite(got[usable]).all():
        return False
    scale = numpy.abs(values[usable]).max()
    return bool((numpy.abs(got[usable] - values[usable]) <= 1e-6 * numpy.abs(values[usable]) + 1e-9 * scale).all())


def simulated(expected, got, case):
    """The sentence of the first mistake that gives just these values, or None."""
    x, y, at = (case.inputs[name] for name in ("x", "y", "at"))
    if not 1 < len(x) <= 110:
        return None
    few = numpy.arange(len(at)) if len(at) <= 40 else numpy.flatnonzero(~numpy.isin(at, x))[:40]
    problem = Problem(x, y, at[few])
    away = problem.away
    if not (case.wrong[few] & away).any():
        return None
    for values, sentence in slips_of(case.parameters["variant"], problem):
        plain = values.values if isinstance(values, Scaled) else values
        if agree(expected[few][away], plain[away]):
            continue  # with this input the mistake makes no difference
        if not agree(got[few][away], Scaled(plain[away]) if isinstance(values, Scaled) else plain[away]):
            continue
        if "(TODO 6)" in sentence and right_kernels(case)[0]:
            continue  # the weights are those of all kernels: a sign, say, comes from elsewhere
        return sentence
    return None


# What needs no simulation. expected, got: (points); case.wrong is true where a value is wrong.


NO_VALUE = {
    "basis": "no value was stored: basis (TODO 1) ends with values[s] = sum",
    "phases": "R has sums that nobody stored: thread 0 of each block stores products[0][0], at s + blockIdx.y * gridDim.x (TODO 5a)",
    "overlapped": "no piece came back: each needs its own copy to the device, launch of blocked and copy back (TODO 13)",
}
ZERO = {
    "basis": "every value is 0: in basis (TODO 1) the sum never grows by y_j times its product",
    "phases": "every value is 0: inter_block (TODO 5b) adds no partial sum",
    "barycentric": "every value is 0: group_by_division (TODO 7) adds up no quotient",
    "product": "every value is 0: add_node (TODO 8) leaves the numerator at 0",
    "warp_a_point": "every value is 0: warp_a_point (TODO 11) joins no nodes, or combined (TODO 9) gives back none",
}
SAME_KERNEL = {"phases_one_call": "phases", "constant": "product"}


TREE = ("reads products that nobody has stored yet: __syncthreads() stands at the beginning of each step, outside of any "
        "condition")
UNWRITTEN = {
    ("phases", "device"): "find_constants (TODO 2) leaves out t or z: it stores both at index_2d",
    ("phases", "shared"): f"the tree (TODO 4) {TREE}",
    ("blocked", "shared"): "blocked (TODO 12) reads the tile beyond its `size` nodes: only so many are there",
}


def from_nowhere(expected, got, case):
    """In CPU mode: values computed from memory that nobody has written."""
    variant = case.parameters["variant"]
    kernel = "phases" if variant in PHASES else "blocked" if variant in BLOCKED else variant
    for kind, here in origins(got).items():
        if (here & case.wrong).any() and (kernel, kind) in UNWRITTEN:
            return UNWRITTEN[kernel, kind]
    return None


def of_variant(sentences, case):
    variant = case.parameters["variant"]
    return sentences.get(SAME_KERNEL.get(variant, variant))


def no_value(expected, got, case):
    return of_variant(NO_VALUE, case) if poisoned(got).all() else None


def all_zero(expected, got, case):
    away = ~numpy.isin(case.inputs["at"], case.inputs["x"])
    return of_variant(ZERO, case) if len(case.inputs["x"]) <= GROUP and away.any() and (got[away] == 0).all() and case.wrong[away].any() else None


def pieces(expected, got, case):
    """What went wrong between the host and the device, piece by piece."""
    if case.parameters["variant"] != "overlapped":
        return None
    piece, lost, place = piece_of(case) or 65536, poisoned(got), numpy.arange(len(got))
    if lost.any() and (lost == (place >= piece)).all():
        return "only the first piece came back, as every piece goes to the beginning of h_values: it begins at h_values + first (TODO 13)"
    if case.order and not same_values(case.in_order("forward"), got):
        return ("the values change with the order in which streams run: the copy of a piece to the device, its launch and its copy "
                "back (TODO 13) belong in one and the same stream")
    if lost.any():
        if (lost == (place % piece >= -(-min(piece, len(got)) // 8))).all():
            return "an eighth of each piece came back: a size in bytes is size * sizeof(double) (TODO 13)"
        return "some pieces never came back: each needs its own copy to the device, launch of blocked and copy back (TODO 13)"
    if len(got) > piece and same(got, expected[place % piece]):
        return "every piece has the values of the first one: its abscissae begin at h_abscissae + first (TODO 13)"
    return None


def columns_lost(case):
    """By the grid that the program prints."""
    grid = re.search(rf"^{case.parameters['variant']}\s+(\S+)", case.last_run.stdout, re.M)[1]
    if int((grid.split("x") + [1])[1]) * SIDE >= len(case.inputs["x"]):
        return ": inter_block (TODO 5b) does not add all sums of a point"
    return ": phases_shape must give as many blocks along y as hold all columns, rounded up (TODO 3a)"


def piece_of(case):
    words = case.last_run.command.split()
    return int(words[words.index("--piece") + 1]) if "--piece" in words else 0  # 0: the program's own


def same(got, values):
    scale = numpy.abs(values[numpy.isfinite(values)]).max(initial=0)
    return bool(numpy.isfinite(got).all() and (numpy.abs(got - values) <= 1e-9 * scale).all())


def points_of_a_thread(expected, got, case):
    """Of several points a thread only the first is right."""
    if case.parameters["variant"] not in BLOCKED or len(got) <= BLOCKED_THREADS:
        return None
    place = numpy.arange(len(got))
    stride = BLOCKED_THREADS * (8 if case.backend == "cpu" else 4)
    first = place // stride * stride + place % BLOCKED_THREADS
    if (case.wrong <= (first != place)).all() and case.wrong[first != place].mean() > 0.9:
        return "only the first point of each thread is right: in blocked (TODO 12) a node goes to all k, as add_node(x[k], node, groups[k])"
    return None


def first_node_only(expected, got, case):
    away = ~numpy.isin(case.inputs["at"], case.inputs["x"])
    if case.parameters["variant"] not in BLOCKED or len(case.inputs["x"]) > GROUP or away.sum() < 2 or (got[away] != got[away][0]).any():
        return None
    return "each group has its first node only: blocked (TODO 12) adds the other nodes, from 1 on, with add_node (TODO 8)"


def powers_of_two(expected, got, case):
    """Each value wrong by a power of two, and not all by the same."""
    away = (expected != 0) & numpy.isfinite(got) & (got != 0) & ~numpy.isin(case.inputs["at"], case.inputs["x"])
    shifts = numpy.log2(numpy.abs(got[away] / expected[away]))
    if case.parameters["variant"] not in LINEAR or not away.any() or (numpy.abs(shifts - numpy.round(shifts)) > 1e-6).any():
        return None
    if len(set(numpy.round(shifts))) < 2:
        return None
    return "each value lacks a power of two: finished (TODO 10) returns as_double(all.numerator), with its exponent"


def only_at_nodes(expected, got, case):
    nodes = numpy.isin(case.inputs["at"], case.inputs["x"])
    if not case.wrong[nodes].any() or case.wrong[~nodes].any() or nodes.all():
        return None
    variant = case.parameters["variant"]
    if variant in LINEAR:
        return ("only the values at the nodes are wrong: there the product is 0 (or NaN), and finished() must "
                "ask careful_value (TODO 10)")
    if variant in PHASES:
        return ("only the values at the nodes are wrong: there x / t and z must be the same number, and they are if "
                "z is x_i / t (TODO 2)")
    return ("only the values at the nodes are wrong: does basis (TODO 1) divide by x - x_j, which is 0 there? The product "
            "leaves out i = j instead")


def close_to_nodes(expected, got, case):
    """Points near a node that have got the node's own value."""
    x, y, at = (case.inputs[name] for name in ("x", "y", "at"))
    if len(x) * len(at) > 1e7:
        return None
    nearest = numpy.abs(at[:, None] - x).argmin(axis=1)
    if (got[case.wrong] == y[nearest][case.wrong]).all():
        return ("points beside a node have got the node's own y: only where x is equal to the node's abscissa is that "
                "the value, and any distance, however small, is a distance")
    return None


def near_limits(p):
    """Where the product of one group comes near the limits of double."""
    with numpy.errstate(all="ignore"):
        sizes = numpy.cumsum(numpy.log2(numpy.abs(p.distances)), axis=1)
    return (sizes < -900).any(axis=1) | (sizes > 860).any(axis=1)


def only_near_limits(expected, got, case):
    x = case.inputs["x"]
    if case.parameters["variant"] not in LINEAR or len(x) > GROUP:
        return None
    p = Problem(x, case.inputs["y"], case.inputs["at"])
    if not case.wrong.any() or case.wrong[~near_limits(p)].any():
        return None
    counts = careful_counts(case.last_run.stdout).get(case.parameters["variant"])
    if counts and counts[1] == 0:
        return ("only values are wrong whose product comes near the limits of double: it is NaN then, and finished() must ask "
                "careful_value for NaN as it does for 0 (TODO 10)")
    return ("only values are wrong whose product comes near the limits of double, and there careful_value takes one node after "
            "the other: look at combined (TODO 9), and at find_weights (TODO 6)")


def factor_with_itself(expected, got, case):
    variant = case.parameters["variant"]
    if variant in LINEAR or numpy.isfinite(got).any():
        return None
    task = "basis (TODO 1)" if variant == "basis" else "phase 1 (TODO 3b)"
    return f"no value is a number: a division by 0? The factor of a node with itself, i = j, must be left out in {task}"


def no_ordinates(expected, got, case):
    if case.parameters["variant"] == "basis" and got.size > 1 and numpy.allclose(got, 1, rtol=0, atol=1e-9):
        return ("every value is 1: that is the sum of all basis polynomials. basis (TODO 1) must multiply each by its y "
                "before it is added")
    return None


def in_the_order_of_threads(expected, got, case):
    """The phases once more with their threads in another order: a barrier that is missing shows."""
    if case.parameters["variant"] not in PHASES or same_values(case.in_order("forward" if case.order else "reversed"), got):
        return None
    return ("the values change with the order in which threads run: in the tree (TODO 4) a thread reads a product too early or too "
            "late. Each step begins with __syncthreads(), outside of any condition; then only rows below `rows` read, each its own column")


def same_values(again, got):
    return again is None or numpy.array_equal(again, got, equal_nan=True)


def compared(case, count=None):
    """What the O(n) kernels print on the case's nodes, or the first of them, and some of its points; "" when that fails."""
    kept_run, kept_statuses, kept_inputs = case.last_run, list(case.statuses), dict(case.inputs)
    words = ["--variant", "barycentric,product,warp_a_point,blocked", "--piece", piece_of(case)]
    for name, array in kept_inputs.items():
        words += [f"--{name}", case.save(f"{name}_again", array[:200] if name == "at" else array[:count])]
    try:
        return case.run(*words, status=None).stdout
    except Failure:  # then there is nothing to compare with
        return ""
    finally:
        case.last_run, case.statuses, case.inputs = kept_run, kept_statuses, kept_inputs


def careful_counts(text):
    """For each variant of what a run printed: how many points took the careful way at a node, near the limits, without a reason."""
    line = re.search(r"^careful way taken by .*$", text, re.M)
    found = re.findall(r"(\w+) (\d+) \+ (\d+) \+ (\d+)", line[0]) if line else []
    return {name: tuple(map(int, counts)) for name, *counts in found}


def right_kernels(case):
    """Which of the O(n) kernels are right on the case's nodes (and some of its points), and what was printed."""
    text = compared(case)
    return set(re.findall(r"^(\w+) .* correct\b.*$", text, re.M)), text


def by_comparison(expected, got, case):
    """Which function it is, by which of the O(n) kernels are right on the same input."""
    variant = case.parameters["variant"]
    if variant not in LINEAR:
        return None
    right, text = right_kernels(case)
    if not right and len(case.inputs["x"]) > GROUP:
        return one_group_is_right(case)
    if variant in BLOCKED + ["overlapped"] and "product" in right:
        if variant == "overlapped" and "blocked" in right:
            return "blocked is right with the same nodes, and so is add_node: look at the copies and the launch of a piece (TODO 13)"
        return "product is right with the same nodes, and so is add_node: look at the loops of blocked (TODO 12)"
    if variant in BY_ADD_NODE and {"barycentric", "warp_a_point"} & right:
        other = min({"barycentric", "warp_a_point"} & right)
        return f"{other} is right with the same nodes: look at what it does without, add_node (TODO 8)"
    if variant == "barycentric" and {"product", "warp_a_point"} & right:
        return f"{min({'product', 'warp_a_point'} & right)} is right with the same nodes: look at group_by_division (TODO 7)"
    if variant == "warp_a_point" and "product" in right:
        if len(case.inputs["x"]) > GROUP:
            return ("product is right with the same nodes: look at warp_a_point (TODO 11). A lane takes lane, lane + 32, and so on up "
                    "to the last node, each with the exponent of its group, nodes.exponents[j / group_size]")
        return "product is right with the same nodes: look at warp_a_point (TODO 11), and at combined (TODO 9)"
    if not right and numpy.isnan(got).all():
        return "no value of any O(n) kernel is a number: find_weights (TODO 6) multiplies the factor of i = j, which is 0, or divides by it"
    got_first = [float(number) for number in re.findall(r"^\w+ .* WRONG: .* got (\S+)$", text, re.M)]
    if right or len(got_first) < 4 or not numpy.allclose(got_first, got_first[0], rtol=1e-5, atol=0):
        return None
    return ("the O(n) kernels are wrong, one like the other: look at what they share, find_weights (TODO 6) and finished (TODO 10)")


def one_group_is_right(case):
    """Whether combined() alone is to blame: all is right with fewer nodes."""
    if not re.search(rf"^{case.parameters['variant']} .* correct\b", compared(case, GROUP), re.M):
        return None
    return f"right with {GROUP} of these nodes, one group, and wrong with more: look at how parts combine (TODO 9)"


def careful_cause(case, without):
    """Why kernels ask careful_value where they need not: their values are right, as it is careful_value that computes them."""
    variant = case.parameters["variant"]
    also = {name for name, counts in careful_counts(compared(case)).items() if counts[2]}
    p = Problem(*(case.inputs[name] for name in ("x", "y", "at")))
    below = numpy.sign(p.distances).prod(axis=1) < 0
    if len({"barycentric", "product", "warp_a_point"} & also) > 1:  # they share nothing else
        if p.away.sum() > without == (below & p.away & ~near_limits(p)).sum():
            return "finished (TODO 10) takes a product below 0 for one that is 0: fabs(all.product.value) > 0.0"
        return ("finished (TODO 10) asks careful_value although the product is a number other than 0: it asks where "
                "fabs(all.product.value) > 0.0 is false, and only there")
    if variant == "warp_a_point":
        return ("the parts that warp_a_point (TODO 11) joins are no numbers. All 32 lanes take part in every step: no condition "
                "stands around from_lane_above, which reads lanes that must be there")
    if variant == "barycentric":
        return "the product that group_by_division (TODO 7) gives back is 0 or no number: it is the product of all differences"
    if variant in BLOCKED and "product" not in also:
        return ("the product of a group in blocked (TODO 12) is 0 or no number: does its loop read the tile beyond size?")
    return "the product that add_node (TODO 8) leaves is 0 or no number: it is the old product times the difference"


DIAGNOSERS = [right_only_once, from_nowhere, in_the_order_of_threads, no_value, pieces, no_ordinates, all_zero, first_node_only, powers_of_two, only_at_nodes, close_to_nodes, only_near_limits, simulated,
              points_of_a_thread, factor_with_itself, by_comparison]


def likely_cause(expected, got, case):
    """The first sentence that a diagnoser has to say; the particular ones stand before the general ones."""
    with numpy.errstate(all="ignore"):
        for diagnoser in DIAGNOSERS:
            sentence = diagnoser(expected, got, case)
            if sentence in (FIRST_COLUMNS, LAST_COLUMNS):
                sentence += columns_lost(case)
            if sentence:
                return sentence
    return None
