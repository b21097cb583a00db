"""Times of the matrix sum in the shapes of the handout: square, tall, wide and flat."""

from checker.benchmark import Benchmark

SHAPES = [(16384, 16384), (4194304, 64), (64, 4194304), (7001, 9973)]

benchmark = Benchmark(__file__, one_process=True)
for height, width in SHAPES:
    small = max(8, height // 64), max(8, width // 16)
    benchmark.run("--height", height, "--width", width, cpu=["--height", small[0], "--width", small[1]])
benchmark.bars("GB/s")
benchmark.headline("^16384 x 16384 ")
benchmark.main()
