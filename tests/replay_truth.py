#!/usr/bin/env python3
"""Whether replays tell the truth: for every variant of the labs, in a small case, the memory of the last step is, bit by
bit, what the program writes to its file; and nothing has changed without a step that shows it.

    python3 tests/replay_truth.py [--explain] [LAB]...      all labs without LAB; ends with 1 if a case differs

With --explain also whether each element that a thread reads and writes is one that it does in make explain, and the other way
round. There the program is optimised, so how often says nothing, and a read whose value nobody needs is gone.

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
from checker import sanitize  # noqa: E402
from explain.record import Record  # noqa: E402
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
    "16_dfa_minimization": ("random 20 2", "", "horizontal_a horizontal_c vertical_b bottom_up fold signature"),
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


def touched_in_film(film) -> dict[str, set]:
    """By kernel: (writes, shared, block, thread, word) of every access."""
    reel, found = film.reel, {}
    steps = numpy.repeat(numpy.arange(reel.steps), reel["step_accesses"])
    blocks = numpy.searchsorted(reel["block_step"], steps, side="right") - 1
    for i, block in enumerate(blocks):
        kernel = reel.head["launches"][reel["block_launch"][block]]["kernel"].partition("<")[0]
        array, offset = reel.head["arrays"][reel["access_array"][i]], reel["access_offset"][i]
        for word in range(offset // 4, (offset + reel["access_size"][i] - 1) // 4 + 1):
            found.setdefault(kernel, set()).add((reel["access_what"][i] > 0, bool(array["shared"]), reel["block_number"][block],
                                                 reel["access_thread"][i], word))
    return found


def touched_in_explain(film, lab: str) -> dict[str, set]:
    """The same of the build that make explain looks at; of each kernel the launches that it draws."""
    flags = "-fopenmp" if "-fopenmp" in (ROOT / "labs" / lab.split()[0] / "Makefile").read_text() else ""
    program = sanitize.built_for_cpu("accesses", command.parse([f"--flags={flags}", str(film.source)]))
    record, found = Record.of_run(program, film.arguments, {"CUDA_CPU_TOUCHES": "10000000"}), {}
    for launch in record.launches:
        for _, what, space, _, _, size, block, _, first, lanes in launch.touches:
            for lane, offset in lanes:
                for word in range(offset // 4, (offset + size - 1) // 4 + 1):
                    found.setdefault(launch.kernel.partition("<")[0], set()).add((what > 0, space == 1, block, first + lane, word))
    return found


def difference(lab: str, variant: str) -> str:
    """What only one of both has."""
    arguments, _, _ = CASES[lab]
    film = film_of(lab, [*shlex.split(arguments), "--variant", variant])
    ours, theirs = touched_in_film(film), touched_in_explain(film, lab)
    said = []
    for kernel in ours.keys() & theirs.keys():
        only_ours, only_theirs = ours[kernel] - theirs[kernel], theirs[kernel] - ours[kernel]
        if only_ours or only_theirs:
            said.append(f"{kernel}: of {len(ours[kernel])} {len(only_ours)} only in the film, {len(only_theirs)} only in explain, "
                        f"{sorted(only_ours | only_theirs)[:2]}")
    return "; ".join(said) or ("" if ours.keys() & theirs.keys() else f"no kernel in both: {list(ours)}, {list(theirs)}")


def main() -> int:
    wrong, labs = 0, [word for word in sys.argv[1:] if word != "--explain"]
    for lab, (_, _, variants) in CASES.items():
        if labs and lab.split()[0] not in labs:
            continue
        for variant in variants.split() or [""]:
            problem = problem_of(lab, variant) or ("--explain" in sys.argv and difference(lab, variant)) or ""
            wrong += bool(problem)
            print(f"{lab} {variant}: {problem or 'true'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
