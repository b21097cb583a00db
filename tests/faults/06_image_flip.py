"""What learners get wrong in lab 06."""

from faults import Fault

TO = "        const int64_t to = row * flip.width + column;\n"
FROM = "        const int64_t from = flip.source_row(row) * flip.width + flip.source_column(column);\n"
LOOP = "        for (int channel = 0; channel < flip.channels; channel++) {\n            output"
PAIR = "        if (mine >= partner) continue;\n"
CPU = ("cpu",)  # on a GPU this may go wrong without a sign, unless compute-sanitizer looks

IN_PLACE = """// The first pixels of all pairs: the left half of every row, or the upper half with the middle row.
lab::Launch launch_in_place(const Job& job) {
    const Flip& flip = job.flip;
    const lab::Launch launch =
        threads_for(flip.rows ? lab::divide_up(flip.height, 2) : flip.height,
                    flip.rows ? flip.width : lab::divide_up(flip.width, 2), job);
    in_place<<<launch.grid, launch.block>>>(nullptr, job.d_output, flip);
    CHECK_LAUNCH();
"""
OTHER_PICTURE = """template <int>
__global__ void in_place(const uint8_t* input, uint8_t* pixels, Flip flip) {
    const int64_t column = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    for (int64_t row = blockIdx.y * blockDim.y + threadIdx.y; column < flip.width && row < flip.height;
         row += int64_t{gridDim.y} * blockDim.y) {
        const int64_t from = flip.source_row(row) * flip.width + flip.source_column(column);
        for (int c = 0; c < flip.channels; c++) {
            pixels[(row * flip.width + column) * flip.channels + c] = input[from * flip.channels + c];
        }
    }
}

lab::Launch launch_in_place(const Job& job) {
    const Flip& flip = job.flip;
    const uint8_t* d_input = job.d_input;
    uint8_t* d_pixels = job.d_output;
    const lab::Launch launch = threads_for(flip.height, flip.width, job);
"""
COPY = """    uint8_t* d_copy = nullptr;
    CHECK(cudaMalloc(&d_copy, flip.height * flip.width * flip.channels));
    CHECK(cudaMemcpy(d_copy, d_pixels, flip.height * flip.width * flip.channels, cudaMemcpyDeviceToDevice));
    KERNEL<<<launch.grid, launch.block>>>(d_copy, d_pixels, flip);
    CHECK_LAUNCH();
    CHECK(cudaFree(d_copy));
    (void)d_input;
"""

FAULTS = [
    Fault(name="not flipped", old=TO + FROM, new=TO + FROM.replace("flip.source_row(row)", "row").replace(
          "flip.source_column(column)", "column"), caught="copied to its own place"),
    Fault(name="width minus column", old="return columns ? width - 1 - column : column;",
          new="return columns ? width - column : column;",
          caught="it is width - 1 - column", backends=CPU, cases=("naive: 1 x 1",)),
    Fault(name="rows and columns swapped", old=TO + FROM, new=TO + "        const int64_t from = (flip.columns ? "
          "flip.height - 1 - row : row) * flip.width + (flip.rows ? flip.width - 1 - column : column);\n",
          caught="this is the flip 'vertical', where 'horizontal' was asked for"),
    Fault(name="one channel only", old=LOOP, new=LOOP.replace("flip.channels", "1"), caught="only channel 0 of each pixel"),
    Fault(name="channels turned round", old="input[from * flip.channels + channel];\n        }\n        //: // TODO 1",
          new="input[from * flip.channels + flip.channels - 1 - channel];\n        }\n        //: // TODO 1",
          caught="the bytes of each pixel are turned round as well"),
    Fault(name="each pair swapped twice", old=PAIR, new="", backends=CPU,
          caught="FAIL  in_place: the row 1 2 3 4 5(.*\n)+?.*likely cause: pairs of pixels .* swapped by two threads",
          cases=("in_place: the row 1 2 3 4 5",)),
    Fault(name="overwritten before it is read", old="            pixels[partner * flip.channels + channel] = value;\n",
          new="            (void)value;\n", caught="overwritten before it is read"),
    Fault(name="middle row left out", old=PAIR, new=PAIR.replace("mine >= partner",
          "mine >= partner || (flip.rows && 2 * row + 1 == flip.height)"), caught="only the middle row is wrong"),
    Fault(name="no loop over rows", old="row += stride", new="row += flip.height", count=3,
          caught="FAIL  naive: 97 x 89(.*\n)+?.*the rows from 21 on are never written"),
    Fault(name="order of one channel", old="0x0123", new="0x3210", caught="right four bytes in another order",
          cases=("words: the row 1 2 3 4 5", "words: 31 x 33, 1 to 4 channels")),
    Fault(name="order of green first", old="0x1054", new="0x5410", caught="begins with channel 1 has the right four bytes",
          cases=("words: 31 x 33, 1 to 4 channels",)),
    Fault(name="order of red first", old="0x0543", new="0x0345",
          caught="FAIL  words(.*\n)+?.*begins with channel 0 has the right four bytes in another order"),
    Fault(name="vectors of the picture's beginning", old="reinterpret_cast<const uint4*>(input) + first_vector;",
          new="reinterpret_cast<const uint4*>(input);", caught="begins at number first_vector", cases=("staged: 31 x 33, 1 to 4 channels",)),
    Fault(name="ends of rows written as words", old="if (x >= 0 && x + 4 <= row_bytes) {", new="if (x >= 0) {",
          caught="only the first or the last bytes of rows are wrong.*TODO 3", cases=("words: 97 x 89", "naive: 97 x 89")),
    Fault(name="one round of loads less", old="k <= vectors_per_thread;", new="k < vectors_per_thread;", count=2,
          caught="FAIL  staged(.*\n)+?.*a thread loads one vector more.*TODO 4", cases=("staged: 1 x 1200000",)),
    Fault(name="no barrier", old="    __syncthreads();\n", new="", caught="FAIL  staged(.*\n)+?.*threads take words .*TODO 4", backends=CPU),
    # What a plain run does not see
    Fault(name="no bound on the stores to the tile", old="if (i < count) tile[i] = held[k];", new="tile[i] = held[k];", watched=True,
          caught="FAIL  no race between threads\n(.*\n)*?.*kernel staged.* writes to .* past the end of the shared variable tile",
          backends=CPU),
    Fault(name="one thread swaps all", old="        const int64_t mine = row * flip.width + column;\n        const int64_t partner = "
          "flip.source_row(row) * flip.width + flip.source_column(column);\n" + PAIR,
          new="        for (int64_t mine = 0, partner; row + column == 0 && mine < flip.height * flip.width; mine++)\n        if (partner = "
              "flip.source_row(mine / flip.width) * flip.width + flip.source_column(mine % flip.width), mine < partner)\n",
          watched=True, backends=CPU, caught="of the .* threads of in_place only 1 stored anything .* not shared out"),
    Fault(name="barrier of a warp", old="    __syncthreads();\n", new="    __syncwarp();\n", watched=True, backends=CPU,
          caught="FAIL  no race between threads\n.*race in kernel staged.*between the write in line .* and the read in line"),
    # One picture
    Fault(name="copied, and flipped by naive", old=IN_PLACE, new=OTHER_PICTURE + COPY.replace("KERNEL", "naive"), backends=CPU,
          caught="variant in_place launches naive, and not in_place"),
    Fault(name="copied, and read from the copy", old=IN_PLACE, new=OTHER_PICTURE + COPY.replace("KERNEL", "in_place<0>"),
          caught="FAIL  in_place: one picture only\n.*the picture is copied, and the copy read", backends=CPU),
    Fault(name="read from the other picture", old=IN_PLACE, caught="pixels come from the other picture, .*TODO 2", new=OTHER_PICTURE
          + "    in_place<0><<<launch.grid, launch.block>>>(d_input, d_pixels, flip);\n    CHECK_LAUNCH();\n"),
]
