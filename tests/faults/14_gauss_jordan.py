"""What learners get wrong in lab 14."""

from faults import Fault

CPU = ("cpu",)  # on a GPU this may go wrong without a sign, unless compute-sanitizer looks
STEPS, PANEL, LAST, BLOCKS = "elimination.cuh", "panel.cuh", "last_panels.cuh", "blocked.cuh"

FAULTS = [
    Fault(name="the smallest pivot", file=STEPS, old="a.magnitude > b.magnitude ? a : b", new="a.magnitude < b.magnitude ? a : b",
          caught=r"not the best one came up.*TODO 1"),
    Fault(name="the highest row of equals", file=STEPS, old="    return a.row < b.row ? a : b;\n    //:",
          new="    return a.row < b.row ? b : a;\n    //:", caught="the lowest row must win"),
    Fault(name="a factor that is overwritten", file=STEPS,
          old="    __syncthreads();  // row[k] is about to change, and others may not have read it yet\n", new="",
          caught=r"changes with the order .*in eliminate between the factor and the loop \(TODO 4\).*make sanitize LAB=14", backends=CPU),
    Fault(name="a warp's barrier in the tree", file=STEPS, old="            __syncthreads();\n            if (thread < half) sums",
          new="            __syncwarp();\n            if (thread < half) sums",
          caught="race in kernel back_substitute<double> on the shared variable sums", watched=True, backends=CPU),
    Fault(name="no barrier before the last block is told", file=STEPS, old="gridDim.x * gridDim.y - 1;\n    __syncthreads();", new="gridDim.x * gridDim.y - 1;\n    __syncwarp();",
          caught="race in kernel eliminate_tile<double> on the shared variable last", watched=True, backends=CPU),
    Fault(name="pivots from rows that are done", file=STEPS, old="if (lane == 0 && i > k) best", new="if (lane == 0) best",
          caught="FAIL  gauss_jordan"),
    Fault(name="a row of each tile missing", file=STEPS, old="    for (int r = 0; r < 4; r++) {\n        const int i", new="    for (int r = 0; r < 3; r++) {\n        const int i",
          caught="FAIL  tiled: 31"),
    Fault(name="an absolute threshold", old="if (pivot.magnitude == 0) {", new="if (pivot.magnitude < 0x3D719799812DEA11) {",
          caught="report found no solution"),
    Fault(name="the displaced row is forgotten", file=PANEL, old="                standing[m] = pivot.standing;\n", new="", caught="FAIL  blocked"),
    Fault(name="only the first eight warps of rows", file=LAST, old="row < n; row += 64", new="row < first + 96; row += 64",
          caught="FAIL  tensor"),
    Fault(name="refinement stops early", file=BLOCKS, old="std::sqrt(double(n_)) * 0x1p-53", new="1e-7", caught="FAIL  refined"),
    Fault(name="each block searches the first rows", file=STEPS, old="k + int64_t{blockIdx.x} * search_threads + thread;",
          new="k + thread;", caught="column 1 is the first without a pivot"),
    Fault(name="one variant launches another", old="return launch_tiled(solver.work());", new="return launch_on_device<T, false>(solver.work());",
          caught="tiled should have"),
    Fault(name="solved by blocks no more", old="solver.solve_by_blocks(PanelBy::one_block, UpdateBy::registers)",
          new="launch_tiled(solver.work())",
          caught=r"variant blocked launches find_candidates<double>.*eliminate_tile<double>.*, and not factor_panel<double, 32, Alone<double>>", backends=CPU),
    Fault(name="the tree begins in the middle", file=STEPS, old="for (int half = search_threads / 2; half > 0; half /= 2) {", new="for (int half = 64; half > 0; half /= 2) {",
          caught=r"only element of column 0 is in row 200, .*begin with half = search_threads / 2 .*TODO 2"),
]
