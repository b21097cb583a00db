"""What learners get wrong in lab 15."""

from faults import Fault

WINDOW = "i += blockDim.y) {\n        const int64_t index_2d"
BARRIER = "        __syncthreads();\n        if (threadIdx.y < rows) {\n"
NUMERATOR = "pair.numerator = pair.numerator * difference + node.coefficient * pair.product;\n    pair.product *= difference;"

FAULTS = [
    Fault(name="factor of a node with itself", old="if (i != j) product *= (x - nodes.x[i])",
          new="product *= (x - nodes.x[i])", caught="must be left out"),
    Fault(name="ordinate forgotten", old="sum += nodes.given_y[j] * product;", new="sum += product;",
          caught="every value is 1"),
    Fault(name="window does not slide", old=WINDOW, new=WINDOW.replace("blockDim.y", "nodes.count"),
          caught="the window must slide"),
    Fault(name="one block for all columns", old="lab::divide_up(nodes, side)), dim3(side, side)}",
          new="1), dim3(side, side)}", caught="only the first 32 basis polynomials"),
    Fault(name="barrier inside the condition", old=BARRIER, caught="threads of block .* reach this barrier",
          new="        if (threadIdx.y < rows) {\n            __syncthreads();\n", backends=("cpu",)),
    Fault(name="sums stored point by point, read sum by sum",
          old="partial_sums[s + int64_t{blockIdx.y} * gridDim.x] = ",
          new="partial_sums[s * gridDim.y + blockIdx.y] = ", caught="FAIL  phases: 33 nodes"),
    Fault(name="weights without exponents",
          old="product = normalised({product.value * (nodes.x[j] - nodes.x[i]), product.exponent});",
          new="product.value *= nodes.x[j] - nodes.x[i];", caught="FAIL  (high degrees|two clusters)"),
    Fault(name="product before the numerator", old=NUMERATOR,
          new="\n    ".join(reversed(NUMERATOR.split("\n    "))), caught="FAIL  product"),
    Fault(name="nodes without their own value",
          old="if (fabs(all.product.value) > 0.0) return", new="if (true) return", caught="finished.. must ask careful_value"),
    Fault(name="parts combined without exponents", old="power_of_two(second - exponent)", new="1.0",
          caught="FAIL  warp_a_point"),
    Fault(name="last step of the lanes missing", old="distance > 0; distance /= 2) {\n        part",
          new="distance > 1; distance /= 2) {\n        part", caught="FAIL  warp_a_point"),
    Fault(name="pieces all from the start", old="work.h_abscissae + first, size", new="work.h_abscissae, size",
          caught="FAIL  overlapped: 1000 points, 7"),
]
