"""Strong and weak scaling of the plate, and times of the sums and the product, by the number of cards."""

import subprocess
from checker.benchmark import Benchmark


def cards_here() -> int:
    """How many cards nvidia-smi lists; CPU mode pretends four."""
    try:
        listed = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True, check=False, timeout=30).stdout
    except (OSError, subprocess.TimeoutExpired):
        return 4
    return listed.count("GPU ") or 4


HEAT, SUM, PRODUCT = "heat_one,heat_waiting,heat_reading,heat", "sum_through_first,sum_ring,sum_nccl", "product_one,product"
COUNTS = [count for count in (1, 2, 4, 8) if count <= cards_here()]
benchmark = Benchmark(__file__)
for count in COUNTS:
    benchmark.run("--variant", HEAT, "--devices", count, cpu=("--variant", HEAT, "--devices", count, "--steps", 2))
    benchmark.run("--variant", HEAT, "--devices", count, "--height", 4096 * count, "--width", 8191,
                  cpu=("--variant", HEAT, "--devices", count, "--height", 50 * count, "--width", 95))
    benchmark.run("--variant", SUM, "--devices", count, cpu=("--variant", SUM, "--devices", count, "--numbers", 1000))
    benchmark.run("--variant", PRODUCT, "--devices", count, cpu=("--variant", PRODUCT, "--devices", count, "--size", 32))
WIDE = r"plate of \d+ x (8192|96),"
LEVEL = r"plate of \d+ x (8191|95),"
benchmark.lines("milliseconds", x=r"(\d+) cards", label="cards", logarithmic=True, only=WIDE, title="strong scaling: one plate, more cards")
benchmark.lines("milliseconds", x=r"(\d+) cards", label="cards", logarithmic=True, only=LEVEL, title="weak scaling: a plate that grows with the cards")
benchmark.lines("milliseconds", x=r"(\d+) cards", label="cards", logarithmic=True, only="numbers a card", title="a sum over all cards")
benchmark.headline("plate of 8192 x 8192.* 2 cards", "20 steps of a plate of 8192 x 8192 on two cards", limit="", against=["heat_one"])
benchmark.main()
