"""Times of the report's six instances: serial, OpenMP, the counting sorts and the fast refinements."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from checker.benchmark import Benchmark

HOST = "moore_radix,moore_hash,openmp_sections,openmp_split,openmp_unfolded,openmp_sort"
REPORT = "horizontal_a,horizontal_b,horizontal_c,vertical_a,vertical_b,vertical_c,bottom_up"
FAST = "fold,signature,retire,persistent,radix_sort,worklist,adaptive"
# family, n, m, variants: what takes minutes where the others take seconds is left out
INSTANCES = [
    ("best-case", 2_000_000, 30, HOST, REPORT),
    ("worst-case", 5000, 20, "hopcroft," + HOST, "horizontal_a,vertical_a,bottom_up"),
    ("random", 2_000_000, 30, "hopcroft," + HOST, REPORT),
    ("best-case", 20_000_000, 2, HOST, REPORT),
    ("worst-case", 15_000, 2, "hopcroft," + HOST, "horizontal_a,vertical_a,bottom_up"),
    ("random", 20_000_000, 2, HOST, REPORT),
]
IN_CPU_MODE = ("moore_radix,moore_hash,hopcroft", "horizontal_a,bottom_up", "fold,signature,retire,worklist")

benchmark = Benchmark(__file__)
for family, n, m, *groups in INSTANCES:
    small = ["--input", family, "--n", 20 if family == "worst-case" else 300, "--m", min(m, 3)]
    for variants, few in zip([*groups, FAST], IN_CPU_MODE):
        benchmark.run("--input", family, "--n", n, "--m", m, "--variant", variants, cpu=[*small, "--variant", few])
for family in ("best-case", "worst-case", "random"):
    benchmark.bars("milliseconds", only=f"^{family}:", title=family)
benchmark.main()
