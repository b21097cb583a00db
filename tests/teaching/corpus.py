"""The programs of this folder, what their first lines expect, and one source that is any of them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import farm

FOLDER = Path(__file__).resolve().parent
KINDS = {"race", "bounds", "freed", "barrier", "uninitialised", "host-pointer", "device-pointer",
         "double-free", "copy-direction", "leak", "warp", "undefined", "launch", "call"}
MAIN = """
int main(int argc, char** argv) {
    for (int i = 1; i < argc; ++i) {
        const std::string name = argv[i];
        int status = 2;
%s
        if (status != 0) return std::printf("%%s: status %%d\\n", argv[i], status), status;
    }
    return 0;
}
"""


@dataclass(frozen=True)
class Example:
    """A program and what its first line says of it."""

    name: str
    kind: str  # one of KINDS, or "silent" for a right one
    lines: tuple[int, ...]  # those to be named, in order
    text: str

    @property
    def source(self) -> Path:
        return FOLDER / f"{self.name}.cu"

    @property
    def faulty(self) -> bool:
        return self.kind != "silent"


def read(path: Path) -> Example:
    text = path.read_text(encoding="utf-8")
    found = re.match(r"// expect: ([a-z-]+)((?: \d+)*)\n", text)
    assert found and found[1] in KINDS | {"silent"}, f"{path.name} does not begin with // expect: KIND LINE"
    return Example(path.stem, found[1], tuple(sorted(map(int, found[2].split()))), text)


EXAMPLES = {example.name: example for example in map(read, sorted(FOLDER.glob("*.cu")))}
FAULTY = {name: example for name, example in EXAMPLES.items() if example.faulty}
RIGHT = {name: example for name, example in EXAMPLES.items() if not example.faulty}


def joined() -> tuple[str, dict[str, int]]:
    """A source whose main() runs the programs that it is given, each in a namespace of its own; and how many
    lines stand before each of them."""
    headers = {line for example in EXAMPLES.values() for line in re.findall(r"^#include <.*$", example.text, re.M)}
    lines = [*sorted(headers), '#include "../../common/lab.h"']
    before = {}
    for name, example in EXAMPLES.items():
        before[name] = len(lines)
        # The first line becomes the namespace, so all others keep their distance from it.
        body = ["" if line.startswith("#include") else line for line in example.text.splitlines()[1:]]
        lines += [f"namespace program_{name} {{", *body, f"}}  // namespace program_{name}"]
    choices = [f'        if (name == "{name}") status = program_{name}::main();' for name in EXAMPLES]
    return "\n".join(lines) + MAIN % "\n".join(choices), before


def source() -> tuple[Path, dict[str, int]]:
    """The file of joined(), written."""
    text, before = joined()
    return farm.plant("teaching", "corpus", {"corpus.cu": text}) / "corpus.cu", before
