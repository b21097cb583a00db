"""Nsight Systems on a lab's program: `make profile-nsys LAB=07`. It notes when each kernel, copy and
CUDA call begins and ends; the report opens in nsys-ui as a time line, and this is its summary."""

from __future__ import annotations

import csv
import re
from pathlib import Path

from . import terminal
from .course import shown
from .profiling import (NoProfile, Target, Tool, ask, digits, main, number, reason, record, short_name, table,
                        wrapped)

TOOL = Tool("nsys", "Nsight Systems", "nsight-systems", ("/opt/nvidia/nsight-systems/*/bin/nsys",))
# The names of the reports now, and until 2022.
REPORTS = ("cuda_gpu_kern_sum", "cuda_gpu_mem_time_sum", "cuda_gpu_mem_size_sum", "cuda_api_sum", "nvtx_pushpop_sum")
OLD_REPORTS = ("gpukernsum", "gpumemtimesum", "gpumemsizesum", "cudaapisum", "nvtxppsum")
BYTES = {"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
COPIES = {"htod": "upload", "hosttodevice": "upload", "dtoh": "download", "devicetohost": "download",
          "dtod": "within the device", "devicetodevice": "within the device", "memset": "memset"}
MOST_ROWS = 12

Rows = list[dict[str, str]]


def tables_of(text: str) -> list[Rows]:
    """The tables in what `nsys stats --format csv` prints: a heading, then rows up to an empty line."""
    found = []
    for block in re.split(r"\n\s*\n", text):
        lines = block.splitlines()
        start = next((i for i, line in enumerate(lines) if line.count(",") >= 4 and "(" in line
                      and line.split(",")[0].split(" ")[0] in ("Time", "Total")), None)
        if start is not None:
            found.append(list(csv.DictReader(lines[start:])))
    return found


def table_with(tables: list[Rows], column: str, other: str) -> Rows:
    """The table that has these columns."""
    return next((rows for rows in tables if rows and column in rows[0] and other in rows[0]), [])


def milliseconds(row: dict[str, str]) -> float:
    return 1e-6 * (number(row.get("Total Time (ns)")) or 0)


def in_bytes(row: dict[str, str]) -> float:
    """The column `Total (MB)`, whatever its unit."""
    for column, text in row.items():
        if column and (match := re.fullmatch(r"Total \((\w+)\)", column)):
            return BYTES.get(match[1], 0) * (number(text) or 0)
    return 0


def direction(operation: str) -> str:
    letters = re.sub(r"[^a-z]", "", operation.lower())
    return next((word for sign, word in COPIES.items() if sign in letters), operation)


def shortened(rows: list[list[str]], left: int = 1) -> str:
    """A table of the first rows, which are the ones that take longest."""
    rest = len(rows) - 1 - MOST_ROWS
    return table(rows[:MOST_ROWS + 1], left) + (f"\n... and {rest} more" if rest > 0 else "")


def kernels_table(rows: Rows) -> str:
    whole = sum(milliseconds(row) for row in rows) or 1
    return shortened([["kernel", "launches", "ms in all", "share", "median us"]] + [
        [short_name(row["Name"]), row["Instances"], digits(milliseconds(row), places=3),
         digits(100 * milliseconds(row) / whole, " %", 1),
         digits(1e-3 * (number(row.get("Med (ns)") or row.get("Avg (ns)")) or 0), places=1)] for row in rows])


def copies_table(times: Rows, sizes: Rows) -> str:
    bytes_of = {row["Operation"]: in_bytes(row) for row in sizes}
    lines = [["copy", "count", "MB", "ms in all", "GB/s"]]
    for row in times:
        size, time = bytes_of.get(row["Operation"], 0), milliseconds(row)
        lines.append([direction(row["Operation"]), row["Count"], digits(1e-6 * size, places=1), digits(time, places=3),
                      digits(1e-6 * size / time if time and size else None, places=1)])
    return shortened(lines)


def calls_table(rows: Rows) -> str:
    return shortened([["CUDA call", "calls", "ms in all", "median us"]] + [
        [re.sub(r"_v\d+$", "", row["Name"]), row["Num Calls"], digits(milliseconds(row), places=3),
         digits(1e-3 * (number(row.get("Med (ns)") or row.get("Avg (ns)")) or 0), places=1)] for row in rows])


def ranges_table(rows: Rows) -> str:
    return shortened([["range", "count", "ms in all"]] + [
        [row["Range"].removeprefix(":"), row["Instances"], digits(milliseconds(row), places=3)] for row in rows])


def conclusion(kernels: Rows, copies: Rows, ranges: Rows) -> str:
    """What takes the time, and what to look at next."""
    time = {name: sum(milliseconds(row) for row in rows) for name, rows in (("kernels", kernels), ("copies", copies))}
    across = sum(milliseconds(row) for row in copies if direction(row["Operation"]) in ("upload", "download"))
    words = [f"Kernels keep the card busy for {time['kernels']:.2f} ms, copies and memsets for "
             f"{time['copies']:.2f} ms, {across:.2f} ms of it between host and device."]
    if any(row["Range"].removeprefix(":") == "timing" for row in ranges):
        words.append("Most launches are repetitions for the lab's table, inside the range `timing`.")
    if across > time["kernels"]:
        words.append("The way to the device costs more than the work on it: copy less, keep data there, use pinned "
                     "memory, or copy while a kernel runs.")
    else:
        words.append("The kernels cost most: make profile-ncu says what limits them.")
    return " ".join(words)


def summary(tables: list[Rows]) -> str:
    kernels = table_with(tables, "Name", "Instances")
    times = table_with(tables, "Operation", "Total Time (ns)")
    sizes = next((rows for rows in tables if rows and in_bytes(rows[0])), [])
    calls, ranges = table_with(tables, "Name", "Num Calls"), table_with(tables, "Range", "Instances")
    parts = [("Kernels", kernels_table(kernels) if kernels else ""),
             ("Copies", copies_table(times, sizes) if times else ""),
             ("Time on the host in CUDA calls", calls_table(calls) if calls else ""),
             ("NVTX ranges, time on the host; a range holds those inside it", ranges_table(ranges) if ranges else "")]
    text = "\n\n".join(f"{title}\n\n{body}" for title, body in parts if body)
    return f"{text}\n\n{wrapped(conclusion(kernels, times, ranges))}" if kernels or times else text


def statistics(nsys: str, report: Path) -> list[Rows]:
    """What `nsys stats` makes of a report, by the names of today or the old ones."""
    for names in (REPORTS, OLD_REPORTS):
        answer = ask([nsys, "stats", "--force-export=true", "--format", "csv",
                      *(word for name in names for word in ("--report", name)), str(report)])
        tables = tables_of(answer.stdout)
        if any(tables):
            return tables
    raise NoProfile(f"{TOOL.product} finds neither kernels nor ranges in its own report {shown(report)}: "
                    f"{terminal.one_line(answer.stderr or answer.stdout)[-300:] or 'it says nothing'}")


def profile(nsys: str, target: Target) -> None:
    report, stream = target.report("nsys-rep"), target.report("qdstrm")
    for old in (report, stream, target.report("sqlite")):
        old.unlink(missing_ok=True)
    log = record(TOOL, [nsys, "profile", "--trace=cuda,nvtx", "--sample=none", "--cpuctxsw=none",
                        "--force-overwrite=true", "--output", str(report.with_suffix(""))], target)
    if not report.exists() and stream.exists():
        raise NoProfile(f"{TOOL.product} has recorded the run in {shown(stream)}, but cannot make a report of it: its "
                        "importer, QdstrmImporter, is not installed beside it or does not start. An installation of "
                        "the whole of Nsight Systems, here or elsewhere, opens that file; NSYS=/path/to/nsys names "
                        "another nsys.")
    if not report.exists():
        raise reason(TOOL, log, target)
    print(f"{summary(statistics(nsys, report))}\n\nmeaning of the columns: docs/profiling.md\n"
          f"report: {shown(report)} (nsys-ui opens it)")


if __name__ == "__main__":
    main("profile-nsys", TOOL, profile)
