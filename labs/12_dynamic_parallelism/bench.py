"""Times of the Mandelbrot set: one thread a pixel against rectangles, at growing limits."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__)
for limit in (100, 1000, 10_000, 100_000):
    benchmark.run("--height", 2048, "--width", 2048, "--limit", limit,
                  cpu=("--height", 128, "--width", 128, "--limit", min(limit, 1000)))
benchmark.lines("milliseconds", x=r"limit (\d+)", label="limit", title="time against the limit", logarithmic=True)
benchmark.headline("limit 100000,", "Mandelbrot set, 2048 x 2048, limit 100000", variant="device", against=["direct", "host_levels"])
benchmark.main()
