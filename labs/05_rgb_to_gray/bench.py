"""Times of the conversion to gray: every variant and NPP, on pictures that fill the card and on a small one."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=("npp",), one_process=True)
for height, width in ((1080, 1920), (8192, 8192), (16384, 16384), (8191, 8193)):
    benchmark.run("--height", height, "--width", width, cpu=("--height", height // 16, "--width", width // 16))
benchmark.bars("GB/s", title="RGB to gray", only="^(?!16384)")  # that one is in the table
benchmark.headline("^8192 x 8192 ")
benchmark.main()
