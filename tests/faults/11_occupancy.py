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
          caught="one that is not full counts as well .TODO 1a"),
    Fault(name="threads for warps in the slots", old="return whole.warp_slots / warps_of(block);",
          new="return whole.warp_slots * warp_size / block.threads;", caught="TODO 1b"),
    Fault(name="registers of a warp not rounded up", old=OF_WARP, new="return warp_size * block.registers;",
          caught="in pieces of 256.*TODO 2a"),
    Fault(name="registers of one pool instead of four", old=PARTITION,
          new="const int warps_of_partition = whole.registers / registers_of_warp(block);", caught="TODO 2b"),
    Fault(name="leftovers of the partitions put together", old=PARTITION + "\n    " + IN_ALL,
          new="return whole.registers / registers_of_warp(block) / warps_of(block);", caught="TODO 2b"),
    Fault(name="reserved shared memory forgotten", old=SHARED,
          new="return round_up(block.shared_bytes, whole.shared_unit);",
          caught="reserved for the system.*TODO 3a"),
    Fault(name="shared memory not in whole pieces", old=SHARED,
          new="return block.shared_bytes + whole.reserved_shared_bytes;", caught="TODO 3a"),
    Fault(name="occupancy of threads in place of warps",
          old="double(occupancy.warps) / whole.warp_slots;",
          new="double(occupancy.blocks * block.threads) / (whole.warp_slots * warp_size);", caught="TODO 4"),
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
          caught="every lane reads the first number of a row"),
    Fault(name="a step too many", old=STEPS, new=STEPS.replace("step < steps", "step <= steps"),
          caught="the walkers took 10 steps, not 9"),
    Fault(name="rounded twice", old="value[k] = fmaf(value[k], value[k], constant);",
          new="value[k] = __fadd_rn(__fmul_rn(value[k], value[k]), constant);", caught="FAIL  square_1"),
]
