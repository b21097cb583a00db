"""What binutils say of a program: which lines of the source its addresses stand for."""

import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

WHERE = re.compile(r"(.*):(\d+|\?)(?: \(discriminator \d+\))?")
ADDR2LINE = ("addr2line", "-a", "-i", "-f", "-C", "-e")  # and a program; addresses on standard input
RUNTIME = re.compile(r"(?:\w+ )?cuda_cpu::")


class Frame(NamedTuple):
    """A place in the source; an address has several where functions were inlined."""

    function: str
    file: str
    line: int  # 0: not known

    def is_of_runtime(self) -> bool:
        """Whether it is in a function of CPU mode, for which addr2line may name the wrong file."""
        return bool(RUNTIME.match(self.function))


class MissingTool(Exception):
    """A tool that is not installed, in a sentence."""


def output(*command: object, input: str | None = None) -> str:
    """What a tool of binutils prints."""
    words = [str(word) for word in command]
    try:
        return subprocess.run(words, input=input, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True, errors="replace", check=True).stdout
    except FileNotFoundError:
        raise MissingTool(f"{words[0]} is not installed, which finds the source's lines in the program; "
                          "it comes with binutils (as in: sudo apt install binutils).") from None


def frames_of(program: Path, addresses: Iterable[int]) -> dict[int, list[Frame]]:
    """The frames of each address, the innermost first."""
    asked = "\n".join(f"{address:#x}" for address in addresses)
    return frames_in(output(*ADDR2LINE, program, input=asked))


def frames_in(text: str) -> dict[int, list[Frame]]:
    """The frames of each address in what addr2line has said."""
    found: dict[int, list[Frame]] = {}
    frames: list[Frame] = []
    function = ""
    for line in text.splitlines():
        if line.startswith("0x"):
            frames = found.setdefault(int(line, 16), [])
        elif not function:
            function = line
        else:
            match = WHERE.fullmatch(line)
            file, number = (match[1], match[2]) if match else (line, "?")
            frames.append(Frame(function, file, int(number) if number.isdigit() else 0))
            function = ""
    return found
