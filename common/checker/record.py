"""What a program has asked of CUDA, as CPU mode writes it down (common/cpu/runtime/record.h).

Each function puts into words what is wrong with a record, or returns None. Class Case has the same as
judgements: kernels, threads, copied_back, freed, checked.
"""

from __future__ import annotations

import json
import math
from pathlib import Path

from .usage import counted
from .failure import Failure

SHOWN = 3
FILE = ".record_of_cpu_mode.json"  # in the folder in which the program starts


def read(path: Path, ended_well: bool = False) -> dict | None:
    """The record in a file, which is removed; None if the program did not end by itself, or does not know of records.

    CPU mode makes the file when a program starts, and fills it when it ends. One that ended well has a whole one."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(found, dict):
            return found
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError):
        pass
    finally:
        path.unlink(missing_ok=True)
    if ended_well:
        raise Failure(f"the record of what the program asked of CUDA, {path.name}, is broken: a program ends by returning from "
                      f"main or by exit(), and leaves that file alone")
    return None


def is_called(kernel: str, name: str) -> bool:
    """Whether a kernel of a record has this name: with namespace and template arguments, or without."""
    last = shown(kernel)
    return name in (kernel, kernel.partition("<")[0], last, last.partition("<")[0])


def shown(kernel: str) -> str:
    """The kernel's name as the learner writes it, without its namespace."""
    plain, less, arguments = kernel.partition("<")
    return plain.rpartition("::")[2] + less + arguments


def launches_of(record: dict, name: str) -> list[dict]:
    """The launches of a kernel. The name may give alternatives: "tiled_kernel|wide_kernel"."""
    names = name.split("|")
    return [launch for launch in record["launches"] if any(is_called(launch["kernel"], one) for one in names)]


def launches(record: dict | None) -> list[tuple[str, int, int, int]]:
    """Kernel, how often it was launched alike, blocks, threads. What a program has made of its record may be anything."""
    try:
        return [(str(one["kernel"])[:200], int(one["times"]), math.prod(one["grid"]), math.prod([*one["grid"], *one["block"]]))
                for one in record["launches"]] if record else []
    except (KeyError, TypeError, ValueError, OverflowError):
        return []


def counted_launches(found) -> dict[str, dict[str, int]]:
    """Kernel -> how often, and the most blocks and threads of one launch."""
    kernels: dict[str, dict[str, int]] = {}
    for kernel, times, blocks, threads in found:
        of = kernels.setdefault(shown(kernel), {"times": 0, "blocks": 0, "threads": 0})
        of.update(times=of["times"] + times, blocks=max(of["blocks"], blocks), threads=max(of["threads"], threads))
    return kernels


def listed(words: list[str]) -> str:
    """ "a", "a and b", "a, b and 3 more"."""
    words = list(dict.fromkeys(words))
    if len(words) > SHOWN + 1:
        words = [*words[:SHOWN], f"{len(words) - SHOWN} more"]
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def is_are(words: list[str]) -> str:
    return "is" if len(set(words)) == 1 else "are"


def wrong_kernels(record: dict, what: str, own: list[str], others: list[str], must_work: bool) -> str | None:
    """`what` ("variant tiled") launches its own kernels and none of `others`, which belong to something else."""
    launched = [launch["kernel"] for launch in record["launches"]]
    mine = {kernel for name in own for one in name.split("|") for kernel in launched if is_called(kernel, one)}
    foreign = [shown(kernel) for kernel in launched if kernel not in mine
               and any(is_called(kernel, one) for name in others for one in name.split("|"))]
    missing = [name.replace("|", " or ") for name in own if not launches_of(record, name)]
    if foreign:
        instead = f", and not {listed(missing)}" if missing else f" beside {listed(own)}"
        return (f"{what} launches {listed(foreign)}{instead}: the result of a variant comes from its own kernel, so that "
                f"what is measured and judged is what its name says")
    if missing and launched:
        return f"{what} launches {listed([shown(kernel) for kernel in launched])}, but never {listed(missing)}: its result is to come from there"
    if missing and must_work:
        return (f"{what} launches no kernel: its result was computed by the host, and {listed(missing)} "
                f"{is_are(missing)} to compute it")
    return None


def too_few_threads(record: dict, name: str, threads: int, blocks: int, storing: int) -> str | None:
    """The largest launch of a kernel has at least so many threads and blocks, and so many threads store. How many
    store is known only in the build that looks for races."""
    launches = launches_of(record, name)
    if not launches:
        return f"{name} is never launched"

    def product(sides: list[int]) -> int:
        return sides[0] * sides[1] * sides[2]

    most_blocks = max(product(launch["grid"]) for launch in launches)
    most_threads = max(product(launch["grid"]) * product(launch["block"]) for launch in launches)
    if most_blocks < blocks:
        return f"{name} is launched with {counted(most_blocks, 'block')}, and the work needs at least {blocks}"
    if most_threads < threads:
        return f"{name} is launched with {counted(most_threads, 'thread')}, and the work needs at least {threads}"
    stored = [launch["storing"] for launch in launches if "storing" in launch]
    if stored and max(stored) < storing:
        few = f"only {max(stored)}" if max(stored) else "not one"
        return (f"of the {most_threads} threads of {name} {few} stored anything in global memory, and at "
                f"least {storing} have a result to store: the work is not shared out among the threads")
    return None


def not_copied_back(record: dict, needed: int) -> str | None:
    """At least `needed` bytes have been copied from the device."""
    copied = record["copies"]["to_host"]["bytes"]
    if copied >= needed:
        return None
    how = "nothing was copied" if copied == 0 else f"only {counted(copied, 'byte')} {'was' if copied == 1 else 'were'} copied"
    return (f"the result of {needed} bytes does not come from the device: {how} from there. A kernel computes it, and "
            f"cudaMemcpy(..., cudaMemcpyDeviceToHost) brings it to the host")


def leaks(record: dict) -> str | None:
    """All device memory is freed."""
    if not record["leaks"]:
        return None
    places = [counted(leak["bytes"], "byte") + (f" allocated in {leak['place']}" if leak["place"] else "")
              for leak in record["leaks"]]
    return (f"device memory is never freed: {listed(places)}. Each pointer that cudaMalloc returned is given to "
            f"cudaFree when it is no longer used")


def unchecked(record: dict) -> str | None:
    """After each launch somebody asks whether it succeeded."""
    if not record["unchecked"]:
        return None
    places = [f"{shown(one['kernel'])} in {one['place']}" for one in record["unchecked"]]
    return (f"nobody asks whether the launch of {listed(places)} succeeded: a launch returns no error, so call "
            f"CHECK_LAUNCH() or cudaGetLastError() behind it, before the next launch")
