"""Times of scans, of a compaction and of a radix pass: every variant and CUB, in the same runs."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=("cub", "cub_select", "cub_radix"))
for elements, on_cpu in (("64Ki", "4Ki"), ("1Mi", "8Ki"), ("16Mi", "16Ki"), ("256Mi", "32Ki")):
    benchmark.run("--elements", elements, cpu=("--elements", on_cpu))
benchmark.run("--elements", "256Mi", "--type", "float", cpu=("--elements", "32Ki", "--type", "float"))
benchmark.bars("GB/s", only="whole numbers$")
SCAN = {"variant": "^(?!compact|radix)", "against": ["cub"]}
benchmark.headline("^1048576 whole", "the scan of 1 Mi whole numbers", **SCAN)
benchmark.headline("^268435456 floats", "the scan of 256 Mi floats", **SCAN)
benchmark.headline("^268435456 whole", "the negative ones of 256 Mi whole numbers", variant="compact", against=["cub_select"])
benchmark.headline("^268435456 whole", "a radix pass of 256 Mi whole numbers", variant="radix", against=["cub_radix"])
benchmark.main()
