"""Times to solution, with the data on the device: every variant, cuSOLVER, and OpenBLAS on the host."""

from checker.benchmark import Benchmark

# They walk through the matrix once for each unknown, or run on the host: minutes where n is large.
SLOW = "report,on_device,gauss_jordan,tiled,one_block,openblas"

benchmark = Benchmark(__file__, peers=["cusolver", "openblas"], one_process=True)
for type in ("double", "float"):
    for n in (256, 512, 1024, 2048, 4096, 8192, 16384):
        without = ["--without", SLOW] if n > 2048 else []
        benchmark.run("--type", type, "--n", n, *without,
                      cpu=["--type", type, "--n", max(8, n // 64), "--without", "tensor,refined,refined_team"])
for type in ("double", "float"):
    benchmark.lines("milliseconds", x=r"^(\d+) unknowns", label="unknowns", logarithmic=True,
                    title=f"time to solution, {type}", only=rf"side, {type},")
    benchmark.lines("GFLOP/s", x=r"^(\d+) unknowns", label="unknowns", logarithmic=True,
                    title=f"2/3 n^3 a second, {type}", only=rf"side, {type},")
for n in (1024, 16384):
    benchmark.headline(f"^{n} unknowns, 1 right-hand side, double", f"{n} unknowns, double", limit="double, tensor cores")
benchmark.main()
