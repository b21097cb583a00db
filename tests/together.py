"""Several broken programs in one: a compiler spends most of its time on what all of them share.

A function whose body is broken has all its bodies in the source that `join` makes, one after another, and runs one of them:
the one whose number is `planted`, which planted.h (`header`) takes from the name in the environment's PLANTED, or of the folder
that the program lies in.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

HEADER = """\
#pragma once
#include <unistd.h>
#include <cstdlib>
#include <string>
inline const int planted = [] {{
    char path[4096] = "";
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) return -1;
    const std::string file = path, folder = file.substr(0, file.rfind('/'));
    const char* const named = getenv("PLANTED");
    const std::string wanted = named && *named ? named : folder.substr(folder.rfind('/') + 1);
    const std::string names[] = {{{names}}};
    int number = 0;
    for (const std::string& name : names) {{
        if (wanted == name) return number;
        ++number;
    }}
    return -1;
}}();
"""
NO_FUNCTION = re.compile(r"\s*(struct|class|enum|union|namespace|if|for|while|switch|do|else)\b|.*\bconstexpr\b", re.DOTALL)

COMMENT = re.compile(r"\s*(//.*)?$")


class CannotJoin(ValueError):
    """What is broken is not the body of a function."""


@dataclass(frozen=True, order=True)
class Function:
    """Where it stands among the lines of a source: its body is what lies between the lines `brace` and `end`."""

    head: int
    brace: int
    end: int


def functions(lines: list[str]) -> list[Function]:
    """Those at the left margin, and the methods of what stands there; in the layout of clang-format."""
    found = []
    for end, line in enumerate(lines):
        margin = line.removesuffix("}")
        if margin not in ("", "    ") or margin == line:
            continue
        begins = re.compile(margin + r"[^\s#/}]")
        head = next((number for number in range(end - 1, -1, -1) if begins.match(lines[number])), None)
        if head is None:
            continue
        signature, depth = "", 0
        for character in "\n".join(lines[head:end]):
            depth += {"(": 1, ")": -1}.get(character, 0)
            if character == "{" and depth == 0:
                break
            signature += character
        brace = head + signature.count("\n")
        if "(" in signature and not NO_FUNCTION.match(signature) and lines[brace].endswith("{"):
            found.append(Function(head, brace, end))
    return [one for one in found if not any(other.brace < one.head < other.end for other in found)]


def broken_bodies(right: list[str], broken: list[str]) -> list[tuple[Function, int, list[str]]]:
    """The functions of `right` with another body in `broken`, the number of its first line there, and its lines.

    CannotJoin: something else is broken.
    """
    changes = [change[1:] for change in difflib.SequenceMatcher(None, right, broken, autojunk=False).get_opcodes()
               if change[0] != "equal"]
    found = []
    for function in functions(right):
        own = [change for change in changes if function.brace < change[0] and change[1] <= function.end]
        if own:
            moved = own[0][2] - own[0][0]
            longer = sum((to - start) - (end - begin) for begin, end, start, to in own)
            first = function.brace + 1 + moved
            found.append((function, first, broken[first:function.end + moved + longer]))
            changes = [change for change in changes if change not in own]
    changes = [change for change in changes
               if not all(COMMENT.match(line) for line in right[change[0]:change[1]] + broken[change[2]:change[3]])]
    if changes:
        raise CannotJoin(f"more than bodies of functions differs, at line {changes[0][0] + 1}")
    return found


def join(right: Path, broken: dict[int, Path]) -> str:
    """One source of several, the right one and by their numbers broken ones. CannotJoin: see broken_bodies."""
    lines, bodies = right.read_text(encoding="utf-8").split("\n"), {}
    for number, path in broken.items():
        for function, first, body in broken_bodies(lines, path.read_text(encoding="utf-8").split("\n")):
            bodies.setdefault(function, []).append((number, f'#line {first + 1} "{path}"', body))
    joined, written = ['#include "planted.h"', f'#line 1 "{right}"'], 0
    for function in sorted(bodies):
        joined += lines[written:function.brace + 1]
        for number, line, body in bodies[function]:
            joined += [f"if (planted == {number}) {{", line, *body, "} else"]
        joined += ["{", f'#line {function.brace + 2} "{right}"', *lines[function.brace + 1:function.end], "}",
                   f'#line {function.end + 1} "{right}"']
        written = function.end
    return "\n".join(joined + lines[written:])


def header(names: list[str]) -> str:
    """planted.h: the number of a broken one is its place in `names`."""
    return HEADER.format(names=", ".join(f'"{name}"' for name in names))
