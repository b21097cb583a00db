"""Times against resident warps, block size, registers and waves."""

from checker.benchmark import Benchmark

KERNELS = "walk_1,walk_4,square_1,square_4"
SHARED = (0, 4096, 6144, 9216, 13312, 18432, 27648, 37888, 57344, 64512, 100352, 232448)
BLOCKS = (32, 128, 256, 512, 768, 1024)
SMALL = ("--walkers", 128, "--values", 1024, "--steps", 8)

benchmark = Benchmark(__file__, one_process=True)
for shared in SHARED:  # shared memory that nobody uses keeps other blocks away
    words = ("--variant", KERNELS, "--block", 64, "--shared", shared)
    benchmark.run(*words, cpu=(*words, *SMALL))
for block in BLOCKS:
    words = ("--variant", KERNELS, "--block", block)
    benchmark.run(*words, cpu=(*words, *SMALL))
benchmark.run("--variant", "square_64,square_64_half,square_64_full")
for quarters in range(1, 17):
    words = ("--variant", "walk_1,square_1", "--waves", quarters / 4)
    benchmark.run(*words, cpu=(*words, "--steps", 1))

WARPS = {"x": r"(\d+) of \d+ warps", "label": "resident warps a multiprocessor", "only": r"^blocks of 64,.*steps$"}
benchmark.lines("GB/s", title="memory against occupancy", **WARPS)
benchmark.lines("GFLOP/s", title="arithmetic against occupancy", **WARPS)
benchmark.lines("milliseconds", x=r"blocks of (\d+)", label="threads of a block", title="time against block size",
                only=r", 0 bytes of shared memory, \d+ of \d+ warps, .*steps$")
benchmark.bars("milliseconds", title="the same work with fewer registers", only=r"memory, (\d+ of \d+ warps, )?\d+ values")
benchmark.lines("milliseconds", x=r"([\d.]+) waves", label="waves", title="time against waves", only="waves$")
benchmark.headline("^blocks of 64, .* 64 of 64 warps, .*steps$", "memory, 64 warps in blocks of 64", variant="walk")
benchmark.headline("^blocks of 64, .* 44 of 64 warps, .*steps$", "arithmetic, 44 warps in blocks of 64", limit="float",
                   variant="square")
benchmark.main()
