"""Times of the flip: every variant and NPP, in three directions, with 1, 3 and 4 channels, and with odd sides."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=("npp",), one_process=True)


def flip(height, width, channels, direction):
    options = ("--channels", channels, "--direction", direction)
    benchmark.run("--height", height, "--width", width, *options,
                  cpu=("--height", height // 32, "--width", width // 32, *options))


for direction in ("horizontal", "vertical", "both"):
    flip(8192, 8192, 3, direction)
for channels in (1, 4):
    flip(8192, 8192, channels, "horizontal")
for direction in ("horizontal", "vertical", "both"):
    flip(8191, 8189, 3, direction)
benchmark.bars("GB/s", title="Image flip, three directions", only="[02468] pixels, 3 channels")
benchmark.bars("GB/s", title="Image flip, horizontal", only="[02468] pixels, .*horizontal")
benchmark.bars("GB/s", title="Image flip, odd sides", only="[13579] pixels")
benchmark.headline("^8192 x 8192 .*3 channels, horizontal")
benchmark.main()
