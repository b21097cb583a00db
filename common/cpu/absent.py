#!/usr/bin/env python3
"""What CUDA has and CPU mode has not: one sentence with its name, in place of the compiler's words.

    absent.py <SAID                what the preprocessor has said: a header that is missing
    absent.py PREPROCESSED <SAID   what the compiler has said of a source: a name that it does not know
    absent.py --twice SOURCE... <SAID   what the linker has said of names that are defined twice

What exists is declared in the headers of a CUDA Toolkit, where the machine has one; absent_names and absent_headers say
what it belongs to, on any machine. What neither knows is a slip of the learner's, and the compiler's words are printed.
"""

from __future__ import annotations

import functools
import glob
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
NEEDS_CARD = "this program needs a card (BACKEND=gpu)"
MARKER = re.compile(r'# (\d+) ("(?:[^"\\\n]|\\.)*")((?: \d)*)$')
# Patterns are compiled where they are needed: most programs lack nothing, and each would wait for them.
# Names that only CUDA has, and the beginning of the header that a library's are in.
OF_CUDA = (r"(?:cuda[A-Z]|CUDA_|CUDART|cu[A-Z]|CU_|CU[a-z]|cublas|CUBLAS|cufft|CUFFT|curand|CURAND|cusolver|CUSOLVER|cusparse|CUSPARSE"
                     r"|nccl|NCCL|__nv|__h|__half|__float2|__[a-z]+_r[nzud]|__v[a-z]+[24]\b|tex[123C]|surf[123C]|make_)\w*")
LIBRARY = r"(?i:(cublas|cufft|curand|cusolver|cusparse|nccl))"
NAMESPACES = r"(?:::)?(cub|cuda|cooperative_groups|thrust|nvcuda|cg)\b"
QUOTED = r"['\u2018]((?:const |volatile |struct |class |union |enum )*[^'\u2019]*)['\u2019]"
CLASS = r"^(?:const |volatile |struct |class |union |enum )+"
COMMENT = r"//[^\n]*|(?s:/\*.*?\*/)"
ERROR = r"(?m)^(.+?:\d+):(?:\d+:)? (?:fatal )?error: (.*)$"
# What g++ and clang++ say of a name that they do not know, with its scope where there is one.
UNKNOWN = [words.replace("NAME", QUOTED.replace("(", "(?P<name>", 1)).replace("SCOPE", QUOTED.replace("(", "(?P<scope>", 1)) for words in (
    "^SCOPE has no member named NAME", "^NAME is not a member of SCOPE", "^NAME in (?:namespace|class|struct) SCOPE does not name a",
    "^no (?:member|type|template) named NAME in (?:namespace )?SCOPE", "^NAME (?:was not declared in|does not name a|has not been declared)",
    "^(?:use of undeclared identifier|unknown type name) NAME", "^aggregate NAME has incomplete type", "^variable has incomplete type NAME")]


@functools.cache
def rows(name: str) -> list[tuple[str, list[str]]]:
    """A table's rows: what is missing, and the names that belong to it."""
    with open(os.path.join(HERE, name), encoding="utf-8") as table:
        pairs = [line.rstrip("\n").split(": ") for line in table if not line.startswith("#")]
    return [(what, names.split()) for what, names in pairs]


def fits(name: str, pattern: str) -> bool:
    before, star, after = pattern.partition("*")
    return bool(star) and len(name) >= len(before + after) and name.startswith(before) and name.endswith(after)


def belongs(name: str, table: str, by_pattern: bool = True) -> str | None:
    """What a name of a table belongs to: a * of an entry stands for any letters, of several entries the longest counts."""
    fitting = [(len(entry), what) for what, entries in rows(table) for entry in entries
               if name == entry or by_pattern and fits(name, entry + "*" * entry.endswith("/"))]
    return max(fitting)[1] if fitting else None


def sentence(name: str, what: str | None) -> str:
    return f"{name} is not in CPU mode{f', which has no {what}' if what else ''}: {NEEDS_CARD}"


def toolkit() -> str | None:
    """The folder with the headers of a CUDA Toolkit, if the machine has one."""
    homes = [os.environ.get("CUDA_HOME") or "/usr/local/cuda", "/usr"]
    return next((folder for home in homes for folder in (f"{home}/include", *glob.glob(f"{home}/targets/*/include"))
                 if os.path.exists(f"{folder}/cuda_runtime_api.h")), None)


# --- headers

def absence(header: str, found: bool = False) -> str | None:
    """The sentence about a header that is not there; None if it is none of CUDA's. `found` if it is the compiler's path."""
    parts = header.split("/")
    folder, name = (os.path.dirname(header), parts[-1]) if found else (toolkit(), header)
    is_of_toolkit = folder and all(os.path.exists(f"{folder}/{one}") for one in ("cuda_runtime_api.h", name))
    for first in range(len(parts)):
        # A folder of CUDA's, as it is written or in the place of a toolkit; a learner's own files may have such names.
        rest, by_pattern = "/".join(parts[first:]), first == 0 and not found or first > 0 and parts[first - 1] in ("include", "cccl")
        if what := belongs(rest, "absent_headers", bool(is_of_toolkit or by_pattern)):
            return sentence(rest, what)
    return sentence(name, None) if is_of_toolkit and not os.path.exists(os.path.join(HERE, "include", name)) else None


def absent_header(text: str) -> tuple[str, int, str] | None:
    """Where, in a preprocessed text, the learner includes what only a CUDA Toolkit has, and the compiler found one; and the sentence."""
    around, line, end = [("", True)], 0, 0  # the files around, and whether each is the system's
    for match in re.finditer(r"^# .*$", text, re.MULTILINE):
        marker = MARKER.match(match[0])
        if not marker:
            continue
        file, flags = re.sub(r"\\(.)", r"\1", marker[2][1:-1]), marker[3].split()
        if "1" in flags:
            if not around[-1][1] and not os.path.abspath(file).startswith(HERE + "/") and (said := absence(file, found=True)):
                return around[-1][0], line + text.count("\n", end, match.start()), said
            around.append((file, "3" in flags))
        elif "2" in flags and len(around) > 1:
            around.pop()
        if "1" not in flags:
            around[-1] = file, "3" in flags
        line, end = int(marker[1]), match.end() + 1
    return None


def missing(said: str) -> str:
    """What the preprocessor has said, or a sentence about the header that it misses."""
    found = re.search(r"^(.*?:\d+):\d+: fatal error: '?(.*?)'?(?:: No such file| file not found)", said, re.MULTILINE)
    if not found:
        return said
    place, header = found.groups()
    owner = belongs(header, "foreign_headers")
    about = absence(header) or f"{header} is not on this machine: " + (
        owner or "no folder in which the compiler looks has it, and -IFOLDER adds one")
    return f"{place}: error: {about}\n"


# --- names

def unknown_names(said: str) -> list[tuple[str, str, str | None, bool]]:
    """Of each name that the compiler does not know: FILE:LINE, the name, its scope, and whether it proposes another."""
    names = []
    for place, words in re.findall(ERROR, re.sub(r"\x1b\[[0-9;]*[mK]", "", said)):
        found = next((match for pattern in UNKNOWN if (match := re.match(pattern, words))), None)
        if not found:
            continue
        scope, _, name = re.sub(r"<.*", "", re.sub(CLASS, "", found["name"]).split()[0]).rpartition("::")
        owner = re.sub(CLASS, "", found.groupdict().get("scope") or scope)
        names.append((place, name, re.sub(r"<.*", "", owner) or None, "did you mean" in words))
    return names


def declared(name: str, scope: str | None) -> str | None:
    """The header of the toolkit that declares a name, "" if none does; None without a toolkit."""
    folder = toolkit()
    if not folder:
        return None
    files = glob.glob(f"{folder}/*.h*") + glob.glob(f"{folder}/crt/*.h*") + glob.glob(f"{folder}/cooperative_groups/**/*.h", recursive=True)
    if scope and (space := re.match(NAMESPACES, scope)):
        files += [file for place in ("", "cccl/") for file in glob.glob(f"{folder}/{place}{space[1]}/**/*", recursive=True) if os.path.isfile(file)]
    # A word that CUDA's names do not begin like counts where a function or a type is declared.
    word = rf"\b{re.escape(name)}\b" if scope or re.fullmatch(OF_CUDA, name) else \
        rf"(?:__device__|__device_builtin__|_DECL__)[^\n]*\b{re.escape(name)}\s*\(|(?:typedef\b[^\n;]*|^\s*\}}\s*)\b{re.escape(name)}\s*;|\b(?:struct|union|enum)\s+{re.escape(name)}\s*[;{{]"
    for file in files:
        with open(file, encoding="utf-8", errors="replace") as header:
            text = header.read()
        if name in text and re.search(word, re.sub(COMMENT, " ", text), re.MULTILINE):
            return os.path.basename(file)
    return ""


def is_included(name: str, scope: str | None, where: str | None, preprocessed: str) -> bool:
    """Whether the program includes the header of CPU mode that would have a name, which `where` has in the toolkit."""
    if area := re.match(LIBRARY, name) or scope and re.match(NAMESPACES, scope):
        area = {"cg": "cooperative_groups", "nvcuda": "mma"}.get(area[1], area[1].lower())
        return bool(re.search(rf'^# \d+ "[^"\n]*/{area}', preprocessed, re.MULTILINE))
    included = set(re.findall(r'^# \d+ "[^"\n]*/([^"/\n]+)"', preprocessed, re.MULTILINE))
    for file in glob.glob(os.path.join(HERE, "include", "**", "*"), recursive=True):
        if os.path.isfile(file) and os.path.basename(file) not in included:
            with open(file, encoding="utf-8") as header:
                text = re.sub(COMMENT, " ", header.read())
            is_its = os.path.splitext(os.path.basename(file))[0] == os.path.splitext(where or "")[0] and text.count("\n") > 2
            if is_its or re.search(rf"\b{re.escape(name)}\b", text):
                return False
    return True


def thrust_header(name: str, scope: str | None, preprocessed: str) -> str | None:
    """The header of Thrust, which is the system's own, that has a function and was not included."""
    if scope != "thrust" or not (found := re.search(r'^# \d+ "([^"\n]*)/thrust/detail/config\.h"', preprocessed, re.MULTILINE)):
        return None
    for header in sorted(glob.glob(f"{found[1]}/thrust/*.h")):
        with open(header, encoding="utf-8", errors="replace") as file:
            text = re.sub(COMMENT, " ", file.read())
        short = f"thrust/{os.path.basename(header)}"
        if re.search(rf"\b{re.escape(name)}\s*\(|\b(?:class|struct)\s+{re.escape(name)}\b|\busing\s[^;]*\b{re.escape(name)}\s*;", text) and f'/{short}"' not in preprocessed:
            return short
    return None


def unknown(said: str, preprocessed: str) -> str:
    """What the compiler has said, or one sentence about the first name of CUDA that it does not know."""
    for place, name, scope, proposes in unknown_names(said):
        of_cuda = re.match(OF_CUDA, scope) or re.match(NAMESPACES, scope) if scope else re.fullmatch(OF_CUDA, name)
        if scope and not of_cuda:
            continue
        what, where = belongs(name, "absent_names"), declared(name, scope)
        exists = bool(what or where)
        if not exists and (where is not None or proposes or not of_cuda) or not is_included(name, scope, where, preprocessed):
            continue
        full = f"{scope}::{name}" if scope else name
        if header := thrust_header(name, scope, preprocessed):
            return f"{place}: error: {full} is in <{header}>, which the program does not include{excerpt(place)}\n"
        about = sentence(full, what) if exists else f"CPU mode does not know {full}: if it is written right, {NEEDS_CARD}"
        return f"{place}: error: {about}{excerpt(place)}\n"
    return said


# --- what the linker says

def defined_twice(said: str, sources: list[str]) -> str:
    """Of each name that several sources define, where; N.o is the object of the source with that number."""
    sentences = []
    for here, name, there in re.findall(r"^(.*)multiple definition of [`'](.*)'; (.*): first defined here$", said, re.MULTILINE):
        before = said[:said.index(f"{here}multiple definition of")]
        objects = [(re.findall(r"/(\d+)\.o\b", text) or ["0"])[-1] for text in (before + here, there)]
        owners = [sources[min(int(number), len(sources) - 1)] for number in objects]
        places = [found[-1] if (found := [one for one in re.findall(r"([^:\s][^:]*:\d+)(?::|$)", text) if not one.startswith(HERE)])
                  else line_of(name, owner) for text, owner in zip((here, there), owners)]
        includes = [place for place, owner in zip(places, owners) if place == owner]  # it is not in the file itself
        if places[0] == places[1] or includes:
            places.sort(key=lambda place: place in includes)
            sentences.append(f"{places[0]}: error: {name} is defined here, and both {owners[1]} and {owners[0]} have this file in them: "
                             "a source that another one includes is not given itself, and in a header the definition begins with inline")
        else:
            sentences.append(f"{places[0]}: error: {name} is defined here and in {places[1]}: a program has one definition of each name, "
                             "so leave one out, or write static in front of those that are for one file alone")
    return "".join(f"{one}\n" for one in sentences[:5]) or said


def line_of(name: str, source: str) -> str:
    """Where a source seems to define a function, as FILE:LINE; the file where that is not seen."""
    word = re.escape(re.sub(r"[(<].*", "", name).split()[-1].rpartition("::")[2])
    with open(source, encoding="utf-8", errors="replace") as file:
        text = file.read()
    found = re.search(rf"\b{word}\s*\([^;{{]*\)\s*\{{", text)
    return f"{source}:{text.count(chr(10), 0, found.start()) + 1}" if found else source


def excerpt(place: str) -> str:
    """The line at FILE:LINE, as a compiler shows it."""
    file, _, number = place.rpartition(":")
    try:
        with open(file, encoding="utf-8", errors="replace") as source:
            line = source.read().split("\n")[int(number) - 1]
    except (OSError, IndexError):
        return ""
    return f"\n{int(number):5} | {line}"


def main() -> int:
    said = sys.stdin.buffer.read().decode("utf-8", "surrogateescape")
    if sys.argv[1:2] == ["--twice"]:
        said = defined_twice(said, sys.argv[2:])
    elif len(sys.argv) > 1:
        with open(sys.argv[1], encoding="utf-8", errors="surrogateescape") as source:
            said = unknown(said, source.read())
    else:
        said = missing(said)
    sys.stdout.buffer.write(said.encode("utf-8", "surrogateescape"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
