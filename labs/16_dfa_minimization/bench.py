"""Times of the report's six instances: serial, OpenMP, the counting sorts and the fast refinements."""

from checker.benchmark import Benchmark

SERIAL = ["moore_radix", "moore_hash"]
TIMETABLES = ["openmp_sections", "openmp_split"]
REPORT = ["vertical_a", "vertical_b", "vertical_c", "bottom_up"]
HORIZONTAL = ["horizontal_a", "horizontal_b", "horizontal_c"]
FAST = ["fold", "signature", "retire", "persistent", "worklist", "adaptive"]
A30, B20, C30 = ("best-case", 2_000_000, 30), ("worst-case", 5000, 20), ("random", 2_000_000, 30)
A2, B2, C2 = ("best-case", 20_000_000, 2), ("worst-case", 15_000, 2), ("random", 20_000_000, 2)
# Of each run the variants, and the cores that it takes; those of a group run at the same time. The timetables have work
# for four threads at most: while the card does a worst case, one small kernel after the other for half a minute, they
# and the serial programs have their turn. Those that have all cores are judged by openmp_sort, which they run anyway: the
# serial reference would be a fifth of their time. Left out is what takes half a minute or more where others take seconds.
GROUPS = [
    [(C2, SERIAL, 1), (C2, ["openmp_split"], 4), (B20, ["hopcroft", "moore_hash"], 1), (B20, ["openmp_sections"], 4),
     (C30, [*SERIAL, *TIMETABLES], 4), (B2, ["hopcroft", "moore_radix"], 1), (B20, ["vertical_a", *FAST], 1)],
    [(A30, [*SERIAL, *TIMETABLES], 4), (A2, [*SERIAL, *TIMETABLES], 4), (B2, ["moore_hash"], 1),
     (B2, ["openmp_unfolded"], 4), (B2, ["horizontal_a", "signature", "persistent", "worklist", "adaptive"], 1)],
    *[[(automaton, ["openmp_sort", *variants, *REPORT, *FAST], 16)]
      for automaton, variants in ((A30, HORIZONTAL), (C30, []), (A2, HORIZONTAL), (C2, []))],
]
IN_CPU_MODE = ["horizontal_a", "bottom_up", "fold", "signature", "retire", "persistent", "worklist"]

benchmark = Benchmark(__file__)
for group in GROUPS:
    for place, ((family, n, m), variants, cores) in enumerate(group):
        together = len(group) > 1
        small = ["--input", family, "--n", 20 if family == "worst-case" else 300, "--m", min(m, 3)]
        benchmark.run("--input", family, "--n", n, "--m", m, "--variant", ",".join(variants), *(["--threads", 4] if together else ["--reference", "openmp_sort"]),
                      cpu=[*small, "--variant", ",".join(variants if together else IN_CPU_MODE)], beside=place > 0, cores=cores)
for family in ("best-case", "worst-case", "random"):
    benchmark.bars("milliseconds", only=f"^{family}:", title=family, logarithmic=True)
for instance, words in (("best-case: 6000000 ", "A_2000000,30"), ("best-case: 60000000 ", "A_20000000,2"),
                        ("worst-case: 15000 ", "B_5000,20"), ("worst-case: 45000 ", "B_15000,2"),
                        ("random: 2000000 ", "C_2000000,30"), ("random: 20000000 ", "C_20000000,2")):
    benchmark.headline(f"^{instance}", words, limit="", against=["hopcroft", "moore_hash", "openmp_sort"])
benchmark.main()
