"""What Nsight Compute counts on a card: the figures of `make explain`, a kernel at a time."""

import csv
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

# What is asked of ncu. A metric that its version or the card does not know is left out.
METRICS = """
l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio
l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum
l1tex__t_requests_pipe_lsu_mem_global_op_red.sum
l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum
l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum
l1tex__t_requests_pipe_lsu_mem_local_op_st.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum
smsp__inst_executed_op_shared_ld.sum
smsp__inst_executed_op_shared_st.sum
smsp__sass_average_branch_targets_threads_uniform.pct
smsp__sass_branch_targets.sum
smsp__sass_branch_targets_threads_divergent.sum
smsp__thread_inst_executed_per_inst_executed.ratio
smsp__inst_executed.sum
""".split()


class NoCounters(Exception):
    """Why ncu counts nothing here, in a sentence."""


def profile(program: Path, arguments: list[str], first_only: bool = False, ncu: str = "ncu",
            metrics: list[str] | None = None) -> list[dict]:
    """Runs a program under ncu: a row a launch, with kernel, grid, block and metrics by name."""
    metrics = METRICS if metrics is None else metrics
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log"
        words = [ncu, "--csv", "--page", "raw", "--print-units", "base", "--clock-control", "none",
                 "--target-processes", "application-only", "--log-file", log, "--metrics", ",".join(metrics)]
        words += ["--kernel-id", ":::1"] if first_only else []
        try:
            result = subprocess.run([*map(str, words), str(program), *arguments], stdout=subprocess.PIPE,
                                    stderr=subprocess.STDOUT, text=True, errors="replace")
        except FileNotFoundError:
            raise NoCounters("ncu is not installed: it comes with the CUDA Toolkit, or as the package "
                             "cuda-nsight-compute; PATH must name its folder.") from None
        text = log.read_text(errors="replace") if log.exists() else ""
    rows = parse(text)
    if rows:
        return rows
    said = text + result.stdout
    if "ERR_NVGPUCTRPERM" in said:
        raise NoCounters("the driver lets only administrators read the card's counters (ERR_NVGPUCTRPERM): run as "
                         "root, or have the option NVreg_RestrictProfilingToAdminUsers=0 set for the nvidia module.")
    unknown = [name for name in metrics if re.search(rf"(?:find|access|nvalid).*{re.escape(name)}", said)]
    if unknown:
        return profile(program, arguments, first_only, ncu, [name for name in metrics if name not in unknown])
    errors = [line for line in said.splitlines() if line.startswith(("==ERROR==", "==WARNING=="))]
    if "No kernels were profiled" in said and not any("ERROR" in line for line in errors):
        return []
    raise NoCounters("ncu counted nothing: " + (" ".join(errors) or said[-500:] or "it said nothing"))


def parse(text: str) -> list[dict]:
    """The rows of ncu --csv --page raw: a heading, the units, then a line a launch."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    table = list(csv.reader(lines))
    if len(table) < 3:
        return []
    heading, rows = table[0], []
    for line in table[2:]:
        cells = dict(zip(heading, line))
        rows.append({"kernel": cells["Kernel Name"], "grid": shape(cells["Grid Size"]),
                     "block": shape(cells["Block Size"]),
                     "metrics": {name: number(cells[name]) for name in heading if name in METRICS}})
    return rows


def shape(text: str) -> list[int]:
    """(256, 1, 1)"""
    return [int(word) for word in re.findall(r"\d+", text)]


def number(text: str) -> float | None:
    """1,234.5; nothing where ncu has none."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def table(rows: Iterable[dict]) -> Iterator[str]:
    """The kernels' figures, under the names that `make explain` has without a card."""
    for row in rows:
        metric = row["metrics"].get
        grid, block = ("x".join(map(str, row[name])) for name in ("grid", "block"))
        yield f"{row['kernel']}: grid {grid}, block {block}; its first launch, counted by ncu"
        yield f"  {'access':14}  {'requests':>10}  {'each takes':>10}  unit"
        for words, kind in (("load global", "global_op_ld"), ("store global", "global_op_st"),
                            ("load local", "local_op_ld"), ("store local", "local_op_st")):
            requests = metric(f"l1tex__t_requests_pipe_lsu_mem_{kind}.sum") or 0
            sectors = metric(f"l1tex__t_sectors_pipe_lsu_mem_{kind}.sum")
            each = f"{sectors / requests:10.2f}" if requests and sectors is not None else f"{'':10}"
            if requests:
                yield f"  {words:14}  {requests:10.0f}  {each}  sectors"
        for words, kind in (("load shared", "ld"), ("store shared", "st")):
            requests = metric(f"smsp__inst_executed_op_shared_{kind}.sum") or 0
            wavefronts = metric(f"l1tex__data_pipe_lsu_wavefronts_mem_shared_op_{kind}.sum") or 0
            conflicts = metric(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{kind}.sum") or 0
            if requests:
                yield f"  {words:14}  {requests:10.0f}  {wavefronts / requests:10.2f}  wavefronts, {conflicts:.0f} extra"
        uniform = metric("smsp__sass_average_branch_targets_threads_uniform.pct")
        lanes = metric("smsp__thread_inst_executed_per_inst_executed.ratio")
        words = ["no branch" if not uniform else f"{uniform:.1f} % of branches uniform"]
        yield "  " + ", ".join(words + ([f"{lanes:.1f} of 32 lanes active"] if lanes is not None else []))
        yield ""
