"""What learners get wrong in lab 13."""

from faults import Fault

ANY = ("cpu", "gpu")
CPU = ("cpu",)  # on a GPU this may go wrong without a sign, unless compute-sanitizer looks
SUM = "sum += a[int64_t{row} * k + p] * b[int64_t{p} * n + column];\n"
STORE = "    c[int64_t{row} * n + column] = sum;\n"
NAIVE = ("    const int row = corner.row + threadIdx.x;\n    const int column = corner.column + threadIdx.y;\n"
         "    if (row >= m || column >= n) return;\n    T sum = 0;\n    for (int p = 0; p < k; p++) " + SUM + STORE)
COALESCED = NAIVE.replace(".x;", ".z;").replace(".y;", ".x;").replace(".z;", ".y;")
ARRIVED = "                lab::wait_for_copies<stages - 2>();\n                #"
VECTOR = ("            const Vector<T> a_vector = load_vector(a, m, k, corner.row + a_row, p + a_column);\n#pragma unroll\n"
          "            for (int e = 0; e < width; e++) tiles.a[a_column + e][a_row] = a_vector.values[e];\n")
VECTOR_OF_B = "load_vector(b, k, n, p + b_row, corner.column + b_column);"
STEP = ("        copy_tiles(tiles[now ^ 1], a, b, m, n, k, corner, p + depth);  // past the end of k: zeros\n        lab::commit_copies();\n"
        "        lab::wait_for_copies<1>();\n        __syncthreads();\n        multiply(tiles[now]);\n        __syncthreads();\n")
REGISTERS = """                a_values[i] = a_tile[threadIdx.y + threads_side * i][q];
                b_values[i] = b_tile[q][threadIdx.x + threads_side * i];
"""
FRAGMENT_OF_A, FRAGMENT_OF_B = "a_values[i] = now.a[q + t][y + 8 * i + g];", "b_values[j] = now.b[q + t][x + 8 * j + g];"
INSTRUCTION = "lab::multiply_8x8x4(sums[i][j][0], sums[i][j][1], a_values[i], b_values[j]);"
STAGES = ("int used = 0, filled = stages - 1;\n    for (int p = part.begin; p < part.end; p += depth) {\n"
          "#pragma unroll\n        for (int q = 0;")
TILED = ("        a_tile[y][x] = row < m && p + x < k ? a[int64_t{row} * k + p + x] : 0;\n"
         "        b_tile[y][x] = p + y < k && column < n ? b[int64_t{p + y} * n + column] : 0;\n"
         "        __syncthreads();\n"
         "        for (int q = 0; q < tile; q++) sum += a_tile[y][q] * b_tile[q][x];\n"
         "        __syncthreads();  // nobody")


def fault(name, text, old, new, **options):
    """A fault in one place of a piece of the solution."""
    assert text.count(old) == 1, name
    return Fault(name=name, old=text, new=text.replace(old, new), **options)


def race(name, kernel, text, new="", said="", file=""):
    """Another barrier, or none, where # stands in the text: the run under watch tells."""
    case = "the kernels of further/" if file else kernel
    options = {"caught": f"race in kernel {kernel}.*{said}", "backends": CPU, "watched": True, "file": file, "cases": (f"{case}: no race",)}
    return Fault(name=f"{kernel}: {name}", old=text.replace("#", "__syncthreads();"), new=text.replace("#", new), **options)


BY_ONE = ("    if (blockIdx.x > 0 || threadIdx.x > 0 || threadIdx.y > 0) return;\n    for (int row = 0; row < m; row++) {\n"
          "        for (int column = 0; column < n; column++) {\n            T sum = 0;\n"
          "            for (int p = 0; p < k; p++) " + SUM + "        " + STORE + "        }\n    }\n")
LAUNCH_NAIVE = "    return launch(naive<T>, product, 32, 8, dim3(32, 8));"
BY_HOST = """\
    const int m = product.m, n = product.n, k = product.k;
    Product<T> one_row = product;
    one_row.m = 1;
    const lab::Launch launched = launch(naive<T>, one_row, 32, 8, dim3(32, 8));
    std::vector<T> a(size_t(m) * k), b(size_t(k) * n), c(size_t(m) * n);
    CHECK(cudaMemcpy(a.data(), product.a, a.size() * sizeof(T), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(b.data(), product.b, b.size() * sizeof(T), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < c.size(); i++) {
        for (int p = 0; p < k; p++) c[i] += a[i / n * k + p] * b[size_t(p) * n + i % n];
    }
    CHECK(cudaMemcpy(product.c, c.data(), c.size() * sizeof(T), cudaMemcpyHostToDevice));
    return launched;"""
CORNER = "    const Corner corner = corner_of_block({}, n);\n"

FAULTS = [
    Fault(name="coalesced down a column", watched=True, cases=("coalesced: neighbours",), backends=CPU, caught="coalesced: sectors a load 4.[45].*, and 3 at most.*\\n.*\\n?.*threadIdx.x has to be the column .TODO 2",
          old="    const Corner corner = corner_of_block(8, 32, n);\n    const int row = corner.row + threadIdx.y;\n    const int column = corner.column + threadIdx.x;\n",
          new="    const Corner corner = corner_of_block(8, 32, n);\n    const int thread = threadIdx.y * 32 + threadIdx.x;\n"
              "    const int row = corner.row + thread % 8, column = corner.column + thread / 8;\n"),
    Fault(name="tiles loaded down a column", watched=True, cases=("tiled: neighbours",), backends=CPU, caught="tiled: sectors a load .*, and 4 at most(.*\\n)+?.*x = threadIdx.x along a row .TODO 3",
          old="        a_tile[y][x] = row < m && p + x < k ? a[int64_t{row} * k + p + x] : 0;\n",
          new="        const int other = corner.row + x;\n        a_tile[x][y] = other < m && p + y < k ? a[int64_t{other} * k + p + y] : 0;\n"),
    fault("dropped bounds test", NAIVE, "row >= m || ", "", caught=r"that thread has row 31 .* must return where row >= m .*TODO 1",
          backends=CPU),
    fault("result stored transposed", NAIVE, "row} * n + column] = sum", "column} * m + row] = sum", caught="is transposed"),
    fault("rows of a as long as those of c", NAIVE, "row} * k", "row} * n", caught="the row of a is multiplied by n: .*TODO 1",
          backends=CPU),
    fault("column compared with k", NAIVE, "column >= n", "column >= k", caught=r"compares the column with k: .*TODO 1"),
    fault("constant result", COALESCED, "= sum;", "= 1;", caught="every element is 1"),
    fault("last term missing", COALESCED, "p < k", "p < k - 1", caught="lacks its last term.*TODO 2"),
    fault("a term too many", COALESCED, "p < k", "p <= k",
          caught="has a term too many: p goes up to k - 1 .TODO 2",
          on_card="FAIL  coalesced: .*\n(.*\n)+?.*got nan(.*\n)+?.*TODO 2"),  # where the term may be NaN
    fault("a sum that begins with one", NAIVE, "T sum = 0", "T sum = 1", caught="is 1 too large: it begins with 0 .TODO 1",
          cases=("naive: 1 x 1 times 1 x 1",)),
    fault("p in 16 bits", COALESCED, "int p = 0", "uint16_t p = 0", caught=r"coalesced: 2 x 70000 (.*\n)+?.*a p of 16 bits ends at 65535.*TODO 2"),
    fault("sum begins with c", COALESCED, "T sum = 0", "T sum = c[int64_t{row} * n + column]",
          caught=r"still what c was filled with .*a sum to which what lay in c was added.*TODO 2",
          cases=("coalesced: 3 x 7", "naive: 3 x 7")),
    fault("sum in a float", NAIVE, "T sum", "float sum", caught="it is kept in one, and its type is T .TODO 1"),
    fault("barrier inside a condition", TILED, "        __syncthreads();\n", "        if (row < m) __syncthreads();\n", backends=CPU,
          caught=r"FAIL  all variants in one run.*\n.*status 1.*\n.*\n.*waits? at this barrier"),
    Fault(name="naive's corner in coalesced", old=CORNER.format("8, 32") + COALESCED, new=CORNER.format("32, 8") + COALESCED,
          caught=r"the corner is that of naive, .*TODO 2"),
    Fault(name="one thread does all", old=NAIVE, new=BY_ONE, watched=True, cases=("naive: no race",), backends=CPU,
          caught="of the 768 threads of naive only 1 stored anything .* not shared out"),
    Fault(name="all but a row by the host", old=LAUNCH_NAIVE, new=BY_HOST, watched=True, cases=("naive: no race",), backends=CPU,
          caught="of the 768 threads of naive only 19 stored anything .* not shared out"),
    fault("no barrier after loading", TILED, "        __syncthreads();\n", "", backends=CPU,
          caught=r"__syncthreads\(\) is missing after the tiles have been loaded .TODO 3", cases=("tiled: 1 x 1 times 1 x 1",)),
    fault("no barrier before the next tiles", TILED, "        __syncthreads();  // nobody", "        // nobody", backends=CPU,
          caught=r"__syncthreads\(\) is missing before the next tiles are loaded .TODO 3"),
    race("a warp's barrier after loading", "tiled", TILED.replace("__syncthreads();\n", "#\n"), "__syncwarp();",
         r"Put __syncthreads\(\) between the write"),
    race("a warp's barrier before the next tiles", "tiled", TILED.replace("__syncthreads();  //", "#  //"), "__syncwarp();"),
    race("no barrier after loading", "register_tile", "row < k && column < n ? b[int64_t{row} * n + column] : 0;\n        }\n        #"),
    race("a warp's barrier before the next tiles", "register_tile", "// END SOLUTION\n        #\n    }", "__syncwarp();"),
    race("a warp's barrier before the next tiles", "vectorised", "add_products(sums, tiles);\n        #", "__syncwarp();"),
    race("no barrier before the next tiles", "pipelined", "multiply(tiles[now]);\n        #"),
    fault("no barrier before the next copies", STEP, "multiply(tiles[now]);\n        __syncthreads();\n", "multiply(tiles[now]);\n", backends=CPU,
          caught=r"__syncthreads\(\) is missing before the next tiles are loaded .TODO 6", cases=("pipelined: 31 x 32 times 32 x 33",)),
    race("a warp's barrier in each step", "warp_tile", "if (q == depth - 1) {\n" + ARRIVED, "__syncwarp();", file="warp_tile.cuh"),
    race("no barrier in each step", "tensor_tile", "if (i == steps - 1) {\n" + ARRIVED, file="tensor_tile.cuh"),
    fault("no zeros past the end of k", TILED, "row < m && p + x < k ?", "row < m ?", caught=r"without p \+ x < k .*TODO 3",
          backends=CPU),
    fault("no zeros past the edges", TILED, TILED[:TILED.index("        __sync")], "        a_tile[y][x] = a[int64_t{row} * k + p + x];\n"
          "        b_tile[y][x] = b[int64_t{p + y} * n + column];\n", caught=r"a tile is loaded from past an edge: .*TODO 3", backends=CPU),
    fault("nothing stored past the edges", TILED, TILED[:TILED.index("        __sync")],
          "        if (row < m && p + x < k) a_tile[y][x] = a[int64_t{row} * k + p + x];\n"
          "        if (p + y < k && column < n) b_tile[y][x] = b[int64_t{p + y} * n + column];\n",
          caught=r"a or b has no element, the tile keeps what it held: .*TODO 3", cases=("tiled: 1 x 1 times 1 x 1", "tiled: 1 x 70 times 70 x 1")),
    fault("x and y exchanged in the products", TILED, "a_tile[y][q] * b_tile[q][x]", "a_tile[q][x] * b_tile[y][q]",
          caught=r"x and y have changed places: a row of a_tile, .*TODO 3"),
    fault("the last of a tile left out", TILED, "q < tile;", "q < tile - 1;", caught="leaves out the last of the tile .TODO 3"),
    fault("all terms in the products of a tile", TILED, "q < tile;", "q < k;", backends=CPU, caught="the first 16 terms is right, .*q < tile, and not with k .TODO 3",
          cases=("tiled: 31 x 32 times 32 x 33",)),
    fault("16 terms in every tile", TILED, "q < tile;", "q < 16;", backends=CPU, caught="in tiles of 16 x 16 the product is right, .*up to tile.*TODO 3",
          cases=("tiled: 45 x 50 times 50 x 47 in tiles of 32",)),
    Fault(name="only whole tiles", old="for (int p = 0; p < k; p += tile) {",
          new="for (int p = 0; p + tile <= k; p += tile) {", caught="terms are missing",
          cases=("tiled: 1 x 1 times 1 x 1", "tiled: 1 x 70 times 70 x 1")),
    Fault(name="rows and columns of registers swapped", old="sums[i][j] += a_values[i] * b_values[j];",
          new="sums[j][i] += a_values[i] * b_values[j];", caught=r"the sums are turned over: sums\[i\]\[j\] belongs.*TODO 4",
          cases=("register_tile: 31 x 32 times 32 x 33",)),
    Fault(name="a thread's x and y exchanged", old=REGISTERS, new=REGISTERS.replace("threadIdx.y", "#").replace("threadIdx.x", "threadIdx.y").replace("#", "threadIdx.x"),
          caught="threadIdx.x and threadIdx.y have changed places.*TODO 4", cases=("register_tile: 31 x 32 times 32 x 33",)),
    Fault(name="rows 8 apart", old=REGISTERS, new=REGISTERS.replace("threadIdx.y + threads_side", "threadIdx.y + per_thread"),
          caught="the file takes threadIdx.y . 8 i .TODO 4", cases=("register_tile: 31 x 32 times 32 x 33",)),
    Fault(name="the same tiles again", old="p += depth, now ^= 1) {", new="p += depth) {", caught="FAIL  pipelined",
          cases=("pipelined: 31 x 32 times 32 x 33",)),
    fault("a vector stored along a row", VECTOR, "tiles.a[a_column + e][a_row]", "tiles.a[a_column][a_row + e]", backends=CPU,
          caught=r"some sums are not a number: each place of tiles.a .*tiles.a\[a_column \+ e\]\[a_row\] .TODO 5",
          cases=("vectorised: 1 x 1 times 1 x 1",)),
    fault("always the first element of a vector", VECTOR, "values[e]", "values[0]", caught="places of a vector of a get its first element.*TODO 5",
          cases=("vectorised: 31 x 32 times 32 x 33",)),
    fault("always the first tile of a", VECTOR, "p + a_column", "a_column", caught=r"first tile of a: the column is p \+ a_column .TODO 5",
          cases=("vectorised: 31 x 32 times 32 x 33",)),
    fault("always the first tile of b", VECTOR_OF_B, "p + b_row", "b_row", caught=r"first tile of b: the row is p \+ b_row .TODO 5",
          cases=("vectorised: 31 x 32 times 32 x 33",)),
    fault("b of the first blocks", VECTOR_OF_B, "corner.column + b_column", "b_column", caught=r"first columns in every block: .*TODO 5",
          cases=("vectorised: 3 x 7 times 7 x 1000",)),
    fault("height and width of a exchanged", VECTOR, "a, m, k,", "a, k, m,", caught=r"load_vector.a, m, k, .*TODO 5",
          cases=("vectorised: 31 x 32 times 32 x 33",)),
    fault("height and width of b exchanged", VECTOR_OF_B, "b, k, n,", "b, n, k,", caught=r"load_vector.b, k, n, .*TODO 5",
          cases=("vectorised: 31 x 32 times 32 x 33",)),
    fault("b with the height of a", VECTOR_OF_B, "b, k, n,", "b, m, n,", caught="is told that b has m rows.*TODO 5",
          cases=("vectorised: 31 x 32 times 32 x 33",)),
    fault("row and column of a exchanged", VECTOR, "corner.row + a_row, p + a_column", "p + a_column, corner.row + a_row",
          caught="row and column of a have changed places.*TODO 5", cases=("vectorised: 33 x 1", "vectorised: 37 x 41", "vectorised: 3 x 7")),
    fault("rows of a from the column's corner", VECTOR, "corner.row +", "corner.column +", caught="rows of a begin at corner.column.*TODO 5",
          cases=("vectorised: 3 x 7 times 7 x 1000",)),
    fault("copied one term ahead", STEP, "p + depth", "p + 1", caught=r"begins at p \+ depth .TODO 6", cases=("pipelined: 31 x 32 times 32 x 33",)),
    fault("copies not waited for", STEP, "        lab::wait_for_copies<1>();\n", "", caught="tiles are multiplied that have not arrived.*TODO 6", backends=CPU,
          cases=("pipelined: 1 x 1 times 1 x 1",)),
    fault("copies not committed", STEP, "        lab::commit_copies();\n", "", caught="tiles are multiplied that have not arrived.*TODO 6", backends=CPU,
          cases=("pipelined: 1 x 1 times 1 x 1",)),
    fault("the tiles that are under way", STEP, "multiply(tiles[now])", "multiply(tiles[now ^ 1])", backends=CPU,
          caught="tiles are multiplied that have not arrived.*TODO 6", cases=("pipelined: 1 x 1 times 1 x 1",)),
    fault("copied where it is used", STEP, "tiles[now ^ 1]", "tiles[now]", caught="tiles are multiplied that have not arrived.*TODO 6", backends=CPU,
          cases=("pipelined: 31 x 32 times 32 x 33",)),
    fault("copied again and not ahead", STEP, "p + depth", "p", caught=r"what is copied ahead begins at p \+ depth .TODO 6",
          cases=("pipelined: 31 x 32 times 32 x 33",)),
    fault("no barrier after the wait", STEP, "        __syncthreads();\n        multiply", "        multiply", backends=CPU,
          caught=r"__syncthreads\(\) is missing after the tiles have been loaded .TODO 6", cases=("pipelined: 1 x 1 times 1 x 1",)),
    fault("g and t exchanged", FRAGMENT_OF_A, "[q + t][y + 8 * i + g]", "[q + g][y + 8 * i + t]", backends=CPU,
          caught="g and t have changed places in a: .*TODO 7", cases=("tensor_8x8x4: 37 x 41 times 41 x 43",)),
    fault("no term in a's fragment", FRAGMENT_OF_A, "q + t", "q", caught=r"first term of a's piece: its term is q \+ t .TODO 7",
          cases=("tensor_8x8x4: 37 x 41 times 41 x 43",)),
    fault("no column in b's fragment", FRAGMENT_OF_B, " + g]", "]", caught="first column of b's piece.*TODO 7",
          cases=("tensor_8x8x4: 33 x 1 times 1 x 17",)),
    fault("the same rows for all warps", FRAGMENT_OF_A, "y + ", "", caught="every warp takes the first rows of a's tile.*TODO 7",
          cases=("tensor_8x8x4: 33 x 1 times 1 x 17",)),
    fault("the tile of a not transposed", FRAGMENT_OF_A, "[q + t][y + 8 * i + g]", "[y + 8 * i + g][q + t]", backends=CPU,
          caught="an index leaves the tiles: now.a and now.b have the term first.*TODO 7", cases=("tensor_8x8x4, double: large, odd",)),
    fault("pieces of a that overlap", FRAGMENT_OF_A, "8 * i", "4 * i", caught="pieces of a are 4 rows apart.*TODO 7",
          cases=("tensor_8x8x4: 33 x 1 times 1 x 17",)),
    fault("a and b exchanged", INSTRUCTION, "a_values[i], b_values[j]", "b_values[j], a_values[i]", caught="each 8 x 8 piece is turned over: .*TODO 7",
          cases=("tensor_8x8x4: 33 x 1 times 1 x 17",)),
    fault("left and right exchanged", INSTRUCTION, "sums[i][j][0], sums[i][j][1]", "sums[i][j][1], sums[i][j][0]",
          caught="left and the right sum have changed places.*TODO 7", cases=("tensor_8x8x4: 1 x 1 times 1 x 1", "tensor_8x8x4: 33 x 1 times 1 x 17")),
    Fault(name="four terms of eight", old="for (int q = 0; q < depth; q += 4) {", new="for (int q = 0; q < depth; q += depth) {",
          caught="FAIL  tensor_8x8x4", cases=("tensor_8x8x4: 37 x 41 times 41 x 43",)),
    fault("a stage filled too early", STAGES, "filled = stages - 1", "filled = 0", backends=CPU, file="warp_tile.cuh",
          caught=r"from shared memory that no thread had written: .*then comes a __syncthreads\(\)", cases=("warp_tile: 1 x 1 times 1 x 1",)),
    Fault(name="a's columns past k", old="i < rows_ && p + a_column() + j < end_", new="i < rows_ && p < k_", file="warp_tile.cuh",
          caught="from memory outside an array: .*is compared with the number of elements", backends=CPU, cases=("warp_tile: 1 x 1 times 1 x 1",)),
    Fault(name="parts stored, not added", old="atomicAdd(&c[int64_t{row} * n + column + e], values.values[e]);",
          new="c[int64_t{row} * n + column + e] = values.values[e];", file="divided.cuh", caught="FAIL  (warp_tile|tensor_16x8x8), .*shared out",
          cases=("warp_tile, float: 70 x 2090 times 2090 x 132, k shared out",)),
    Fault(name="the last part as long as the others", old="min(k, begin + share)", new="begin + share", file="divided.cuh", backends=CPU,
          caught="FAIL  warp_tile, .*shared out", cases=("warp_tile, float: 70 x 2090 times 2090 x 132, k shared out",)),
    Fault(name="one variant launches another", old="    return launch(coalesced<T>, product, 8, 32, dim3(32, 8));",
          new="    return launch_naive(product);", caught="launches another kernel than its own|launches naive<double>, and not coalesced"),
    *(Fault(name=f"halves: {name}", old=old, new=new, file=file, caught=f"FAIL  {caught}", cases=(case,), backends=backends)
      for name, file, old, new, caught, case, backends in (
          ("every row of b at its own place", "half.cuh", "swizzled(row, b_column % 64)]", "b_column % 64]",
           "tensor_16x8x16, half", "tensor_16x8x16, half: 37 x 41 times 41 x 43", ANY),
          ("terms of the next row", "half.cuh", "exists ? k - p - a_column : 0", "exists ? 8 : 0",
           "tensor_16x8x16, half", "tensor_16x8x16, half: 130 x 152 times 152 x 264", ANY),
          ("columns past the last", "half.cuh", "p + b_row + i < k ? n - corner.column - b_column : 0", "p + b_row + i < k ? 8 : 0",
           "warp_group_64x256x16, half", "warp_group_64x256x16, half: 37 x 41 times 41 x 43", CPU),
          ("b not transposed", "half_tile.cuh", "load_matrices<true>(", "load_matrices<false>(",
           "tensor_16x8x16, half", "tensor_16x8x16, half: 37 x 41 times 41 x 43", ANY),
          ("half of a piece of b", "half_tile.cuh", "&b_values[j / 2][j % 2 * 2]", "&b_values[j / 2][j % 2]",
           "tensor_16x8x16, half", "tensor_16x8x16, half: 37 x 41 times 41 x 43", ANY),
          ("copies too late", "half_tile.cuh", "wait_for_copies<stages - 2>", "wait_for_copies<stages - 1>",
           "tensor_16x8x16, half", "tensor_16x8x16, half: 136 x 328 times 328 x 136", CPU),
          ("both groups in the same rows", "half_warp_group.cuh", "&now.a[64 * group]", "&now.a[0]",
           "warp_group_64x256x16, half", "warp_group_64x256x16, half: 260 x 36 times 36 x 132 in blocks of 128x256x1", ANY),
          ("a stage filled that is used next", "half_warp_group.cuh", "stage[(step + stages - 2) % stages]", "stage[(step + 1) % stages]",
           "warp_group_64x256x16, half", "warp_group_64x256x16, half: 136 x 328 times 328 x 136", ANY),
          ("a sum of the row below", "half_warp_group.cuh", "row + 8, column, sums[i + 2]", "row + 8, column, sums[i]",
           "warp_group_64x256x16, half", "warp_group_64x256x16, half: 37 x 41 times 41 x 43", ANY),
          ("judged by what was not rounded", "half_run.h", "value = half;", "", "(tensor_16x8x16|warp_group_64x256x16), half",
           "tensor_16x8x16, half: 37 x 41 times 41 x 43", ANY))),
]
