"""Times of the matrix product: every variant, cuBLAS, and OpenBLAS on the host, in double and float."""

from checker.benchmark import Benchmark

# (m, k, n): squares, and two that are none: a tall one, and one whose result is small
SHAPES = [(1000,) * 3, (1024,) * 3, (2048,) * 3, (4096,) * 3, (8192,) * 3, (10000,) * 3,
          (32768, 512, 2048), (1024, 16384, 1024)]


def too_slow(products: int) -> list[str]:
    """What would take minutes where the others take none; `products` are the multiplications of a run."""
    limits = {"naive": 1 << 34, "coalesced": 1 << 34, "tiled": 1 << 37, "openblas": 1 << 37}
    return [name for name, most in limits.items() if products > most]


benchmark = Benchmark(__file__, peers=["cublas", "openblas"], one_process=True)
for type in ("double", "float", "half"):
    for m, k, n in SHAPES[:-2] if type == "half" else SHAPES:
        slow = too_slow(m * k * n) + (["openblas"] if type == "half" else [])
        without = ["--without", ",".join(slow)] if slow else []
        small = ["--m", m // 64, "--k", k // 64, "--n", n // 64]
        benchmark.run("--type", type, "--m", m, "--k", k, "--n", n, *without, cpu=["--type", type, *small])
benchmark.bars("GFLOP/s", title="double", only=r", double$")
benchmark.bars("GFLOP/s", title="float", only=r", float$")
benchmark.bars("GFLOP/s", title="half", only=r", half$")
for type in ("double", "float", "half"):
    benchmark.lines("GFLOP/s", x=r"^(\d+) x \1 by \1 x \1,", label="order of the matrices", logarithmic=True,
                    title=f"squares, {type}", only=rf"^(\d+) x \1 by \1 x \1, {type}$")
for type, limit in (("double", "double, tensor cores"), ("float", "float")):
    benchmark.headline(f"^8192 x 8192 by .*, {type}$", f"8192 x 8192 by 8192 x 8192, {type}", limit=limit)
benchmark.main()
