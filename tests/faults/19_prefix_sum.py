"""Planted faults of lab 19: what goes wrong in scans, between blocks, and in a compaction."""

from faults import Fault

CPU = ("cpu",)  # in CPU mode shared memory starts poisoned and the order of threads can be chosen; a card may be right by luck
RACE = "hangs on the order in which the threads run, so there is a race: .*"
STEP = "        if (threadIdx.x >= distance) sum += held[now][threadIdx.x - distance];"
STEPS = "for (unsigned distance = 1; distance < block_size; distance *= 2)"
RIGHT_END = "            tree[with_gaps(right)] = before + tree[with_gaps(left)];\n"
LEFT_END = "            tree[with_gaps(left)] = before;\n"
SHUFFLE = "        const T before = __shfl_up_sync(all_lanes, value, distance);\n        if (lane >= distance) value += before;"
WARP_SUM = "    if (lane == warp_size - 1) sum_of_warp[warp] = up_to_here;\n    __syncthreads();"
ADDED = "if (blockIdx.x > 0 && place < scan.count) scan.output[place] += sums[blockIdx.x - 1];"
OF_BLOCKS = "for (unsigned block = threadIdx.x; block < blockIdx.x; block += block_size) part"
BACK = "for (int64_t other = tile - 1; other >= 0; other--) {"
KNOWN = "        if (meaning_of(word) == up_to_tile) break;\n"
MOVED = "if (i < count && is_kept(input[i])) kept[places[i]] = input[i];"

FAULTS = [
    # Task 1
    Fault(name="one thread too few adds", old=STEP, new=STEP.replace(">=", ">"), caught="a thread has one to add to already where threadIdx.x >= distance.*TODO 1",
          cases=("hillis_steele: 31 elements",)),
    Fault(name="distance grows by one", old=STEPS, new=STEPS.replace("*= 2", "+= 1"), caught="the distance grows by 1 .*TODO 1", cases=("hillis_steele: 31 elements",)),
    Fault(name="last step of Hillis and Steele missing", old=STEPS, new=STEPS.replace("< block_size", "< block_size / 2"),
          caught="the last step, distance block_size / 2, is missing .TODO 1", cases=("hillis_steele: one block",)),
    Fault(name="barrier of a step missing", old="        held[now][threadIdx.x] = sum;\n        __syncthreads();", new="        held[now][threadIdx.x] = sum;",
          caught=RACE + "TODO 1", backends=CPU, cases=("hillis_steele: one block",)),
    Fault(name="one copy instead of two", old="        now = 1 - now;\n", new="", caught=RACE + "TODO 1", backends=CPU, cases=("hillis_steele: one block",)),
    # Task 2
    Fault(name="left end stored too early", old=RIGHT_END + LEFT_END, new=LEFT_END + RIGHT_END,
          caught="the left end is stored before it is read.*TODO 2", cases=("blelloch: one block",)),
    Fault(name="right half without the left one", old=RIGHT_END, new=RIGHT_END.replace("before + tree[with_gaps(left)]", "before"),
          caught="both ends get the sum before the stretch.*TODO 2", cases=("blelloch: one block",)),
    # Tasks 3 and 4
    Fault(name="every lane adds", old=SHUFFLE, new=SHUFFLE.replace("if (lane >= distance) ", ""),
          caught="get their own value back, and add it: only those with lane >= distance add .TODO 3", cases=("warp_shuffles: 31 elements",)),
    Fault(name="shuffle in a condition", old=SHUFFLE, new="        if (lane >= distance) value += __shfl_up_sync(all_lanes, value, distance);",
          caught="warp primitive", backends=CPU, cases=("warp_shuffles: 31 elements",)),
    Fault(name="own warp counted twice", old="if (w < warp) before", new="if (w <= warp) before", caught="a warp adds its own sum, too: .*TODO 4",
          cases=("warp_shuffles: one block",)),
    Fault(name="barrier between warps missing", old=WARP_SUM, new=WARP_SUM.replace("\n    __syncthreads();", ""), caught=RACE + "TODO 4", backends=CPU,
          cases=("warp_shuffles: one block",)),
    Fault(name="lane 0 stores the sum of its warp", old=WARP_SUM, new=WARP_SUM.replace("lane == warp_size - 1", "lane == 0"),
          caught="the last lane, warp_size - 1, has the warp's sum .TODO 4", cases=("warp_shuffles: one block",)),
    Fault(name="scan of a warp is exclusive", old=SHUFFLE + "\n    }", new=SHUFFLE + "\n    }\n    const T last = __shfl_up_sync(all_lanes, value, 1);\n    value = lane == 0 ? T{0} : last;",
          caught="a lane's own value is left out.*TODO 3", cases=("warp_shuffles: one block",)),
    Fault(name="total of the warps before", old="if (w < warp) before += sum_of_warp[w];\n        total += sum_of_warp[w];",
          new="if (w < warp) {\n            before += sum_of_warp[w];\n            total += sum_of_warp[w];\n        }",
          caught="FAIL  one_launch(.*\n)*.*`total` is that of all warps, for every thread .TODO 4", cases=("one_launch: many blocks",)),
    # Task 5
    Fault(name="added beside its place", old=ADDED, new=ADDED.replace("output[place]", "output[global_thread()]"),
          caught="only the first place of each block is wrong.*TODO 5", cases=("blelloch: a block and one, exclusive",)),
    Fault(name="own block added as well", old=ADDED, new=ADDED.replace("blockIdx.x - 1]", "blockIdx.x]"), caught="a block adds the sum up to its own end.*TODO 5",
          cases=("blelloch: a block and one",)),
    Fault(name="blocks before replaced", old=ADDED, new=ADDED.replace("+=", "="), caught="are replaced by what came before it.*TODO 5",
          cases=("warp_shuffles: a block and one",)),
    Fault(name="place behind the end", old=ADDED, new=ADDED.replace(" && place < scan.count", ""), caught="past the end|before the access|not its own", backends=CPU,
          watched=True),
    # Task 6
    Fault(name="grid does not wait", old="    cg::this_grid().sync();\n", new="", caught="are the sums of other blocks read before .*TODO 6|FAIL  one_launch", backends=CPU,
          cases=("one_launch: many blocks",)),
    Fault(name="own share counted twice", old=OF_BLOCKS, new=OF_BLOCKS.replace("block < blockIdx.x", "block <= blockIdx.x"),
          caught="a block adds its own sum, too: before it come those.*TODO 6", cases=("one_launch: many blocks",)),
    Fault(name="every thread adds all sums", old=OF_BLOCKS, new=OF_BLOCKS.replace("= threadIdx.x", "= 0").replace("+= block_size", "++"),
          caught="each sum is added 256 times.*TODO 6", cases=("one_launch: many blocks",)),
    Fault(name="only the first 256 blocks", old=OF_BLOCKS + " += sums[block];", new="if (threadIdx.x < blockIdx.x) part += sums[threadIdx.x];",
          caught="only the sums of the first 256 blocks are added.*TODO 6", backends=CPU, cases=("one_launch: more than 256",)),
    Fault(name="second barrier of sum_before_thread missing", old="    // Who calls this again stores in sum_of_warp again.\n    __syncthreads();\n", new="",
          caught="race in kernel scan_one_launch.* on .*sum_of_warp", backends=CPU, watched=True),
    # Task 7
    Fault(name="look-back never ends early", old=KNOWN, new="", caught="goes on behind a word that is up_to_tile.*TODO 7|FAIL  look_back",
          cases=("look_back: a tile and one", "look_back: many blocks")),
    Fault(name="only the nearest tile", old=KNOWN, new="        break;\n", caught="to the first that is up_to_tile .TODO 7",
          cases=("look_back: only each fourth",)),
    Fault(name="tiles not waited for", old="const Word word = wait_for(&words[other]);", new="const Word word = words[other];",
          caught="race in kernel scan_look_back", backends=CPU, watched=True),
    Fault(name="first tile left out", old=BACK, new=BACK.replace(">= 0", "> 0"), caught="tile 0 is left out.*TODO 7", cases=("look_back: many blocks",)),
    Fault(name="own tile added", old=BACK, new=BACK.replace("tile - 1", "tile"), caught="the tile's own sum is added, too.*TODO 7",
          cases=("look_back: a tile and one",)),
    Fault(name="nearest tile left out", old=BACK, new=BACK.replace("tile - 1", "tile - 2"), caught="begins at tile - 2.*TODO 7", on_card="elements differ",
          cases=("look_back: many blocks",)),
    # Task 8
    Fault(name="order of the kept lost", old=MOVED, new=MOVED.replace("places[i]", "places[count - 1] - places[i]"),
          caught="all there, in another order.*TODO 8|past the end|FAIL  compact", cases=("compact: many blocks",)),
    Fault(name="a place too far", old=MOVED, new=MOVED.replace("[places[i]]", "[places[i] + 1]"), caught="lies one place too far.*TODO 8|past the end",
          cases=("compact: many blocks",)),
    Fault(name="last element not counted", old="*kept_count = places[i] + is_kept(input[i]);", new="*kept_count = places[i];",
          caught="off by one.*TODO 8", cases=("compact: all kept",)),
    Fault(name="number of the kept not stored", old="if (i == count - 1) *kept_count", new="if (i < 0) *kept_count", caught="is never stored: that is for.*TODO 8",
          cases=("compact: many blocks",)),
    Fault(name="all are moved", old=MOVED, new=MOVED.replace(" && is_kept(input[i])", ""), caught="elements that are not kept are stored, too.*TODO 8",
          backends=CPU, cases=("compact: in both orders",)),
    # Given code
    Fault(name="exclusive like inclusive", old="if (i + shift < count) output[i + shift] = sum;", new="if (i + shift < count) output[i] = sum;",
          caught="FAIL  hillis_steele: one element, exclusive|FAIL  hillis_steele: 33|exclusive"),
    Fault(name="sums of the blocks not scanned", old="    scan_by_levels<T>(kernel, {sums, sums, blocks, 0}, sums + blocks);\n", new="    (void)blocks;\n",
          caught="FAIL  hillis_steele: a prime", cases=("hillis_steele: a prime",)),
    Fault(name="NaN everywhere", old="        if (i + shift < count) output[i + shift] = sum;", new="        if (i + shift < count) output[i + shift] = sum * (0.0f / 0.0f);",
          caught="FAIL  hillis_steele: floats", cases=("hillis_steele: floats",)),
    # Pages of further/
    Fault(name="nearest complete tile left out", file="look_back_wide.cuh", old="lane <= last", new="lane < last", caught="FAIL  look_back_wide",
          cases=("look_back_wide: many blocks",)),
    Fault(name="own tile of the round added", file="rounds.cuh", old="if (block < blockIdx.x) before", new="if (block <= blockIdx.x) before",
          caught="FAIL  rounds", cases=("rounds: large tiles",)),
    Fault(name="warps of a tile in one place", file="compact_one_pass.cuh", old="warp > 0 ? up_to_last : 0u", new="0u * up_to_last",
          caught="FAIL  compact_one_pass", cases=("compact_one_pass: many blocks",)),
    Fault(name="radix pass that is not stable", file="radix_pass.cuh", old="return before + __popc(lower);", new="return before + __popc(alike ^ lower) - 1;",
          caught="FAIL  radix_pass", cases=("radix_pass: many blocks",)),
]
