"""What learners get wrong in lab 04."""

from faults import Fault

COLUMN = "const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;\n"
ROW = "    const int64_t row = int64_t{blockIdx.y} * blockDim.y + threadIdx.y;\n"
TEST = "    if (row < height && column < width) {\n"
PLACE = "        const int64_t i = row * width + column;\n"
SUM = "        sum[i] = a[i] + b[i];\n"
TILED = COLUMN + ROW + TEST + PLACE + SUM  # grid_2d_block_2d
LOOP = "    for (int64_t row = 0; row < height; row++) {\n        const int64_t i"  # grid_1d_block_1d
GRID = "const int64_t grid_height = lab::divide_up(height, block.y);\n    //:"
CPU = ("cpu",)  # on a GPU this may go wrong without a sign, unless compute-sanitizer looks


def tiled(name, old, new, **options):
    """A fault in grid_2d_block_2d."""
    assert TILED.count(old) == 1, name
    return Fault(name=name, old=TILED, new=TILED.replace(old, new), **options)


FAULTS = [
    tiled("dropped bounds test", TEST, "    {\n", caught=r"grid_2d_block_2d, .* past the end of the allocation .* compare the index", backends=CPU),
    tiled("rows not tested", TEST, "    if (column < width) {\n", caught=r"grid_2d_block_2d, .* past the end of the allocation .* compare the index",
          backends=CPU),
    tiled("columns not tested", TEST, "    if (row < height) {\n", caught=r"grid_2d_block_2d, .* past the end of the allocation .* compare the index",
          backends=CPU),
    tiled("bounds swapped", TEST, "    if (row < width && column < height) {\n",
          caught="compares the row with the width and the column with the height; it is"),
    tiled("row and column swapped", COLUMN + ROW,
          (COLUMN + ROW).replace("column", "row_").replace("row =", "column =").replace("row_", "row"),
          caught="takes x for the row and y for the column"),
    tiled("height for width", PLACE, PLACE.replace("width", "height"), backends=CPU,
          caught="multiplies the row by the height; the row is"),
    tiled("width of the block for its height", ROW, ROW.replace("blockDim.y", "blockDim.x"),
          caught="multiplies blockIdx.y by blockDim.x; a block has blockDim.y rows"),
    tiled("index of 16 bits", PLACE, PLACE.replace("int64_t", "uint16_t"),
          caught="keeps the place in 16 bits"),
    tiled("sum stored transposed", SUM, SUM.replace("sum[i]", "sum[column * height + row]"),
          caught="is transposed"),
    tiled("constant result", SUM, SUM.replace("a[i] + b[i]", "1.0f"), caught="every element is 1"),
    tiled("wrong for one size of block", TEST, TEST.replace("row <", "blockDim.x != 4 && row <"),
          caught="FAIL  a sweep over blocks"),
    tiled("NaN in one place", SUM, SUM.replace("a[i]", "(row == 6 && column == 3 ? NAN : a[i])"),
          caught=r"1 of 7000 elements differ .*\n +\[6, 3\]"),
    Fault(name="grid rounded down", old=GRID,
          new=GRID.replace("lab::divide_up(height, block.y)", "std::max<int64_t>(1, height / block.y)"),
          caught="threads along y for .* round the sides of the grid up"),
    Fault(name="sides of the grid swapped", old="dim3(grid_width, grid_height), block};\n}\n\nShape grid_1d_block_1d",
          new="dim3(grid_height, grid_width), block};\n}\n\nShape grid_1d_block_1d", caught="round the sides of the grid up"),
    Fault(name="loop over rows ends at the width", old=LOOP, new=LOOP.replace("< height", "< width"),
          caught="loop over the rows ends at the width"),
    Fault(name="no loop over rows in a column", old="row += blockDim.y", new="row += height",
          caught="go on by blockDim.y"),
    Fault(name="row from blockIdx.x", old="const int64_t row = blockIdx.y;", new="const int64_t row = blockIdx.x;",
          caught="takes the row from blockIdx.x; the row comes from"),
    Fault(name="no stride over rows", old="row += stride", new="row += stride + height",
          caught=r"adds one row only.* go on by gridDim.y \* blockDim.y while"),
    Fault(name="width of the block in the stride over rows", old="int64_t{gridDim.y} * blockDim.y;",
          new="int64_t{gridDim.y} * blockDim.x;", caught=r"adds one row only.* go on by gridDim.y \* blockDim.y while"),
    Fault(name="grid as tall as it takes", old="std::min(lab::divide_up(height, block.y), most_blocks_along_y)",
          new="lab::divide_up(height, block.y)", caught="FAIL  row_stride: 1048577 x 1.*\n.*status 2"),
    Fault(name="tail of flat_vectorised missing", old="} else {\n        for (int64_t i = first",
          new="} else if (count < 0) {\n        for (int64_t i = first", caught="only whole tiles are added"),
    Fault(name="half of the vectors", old="k < vectors_per_thread;", new="k < vectors_per_thread / 2;", count=2,
          caught="of each whole tile [0-9]+ of [0-9]+ elements are added"),
    Fault(name="copy in the wrong direction", old="d_sum, bytes, cudaMemcpyDeviceToHost",
          new="d_sum, bytes, cudaMemcpyHostToDevice", caught="cudaErrorInvalidValue|elements? differ"),
]
