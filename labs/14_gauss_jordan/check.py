"""Judges gauss_jordan: the solution that each variant writes, by its backward error and against LAPACK."""

import csv
import gzip
import re
import sys
from pathlib import Path

import numpy
import scipy.io
import scipy.linalg
import scipy.sparse

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned
from checker.diagnose import right_only_once

STEPPED = ["report", "on_device", "gauss_jordan", "tiled"]
FURTHER = ["one_block", "team", "tensor", "refined_team"]
BY_BLOCKS = ["blocked", "refined"] + FURTHER
REFINED = ["refined", "refined_team"]
TYPES = {"float": numpy.float32, "double": numpy.float64}
TODO = {"report": "TODO 1 to 5", "on_device": "TODO 6, and 1, 2 and 5", "gauss_jordan": "TODO 6 and 7, and 1 and 2",
        "tiled": "TODO 8 and 9, and 1, 2 and 5", "blocked": "TODO 10 to 12, and 1", "refined": "TODO 13, and 10 to 12"}
lab = checker.Lab(__file__, shared=TODO, further=FURTHER)
VARIANTS = STEPPED + ["blocked", "refined"] + lab.further  # those that the program has


def panel_by(team, types=("double", "float")):
    """The panel's kernel, whose width the number of rows decides."""
    return "|".join(f"factor_panel<{type}, {columns}, {team}<{type}>>" for type in types for columns in (32, 16, 8, 4))


LEVELS = "substitute|swap_and_solve|solve_columns|update_by_registers"  # of blocks; with few unknowns not all are needed
# With one unknown nothing is eliminated. Where floats make no progress, `refined` solves as `blocked` does, `refined_team` as `tensor`.
lab.kernels({"report": ("find_candidates", "choose_candidate", "back_substitute", "eliminate|choose_candidate"),
             "on_device": ("find_candidates", "take_pivot", "back_substitute", "eliminate_and_search|take_pivot"),
             "gauss_jordan": ("find_candidates", "take_pivot", "divide_by_diagonal", "eliminate_and_search|take_pivot"),
             "tiled": ("find_candidates", "take_pivot", "back_substitute", "eliminate_tile|take_pivot"),
             "blocked": ("eliminate_panel",), "refined": ("round_to_float", "find_sizes", "eliminate_panel"),
             "one_block": (panel_by("Alone"), LEVELS), "team": (panel_by("Grid"), LEVELS),
             "tensor": (panel_by("Grid"), "finish_and_factor", "substitute|swap_and_solve|solve_columns|update_by_tensor_cores"),
             "refined_team": ("round_to_float", "find_sizes", panel_by("Grid"), f"{LEVELS}|update_by_tensor_cores|finish_and_factor")})

# What is right. A solution x of A x = b is as good as the type allows if it solves a system whose
# coefficients differ from A's by a few roundings: |b - A x| <= c |A| |x| n eps with a c of about 1 or less.
# Where elimination makes elements grow, LAPACK has the same trouble and gives the measure.


def backward_error(a, b, x):
    """The largest |b - A x| / (|A| |x| n eps), with more digits than the program had."""
    eps = numpy.finfo(x.dtype).eps
    wide = [array.astype(numpy.longdouble) for array in (a, b, x)]
    residual = numpy.abs(wide[1] - wide[0] @ wide[2]).max(axis=0)
    size = numpy.abs(wide[0]).sum(axis=1).max() * numpy.abs(wide[2]).max(axis=0) * len(a) * eps
    with numpy.errstate(all="ignore"):
        return float(numpy.max(numpy.where(residual == 0, 0, residual / size), initial=0))


def allowed_error(a, b):
    solution = numpy.linalg.solve(a, b)
    return max(1.0, 10 * backward_error(a, b, solution))


def judge(case, a, b, x):
    """First the unknowns, where the condition lets them be compared; then A x with b."""
    wide = a.astype(numpy.float64)
    expected = numpy.linalg.solve(wide, b.astype(numpy.float64))
    eps, allowed = numpy.finfo(a.dtype).eps, allowed_error(a, b)
    size = numpy.abs(expected).max(initial=0)
    with numpy.errstate(over="ignore"):  # of tiny numbers the inverse may be too large: an infinite condition
        condition = numpy.linalg.cond(wide, numpy.inf)
    relative = allowed * len(a) * eps * condition
    case.inputs.update(a=a, b=b)
    if relative < 0.1 or poisoned(x).any():
        limit = checker.Tolerance(absolute=2 * relative * size,
                                  why="condition x n x eps, the error of a solution that is as good as the type allows")
        case.compare(expected, x, limit, dtype=a.dtype, diagnosers=DIAGNOSERS)
    else:
        case.expect(x.shape == b.shape and x.dtype == a.dtype, f"the solution has shape {x.shape} and type {x.dtype}")
    row_sum = numpy.longdouble(numpy.abs(wide).sum(axis=1).max())  # times |x| it may be too large for a double
    limit = checker.Tolerance(absolute=float(allowed * row_sum * numpy.abs(x).max(initial=0) * len(a) * eps),
                              why="A x against b: |A| |x| n eps, what rounding may do")
    got = (a.astype(numpy.longdouble) @ x.astype(numpy.longdouble)).astype(numpy.float64)
    case.compare(b.astype(numpy.float64), got, limit, diagnosers=[residual_words])


# Likely causes


def variant_of(case):
    return case.parameters.get("variant", "the variant")


def todo(case, variant=None):
    words = TODO.get(variant or variant_of(case))
    return f" ({words})" if words else ""


def nothing_arrived(expected, got, case):
    if got.size and poisoned(got).all():
        return f"not one unknown was written: does {variant_of(case)} store its solution{todo(case)}?"
    return None


def eliminated(a, b, exchange_b=True, subtract_b=True, jordan=False):
    """Elimination with partial pivoting, to see what a fault would give. b: (n, sides)"""
    a, b = a.copy(), b.copy()
    for k in range(len(a)):
        pivot = k + int(numpy.abs(a[k:, k]).argmax())
        a[[k, pivot]] = a[[pivot, k]]
        if exchange_b:
            b[[k, pivot]] = b[[pivot, k]]
        factors = a[:, k] / a[k, k]
        factors[slice(k, k + 1) if jordan else slice(k + 1)] = 0
        a -= factors[:, None] * a[k]
        if subtract_b:
            b -= factors[:, None] * b[k]
    return a, b


def eliminated_in_part(a, b, rows, columns, pivots):
    """What lies in A and B in the end, if step k eliminates in rows(k) and columns(k) alone, and pivots(k) are its candidates."""
    m, n = numpy.hstack([a, b]), len(a)
    for k in range(n):
        candidates = pivots(k)
        pivot = candidates[int(numpy.abs(m[candidates, k]).argmax())]
        m[[k, pivot], k:] = m[[pivot, k], k:]
        below = rows(k)
        m[below, columns(k)] -= (m[below, k] / m[k, k])[:, None] * m[k, columns(k)]
    return m[:, :n], m[:, n:]


def wrong_grids(a, b):
    """The unknowns that `tiled` finds with the grid as it is handed out, and with its two lengths or its tiles exchanged."""
    n, width = len(a), a.shape[1] + b.shape[1]
    tiles = lambda length, tile: -(-length // tile)
    for across, down in ((lambda k: 1, lambda k: 1), (lambda k: tiles(n - k - 1, 32), lambda k: tiles(width - k - 1, 128)),
                         (lambda k: tiles(width - k - 1, 32), lambda k: tiles(n - k - 1, 128)),
                         (lambda k: tiles(n - k - 1, 128), lambda k: tiles(width - k - 1, 32))):
        last = lambda k, down=down: min(n, k + 1 + 32 * down(k))  # the first row that step k leaves out
        u, c = eliminated_in_part(a, b, lambda k: numpy.arange(k + 1, last(k)), lambda k: slice(k + 1, k + 1 + 128 * across(k)),
                                  lambda k: numpy.arange(k, n if k == 0 else max(k + 1, last(k - 1))))
        yield substituted(u, c)


def substituted(u, c, sum_of=lambda terms: terms.sum(axis=0), divide=True):
    """Substitution from the last unknown to the first, with another sum."""
    x = numpy.zeros_like(c)
    for i in reversed(range(len(u))):
        x[i] = (c[i] - sum_of(u[i, i + 1:, None] * x[i + 1:])) / (u[i, i] if divide else 1)
    return x


def by_blocks(a, b, eliminate=True, kept=lambda factors, pivot, column: factors, solved=lambda rows: rows, product=numpy.matmul):
    """As `blocked` does it, in blocks of 32 columns whose panels have 16, with a step done another way. The rows of U x = b."""
    m, n = numpy.hstack([a, b]), len(a)

    def finish(first, right, end):
        for i in solved(range(first + 1, right)):
            m[i, right:end] -= m[i, first:i] @ m[first:i, right:end]
        m[right:, right:end] -= product(m[right:, first:right], m[first:right, right:end])

    for first in range(0, n, 32):
        last = min(first + 32, n)
        for at in range(first, last, 16):
            right = min(at + 16, last)
            for k in range(at, right) if eliminate else ():
                pivot = k + int(numpy.abs(m[k:, k]).argmax())
                m[[k, pivot]] = m[[pivot, k]]
                factors = m[k + 1:, k] / m[k, k]
                m[k + 1:, k + 1:right] -= factors[:, None] * m[k, k + 1:right]
                m[k + 1:, k] = kept(factors, m[k, k], m[k + 1:, k])
            finish(at, right, last)
        finish(first, last, m.shape[1])
    x = m[:, n:]
    for first in reversed(range(0, n, 32)):
        last = min(first + 32, n)
        x[first:last] = scipy.linalg.solve_triangular(m[first:last, first:last], x[first:last], check_finite=False)
        x[:first] -= product(m[:first, first:last], x[first:last])
    return x


def in_tiles(row=lambda i, j: i, column=lambda i, j: j):
    """L U, where place (i, j) of each tile of 64 x 64 gets the product of another row and another column of the tile."""
    def product(l, u):
        whole = numpy.zeros([-(-side // 64) * 64 for side in (len(l), u.shape[1])])
        whole[:len(l), :u.shape[1]] = l @ u
        i, j = numpy.ogrid[:len(l), :u.shape[1]]
        return whole[i // 64 * 64 + row(i % 64, j % 64), j // 64 * 64 + column(i % 64, j % 64)]
    return product


def blocked_solutions(a, b):
    """Sentence -> what `blocked` finds without one of its steps."""
    yield "the panel is not eliminated: each row below the pivot's needs its factor, and loses factor * pivot_row[c] (TODO 10)", \
        by_blocks(a, b, eliminate=False)
    yield "the factors are not kept: held[r][j] has to become the factor, which is L (TODO 10)", by_blocks(a, b, kept=lambda factors, pivot, column: column)
    yield "held[r][j] is no longer the factor: factor * pivot_row[c] is taken off the columns behind it, from c = j + 1 on (TODO 10)", \
        by_blocks(a, b, kept=lambda factors, pivot, column: factors - factors * pivot)
    yield "U's rows beside the panel are not solved for: x[i] loses triangle[i][j] * x[j] for all j < i (TODO 11)", by_blocks(a, b, solved=lambda rows: [])
    yield "U's rows are solved for from the last one up: x[i] needs the final x[j] of the rows above it, so i goes up from 1 (TODO 11)", \
        by_blocks(a, b, solved=reversed)
    yield "the product L U is not taken off the rest: sums[r][c] stays 0 (TODO 12)", by_blocks(a, b, product=lambda l, u: 0)
    yield "the product L U is added and must be taken off: the last lines of subtract_product subtract, so sums are positive (TODO 12)", \
        by_blocks(a, b, product=lambda l, u: -l @ u)
    four_at_a_time = "a thread's {} are 16 apart, and the file takes four neighbours, 4 * {} + {}: {} is right (TODO 12)"
    rows, columns = ({"row": lambda i, j: i % 16 * 4 + i // 16}, {"column": lambda i, j: j % 16 * 4 + j // 16})
    yield four_at_a_time.format("rows", "y", "r", "l_tile[y + 16 * r][p]"), by_blocks(a, b, product=in_tiles(**rows))
    yield four_at_a_time.format("columns", "x", "c", "u_tile[p][x + 16 * c]"), by_blocks(a, b, product=in_tiles(**columns))
    yield four_at_a_time.format("rows and columns", "y", "r", "l_tile[y + 16 * r][p] * u_tile[p][x + 16 * c]"), \
        by_blocks(a, b, product=in_tiles(**rows, **columns))
    yield "x and y have changed places: y is for the rows, l_tile[y + 16 * r][p], and x for the columns, u_tile[p][x + 16 * c] (TODO 12)", \
        by_blocks(a, b, product=in_tiles(lambda i, j: i // 16 * 16 + j % 16, lambda i, j: j // 16 * 16 + i % 16))


ELIMINATES = {"report": "eliminate (TODO 4)", "on_device": "eliminate_and_search (TODO 6)", "gauss_jordan": "eliminate_and_search (TODO 6)",
              "tiled": "eliminate_tile (TODO 8), or the grid of launch_tiled (TODO 9),"}


def other_solutions(a, b, variant):
    """Sentence -> what comes out if a phase is missing or goes another way."""
    who = ELIMINATES[variant]
    yield "the unknowns are those of A's upper triangle alone: nothing is eliminated", scipy.linalg.solve_triangular(a, b)
    in_a_only = f"{who} stops at system.n: the rows of B, up to system.width, must be eliminated as those of A are"
    yield "every unknown has the wrong sign: b minus the sum, not the sum minus b (TODO 5)", -numpy.linalg.solve(a, b)
    if variant == "report":
        yield "rows of A change places, and those of B stay: the exchange must go on to the last column, system.width (TODO 3)", \
            substituted(*eliminated(a, b, exchange_b=False))
    if variant == "gauss_jordan":
        u, c = eliminated(a, b, jordan=True)
        yield "the unknowns are not divided by the diagonal (TODO 7)", c
        u, c = eliminated(a, b, jordan=True, subtract_b=False)
        yield in_a_only, c / numpy.diag(u)[:, None]
        u, c = eliminated(a, b)
        yield "nothing is eliminated above the diagonal: Gauss-Jordan's rows are all but row k (TODO 6)", c / numpy.diag(u)[:, None]
        n = len(a)
        u, c = eliminated_in_part(a, b, lambda k: numpy.delete(numpy.arange(n), k), lambda k: slice(k + 1, None),
                                  lambda k: numpy.arange(n) if k == 0 else numpy.delete(numpy.arange(n), k - 1))
        yield "rows above the diagonal become candidates, which have had their pivots: only a row below k is one, i > k (TODO 6)", c / numpy.diag(u)[:, None]
        return
    if variant == "tiled":
        for other in wrong_grids(a, b):
            yield ("the grid leaves out rows or columns: along x it needs a block for each tile_columns of the columns from k + 1 to system.width, "
                   "along y one for each tile_rows of the rows from k + 1 to n (TODO 9)"), other
    yield in_a_only, substituted(*eliminated(a, b, subtract_b=False))
    u, c = eliminated(a, b)
    yield "each unknown is b_i / a_ii: the sum over the unknowns below is not taken off (TODO 5)", c / numpy.diag(u)[:, None]
    yield "only thread 0's part of each sum is taken off: the tree must add up the sums of all 256 threads (TODO 5)", \
        substituted(u, c, lambda terms: terms[::256].sum(axis=0))
    yield "the sum over the unknowns below is added, and must be taken off (TODO 5)", substituted(u, c, lambda terms: -terms.sum(axis=0))
    yield "the unknowns are not divided by the diagonal (TODO 5)", substituted(u, c, divide=False)


def comes_true(expected, got, case):
    """The one guess that comes true, if it is one."""
    a, b = (case.inputs[name].astype(numpy.float64) for name in "ab")
    if variant_of(case) not in STEPPED + ["blocked"] or len(a) < 3 or len(a) > 128:
        return None
    guesses = blocked_solutions(a, b.reshape(len(a), -1)) if variant_of(case) == "blocked" else other_solutions(
        a, b.reshape(len(a), -1), variant_of(case))
    true = set()
    with numpy.errstate(all="ignore"):
        try:
            for sentence, other in guesses:
                if numpy.isfinite(other).all() and numpy.allclose(got, other.reshape(got.shape), rtol=1e-3, atol=1e-6 * numpy.abs(other).max()):
                    true.add(sentence)
        except (ValueError, numpy.linalg.LinAlgError):
            return None
    return true.pop() if len(true) == 1 else None


WAITS = {"report": "in find_candidates at the beginning of each round (TODO 2), in eliminate between the factor and the loop (TODO 4), in "
                   "back_substitute in the tree and at the end (TODO 5)",
         "on_device": "in find_candidates at the beginning of each round (TODO 2), in back_substitute in the tree and at the end (TODO 5)",
         "gauss_jordan": "in find_candidates at the beginning of each round (TODO 2)"}
WAITS["tiled"] = WAITS["on_device"]
for stepped in ("on_device", "gauss_jordan"):
    WAITS[stepped] += ("; or in eliminate_and_search a lane overwrites row[k], which others still read: its columns begin at k + 1 (TODO 6)")


def changes_with_order(expected, got, case):
    """In CPU mode the threads of a block take turns in an order that can be chosen: what changes with it is a race."""
    if variant_of(case) not in WAITS:
        return None
    solutions = [case.in_order(order) for order in ("forward", "reversed", "random:1")]
    if len({solution if solution is None else solution.tobytes() for solution in solutions}) == 1:
        return None
    return (f"the solution changes with the order in which the threads of a block run: a __syncthreads() is missing, and they stand "
            f"{WAITS[variant_of(case)]}. `make sanitize LAB=14 ARGS=\"--variant {variant_of(case)} --n 20\"` names the lines that race")


def no_pivots(expected, got, case):
    a = case.inputs["a"]
    if not numpy.isfinite(got).all() and (numpy.diag(a) == 0).any():
        return checker.Fact(f"some unknowns are not numbers: A has zeros on its diagonal, so a row with a pivot must come up before it "
                            f"is divided by{todo(case)}")
    return None


DIAGNOSERS = [right_only_once, nothing_arrived, comes_true, changes_with_order, no_pivots]


def residual_words(expected, got, case):
    where = "TODO 1, or 8, where a thread has four candidates" if variant_of(case) == "tiled" else "TODO 1"
    if numpy.abs(got - expected).max() > 1e-3 * numpy.abs(expected).max():
        return None
    return f"A x is not b as nearly as it could be: digits are lost by a pivot that is not the largest of its column ({where})"


# Running


def no_pivot_words(run):
    """What the program says about a pivot that it has not found."""
    found = re.search(r"no pivot found in column \d+|column \d+ \(counted from 0\) has no pivot", run.stdout + run.stderr)
    return found[0] if found else (run.stderr.strip().splitlines() or ["it does not say why"])[0]


def solve(case, variant, a, b, *words):
    """The solution of one run; what the program refuses as singular is explained."""
    type = "float" if a.dtype == numpy.float32 else "double"
    try:
        x = case.compute("--type", type, "--variant", variant, *words, inputs={"a": a, "b": b})
    except checker.Failure:
        run = case.last_run
        if run is None or run.status != 1:
            raise
        if re.search("past the end|before the start|of no allocation", run.stderr):
            raise checker.Failure(f"{variant} was stopped: {no_pivot_words(run)}", "a bounds test is missing, or compares with the wrong limit: rows end "
                                  f"at system.n, columns at system.width{todo(case)}")
        cause = changes_with_order(None, None, case) or (
            "no row below the diagonal became a candidate there, or not the best one came up, or elimination has left nothing but zeros"
            + todo(case))
        case.fail(f"{variant} found no solution, although A is not singular: {no_pivot_words(run)}\nlikely cause: {cause}")
    judge(case, a, b, x)
    return x


def random_system(case, n, sides=None, type="double"):
    a = case.floats((n, n), dtype=TYPES[type])
    return a, case.floats(n if sides is None else (n, sides), dtype=TYPES[type])


def random_case(case, variant, n, sides=None, type="double"):
    a, b = random_system(case, n, sides, type)
    solve(case, variant, a, b)
    if variant in REFINED and numpy.linalg.cond(a) < 1e4:
        require_rounds(case, variant)


def long_rows(case, variant, sides):
    """Several blocks, rounds and tiles along a row; and no row may stay where it is."""
    a, b = random_system(case, 6, sides)
    numpy.fill_diagonal(a, 0)
    solve(case, variant, a, b)


for variant in STEPPED + BY_BLOCKS:
    sizes = (1, 2, 31, 33, 65) if variant in STEPPED else (1, 2, 31, 32, 33, 64, 65, 97, 131)
    for n in sizes:
        lab.case(f"{variant}: {n} unknown{'s' if n > 1 else ''}", random_case, variant=variant, n=n)
    lab.case(f"{variant}: 34 unknowns, 3 right-hand sides", random_case, variant=variant, n=34, sides=3)
    if variant in STEPPED:
        lab.case(f"{variant}: 6 unknowns, 1100 right-hand sides", long_rows, variant=variant, sides=1100, on_cpu={"sides": 270})
    if variant in BY_BLOCKS:
        lab.case(f"{variant}: 67 unknowns, 40 right-hand sides", random_case, variant=variant, n=67, sides=40)
    if variant not in REFINED:
        lab.case(f"{variant}, float: 37 unknowns", random_case, variant=variant, n=37, type="float")


def special(case, variant):
    """Systems on which a wrong pivot shows."""
    # nothing but exchanges: a permutation, with a different number in each row; the pivots are near and far
    n = 35
    for distance in (3, 20):
        a = numpy.zeros((n, n))
        a[numpy.arange(n), numpy.roll(numpy.arange(n), distance)] = 1.0 + numpy.arange(n)
        solve(case, variant, a, case.floats(n, dtype=numpy.float64))
    # zeros on the whole diagonal
    a = case.floats((34, 34), dtype=numpy.float64)
    numpy.fill_diagonal(a, 0)
    solve(case, variant, a, case.floats(34, dtype=numpy.float64))
    # without pivoting 1 / 1e-17 would swamp everything
    a = numpy.array([[1e-17, 1, 2], [1, 1, 1], [3, 1, 4]])
    solve(case, variant, a, numpy.array([3.0, 3, 8]))


for variant in STEPPED + BY_BLOCKS:
    lab.case(f"{variant}: rows that must change places", special, variant=variant)


def equal(case, variant):
    """Nothing but 1 and -1: which of many equal candidates comes up depends on nothing but the rule, or threads disagree."""
    a, b = random_system(case, 40 if variant == "report" else 70)  # with a block for each row, in each step
    solve(case, variant, a, b)
    try:
        solve(case, variant, numpy.where(a < 0, -1.0, 1.0), b)
    except checker.Failure as failure:
        raise checker.Failure(str(failure), "a random matrix of this size is right, and one of nothing but 1 and -1 is not: of equal magnitudes the row "
                              f"with the smaller number has to win, whatever is compared first{' (TODO 1)' * (variant in TODO)}")


for variant in STEPPED + BY_BLOCKS:
    lab.case(f"{variant}: all magnitudes equal", equal, variant=variant)


@lab.case("by hand, all variants")
def by_hand(case):
    exact = checker.Tolerance(why="small whole numbers: nothing is rounded")
    for a, b, x in (([[0, 1], [1, 0]], [2, 3], [3, 2]), ([[1, 2], [-1, 1]], [3, 0], [1, 1]),
                    ([[0, 1, 1], [1, 1, 0], [1, 0, 0]], [5, 3, 1], [1, 2, 3])):
        for variant in VARIANTS:
            got = solve(case, variant, numpy.array(a, float), numpy.array(b, float))
            case.compare(numpy.array(x, float), got, exact)


@lab.case("the lowest row of two equal candidates, all variants")
def ties(case):
    """Equal magnitudes in the first column; which row comes first decides how the last digit is rounded."""
    a = numpy.array([[1, 3.1], [1, 1 / 3]])
    b = numpy.array([0.7, 0.1])
    second = (b[1] - b[0]) / (a[1, 1] - a[0, 1])
    expected = numpy.array([b[0] - a[0, 1] * second, second])
    other = b[1] - a[1, 1] * second
    case.expect(other != expected[0], "the checker's own numbers do not tell the rows apart")
    for variant in [name for name in VARIANTS if name not in REFINED + ["gauss_jordan"]]:
        got = solve(case, variant, a, b)
        if got[0] == other:
            case.fail(f"{variant} takes the second of two rows with equal candidates: the lowest row must win (TODO 1)")
    ties_in_a_tree(case)


def ties_in_a_tree(case):
    """Rows 1 and 2 have the pivot's magnitude, and row 2 comes to row 0's place in the tree first."""
    a, b = numpy.array([[0.5, 3.1, 0.3], [1, 1 / 3, 7.7], [1, 2.3, 1 / 7]]), numpy.array([0.7, 0.1, 0.9])

    right, other = (substituted(*eliminated(a[order], b[order, None]))[:, 0] for order in ([0, 1, 2], [2, 1, 0]))
    case.expect((right != other).any(), "the checker's own numbers do not tell the rows apart")
    for variant in ("report", "on_device", "tiled"):
        if (solve(case, variant, a, b) == other).all():
            case.fail(f"{variant} takes row 2 where rows 1 and 2 have equal candidates: the lowest row must win, whatever is compared first (TODO 1)")


@lab.case("matrices of all kinds")
def kinds(case):
    n = 24
    dominant = case.floats((n, n), dtype=numpy.float64) + n * numpy.eye(n)
    scaled = case.floats((n, n), dtype=numpy.float64) * 10.0 ** case.random.integers(-12, 12, (n, 1))
    line, ones = numpy.diag(-numpy.ones(4), 1), numpy.eye(5)
    poisson = numpy.kron(ones, line + line.T) + numpy.kron(line + line.T, ones) + 4 * numpy.eye(25)
    subnormal = numpy.array([[2.0, 4], [1, 6]]) * 2.0 ** -1030  # no reciprocal is a double; nothing is rounded
    for a in (dominant, scaled, wilkinson(n), poisson, numpy.eye(n) * 1e-300, dominant * 1e150, subnormal):
        for variant in ["report", "tiled", "blocked", "refined", *lab.further]:
            solve(case, variant, a, a @ numpy.ones(len(a)))
    growing(case)
    extremes(case)


def wilkinson(n):
    """Its last column doubles with each step of elimination."""
    a = numpy.eye(n) - numpy.tril(numpy.ones((n, n)), -1)
    a[:, -1] = 1
    return a


def growing(case):
    """Wilkinson's matrix once more, so large that nothing is left of the solution, whatever its condition."""
    n = 60
    a = wilkinson(n)
    for variant in ["blocked", "refined"] + [name for name in lab.further if "team" in name]:
        run = case.run("--variant", variant, "--a", case.save("a", a), "--b", case.save("b", case.floats(n, dtype=numpy.float64)))
        for words in ("not one digit of the solution can be trusted", "elements of A grow"):
            case.expect(words in run.stdout, f"elimination lets this matrix grow by 2^59, and the condition of 60 does not "
                        f"say so: {variant} should say '{words}'")


@lab.case("hardly a solution: Hilbert's matrix")
def hilbert(case):
    a = scipy.linalg.hilbert(12)
    for variant in VARIANTS:
        solve(case, variant, a, a.sum(axis=1))
        case.expect("nearly singular" in case.last_run.stdout, "a condition of 1e16 is worth a warning: nearly singular")
    a = scipy.linalg.hilbert(6).astype(numpy.float32)
    solve(case, "blocked", a, a.sum(axis=1))
    run = case.run("--variant", "gauss_jordan", "--a", case.save("a", scipy.linalg.hilbert(30)))  # no better, and no mistake
    case.expect("magnified by the condition" in run.stdout, "gauss_jordan's error is that of the method, and the program should say so")


@lab.case("singular matrices")
def singular(case):
    gap = case.floats((70, 70), dtype=numpy.float64)
    gap[:, [43, 60]] = 0
    for a, column in (([[0.0]], 0), ([[1.0, 2], [2, 4]], 1), (numpy.ones((5, 5)), 1), (gap[:40, 25:65], 18), (gap, 43)):
        a = numpy.array(a)
        a_file, b_file = case.save("a", a), case.save("b", numpy.ones(len(a)))
        for variant in ["cpu"] + VARIANTS:
            run = case.run("--variant", variant, "--a", a_file, "--b", b_file, "--output", "x.npy", status=1)
            by = " By blocks, pivots are chosen by better(), too (TODO 1)." if variant in BY_BLOCKS else ""
            case.expect(re.search(rf"singular.{{0,200}}column {column}\b", run.stderr),
                        f"{variant} should say that A is singular, and that column {column} has no pivot{todo(case, variant)}.{by} "
                        f"It says: {run.stderr.strip() or 'nothing'}")
            case.expect(not (case.folder / "x.npy").exists(), f"{variant} wrote a solution of a singular system")
    far_pivots(case)


def far_pivots(case):
    """The only pivot in each half of the search's tree, and beyond the rows of one block. Only `report` stops at a column
    of zeros: in CPU mode the others take minutes, and they search by the same kernel."""
    for n, row in ((220, 200), (401, 400), (701, 700), (1100, 1050)):
        a = numpy.zeros((n, n))
        a[row, 0] = 1
        files = "--a", case.save("a", a), "--b", case.save("b", numpy.ones(n))
        what = ("does each block of the search look at rows of its own?" if row > 1024 else "the tree of find_candidates has to begin "
                "with half = search_threads / 2 and to halve it down to 1 (TODO 2).")
        for variant in STEPPED if case.backend == "gpu" else ["report"]:
            run = case.run("--variant", variant, *files, status=1)
            case.expect(re.search(r"singular.{0,200}column 1\b", run.stderr), f"{variant}: the only element of column 0 is in row {row}, "
                        f"and column 1 is the first without a pivot: {what} It says: {run.stderr.strip()}")


@lab.case("singular but for rounding")
def nearly(case):
    a = numpy.array([[2.0, 4, 6], [2, 0, 2], [6, 8, 14]])
    for variant in VARIANTS:
        run = case.run("--variant", variant, "--a", case.save("a", a), "--b", case.save("b", numpy.array([12.0, 4, 28])),
                       status=(0, 1))
        said = re.search(r"singular.{0,200}column 2\b", run.stderr) if run.status == 1 else "nearly singular" in run.stdout
        case.expect(said, f"{variant}: the third column is the sum of the others; it should be called singular, or nearly "
                    f"so{todo(case, variant)}")


# All loops that hold a barrier go round twice, in blocks of several warps; `tiled` and `blocked` have two rows of blocks, `team` two panels.
lab.watched("no race between threads", [["--n", 6, "--variant", "report"], ["--n", 10, "--variant", "on_device,gauss_jordan"],
                                        ["--n", 34, "--variant", "tiled"], ["--n", 100, "--variant", "blocked"], ["--n", 33, "--variant", "refined"]])
lab.watched("no race in the variants of further/", [["--n", 33, "--variant", "team"]], further=True)


@lab.case("the inverse")
def inverse(case):
    for variant, n in (("gauss_jordan", 21), ("report", 12), ("blocked", 50), *((name, 40) for name in lab.further)):
        a = case.floats((n, n), dtype=numpy.float64)
        case.inputs.clear()
        got = case.compute("--variant", variant, "--inverse", inputs={"a": a})
        judge(case, a, numpy.eye(n), got)


@lab.case("the same in every run, and the errors that the program prints")
def repeated(case):
    a, b = random_system(case, 70, 3)
    b[:, 2] *= 1000  # the largest residual is not that of the first right-hand side
    for variant in ["tiled", "blocked", *lab.further]:
        first, second = (solve(case, variant, a, b) for _ in range(2))
        case.expect((first == second).all(), f"{variant} gives another solution in another run")
    residual, backward = printed_errors(case)
    mine = float(numpy.abs(b - a.astype(numpy.longdouble) @ first).max())
    case.expect(abs(residual - mine) <= 0.02 * mine, f"the program says largest |b - A x| {residual}, it is {mine:.3g}")
    mine = backward_error(a, b, first)
    case.expect(abs(backward - mine) <= 0.02 * mine, f"the program says backward error {backward}, it is {mine:.3g}")
    require_condition(case, numpy.linalg.cond(a, 1))


def printed_errors(case):
    said = re.search(r"largest \|b - A x\| (\S+), backward error (\S+)", case.last_run.stdout)
    case.expect(said, "the program does not print the errors")
    return float(said[1]), float(said[2])


def require_condition(case, real):
    condition = float(re.search(r"condition about (\S+)", case.last_run.stdout)[1])
    case.expect(real / 10 <= condition <= 1.05 * real, f"the estimated condition is {condition:.3g}, it is {real:.3g}")


def extremes(case):
    """Numbers whose product, and numbers whose inverse, are beyond a double."""
    a, x = random_system(case, 20)
    a[0] = a[:, 0] = 0
    a[0, 0], x[1] = 1e306, 1e5
    b = a @ x
    mine, (_, backward) = backward_error(a, b, solve(case, "blocked", a, b)), printed_errors(case)
    case.expect(abs(backward - mine) <= 0.02 * mine, f"the program says backward error {backward}, it is {mine:.3g}")
    a, b = random_system(case, 20)
    for scale in (1e-306, 1e306):
        for variant in ["blocked", "refined"] + [name for name in lab.further if "team" in name]:
            solve(case, variant, scale * a, scale * b)
        require_condition(case, numpy.linalg.cond(a, 1))
    for a, b, advice in ((1e-300, 1e300, "divide B"), (1e300, 1e-300, "multiply B")):
        run = case.run("--variant", "report", "--a", case.save("a", numpy.array([[a]])), "--b", case.save("b", numpy.array([b])),
                       status=1)
        case.expect(advice in run.stdout, f"{b:g} / {a:g} is no double: the program should say what to do: {advice}")


@lab.case("a system nobody knows before, all variants", fresh=True)
def fresh(case):
    n, sides = (int(case.random.integers(2, most)) for most in (60, 5))
    a, b = random_system(case, n, sides)
    for variant in VARIANTS:
        solve(case, variant, a, b)


@lab.case("all variants in one run, random input")
def everything(case):
    (case.folder / "study.csv").unlink(missing_ok=True)
    run = case.run("--n", 41, "--sides", 2, "--value", 3, "--range", 100, "--study", "study.csv", status=(0, 1))
    for variant in VARIANTS:
        row = re.search(rf"^{variant} .*", run.stdout, re.M)
        case.expect(row and re.search("correct|skipped", row[0]), f"the table does not call {variant} correct{todo(case, variant)}: "
                    f"{row[0] if row else 'it has no such row'}")
    grids = {"report": "40 ", "on_device": "6 ", "gauss_jordan": "6 ", "tiled": "1x2 "}
    for variant, grid in grids.items():
        case.expect(re.search(rf"^{variant} +{grid}", run.stdout, re.M), f"{variant} should have {grid.strip()} blocks")
    case.expect(run.status == 0, "all rows are right, yet the program ended with status 1")
    study(case, run)


def study(case, run):
    """What the figures of the handout are drawn from: a line a variant, with the errors that are printed."""
    with open(case.folder / "study.csv", newline="") as file:
        lines = list(csv.DictReader(file))
    names = ["cpu"] + [variant for variant in VARIANTS if f"{variant}: largest" in run.stdout]
    case.expect([line["variant"] for line in lines] == names, f"--study has lines for {[line['variant'] for line in lines]}")
    for line in lines:
        case.expect((line["type"], line["n"], line["range"], line["value"]) == ("double", "41", "100", "3"),
                    f"--study has another problem than the arguments: {line}")
        said = f"{line['variant']}: largest |b - A x| {float(line['residual']):.3g}, backward error {float(line['backward']):.3g}"
        case.expect(said in run.stdout, f"--study does not say what is printed: {line}")


@lab.case("larger systems", quick=False)
def larger(case):
    for variant, n in (("tiled", 160), ("blocked", 360), ("refined", 180), *((name, 180 if name in ("tensor", "refined_team") else 360) for name in lab.further)):
        scale = 7 if case.backend == "gpu" else 1
        solve(case, variant, *random_system(case, scale * n + 1))
    refinement(case)


def refinement(case):
    """Floats must find the solution: where they cannot, doubles would hide why. A matrix whose rows change places in
    each step; and one where all that happens is in the last of many rows."""
    n, last = 300, 40
    a, b = numpy.eye(n), numpy.zeros(n)
    a[-last:, -last:] = case.floats((last, last), dtype=numpy.float64) + 3 * numpy.eye(last)[::-1]
    b[-last:] = 1
    for variant in [name for name in VARIANTS if name in REFINED]:
        for system in (random_system(case, 200), (a, b)):
            solve(case, variant, *system)
            require_rounds(case, variant)


def require_rounds(case, variant):
    """Floats have found the solution, in a number of rounds that fits a small condition."""
    rounds = re.search(rf"^{variant}: (\d+) rounds?$", case.last_run.stdout, re.M)
    case.expect(rounds and int(rounds[1]) <= 10, f"a matrix of this condition takes {variant} a few rounds in float"
                f"{todo(case, variant)}. Is each residual brought into the order of the pivots, solved for with the factors, and the correction "
                f"added to x? It says: {'; '.join(re.findall(rf'^{variant}: .*(?:round|float).*', case.last_run.stdout, re.M)) or 'nothing'}")


# Matrix Market


MARKET = """%%MatrixMarket matrix coordinate real symmetric
% what lies above the diagonal is not given
3 3 4

1 1 4.0
2 1 -1
2 2 4e0
3 3 2.5
"""


@lab.case("Matrix Market files")
def market(case):
    a = scipy.sparse.random(30, 30, 0.2, random_state=1).tocsr() + scipy.sparse.eye(30)
    b = case.floats((30, 2), dtype=numpy.float64)
    scipy.io.mmwrite(case.folder / "a.mtx", scipy.sparse.coo_matrix(a), precision=17)
    scipy.io.mmwrite(case.folder / "b.mtx", b, precision=17)
    for variant in ("report", "blocked"):
        case.run("--variant", variant, "--a", "a.mtx", "--b", "b.mtx", "--output", "x.npy")
        judge(case, a.toarray(), b, case.load("x"))
    dense = numpy.array([[4.0, -1, 0], [-1, 4, 0], [0, 0, 2.5]])
    pattern = "%%MatrixMarket matrix coordinate pattern general\n2 2 3\n1 1\n2 1\n2 2\n"
    skew = "%%MatrixMarket matrix array integer skew-symmetric\n2 2\n3\n"
    for text, expected in ((MARKET, dense), (MARKET.replace("\n", "\r\n"), dense), (pattern, numpy.array([[1.0, 0], [1, 1]])),
                           (skew, numpy.array([[0.0, -3], [3, 0]])), ("\ufeff" + pattern, numpy.array([[1.0, 0], [1, 1]]))):
        for name in ("m.MTX", "m.txt"):  # known by its name and by its first words
            (case.folder / name).write_text(text, newline="", encoding="utf-8")
            case.run("--variant", "report", "--a", name, "--value", 2, "--output", "x.npy")
            judge(case, expected, numpy.full(len(expected), 2.0), case.load("x"))


@lab.case("Matrix Market files with mistakes")
def bad_market(case):
    def refused(old, new, *words, type="double"):
        (case.folder / "m.mtx").write_text(MARKET.replace(old, new))
        run = case.refuses("--a", "m.mtx", "--type", type, saying=words[0])
        for word in words[1:]:
            case.expect(word in run.stderr, f"the sentence should mention '{word}': {run.stderr.strip()}")

    refused("%%MatrixMarket matrix", "%%Matrix", "line 1")
    refused("real", "complex", "complex")
    refused("coordinate", "dense", "format")
    refused("3 3 4", "3 4 4", "line 3", "square")
    refused("3 3 4", "3 x 4", "line 3")
    refused("3 3 4", "3 3 5", "ends")
    refused("3 3 4", "3 3 3", "line 8", "more values")
    refused("2 1 -1", "1 2 -1", "line 6", "diagonal")
    refused("2 1 -1", "4 1 -1", "line 6", "between 1 and 3")
    refused("2 1 -1", "1 1 -1", "line 6", "twice")
    refused("2 1 -1", "2 1 one", "line 6", "number")
    refused("2 1 -1", "2 1 nan", "line 6", "finite")
    refused("2 1 -1", "2 1", "line 6", "words")
    refused("3 3 4", "1Ki 1Ki 4", "line 3", "size")
    refused("2 1 -1", "+2 1 -1", "line 6", "between 1 and 3")
    refused("2 1 -1", "2 1 0x1", "line 6", "number")
    refused("2 1 -1", "2 1 -1\0", "line 6", "number")
    refused("2 1 -1", f"2 1 {5000 * '0'}1", "line 6", "longer")  # a part of it would be 0
    refused("2 1 -1", "2 1 1e300", "line 6", "float", type="float")
    refused("2 1 -1", "2 1 1e-300", "line 6", "float", type="float")
    refused("2 1 -1", "2 1 -1e-999", "line 6", "too small for a double")  # it would be 0
    refused("real", "integer", "line 5", "4.0", "whole number")
    for text, word in ((gzip.compress(MARKET.encode()), "gunzip"), (MARKET.encode("utf-16"), "UTF-8"), (HARWELL_BOEING, "Harwell-Boeing")):
        for name in ("m.mtx", "m.rua"):
            (case.folder / name).write_bytes(text)
            case.refuses("--a", name, saying=word)


HARWELL_BOEING = b"""Two unknowns                                                            TWO
             3             1             1             1
RUA                        2             2             2             0
(3I5)           (2I5)           (2E20.12)
    1    2    3
    1    2
  0.100000000000E+01  0.200000000000E+01
"""


# Refusals


@lab.case("nothing to solve for")
def empty(case):
    for n, sides in ((0, None), (0, 2), (4, 0)):
        b = numpy.zeros(n if sides is None else (n, sides))
        got = case.compute("--variant", "blocked", inputs={"a": numpy.zeros((n, n)), "b": b})
        case.compare(b, got, checker.Tolerance(why="there is nothing"))


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--n --sides", "-1", "many", "", "3000000000")
    case.refuses("--n", "1Mi", saying="memory")
    case.refuses("--type", "half", saying="--type")
    case.refuses("--range", "0", saying="--range")
    case.refuses("--variant", "gaus_jordan", saying="gauss_jordan")
    case.refuses("--output", "x.npy", saying="variant")
    case.refuses("--inverse", "--sides", "2", saying="--sides")


@lab.case("bad input files")
def bad_files(case):
    a = case.floats((6, 6), dtype=numpy.float64)
    good, right = case.save("a", a), case.save("b", a[0])
    case.refuses("--a", good, "--n", "6", saying="--n")
    case.refuses("--a", good, "--b", right, "--value", "1", saying="--value")
    case.refuses("--a", good, "--b", right, "--inverse", saying="--inverse")
    case.refuses("--a", case.save("wide", a[:5].copy()), saying="square")
    case.refuses("--a", case.save("flat", a.ravel()), saying="square")
    case.refuses("--a", good, "--b", case.save("short", a[0, :5].copy()), saying="rows")
    case.refuses("--a", good, "--type", "float", saying="float32")
    (case.folder / "table.csv").write_text("1,2\n3,4\n")
    case.refuses("--a", "table.csv", saying='numpy.save("table.npy"')
    for value, word in ((numpy.nan, "NaN"), (numpy.inf, "infinite")):
        broken = a.copy()
        broken[4, 2] = value
        run = case.refuses("--a", case.save("broken", broken), "--b", right, saying="row 4, column 2")
        case.expect(word in run.stderr, f"the sentence should say {word}")
        case.refuses("--a", good, "--b", case.save("broken_b", broken[:, 2].copy()), saying="row 4")


lab.main()
