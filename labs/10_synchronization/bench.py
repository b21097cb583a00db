"""Times of sums and histograms: every variant and CUB, random bytes and equal ones."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=("cub",), one_process=True)
for elements, on_cpu in (("1Mi", "16Ki"), ("16Mi", "64Ki"), ("256Mi", "256Ki")):
    benchmark.run("--elements", elements, cpu=("--elements", on_cpu))
for data in ("random", "equal"):
    benchmark.run("--problem", "histogram", "--elements", "1Gi", "--data", data,
                  cpu=("--problem", "histogram", "--elements", "64Ki", "--data", data))
benchmark.bars("GB/s", title="the sum", only="floats$")
benchmark.bars("GB/s", title="the histogram", only="bytes$")
benchmark.headline("^268435456 floats", "the sum of 256 Mi floats")
benchmark.headline("random bytes", "the histogram of 1 Gi random bytes")
benchmark.main()
