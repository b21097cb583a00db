"""What learners get wrong in lab 10."""

from faults import Fault

TREE = """        __syncthreads();
        if (threadIdx.x < stride) part[threadIdx.x] += part[threadIdx.x + stride];
    }
    //: // TODO 2 (about 4 lines)"""
TILES = "for (int64_t tile = blockIdx.x; tile < whole_tiles; tile += gridDim.x) {"

FAULTS = [
    Fault(name="missing barrier in the tree", old=TREE, new=TREE.replace("        __syncthreads();\n", ""),
          caught="barrier stand between writing and reading|differently from run to run|differ"),
    Fault(name="conditional barrier in the tree", old=TREE,
          new=TREE.replace("        __syncthreads();\n        if (threadIdx.x < stride) part",
                           "        if (threadIdx.x >= stride) continue;\n        __syncthreads();\n        part"),
          caught="reach this barrier", backends=("cpu",)),
    Fault(name="first step of the tree missing", old="unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {\n        __",
          new="unsigned stride = blockDim.x / 4; stride > 0; stride /= 2) {\n        __",
          count=1, caught="first step of the tree"),
    Fault(name="one thread too many in the tree", old=TREE,
          new=TREE.replace("threadIdx.x < stride", "threadIdx.x <= stride"), caught="threads are those with threadIdx.x < stride", backends=("cpu",)),
    Fault(name="parts behind the first 256 left out", old="lane < blockDim.x / warp_size ?",
          new="lane < block_size / warp_size ?", caught="parts behind the first 256"),
    Fault(name="one tile a block", old=TILES, new="if (const int64_t tile = blockIdx.x; tile < whole_tiles) {",
          caught="go on to tile . gridDim.x"),
    Fault(name="grid rounded down", old="dim3(lab::divide_up(count, block_size)), dim3(block_size)",
          new="dim3(std::max<int64_t>(count / block_size, 1)), dim3(block_size)",
          caught="grid rounded up"),
    Fault(name="last shuffle missing", old="offset > 0; offset /= 2", new="offset > 1; offset /= 2",
          caught="offset 1, is missing"),
    Fault(name="missing barrier between the warps", old="sum_of_warp[warp] = value;\n    __syncthreads();",
          new="sum_of_warp[warp] = value;", caught="FAIL  warp_shuffles", backends=("cpu",)),
    Fault(name="only the first warp", old="lane < blockDim.x / warp_size ? sum_of_warp[lane] : 0",
          new="lane < 1 ? sum_of_warp[lane] : 0", caught="first warp of each block"),
    Fault(name="one member of the vectors missing", old="            part.z += vector[k].z;\n", new="",
          caught="member z of the vectors"),
    Fault(name="only whole tiles", old="for (; i < count; i += stride) part.x", new="for (; i < 0; i += stride) part.x",
          caught="FAIL  vectorised: 1 element"),
    Fault(name="every block adds every tile", old=TILES, new=TILES.replace("= blockIdx.x", "= 0").replace(
        "+= gridDim.x", "+= 1"), caught="FAIL  vectorised"),
    Fault(name="copy never set to zero", old="bin += blockDim.x) copy[bin] = 0;",
          new="bin += blockDim.x) copy[bin] *= 1;", caught="FAIL  histogram, shared_copy", backends=("cpu",)),
    Fault(name="lost updates in the copy", old="atomicAdd(&copy[bytes[i]], 1u);", new="copy[bytes[i]]++;",
          caught="is a count an atomic", backends=("gpu",)),
    Fault(name="copy added up too early", old="atomicAdd(&copy[bytes[i]], 1u);\n    __syncthreads();",
          new="atomicAdd(&copy[bytes[i]], 1u);", caught="complete when it is added up"),
    Fault(name="half of the bytes of a vector", old="byte < 16; byte++) {\n        // BEGIN",
          new="byte < 16; byte += 2) {\n        // BEGIN", caught="FAIL  histogram, lane_copies"),
]
