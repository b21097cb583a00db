"""Why make explain and ncu count differently: one reason for each difference of explain_against_ncu.py.

Each was looked up in the machine code for compute capability 9.0 (cuobjdump -sass of the lab's solution)
and in ncu's counters. Patterns of a lab's number and kernel, and of the figures; the first that fits counts.
"""

LANES = "active lanes"
BRANCHES = "branch efficiency"

REASONS: list[tuple[str, str, str]] = [
    # The words of the source
    (r"14 (find_candidates|take_pivot|choose_candidate|eliminate_and_search|eliminate_tile)", "sector|requests|conflicts",
     "A `Candidate` is 8 and 4 bytes, aligned to 8. nvcc copies it as two words of 64 bits (`STS.64 [R0]`, `STS.64 [R0+0x8]`; "
     "`LDG` and `STG` likewise): two requests, in shared memory with a stride of 16 bytes, which is a conflict. g++ says "
     "only that 16 bytes are copied, and one access of 16 bytes is counted"),
    (r"15 find_weights", "requests",
     "A `Scaled` is a double and an int, stored with two instructions (`STG.E.64` and `STG.E`), and as one access of 16 "
     "bytes here"),
    (r"15 (barycentric|warp_a_point)", "sectors|requests",
     "The two doubles of a `Term`, which is aligned to 16 bytes, are one load for nvcc (`LD.E.128`), and two here, where the "
     "source names its members"),
    (r"16 note_ranks", "load",
     "`p + 1 < states ? sums[p + 1] : *total`: nvcc chooses the address and loads once; here the last warp loads both ways"),
    (r"16 note_lowest", "load",
     "`labels[q]` stands twice in the source, before and after a look at what others change; nvcc keeps it in a register, "
     "g++ loads it again, in the one warp that goes on to the atomic"),
    (r"16 keep_crowded", "load",
     "nvcc loads `others[i]` again behind the store to `now.refined[q]`, which it might have changed; g++ sees that the "
     "store can only have written the same value"),
    (r"08 separable_rows", f"sectors|requests|{LANES}",
     "The loop over the window begins later in lanes at the left border. nvcc unrolls it, the rest of a division by 4 first: lanes "
     "with another number of rounds take other copies of the load, which makes more requests of fewer lanes"),

    # What the card does
    (r"13 warp_tile", "load",
     "Asynchronous copies (`LDGSTS`) of the tile's columns beyond the matrix, of which no byte is fetched: the card looks up "
     "their sectors all the same, 4 in each of 192 requests with float, 8 in each of 288 with double"),
    (r"13 (register_tile|vectorised)", "conflicts, stores",
     "2 to 3 % of these stores' wavefronts, which do not follow from the addresses: a half warp's `STS.64` goes to different banks"),
    (r"14 substitute", f"load|{LANES}",
     "A block polls, in a loop, whether another has finished (`LDG.E.STRONG.GPU` at the flag): how often depends on the time, and "
     "differs from run to run"),
    (r"12 (subdivide|list_first_level|launch_levels|settle_level)", "",
     "A kernel that launches kernels: ncu counts it together with those that it launches and with what the launch itself does "
     "(`__cudaCDP2LaunchDeviceV2` reads and writes global and local memory); each counts alone here"),
    (r"16 (refine_states|find_representatives|keep_crowded|group_step|number_step|rename_step|find_only_sources|"
     r"list_sources)", "sectors|requests",
     "Blocks fill a hash table or a list at the same time: who gets a slot depends on the time, and with it the addresses. In "
     "ncu's own figures the same kernel with the same input differs between two runs as well (`find_only_sources`: 5.95 and "
     "5.84 sectors a load)"),

    # Branches
    (r"06 staged|07 sum_along_rows|15 find_weights", BRANCHES,
     "nvcc unrolls the loop by four (07: by 16, 8 and 4), so that it has fewer tests that all lanes pass the same way; the "
     "same number of branches that part lanes then is another share"),
    (r"14 (back_substitute|eliminate_and_search)", BRANCHES,
     "nvcc's code has more branches that all lanes take the same way: whether a rest of the unrolled loop is left, and whether a "
     "division needs its long form (`CALL.REL.NOINC __cuda_sm20_div_rn_f64_full`)"),
    (r"10 histogram_shared_copy", BRANCHES,
     "Six branches a warp, of which the last around the atomic parts it. g++ leaves out two tests of loops: whether there is a "
     "first round, it knows"),
    (r"15 intra_block", BRANCHES,
     "The condition behind each barrier (phases.cuh:69) is a predicate for nvcc, but 18 instructions here and so a "
     "branch, which whole warps take: 160000 more branches that part no lanes"),
    (r"07 fused|13 vectorised", BRANCHES,
     "A short condition around a load with its index (`load_row` of lab 07, `load_vector` of lab 13) is a branch for nvcc, a "
     "predicate here"),
    (r"14 factor_panel", BRANCHES,
     "nvcc predicates most conditions, those around the candidate's row among them (`@!P5 STS.128`). About ten branches a step are "
     "left, and at two of them lanes part: where one lane announces the candidate, and where rows that are done do not divide"),
    (r"07 shuffled", BRANCHES,
     "nvcc unrolls the loop over the rows and predicates its loads (`@!P LDG`), which leaves few branches: those that part the "
     "lanes at the border"),
    (r"16 move_by_atomics", f"{BRANCHES}|{LANES}",
     "The lanes part behind barriers (`if (!done)`, `if (first)`). Where a thread goes on behind a barrier is not recorded here, so "
     "neither the branch nor the predicate is seen"),
    (r"16 (number_step|rename_step|group_step)", f"{BRANCHES}|{LANES}",
     "nvcc makes the leader's atomic of `add_one_each` a loop of shuffles with branches of its own (`SHFL.UP`, `ATOMG`); here it "
     "is one atomic of CPU mode's headers"),

    # Lanes
    (r"14 (eliminate_tile|back_substitute|eliminate_and_search)", LANES,
     "The average is over instructions. For what one lane does alone (to compare candidates, to divide) the two compilers need "
     "different numbers of them"),
    (r"10 (sum_warp_shuffles|sum_of_parts)", LANES,
     "Short pieces behind a barrier or a shuffle are predicated (`@!P0 STS`), so all lanes count. Where a thread goes on behind a "
     "barrier is not recorded here, so they count with the lanes that want them"),
    (r"15 find_constants", LANES,
     "The lane of the diagonal calls the long form of the division (`CALL.REL.NOINC __cuda_sm20_div_rn_f64_full`), many "
     "instructions for one lane; here a division is one instruction"),
    (r"07 shuffled", LANES,
     "Two lanes of a warp call `four_means_at_border` again and again (`CALL.REL`); its divisions are many instructions on "
     "the card, one here"),
    (r"09 by_thread", LANES,
     "The lanes take eight ways one after the other. The average is over instructions, and nvcc needs others than g++ to find "
     "the way (four `BRA`, then `BRX`), with more lanes"),
    (r"16 (touch_all|find_only_sources)", LANES,
     "The average is over instructions, and where few lanes are left nvcc has more of them: a loop for `match` and the atomic of "
     "`add_one_each` (`MATCH`, `REDUX`, `ATOMG`), tests of `break` and `continue` (`BSSY`, `WARPSYNC`)"),
]
