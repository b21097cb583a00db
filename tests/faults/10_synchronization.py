"""What learners get wrong in lab 10."""

from faults import Fault

TREE = """        __syncthreads();
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
    }
    //: // TODO 4 (about 4 lines)"""
SHUFFLE = "        value += __shfl_down_sync(all_lanes, value, offset);"
WARPS = "    return warp_sum(lane < blockDim.x / warp_size ? sum_of_warp[lane] : 0);"
TILES = "for (int64_t tile = blockIdx.x; tile < whole_tiles; tile += gridDim.x) {"
COPY_OUT = "if (copy[bin] > 0) atomicAdd(&counts[bin], Count{copy[bin]});"
COUNTED = "atomicAdd(&copy[bytes[i]], 1u);"
ZEROED = """    CHECK(cudaMemsetAsync(job.d_result, 0, sizeof(float)));
    sum_global_atomics<<<"""
RACE = "hangs on the order in which the threads run.*"
CPU = ("cpu",)  # a card may run it in a good order

FAULTS = [
    # Tasks 1 and 2
    Fault(name="threads beyond the end counted", file="races.cuh", old="if (i < count) atomicAdd(total, Count{1});", new="atomicAdd(total, Count{1});",
          caught="gives 10240, expected 10007 .TODO 1: the threads beyond the end", cases=("demo lost_update, repaired",)),
    Fault(name="a warp's barrier in the repair", file="races.cuh", old="        __syncthreads();\n        //: // TODO 2", new="        __syncwarp();\n        //: // TODO 2",
          caught="TODO 2: a barrier in every step", backends=CPU, cases=("demo missing_barrier, repaired",)),
    # Task 3
    Fault(name="bounds test forgotten", old="if (i < count) atomicAdd(sum, values[i]);", new="atomicAdd(sum, values[i]);",
          caught="compare the index .*before the access(.|\\n)*likely cause: a thread without an element reads: .*TODO 3", backends=CPU),
    Fault(name="sum without an atomic", old="if (i < count) atomicAdd(sum, values[i]);",
          new="if (i < count) *sum += values[i];", caught="race in kernel sum_global_atomics", watched=True, backends=CPU),
    Fault(name="one thread adds all", old="if (i < count) atomicAdd(sum, values[i]);",
          new="for (int64_t j = 0; i == 0 && j < count; j++) atomicAdd(sum, values[j]);", watched=True, backends=CPU,
          caught="of the 9216 threads of sum_global_atomics only 1 stored anything .* not shared out"),
    Fault(name="a launch the first time only", old=ZEROED, new="    static bool done = false;\n    if (done) return launch;\n"
          "    done = true;\n" + ZEROED, caught="right only once: in a later launch", cases=("all variants in one run, random input",)),
    Fault(name="the first block's elements", old="if (i < count) atomicAdd(sum, values[i]);",
          new="if (i < count) atomicAdd(sum, values[threadIdx.x]);", caught="every block adds the elements of the first one.*TODO 3"),
    # Task 4
    Fault(name="missing barrier in the tree", old=TREE, new=TREE.replace("        __syncthreads();\n", ""),
          caught=RACE + "TODO 4", backends=CPU),
    Fault(name="conditional barrier in the tree", old=TREE,
          new=TREE.replace("        __syncthreads();\n        if (threadIdx.x < stride) part",
                           "        if (threadIdx.x >= stride) continue;\n        __syncthreads();\n        part"),
          caught="reach this barrier", backends=CPU),
    Fault(name="first step of the tree missing", old="unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {\n        __",
          new="unsigned stride = blockDim.x / 4; stride > 0; stride /= 2) {\n        __",
          count=1, caught="first step of the tree, stride blockDim.x / 2, is missing .TODO 4"),
    Fault(name="one thread too many in the tree", old=TREE,
          new=TREE.replace("threadIdx.x < stride", "threadIdx.x <= stride"),
          caught="so there is a race: .*or too many threads store .TODO 4", backends=CPU, cases=("shared_tree: all sizes from 1 to 700",)),
    Fault(name="a step too many in the tree", old="unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {\n        __",
          new="unsigned stride = blockDim.x; stride > 0; stride /= 2) {\n        __", caught="kernel sum_shared_tree, .* reads from memory that is not its own", watched=True, backends=CPU),
    Fault(name="all threads add in the tree", old=TREE, new=TREE.replace("if (threadIdx.x < stride) part", "part"), caught=RACE + "TODO 4", backends=CPU,
          cases=("shared_tree: all sizes from 1 to 700",)),
    Fault(name="strides go up", old="unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {\n        __",
          new="unsigned stride = 1; stride < blockDim.x; stride *= 2) {\n        __", caught="the strides go up: .*TODO 4"),
    # Tasks 5 and 6
    Fault(name="an offset less in each step", old="offset > 0; offset /= 2", new="offset > 0; offset--", caught="the offset goes down by 1.*TODO 5",
          cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="all lanes read one", old=SHUFFLE, new=SHUFFLE.replace("shfl_down", "shfl"), caught="all lanes get the value of lane `offset`.*TODO 5",
          cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="last shuffle missing", old="offset > 0; offset /= 2", new="offset > 1; offset /= 2",
          caught="last step of the shuffles, offset 1, is missing .TODO 5", cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="shuffle in a condition", old=SHUFFLE,
          new="        if (threadIdx.x % warp_size < offset) value += __shfl_down_sync(all_lanes, value, offset);",
          caught="warp primitive(.|\\n)*likely cause: the shuffle, or .* stands inside a condition .TODO 5", backends=CPU,
          cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="shuffle in a condition, warps open",
          old="    value = warp_sum(value);\n    // BEGIN SOLUTION\n    if (lane == 0) sum_of_warp[warp] = value;\n"
              "    __syncthreads();\n    if (warp > 0) return 0;\n" + WARPS,
          new="    for (int offset = 16; offset > 0; offset /= 2) {\n        if (lane < offset) value += "
              "__shfl_down_sync(all_lanes, value, offset);\n    }\n    if (lane == 0) sum_of_warp[warp] = value;\n"
              "    return lane == 0 ? sum_of_warp[warp] : 0;",
          caught="likely cause: the shuffle in .* stands inside a condition: all 32 lanes call it.*TODO 5.", backends=CPU,
          cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="warp_sum in a condition", old=WARPS, backends=CPU, caught="likely cause: only some lanes call warp_sum.*TODO 6.",
          new="    return lane < blockDim.x / warp_size ? warp_sum(sum_of_warp[lane]) : 0;", cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="missing barrier between the warps", old="sum_of_warp[warp] = value;\n    __syncthreads();",
          new="sum_of_warp[warp] = value;", caught=RACE + "TODO 6", backends=CPU),
    Fault(name="only the first warp", old=WARPS, new=WARPS.replace("blockDim.x / warp_size", "1"),
          caught="only the first warp of each block is in the sum: .*TODO 6", cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="all warps store in one place", old="if (lane == 0) sum_of_warp[warp] = value;\n    __sync", new="if (lane == 0) sum_of_warp[lane] = value;\n    __sync",
          caught="no warp has written: lane 0 of each warp stores in sum_of_warp.warp..*TODO 6", backends=CPU,
          cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="the last warp left out", old=WARPS, new=WARPS.replace("warp_size ?", "warp_size - 1 ?"),
          caught="the last warp of each block is not in the sum.*TODO 6", cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="sums of warps that are not there", old=WARPS, new="    return warp_sum(sum_of_warp[lane]);",
          caught="places of sum_of_warp that no warp has written.*TODO 6", backends=CPU, cases=("warp_shuffles: all sizes from 1 to 700",)),
    Fault(name="parts behind the first 256 left out", old=WARPS,
          new=WARPS.replace("blockDim.x / warp_size", "block_size / warp_size"), further=True,
          caught="parts behind the first 256 are missing.*TODO 6", cases=("two_stages: more tiles than blocks, more parts than threads",)),
    # Task 7
    Fault(name="one tile a block", old=TILES, new="if (const int64_t tile = blockIdx.x; tile < whole_tiles) {",
          caught="only the first tile of each block is in the sum: the next one is tile . gridDim.x .TODO 7",
          cases=("vectorised: more tiles than blocks, more parts than threads",)),
    Fault(name="every block adds every tile", old=TILES, new=TILES.replace("= blockIdx.x", "= 0").replace(
        "+= gridDim.x", "+= 1"), caught="every block adds every tile: it is to begin at blockIdx.x.*TODO 7",
          cases=("vectorised: sizes to 13000, every 97th",)),
    Fault(name="a tile too many", old=TILES, new=TILES.replace("tile < whole", "tile <= whole"), backends=CPU,
          caught="a tile is read that is not whole or not there: .*TODO 7", cases=("vectorised: all sizes from 1 to 700",)),
    Fault(name="every block from tile 0", old=TILES, new=TILES.replace("= blockIdx.x", "= 0"), caught="every block begins at tile 0.*TODO 7",
          cases=("vectorised: sizes to 13000, every 97th",)),
    Fault(name="every thread the first vector", old="mine[k * block_size + threadIdx.x];", new="mine[k * block_size];",
          caught="every thread adds the vectors of thread 0.*TODO 7", cases=("vectorised: sizes to 13000, every 97th",)),
    Fault(name="one member replaced", old="part.x += vector[k].x", new="part.x = vector[k].x", caught="member x of `part` is that of the last vector alone.*TODO 7",
          cases=("vectorised: sizes to 13000, every 97th",)),
    Fault(name="one member of the vectors missing", old="            part.z += vector[k].z;\n", new="",
          caught="member z of the vectors is missing .TODO 7", cases=("vectorised: sizes to 13000, every 97th",)),
    Fault(name="one vector four times", old="mine[k * block_size + threadIdx.x];", new="mine[threadIdx.x];",
          caught="adds vector 0 four times: vector k is number k . block_size . threadIdx.x .TODO 7",
          cases=("vectorised: sizes to 13000, every 97th",)),
    Fault(name="tile by elements before the cast", old="reinterpret_cast<const float4*>(values) + tile * tile_vectors;",
          new="reinterpret_cast<const float4*>(values + tile * tile_vectors);", caught="the cast to float4 comes first .TODO 7",
          cases=("vectorised: sizes to 13000, every 97th",)),
    Fault(name="only whole tiles", old="for (; i < count; i += stride) part.x", new="for (; i < 0; i += stride) part.x",
          caught="elements behind the last whole tile are missing", cases=("vectorised: all sizes from 1 to 700",)),
    # Given code
    Fault(name="parts added on the host", old="    sum_of_parts<<<1, most_parts>>>(d_parts, launch.grid.x, job.d_result);",
          file="two_stages.cuh", new="    std::vector<float> parts(launch.grid.x);\n    float sum = 0;\n"
              "    CHECK(cudaMemcpy(parts.data(), d_parts, 4 * parts.size(), cudaMemcpyDeviceToHost));\n"
              "    for (float part : parts) sum += part;\n"
              "    CHECK(cudaMemcpy(job.d_result, &sum, 4, cudaMemcpyHostToDevice));",
          caught="two_stages launches sum_into_parts, but never sum_of_parts", backends=CPU, cases=("two_stages: all sizes from 1 to 700",)),
    Fault(name="grid rounded down", old="dim3(lab::divide_up(job.count, block_size)), dim3(block_size)",
          new="dim3(std::max<int64_t>(job.count / block_size, 1)), dim3(block_size)",
          caught="last partial block is missing: the grid is to be rounded up"),
    # Tasks 8 and 9
    Fault(name="copy never set to zero", old="bin += blockDim.x) copy[bin] = 0;",
          new="bin += blockDim.x) copy[bin] *= 1;", caught="begins with what was there before.*TODO 8", backends=CPU),
    Fault(name="lost updates in the copy", old=COUNTED, new="copy[bytes[i]]++;",
          caught="FAIL  histogram, shared_copy", backends=("gpu",)),
    Fault(name="counts of the copies added without an atomic", old=COPY_OUT, new="counts[bin] += copy[bin];",
          caught="race in kernel histogram_shared_copy", watched=True, backends=CPU),
    Fault(name="copy added up too early", old=COUNTED + "\n    __syncthreads();", new=COUNTED, caught=RACE + "TODO 8",
          backends=CPU),
    Fault(name="one byte a thread", old="for (int64_t i = first; i < count; i += stride) " + COUNTED,
          new="if (first < count) atomicAdd(&copy[bytes[first]], 1u);", caught="each thread counts one byte.*TODO 8"),
    Fault(name="counts of a block in 16 bits", old=COPY_OUT,
          new="if (copy[bin] > 0) atomicAdd(&counts[bin], Count{uint16_t(copy[bin])});", caught="has 16 bits.*TODO 8",
          cases=("histogram: more than 65535 in one counter of a block",)),
    Fault(name="counts replaced", old=COPY_OUT, new="counts[bin] = copy[bin];", caught="in each bin is the count of one block alone.*TODO 8", backends=CPU),
    Fault(name="all bytes from the first on", old="i < count; i += stride) " + COUNTED, new="i < count; i++) " + COUNTED,
          caught="counts all bytes from its first one on.*TODO 8", cases=("histogram, shared_copy: all sizes from 1 to 70",)),
    Fault(name="the first byte in every round", old=COUNTED, new="atomicAdd(&copy[bytes[first]], 1u);", caught="its first byte again in every round.*TODO 8"),
    Fault(name="one for each bin", old=COPY_OUT, new="atomicAdd(&counts[bin], Count{1});", caught="adds 1 to all bins.*TODO 8"),
    Fault(name="half of the bytes of a vector", old="byte < 16; byte++) {\n        // BEGIN",
          new="byte < 16; byte += 2) {\n        // BEGIN", caught="only every second byte is counted .TODO 9",
          cases=("histogram, lane_copies: all sizes from 1 to 70",)),
    Fault(name="counters of a lane side by side", old="& 0xff) * warp_size], 1u);", new="& 0xff)], 1u);",
          caught="counter of bin b is taken to be copy.b.: this lane's is copy.b . warp_size. .TODO 9",
          cases=("histogram, lane_copies: all sizes from 1 to 70",)),
]
