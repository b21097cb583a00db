"""Times of the blur: every variant and NPP, at growing radius, for gray and for colour."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=("npp",), one_process=True)
for channels in (1, 3):
    for radius in (1, 5, 25, 100):
        benchmark.run("--height", 8192, "--width", 8192, "--channels", channels, "--radius", radius,
                      cpu=("--height", 64, "--width", 64, "--channels", channels, "--radius", radius))
for colours in ("1 channel,", "3 channels,"):
    words = colours.rstrip(",")
    benchmark.bars("GB/s", title=f"Image blur, {words}", only=colours)
    benchmark.lines(x=r"radius (\d+)", label="radius", y="milliseconds", logarithmic=True,
                    title=f"Image blur, {words}", only=colours)
for radius in (1, 25):
    benchmark.headline(f"1 channel, radius {radius}$")
benchmark.main()
