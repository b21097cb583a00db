"""What learners get wrong in lab 15."""

from faults import Fault

FACTOR = "if (i != j) product *= (x - nodes.x[i]) / (nodes.x[j] - nodes.x[i]);\n        }\n        sum += nodes.given_y[j] * product;"
CONSTANTS = "t[index_2d] = nodes.x[j] - nodes.x[i];\n    z[index_2d] = nodes.x[i] / t[index_2d];"
WINDOW = "i += blockDim.y) {\n        const int64_t index_2d"
FIRST_ROW = "int i = threadIdx.y; j < nodes.count"
BARRIER = "        __syncthreads();\n        if (threadIdx.y < rows) {\n"
STORED = "partial_sums[s + int64_t{blockIdx.y} * gridDim.x] = "
READ = "sum += partial_sums[s + k * points];"
WEIGHT = "product = normalised({product.value * (nodes.x[j] - nodes.x[i]), product.exponent});"
NUMERATOR = "pair.numerator = pair.numerator * difference + node.coefficient * pair.product;\n    pair.product *= difference;"
COMBINED = "l1.value * p2.value * power_of_two(second - exponent);"
LANES = "part = combined(part, from_lane_above(part, distance));"
LANE = "{nodes.terms[j].coefficient, nodes.exponents[j / group_size]};\n        part = combined(part, {coefficient, {x - nodes.terms[j].x, 0}});\n    }\n    for"
FINISHED = "if (fabs(all.product.value) > 0.0) return"
EACH_POINT = "add_node(x[k], node, groups[k]);"
PIECE_BACK = "work.h_values + first, d_values, size * sizeof(double)"
PHASES, FORMULA, POINTS, OVERLAPPED = "phases.cuh", "formula.cuh", "points.cuh", "overlapped.cuh"

FAULTS = [
    # basis
    Fault(name="factor of a node with itself", old="if (i != j) product *= (x - nodes.x[i])",
          new="product *= (x - nodes.x[i])", caught=r"i = j, must be left out in basis \(TODO 1\)"),
    Fault(name="ordinate forgotten", old="sum += nodes.given_y[j] * product;", new="sum += product;",
          caught="every value is 1"),
    Fault(name="two units in basis", old=FACTOR, new=FACTOR.replace("nodes.x", "nodes.given_x"),
          caught=r"basis \(TODO 1\) takes nodes.given_x, while x is in the unit"),
    Fault(name="only the last term", old="sum += nodes.given_y[j] * product;", new="sum = nodes.given_y[j] * product;",
          caught="keeps only the last node's term"),
    Fault(name="a node by tolerance", old="    double sum = 0.0;\n    for (int j = 0", count=1,
          new="    double sum = 0.0;\n    for (int j = 0; j < nodes.count; j++)\n"
          "        if (fabs(x - nodes.x[j]) < 1e-14) { values[s] = nodes.given_y[j]; return; }\n    for (int j = 0",
          caught="points beside a node have got the node's own y"),
    # phases
    Fault(name="signs of the constants", file=PHASES, old=CONSTANTS, new=CONSTANTS.replace("nodes.x[j] - nodes.x[i]", "nodes.x[i] - nodes.x[j]"),
          caught=r"find_constants \(TODO 2\) has t = x_i - x_j"),
    Fault(name="z of the other node", file=PHASES, old=CONSTANTS, new=CONSTANTS.replace("z[index_2d] = nodes.x[i]", "z[index_2d] = nodes.x[j]"),
          caught="has x_j above the line of z"),
    Fault(name="z is not stored", file=PHASES, old=CONSTANTS, new=CONSTANTS.split("\n")[0], caught="leaves out t or z", backends=("cpu",)),
    Fault(name="window does not slide", file=PHASES, old=WINDOW, new=WINDOW.replace("blockDim.y", "nodes.count"),
          caught="multiplies only 32 rows"),
    Fault(name="window from row 0", file=PHASES, old=FIRST_ROW, new=FIRST_ROW.replace("threadIdx.y", "0"),
          caught="begins at row 0 for every thread"),
    Fault(name="factor of a node with itself in the window", file=PHASES, old="if (i != j) product *= x / t", new="product *= x / t",
          caught=r"must be left out in phase 1 \(TODO 3b\)"),
    Fault(name="one block for all columns", file=PHASES, old="lab::divide_up(nodes, side)), dim3(side, side)}",
          new="1), dim3(side, side)}", caught=r"only the first 32 basis polynomials.*TODO 3a"),
    Fault(name="no barrier in the tree", file=PHASES, old=BARRIER, new=BARRIER.replace("        __syncthreads();\n", ""),
          caught=r"tree \(TODO 4\).* __syncthreads\(\)", backends=("cpu",)),
    Fault(name="a warp's barrier in the tree", file=PHASES, old=BARRIER, new=BARRIER.replace("__syncthreads", "__syncwarp"),
          caught="race in kernel intra_block on the shared variable products(.|\n)*Put __syncthreads", watched=True, backends=("cpu",)),
    Fault(name="lanes that do not wait", file=PHASES, old="        __syncwarp();\n        if (threadIdx.x < columns)", new="        if (threadIdx.x < columns)",
          caught="race in kernel intra_block on the shared variable products(.|\n)*Put __syncwarp", watched=True, backends=("cpu",)),
    Fault(name="barrier inside the condition", file=PHASES, old=BARRIER, caught="threads of block .* reach this barrier",
          new="        if (threadIdx.y < rows) {\n            __syncthreads();\n", backends=("cpu",)),
    Fault(name="tree of sums", file=PHASES, old="products[threadIdx.y][threadIdx.x] *= ", new="products[threadIdx.y][threadIdx.x] += ",
          caught="adds the rows"),
    Fault(name="sums stored point by point, read sum by sum", file=PHASES, old=STORED,
          new="partial_sums[s * gridDim.y + blockIdx.y] = ", caught="stored point by point .TODO 5a"),
    Fault(name="only the first sum", file=PHASES, old=READ, new="sum = partial_sums[s];", caught="TODO 5b. does not add all sums"),
    # weights and the form with a division
    Fault(name="weights without exponents", file=FORMULA, old=WEIGHT, new="product.value *= nodes.x[j] - nodes.x[i];",
          caught="FAIL  (high degrees|two clusters)", cases=("two clusters of nodes",)),
    Fault(name="weights in another unit", file=FORMULA, old=WEIGHT, new=WEIGHT.replace("nodes.x", "nodes.given_x"),
          caught=r"find_weights \(TODO 6\) takes nodes.given_x", cases=("barycentric: 6 nodes, 33 points",)),
    Fault(name="quotients without the coefficient", file=FORMULA, old="sum += terms[j].coefficient / difference", new="sum += 1.0 / difference",
          caught="adds up 1 / difference", cases=("barycentric: 6 nodes, 33 points",)),
    # add_node
    Fault(name="product before the numerator", file=FORMULA, old=NUMERATOR,
          new="\n    ".join(reversed(NUMERATOR.split("\n    "))), caught="multiplies the product before it takes it",
          cases=("product: 6 nodes, 33 points",)),
    Fault(name="add_node is empty", file=FORMULA, old=f"const double difference = x - node.x;\n    {NUMERATOR}", new="(void)node;",
          caught="every value is 0: add_node .TODO 8", cases=("product: 6 nodes, 33 points",)),
    Fault(name="product that is no number", file=FORMULA, old=NUMERATOR, new=NUMERATOR.replace("pair.product *= difference", "pair.product = NAN"),
          caught="without a reason(.|\n)*product that add_node .TODO 8. leaves", cases=("product: 6 nodes, 33 points",)),
    # combined and finished
    Fault(name="parts combined without exponents", file=FORMULA, old=COMBINED, new=COMBINED.replace("power_of_two(second - exponent)", "1.0"),
          caught=r"combined \(TODO 9\) does not bring L1 P2", cases=("warp_a_point: 6 nodes, 33 points",)),
    Fault(name="exponents exchanged", file=FORMULA, old="power_of_two(first - exponent) +\n                             l1.value * p2.value * power_of_two(second - exponent)",
          new="power_of_two(second - exponent) +\n                             l1.value * p2.value * power_of_two(first - exponent)",
          caught=r"combined \(TODO 9\) exchanges the two powers", cases=("warp_a_point: 100 nodes, 19 points",)),
    Fault(name="nodes without their own value", file=FORMULA, old=FINISHED, new="if (true) return",
          caught="only the values at the nodes .*finished.. must ask careful_value", cases=("barycentric: at the nodes",)),
    Fault(name="NaN taken for a number", file=FORMULA, old=FINISHED, new="if (all.product.value != 0.0) return",
          caught="it is NaN then, and finished", cases=("denormal abscissae",)),
    Fault(name="negative product taken for none", file=FORMULA, old=FINISHED, new="if (all.product.value > 0.0) return",
          caught="takes a product below 0 for one that is 0", cases=("barycentric: 6 nodes, 33 points",)),
    # warp_a_point
    Fault(name="last step of the lanes missing", file=POINTS, old="distance > 0; distance /= 2) {\n        part",
          new="distance > 1; distance /= 2) {\n        part", caught="leaves out the step of distance 1"),
    Fault(name="shuffle inside a condition", file=POINTS, old=LANES, new=f"if (lane < distance) {LANES}",
          caught="parts that warp_a_point .TODO 11. joins are no numbers|shuffle", backends=("cpu",)),
    Fault(name="exponent of the first group", file=POINTS, old=LANE, new=LANE.replace("j / group_size", "0"),
          caught="each with the exponent of its group", cases=("warp_a_point: 1100 nodes in 3 groups, ordinates of all sizes",)),
    Fault(name="one node a lane", file=POINTS, old="for (int j = lane; j < nodes.count; j += 32)", new="for (int j = lane; j < min(32, nodes.count); j += 32)",
          caught="gives one node to each lane"),
    # blocked and overlapped
    Fault(name="first node twice", file=POINTS, old="for (int j = 1; j < size; j++)", new="for (int j = 0; j < size; j++)",
          caught="adds the first node of the tile twice", cases=("blocked: 6 nodes, 33 points",)),
    Fault(name="one abscissa for all points of a thread", file=POINTS, old=EACH_POINT, new=EACH_POINT.replace("x[k]", "x[0]"),
          caught="only the first point of each thread is right", cases=("blocked: 31 nodes, 1023 points",)),
    Fault(name="pieces all from the start", file=OVERLAPPED, old="work.h_abscissae + first, size", new="work.h_abscissae, size",
          caught="every piece has the values of the first one", cases=("overlapped: 1000 points, 1 at a time",)),
    Fault(name="elements for bytes", file=OVERLAPPED, old=PIECE_BACK, new=PIECE_BACK.replace(" * sizeof(double)", ""),
          caught="an eighth of each piece came back", cases=("overlapped: 6 nodes, 33 points",)),
    Fault(name="values back in another stream", file=OVERLAPPED, old="cudaMemcpyDeviceToHost, stream));\n        //:",
          new="cudaMemcpyDeviceToHost,\n                              work.streams[(turn + 1) % stream_count]));\n        //:",
          caught="in one and the same stream", backends=("cpu",), cases=("overlapped: 1000 points, 7 at a time",)),
    Fault(name="launch without its stream", file=OVERLAPPED, old="blocked<<<shape.grid, shape.block, 0, stream>>>", new="blocked<<<shape.grid, shape.block>>>",
          caught="launches use 0 of the 3 streams", backends=("cpu",), cases=("overlapped: streams in another order",)),
    Fault(name="pieces only once", file=OVERLAPPED, old="    int turn = 0;\n", new="    static bool done = false;\n    if (done) return blocked_shape(work.piece);\n    done = true;\n"
          "    int turn = 0;\n", caught="the first launch is right, a later one", cases=("overlapped: 6 nodes, 33 points",)),
    Fault(name="one variant launches another", file="program.h", old='"product", Linear, launch_product',
          new='"product", Linear, launch_barycentric', caught="variant product launches barycentric, and not product", backends=("cpu",),
          cases=("product: 6 nodes, 33 points",)),
]
