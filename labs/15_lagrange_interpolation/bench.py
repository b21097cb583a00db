"""Times of all variants, from a thousand points to a hundred million and degree 31 to 1000."""

from checker.benchmark import Benchmark

DEGREES = (31, 63, 127, 319, 1000)
FAST = "barycentric,product,constant,warp_a_point,blocked,copied,overlapped"

benchmark = Benchmark(__file__, one_process=True)
for points in (1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000):
    for degree in DEGREES:
        # n^2 factors a point: where that takes more than a few tenths of a second, only the others
        quadratic = points * (degree + 1) ** 2 <= 1.1e10
        variants = ("basis,phases,phases_one_call," if quadratic else "") + FAST
        if points == 100_000_000:
            variants = "blocked,copied,overlapped"
        small = max(1, min(points // 1000, 20_000 // degree))
        benchmark.run("--degree", degree, "--points", points, "--variant", variants,
                      cpu=("--degree", degree, "--points", small, "--variant", "blocked,barycentric,product"))
for points in (1000, 1_000_000, 100_000_000):
    benchmark.lines("milliseconds", x=r"degree (\d+)", label="degree n", logarithmic=True,
                    only=rf", {points} points", title=f"time against the degree, {points} points")
for degree in (31, 319):
    benchmark.lines("milliseconds", x=r"(\d+) points", label="points S", logarithmic=True,
                    only=rf"^degree {degree},", title=f"time against the number of points, degree {degree}")
benchmark.lines("GFLOP/s", x=r"(\d+) points", label="points S", logarithmic=True, only="^degree 319,",
                title="4 instructions a term (or factor): 1e9 a second, degree 319")
for points, degree in ((100_000_000, 319), (1_000_000, 1000)):
    benchmark.headline(f"^degree {degree}, {points} points$", limit="instructions on doubles")
benchmark.main()
