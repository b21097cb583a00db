"""How many threads of each kernel store anything in global memory: in the lab's small case, in a build that looks at each
access. So a teacher sees where one thread does the work of all, or the host does. It takes no points.
"""

from __future__ import annotations

import json
import math
import subprocess
import time
from pathlib import Path

from . import record as records
from .grade_build import Tools, base_environment, run_tool
from .grade_collect import Refused, Work, main_file, read_plainly
from .grade_confine import Confinement, here

Storing = dict[str, list[int]]  # kernel -> of how many threads, how many store: the launch of the most that do


def storing(root: Path, folder: Path, work: Work, tools: Tools, confinement: Confinement, seconds: int) -> Storing:
    """Of a work that grade_build.compile_work has laid out and compiled in its folder; nothing where it cannot be found out.
    No run begins after so many seconds, and none takes longer."""
    program = folder / "program" / f"{work.lab}-watched"
    command = tools.command(root, Path("labs", work.lab, main_file(work.lab)), program, watched=True)
    status, _ = run_tool(root, folder, confinement, tools, command)
    if status != 0 or not program.is_file():
        return {}
    found: Storing = {}
    begun = time.monotonic()
    for number, arguments in enumerate(tools.small):
        if time.monotonic() > begun + seconds:
            break
        place = folder / "watched" / str(number)
        place.mkdir(parents=True)
        for kernel, most in counts(recorded(root, place, program, arguments, confinement, seconds)).items():
            found[kernel] = max(found.get(kernel, most), most, key=lambda one: one[1])
    return found


def recorded(root: Path, place: Path, program: Path, arguments: list[str], confinement: Confinement, seconds: int) -> dict | None:
    """What a run has written down, in a folder of its own."""
    words = here(confinement.of_program([program, root / "data"], place.parent, seconds), place)
    words[2:2] = ["--seconds", str(seconds)]
    subprocess.run([*words, str(program), *arguments], cwd=place, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, check=False,
                   env={**base_environment(), "CUDA_CPU_RECORD": records.FILE, "CUDA_CPU_THREADS": "1"})
    try:
        return json.loads(read_plainly(place, (records.FILE,)))
    except (OSError, Refused, ValueError, RecursionError):
        return None


def counts(record: dict | None) -> Storing:
    """What a program has made of its record may be anything."""
    found: Storing = {}
    try:
        for one in record["launches"] if record else []:
            kernel, threads = records.shown(str(one["kernel"])[:200]), math.prod([*one["grid"], *one["block"]])
            if isinstance(one["storing"], int) and isinstance(threads, int):
                found[kernel] = max(found.get(kernel, [0, -1]), [threads, one["storing"]], key=lambda pair: pair[1])
    except (KeyError, TypeError, ValueError, OverflowError):
        return {}
    return found


def in_words(found: Storing, usual: Storing) -> str:
    """For the table: the kernels of which far fewer threads store than in the worked solution, and those that it has not."""
    few = [f"{kernel} {stored} of {threads}" + (f", the worked solution {usual[kernel][1]}" if kernel in usual else "")
           for kernel, (threads, stored) in found.items() if 2 * stored < usual.get(kernel, [0, 2 * stored + 1])[1]]
    if not found or not usual:
        return ""
    return f"threads that store, in a small case: {'; '.join(few) or 'as many as in the worked solution'}"
