"""What the runtime has compiled once (course.cpp) is no work for each program: of a function in one of the course's headers
that say #pragma interface, the declaration is left.

What is a template, a constant expression or for the device, and what has a type that its body gives, stays as it is. Works on
preprocessed text, whose lines keep their numbers.
"""

import re
from collections.abc import Iterator

MARKER = re.compile(r'^# \d+ ("[^\n]*")[^\n]*\n', re.MULTILINE)
COURSE = re.compile(r'\bcommon/(?:lab/)?\w+\.h"$')
GIVEN = re.compile(r'\bgiven/\w+\.h"$')  # by a lab, and compiled in its given/host.cpp
HIDDEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'|^#[^\n]*', re.MULTILINE)
BRACKET = re.compile(r"[({};]")
SCOPE = re.compile(r"(?:namespace \w+|(?:\w+:\s*)*(?:class|struct) \w[^()=]*)\s*")
KEPT = re.compile(r"\b(?:static|template|constexpr|__device__|auto|friend|enum|union|try|catch)\b|(?<!operator)(?<![=!<>])=")
BEGIN_OF_MEMBERS = re.compile(r"\)\s*(?:noexcept\s*)?:(?!:)")


def visible(text: str) -> str:
    """The code of the headers that say #pragma interface, in its place, without what is in quotes."""
    markers = list(MARKER.finditer(text))
    ends = [*(marker.start() for marker in markers[1:]), len(text)]
    implements = "\n#pragma implementation" in text
    compiled = {marker[1] for marker, end in zip(markers, ends)
                if (COURSE.search(marker[1]) or GIVEN.search(marker[1]) and not implements)
                and "\n#pragma interface" in text[marker.end() - 1:end]}
    seen, at = [], 0
    for marker, end in zip(markers, ends):
        if marker[1] in compiled:
            seen += [" " * (marker.end() - at), HIDDEN.sub(lambda hidden: " " * len(hidden[0]), text[marker.end():end])]
            at = end
    return "".join(seen)


def bodies(code: str) -> Iterator[tuple[int, int, int]]:
    """Where a declaration begins, where its body does, and where that ends. Where brackets do not pair there is none: what is
    wrong the compiler says."""
    pairs, opened = {}, []
    for bracket in re.finditer(r"[(){}]", code):
        if bracket[0] in "({":
            opened.append(bracket)
        elif opened and opened[-1][0] + bracket[0] in ("()", "{}"):
            pairs[opened.pop().start()] = bracket.end()
        else:
            return
    if opened:
        return
    start = at = 0
    flat = ""  # the declaration so far, without what is in brackets
    while bracket := BRACKET.search(code, at):
        here, flat = bracket.start(), flat + code[at:bracket.start()]
        at = here + 1
        if bracket[0] == "(":
            at = pairs[here]
            flat += "(" + " " * (at - here - 2) + ")"
            continue
        if bracket[0] == "{" and not SCOPE.fullmatch(flat.strip()):
            at = pairs[here]
            if "(" in flat and not flat[-1].isspace():  # a member is given its value
                flat += " " * (at - here)
                continue
            if "(" in flat and not KEPT.search(flat):
                members = BEGIN_OF_MEMBERS.search(flat)
                yield start, start + members.end() - 1 if members else here, at
        start, flat = at, ""


def declared(text: str) -> str:
    """The text with declarations alone."""
    parts, done = [], 0
    for start, body, end in bodies(visible(text)):
        parts += [text[done:start], re.sub(r"\binline\b", "", text[start:body]), ";", "\n" * text.count("\n", body, end)]
        done = end
    return "".join(parts) + text[done:]
