"""Times of the report's six instances: serial, OpenMP, the counting sorts and the fast refinements."""

from checker.benchmark import Benchmark

SERIAL = ["moore_radix", "moore_hash"]
REPORT = ["vertical_a", "vertical_b", "vertical_c", "bottom_up"]
HORIZONTAL = ["horizontal_a", "horizontal_b", "horizontal_c"]
FAST = ["fold", "signature", "retire", "persistent", "worklist", "adaptive"]
# family, n, m, variants, and those that run beside them: in the worst cases what takes long on few cores, with an
# automaton that fits into a cache; only the last of them uses the card. Left out is what takes half a minute or more where others take seconds.
INSTANCES = [
    ("best-case", 2_000_000, 30, [*SERIAL, "openmp_sections", "openmp_split", "openmp_sort", *HORIZONTAL, *REPORT, *FAST]),
    ("worst-case", 5000, 20, ["hopcroft"], ["moore_hash"], ["openmp_sections"], ["vertical_a", *FAST]),
    ("random", 2_000_000, 30, [*SERIAL, "openmp_sections", "openmp_split", "openmp_sort", *REPORT, *FAST]),
    ("best-case", 20_000_000, 2, [*SERIAL, "openmp_sections", "openmp_split", "openmp_sort", *HORIZONTAL, *REPORT, *FAST]),
    ("worst-case", 15_000, 2, ["hopcroft", "moore_radix"], ["moore_hash"], ["openmp_unfolded"],
     ["horizontal_a", "signature", "persistent", "worklist", "adaptive"]),
    ("random", 20_000_000, 2, [*SERIAL, "openmp_split", "openmp_sort", *REPORT, *FAST]),
]
IN_CPU_MODE = [*SERIAL, "hopcroft", "horizontal_a", "bottom_up", "fold", "signature", "retire", "persistent", "worklist"]

benchmark = Benchmark(__file__)
for family, n, m, *parts in INSTANCES:
    small = ["--input", family, "--n", 20 if family == "worst-case" else 300, "--m", min(m, 3)]
    for variants in parts:
        benchmark.run("--input", family, "--n", n, "--m", m, "--variant", ",".join(variants), beside=variants is not parts[0],
                      cpu=[*small, "--variant", ",".join(variants if len(parts) > 1 else IN_CPU_MODE)])
for family in ("best-case", "worst-case", "random"):
    benchmark.bars("milliseconds", only=f"^{family}:", title=family, logarithmic=True)
for instance, words in (("best-case: 6000000 ", "A_2000000,30"), ("best-case: 60000000 ", "A_20000000,2"),
                        ("worst-case: 15000 ", "B_5000,20"), ("worst-case: 45000 ", "B_15000,2"),
                        ("random: 2000000 ", "C_2000000,30"), ("random: 20000000 ", "C_20000000,2")):
    benchmark.headline(f"^{instance}", words, limit="", against=["hopcroft", "moore_hash", "openmp_sort"])
benchmark.main()
