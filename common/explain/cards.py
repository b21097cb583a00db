"""A dozen cards, with the figures of their makers' data sheets, and what they say of a kernel's time.

GB/s of memory; TFLOP/s of float and of double, without tensor cores, at the boost clock. Where a sheet
leaves double out, it is the share of float that the architecture's white paper gives.
"""

from typing import NamedTuple


class Card(NamedTuple):
    name: str
    bandwidth: float  # GB/s
    single: float     # TFLOP/s
    double: float
    source: str


CARDS = {
    "T4": Card("Tesla T4", 320, 8.1, 8.1 / 32, "NVIDIA T4 data sheet; Turing white paper (1/32)"),
    "V100": Card("Tesla V100 SXM2", 900, 15.7, 7.8, "NVIDIA V100 data sheet"),
    "RTX2080TI": Card("GeForce RTX 2080 Ti", 616, 13.4, 13.4 / 32, "NVIDIA Turing white paper"),
    "RTX3060": Card("GeForce RTX 3060", 360, 12.7, 12.7 / 64, "NVIDIA GeForce RTX 3060 specifications"),
    "RTX3090": Card("GeForce RTX 3090", 936, 35.6, 35.6 / 64, "NVIDIA Ampere GA102 white paper"),
    "A10": Card("A10", 600, 31.2, 31.2 / 64, "NVIDIA A10 data sheet; GA102 white paper (1/64)"),
    "A100": Card("A100 SXM 40 GB", 1555, 19.5, 9.7, "NVIDIA A100 data sheet"),
    "A100-80": Card("A100 SXM 80 GB", 2039, 19.5, 9.7, "NVIDIA A100 data sheet"),
    "L4": Card("L4", 300, 30.3, 30.3 / 64, "NVIDIA L4 data sheet; Ada white paper (1/64)"),
    "L40S": Card("L40S", 864, 91.6, 91.6 / 64, "NVIDIA L40S data sheet; Ada white paper (1/64)"),
    "RTX4060LAPTOP": Card("GeForce RTX 4060 Laptop", 256, 11.6, 11.6 / 64,
                          "NVIDIA GeForce laptop specifications, at 1890 MHz; Ada white paper (1/64)"),
    "RTX4090": Card("GeForce RTX 4090", 1008, 82.6, 82.6 / 64, "NVIDIA Ada white paper"),
    "H100PCIE": Card("H100 PCIe", 2000, 51, 26, "NVIDIA H100 data sheet"),
    "H100": Card("H100 SXM", 3350, 67, 34, "NVIDIA H100 data sheet"),
    "H200": Card("H200 SXM", 4800, 67, 34, "NVIDIA H200 data sheet"),
}


def find(name: str) -> Card:
    """A card by its name, however it is written; raises ValueError with the names that there are."""
    key = name.upper().replace(" ", "").replace("_", "")
    for known, card in CARDS.items():
        if key in (known, known.replace("-", "")):
            return card
    raise ValueError(f"there is no card {name}; the cards are {', '.join(CARDS)}")


def roofline(card: Card, bytes_moved: float, operations: float, double: bool) -> tuple[float, str]:
    """The least time in microseconds, and what sets it: memory or arithmetic."""
    memory = bytes_moved / (card.bandwidth * 1e3)
    arithmetic = operations / ((card.double if double else card.single) * 1e6)
    return max(memory, arithmetic), "memory" if memory >= arithmetic else "arithmetic"
