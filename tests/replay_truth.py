#!/usr/bin/env python3
"""Whether replays tell the truth: for every variant of the labs, in a small case,

- the memory of the last step is, bit by bit, what the program writes to its file, and nothing has changed without a step
  that shows it;
- the accesses are those of make explain: who reads, writes or updates which bytes of which array, in which line.

    python3 tests/replay_truth.py [LAB]...      all labs without LAB; ends with 1 if a case differs

It builds two programs a lab, with the variants of further/, which takes some minutes in all; tests/test_replay.py does the same for a few.
"""

from __future__ import annotations

import collections
import re
import shlex
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy
from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests")]
import farm  # noqa: E402
from checker import sanitize  # noqa: E402
from explain import record  # noqa: E402
from replay import __main__ as command  # noqa: E402

# What is known of a program is found once for all of its runs.
command.Information, record.Places = cache(command.Information), cache(record.Places)

# The arguments of a small case, the ending of the output's name, and which variants it is for (all; - is a run without --variant).
CASES = [
    ("01_hello_world", "", "", "-"),
    ("03_vector_add", "--elements 100", ".npy", ""),
    ("04_matrix_add", "--height 9 --width 40", ".npy", ""),
    ("05_rgb_to_gray", "--height 7 --width 50", ".png", ""),
    ("06_image_flip", "--height 6 --width 50", ".png", ""),
    ("07_image_blur", "--height 12 --width 20 --radius 2", ".png", ""),
    ("08_convolution", "--height 12 --width 20", ".npy", ""),
    ("09_warp_divergence", "--elements 300 --rounds 2", ".npy", "short_branch thread_parity warp_parity exchange"),
    ("09_warp_divergence", "--elements 300 --rounds 2 --paths 4", ".npy", "by_thread by_warp"),
    ("10_synchronization", "--elements 300", ".npy", "global_atomics shared_tree warp_shuffles vectorised two_stages"),
    ("10_synchronization", "--problem histogram --elements 300", ".npy", "global_atomics shared_copy lane_copies warp_copies"),
    ("10_synchronization", "--demo lost_update --repaired --elements 64", "", "-"),
    ("10_synchronization", "--demo missing_barrier --repaired --elements 64", "", "-"),
    ("11_occupancy", "--walkers 64 --rows 64 --steps 4", "", "walk_1 walk_4"),
    ("11_occupancy", "--values 64 --steps 4", "", "square_1 square_4 square_64 square_64_half square_64_full"),
    ("12_dynamic_parallelism", "--height 16 --width 32 --limit 20 --tile 16 --smallest 8", ".npy", ""),
    ("12_dynamic_parallelism", "--part hello --blocks 2", "", "-"),
    ("12_dynamic_parallelism", "--part streams", "", "-"),
    ("13_matrix_product", "--size 20", ".npy", ""),
    ("14_gauss_jordan", "--n 9", ".npy", ""),
    ("15_lagrange_interpolation", "--degree 20 --points 40", ".npy", ""),
    ("16_dfa_minimization", "random 20 2", "", "horizontal_a horizontal_b horizontal_c vertical_a vertical_b vertical_c bottom_up fold "
     "signature retire persistent"),
    ("16_dfa_minimization", "random 140 2", "", "worklist adaptive"),
    ("19_prefix_sum", "--elements 600", ".npy", "hillis_steele blelloch warp_shuffles look_back compact look_back_wide compact_one_pass radix_pass"),
]
# CPU mode plays asynchronous copies by copies of its own, of which make explain sees the first half.
PLAYED = "/async_copy.h"
# Kernels that load what they do not need in this case, which an optimised program leaves out.
UNNEEDED = {"sum_values", "scan_look_back"}
# Kernels with one store in both branches, which an optimised program has once, in either line.
JOINED = {"exchange"}
# Kernels whose threads look at what others update meanwhile. What they access depends on the order, and in the film lanes go together.
UNORDERED = {"note_lowest", "refine_until_stable", "group_step"}


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
    """Whether an array holds just these elements, row after row, with or without something beside each row."""
    for kind in (wanted.dtype, numpy.dtype("uint32"), numpy.dtype("uint64")):  # a count's own type may be shorter
        if kind != wanted.dtype and (wanted < 0).any() | (wanted != numpy.floor(wanted)).any():
            continue
        whole = wanted.astype(kind).reshape(1, -1)
        for rows in (whole, whole.reshape(len(wanted), -1)):
            for pitch in {rows.shape[1], len(memory) // kind.itemsize // len(rows) if len(rows) > 1 else 0}:
                if pitch * rows.size > 0 and pitch >= rows.shape[1] and pitch * len(rows) * kind.itemsize <= len(memory):
                    held = numpy.frombuffer(memory, kind, pitch * len(rows)).reshape(len(rows), pitch)
                    if any(held[:, at:at + rows.shape[1]].tobytes() == rows.tobytes() for at in range(pitch - rows.shape[1] + 1)):
                        return True
    return False


def options_of(lab: str, *words: str):
    """For a run of a lab's solution; with the variants of further/."""
    source = farm.solution_file(lab, farm.source_name(lab))
    return command.parse(["--events", "10000000", f"--flags={farm.lab_flags(lab, 'cpu', True)}", str(source), "--", *words])


def variants_of(lab: str, wanted: str = "") -> list[str]:
    """Those that the program names, or of these the wanted ones."""
    if wanted == "-":
        return [""]
    said = subprocess.run([sanitize.built_for_cpu("replay", options_of(lab)), "--help"], capture_output=True, text=True).stdout
    found = re.search(r"which to run: ([\w, \n]*) \(all\)", said)
    return [name for name in found[1].replace(",", " ").split() if name in wanted.split() or not wanted and name != "cpu"]


def problem_of(film, output: Path | None) -> str:
    """What is wrong with the memory of a film; "" if nothing is."""
    if film.status:
        return f"the program ended with {film.status}: {film.said[-300:]}"
    if film.reel.head["cut"]:
        return "the film was cut"
    if film.faults:
        return f"a fault was found: {film.faults[0]['sentence']}"
    if film.reel.head["unseen"]:
        return f"{film.reel.head['unseen']} elements changed unseen"
    wanted = content(output) if output else None
    if wanted is not None and not any(is_in(wanted, memory) for memory in memory_at(film.reel)):
        return f"no array ends as the {wanted.nbytes} bytes of the output ({film.reel.steps} steps)"
    return ""


def accesses_of_film(film) -> dict[tuple, collections.Counter]:
    """By launch (kernel, grid, block, how many of these came before): how often a thread accesses four bytes, as
    (line, kind, space, name, the array's bytes, block, thread, offset)."""
    reel, found, launches, seen = film.reel, {}, [], collections.Counter()
    for launch in reel.head["launches"]:
        shape = (launch["kernel"].partition("<")[0], launch["line"], *launch["grid"], *launch["block"])
        launches.append((*shape, seen[shape]))
        seen[shape] += 1
        found[launches[-1]] = collections.Counter()
    steps = numpy.repeat(numpy.arange(reel.steps), reel["step_accesses"])
    blocks = numpy.searchsorted(reel["block_step"], steps, side="right") - 1
    for i, block in enumerate(blocks):
        array, offset, place = reel.head["arrays"][reel["access_array"][i]], reel["access_offset"][i], reel["access_place"][i]
        launch = reel["block_launch"][block]
        name = "" if reel.head["launches"][launch]["shared"] else array["name"]  # explain knows that of dynamic shared memory, too
        _, file, line = film.information.places[place - 1] if place else (0, "", 0)
        if file.endswith(PLAYED):
            continue
        for word in range(offset // 4, (offset + reel["access_size"][i] - 1) // 4 + 1):
            found[launches[launch]][line, ("load", "store", "atomic")[reel["access_what"][i]], array["space"], name, array["bytes"],
                                    reel["block_number"][block], reel["access_thread"][i], word] += 1
    return found


def accesses_of_explain(film) -> dict[tuple, collections.Counter]:
    """The same of the build that make explain looks at; of launches that are alike, of the first."""
    options = command.parse([f"--flags={film.flags}", str(film.source)])
    run, found = record.Record.of_run(sanitize.built_for_cpu("accesses", options), film.arguments, {"CUDA_CPU_TOUCHES": "10000000"}), {}
    seen = collections.Counter()
    for launch in run.launches:
        shape = (launch.kernel.partition("<")[0], launch.line, *launch.grid, *launch.block)
        if launch.touches:
            counts = found[(*shape, seen[shape])] = collections.Counter()
        seen[shape] += 1
        for place, what, space, name, array, size, block, _, first, lanes in launch.touches:
            if run.places[place].file.endswith(PLAYED):
                continue
            name = name if record.SPACE[space] == "shared" and not launch.dynamic_shared else ""
            for lane, offset in lanes:
                for word in range(offset // 4, (offset + size - 1) // 4 + 1):
                    counts[run.places[place].line, ("load", "store", "atomic")[what], record.SPACE[space], name, array, block, first + lane, word] += 1
    return found


def difference(film) -> str:
    """What only one of both has.

    The program that make explain looks at is optimised. It loads a value once that two lines of a thread load, in either of them, or
    in the function that got it, and not what the thread itself has stored before; so loads are compared without their lines, and
    there may be fewer. All else is the same.
    """
    ours, theirs = accesses_of_film(film), accesses_of_explain(film)
    said = [f"{launch[0]} is not in the film" for launch in theirs if launch not in ours]
    for launch in ours.keys() & theirs.keys():
        if launch[0] in UNORDERED:
            continue
        film_has, explain_has = (by_use(counts[launch], launch[0] in JOINED) for counts in (ours, theirs))
        stored = {access[2:] for access in film_has if access[1] != "load"}
        wrong = {access for access in film_has | explain_has if film_has[access] < explain_has[access] or film_has[access] > explain_has[access]
                 and (access[1] != "load" or not explain_has[access] and access[2:] not in stored and launch[0] not in UNNEEDED)}
        if wrong:
            said.append(f"{launch[0]}: {len(wrong)} of {len(film_has)} accesses differ, as "
                        f"{[(*access, film_has[access], explain_has[access]) for access in sorted(wrong, key=str)[:2]]}")
    return "; ".join(said) or ("" if theirs or not any(ours.values()) else "explain has no accesses")


def by_use(counts: collections.Counter, joined: bool) -> collections.Counter:
    """Loads without their lines; stores, too, where they are joined."""
    found = collections.Counter()
    for (line, kind, *where), count in counts.items():
        found[(None if kind == "load" or joined else line, kind, *where)] += count
    return found


def lie_of(lab: str, arguments: str, ending: str, variant: str, folder: Path) -> str:
    """What is wrong with the film of a case; "" if nothing is."""
    output = folder / f"output{ending}" if ending else None
    words = shlex.split(arguments) + (["--variant", variant] if variant else []) + (["--output", str(output)] if output else [])
    film = command.filmed(options_of(lab, *words))
    return problem_of(film, output) or difference(film)


def main() -> int:
    wrong, labs = 0, sys.argv[1:]
    for lab, arguments, ending, wanted in CASES:
        if labs and lab not in labs:
            continue
        for variant in variants_of(lab, wanted):
            with tempfile.TemporaryDirectory() as folder:
                lie = lie_of(lab, arguments, ending, variant, Path(folder))
            wrong += bool(lie)
            print(f"{lab} {variant}: {lie or 'true'}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
