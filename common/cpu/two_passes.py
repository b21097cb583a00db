"""One text of the two that a program with __CUDA_ARCH__ has.

nvcc reads a source twice: for the host without __CUDA_ARCH__, for the device with it. CPU mode has both in one
program: a kernel and a function for the device alone get the device's body, one for both chooses when it runs, and
functions that only the device has are added. All other lines are the host's.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from translate import MARKER, Translator, learner_spans

DEVICE_WORDS = frozenset(("__device__", "__global__"))


class Function(NamedTuple):
    """A function with a body: its tokens, from the first of its declaration, and where it stands."""

    name: str
    first: int
    opening: int
    closing: int
    file: str
    line: int  # of the declaration
    last: int
    words: frozenset[str]


def lines_of(text: str) -> Iterator[tuple[str, int, str]]:
    """Each line that is not empty, with its file (quoted) and number; system headers are left out."""
    file, number, system = '"<stdin>"', 1, False
    for line in text.split("\n"):
        marker = MARKER.match(line) if line.startswith("#") else None
        if marker:
            file, number, system = marker[2], int(marker[1]), "3" in marker[3].split()
            continue
        if not system and line.strip():
            yield file, number, line.strip()
        number += 1


def content(text: str) -> dict[tuple[str, int], str]:
    """What stands in each line of each file; of a file that is read twice everything."""
    result: dict[tuple[str, int], str] = {}
    for file, number, line in lines_of(text):
        result[file, number] = result.get((file, number), "") + line
    return result


def functions(source: Translator) -> list[Function]:
    """The functions with a body that are not inside another."""
    found = []
    for opening, token in enumerate(source.tokens):
        closing = source.partner[opening] if token == "{" else None
        if closing is None or source.in_function(opening) and not in_class_only(source, opening):
            continue
        first, _ = source.declaration(opening)
        heads = [index for index in source.outermost(first, opening) if source.tokens[index] == "("]
        if source.is_namespace(opening) or source.is_class(opening) or not heads:
            continue
        file, line, *_ = source.position(source.starts[first])
        last = source.position(source.starts[closing])[1]
        found.append(Function(source.token(heads[0] - 1), first, opening, closing, file, line, last, frozenset(source.tokens[first:opening])))
    return found


def in_class_only(source: Translator, index: int) -> bool:
    """Whether a token stands in classes and namespaces, and in no function."""
    index = source.parent[index]
    while index >= 0:
        if source.tokens[index] != "{":
            return False
        first, _ = source.declaration(index)
        if not source.is_namespace(index) and not {"class", "struct", "union"} & set(source.tokens[first:index]):
            return False
        index = source.parent[index]
    return True


def merged(host_text: str, device_text: str) -> tuple[str, list[tuple[str, int]]]:
    """The text for both, and the lines of the device that it does not have."""
    on_host, on_device = content(host_text), content(device_text)
    differing = {place for place in on_host.keys() | on_device.keys() if on_host.get(place) != on_device.get(place)}
    if not differing:
        return host_text, []
    host, device = (Translator(text, learner_spans(text)) for text in (host_text, device_text))
    of_host, of_device = functions(host), functions(device)
    edits: list[tuple[int, int, str]] = []
    seen: set[tuple[str, int]] = set()
    bodies = {(function.file, function.line): function for function in of_device}
    for function in of_host:
        places = {(function.file, line) for line in range(function.line, function.last + 1)} & differing
        if not places:
            continue
        twin = bodies.get((function.file, function.line))
        if (function.file, function.line) not in differing and twin is not None and twin.name == function.name:
            edits.append(body_edit(host, device, function, twin))
            seen |= places | {(function.file, line) for line in range(twin.line, twin.last + 1)}
        elif "__device__" in function.words and "__host__" not in function.words:
            edits.append((host.starts[function.first], host.end(function.closing), " "))
            seen |= places
    for function in of_device:
        if (function.file, function.line) in differing - seen and function.words & DEVICE_WORDS:
            edits.append(addition(host, device, function))
            seen |= {(function.file, line) for line in range(function.line, function.last + 1)}
    parts, start = [], 0
    for begin, end, new in sorted(edit for edit in edits if edit[2]):
        parts += [host_text[start:begin], new]
        start = max(start, end)
    return "".join(parts) + host_text[start:], sorted(place for place in differing - seen if place in on_device)


def halves_of_functors(host_text: str, device_text: str) -> list[tuple[str, int]]:
    """Where function objects for both sides have two bodies, if the program includes Thrust: its algorithms call the device's."""
    if not includes_thrust(host_text):
        return []
    on_host, on_device = content(host_text), content(device_text)
    differing = {place for place in on_host.keys() | on_device.keys() if on_host.get(place) != on_device.get(place)}
    found = functions(Translator(host_text, learner_spans(host_text))) if differing else []
    return [(one.file, one.line) for one in found if one.name == "operator" and "__host__" in one.words
            and any((one.file, line) in differing for line in range(one.line, one.last + 1))]


def includes_thrust(text: str) -> bool:
    return bool(re.search(r'^# 1 "[^"\n]*/thrust/', text, re.MULTILINE))


def body_edit(host: Translator, device: Translator, function: Function, twin: Function) -> tuple[int, int, str]:
    """The device's body in the place of the host's, or beside it where the function is for both."""
    begin, end = host.end(function.opening), host.starts[function.closing]
    body = device.at(device.end(twin.opening)) + device.text[device.end(twin.opening) : device.starts[twin.closing]]
    if "__host__" not in function.words:
        return begin, end, body if function.words & DEVICE_WORDS else ""
    if "constexpr" in function.words:
        return begin, end, ""
    # Thrust's algorithms, which are for the device as a rule, run on the host.
    if function.name == "operator" and includes_thrust(host.text):
        return begin, end, body
    return begin, end, (f" if (::cuda_cpu::in_kernel()) {{{body}}} else {{{host.at(begin)}{host.text[begin:end]}}}{host.at(end)}")


def addition(host: Translator, device: Translator, function: Function) -> tuple[int, int, str]:
    """A function of the device alone, in front of the first token of the host that stands behind it in its file."""
    text = device.at(device.starts[function.first]) + device.text[device.starts[function.first] : device.end(function.closing)]
    for index in range(len(host.tokens)):
        if host.parent[index] < 0 and host.token(index - 1) in ("", "}", ";"):
            file, line, *_ = host.position(host.starts[index])
            if file == function.file and line >= function.line:
                return host.starts[index], host.starts[index], text + host.at(host.starts[index])
    return len(host.text), len(host.text), text
