"""What learners get wrong in lab 11."""

from faults import Fault

WARPS = "return (block.threads + warp_size - 1) / warp_size;"
OF_WARP = "return round_up(warp_size * block.registers, register_unit);"
PARTITION = "const int warps_of_partition = whole.registers / partitions / registers_of_warp(block);"
IN_ALL = "return partitions * warps_of_partition / warps_of(block);"
SHARED = "return round_up(block.shared_bytes + whole.reserved_shared_bytes, whole.shared_unit);"
STEPS = "for (int step = 0; step < steps; step++) {\n#pragma unroll\n        for (int k = 0; k < chains; k++) row"
STEP = "row[k] = links[int64_t{row[k]} * warp_size + lane];"

FAULTS = [
    # By hand
    Fault(name="warps rounded down", old=WARPS, new="return block.threads / warp_size;",
          caught="counts 1 warp for .* the last of which is not full and counts as well .TODO 1a"),
    Fault(name="threads for warps in the slots", old="return whole.warp_slots / warps_of(block);",
          new="return whole.warp_slots * warp_size / block.threads;", caught="room for .* blocks in 48 warp slots: .*TODO 1b"),
    Fault(name="registers of a warp not rounded up", old=OF_WARP, new="return warp_size * block.registers;",
          caught="in pieces of 256.*TODO 3a"),
    Fault(name="registers of one pool instead of four", old=PARTITION,
          new="const int warps_of_partition = whole.registers / registers_of_warp(block);",
          caught="one of the 4 partitions has registers for .*TODO 3b"),
    Fault(name="leftovers of the partitions put together", old=PARTITION + "\n    " + IN_ALL,
          new="return whole.registers / registers_of_warp(block) / warps_of(block);",
          caught="what is left over in it is no use.*TODO 3b"),
    Fault(name="reserved shared memory forgotten", old=SHARED,
          new="return round_up(block.shared_bytes, whole.shared_unit);",
          caught="reserved for the system.*TODO 4a"),
    Fault(name="shared memory not in whole pieces", old=SHARED,
          new="return block.shared_bytes + whole.reserved_shared_bytes;", caught="in pieces of 128.*TODO 4a"),
    Fault(name="occupancy of threads in place of warps",
          old="double(occupancy.warps) / whole.warp_slots;",
          new="double(occupancy.blocks * block.threads) / (whole.warp_slots * warp_size);",
          caught="occupancy .* %, expected .* %, that is .* warps .TODO 2"),
    Fault(name="threads rounded up to whole warps", old=WARPS, new="return round_up(block.threads, warp_size);",
          caught="counts 256 warps for 256 threads: they are 8 warps .TODO 1a"),
    Fault(name="whole blocks in each partition", old=IN_ALL, new="return partitions * (warps_of_partition / warps_of(block));",
          caught="what is left over in it is no use.*TODO 3b"),
    # Waves and Little's law
    Fault(name="waves rounded down", old="waves.waves = lab::divide_up(grid, waves.capacity);",
          new="waves.waves = std::max<int64_t>(1, grid / waves.capacity);", caught="Rounded up. .TODO 5"),
    Fault(name="last wave by the remainder", old="waves.last = grid - (waves.waves - 1) * waves.capacity;",
          new="waves.last = grid % waves.capacity;", caught="a full last wave has as many as every other .TODO 5"),
    Fault(name="multiprocessors divided before rounding up",
          old="std::ceil(demand.warps / multiprocessors);", new="std::floor(demand.warps / multiprocessors);",
          caught="warps on each multiprocessor.*TODO 6"),
    # Kernels
    Fault(name="one chain only", old=STEP, new="if (k == 0) " + STEP, caught="only the first chain"),
    Fault(name="one number for all lanes", old=STEP, new=STEP.replace(" + lane", ""),
          caught="takes from links is row.k. . 32: it is to be row.k. . 32 . lane .TODO 7"),
    Fault(name="row not multiplied", old=STEP, new="row[k] = links[row[k] + lane];",
          caught="takes from links is row.k. . lane: it is to be row.k. . 32 . lane .TODO 7"),
    Fault(name="thread in the block for the lane", old=STEP, new=STEP.replace("+ lane", "+ threadIdx.x"),
          caught="takes from links is row.k. . 32 . threadIdx.x"),
    Fault(name="a launch the first time only", file="launches.cuh", old="    const WalkKernel chosen =",
          new="    static bool done = false;\n    if (done) return;\n    done = true;\n    const WalkKernel chosen =",
          caught="right only once: in a later launch", cases=("waves, and Little's law by measurement",)),
    Fault(name="a step too many", old=STEPS, new=STEPS.replace("step < steps", "step <= steps"),
          caught="the walkers take 10 steps, not 9"),
    Fault(name="rounded twice", old="value[k] = fmaf(value[k], value[k], constant);",
          new="value[k] = __fadd_rn(__fmul_rn(value[k], value[k]), constant);", caught="rounded before the constant is added"),
]
