"""What learners get wrong in lab 13."""

from faults import Fault

CPU = ("cpu",)  # on a GPU this may go wrong without a sign, unless compute-sanitizer looks
SUM = "sum += a[int64_t{row} * k + p] * b[int64_t{p} * n + column];\n"
STORE = "    c[int64_t{row} * n + column] = sum;\n"
NAIVE = ("    const int row = corner.row + threadIdx.x;\n    const int column = corner.column + threadIdx.y;\n"
         "    if (row >= m || column >= n) return;\n    T sum = 0;\n    for (int p = 0; p < k; p++) " + SUM + STORE)
COALESCED = NAIVE.replace(".x;", ".z;").replace(".y;", ".x;").replace(".z;", ".y;")
STAGES = ("int used = 0, filled = stages - 1;\n    for (int p = 0; p < k; p += depth) {\n"
          "#pragma unroll\n        for (int q = 0;")  # of warp_tile; tensor_tile goes on with i
TILED = ("        a_tile[y][x] = row < m && p + x < k ? a[int64_t{row} * k + p + x] : 0;\n"
         "        b_tile[y][x] = p + y < k && column < n ? b[int64_t{p + y} * n + column] : 0;\n"
         "        __syncthreads();\n"
         "        for (int q = 0; q < tile; q++) sum += a_tile[y][q] * b_tile[q][x];\n"
         "        __syncthreads();  // nobody")


def fault(name, text, old, new, **options):
    """A fault in one place of a piece of the solution."""
    assert text.count(old) == 1, name
    return Fault(name=name, old=text, new=text.replace(old, new), **options)


CORNER = "    const Corner corner = corner_of_block({}, n);\n"

FAULTS = [
    fault("dropped bounds test", NAIVE, "row >= m || ", "", caught=r"that thread has row 31 .* must return where row >= m .*TODO 1",
          backends=CPU),
    fault("result stored transposed", NAIVE, "row} * n + column] = sum", "column} * m + row] = sum", caught="is transposed"),
    fault("rows of a as long as those of c", NAIVE, "row} * k", "row} * n", caught="the row of a is multiplied by n: .*TODO 1",
          backends=CPU),
    fault("column compared with k", NAIVE, "column >= n", "column >= k", caught=r"compares the column with k: .*TODO 1"),
    fault("constant result", COALESCED, "= sum;", "= 1;", caught="every element is 1"),
    fault("last term missing", COALESCED, "p < k", "p < k - 1", caught="lacks its last term.*TODO 2"),
    Fault(name="naive's corner in coalesced", old=CORNER.format("8, 32") + COALESCED, new=CORNER.format("32, 8") + COALESCED,
          caught=r"the corner is that of naive, .*TODO 2"),
    fault("no barrier after loading", TILED, "        __syncthreads();\n", "",
          caught="FAIL  tiled", backends=CPU),
    fault("no barrier before the next tiles", TILED, "        __syncthreads();  // nobody", "        // nobody",
          caught="FAIL  tiled", backends=CPU),
    fault("no zeros past the end of k", TILED, "row < m && p + x < k ?", "row < m ?", caught=r"without p \+ x < k .*TODO 3",
          backends=CPU),
    fault("no zeros past the edges", TILED, TILED[:TILED.index("        __sync")], "        a_tile[y][x] = a[int64_t{row} * k + p + x];\n"
          "        b_tile[y][x] = b[int64_t{p + y} * n + column];\n", caught=r"a tile is loaded from past an edge: .*TODO 3", backends=CPU),
    fault("nothing stored past the edges", TILED, TILED[:TILED.index("        __sync")],
          "        if (row < m && p + x < k) a_tile[y][x] = a[int64_t{row} * k + p + x];\n"
          "        if (p + y < k && column < n) b_tile[y][x] = b[int64_t{p + y} * n + column];\n",
          caught=r"a or b has no element, the tile keeps what it held: .*TODO 3"),
    Fault(name="only whole tiles", old="for (int p = 0; p < k; p += tile) {",
          new="for (int p = 0; p + tile <= k; p += tile) {", caught="terms are missing"),
    Fault(name="rows and columns of registers swapped", old="sums[i][j] += a_values[i] * b_values[j];",
          new="sums[j][i] += a_values[i] * b_values[j];", caught="FAIL  register_tile"),
    Fault(name="the same tiles again", old="p += depth, now ^= 1) {", new="p += depth) {", caught="FAIL  pipelined"),
    fault("a stage filled too early", STAGES, "filled = stages - 1", "filled = 0", caught="FAIL  warp_tile"),
    Fault(name="a's columns past k", old="i < rows_ && p + a_column() + j < k_", new="i < rows_ && p < k_",
          caught="FAIL  warp_tile", backends=CPU),
    Fault(name="one variant launches another", old="    return launch(coalesced<T>, product, 8, 32, dim3(32, 8));",
          new="    return launch_naive(product);", caught="launches another kernel than its own|launched naive"),
]
