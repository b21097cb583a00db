#!/usr/bin/env python3
"""Rewrites what a C++ compiler cannot read in CUDA C++.

    kernel<<<grid, block, bytes, stream>>>(arguments)   a launch
    extern __shared__ T name[];                         dynamic shared memory
    __shared__ T name[32];                              static shared memory
    __global__ void kernel(...) {                       a kernel, which must not be called
    __noinline__, __device__, __host__                  qualifiers
    __cluster_dims__(2, 1, 1)                           how many blocks of a kernel make up a cluster
    volatile T name[32]; ... name[i]                    an access that the lanes of a warp do in step
    name[i] += name[i ^ 8]                              the same
    clock()                                             the device's clock in a kernel

What macros have moved goes back to its column first (learner_columns). Reads preprocessed text
(g++ -E) on standard input and writes the same text, translated, on standard output. Working after the preprocessor means that macros are expanded, a lab's headers are included
and comments are gone. Line markers around what is rewritten put everything back to the line and
column where the learner wrote it, so the compiler's messages show the learner's own source. What
cannot be read is an error in the compiler's own form, `file:line: error: sentence`, and exit
status 1.
"""

import os
import re
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from difflib import SequenceMatcher
from typing import NamedTuple

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import precompiled
from absent import MARKER, absent_header
from declarations import declared
from volatile_memory import VolatileMemory

# Qualifiers that say nothing to a host compiler; spaces take their place.
EMPTY_WORDS = frozenset("__device__ __global__ __host__".split())
CANDIDATE = re.compile(rf"<<\s*<|\b__shared__\b|\b__cluster_dims__\b|\b__noinline__\b|\bclock\b|\bvolatile\b|\basm\b|\b__asm(?:__)?\b|\b(?:{'|'.join(EMPTY_WORDS)})\b")
# Flags of a line marker: 1 enters a file, 2 returns to one, 3 is a system header, 4 is extern "C".
SYSTEM_BEGIN = re.compile(r'^# \d+ "[^\n]*" 1 3(?: 4)?$', re.MULTILINE)
SYSTEM_END = re.compile(r'^# \d+ "[^\n]*" 2$', re.MULTILINE)
TOKEN = re.compile(
    r"""
    ^\#[^\n]*                                                # a line marker or a pragma
  | (?:u8|[uUL])?R"(?P<tag>[^()\\\s"]{0,16})\(.*?\)(?P=tag)"   # a raw string
  | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"?                        # a string
  | (?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'?                        # a character
  | [^\W\d]\w*                                               # a word
  | \.?\d(?:[eEpP][+-]|'?[\w.])*                             # a number
  | ::|->|<<\s*<|<<=?|<=|>+=?                                # operators with an angle or a colon; nvcc takes << < for <<<
  | \S
    """,
    re.MULTILINE | re.DOTALL | re.VERBOSE,
)
CLOSERS = {")": "(", "]": "[", "}": "{"}
OPENERS = frozenset(CLOSERS.values())
# Looking to the left, an expression or a declaration starts after one of these words.
STATEMENT_WORDS = frozenset(
    "case catch co_return co_yield delete do else for if new return switch throw while".split()
)
ATTRIBUTE_WORDS = frozenset("__attribute__ __attribute alignas _Alignas __declspec __cluster_dims__".split())
CLASS_WORDS = frozenset("class enum struct union".split())
TYPE_WORDS = frozenset("auto bool char const double float int long short signed unsigned volatile".split())
POINTER_WORDS = frozenset("* & const volatile __restrict__ __restrict".split())
# What clears or shows the last error is meant to.
LAST_ERROR = re.compile(r"cuda(?:Get|PeekAt)(?:LastError|ErrorName|ErrorString)")
# Which argument is the kernel, as a void*.
LAUNCH_CALLS = {"cudaLaunchKernel": 0, "cudaLaunchCooperativeKernel": 0, "cudaLaunchKernelExC": 1}
ASM_WORDS = frozenset("asm __asm __asm__".split())
REWRITTEN = frozenset({"<<<", "__shared__", "__cluster_dims__", "__noinline__", "clock", "volatile", "^", *ASM_WORDS, *EMPTY_WORDS})
PARAMETERS_OF = "cuda_cpu_parameters_of_"
STORAGE_WORDS = EMPTY_WORDS | frozenset("__shared__ extern static".split())


class TranslationError(Exception):
    """What cannot be translated, said as the compiler would say it."""

    def __init__(self, file: str, line: int, sentence: str, source: str):
        super().__init__(f"{file}:{line}: error: {sentence}" + (f"\n{line:5} | {source}" if source else ""))
        self.file, self.line, self.sentence = file, line, sentence


class Edit(NamedTuple):
    """What replaces text[start:end]: a string, or a function that renders the edits inside."""

    start: int
    end: int
    text: str | Callable[[], str]


class Declarator(NamedTuple):
    """One name that a declaration declares: the tokens of its type, its name and its [sizes]."""

    type: list[int]
    name: int
    dimensions: list[int]


def translate(text: str, observed: bool = False) -> str:
    """Returns preprocessed CUDA C++ as preprocessed C++; raises TranslationError.

    With `observed` each variable of shared memory lies where the runtime says, and has its name, and a call
    that stands alone is marked as one.
    """
    spans = learner_spans(text)
    wanted = any(CANDIDATE.search(text, *span) for span in spans)
    return Translator(text, spans, observed).translated() if wanted else text


class Piece(NamedTuple):
    """A line of a learner's file, or a part of it, in the preprocessed text."""

    start: int
    end: int
    file: str  # quoted, as in a marker
    line: int
    system: bool  # from a macro of a system header, which stays as it is


# What can be moved as a whole, be it longer than what the compiler reads as one token; or a comment.
LUMP = re.compile(
    r"""//[^\n]*|/\*.*?(?:\*/|\Z)
  | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"? | (?:u8|[uUL])?'(?:[^'\\\n]|\\.)*'?
  | [^\W\d]\w* | \.?\d(?:[eEpP][+-]|'?[\w.])* | [()\[\]{},;] | /?[^\w\s"'()\[\]{},;/]+ | \S""",
    re.DOTALL | re.VERBOSE,
)


def learner_columns(text: str) -> str:
    """The text with everything in the line and column where the learner has written it.

    A macro makes a line longer: an error in CHECK(...) would be shown far to the right of it. What
    stands in the learner's line is found again in the longer one; what is the macro's own comes to
    stand where its name does.
    """
    first = MARKER.match(text.split("\n", 1)[0])
    folder = os.path.dirname(first[2][1:-1]) if first else None
    groups: dict[tuple[str, int], list[Piece]] = {}
    for piece in pieces_of(text, folder):
        groups.setdefault((piece.file, piece.line), []).append(piece)
    edits: list[tuple[int, int, str]] = []
    keys = sorted(groups)
    for key, following in zip(keys, [*keys[1:], ("", 0)]):
        # What a macro takes from several lines is one line to the preprocessor, up to what comes next.
        lines = written(*key, following[1] if following[0] == key[0] else key[1])
        if lines and lines[-1][0] == following[1]:
            next_line = text[slice(*groups[following][0][:2])]
            lines[-1] = following[1], lines[-1][1][: len(next_line) - len(next_line.lstrip())]
        edits += moved(text, groups[key], lines)
    parts, start = [], 0
    for begin, end, new in sorted(edits):
        parts += [text[start:begin], new]
        start = end
    return "".join(parts) + text[start:]


def pieces_of(text: str, folder: str | None) -> Iterator[Piece]:
    """The lines that are not empty, of the files in the learner's folder."""
    markers = [match for match in re.finditer(r"^# .*$", text, re.MULTILINE) if MARKER.match(match[0])]
    for match, end in zip(markers, [*(m.start() for m in markers[1:]), len(text)]):
        marker = MARKER.match(match[0])
        name = marker[2][1:-1]
        if folder is None or os.path.dirname(name) != folder or name.startswith("<"):
            continue
        start, line = match.end() + 1, int(marker[1])
        for content in text[start:end].split("\n"):
            if content.strip() and not content.startswith("#"):
                yield Piece(start, start + len(content), marker[2], line, "3" in marker[3].split())
            start, line = start + len(content) + 1, line + 1


SOURCES: dict[str, list[str]] = {}


def written(file: str, first: int, last: int) -> list[tuple[int, str]]:
    """The lines of a file with their numbers, as far as they may be one line to the preprocessor."""
    if file not in SOURCES:
        try:
            with open(re.sub(r"\\(.)", r"\1", file[1:-1]), encoding="utf-8", errors="surrogateescape", newline="\n") as source:
                SOURCES[file] = source.read().split("\n")
        except OSError:
            SOURCES[file] = []
    lines = list(enumerate(SOURCES[file], 1))[first - 1 : last]
    ends = [place for place, (_, line) in enumerate(lines) if place and line.lstrip().startswith("#")]
    return lines[: ends[0]] if ends else lines


def lumps(text: str) -> list[tuple[str, int]]:
    """Each lump with its place, without comments."""
    return [(match[0], match.start()) for match in LUMP.finditer(text) if match[0][:2] not in ("//", "/*")]


def moved(text: str, pieces: list[Piece], lines: list[tuple[int, str]]) -> list[tuple[int, int, str]]:
    """What brings the pieces of one line to where the learner has written them: (start, end, new text)."""
    plain = "".join(text[piece.start : piece.end] for piece in pieces)
    if not lines or lines[0][1].startswith(plain.rstrip()) and len(pieces) == 1 and lines[0][1][len(plain.rstrip()) :].lstrip()[:2] in ("", "//"):
        return []
    source = [(word, number, len(line[:place].encode("utf-8", "surrogateescape")))
              for number, line in lines for word, place in lumps(line)]
    target = [(word, piece, piece.start + place) for piece in pieces for word, place in lumps(text[piece.start : piece.end])]
    places = matched([word for word, *_ in source], [word for word, *_ in target])
    edits = []
    current = None  # the piece, line and column at which the compiler takes itself to be, and the offset in the text
    for (word, piece, offset), place in zip(target, places):
        if piece.system:
            current = None
            continue
        if current is None or current[0] is not piece:
            current = piece, piece.line, len(text[piece.start : offset].encode("utf-8", "surrogateescape")), offset
        gap = offset - current[3]
        here = current[1], current[2] + gap
        there = source[place][1:] if place is not None else here
        if there != here:
            edits.append((current[3], offset, f"\n# {there[0]} {piece.file}\n{' ' * there[1]}"))
        current = piece, there[0], there[1] + len(word.encode("utf-8", "surrogateescape")), offset + len(word)
    if edits and current:
        edits.append((current[3], current[3], f"\n# {pieces[-1].line} {pieces[-1].file}\n"))
    return edits


def matched(source: list[str], target: list[str]) -> list[int | None]:
    """For each word of the longer line its place in the learner's, or that of the macro's name."""
    places: list[int | None] = [None] * len(target)
    for kind, first, last, begin, end in SequenceMatcher(None, source, target, autojunk=False).get_opcodes():
        for index in range(begin, end):
            places[index] = first + index - begin if kind == "equal" else min(first, len(source) - 1) if source else None
    return places


def learner_spans(text: str) -> list[tuple[int, int]]:
    """The parts of the text outside the system headers, as (start, end)."""
    spans, start = [], 0
    while True:
        begin = SYSTEM_BEGIN.search(text, start)
        spans.append((start, begin.start() if begin else len(text)))
        end = SYSTEM_END.search(text, begin.end()) if begin else None
        if not end:
            return spans
        start = end.start()


def match_brackets(tokens: list[str]) -> tuple[list[int | None], list[int]]:
    """For each token its partner (of a bracket, or None) and the bracket it stands in (or -1).

    A missing bracket costs as little as possible: } closes everything up to its {.
    """
    partner: list[int | None] = [None] * len(tokens)
    parent = [-1] * len(tokens)
    stack: list[int] = []
    for index, token in enumerate(tokens):
        if token in CLOSERS:
            depth = len(stack) - 1
            while depth >= 0 and tokens[stack[depth]] not in (CLOSERS[token], "{"):
                depth -= 1
            if depth >= 0 and tokens[stack[depth]] == CLOSERS[token]:
                partner[index], partner[stack[depth]] = stack[depth], index
                del stack[depth:]
        parent[index] = stack[-1] if stack else -1
        if token in OPENERS:
            stack.append(index)
    return partner, parent


def quoted(source: str) -> str:
    """A C++ string literal that holds the source text."""
    source = re.sub(r"\b__null\b", "NULL", source)
    escaped = source.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


class Source:
    """A preprocessed text as tokens, which know where the learner wrote them."""

    def __init__(self, text: str, spans: list[tuple[int, int]]):
        self.text = text
        self.markers, self.tokens, self.starts, self.ends = [], [], [], []
        for span in spans:
            for match in TOKEN.finditer(text, *span):
                token = match[0]
                if token[0] != "#":
                    self.tokens.append(token if token[:2] != "<<" else "".join(token.split()))
                    self.starts.append(match.start())
                    self.ends.append(match.end())
                elif MARKER.match(token):
                    self.markers.append(match)
        self.marker_starts = [match.start() for match in self.markers]
        self.partner, self.parent = match_brackets(self.tokens)

    def token(self, index: int) -> str:
        """A token, or nothing before the first and after the last."""
        return self.tokens[index] if 0 <= index < len(self.tokens) else ""

    def end(self, index: int) -> int:
        """Where a token ends in the text."""
        return self.ends[index]

    def is_word(self, index: int) -> bool:
        """Whether a token can be a name: not a bracket or an operator, nor a word like `return`."""
        return self.token(index).isidentifier() and self.token(index) not in STATEMENT_WORDS

    def is_angle(self, index: int) -> bool:
        """Whether a token is a run of >, which may close templates or a launch's configuration."""
        return self.token(index).strip(">") == "" != self.token(index)

    def in_attribute(self, index: int) -> bool:
        """Whether a word stands in __attribute__((...)) or [[gnu::...]]."""
        word = self.token(self.parent[index] - 2)
        return self.token(index - 1) == "::" or word in ATTRIBUTE_WORDS

    def code(self, indexes: Iterable[int]) -> str:
        """The source of these tokens on one line, with a space where there was white space."""
        pieces: list[str] = []
        previous_end = None
        for index in indexes:
            if previous_end not in (None, self.starts[index]) and self.tokens[index] != ",":
                pieces.append(" ")
            pieces.append(self.tokens[index])
            previous_end = self.end(index)
        return "".join(pieces)

    def position(self, offset: int) -> tuple[str, int, int, str]:
        """File (quoted), line, column (from 0) and marker flags of text[offset]."""
        file, line, flags, start = '"<stdin>"', 1, "", 0
        number = bisect_left(self.marker_starts, offset) - 1
        if number >= 0:
            marker = MARKER.match(self.markers[number][0])
            file, line, flags = marker[2], int(marker[1]), marker[3]
            start = self.markers[number].end() + 1
        line += self.text.count("\n", start, offset)
        before = self.text[max(start, self.text.rfind("\n", 0, offset) + 1) : offset]
        return file, line, len(before.encode("utf-8", "surrogateescape")), flags

    def at(self, offset: int) -> str:
        """What puts the compiler back to the line and the column of text[offset]."""
        file, line, column, flags = self.position(offset)
        kept = "".join(f" {flag}" for flag in flags.split() if flag in ("3", "4"))
        return f"\n# {line} {file}{kept}\n{' ' * column}"

    def error(self, index: int, sentence: str) -> TranslationError:
        """The error to raise about a token."""
        file, line, *_ = self.position(self.starts[index])
        source = self.text[self.text.rfind("\n", 0, self.starts[index]) + 1 :].split("\n", 1)[0]
        return TranslationError(re.sub(r"\\(.)", r"\1", file[1:-1]), line, sentence, source)


class Translator(VolatileMemory, Source):
    """Looks for what is to be rewritten, and notes the edits that do it."""

    def __init__(self, text: str, spans: list[tuple[int, int]], observed: bool = False):
        super().__init__(text, spans)
        self.observed = observed
        self.edits: list[Edit] = []
        self.kernels: dict[str, list[int]] = {}  # where __global__ functions are declared, by name
        self.templates: set[int] = set()  # those of them that are templates
        self.clusters: dict[str, str] = {}  # by the name of a kernel what stands in its __cluster_dims__
        self.stepped: set[int] = set()  # names whose access is marked as one in step
        self.launched: set[str] = set()  # the plain names before <<<

    def translated(self) -> str:
        """The whole text with every construct rewritten."""
        for index, token in enumerate(self.tokens):
            if token not in REWRITTEN and not token.startswith("cuda") and not (self.observed and token == "new"):
                continue
            if token == "<<<" and self.token(index - 1) != "operator":
                self.launch(index)
            elif token == "__shared__":
                self.shared(index)
            elif token == "__noinline__" and not self.in_attribute(index):
                self.replace(index, index, f"__attribute__((noinline)){self.at(self.end(index))}")
            elif token.startswith("cuda") and self.is_ignored_call(index):
                self.insert(self.starts[index], " ::cuda_cpu::Ignored(), ")
            elif token == "new":
                self.new_in_kernel(index)
            elif token in ASM_WORDS:
                self.assembly(index)
            elif token == "volatile":
                self.volatile(index)
            elif token == "^":
                self.exchange(index)
            elif token == "clock" and self.is_call_of_clock(index):
                self.replace(index, index, f"::cuda_cpu::clock{self.at(self.end(index))}")
            elif token == "__cluster_dims__" and self.partner[index + 1] is not None:
                self.replace(index, self.partner[index + 1], self.at(self.end(self.partner[index + 1])))
            elif token in EMPTY_WORDS:
                self.replace(index, index, " " * len(token))
                if token == "__global__":
                    self.kernel(index)
        self.refuse_functions()
        self.note_addresses()
        # What is put in comes before what is replaced, and an outer edit before those inside it.
        self.edits.sort(key=lambda edit: (edit.start, edit.end > edit.start, -edit.end))
        return self.render(0, len(self.text))

    def render(self, start: int, end: int, with_end: bool = False) -> str:
        """text[start:end] with its edits made, and what is put in at its end if that closes something here; an outer edit renders
        those inside it."""
        pieces = []
        for edit in self.edits[bisect_left(self.edits, (start,)) :]:
            if edit.start > end or (edit.start == end and not (with_end and edit.end == end)):
                break
            if edit.start >= start and edit.end <= end:
                new_text = edit.text if isinstance(edit.text, str) else edit.text()
                pieces += [self.text[start : edit.start], new_text]
                start = edit.end
        return "".join(pieces) + self.text[start:end]

    def replace(self, first: int, last: int, text: str | Callable[[], str]) -> None:
        """Notes an edit of the tokens first..last."""
        self.edits.append(Edit(self.starts[first], self.end(last), text))

    def insert(self, offset: int, text: str) -> None:
        """Notes text to put in before text[offset]."""
        self.edits.append(Edit(offset, offset, text + self.at(offset)))

    def is_ignored_call(self, name: int) -> bool:
        """Whether a call of the API is a statement of its own, so that nobody sees what it returns."""
        close = self.partner[name + 1] if self.token(name + 1) == "(" else None
        if close is None or self.token(close + 1) != ";" or LAST_ERROR.fullmatch(self.tokens[name]):
            return False
        before = self.token(name - 1)
        opening = self.partner[name - 1] if before == ")" else None
        behind_head = opening is not None and self.heads_statement(opening)
        return (before in ("{", "}", ";", "else", "do") or behind_head) and self.in_function(name)

    def new_in_kernel(self, word: int) -> None:
        """Has memory that device code makes with `new` known as a kernel's, unless classes have their own."""
        if self.token(word - 1) in ("operator", "::") or self.token(word + 1) == "(" or ("operator", "new") in zip(self.tokens, self.tokens[1:]):
            return
        body = word
        while body >= 0 and self.in_function(body):
            body = self.parent[body]
        first, _ = self.declaration(body)
        if body >= 0 and {"__device__", "__global__"} & set(self.tokens[first:body]):
            self.insert(self.end(word), " (::cuda_cpu::KernelNew())")

    def note_addresses(self) -> None:
        """Where a kernel is cast to void*, as for cudaLaunchKernel, its parameters are noted."""
        for index, token in enumerate(self.tokens):
            if token in LAUNCH_CALLS and self.token(index + 1) == "(" and self.partner[index + 1] is not None:
                self.note_pointer(index + 1, LAUNCH_CALLS[token])
            if token not in self.kernels or self.token(index + 1) == "(" or self.visible_kernel(index) is None:
                continue
            first = index
            while self.token(first - 1) == "::" and self.is_word(first - 2):
                first -= 2
            first -= self.token(first - 1) == "&"
            last = index
            if self.token(index + 1) == "<":  # to the >, outside of brackets
                depths = self.template_depths(self.outermost(index + 1, min(index + 60, len(self.tokens))))
                last = next((place for place, depth in depths if place > index + 1 and depth <= 0), index)
            if self.is_cast_to_void(first - 1) and self.token(last + 1) in (",", ")", ";", "}"):
                self.note_address(first, last)

    def note_pointer(self, opening: int, number: int) -> None:
        """The same where a pointer to a kernel is cast, as in cudaLaunchKernel((void*)table[i], ...)."""
        close = self.partner[opening]
        commas = [place for place in self.outermost(opening + 1, close) if self.tokens[place] == ","]
        ends = [opening, *commas, close]
        if number + 1 >= len(ends):
            return
        first, end = ends[number] + 1, ends[number + 1]
        if self.token(first) == "(" and self.partner[first] is not None and self.is_cast_to_void(self.partner[first]):
            self.note_address(self.partner[first] + 1, end - 1)
        elif self.token(end - 1) == ")" and self.partner[end - 1] is not None and self.is_cast_to_void(self.partner[end - 1]):
            self.note_address(self.partner[end - 1] + 1, end - 2)

    def note_address(self, first: int, last: int) -> None:
        self.insert(self.starts[first], "::cuda_cpu::kernel_address(")
        self.edits.append(Edit(self.end(last), self.end(last), f"){self.at(self.end(last))}"))

    def is_cast_to_void(self, close: int) -> bool:
        """Whether a token ends (void*), (const void *), or what stands before the argument of a cast to it."""
        if self.token(close) == "(" and self.is_angle(close - 1):
            start = self.angle_start(close - 1)
            words = self.tokens[start + 1 : close - 1]
            if self.token(start - 1) not in ("reinterpret_cast", "static_cast"):
                return False
        elif self.token(close) == ")" and self.partner[close] is not None:
            words = self.tokens[self.partner[close] + 1 : close]
        else:
            return False
        return words[-1:] == ["*"] and "void" in words and set(words) <= {"const", "void", "*"}

    def is_call_of_clock(self, name: int) -> bool:
        """Whether this is `clock()` of the C library, which is the device's own in a kernel."""
        before = self.token(name - 1)
        declared = self.is_word(name - 1) or before in ("*", "&", ".", "->", "::")
        return (self.token(name + 1), self.token(name + 2)) == ("(", ")") and not declared

    def assembly(self, word: int) -> None:
        """Makes C++ of inline PTX; another assembler's text stays."""
        opening = word + 1
        while self.token(opening) in ("volatile", "__volatile__", "__volatile"):
            opening += 1
        close = self.partner[opening] if self.token(opening) == "(" else None
        inside = list(self.outermost(opening + 1, close)) if close is not None else []
        parts: list[list[int]] = [[]]
        for index in inside:
            if self.tokens[index] in (":", "::"):
                parts += [[] for _ in self.tokens[index]]
            else:
                parts[-1].append(index)
        template = "".join(self.string(index) for index in parts[0])
        import ptx
        if not ptx.is_ptx(template):
            return
        operands = []
        for part in parts[1:3]:
            for first, second in zip(part, part[1:]):
                if self.tokens[first].startswith('"') and self.token(second) == "(":
                    operands.append(ptx.Operand(self.string(first), self.code(range(second, (self.partner[second] or second) + 1))))
        try:
            text = ptx.translated(template, operands)
        except ptx.NotThere as instruction:
            # An error only where code is made of it: a template that nobody uses may hold what it likes.
            sentence = f"inline PTX: {instruction} is not in CPU mode (docs/cpu-mode.md lists the instructions that are)"
            text = f"do {{ __attribute__((error({quoted(sentence)}))) void cuda_cpu_absent(); cuda_cpu_absent(); }} while (0)"
        self.replace(word, close, f"{self.at(self.starts[word])}{text}{self.at(self.end(close))}")

    def string(self, index: int) -> str:
        """What a string literal holds, as far as line ends and tabs go."""
        return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), self.tokens[index].strip('"'))

    # --- kernels

    def kernel(self, word: int) -> None:
        """Notes the name of the function that this __global__ declares, and guards its body."""
        named = False
        for index, depth in self.template_depths(self.outermost(word, len(self.tokens))):
            token = self.tokens[index]
            if token == "(" and depth == 0 and not named:
                named = True
                if self.is_word(index - 1):  # else a specialisation, whose template is noted
                    self.kernels.setdefault(self.tokens[index - 1], []).append(index - 1)
                    self.tell_parameters(word, index - 1)
                    self.note_clusters(word, index - 1)
            elif token == "{":
                names = f"__func__, __PRETTY_FUNCTION__, {self.template_parameters(word)}"
                clusters = self.clusters.get(self.tokens[self.kernel_name(word)]) if named else None
                needs = f" ::cuda_cpu::needs_clusters({clusters});" if clusters else ""
                self.insert(self.end(index), f" ::cuda_cpu::enter_kernel({names});{needs}")
            if token in ("{", ";", *CLOSERS):
                return

    def kernel_name(self, word: int) -> int:
        """The name of the function that a __global__ declares."""
        depths = self.template_depths(self.outermost(word, len(self.tokens)))
        return next(index - 1 for index, depth in depths if self.tokens[index] == "(" and depth == 0)

    def note_clusters(self, word: int, name: int) -> None:
        """Keeps what stands in the __cluster_dims__ of a kernel."""
        first, _ = self.declaration(word)
        for index in range(first, name):
            if self.tokens[index] == "__cluster_dims__" and self.partner[index + 1] is not None:
                self.clusters[self.tokens[name]] = self.code(range(index + 2, self.partner[index + 1]))

    def tell_parameters(self, word: int, name: int) -> None:
        """Declares, beside a template of kernels, the function that tells a launch its parameters' types."""
        first, _ = self.declaration(word)
        close = self.partner[name + 1]
        if (self.token(first), self.token(first + 1)) != ("template", "<") or close is None or self.in_function(word):
            return
        end = self.template_end(first, word)
        if end is None or self.is_angle(first + 2):
            return
        self.templates.add(name)
        types = []
        for part in self.split_at_commas(self.outermost(name + 2, close)):
            values = [place for place, index in enumerate(part) if self.tokens[index] == "="]
            types.append(self.code(self.whole(part[: values[0]] if values else part)))
        header, parameters = self.code(range(first, end + 1)), self.code(range(name + 2, close))
        self.insert(self.starts[first], f"{header} ::cuda_cpu::Parameters<void({', '.join(types)})> "
                    f"{PARAMETERS_OF}{self.tokens[name]}({parameters});")

    def template_parameters(self, word: int) -> int:
        """How many template parameters the declaration around a word has; all for a specialisation."""
        first, _ = self.declaration(word)
        if (self.token(first), self.token(first + 1)) != ("template", "<"):
            return 0
        commas = 0
        for index, depth in self.template_depths(self.outermost(first + 1, word)):
            if index > first + 1 and depth <= 0:
                break
            commas += self.tokens[index] == "," and depth == 1
        return 99 if self.is_angle(first + 2) else commas + 1

    def visible_kernel(self, name: int) -> int | None:
        """The last kernel of this name that is surely visible where the token `name` stands."""
        for declared in reversed(self.kernels.get(self.tokens[name], [])):
            opening = self.parent[declared]
            while self.token(opening - 1) == "namespace":  # one without a name
                opening = self.parent[opening]
            in_scope = opening < 0 or opening < name < (self.partner[opening] or 0)
            if declared < name and (in_scope or self.token(name - 1) == "::"):
                return declared
        return None

    def refuse_functions(self) -> None:
        """Says it when a function without __global__ is launched."""
        uses: dict[str, list[int]] = {name: [] for name in self.launched - self.kernels.keys()}
        for index, token in enumerate(self.tokens if uses else []):
            if token in uses:
                uses[token].append(index)
        for name, indexes in uses.items():
            bodies = [index for index in indexes if self.is_void_function(index)]
            if bodies and not any(self.may_declare_variable(index) for index in indexes):
                advice = "write __global__ in front of its declaration"
                raise self.error(bodies[0], f"{name} is launched but is no kernel: {advice}")

    def is_void_function(self, name: int) -> bool:
        """Whether `void name(...) {` stands here, outside functions and classes."""
        close = self.partner[name + 1] if self.token(name + 1) == "(" else None
        body = close is not None and self.token(close + 1) == "{"
        return body and self.token(name - 1) == "void" and not self.in_function(name)

    def may_declare_variable(self, name: int) -> bool:
        """Whether a variable, a parameter or a type of this name may be declared here."""
        before, after = self.token(name - 1), self.token(name + 1)
        around = self.token(self.parent[name])
        if around == "[":  # [name = value] or auto [name, other]
            return True
        if before == "void":
            return after != "(" or around == "("
        if before == ")":  # decltype(value) name, but not if (value) name<<<...
            return after not in ("(", "<", "<<<")
        return before in ("*", "&", ".") or self.is_word(name - 1) or self.is_angle(name - 1)

    # --- launches

    def launch(self, angle: int) -> None:
        """Notes the edits of the launch whose <<< is the token `angle`."""
        first = self.kernel_start(angle - 1)
        if first is None:
            form = "write kernel<<<grid, block>>>(arguments)"
            raise self.error(angle, f"there is no kernel before <<<: {form}")
        kernel = self.code(range(first, angle))
        form = f"write {kernel}<<<grid, block>>>(arguments)"
        close = self.configuration_end(angle)
        if close is None:
            problem = "has no >>>, or a bracket before it is not closed"
            raise self.error(angle, f"the launch of {kernel} {problem}: {form}")
        around = self.parent[angle]
        if "," not in (self.tokens[i] for i in range(angle, close) if self.parent[i] == around):
            raise self.error(angle, f"the launch of {kernel} needs a grid and a block: {form}")
        opening = close + 1
        if self.token(opening) != "(":
            problem = "has no arguments in parentheses (they may be empty)"
            raise self.error(close, f"the launch of {kernel} {problem}: {form}")
        last = self.partner[opening]
        if last is None:
            raise self.error(opening, f"the arguments of {kernel} are not closed: a ) is missing")
        name = self.name_start(angle - 1) if self.is_plain_name(first, angle) else None
        self.null_arguments(opening, last, name is not None and self.visible_kernel(name) in self.templates)
        if name is not None:
            self.launched.add(self.tokens[name])
        self.replace(first, last, lambda: self.launch_text(first, angle, opening, last))

    def launch_text(self, first: int, angle: int, opening: int, last: int) -> str:
        """The call that stands for the launch of the tokens first..last."""
        kernel = self.code(range(first, angle))
        arguments = self.code(range(opening + 1, last))
        # The name of a kernel may stand for many functions; anything else is a pointer and is read here and now.
        word = self.name_start(angle - 1) if self.is_plain_name(first, angle) else None
        declared = self.visible_kernel(word) if word is not None and self.tokens[word] in self.kernels else None
        # A template's parameter is a constant, so what its kernel calls can become part of it, as with a name.
        named = word is not None and (self.tokens[word] in self.kernels or self.is_template_parameter(word))
        start = self.starts[first]
        close_start = self.starts[opening - 2] if self.token(opening - 1) == ">" else self.end(opening - 1) - len(">>>")
        name = self.at(start) + kernel
        function = name
        if named:
            # A call that does not compile is no error by itself where the check can say it.
            result = f" -> decltype(void({kernel}(cuda_cpu_arguments...)))" if declared is not None else ""
            body = f"[=](auto&&... cuda_cpu_arguments){result} {{ {name}{self.at(self.starts[opening])}(cuda_cpu_arguments...); }}"
            address = f"::cuda_cpu::address_of(cuda_cpu_wanted, {kernel})"
            function = f"{body}, [=](auto cuda_cpu_wanted) -> decltype({address}) {{ return {address}; }}"
            if declared in self.templates:
                told = self.code(range(first, word)) + PARAMETERS_OF + self.code(range(word, angle))
                call = f"{told}(static_cast<decltype(cuda_cpu_arguments)>(cuda_cpu_arguments)...)"
                function += f", [](auto&&... cuda_cpu_arguments) -> decltype({call}) {{ return {{}}; }}"
        clusters = f".in_clusters({self.clusters[self.tokens[word]]})" if named and self.tokens[word] in self.clusters else ""
        pieces = [
            f"[](auto fits) {{ {self.fit_assertion(kernel, declared, start)} }}{self.at(start)}({self.at(start)}",
            f"::cuda_cpu::launcher({quoted(kernel)}, {quoted(arguments)}, ::cuda_cpu::Shape(",
            self.at(self.end(angle)) + self.render(self.end(angle), close_start),
            # The launch knows its line by that of the ) of Shape.
            f"{self.at(start)}){clusters}, {function})(",
            self.at(self.end(opening)) + self.render(self.end(opening), self.starts[last], with_end=True),
            "))",
            self.at(self.end(last)),
        ]
        return "".join(pieces)

    def fit_assertion(self, kernel: str, declared: int | None, start: int) -> str:
        """What refuses a launch at text[start] whose arguments its kernel does not take."""
        signature = kernel
        if declared is not None:
            signature = self.code(range(declared, (self.partner[declared + 1] or declared) + 1))
        problem = "the arguments of this launch do not fit the parameters of the kernel"
        return f"static_assert({self.at(start)}fits, {quoted(problem + ' ' + signature)});"

    def kernel_start(self, index: int) -> int | None:
        """The first token of the kernel's name that ends with the token `index`."""
        start = self.name_start(index)
        while start is not None:
            if self.token(start - 1) == "template":
                start -= 1
            before = self.token(start - 1)
            if before == "::" and not self.ends_operand(start - 2):
                return start - 1
            if before not in ("::", ".", "->"):
                return start
            start = self.name_start(start - 2)
        return None

    def is_plain_name(self, first: int, end: int) -> bool:
        """Whether the tokens first..end - 1 are only names, :: and <...>."""
        depths = self.template_depths(self.outermost(first, end))
        return all(depth or self.tokens[i] not in (".", "->", "(", "[") for i, depth in depths)

    def name_start(self, index: int) -> int | None:
        """Where a name with its <...>, (...) and [...] starts, or a kernel in parentheses."""
        while index >= 0:
            if self.token(index) in (")", "]"):
                opening = self.partner[index]
                if opening is None:
                    return None
                if self.token(opening) == "(" and not self.ends_operand(opening - 1):
                    return opening
                index = opening - 1
            elif self.is_angle(index):
                index = self.angle_start(index) - 1
            else:
                return index if self.is_word(index) else None
        return None

    def ends_operand(self, index: int) -> bool:
        """Whether a token can end what a call or :: continues, unlike the ) of `if (...)`."""
        if self.token(index) == ")":
            opening = self.partner[index]
            return opening is not None and not self.heads_statement(opening)
        return self.is_word(index) or self.is_angle(index) or self.token(index) == "]"

    def heads_statement(self, opening: int) -> bool:
        """Whether a ( belongs to `if`, `if constexpr`, `for`, `while`, ..."""
        constexpr = self.token(opening - 1) == "constexpr"
        return self.token(opening - (2 if constexpr else 1)) in STATEMENT_WORDS

    def angle_start(self, index: int) -> int:
        """The < that the run of > at `index` closes, or -1."""
        depth = len(self.tokens[index])
        while depth > 0 and index > 0:
            index -= 1
            if self.tokens[index] in CLOSERS:
                index = self.partner[index] or 0
            elif self.is_angle(index):
                depth += len(self.tokens[index])
            elif self.tokens[index] == "<" and self.is_word(index - 1):
                depth -= 1
            elif self.tokens[index] in OPENERS or self.tokens[index] == ";":
                return -1
        return index if depth == 0 else -1

    def configuration_end(self, angle: int) -> int | None:
        """The run of > whose last three end the configuration that follows <<<, or the last > of >> >."""
        index, templates = angle + 1, 0
        while index < len(self.tokens):
            token = self.tokens[index]
            if token in OPENERS:
                index = self.partner[index] or len(self.tokens)
            elif token in CLOSERS or token in (";", "<<<"):
                return None
            elif token == "<" and self.is_word(index - 1):
                templates += 1
            elif self.is_angle(index):
                if len(token) >= 3 and len(token) > templates:
                    return index
                if token == ">>" and templates == 0 and self.token(index + 1) == ">":
                    return index + 1
                templates = max(0, templates - len(token))
            index += 1
        return None

    def null_arguments(self, opening: int, last: int, of_template: bool) -> None:
        """Makes an argument that is exactly NULL a nullptr, which keeps its type when copied.

        A 0 for a template is a number or a pointer, as its parameter wants."""
        for index in range(opening + 1, last):
            if self.parent[index] != opening or self.token(index - 1) not in ("(", ","):
                continue
            end = self.partner[index] if self.tokens[index] == "(" else index
            argument = "".join(self.tokens[index : end + 1])
            if self.token(end + 1) not in (",", ")"):
                continue
            if argument in ("__null", "((void*)0)"):
                self.replace(index, end, "nullptr")
            elif of_template and argument == "0":
                self.replace(index, end, f"::cuda_cpu::Zero(){self.at(self.end(end))}")

    # --- shared memory

    def shared(self, word: int) -> None:
        """Notes the edits of the declaration that holds the word __shared__."""
        first, last = self.declaration(word)
        if last is None:
            return  # the compiler says what is wrong
        plain = list(self.outermost(first, last))
        storage = [index for index in plain if self.tokens[index] in STORAGE_WORDS]
        parts = self.split_at_commas(index for index in plain if index not in storage)
        declarators = [self.declarator(part) for part in parts]
        if "extern" in (self.tokens[index] for index in storage):
            if not self.are_plain(declarators, parts):
                problem = "this dynamic shared memory cannot be read"
                raise self.error(word, f"{problem}: write extern __shared__ type name[];")
            text = self.dynamic_text(declarators, self.in_function(word))
            self.replace(first, last, text + self.at(self.end(last)))
            return
        self.refuse_initialisers(word, parts)
        classes = any(self.tokens[index] == "{" for index in plain)
        if self.observed and not classes and self.are_plain(declarators, parts):
            text = self.observed_text(declarators, self.in_function(word))
            self.replace(first, last, text + self.at(self.end(last)))
            return
        for index in storage:
            self.replace(index, index, " " * len(self.tokens[index]))
        if self.observed and self.is_defined_here(declarators, parts):
            name = declarators[0].name
            of_class = f"cuda_cpu_class_of_{self.tokens[name]}"
            self.insert(self.starts[parts[0][0]], "typedef ")
            text = self.observed_text(declarators, self.in_function(word), of_class)
            self.replace(name, last, f"{of_class}; {text}{self.at(self.end(last))}")
            return
        # Attributes stay where they are: alignas(16) must not follow `static`.
        aligned = ""
        if not classes and self.are_plain(declarators, parts) and any(one.dimensions for one in declarators):
            # Kernels read arrays of floats as float4; the attribute alone would lessen the alignment of some types.
            aligned = f" __attribute__((aligned(16), aligned(__alignof__({self.code(self.whole(declarators[0].type))}))))"
        self.insert(self.starts[(parts[0] or [word])[0]], "static thread_local" + aligned)
        if self.token(self.parent[word]) == "{" and self.in_function(word):
            if None not in declarators:
                names = [declarator.name for declarator in declarators]
                listed = ", ".join(self.at(self.starts[name]) + self.tokens[name] for name in names)
                seen = "static thread_local unsigned long long cuda_cpu_seen;"
                enter = f"::cuda_cpu::enter_shared(cuda_cpu_seen, {listed});"
                self.insert(self.end(last), f" {{ {seen} {enter} }}")

    def dynamic_text(self, declarators: list[Declarator], in_function: bool) -> str:
        """References into dynamic shared memory, a declaration for each."""
        pieces = []
        for declarator in declarators:
            own = self.element(declarator, declarators[0])
            element, name = self.code(self.whole(own)), self.tokens[declarator.name]
            declared = [self.code(self.whole([index])) for index in declarator.dimensions]
            size = "".join(declared)
            if declared and declared[0] == "[]":
                rest = "".join(declared[1:])
                size = f"[::cuda_cpu::dynamic_shared_bytes / sizeof({element}{rest})]{rest}"
            named = self.at(self.starts[declarator.name]) + name
            if in_function:
                # As under nvcc, a name has the same type in all kernels: the compiler compares.
                check = f"[[maybe_unused]] extern {element} {named}{''.join(declared)};"
                pieces.append(f"{{ {check} }}")
            storage = "" if in_function else "thread_local "
            label = quoted(name) if self.observed and in_function else ""
            value = f"*reinterpret_cast<{element} (*){size}>(::cuda_cpu::dynamic_shared({label}));"
            pieces.append(f"{storage}{element} (&{named}){size} = {value}")
        return " ".join(pieces)

    @staticmethod
    def are_plain(declarators: list[Declarator | None], parts: list[list[int]]) -> bool:
        """Whether each is a type, a name and sizes; something like (*name)[3] has more tokens."""
        sizes = [d and len(d.type) + 1 + len(d.dimensions) for d in declarators]
        return sizes == [len(part) for part in parts]

    def is_defined_here(self, declarators: list[Declarator | None], parts: list[list[int]]) -> bool:
        """Whether a declaration defines a class and variables of just that class, as union { ... } both, some[4];"""
        return (self.are_plain(declarators, parts) and self.tokens[parts[0][0]] in CLASS_WORDS
                and self.tokens[declarators[0].type[-1]] == "{" and not any(one.type for one in declarators[1:]))

    def observed_text(self, declarators: list[Declarator], in_function: bool, of_class: str = "") -> str:
        """References to static shared memory that the runtime has placed, a declaration for each."""
        pieces = []
        for declarator in declarators:
            own = self.element(declarator, declarators[0])
            element, name = of_class or self.code(self.whole(own)), self.tokens[declarator.name]
            size = "".join(self.code(self.whole([index])) for index in declarator.dimensions)
            place = f"cuda_cpu_place_of_{name}"
            named = self.at(self.starts[declarator.name]) + name
            bound = f"(&{named}){size}" if size else f"&{named}"
            storage, get = ("thread_local ", "shared_variable") if in_function else ("", "shared_by_kernels")
            pieces.append(
                f"static {storage}::cuda_cpu::SharedVariable {place}{{{quoted(name)}}}; "
                f"[[maybe_unused]] {'' if in_function else 'static '}{element} {bound} = "
                f"::cuda_cpu::{get}<{element}{size}>({place});"
            )
        return " ".join(pieces)

    def element(self, declarator: Declarator, first: Declarator) -> list[int]:
        """The tokens of a declarator's own type, the common one among them."""
        base = list(first.type)
        while base and self.tokens[base[-1]] in POINTER_WORDS:
            base.pop()
        return declarator.type if declarator is first else base + declarator.type

    def declaration(self, word: int) -> tuple[int, int | None]:
        """The first token of the declaration around a word and its semicolon, if it has one."""
        first = word
        while first > 0:
            before = self.token(first - 1)
            opening = self.partner[first - 1] if before in CLOSERS else None
            if before in ("{", "(", "[", ";", ":", "") or before in STATEMENT_WORDS:
                break
            if before == "}" and not (opening and self.is_class(opening)):
                break
            if before == ")" and not (opening and not self.heads_statement(opening)):
                break
            first = first - 1 if opening is None else opening
        last = word
        while self.token(last) not in (";", "", *CLOSERS):
            if self.token(last) in OPENERS:
                last = self.partner[last] or len(self.tokens)
            last += 1
        return first, last if self.token(last) == ";" else None

    def outermost(self, first: int, last: int) -> Iterator[int]:
        """The tokens first..last - 1 without attributes; a bracket stands for its group."""
        while first < last:
            opening = first + 1 if self.tokens[first] in ATTRIBUTE_WORDS else first
            if opening > first or (self.tokens[first], self.token(first + 1)) == ("[", "["):
                first = self.partner[opening] or opening
            else:
                yield first
                if self.tokens[first] in OPENERS:
                    first = self.partner[first] or first
            first += 1

    def whole(self, indexes: Iterable[int]) -> Iterator[int]:
        """The tokens that `outermost` gave, with those inside the brackets."""
        for index in indexes:
            last = self.partner[index] if self.tokens[index] in OPENERS else index
            yield from range(index, (last or index) + 1)

    def template_end(self, first: int, last: int) -> int | None:
        """The > of the `template <...>` that begins at a token, before another."""
        return next((index for index, depth in self.template_depths(self.outermost(first + 1, last)) if index > first + 1 and depth <= 0), None)

    def is_template_parameter(self, name: int) -> bool:
        """Whether a name is a parameter of a template around it."""
        around = self.parent[name]
        while around >= 0:
            first, _ = self.declaration(around)
            if self.token(around) == "{" and (self.token(first), self.token(first + 1)) == ("template", "<"):
                end = self.template_end(first, around) or first
                if any(self.tokens[index] == self.tokens[name] and (self.token(index + 1) in (",", "=") or index + 1 == end)
                       for index in range(first, end)):
                    return True
            around = self.parent[around]
        return False

    def template_depths(self, indexes: Iterable[int]) -> Iterator[tuple[int, int]]:
        """Each token with the number of <...> around it."""
        depth = 0
        for index in indexes:
            depth -= len(self.tokens[index]) if self.is_angle(index) else 0
            yield index, depth
            depth += self.tokens[index] == "<"

    def split_at_commas(self, indexes: Iterable[int]) -> list[list[int]]:
        """The tokens of each declarator, the first with the type; commas in <> do not count."""
        parts: list[list[int]] = [[]]
        for index, depth in self.template_depths(indexes):
            if self.tokens[index] == "," and depth == 0:
                parts.append([])
            else:
                parts[-1].append(index)
        return parts

    def declarator(self, part: list[int]) -> Declarator | None:
        """What a part declares, or None if that is not clear."""
        count = len(part)
        while count and self.tokens[part[count - 1]] == "[":
            count -= 1
        dimensions = part[count:]
        if count > 1 and self.tokens[part[count - 1]] == self.tokens[part[count - 2]] == "(":
            count -= 1  # the parameters of a pointer to a function
        if not count:
            return None
        name = part[count - 1]
        if self.tokens[name] == "(" and self.token(name + 1) in ("*", "&"):
            return self.declarator(list(self.outermost(name + 1, self.partner[name] or name)))
        return Declarator(part[: count - 1], name, dimensions) if self.is_word(name) else None

    def refuse_initialisers(self, word: int, parts: list[list[int]]) -> None:
        """Says what nvcc says of `__shared__ int x = 0;` and `__shared__ int x{};`."""
        for part in parts:
            for position, index in enumerate(part):
                braces = self.tokens[index] == "{" and position == len(part) - 1
                if self.tokens[index] == "=" or braces and not self.is_class(index):
                    # After a line break it is the next statement, and a semicolon is missing.
                    if "\n" not in self.text[self.starts[word] : self.starts[index]]:
                        problem = "a __shared__ variable cannot have an initialiser"
                        raise self.error(word, f"{problem}: assign it in the kernel")

    def is_class(self, opening: int) -> bool:
        """Whether a { opens the body of a class, with a name or without."""
        return bool({self.token(opening - 1), self.token(opening - 2)} & CLASS_WORDS)

    def in_function(self, index: int) -> bool:
        """Whether a token stands in a function, not just in a namespace or extern "C"."""
        index = self.parent[index]
        while index >= 0:
            if self.tokens[index] == "{" and not self.is_namespace(index):
                return True
            index = self.parent[index]
        return False

    def is_namespace(self, opening: int) -> bool:
        """Whether a { opens a namespace or an extern "C" block."""
        if self.token(opening - 2) == "extern" and self.token(opening - 1).startswith('"'):
            return True
        index = opening - 1
        while self.token(index) == "::" or self.token(index) == "]" or self.is_word(index):
            if self.tokens[index] == "namespace":
                return True
            index = self.partner[index] or 0 if self.tokens[index] == "]" else index
            index -= 1
        return False


def with_device_pass(text: str, file: str) -> str:
    """The text with what only nvcc's second pass sees (two_passes.py); of what is left out a note with its line."""
    import two_passes
    with open(file, encoding="utf-8", errors="surrogateescape") as device:
        device_text = device.read()
    for name, line in two_passes.halves_of_functors(text, device_text):
        print(f"{name[1:-1]}:{line}: note: in CPU mode Thrust's algorithms call this with __CUDA_ARCH__, on vectors of the host, too", file=sys.stderr)
    text, left_out = two_passes.merged(text, device_text)
    if left_out:
        name, line = left_out[0]
        print(f"{name[1:-1]}:{line}: note: CPU mode leaves this line out, which is there where __CUDA_ARCH__ is defined", file=sys.stderr)
    return text


def main() -> int:
    """Translates standard input to standard output; `--observed` for a sanitizer, `--declared` without what the runtime has
    compiled, `--device FILE` with the device's text; last, `--precompiled FOLDER HEADERS AGREED...` (precompiled.py)."""
    source, before = sys.stdin.buffer.read(), ""
    if "--precompiled" in sys.argv:
        before, source = precompiled.shortened(source, *sys.argv[sys.argv.index("--precompiled") + 1:])
    text = source.decode("utf-8", "surrogateescape")
    # g++ -E writes ö in a name as \U000000f6, which it does not read again.
    text = re.sub(r"(?<!\\)\\U([0-9a-f]{8})", lambda letter: chr(int(letter[1], 16)), text)
    if "--declared" in sys.argv[1:]:
        text = declared(text)
    try:
        if absent := absent_header(text):
            raise TranslationError(*absent, "")
        if "--device" in sys.argv[1:]:
            text = with_device_pass(text, sys.argv[sys.argv.index("--device") + 1])
        translated = translate(learner_columns(text), observed="--observed" in sys.argv[1:])
    except TranslationError as error:
        sys.stderr.buffer.write(f"{error}\n".encode("utf-8", "surrogateescape"))
        return 1
    sys.stdout.buffer.write((before + translated).encode("utf-8", "surrogateescape"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
