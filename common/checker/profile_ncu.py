"""Nsight Compute on a lab's program: `make profile-ncu LAB=07`. Every kernel is run again and again
until all its counters are read; the report opens in ncu-ui, and this is its summary."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass, field

from . import terminal
from .course import shown
from .profiling import (NoProfile, Target, Tool, ask, digits, main, number, reason, record, short_name, table,
                        wrapped)

TOOL = Tool("ncu", "Nsight Compute", "nsight-compute", ("/opt/nvidia/nsight-compute/*/ncu",))
MOST_LAUNCHES = 100  # each costs a second or so
SECTIONS = ("SpeedOfLight", "MemoryWorkloadAnalysis", "Occupancy", "LaunchStats", "WarpStateStats")

TIME = "gpu__time_duration.sum"
DRAM = "dram__bytes.sum.per_second"
DRAM_SHARE = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed"
L1_SHARE = "l1tex__throughput.avg.pct_of_peak_sustained_active"
L2_SHARE = "lts__throughput.avg.pct_of_peak_sustained_elapsed"
SM_SHARE = "sm__throughput.avg.pct_of_peak_sustained_elapsed"
ACHIEVED = "sm__warps_active.avg.pct_of_peak_sustained_active"
POSSIBLE = "sm__maximum_warps_per_active_cycle_pct"
WAVES = "launch__waves_per_multiprocessor"
BRANCHES = "smsp__sass_average_branch_targets_threads_uniform.pct"
LANES = "smsp__thread_inst_executed_per_inst_executed.ratio"
LOAD_SECTORS = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"
STORE_SECTORS = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"
METRICS = (DRAM, BRANCHES, LANES, LOAD_SECTORS, STORE_SECTORS)
STALL = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)(?<!_not_issued)_per_issue_active\.ratio")

# The limit of blocks on a multiprocessor that is the lowest decides.
LIMITS = {"launch__occupancy_limit_registers": "registers", "launch__occupancy_limit_shared_mem": "shared memory",
          "launch__occupancy_limit_warps": "block size", "launch__occupancy_limit_blocks": "blocks",
          "launch__occupancy_limit_barriers": "barriers"}

# Why a warp did not go on, and what to look at.
STALLS = {
    "long_scoreboard": "warps wait for global or local memory: more warps, or more loads of each thread before "
                       "the first is used",
    "short_scoreboard": "warps wait for shared memory or for special functions: look for bank conflicts",
    "barrier": "warps wait at __syncthreads(): shorter stretches between barriers, or smaller blocks",
    "mio_throttle": "the queue to shared memory is full: fewer and wider accesses to it",
    "lg_throttle": "the queue to global memory is full: fewer and wider loads and stores",
    "math_pipe_throttle": "warps wait for an arithmetic unit: fewer or cheaper operations of its kind",
    "wait": "each instruction waits for the one before it: more independent work in a thread",
    "branch_resolving": "warps wait for branches: fewer of them, or longer loop bodies",
    "no_instruction": "warps wait for instructions: a smaller kernel, or fewer paths through it",
    "membar": "warps wait at fences: fewer of them",
    "sleeping": "warps sleep, waiting for others",
}
ADVICE = {
    "DRAM": "move fewer bytes; more arithmetic costs nothing here",
    "the L2 cache": "ask for each byte once: registers, shared memory, whole sectors",
    "the L1 cache and shared memory": "wider accesses, more reuse in registers, no bank conflicts",
}
BUSY = 60  # percent of what a unit can do; from there on it counts as the limit


@dataclass
class Kernel:
    """A kernel of one variant: the slowest of its profiled launches."""

    variant: str
    name: str
    grid: str
    block: str
    figures: dict[str, str] = field(default_factory=dict)
    launches: int = 1

    def get(self, metric: str) -> float | None:
        return number(self.figures.get(metric))

    def share(self, metric: str) -> float:
        return self.get(metric) or 0

    def milliseconds(self) -> float:
        return 1e-6 * (self.get(TIME) or 0)

    def title(self) -> str:
        """The variant, and the kernel where that has another name; template arguments are in the report."""
        plain = self.name.split("<")[0]
        if not self.variant or self.variant.split(" ")[0] == plain:
            return self.variant or plain
        return f"{self.variant}: {plain}"

    def possible(self) -> str:
        """What keeps more warps from a multiprocessor."""
        if self.share(POSSIBLE) >= 100:
            return "-"
        blocks = {word: self.get(metric) for metric, word in LIMITS.items()}
        blocks = {word: limit for word, limit in blocks.items() if limit}
        lowest = min(blocks.values(), default=0)
        return ", ".join(word for word, limit in blocks.items() if limit == lowest) or "-"

    def branches(self) -> str:
        """Where no branch depends on data, Nsight Compute says 0 %."""
        return digits(self.get(BRANCHES) or None, " %")

    def stall(self) -> str:
        """The commonest reason for which warps wait, and what to look at."""
        found = {match[1]: number(value) or 0 for metric, value in self.figures.items()
                 if (match := STALL.fullmatch(metric)) and match[1] in STALLS}
        return STALLS[max(found, key=found.get)] if any(found.values()) else ""

    def verdict(self) -> tuple[float, str]:
        """How busy the busiest unit is, in percent; what limits the kernel, and what to look at next."""
        shares = {"DRAM": self.share(DRAM_SHARE), "the L2 cache": self.share(L2_SHARE),
                  "the L1 cache and shared memory": self.share(L1_SHARE)}
        # Where DRAM is the limit the caches are busy too, on its behalf.
        unit = "DRAM" if shares["DRAM"] >= BUSY else max(shares, key=shares.get)
        compute = self.share(SM_SHARE)
        if shares[unit] >= (BUSY if unit == "DRAM" else max(BUSY, compute)):
            return shares[unit], f"memory. The busiest is {unit}: {ADVICE[unit]}."
        if compute >= BUSY:
            return compute, ("compute. The multiprocessors are the busiest: fewer or cheaper instructions for each "
                             "result.")
        return max(shares[unit], compute), f"latency. Nothing is busy: {self.why_idle()}."

    def why_idle(self) -> str:
        if 0 < self.share(WAVES) < 1:
            return "the grid does not fill the card; more blocks"
        return self.stall() or "the report tells where warps wait"

    def remarks(self) -> list[str]:
        """What else catches the eye, in sentences."""
        found = []
        lanes, loads, stores = self.get(LANES), self.share(LOAD_SECTORS), self.share(STORE_SECTORS)
        if lanes and lanes < 24:
            found.append(f"on average {lanes:.1f} of a warp's 32 threads work: they part ways at branches.")
        if max(loads, stores) > 16:
            found.append(f"a request takes {max(loads, stores):.1f} sectors: neighbouring threads read or write "
                         "far apart.")
        achieved, possible = self.share(ACHIEVED), self.share(POSSIBLE)
        if 0 < possible < 50:
            found.append(f"at most {possible:.0f} % of the warps fit, because of: {self.possible()}.")
        elif 0 < achieved < 0.6 * possible:
            found.append(f"{achieved:.0f} % of the warps are there, {possible:.0f} % would fit: too few blocks, "
                         "or some take longer than others.")
        return found


def variant_of(row: dict[str, str]) -> str:
    """The outermost NVTX range around a launch: "thread  "domain:name:none:..." "domain:inner:..."."""
    for column, text in row.items():
        if column and "Push/Pop_Range" in column and text:
            names = re.findall(r'"(?:<default domain>)?:?([^":]+):', text)
            return names[0] if names else ""
    return ""


def read(text: str) -> list[Kernel]:
    """The kernels of `ncu --import ... --page raw --csv`: a heading, a row of units, a row a launch."""
    lines = text.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    kernels: dict[tuple, Kernel] = {}
    for row in csv.DictReader(lines[start:]):
        if not (row["ID"] or "").isdigit():
            continue  # the units
        kernel = Kernel(variant_of(row), short_name(row["Kernel Name"]), row["Grid Size"], row["Block Size"], row)
        known = kernels.setdefault((kernel.variant, kernel.name, kernel.block), kernel)
        if known is not kernel:
            known.launches += 1
            if kernel.milliseconds() > known.milliseconds():
                known.figures, known.grid = kernel.figures, kernel.grid
    return list(kernels.values())


def summary(kernels: list[Kernel]) -> str:
    rows = [["kernel", "launches", "ms", "GB/s", "of peak", "compute", "occupancy", "limited by", "branches",
             "sectors"]]
    for kernel in kernels:
        rows.append([kernel.title(), str(kernel.launches), digits(kernel.milliseconds(), places=4),
                     digits(1e-9 * kernel.share(DRAM), places=0), digits(kernel.get(DRAM_SHARE), " %", 0),
                     digits(kernel.get(SM_SHARE), " %", 0),
                     f"{digits(kernel.get(ACHIEVED), places=0)} / {digits(kernel.get(POSSIBLE), ' %', 0)}",
                     kernel.possible(), kernel.branches(),
                     f"{digits(kernel.get(LOAD_SECTORS), places=1)} / {digits(kernel.get(STORE_SECTORS), places=1)}"])
    said: dict[str, list[str]] = {}  # what is said of several kernels is said once
    for kernel in kernels:
        busy, sentence = kernel.verdict()
        said.setdefault(sentence, []).append(f"{kernel.title()} ({busy:.0f} %)")
    for kernel in kernels:
        for remark in kernel.remarks():
            said.setdefault(remark, []).append(kernel.title())
    lines = [wrapped(f"{', '.join(titles)}: {sentence}", "- ", "  ") for sentence, titles in said.items()]
    return "\n".join([table(rows), "", "What limits them, how busy that is, and what to look at next:", *lines])


def peak(kernels: list[Kernel]) -> str:
    """The bandwidth of DRAM at which a share of it is 100 %."""
    found = [1e-9 * kernel.share(DRAM) / (0.01 * kernel.share(DRAM_SHARE)) for kernel in kernels
             if kernel.share(DRAM_SHARE) > 1]
    return f", peak of DRAM {max(found):.0f} GB/s" if found else ""


def profile(ncu: str, target: Target) -> None:
    report = target.report("ncu-rep")
    report.unlink(missing_ok=True)
    log = record(TOOL, [
        ncu, "--force-overwrite", "--export", str(report), "--nvtx", "--nvtx-exclude", "timing/",
        "--clock-control", "none", "--launch-count", str(MOST_LAUNCHES),
        *(word for section in SECTIONS for word in ("--section", section)), "--metrics", ",".join(METRICS)], target)
    if not report.exists():
        raise reason(TOOL, log, target)
    answer = ask([ncu, "--import", str(report), "--page", "raw", "--csv", "--print-units", "base"])
    kernels = read(answer.stdout)
    if not kernels:
        raise NoProfile(f"{TOOL.product} cannot read its own report {shown(report)}: "
                        f"{terminal.one_line(answer.stderr or answer.stdout)[-300:] or 'it is empty'}")
    launches = sum(kernel.launches for kernel in kernels)
    print(f"{TOOL.product}, {launches} launch{'es' if launches > 1 else ''}, the slowest of each kind"
          f"{peak(kernels)}\n")
    print(summary(kernels))
    if launches >= MOST_LAUNCHES:
        print(f"\nOnly the first {MOST_LAUNCHES} launches were profiled: ARGS=\"--variant NAME\" chooses others.")
    print(f"\nmeaning of the columns: docs/profiling.md\nreport: {shown(report)} (ncu-ui opens it)")


if __name__ == "__main__":
    main("profile-ncu", TOOL, profile)
