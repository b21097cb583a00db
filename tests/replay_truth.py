#!/usr/bin/env python3
"""Whether replays tell the truth: for every variant of the labs, in a small case, the memory of the last step is, bit by
bit, what the program writes to its file; and nothing has changed without a step that shows it.

    python3 tests/replay_truth.py [LAB]...      all labs without LAB; ends with 1 if a case differs

It builds a program a lab, which takes a minute or two in all; tests/test_replay.py does the same for a few.
"""

from __future__ import annotations

import shlex
import sys
import tempfile
from pathlib import Path

import numpy
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "common"))
from replay import __main__ as command  # noqa: E402

# The arguments of a small case, the ending of the output's name, and the variants.
CASES = {
    "03_vector_add": ("--elements 100", ".npy", "grid_1d_block_1d grid_3d_block_3d grid_stride vectorised"),
    "04_matrix_add": ("--height 9 --width 40", ".npy", "grid_2d_block_2d grid_1d_block_1d grid_2d_block_1d row_stride"),
    "05_rgb_to_gray": ("--height 7 --width 50", ".png", "interleaved planar planar_vectorised vectorised staged"),
    "06_image_flip": ("--height 6 --width 50", ".png", "naive in_place words staged"),
    "07_image_blur": ("--height 12 --width 20 --radius 2", ".png", "naive tiled separable running"),
    "08_convolution": ("--height 12 --width 20", ".npy", "naive constant tiled separable rolling separable_rolling"),
    "09_warp_divergence": ("--elements 300 --rounds 2", ".npy", "short_branch thread_parity warp_parity exchange"),
    "10_synchronization": ("--elements 300", ".npy", "global_atomics shared_tree warp_shuffles vectorised"),
    "10_synchronization histogram": ("--problem histogram --elements 300", ".npy", "global_atomics shared_copy lane_copies"),
    "12_dynamic_parallelism": ("--height 16 --width 32 --limit 20 --tile 16 --smallest 8", ".npy",
                               "direct device_launches device_levels host_levels"),
    "13_matrix_product": ("--size 20", ".npy", "naive coalesced tiled register_tile vectorised"),
    "14_gauss_jordan": ("--n 9", ".npy", "report on_device gauss_jordan tiled"),
    "15_lagrange_interpolation": ("--degree 20 --points 40", ".npy",
                                  "basis phases phases_one_call barycentric product warp_a_point blocked"),
    "16_dfa_minimization": ("random 20 2", "", "horizontal_a vertical_a fold worklist"),
}


def memory_at(reel, step: int | None = None) -> list[bytes]:
    """What the arrays hold after a step, the last one if it is not said, worked out anew from the columns, apart from the page's own script."""
    arrays = reel.head["arrays"]
    memory = [bytearray(array["bytes"]) for array in arrays]
    starts = numpy.concatenate([[0], numpy.cumsum(reel["step_accesses"])])
    blocks, launches = list(reel["block_step"]), list(reel["block_launch"])
    first_of_launch = {launch: blocks[launches.index(launch)] for launch in set(launches)}
    beginnings: dict[int, list] = {}
    at = 0
    for launch, array, offset in zip(reel["beginning_launch"], reel["beginning_array"], reel["beginning_offset"]):
        size = min(256, arrays[array]["bytes"] - offset)
        beginnings.setdefault(launch, []).append((array, offset, bytes(reel["beginning_values"][at:at + size])))
        at += size
    events = sorted((int(starts[first]), launch) for launch, first in first_of_launch.items())
    value = position = 0
    end = len(reel["access_what"]) if step is None else int(starts[step + 1])
    for i in range(end + 1):
        while position < len(events) and events[position][0] <= i:
            for array, offset, data in beginnings.get(events[position][1], ()):
                memory[array][offset:offset + len(data)] = data
            position += 1
        if i == end:
            break
        if reel["access_what"][i]:
            size, offset = reel["access_size"][i], reel["access_offset"][i]
            memory[reel["access_array"][i]][offset:offset + size] = bytes(reel["values"][value:value + size])
            value += size
    return [bytes(one) for one in memory]


def content(path: Path) -> numpy.ndarray:
    """The elements of an array or of a picture, as the device has them."""
    return numpy.load(path) if path.suffix == ".npy" else numpy.asarray(Image.open(path))


def is_in(wanted: numpy.ndarray, memory: bytes) -> bool:
    """Whether an array holds just these elements, row after row, with or without something behind each row."""
    for kind in (wanted.dtype, numpy.dtype("uint32"), numpy.dtype("uint64")):  # a count's own type may be shorter
        if kind != wanted.dtype and (wanted < 0).any() | (wanted != numpy.floor(wanted)).any():
            continue
        rows = wanted.astype(kind).reshape(len(wanted) if wanted.ndim > 1 else 1, -1)
        pitch = len(memory) // len(rows)
        for width in (rows.shape[1] * kind.itemsize, pitch):
            if len(memory) >= width * len(rows) and all(
                    memory[r * width:r * width + rows[r].nbytes] == rows[r].tobytes() for r in range(len(rows))):
                return True
    return False


def film_of(lab: str, words: list[str], *options: str):
    name = lab.split()[0]
    source = ROOT / "solutions" / name / f"{name.partition('_')[2]}.cu"
    if not source.exists():
        source = ROOT / "labs" / name / f"{name.partition('_')[2]}.cu"
    makefile = (ROOT / "labs" / name / "Makefile").read_text()
    flags = "-fopenmp" if "-fopenmp" in makefile else ""
    return command.filmed(command.parse([f"--flags={flags}", *options, str(source), "--", *words]))


def problem_of(lab: str, variant: str) -> str:
    """What is wrong with the film of a case; "" if nothing is."""
    arguments, ending, _ = CASES[lab]
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / f"output{ending}"
        words = [*shlex.split(arguments), "--variant", variant, *(["--output", str(output)] if ending else [])]
        film = film_of(lab, words)
        if film.status:
            return f"the program ended with {film.status}: {film.said[-300:]}"
        if film.reel.head["cut"]:
            return "the film was cut"
        if film.faults:
            return f"a fault was found: {film.faults[0]['sentence']}"
        wanted = content(output) if ending else None
    if wanted is not None and not any(is_in(wanted, memory) for memory in memory_at(film.reel)):
        return f"no array ends as the {wanted.nbytes} bytes of the output ({film.reel.steps} steps)"
    return f"{film.reel.head['unseen']} elements changed unseen" if film.reel.head["unseen"] else ""


def main() -> int:
    wrong = 0
    for lab, (_, _, variants) in CASES.items():
        if sys.argv[1:] and lab.split()[0] not in sys.argv[1:]:
            continue
        for variant in variants.split() or [""]:
            problem = problem_of(lab, variant)
            wrong += bool(problem)
            print(f"{lab} {variant}: {problem or 'true'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
