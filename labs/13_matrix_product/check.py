"""Judges matrix_product: every variant's product of two matrices against NumPy, for any shape."""

import copy
import re
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker
from checker.comparison import poisoned, wrong_elements
from checker.diagnose import right_only_once

PATH = ["naive", "coalesced", "tiled", "register_tile", "vectorised", "pipelined", "tensor_8x8x4"]
HALF = ["tensor_16x8x16", "warp_group_64x256x16"]  # --type half alone
FURTHER = ["warp_tile", "tensor_tuned_8x8x4", "tensor_16x8x8", *HALF]
TODO = {variant: number for number, variant in enumerate(PATH, 1)}
lab = checker.Lab(__file__, tasks={variant: f"TODO {number}" for variant, number in TODO.items()}, further=FURTHER)
TENSOR = [variant for variant in PATH + FURTHER if variant.startswith("tensor") and variant not in HALF]  # double only
FOR_BOTH = [variant for variant in PATH + FURTHER if variant not in TENSOR + HALF]
THERE = [variant for variant in FOR_BOTH if variant in PATH + lab.further]  # for cases over all variants
COPIED = ["pipelined", "tensor_8x8x4"]  # both go through the tiles by TODO 6
BLOCK_TILES = {("tensor_16x8x8", "double"): ["64x64x3", "64x128x1", "64x128x2"],
               ("warp_tile", "double"): ["32x128x2", "64x128x2"],
               ("warp_tile", "float"): ["64x128x3", "64x128x2", "128x256x1"],
               ("warp_group_64x256x16", "half"): ["64x256x1", "128x256x1"]}
TYPES = {"float": numpy.float32, "double": numpy.float64}  # half: the files have floats, which the program rounds
lab.kernels({**{variant: variant for variant in PATH + FURTHER}, "tensor_tuned_8x8x4": "tensor_tile", "tensor_16x8x8": "tensor_tile"})
# In CPU mode the pretend card must have the shared memory that the largest tiles need.
CARD = {"CUDA_CPU_DEVICE": "h100"}


def tolerance(a, b):
    """A sum of k products, in any order: (k + 1) u |a's row| |b's column|, and as much for the oracle."""
    u = 2.0 ** -24 if a.dtype == numpy.float32 else 2.0 ** -53
    rows = numpy.linalg.norm(a.astype(numpy.float64), axis=1).max(initial=0)
    columns = numpy.linalg.norm(b.astype(numpy.float64), axis=0).max(initial=0)
    return checker.Tolerance(absolute=2 * (a.shape[1] + 1) * u * rows * columns,
                             why="rounding of k products, (k + 1) u |row| |column|, here and in NumPy")


def product(a, b):
    """The oracle. Products of floats are exact in double; doubles get more digits where it is cheap."""
    wide = numpy.longdouble if a.dtype == numpy.float64 and a.size * b.shape[1] < 1 << 22 else numpy.float64
    return (a.astype(wide) @ b.astype(wide)).astype(numpy.float64)


# Likely causes. A guess is a sentence and what comes out if it is true; NaN stands where nothing is written, or where
# something is added that nobody wrote, infinity where nobody can tell. A sentence is said when it is the only one whose
# guess comes true.


def nothing_arrived(expected, got, case):
    if got.size and poisoned(got).all() and case.parameters["variant"] != "tiled":
        return (f"every element of c is still what c was filled with before the launch: {case.parameters['variant']} stores no sum, or a "
                f"sum to which what lay in c was added. A sum begins with 0, and = stores it")
    return None


def kept_in_a_float(expected, got, case):
    """double alone: each sum is the value of a float, and as near as floats come."""
    a, b = case.inputs["a"], case.inputs["b"]
    if got.dtype != numpy.float64 or case.parameters["variant"] not in TODO or not numpy.isfinite(got).all() or (got != got.astype(numpy.float32)).any():
        return None
    near = tolerance(a, b).absolute * 2.0 ** 29
    if (numpy.abs(expected - got) > near).any():
        return None
    return f"each sum has the 24 bits of a float: it is kept in one, and its type is T (TODO {TODO[case.parameters['variant']]})"


def written(m, n, blocks, height, width, length, row_by_x, corner=(1, 1)):
    """True where a thread finds an element of c: `blocks` of (32, 8) threads by corner_of_block(height, width, length)."""
    block, y, x = numpy.ogrid[:blocks, :8, :32]
    across = -(-max(length, 1) // width)
    rows = block // across * height * corner[0] + (x if row_by_x else y) + 0 * (x + y)
    columns = block % across * width * corner[1] + (y if row_by_x else x) + 0 * (x + y)
    inside, mask = (rows < m) & (columns < n), numpy.zeros((m, n), bool)
    mask[rows[inside], columns[inside]] = True
    return mask


def wrong_places(variant, m, k, n):
    """For a kernel with a thread an element: sentence -> which elements are written, with right values."""
    naive = variant == "naive"
    height, width = (32, 8) if naive else (8, 32)
    other = "coalesced" if naive else "naive"
    row, column = ("x", "y") if naive else ("y", "x")

    def by(height=height, width=width, length=n, row_by_x=naive, **corner):
        return written(m, n, -(-m // (32 if naive else 8)) * -(-n // (8 if naive else 32)), height, width, length, row_by_x, **corner)

    rows, columns = numpy.ogrid[:m, :n]
    yield (f"the corner is that of {other}, corner_of_block({width}, {height}, n): a block of {variant} has {height} rows and {width} "
           f"columns of c, so corner_of_block({height}, {width}, n) is right"), by(width, height)
    yield f"row and column come from the wrong sides of the block: {variant} takes the row by threadIdx.{row}, the column by threadIdx.{column}", \
        by(row_by_x=not naive)
    yield f"the kernel is that of {other}, and the grid is {variant}'s", by(width, height, row_by_x=not naive)
    for name, length in (("k", k), ("m", m)):
        yield f"corner_of_block({height}, {width}, {name}) counts the tiles of a row by {name}: a row of c has n elements", by(length=length)
        yield f"the bounds test compares the column with {name}: c has n columns", columns + 0 * rows < length
    for name, length in (("k", k), ("n", n)):
        yield f"the bounds test compares the row with {name}: c has m rows", rows + 0 * columns < length
    yield "the bounds test compares the row with n and the column with m: c has m rows and n columns", (rows < n) & (columns < m)
    yield "the bounds test leaves out the last row", rows + 0 * columns < m - 1
    yield "the bounds test leaves out the last column", columns + 0 * rows < n - 1
    yield "the row lacks corner.row: every block has the first rows", by(corner=(0, 1))
    yield "the column lacks corner.column: every block has the first columns", by(corner=(1, 0))
    yield "neither row nor column begins at the corner: every block has the first ones", by(corner=(0, 0))


def other_row_length(expected, got, k):
    """c stored with rows of k elements; where several threads store in one place, nobody knows who comes last."""
    (m, n), flat = got.shape, got.ravel().copy()
    places = (numpy.arange(m)[:, None] * k + numpy.arange(n)).ravel()
    hits = numpy.bincount(places[places < m * n], minlength=m * n)[:m * n]
    flat[hits == 0] = numpy.nan
    alone = (places < m * n) & (hits[numpy.minimum(places, m * n - 1)] == 1)
    flat[places[alone]] = expected.ravel()[alone]
    if alone.any() and k != n:
        yield "c is stored at row * k + column: a row of c has n elements", flat.reshape(m, n)


def read_flat(matrix, places):
    """What lies at these places of a matrix whose rows follow each other; NaN past its end."""
    flat = numpy.append(matrix.ravel(), numpy.nan)
    return flat[numpy.minimum(places, matrix.size)]


def other_terms(a, b, depth):
    """Sentence -> what comes out if the sum is made of other terms than those that it should have."""
    (m, k), n = a.shape, b.shape[1]
    whole = k // depth * depth if depth else k
    last = (k - 1) // depth * depth if depth else 0
    rows, terms, columns = numpy.arange(m)[:, None], numpy.arange(k), numpy.arange(n)
    if whole < k:
        yield (f"the last {checker.counted(k % depth, 'term is', 'terms are')} missing: the loop over p must reach k, with zeros past the edge",
               a[:, :whole] @ b[:whole])
    if last > 0:
        yield "each sum has only the terms of the last tiles: it is set to 0 in the loop", a[:, last:] @ b[last:]
        yield f"each sum has only the first {depth} terms: the loop over p does not go on", a[:, :depth] @ b[:depth]
    if k > 1:
        yield "each sum lacks its last term", a[:, :-1] @ b[:-1]
        yield "each sum lacks its first term", a[:, 1:] @ b[1:]
        yield "each element is its last product alone: = stands where += is right, or the sum is set to 0 in the loop", a[:, -1:] @ b[-1:]
    if not depth:
        one_more = numpy.arange(k + 1)
        yield "each sum has a term too many: p goes up to k - 1", read_flat(a, rows * k + one_more) @ read_flat(b, one_more[:, None] * n + columns)
        yield "each sum is 1 too large: it begins with 0", a @ b + 1
    yield "the row of a is multiplied by n: a row of a has k elements", read_flat(a, rows * n + terms) @ b
    by_k = a @ read_flat(b, terms[:, None] * k + columns)
    if not numpy.isnan(by_k).all():  # which says nothing
        yield "the row of b is multiplied by k: a row of b has n elements", by_k
    yield "b is read by its columns, column * k + p: element (p, column) lies at p * n + column", \
        a @ read_flat(b, columns * k + terms[:, None])


def in_tiles(a, b, tile, load_a, load_b, multiply=lambda a, b: a @ b):
    """c as `tiled` computes it. load_(tile, row or column of the corner, p) fills a tile; what it leaves out stays as it was."""
    (m, k), n = a.shape, b.shape[1]
    c = numpy.zeros((m, n))
    for row in range(0, m, tile):
        for column in range(0, n, tile):
            tiles, sums = numpy.full((2, tile, tile), numpy.nan), numpy.zeros((tile, tile))
            for p in range(0, k, tile):
                load_a(tiles[0], row, p)
                load_b(tiles[1], column, p)
                sums = sums + multiply(*tiles)
            c[row:row + tile, column:column + tile] = sums[:m - row, :n - column]
    return c


def wrong_tiles(a, b, tile):
    """Sentence -> what `tiled` gives with a mistake in its five lines."""
    k, n = a.shape[1], b.shape[1]
    y, x = numpy.mgrid[:tile, :tile]

    def loader(matrix, row, column, zeros=True, tests=(True, True), width=None):
        """row(corner, p), column(corner, p): of the element that thread (y, x) loads."""
        def load(into, corner, p):
            rows, columns = row(corner, p), column(corner, p)
            inside = ((rows < matrix.shape[0]) | (not tests[0])) & ((columns < matrix.shape[1]) | (not tests[1]))
            values = read_flat(matrix, rows * (width or matrix.shape[1]) + columns)
            into[:] = numpy.where(inside, values, 0 if zeros else into)
        return load

    of_a = (lambda corner, p: corner + y), (lambda corner, p: p + x)
    of_b = (lambda corner, p: p + y), (lambda corner, p: corner + x)
    right_a, right_b = loader(a, *of_a), loader(b, *of_b)
    left = "where {} has no element, the tile keeps what it held: past an edge the thread must store 0"
    yield left.format("a"), in_tiles(a, b, tile, loader(a, *of_a, zeros=False), right_b)
    yield left.format("b"), in_tiles(a, b, tile, right_a, loader(b, *of_b, zeros=False))
    yield left.format("a or b"), in_tiles(a, b, tile, loader(a, *of_a, zeros=False), loader(b, *of_b, zeros=False))
    no_test = "{} is read past its last {}: without p + {} < k the tile takes what lies behind, where 0 is right"
    yield no_test.format("a", "column", "x"), in_tiles(a, b, tile, loader(a, *of_a, tests=(True, False)), right_b)
    yield no_test.format("b", "row", "y"), in_tiles(a, b, tile, right_a, loader(b, *of_b, tests=(False, True)))
    turned = "{0} is turned over: stored as {0}[y][x] it is read as {0}{1}"
    yield turned.format("a_tile", "[y][q]"), in_tiles(a, b, tile, right_a, right_b, lambda a, b: a.T @ b)
    yield turned.format("b_tile", "[q][x]"), in_tiles(a, b, tile, right_a, right_b, lambda a, b: a @ b.T)
    yield "x and y have changed places: a row of a_tile, a_tile[y][q], is multiplied by a column of b_tile, b_tile[q][x]", \
        in_tiles(a, b, tile, right_a, right_b, lambda a, b: b @ a)
    yield "the loop over q leaves out the last of the tile", in_tiles(a, b, tile, right_a, right_b, lambda a, b: a[:, :-1] @ b[:-1])
    yield "a is loaded from column p + y: thread (x, y) brings a's element (row, p + x)", \
        in_tiles(a, b, tile, loader(a, of_a[0], lambda corner, p: p + y), right_b)
    yield "b is loaded from row p + x: thread (x, y) brings b's element (p + y, column)", \
        in_tiles(a, b, tile, right_a, loader(b, lambda corner, p: p + x, of_b[1]))
    yield "each step loads the first tile of a: the column is p + x", \
        in_tiles(a, b, tile, loader(a, of_a[0], lambda corner, p: numpy.where(p + x < k, x, k)), right_b)
    yield "each step loads the first tile of b: the row is p + y", \
        in_tiles(a, b, tile, right_a, loader(b, lambda corner, p: numpy.where(p + y < k, y, k), of_b[1]))
    yield "the row of b is multiplied by k: a row of b has n elements", in_tiles(a, b, tile, right_a, loader(b, *of_b, width=k))
    yield "the row of a is multiplied by n: a row of a has k elements", in_tiles(a, b, tile, loader(a, *of_a, width=n), right_b)
    if k % tile == 0:
        yield "each element is its last product alone: = stands where += is right", a[:, -1:] @ b[-1:]


def wrong_registers(a, b):
    """Sentence -> what `register_tile` gives when a thread's values are other rows and columns than its sums."""
    (m, k), n = a.shape, b.shape[1]
    product = numpy.zeros((-(-m // 128) * 128 + 128, -(-n // 128) * 128 + 128))
    product[:m, :n] = a @ b
    rows, columns = numpy.ogrid[:m, :n]
    y, i, x, j = rows % 16, rows // 16 % 8, columns % 16, columns // 16 % 8

    def at(row=y + 16 * i, column=x + 16 * j):
        return product[rows // 128 * 128 + row, columns // 128 * 128 + column]

    place = "row i of a thread is threadIdx.y + 16 i of a_tile: the file takes {}"
    yield place.format("threadIdx.y * 8 + i"), at(row=8 * y + i)
    yield place.format("threadIdx.y + i"), at(row=y + i)
    yield place.format("threadIdx.y + 8 i"), at(row=y + 8 * i)
    yield place.format("threadIdx.x + 16 i"), at(row=x + 16 * i)
    place = "column j of a thread is threadIdx.x + 16 j of b_tile: the file takes {}"
    yield place.format("threadIdx.x * 8 + j"), at(column=8 * x + j)
    yield place.format("threadIdx.x + j"), at(column=x + j)
    yield place.format("threadIdx.x + 8 j"), at(column=x + 8 * j)
    yield place.format("threadIdx.y + 16 j"), at(column=y + 16 * j)
    yield "threadIdx.x and threadIdx.y have changed places: y is for the rows of a_tile, x for the columns of b_tile", at(x + 16 * i, y + 16 * j)
    yield "row i and column j of a thread are both taken 8 at a time: its rows and columns are 16 apart", at(8 * y + i, 8 * x + j)
    yield "the sums are turned over: sums[i][j] belongs to row i of a and column j of b", at(y + 16 * j, x + 16 * i)
    yield "only sums[i][i] are added to: each of the 8 values of a meets each of the 8 of b", numpy.where(i == j, at(), 0)
    yield "every sum of a row is multiplied by the same value of b: b_values[j], not [i]", at(column=x + 16 * i)
    yield "every sum of a column is multiplied by the same value of a: a_values[i], not [j]", at(row=y + 16 * j)
    for name, index in (("i", i), ("j", j)):
        yield f"the loop over {name} leaves out 0", numpy.where(index > 0, at(), 0)
        yield f"the loop over {name} leaves out 7", numpy.where(index < 7, at(), 0)
    step = numpy.arange(k) % 8
    for sentence, taken in (("of each tile only the first term is added: the loop over q goes up to depth", step == 0),
                            ("of each tile only the last term is added: the products belong into the loop over q", step == 7),
                            ("the loop over q leaves out the last of the depth", step < 7),
                            ("the loop over q leaves out the first", step > 0)):
        yield sentence, a[:, taken] @ b[taken]
    if k % 8 == 0:
        yield "each sum is its last product alone: = stands where += is right", a[:, -1:] @ b[-1:]


def wrong_vectors(a, b, width):
    """Sentence -> what `vectorised` gives when its tiles hold other elements than they should."""
    (m, k), n = a.shape, b.shape[1]
    rows, terms, columns = numpy.arange(m), numpy.arange(k), numpy.arange(n)
    yield "each step loads the first tile of a: the column is p + a_column", a[:, terms % 8] @ b
    yield "each step loads the first tile of b: the row is p + b_row", a @ b[terms % 8]
    yield "a is loaded from the first rows in every block: the row is corner.row + a_row", a[rows % 128] @ b
    yield "b is loaded from the first columns in every block: the column is corner.column + b_column", a @ b[:, columns % 128]
    for name, matrix, height, width_of, other in (("a", a, "m", "k", lambda wrong: wrong @ b), ("b", b, "k", "n", lambda wrong: a @ wrong)):
        y, x = numpy.ogrid[:matrix.shape[0], :matrix.shape[1]]
        inside = (y < matrix.shape[1]) & (x < matrix.shape[0])
        yield (f"load_vector is told that {name} has {width_of} rows of {height} elements: {name} is ({height}, {width_of}), so it is "
               f"load_vector({name}, {height}, {width_of}, ...)"), other(numpy.where(inside, read_flat(matrix, y * matrix.shape[0] + x), 0))
    yield "load_vector is told that b has m rows: b is (k, n)", a[:, :m] @ b[:m]
    first, e = terms // width * width, terms % width
    inside = (first < m) & (rows[:, None] + e < k)
    yield "row and column of a have changed places: the vector begins in row corner.row + a_row and column p + a_column", \
        numpy.where(inside, a[numpy.minimum(first, m - 1), numpy.minimum(rows[:, None] + e, k - 1)], 0) @ b
    taken = columns // 128 * 128 + rows[:, None] % 128
    yield "the rows of a begin at corner.column: they begin at corner.row", \
        numpy.where(taken < m, (a @ b)[numpy.minimum(taken, m - 1), columns], 0)
    yield "all places of a vector of a get its first element: element e goes to row a_column + e of tiles.a", a[:, terms // width * width] @ b


def wrong_order(a, b):
    """Sentence -> what comes out when the tiles of another step are copied or multiplied (TODO 6)."""
    k = a.shape[1]
    last = (k - 1) // 8 * 8
    if last > 0:
        yield ("the first tiles are multiplied twice and the last never: what is copied ahead begins at p + depth",
               a[:, :8] @ b[:8] + a[:, :last] @ b[:last])
        late = numpy.arange(last) + 1
        yield ("each step multiplies tiles that begin one term behind those before: what is copied ahead begins at p + depth",
               a[:, :8] @ b[:8] + sum(a[:, some] @ b[some] for some in (late[s:s + 8][late[s:s + 8] < k] for s in range(0, last, 8))))
        yield "only the first tiles are multiplied: those of the next step are never copied to tiles[now ^ 1]", a[:, :8] @ b[:8]


def exchanged(a, b, of_a, of_b):
    """What `tensor_8x8x4` gives when threads bring terms q + g and rows or columns t; infinity where q + g is not in the tile."""
    (m, k), n = a.shape, b.shape[1]
    rows, columns, steps = (-(-side // 8) for side in (m, n, k))
    wide_a, wide_b = numpy.zeros((8 * rows, 8 * steps)), numpy.zeros((8 * steps, 8 * columns))
    wide_a[:m, :k], wide_b[:k, :n] = a, b
    pieces_a = wide_a.reshape(rows, 8, steps, 8)        # piece, row in it, step, term
    pieces_b = wide_b.reshape(steps, 8, columns, 8)     # step, term, piece, column in it
    sums, g, t = 0, numpy.arange(8)[:, None], numpy.arange(4)
    for q in (0, 4):
        brought_a = pieces_a[:, t, :, numpy.minimum(q + g, 7)] if of_a else pieces_a[:, g, :, q + t]          # (row, term, piece, step)
        brought_b = pieces_b[:, numpy.minimum(q + g, 7), :, t] if of_b else pieces_b[:, q + t, :, g]          # (column, term, step, piece)
        sums = sums + numpy.einsum("rtis,ctsj->irjc", brought_a, brought_b)
    sums[:, 4:] = numpy.inf if of_a else sums[:, 4:]
    sums[..., 4:] = numpy.inf if of_b else sums[..., 4:]
    return sums.reshape(8 * rows, 8 * columns)[:m, :n]


def wrong_fragments(a, b):
    """Sentence -> what `tensor_8x8x4` gives when a thread brings another element than the instruction wants."""
    (m, k), n = a.shape, b.shape[1]
    rows, terms, columns = numpy.arange(m), numpy.arange(k), numpy.arange(n)
    wide = numpy.zeros((-(-m // 8) * 8, -(-n // 8) * 8))
    wide[:m, :n] = a @ b
    whole = numpy.zeros([-(-side // 128) * 128 for side in (m, n)])
    whole[:m, :n] = wide[:m, :n]
    i, j = numpy.ogrid[:m, :n]

    def at(row, column):
        return whole[i // 128 * 128 + row, j // 128 * 128 + column]

    row, column, of_x, of_y = i % 128 + 0 * j, j % 128 + 0 * i, j % 128 // 64 * 64 + i % 32, i % 128 // 32 * 32 + j % 64
    yield "x and y have changed places: a row of a's tile is y + 8 * i + g, a column of b's is x + 8 * j + g", at(of_x, numpy.minimum(of_y, 127))
    yield "the pieces of a are 4 rows apart: they are 8 apart, y + 8 * i + g", at(row // 32 * 32 + row % 32 // 8 * 4 + row % 8, column)
    yield "the pieces of b are 4 columns apart: they are 8 apart, x + 8 * j + g", at(row, column // 64 * 64 + column % 64 // 8 * 4 + column % 8)
    yield "only half of the pieces of b are multiplied: the loop over j goes up to `across`", numpy.where(j % 64 < 32, whole[:m, :n], 0)
    yield "every thread brings the first row of a's piece: its row is y + 8 * i + g", a[rows // 8 * 8] @ b
    yield "every thread brings the first column of b's piece: its column is x + 8 * j + g", a @ b[:, columns // 8 * 8]
    yield "every warp takes the first rows of a's tile: a row is y + 8 * i + g", a[rows // 128 * 128 + rows % 32] @ b
    yield "every warp takes the first columns of b's tile: a column is x + 8 * j + g", a @ b[:, columns // 128 * 128 + columns % 64]
    if min(m, k, n) > 8:  # of fewer rows, terms or columns much else would explain them
        for names, of_a, of_b in (("a", True, False), ("b", False, True), ("both pieces", True, True)):
            yield (f"g and t have changed places in {names}: a thread brings term q + t, and row y + 8 * i + g of a's tile or column "
                   "x + 8 * j + g of b's"), exchanged(a, b, of_a, of_b)
    first, half = terms // 4 * 4, terms // 8 * 8 + terms % 4
    yield "every thread brings the first term of a's piece: its term is q + t", a[:, first] @ b
    yield "every thread brings the first term of b's piece: its term is q + t", a @ b[first]
    yield "every thread brings the first term of either piece: its term is q + t", a[:, first] @ b[first]
    yield "a is read at the first 4 terms of its tile for both q: its term is q + t", a[:, half] @ b
    yield "b is read at the first 4 terms of its tile for both q: its term is q + t", a @ b[half]
    yield "the first 4 terms of the tiles are multiplied for both q: the term is q + t", a[:, half] @ b[half]
    yield "the left and the right sum have changed places: sums[i][j][0] is the left one", wide[:m, columns ^ 1]
    pieces = wide.reshape(len(wide) // 8, 8, -1, 8).transpose(0, 3, 2, 1).reshape(wide.shape)
    yield "each 8 x 8 piece is turned over: multiply_8x8x4 takes the value of a first, then that of b", pieces[:m, :n]
    piece = numpy.where((rows // 8 % 4 == 0)[:, None], wide[:m, :n], 0)
    yield "only the first piece of a is multiplied: the loop over i goes up to `down`", piece
    yield "only the first piece of b is multiplied: the loop over j goes up to `across`", numpy.where(columns // 8 % 8 == 0, wide[:m, :n], 0)


def comes_true(expected, got, case):
    """The one guess that comes true, if it is one."""
    variant, (a, b) = case.parameters["variant"], (case.inputs[name].astype(numpy.float64) for name in "ab")
    (m, k), n, tile = a.shape, b.shape[1], int(case.parameters.get("tile") or 16)
    if variant not in TODO or 0 in (m, k, n) or not got.any():
        return None
    depth, small = {"naive": 0, "coalesced": 0, "tiled": tile, "register_tile": 8}.get(variant), m * k * n < 1 << 18
    guesses = list(other_terms(a, b, depth)) if depth is not None else []
    if depth == 0:
        guesses += list(other_row_length(expected, got, k))
        guesses += [(sentence, numpy.where(mask, expected, numpy.nan)) for sentence, mask in wrong_places(variant, m, k, n)]
    elif small and depth:
        guesses += wrong_tiles(a, b, tile) if variant == "tiled" else wrong_registers(a, b)
    elif small and variant == "vectorised":
        guesses += wrong_vectors(a, b, 16 // case.inputs["a"].itemsize)
    elif small:
        guesses += wrong_fragments(a, b) if variant == "tensor_8x8x4" else []
    todo = {sentence: TODO[variant] for sentence, _ in guesses}
    if small and variant in COPIED:
        guesses += wrong_order(a, b)
    allowed = 10 * tolerance(case.inputs["a"], case.inputs["b"]).absolute
    true = {sentence for sentence, other in guesses
            if numpy.allclose(got.astype(numpy.float64), numpy.where(numpy.isinf(other), got, other), rtol=0, atol=allowed, equal_nan=True)}
    if len(true) != 1:
        return None
    sentence = true.pop()
    return f"{sentence} (TODO {todo.get(sentence, TODO['pipelined'])})"


LEAVES = " Or an index leaves the tiles: now.a and now.b have the term first, and q + t is below 8 (TODO 7)."


def is_right(case, terms, tile, **order):
    """Whether the product of the first terms is right in tiles of this side, in CPU mode in this order; and what it is."""
    other, a, b = copy.copy(case), case.inputs["a"][:, :terms], case.inputs["b"][:terms]
    numpy.save(case.folder / "first_a.npy", a)
    numpy.save(case.folder / "first_b.npy", b)
    other.run("--type", "float" if a.dtype == numpy.float32 else "double", "--variant", case.parameters["variant"],
              *(["--tile", tile] if tile else []), "--a", "first_a.npy", "--b", "first_b.npy", "--output", "first.npy",
              env={**CARD, **order}, status=None)
    found = other.load("first")
    return not wrong_elements(product(a, b), found, tolerance(a, b)).any(), found.tobytes()


def changes_with_order(expected, got, case):
    """In CPU mode the threads of a block take turns in an order that can be chosen: what changes with it is a race."""
    variant, tile = case.parameters["variant"], case.parameters.get("tile")
    if case.backend != "cpu" or variant not in ("tiled", "register_tile", *COPIED) or case.last_run is None:
        return None
    try:
        one_step, all_steps = ([is_right(case, terms, tile, CUDA_CPU_ORDER=order) for order in ("forward", "reversed", "random:1")]
                               for terms in (min(int(tile or 16), 8), case.inputs["a"].shape[1]))
    except checker.Failure:
        return None
    if len({found for _, found in all_steps}) == 1:
        return None
    where = "before the next tiles are loaded" if all(right for right, _ in one_step) else "after the tiles have been loaded"
    leaves = LEAVES if variant == "tensor_8x8x4" else ""
    return (f"the result changes with the order in which the threads of a block run: a __syncthreads() is missing {where} "
            f"(TODO {TODO['pipelined' if variant in COPIED else variant]}).{leaves} `make sanitize LAB=13 ARGS=\"--variant {variant}\"` names the two lines")


def leaves_the_tile(expected, got, case):
    """tiled, in any order: right in tiles of 16 alone, or as long as a tile holds all terms."""
    tile, k = int(case.parameters.get("tile") or 16), case.inputs["a"].shape[1]
    if case.parameters["variant"] != "tiled" or case.backend != "cpu":
        return None
    try:
        if tile != 16 and is_right(case, k, 16)[0]:
            return f"in tiles of 16 x 16 the product is right, and not in tiles of {tile} x {tile}: the loop over q goes up to tile, whatever that is (TODO 3)"
        if k > tile and is_right(case, tile, tile)[0]:
            return f"the product of the first {tile} terms is right, and that of all {k} is not: the loop over q ends with the tile, q < tile, and not with k (TODO 3)"
    except checker.Failure:
        pass
    return None


def not_a_number(expected, got, case):
    """NaN that no input had and no guess explains: shared memory that was read before anybody wrote to it."""
    said = {"tiled": "each thread stores an element of either tile in each step, 0 past an edge, and waits (__syncthreads) before the tiles "
                     "are used (TODO 3)",
            "vectorised": "each place of tiles.a and tiles.b gets its element in each step, tiles.a all `width` of a vector, one below the "
                          "other: tiles.a[a_column + e][a_row] (TODO 5)"}
    for variant in COPIED:
        said[variant] = ("tiles are multiplied that have not arrived. In each step: begin the copies to tiles[now ^ 1], commit_copies(), "
                         "wait_for_copies<1>() for the group before, __syncthreads(), and multiply tiles[now] (TODO 6)")
    said["tensor_8x8x4"] += "." + LEAVES.rstrip(".")
    if numpy.isnan(got).any() and case.parameters["variant"] in said:
        return checker.Fact(f"some sums are not a number: {said[case.parameters['variant']]}")
    return None


def nothing_added(expected, got, case):
    variant = case.parameters["variant"]
    what = {"tiled": "nothing is added, or the tiles hold zeros alone", "register_tile": "nothing is added, or the tiles hold zeros alone",
            "vectorised": "one of the tiles keeps its zeros: load_vector brings what belongs there",
            "pipelined": "no tiles are ever multiplied", "tensor_8x8x4": "no products are added here, or, if pipelined fails as well, in TODO 6"}
    if (got == 0).all() and variant in what:
        return checker.Fact(f"every sum is 0: {what[variant]} (TODO {TODO[variant]})")
    return None


DIAGNOSERS = [right_only_once, nothing_arrived, comes_true, kept_in_a_float, nothing_added, changes_with_order, leaves_the_tile, not_a_number]


def past_the_end(case, m, k, n):
    """What CPU mode says of an access past the end of a matrix, in terms of the kernel that did it."""
    variant, said = case.parameters["variant"], case.last_run.stderr
    task = f" (TODO {TODO[variant]})" if variant in TODO else ""
    found = re.search(r"thread \((\d+),(\d+),\d+\) of block \((\d+),\d+,\d+\)", said)
    if not re.search("past the end|before the start", said) or not task:
        return None
    tile = int(case.parameters.get("tile") or 16)
    height, width = {"naive": (32, 8), "coalesced": (8, 32), "tiled": (tile, tile)}.get(variant, (128, 128))
    places = (f"element (row, p) of a lies at row * k + p, (p, column) of b at p * n + column, (row, column) of c at row * n + column, and p "
              f"goes from 0 to k - 1{task}")
    if variant in ("vectorised", *COPIED):
        return ("load_vector and copy_tiles stay inside a matrix whose height and width they are told: a is (m, k), b is (k, n). Or an index "
                f"leaves the tiles{task}")
    if not found or variant == "register_tile":
        return f"a thread without an element goes on, or an index is wrong: {places}"
    x, y, block = map(int, found.groups())
    row, column = (block // -(-n // width) * height + (x if variant == "naive" else y),
                   block % -(-n // width) * width + (y if variant == "naive" else x))
    if variant == "tiled" and (row >= m or column >= n or k % tile):
        return ("a tile is loaded from past an edge: a thread stores 0 in a_tile where row >= m or p + x >= k, and in b_tile where "
                f"p + y >= k or column >= n{task}")
    if row >= m or column >= n:
        return (f"that thread has row {row} and column {column}, and c has {m} rows and {n} columns: a thread must return where row >= m or "
                f"column >= n, before it reads or stores{task}")
    return f"that thread has row {row} and column {column}, which c has, so an index is wrong: {places}"


# Cases


def multiply(case, variant, m, k, n, type, tile=None, block_tile=None):
    dtype = TYPES.get(type, numpy.float32)
    a, b = case.floats((m, k), dtype=dtype), case.floats((k, n), dtype=dtype)
    words = ["--type", type, "--variant", variant, *(["--tile", tile] if tile else []),
             *(["--block-tile", block_tile] if block_tile else [])]
    case.parameters = {**case.parameters, "variant": variant}
    try:
        got = case.compute(*words, inputs={"a": a, "b": b}, env=CARD)
    except checker.Failure as failure:
        if k > 65535 and "did not end" in str(failure):
            cause = f"a p of 16 bits ends at 65535, and k is {k}: p is an int (TODO {TODO[variant]})"
        else:
            cause = case.last_run and past_the_end(case, m, k, n)
        raise checker.Failure(str(failure), cause) if cause else failure
    if type == "half":
        a, b = (matrix.astype(numpy.float16).astype(dtype) for matrix in (a, b))
    case.compare(product(a, b), got, tolerance(a, b), dtype=dtype, diagnosers=DIAGNOSERS)


# (m, k, n): one element, one term, one sum, primes, tall, wide, whole tiles, just past them, no term
SHAPES = [(1, 1, 1), (31, 32, 33), (33, 1, 17), (1, 70, 1), (37, 41, 43), (1000, 7, 3), (130, 34, 132),
          (3, 7, 1000), (131, 19, 137), (128, 16, 128), (5, 0, 7)]

# Rows of whole pieces of 16 bytes or not, more stages than are in flight, several blocks, no term.
for variant in HALF:
    for m, k, n in [(1, 1, 1), (37, 41, 43), (130, 152, 264), (136, 328, 136), (129, 330, 257), (5, 0, 7)]:
        lab.case(f"{variant}, half: {m} x {k} times {k} x {n}", multiply, variant=variant, m=m, k=k, n=n, type="half")
    lab.case(f"{variant}, half: large", multiply, variant=variant, m=1000, k=1016, n=1160, type="half", quick=False,
             on_cpu={"m": 200, "k": 200, "n": 520})
for variant in PATH + FURTHER[:-2]:
    for m, k, n in SHAPES[::2] if variant in TENSOR else SHAPES:
        lab.case(f"{variant}: {m} x {k} times {k} x {n}", multiply, variant=variant, m=m, k=k, n=n, type="double")
for variant in FOR_BOTH:
    for m, k, n in [(37, 41, 43), (130, 36, 132), (131, 19, 137)]:
        lab.case(f"{variant}, float: {m} x {k} times {k} x {n}", multiply, variant=variant, m=m, k=k, n=n,
                 type="float")
for tile in (2, 4, 8, 32):
    lab.case(f"tiled: 45 x 50 times 50 x 47 in tiles of {tile}", multiply, variant="tiled", m=45, k=50, n=47,
             type="double", tile=tile)
for (variant, type), names in BLOCK_TILES.items():
    for name in names:
        lab.case(f"{variant}, {type}: 260 x 36 times 36 x 132 in blocks of {name}", multiply, variant=variant, m=260,
                 k=36, n=132, type=type, block_tile=name)


def shared_out(case, variant, type):
    """Few tiles and a long k, which several blocks share: the grid has more than one block along y."""
    multiply(case, variant, 70, 2090, 132, type)
    row = next(line.split() for line in case.last_run.lines if line.startswith(variant))
    case.expect("x" in row[1], f"{variant} has a grid of {row[1]} blocks, so nobody shares out k: see further/divided.cuh")


for variant, type in (("warp_tile", "float"), ("warp_tile", "double"), ("tensor_16x8x8", "double")):
    lab.case(f"{variant}, {type}: 70 x 2090 times 2090 x 132, k shared out", shared_out, variant=variant, type=type)


for variant in ("naive", "coalesced"):
    lab.case(f"{variant}: 2 x 70000 times 70000 x 3", multiply, variant=variant, m=2, k=70_000, n=3, type="double")


def long_side(case, variant, tall, side):
    """More rows, or columns, than a grid has blocks along y."""
    multiply(case, variant, side if tall else 1, 2, 1 if tall else side, "double")


def large(case, variant, shape, type, shrink):
    multiply(case, variant, *(side // shrink for side in shape), type)


for variant in PATH + FURTHER[:-2]:
    quick = variant in ("naive", "coalesced", "tiled", "register_tile")
    for tall, word in ((True, "tall"), (False, "wide")):
        lab.case(f"{variant}: very {word}", long_side, variant=variant, tall=tall, side=70_000, quick=quick,
                 on_cpu=None if variant in ("naive", "coalesced") else {"side": 3000 if variant in TENSOR else 33_000})
for variant in PATH[3:] + FURTHER[:-2]:
    for type in TYPES if variant in FOR_BOTH else ["double"]:
        for shape, word in [((1024, 512, 1280), "whole tiles"), ((2056, 512, 1040), "even"), ((997, 1009, 1013), "odd")]:
            lab.case(f"{variant}, {type}: large, {word}", large, variant=variant, shape=shape, type=type, shrink=1,
                     on_cpu={"shrink": 8}, quick=False)


@lab.case("a product done by hand, all variants")
def by_hand(case):
    a = numpy.arange(1.0, 7.0).reshape(2, 3)
    b = numpy.arange(1.0, 13.0).reshape(3, 4)
    expected = numpy.array([[38.0, 44, 50, 56], [83, 98, 113, 128]])
    exact = checker.Tolerance(why="small whole numbers: nothing is rounded")
    for variant in THERE:
        case.parameters = {"variant": variant}
        got = case.compute("--variant", variant, inputs={"a": a, "b": b}, env=CARD)
        case.compare(expected, got, exact, diagnosers=DIAGNOSERS)


@lab.case("a shape nobody knows before, all variants", fresh=True)
def fresh(case):
    m, k, n = (int(side) for side in case.random.integers(1, 150, 3))
    for variant in THERE:
        multiply(case, variant, m, k, n, "double")


@lab.case("all variants in one run, random input")
def everything(case):
    run = case.run("--m", 130, "--k", 20, "--n", 67, env=CARD, status=(0, 1))
    case.expect(run.status == 0 or run.stdout.strip(), checker.program.explain_ending(run) + checker.program.quoted_output(run))
    case.expect("130 x 20 by 20 x 67" in run.stdout, "the sizes of the table are not those of --m, --k and --n")
    grids = {"naive": 5 * 9, "coalesced": 17 * 3, "tiled": 9 * 5, "register_tile": 2 * 1}
    for variant in THERE:
        row = re.search(rf"^{variant} +(\S+) .*", run.stdout, re.M)
        case.expect(row and re.search("correct|skipped", row[0]), f"the table does not call {variant} correct: "
                    f"{row[0] if row else run.stderr.strip() or 'it has no such row'}")
        case.expect(variant not in grids or row[1] == str(grids[variant]),
                    f"{variant} has {row[1]} blocks, expected {grids.get(variant)}: it launches another kernel than its own")
    case.expect(run.status == 0, "all rows are right, yet the program ended with status 1")


@lab.case("a sweep over tiles")
def sweep(case):
    run = case.run("--sweep", "--size", 70, "--type", "float", status=(0, 1))
    rows = re.findall(r"^tiled +\S+ +(\S+) .*? (correct|WRONG.*)", run.stdout, re.M)
    case.expect(rows == [(f"{side}x{side}", "correct") for side in (2, 4, 8, 16, 32)],
                "--sweep should have a correct row for each tile; it has "
                + ("; ".join(" ".join(row) for row in rows) or f"none: {run.stderr.strip()}"))


@lab.case("a product too large to be checked in full", quick=False)
def sampled(case):
    run = case.run("--m", 40_000 if case.backend == "gpu" else 3000, "--k", 200, "--n", 150, "--variant", "register_tile")
    case.expect("random signs" in run.stdout, "the program does not say how it judged the product")
    if case.backend == "gpu":  # more than 2^31 elements of c; in CPU mode that takes minutes
        run = case.run("--m", 46341, "--k", 1, "--n", 46341, "--type", "float", "--variant", "naive,tiled",
                       status=(0, 1, 2), timeout=300)
        case.expect(run.status == 0 or "not enough" in run.stderr,
                    "46341 x 1 times 1 x 46341: the place of an element needs 64 bits, int64_t{row} * n + column. It says: "
                    + (run.stderr.strip() or "; ".join(re.findall(r"^\w+ .*WRONG.*", run.stdout, re.M))))


@lab.case("no rows, no columns")
def empty(case):
    for m, k, n in ((0, 5, 5), (5, 5, 0), (0, 0, 0)):
        a, b = numpy.zeros((m, k)), numpy.zeros((k, n))
        for variant in ("naive", "tiled", "pipelined"):
            got = case.compute("--variant", variant, inputs={"a": a, "b": b}, env=CARD)
            case.compare(a @ b, got, tolerance(a, b))


# At least two rounds of each loop; what a tile lacks is zeros, so a few elements of c are as good as many.
# From register_tile on there is one block, whose threads store several elements each, 16 apart or side by side.
STORING = {"register_tile": 256, "vectorised": 9 * 10, "pipelined": 9 * 10, "tensor_8x8x4": 32}
for variant in TODO:
    lab.watched(f"{variant}: no race, and each thread stores its own",
                [["--variant", variant, "--m", 17, "--n", 19, "--k", 17]],
                storing={variant: STORING.get(variant, 17 * 19)})
# Floats: for each p the lanes of `coalesced` load one element of a and 32 neighbours of b, 1 and 4 sectors; those of `tiled` load 16
# neighbours in each of two rows, 4 sectors.
for variant, most, cause in (("coalesced", 3, "neighbouring threads take neighbouring rows: threadIdx.x has to be the column (TODO 2)"),
                             ("tiled", 4, "neighbouring threads load from rows that are far apart: a[row * k + p + x] and "
                                          "b[(p + y) * n + column], with x = threadIdx.x along a row (TODO 3)")):
    lab.shown(f"{variant}: neighbours load neighbours", ["--variant", variant, "--type", "float", "--size", 64], variant, "load_sectors", most,
              cause)
lab.watched("the kernels of further/: no race", [["--variant", "warp_tile", "--m", 3, "--n", 4, "--k", 18],
                                                 ["--variant", "tensor_16x8x8", "--m", 3, "--n", 4, "--k", 34]], further=True)


@lab.case("halves end at 65504, and the smallest is 6e-8", further=True)
def ends_of_halves(case):
    a, b = numpy.full((3, 4), 1, numpy.float32), numpy.full((4, 5), 2e-8, numpy.float32)
    for variant in HALF:
        case.parameters = {"variant": variant}
        got = case.compute("--type", "half", "--variant", variant, inputs={"a": a, "b": b}, env=CARD)
        case.compare(numpy.zeros((3, 5)), got, checker.Tolerance(why="2e-8 is 0 as a half"), dtype=numpy.float32)
    a[1, 2] = 65520
    case.refuses("--type", "half", "--a", case.save("a", a), "--b", case.save("b", b), saying="a has 65520 as element 6: halves end at 65504")


@lab.case("bad arguments")
def bad_arguments(case):
    for option in ("--m", "--n", "--k", "--size"):
        for value in ("-1", "many", "7x", "", "3000000000"):
            case.refuses(option, value, saying=option)
    case.refuses("--size", "1Gi", saying="memory")
    case.refuses("--tile", "7", saying="--tile")
    if lab.further:
        case.refuses("--block-tile", "7x7x7", saying="64x128x2")
    case.refuses("--type", "quarter", saying="--type")
    case.refuses("--variant", "tilde", saying="tiled")
    case.refuses("--without", "tilde", saying="--without")
    case.refuses("--size", "9", "--output", "c.npy", saying="variant")
    case.refuses("--sweep", "--tile", "8", saying="--tile")
    case.refuses("--sweep", "--output", "c.npy", saying="--output")


@lab.case("bad input files")
def bad_files(case):
    a = case.floats((20, 30), dtype=numpy.float64)
    good, turned = case.save("a", a), case.save("turned", numpy.ascontiguousarray(a.T))
    case.refuses("--a", good, saying="--b")
    case.refuses("--a", good, "--b", good, saying="columns")
    case.refuses("--a", good, "--b", turned, "--size", "20", saying="--size")
    case.refuses("--a", good, "--b", turned, "--k", "30", saying="--k")
    case.refuses("--a", good, "--b", turned, "--type", "float", saying="float32")
    case.refuses("--a", good, "--b", case.save("columns", numpy.asfortranarray(a[:, :7])), saying="Fortran")
    case.refuses("--a", good, "--b", case.save("vector", a.ravel()), saying="vector")
    case.refuses("--a", good, "--b", case.save("whole", a.T.astype(numpy.int32)), saying="float64")
    for value, word in ((numpy.nan, "NaN"), (numpy.inf, "infinite")):
        a[7, 11] = value
        case.refuses("--a", case.save("a", a), "--b", turned, saying=f"row 7, column 11 (counted from 0) is {word}")
    (case.folder / "cut.npy").write_bytes((case.folder / turned).read_bytes()[:-4])
    case.refuses("--a", good, "--b", "cut.npy", saying="cut")


lab.main()
