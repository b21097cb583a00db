#!/usr/bin/env python3
"""Compares what `make explain` counts on the CPU with what ncu counts on a card.

    python3 tests/explain_against_ncu.py --ours FILE     builds and runs the CPU's side; no card needed
    python3 tests/explain_against_ncu.py --ncu FILE      builds and runs the card's side, under ncu
    python3 tests/explain_against_ncu.py --table OURS NCU
        writes docs/explain-against-ncu.csv and the tables in docs/explain-against-ncu.md, where each
        difference has its reason (explain_reasons.py); 1 if one has none

Every kernel of every worked solution that uses no tensor core takes part, with its first launch of a
small case. `--labs 03 13` restricts the first two. Both print as they go, and what they have so far is in
FILE after each case.
"""

import argparse
import csv
import io
import json
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "common"))
from checker.results import with_body  # noqa: E402
from explain.ncu import profile  # noqa: E402
from explain.record import Record  # noqa: E402
from explain_reasons import REASONS  # noqa: E402

# What is compared: small cases, one after the other.
CASES = {
    "01_hello_world": [[]],
    "02_device_query": [[]],
    "03_vector_add": [["--elements", "100000"]],
    "04_matrix_add": [["--height", "300", "--width", "200"]],
    "05_rgb_to_gray": [["--height", "256", "--width", "250"]],
    "06_image_flip": [["--height", "256", "--width", "250", "--direction", "horizontal"],
                      ["--height", "256", "--width", "250", "--direction", "both"]],
    "07_image_blur": [["--height", "128", "--width", "120", "--radius", "3"]],
    "08_convolution": [["--height", "128", "--width", "120"]],
    "09_warp_divergence": [["--elements", "8192", "--rounds", "16",
                            "--variant", "short_branch,thread_parity,warp_parity,exchange"],
                           ["--elements", "8192", "--rounds", "16", "--variant", "by_thread,by_warp",
                            "--paths", "8"]],
    "10_synchronization": [["--elements", "100000"],
                           ["--problem", "histogram", "--elements", "100000"]],
    "11_occupancy": [["--values", "4096", "--steps", "16", "--walkers", "256", "--rows", "4096"]],
    "12_dynamic_parallelism": [["--height", "128", "--width", "128", "--limit", "100"]],
    "13_matrix_product": [["--size", "96", "--type", type, "--variant", variant]
                          for type in ("float", "double")
                          for variant in ("naive", "coalesced", "tiled", "register_tile", "vectorised",
                                          "warp_tile")],
    "14_gauss_jordan": [["--n", "96", "--variant", variant]
                        for variant in ("report", "on_device", "gauss_jordan", "tiled", "one_block")],
    "15_lagrange_interpolation": [["--degree", "31", "--points", "1000"]],
    "16_dfa_minimization": [["random", "300", "2", "--variant", variant]
                            for variant in ("horizontal_a", "horizontal_b", "horizontal_c", "vertical_a",
                                            "vertical_b", "vertical_c", "bottom_up", "fold", "signature",
                                            "retire", "worklist", "adaptive")],
}

DEVICE = "h100"  # what the CPU plays: the shapes of some grids follow from the card
NOTHING_TO_COUNT = ("01_hello_world", "02_device_query")
TENSOR = re.compile(r"tensor|wmma|mma_|dmma")
# What is compared: the name, the figure of ours, the metrics of ncu.
FIGURES = {
    "sectors a load": ("load_sectors", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"),
    "sectors a store": ("store_sectors", "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"),
    "load requests": ("load_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"),
    "store requests": ("store_requests", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"),
    "bank conflicts, loads": ("load_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"),
    "bank conflicts, stores": ("store_conflicts", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"),
    "branch efficiency": ("branch_efficiency", "smsp__sass_average_branch_targets_threads_uniform.pct"),
    "active lanes": ("active_lanes", "smsp__thread_inst_executed_per_inst_executed.ratio"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    wish = parser.add_mutually_exclusive_group(required=True)
    wish.add_argument("--ours", metavar="FILE", type=Path)
    wish.add_argument("--ncu", metavar="FILE", type=Path)
    wish.add_argument("--table", metavar=("OURS", "NCU"), nargs=2, type=Path)
    parser.add_argument("--labs", nargs="+", default=[""], help="beginnings of labs' names")
    parser.add_argument("--seconds", type=float, default=440, help="start no further case after this time")
    options = parser.parse_args()
    if options.table:
        return write_table(*options.table)
    labs = [lab for lab in CASES if lab.startswith(tuple(options.labs)) and lab not in NOTHING_TO_COUNT]
    return measure(labs, options.ours or options.ncu, on_card=options.ncu is not None, seconds=options.seconds)


# Both sides


def measure(labs: list[str], target: Path, on_card: bool, seconds: float) -> int:
    """Builds the labs, then runs their cases one after the other; what a case gave is written at once."""
    start, backend = time.monotonic(), "gpu" if on_card else "cpu"
    with ThreadPoolExecutor(os.cpu_count() if on_card else 1) as pool:
        built = dict(zip(labs, pool.map(lambda lab: build(lab, backend), labs)))
    print(f"built in {time.monotonic() - start:.0f} s", flush=True)
    found: dict = {"machine": card_name() if on_card else "CPU mode", "cases": {}}
    for lab in labs:
        for arguments in CASES[lab] if built[lab] else []:
            words = " ".join([lab, *arguments])
            if time.monotonic() - start > seconds:
                print(f"not run, there is no time left: {words}", flush=True)
                continue
            before = time.monotonic()
            try:
                launches = run_ncu(lab, arguments) if on_card else run_ours(lab, arguments)
            except Exception as error:  # one case must not cost the others
                print(f"{words}: {error}", flush=True)
                continue
            found["cases"][words] = launches
            target.write_text(json.dumps(found, indent=1))
            print(f"{words}: {len(launches)} kernels, {time.monotonic() - before:.1f} s", flush=True)
    return 0 if all(built.values()) else 1


def build(lab: str, backend: str) -> bool:
    words = ["make", "-s", "-C", f"labs/{lab}", "build", "SOLUTION=1", f"LAB={lab}", "FROM_TOP=1",
             f"BACKEND={backend}", "explain=explain", "FURTHER=1"]
    result = subprocess.run(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if result.returncode != 0:
        print(f"does not build: {lab}\n{result.stdout[-2000:]}", flush=True)
    return result.returncode == 0


def program_of(lab: str, flavour: str) -> Path:
    """What build() has made."""
    further = "-further" if (ROOT / "labs" / lab / "further").is_dir() else ""
    return ROOT / "build" / f"{flavour}{further}" / "solutions" / lab / lab[3:]


def card_name() -> str:
    words = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
    return subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.split("\n")[0]


def run_ours(lab: str, arguments: list[str]) -> list[dict]:
    """The first launch of each kernel and shape, with our figures."""
    program = program_of(lab, "cpu-explain")
    # On one core, so that a second run counts the same.
    settings = {"CUDA_CPU_DEVICE": DEVICE, "CUDA_CPU_EVENTS": "1000000000", "CUDA_CPU_THREADS": "1"}
    record = Record.of_run(program, arguments, settings)
    found: dict = {}
    for launch in record.launches:
        key = (launch.kernel, tuple(launch.grid), tuple(launch.block))
        if launch.recorded and not TENSOR.search(launch.kernel) and key not in found:
            found[key] = {"kernel": launch.kernel, "grid": launch.grid, "block": launch.block,
                          **launch.figures()}
    return list(found.values())


def run_ncu(lab: str, arguments: list[str]) -> list[dict]:
    """The first launch of each kernel, with ncu's figures."""
    program = program_of(lab, "gpu")
    return [row for row in profile(program, arguments, first_only=True) if not TENSOR.search(row["kernel"])]


# The table


def base_name(kernel: str) -> str:
    """void blur<4>(const float *) and blur<4> are blur."""
    name = re.sub(r"^(void|static) ", "", kernel).replace("(anonymous namespace)::", "")
    name = re.sub(r"<unnamed>::", "", name)
    return re.split(r"[<(]", name)[0].split("::")[-1].strip()


def pairs(ours: dict, ncu: dict):
    """Ours and ncu's figures of each kernel that both have, with the case's words."""
    for words, launches in ncu["cases"].items():
        left = list(ours["cases"].get(words, []))
        for theirs in launches:
            key = (base_name(theirs["kernel"]), theirs["grid"], theirs["block"])
            same = [one for one in left if (base_name(one["kernel"]), one["grid"], one["block"]) == key]
            if same:
                left.remove(same[0])
            yield words, theirs, same[0] if same else None


def theirs_of(theirs: dict, metric: str) -> float | None:
    """ncu's figure; its branch efficiency is 0 where there is no branch."""
    if metric.startswith("smsp__sass_average_branch") and not theirs["metrics"].get("smsp__sass_branch_targets.sum"):
        return None
    return theirs["metrics"].get(metric)


def agree(name: str, ours: float | None, theirs: float | None) -> bool | None:
    """Whether two figures agree; None when a side has none: no branch, say."""
    if ours is None or theirs is None:
        return None
    if name.startswith("sectors"):
        return abs(ours - theirs) <= 0.005 * max(theirs, 1)
    if name == "branch efficiency":
        return abs(ours - theirs) <= 5
    return abs(ours - theirs) <= max(0.05 * theirs, 2 if "conflicts" in name else 0)


def reason_of(kernel: str, figure: str) -> int | None:
    """The number of the reason why a figure of "13 warp_tile" differs, from 1 on."""
    for number, (kernels, figures, _) in enumerate(REASONS, 1):
        if re.fullmatch(kernels, kernel) and re.search(figures, figure):
            return number
    return None


def write_table(ours_path: Path, ncu_path: Path) -> int:
    ours, ncu = json.loads(ours_path.read_text()), json.loads(ncu_path.read_text())
    rows: list[list] = []
    lines: dict[tuple, int] = {}  # of the page, with how often each came
    tally = {name: [0, 0] for name in FIGURES}
    uses = [0] * len(REASONS)
    nameless = []
    for words, theirs, mine in pairs(ours, ncu):
        kernel = f"{words[:2]} {base_name(theirs['kernel'])}"
        cells = []
        for name, a, b, verdict in compared(theirs, mine):
            number = reason_of(kernel, name) if verdict is False else None
            rows.append([words, theirs["kernel"], "x".join(map(str, theirs["grid"])), "x".join(map(str, theirs["block"])),
                         name, a, b, {True: "agrees", False: "differs", None: "-"}[verdict],
                         REASONS[number - 1][2] if number else ""])
            if verdict is not None:
                tally[name][0] += verdict
                tally[name][1] += 1
            if number:
                uses[number - 1] += 1
            elif verdict is False:
                nameless.append(f"{kernel}, {name}: {a} and {b}")
            cells.append(cell(a, b, verdict, number))
        if mine:
            lines[(kernel, *cells)] = lines.get((kernel, *cells), 0) + 1
    with open(ROOT / "docs/explain-against-ncu.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["case", "kernel", "grid", "block", "figure", "explain", "ncu", "verdict", "reason"])
        writer.writerows(rows)
    page = ROOT / "docs/explain-against-ncu.md"
    page.write_text(with_body(page, body(ncu["machine"], tally, lines, uses), "<!-- table:begin -->\n", "<!-- table:end -->\n"))
    for name, (same, of) in tally.items():
        print(f"{name}: {same} of {of} agree")
    for (kernels, figures, _), count in zip(REASONS, uses):
        if not count:
            print(f"nothing needs the reason for {kernels}, {figures}")
    print(*nameless, f"{sum(uses) + len(nameless)} differences, {len(nameless)} without a reason", sep="\n")
    return 1 if nameless else 0


def compared(theirs: dict, mine: dict | None):
    """Each figure's name, ours, ncu's, and whether they agree."""
    for name, (figure, metric) in FIGURES.items():
        a, b = mine.get(figure) if mine else None, theirs_of(theirs, metric)
        if mine and name.startswith("sectors") and not mine[figure.replace("sectors", "requests")]:
            a = 0.0  # no request at all, for which ncu's ratio is 0
        yield name, a, b, agree(name, a, b)


def body(machine: str, tally: dict, lines: dict[tuple, int], uses: list[int]) -> str:
    """The tables of the page, and the reasons."""
    text = io.StringIO()
    print(f"Card: {machine}. {sum(lines.values())} first launches of kernels. A cell shows what `make explain` counts; "
          "where ncu counts otherwise, its figure follows in bold, with the number of the reason below.\n", file=text)
    print("| figure | agree | of | differences with a reason |\n|---|---:|---:|---:|", file=text)
    for name, (same, of) in tally.items():
        print(f"| {name} | {same} | {of} | {of - same} |", file=text)
    print("\n| kernel | " + " | ".join(FIGURES) + " |\n|---|" + "---:|" * len(FIGURES), file=text)
    for (kernel, *cells), count in lines.items():
        lab, name = kernel.split()
        print(f"| {lab} `{name}`{f' ({count} times)' if count > 1 else ''} | " + " | ".join(cells) + " |", file=text)
    print("\n## Where they differ, and why\n\nLooked up in the machine code of the kernels (`cuobjdump -sass`, for compute "
          "capability 9.0), and in ncu's counters.\n\n| | cells | reason |\n|---:|---:|---|", file=text)
    for number, ((_, _, sentence), count) in enumerate(zip(REASONS, uses), 1):
        if count:
            print(f"| {number} | {count} | {sentence} |", file=text)
    return text.getvalue()


def cell(ours: float | None, theirs: float | None, verdict: bool | None, reason: int | None) -> str:
    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.4g}" if value < 1e4 else f"{value:.0f}"
    return number(ours) if verdict in (True, None) else f"{number(ours)} **{number(theirs)}** ({reason or '?'})"


if __name__ == "__main__":
    sys.exit(main())
