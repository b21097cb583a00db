"""Several programs in one: a compiler spends most of its time on the headers that all of them share.

    text = join({"naive": (folder, source), ...})

Each source is C++ without directives, as common/cpu/translate.py gives it. What comes from the
program's own folder goes into a namespace of its own; what comes from elsewhere is there once. The
program made of `text` is any of them: which one says the name of the folder that it lies in.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

MARKER = re.compile(r'(# \d+) "(.*)"((?: \d)*)$')  # line, file; 1 entered, 2 left, 3 of the system

# The headers of a lab declare all that is used here.
MAIN = """
int main(int argc, char** argv) {{
    char path[4096] = "";
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) return 2;
    const std::string file = path;
    const std::string folder = file.substr(0, file.rfind('/'));
    const std::string name = folder.substr(folder.rfind('/') + 1);
{choices}
    return 2;
}}
"""
CHOICE = '    if (name == "{name}") return program_{number}::main(argc, argv);'


class CannotJoin(ValueError):
    """The programs do not begin with the same headers."""


def join(programs: dict[str, tuple[Path, str]]) -> str:
    """One source of several: name -> (the folder of its own files, its source)."""
    headers, bodies, choices = "", [], []
    for number, (name, (folder, source)) in enumerate(programs.items()):
        shared, own = split(source, folder)
        headers = headers or shared
        if shared != headers:
            raise CannotJoin(f"{name} does not include what the others do")
        bodies.append(f"\nnamespace program_{number} {{\n{own}\n}}")
        choices.append(CHOICE.format(name=name, number=number))
    return headers + "".join(bodies) + MAIN.format(choices="\n".join(choices))


def split(source: str, folder: Path) -> tuple[str, str]:
    """The lines that come from elsewhere, and those that come from the folder's own files."""
    shared, own = [], []
    lines = shared
    for line in source.splitlines(keepends=True):
        marker = MARKER.match(line)
        if marker:
            path = os.path.normpath(marker[2])
            lines = own if path.startswith(f"{folder}/") else shared
            # Files are no longer entered and left in turn.
            line = f'{marker[1]} "{path}"' + (" 3" if "3" in marker[3] else "") + "\n"
        lines.append(line)
    # A shared header's __FILE__ begins with the folder that it was included from.
    return "".join(shared).replace(f"{folder}/", f"{folder.parent}/any/"), "".join(own)
