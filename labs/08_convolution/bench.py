"""Times of the filters: every variant and NPP, 3 x 3 to 15 x 15, for floats and for pictures."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=("npp",), one_process=True)
for type in ("float32", "uint8"):
    for size in (3, 7, 15):
        words = ("--type", type, "--filter", "gaussian", "--size", size)
        benchmark.run("--height", 8192, "--width", 8192, *words, cpu=("--height", 256, "--width", 256, *words))
for kind in ("floats", "pixels"):
    benchmark.bars("GB/s", title=f"Convolution, {kind}", only=kind)
    benchmark.lines("milliseconds", x=r"filter (\d+) x", label="side of the filter", logarithmic=True,
                    title=f"Convolution, {kind}", only=kind)
benchmark.headline("floats, filter 7 x 7", "8192 x 8192 floats, 7 x 7, any filter", variant="^(?!separable)")
benchmark.headline("floats, filter 15 x 15", "8192 x 8192 floats, 15 x 15, any filter", limit="float", variant="^(?!separable)")
benchmark.headline("floats, filter 15 x 15", "8192 x 8192 floats, 15 x 15, a column times a row", variant="^separable")
benchmark.main()
