"""Times of a step from each kind of memory, by the size of the field, and of a round between host and device, by its steps."""

from checker.benchmark import Benchmark

benchmark = Benchmark(__file__)
STEPS = "structures,arrays,constant,texture,shared,field_in_constant,field_in_shared,together"
ROUNDS = "pageable,pinned,mapped,managed,prefetched,advised"
for cells in (64, 1024, 8192):
    benchmark.run("--variant", STEPS, "--cells", cells, cpu=("--variant", STEPS, "--cells", cells, "--rotors", 5000))
for steps in (2, 10, 50):
    benchmark.run("--variant", ROUNDS, "--steps", steps, "--rounds", 1, "--rotors", "1Mi",
                  cpu=("--variant", ROUNDS, "--steps", steps, "--rounds", 1, "--rotors", 5000))
benchmark.lines("milliseconds", x=r"(\d+) cells", label="cells of the field", logarithmic=True, only="^(?!1048576).*, 2 steps", title="two steps, on the device")
benchmark.lines("milliseconds", x=r"(\d+) steps", label="steps of a round", logarithmic=True, only="^1048576 rotors", title="a round, from host to host")
benchmark.headline("^4194304 rotors.* 8192 cells, 2 steps", "two steps of 4 Mi rotors", limit="", against=["structures"])
benchmark.main()
