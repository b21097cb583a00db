"""The moments that the labs are about, a page each:  python3 -m replay.moments [--cxx COMPILER] [NN]...

`make replays` calls this. A moment with a change is that of the worked solution with a mistake in it, which the page shows.
"""

from __future__ import annotations

import argparse
import html
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from checker.exercises import flags_of
from checker.failure import Failure
from checker.job import interruptible

from . import page
from .__main__ import filmed, parse

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "build" / "replays"


@dataclass(frozen=True)
class Moment:
    lab: str
    name: str  # of the page
    title: str
    arguments: str
    task: str  # what to predict before one looks
    change: tuple[str, str] | None = None  # what the mistake replaces in the solution, and by what
    file: str = ""  # where, if not in the solution's .cu
    order: str = ""
    kernel: str = ""
    at: str = ""  # the address at which the index opens it
    picture: str = ""  # the address of the handout's picture: what gives no answer away


MOMENTS = [
    Moment("03_vector_add", "03_tail", "The last block without its bounds test", "--elements 40 --block 32 --variant grid_1d_block_1d",
           "40 elements, blocks of 32 threads. Which threads of the second block touch what is not theirs, and at which step of theirs?",
           ("    if (i < count) sum[i] = a[i] + b[i];", "    sum[i] = a[i] + b[i];"), at="step=0&thread=8",
           picture="step=3&thread=8"),
    Moment("04_matrix_add", "04_neighbours", "Who stands beside whom: a block of 4 x 8", "--height 8 --width 32 --block 4x8 --variant grid_2d_block_2d",
           "Blocks are 4 wide and 8 high. How many sectors of 32 bytes does the first warp's load of a ask for? Then look at a by sectors.",
           picture="step=4&thread=5"),
    Moment("05_rgb_to_gray", "05_three_bytes", "Three bytes a pixel", "--height 2 --width 32 --variant interleaved",
           "A warp reads the red bytes of 32 pixels: how many bytes lie between two lanes, and how many sectors is that?",
           picture="step=40"),
    Moment("06_image_flip", "06_backwards", "A row backwards", "--height 2 --width 32 --direction horizontal --variant naive",
           "Lane 0 writes the first byte of the row. Which byte does it read, and does reading backwards cost more sectors?",
           picture="step=52"),
    Moment("07_image_blur", "07_halo", "The halo of a tile", "--height 8 --width 40 --radius 2 --variant tiled",
           "How many elements does thread 0 load into the shared tile, when its block needs a rim of two pixels?",
           picture="step=225"),
    Moment("08_convolution", "08_halo", "A filter's rim", "--height 8 --width 40 --variant tiled",
           "Which threads load twice before the barrier, and which element of the tile does lane 0 read first after it?",
           picture="step=105"),
    Moment("09_warp_divergence", "09_branch", "A branch, and lanes that wait", "--elements 64 --block 64 --rounds 2 --variant thread_parity",
           "Even lanes go one way, odd lanes the other. Where do the odd lanes stand while the even ones run, and where do they meet again?",
           picture="step=11&thread=1"),
    Moment("10_synchronization", "10_race", "A tree without its barrier", "--elements 256 --variant shared_tree",
           "The barrier in the loop is gone, and warps take turns at random. At which stride is the first sum wrong, and who reads an "
           "element before it is complete?", ("        __syncthreads();\n        if (threadIdx.x < stride) part", "        if (threadIdx.x < stride) part"),
           order="random:7",
           picture="step=78"),
    Moment("10_synchronization", "10_repair", "The tree with its barrier", "--elements 256 --variant shared_tree",
           "The same in the same order, repaired. How many barriers open, and what do warps 1 to 7 do after the third?", order="random:7"),
    Moment("11_occupancy", "11_walk", "A walk through memory", "--walkers 64 --rows 64 --steps 4 --values 64",
           "Each lane follows links through memory: what must have arrived before its next load can begin?", kernel="walk",
           picture="step=73"),
    Moment("12_dynamic_parallelism", "12_tail", "A tail launch", "--part streams",
           "A parent launches two children, one that nobody waits for, and a tail. In which order do they run?",
           picture="step=10"),
    Moment("13_matrix_product", "13_two_tiles", "Two tiles of the product", "--size 32 --type float --variant tiled",
           "Each thread reads a row of one tile and a column of the other. Which of the two reads needs one wavefront, and why the other as well?",
           picture="step=105"),
    Moment("13_matrix_product", "13_transposed", "A transposed tile's banks", "--m 16 --n 16 --k 8 --type float --variant vectorised",
           "The tile of a lies transposed, and its rows are 128 floats long now, without the 4 that the solution adds. Lanes 0 and 1 share a "
           "row of a. Into which banks do they store their first elements, and how many wavefronts does the warp's store take?",
           ("int a_padding = Vector<T>::width", "int a_padding = 0"), file="given/tiles.h", at="step=169&thread=0&laid=3"),
    Moment("16_dfa_minimization", "16_sort", "A counting sort", "random 12 2 --variant horizontal_a",
           "Where does the counting sort put the first element of thread 0: which count does it read, and which place does it write?",
           kernel="by_value",
           picture="step=162"),
    Moment("19_prefix_sum", "19_one_copy", "Hillis and Steele with one copy", "--elements 256 --data ones --variant hillis_steele",
           "Each step reads and writes the same copy, and warps take turns at random. At which distance is a sum wrong first, and which two "
           "threads have met?", ("        now = 1 - now;\n", ""), order="random:7"),
    Moment("19_prefix_sum", "19_tree", "Down Blelloch's tree", "--elements 256 --data ones --variant blelloch",
           "Which thread works in the first step down, and which element gets the sum of the block's first 128?",
           picture="step=297&thread=1"),
]


def made(moment: Moment, cxx: str) -> Path:
    """Writes the page of a moment."""
    name = moment.lab.partition("_")[2] + ".cu"
    folders = [Path(os.path.relpath(ROOT / kind / moment.lab)) for kind in ("solutions", "labs")]
    source, flags = folders[0] / name, flags_of(folders[1])["LAB_CXX_FLAGS"]
    if moment.change:
        # The way to the course may have spaces, at which flags are split: so it is from here.
        flags += "".join(f" -I{folder} -I{(folder / moment.file).parent}" for folder in folders)
        source = PAGES / "sources" / moment.name / name
        for file in {name, moment.file or name}:
            text = next(folder / file for folder in folders if (folder / file).exists()).read_text(encoding="utf-8")
            if file == (moment.file or name):
                if moment.change[0] not in text:
                    raise Failure(f"{file} of lab {moment.lab} has not what the mistake of {moment.name} replaces")
                text = text.replace(*moment.change, 1)
            (source.parent / file).parent.mkdir(parents=True, exist_ok=True)
            (source.parent / file).write_text(text, encoding="utf-8")
    os.environ["CUDA_CPU_ORDER"] = moment.order
    options = parse(["--cxx", cxx, f"--flags={flags}", "--kernel", moment.kernel, str(source), "--", *moment.arguments.split()])
    film = filmed(options)
    if not film.reel.steps:
        raise Failure(f"the program of {moment.name} ran no kernel: {film.said.strip()}")
    path = PAGES / f"{moment.name}.html"
    page.write(film, path, f"{moment.lab[:2]}: {moment.title}", moment.task)
    return path


def index() -> str:
    """The page that leads to the others."""
    rows = "\n".join(f'<li><a href="{m.name}.html{"#" + m.at if m.at else ""}">{html.escape(m.lab[:2] + ": " + m.title)}</a><br>{html.escape(m.task)}</li>'
                     for m in MOMENTS if (PAGES / f"{m.name}.html").exists())
    return ('<!DOCTYPE html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            "<title>Replays</title><style>:root{color-scheme:light dark}body{font:1.1rem/1.5 system-ui;max-width:46rem;margin:2rem auto;padding:0 1rem}"
            "li{margin:.6rem 0;list-style:none}ul{padding:0}a{font-weight:600}</style><h1>Replays</h1><p>Predict first, then watch: P on a page "
            f"asks before each step, ? lists the keys.</p><ul>{rows}</ul></html>\n")


def main() -> int:
    parser = argparse.ArgumentParser(prog="make replays", description="The moments that the labs are about, a page each.")
    parser.add_argument("--cxx", default="g++", help=argparse.SUPPRESS)
    parser.add_argument("labs", nargs="*", metavar="NN", help="only those of these labs")
    options = parser.parse_args()
    if unknown := set(options.labs) - {moment.lab[:2] for moment in MOMENTS}:
        parser.error(f"there is no moment of lab {', '.join(sorted(unknown))}")
    PAGES.mkdir(parents=True, exist_ok=True)
    status = 0
    for moment in MOMENTS:
        if options.labs and moment.lab[:2] not in options.labs:
            continue
        try:
            print(f"{made(moment, options.cxx).relative_to(ROOT)}: {moment.title}", flush=True)
        except Failure as failure:
            print(f"make replays: {moment.name}: {failure}", file=sys.stderr)
            status = 1
    (PAGES / "index.html").write_text(index(), encoding="utf-8")
    print(f"all of them: {PAGES.relative_to(ROOT) / 'index.html'}")
    return status


if __name__ == "__main__":
    sys.exit(interruptible("replays", main))
