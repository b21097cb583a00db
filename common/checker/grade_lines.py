"""Puts lines of the source where a program in CPU mode could only name addresses: confined, it starts no addr2line. So the
grader does, confined as a compiler is, since the program that it reads is the submission's.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePath
from typing import Callable

from explain.frames import ADDR2LINE, Frame, frames_in

# As common/cpu/runtime/faults.h writes them: {code 401a2f 4020b0}; "call" asks for the line of a function's call.
ADDRESSES = re.compile(r"\{code(?P<call> call)?(?P<addresses>(?: [0-9a-f]{1,16}){1,24})\}(?P<end>: )?")
MOST = 2000  # addresses of one check
UNKNOWN = "a line that is not known"


def with_lines(texts: list[str], program: Path, own: set[str], run: Callable[[list[str], str], tuple[int, str]]) -> list[str]:
    """The texts with file:line in place of addresses: the first in a file of `own`. `run` runs a tool on typed text."""
    asked = list(dict.fromkeys(address for text in texts for match in ADDRESSES.finditer(text)
                               for address in match["addresses"].split()))[:MOST]
    if not asked:
        return texts
    status, said = run([*ADDR2LINE, str(program)], "".join(f"0x{address}\n" for address in asked))
    found = frames_in(said) if status == 0 else {}

    def line(match: re.Match) -> str:
        frames = [frame for address in match["addresses"].split() for frame in found.get(int(address, 16), [])
                  if frame.line and PurePath(frame.file).name in own]
        place = line_of(frames, bool(match["call"]))
        end = match["end"] or ""
        return place + end if place else "" if end else UNKNOWN

    return [ADDRESSES.sub(line, text) for text in texts]


def line_of(frames: list[Frame], of_call: bool) -> str:
    """The first frame's, or where its function was called, if that is known."""
    callers = [frame for frame in frames if of_call and frame.function != frames[0].function]
    return next((f"{PurePath(frame.file).name}:{frame.line}" for frame in [*callers, *frames]), "")
