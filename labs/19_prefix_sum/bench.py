"""Times of scans, of a compaction and of a radix pass: every variant and CUB, in the same runs."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=("cub", "cub_select", "cub_radix"), one_process=True)
for elements, on_cpu in (("1Mi", "8Ki"), ("16Mi", "16Ki"), ("256Mi", "32Ki")):
    benchmark.run("--task", "scan", "--elements", elements, cpu=("--task", "scan", "--elements", on_cpu))
for task in ("compaction", "radix_pass"):
    benchmark.run("--task", task, "--elements", "256Mi", cpu=("--task", task, "--elements", "32Ki"))
benchmark.bars("GB/s", title="scans", only="scan$")
benchmark.bars("GB/s", title="compaction and radix pass", only="(compaction|radix_pass)$")
for size in ("1048576 whole numbers, scan", "268435456 whole numbers, scan",
             "268435456 whole numbers, compaction", "268435456 whole numbers, radix_pass"):
    benchmark.headline(f"^{size}$")
benchmark.main()
