"""Times of the same work with 1 to 32 paths, shared out by the thread and by the warp."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, one_process=True)
benchmark.run("--variant", "short_branch,thread_parity,warp_parity,exchange")
for paths in (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 28, 32):
    benchmark.run("--variant", "by_thread,by_warp", "--paths", paths)
benchmark.lines("milliseconds", x=r"(\d+) paths", label="paths in the switch", title="time against paths")
benchmark.headline("", "32 paths, 4194304 elements, 256 rounds", variant="by_warp 32 paths", against=["by_thread 32 paths"])
benchmark.main()
