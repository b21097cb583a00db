"""What learners get wrong in lab 03."""

from faults import Fault

FIRST = "const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;\n    if (i < count) sum[i] = a[i] + b[i];"
UPLOAD = "    // BEGIN SOLUTION\n    CHECK(cudaMemcpy(d_b, input.b.data(), bytes, cudaMemcpyHostToDevice));\n"
DOWNLOAD = "        CHECK(cudaMemcpy(h_sum.data(), d_sum, bytes, cudaMemcpyDeviceToHost));\n        //:"
LAUNCH = "add<<<shape.grid, shape.block>>>(d_a, d_b, d_sum, count);"
ROUNDED_UP = "return (count + elements_per_block - 1) / elements_per_block;"
CPU = ("cpu",)  # on a GPU this may go wrong without a sign, unless compute-sanitizer looks

FAULTS = [
    # The flow
    Fault(name="elements allocated for bytes", old="CHECK(cudaMalloc(&d_sum, bytes));",
          new="CHECK(cudaMalloc(&d_sum, count));", caught="cudaErrorInvalidValue", backends=CPU),
    Fault(name="b never copied", old=UPLOAD, new="    // BEGIN SOLUTION\n", caught="TODO 1b", backends=CPU),
    Fault(name="a copied in place of b", old=UPLOAD, new=UPLOAD.replace("input.b", "input.a"),
          caught="the copy to d_b comes from a"),
    Fault(name="copy in the wrong direction", old=DOWNLOAD, caught="cudaErrorInvalidValue|TODO 1d",
          new=DOWNLOAD.replace("DeviceToHost", "HostToDevice")),
    Fault(name="sum never copied back", old=DOWNLOAD, new="        //:", caught="TODO 1d"),
    Fault(name="elements copied back for bytes", old=DOWNLOAD, new=DOWNLOAD.replace("bytes", "count"),
          caught="copies a quarter of the sum back .TODO 1d"),
    Fault(name="missing launch", old=LAUNCH, new="", caught="1c"),
    Fault(name="launched the first time only", old=LAUNCH,
          new="static bool done = false;\n    if (done) return;\n    done = true;\n    " + LAUNCH,
          caught="right only once: in a later launch"),
    Fault(name="elements copied to the device for bytes", old=UPLOAD, new=UPLOAD.replace("bytes", "count"),
          caught="the file copies the number of elements to d_b .TODO 1b"),
    # The grid
    Fault(name="grid rounded down", old=ROUNDED_UP,
          new="return std::max<int64_t>(1, count / elements_per_block);", caught="round the number of blocks up .TODO 3"),
    # The kernels
    Fault(name="dropped bounds test", old=FIRST, new=FIRST.replace("if (i < count) ", ""),
          caught="FAIL  grid_1d_block_1d: 1 element", backends=CPU),
    Fault(name="bounds test off by one", old=FIRST, new=FIRST.replace("<", "<="),
          caught="FAIL  grid_1d_block_1d", backends=CPU),
    Fault(name="place in the block only", old=FIRST,
          new=FIRST.replace("int64_t{blockIdx.x} * blockDim.x + ", ""), caught="the file leaves out blockIdx: every block adds the elements of block 0"),
    Fault(name="index of 16 bits", old=FIRST, new=FIRST.replace("const int64_t", "const uint16_t"),
          caught="keeps the index in 16 bits"),
    Fault(name="constant result", old=FIRST, new=FIRST.replace("a[i] + b[i]", "1.0f"),
          caught="every element is 1"),
    Fault(name="NaN in one place", old=FIRST, new=FIRST.replace("a[i]", "(i == 77 ? NAN : a[i])"),
          caught="1 of 6400 elements differ"),
    Fault(name="tiny sums become zero", old=FIRST, caught="FAIL  infinities, huge and tiny numbers",
          new=FIRST.replace("a[i] + b[i]", "fabsf(a[i] + b[i]) < 1.2e-38f ? 0 : a[i] + b[i]")),
    Fault(name="input overwritten", old=FIRST, new=FIRST + "\n    if (i < count) const_cast<float*>(a)[i] = 0;",
          caught="FAIL  all variants in one run"),
    Fault(name="height of the block for its width",
          old="threadIdx.y * blockDim.x + threadIdx.x;\n    const int64_t i = int64_t{blockIdx.x}",
          new="threadIdx.y * blockDim.y + threadIdx.x;\n    const int64_t i = int64_t{blockIdx.x}",
          caught="multiplies threadIdx.y by blockDim.y; a row of a block has blockDim.x threads"),
    Fault(name="z of the thread missing",
          old="(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;\n    const int64_t i = int64",
          new="threadIdx.y * blockDim.x + threadIdx.x;\n    const int64_t i = int64",
          caught="the file leaves out threadIdx.z"),
    Fault(name="height of the grid for its width",
          old="int64_t{blockIdx.y} * gridDim.x + blockIdx.x;\n    const int64_t i = block",
          new="int64_t{blockIdx.y} * gridDim.y + blockIdx.x;\n    const int64_t i = block",
          caught="multiplies blockIdx.y by gridDim.y; a row of the grid has gridDim.x blocks"),
    Fault(name="gridDim.z for gridDim.y", caught="multiplies blockIdx.z by gridDim.z; a layer of the grid",
          old="(int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n    const int64_t i = block",
          new="(int64_t{blockIdx.z} * gridDim.z + blockIdx.y) * gridDim.x + blockIdx.x;\n    const int64_t i = block"),
    Fault(name="parentheses missing", caught="lacks parentheses: it multiplies blockIdx.z by gridDim.y and",
          old="(int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n    const int64_t i = block",
          new="int64_t{blockIdx.z} * gridDim.y + blockIdx.y * gridDim.x + blockIdx.x;\n    const int64_t i = block"),
    Fault(name="z of the block missing",
          old="(int64_t{blockIdx.z} * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;\n    const int64_t i = block",
          new="int64_t{blockIdx.y} * gridDim.x + blockIdx.x;\n    const int64_t i = block",
          caught="the file leaves out blockIdx.z"),
    Fault(name="layers of the block forgotten in its size",
          old="block * (blockDim.x * blockDim.y * blockDim.z)", count=2,
          new="block * (blockDim.x * blockDim.y)", caught=r"multiplies the number of the block by blockDim.x \* blockDim.y; .* one factor is missing"),
    Fault(name="stride missing", old="i += stride) {", new="i += stride + count) {",
          caught="adds one element and stops"),
    Fault(name="tail of vectorised missing", old="} else {\n        for (int64_t i = first",
          new="} else if (count < 0) {\n        for (int64_t i = first", caught="only whole tiles are added"),
    Fault(name="half of the vectors", old="k < vectors_per_thread;", new="k < vectors_per_thread / 2;",
          count=2, caught="of each whole tile 1?[0-9]+ of [0-9]+ elements are added"),
    Fault(name="incomplete tile added by vectors", old="if (first + tile <= count)", new="if (first < count)",
          caught="FAIL  vectorised: 1 element", backends=CPU),
]
