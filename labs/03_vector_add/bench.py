"""Times of the vector sum: every layout, the grid-stride loop and the vectorised kernel."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, one_process=True)
for elements in ("16Mi", "64Mi", "256Mi", "1Gi"):
    benchmark.run("--elements", elements, cpu=["--elements", elements.replace("Mi", "Ki").replace("1Gi", "1Mi")])
benchmark.bars("GB/s")
benchmark.headline("^1073741824 ", "1 Gi floats")
benchmark.main()
