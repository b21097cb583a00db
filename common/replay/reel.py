"""The file that a run leaves (common/cpu/runtime/film_reel.h): its head, and columns of numbers."""

from __future__ import annotations

import json
from array import array
from pathlib import Path

from checker.failure import Failure

CODES = {1: "B", 2: "H", 4: "I"}


class Reel:
    def __init__(self, path: Path):
        self.data = path.read_bytes() if path.exists() else b""
        self.head = {"columns": [], "launches": [], "arrays": [], "cut": None}
        self.columns: dict[str, array] = {}
        if not self.data:
            return
        length = int.from_bytes(self.data[:4], "little")
        if 4 + length > len(self.data):
            raise self.cut_off(path)
        self.head, at = json.loads(self.data[4:4 + length]), 4 + length
        for name, size, count in self.head["columns"]:
            if at + size * count > len(self.data):
                raise self.cut_off(path)
            self.columns[name] = array(CODES[size], self.data[at:at + size * count])
            at += -(-size * count // 8) * 8

    def cut_off(self, path: Path) -> Failure:
        return Failure(f"only the first {len(self.data):,} bytes of the film could be written to {path.parent.parent}: TMPDIR=folder names one with "
                       'more room, and a smaller case, or REPLAY="--events N", needs less')

    def __getitem__(self, name: str) -> array:
        return self.columns[name]

    @property
    def steps(self) -> int:
        return len(self.columns.get("step_place", ()))

    def left_out(self) -> list[str]:
        """What the film has not, in sentences."""
        said = []
        if cut := self.head["cut"]:
            launch = self.head["launches"][cut["launch"]]
            said.append(f"The film ends after {cut['step']:,} steps, within launch {cut['launch'] + 1} ({launch['kernel']}): the rest ran "
                        "unseen. A smaller case is seen in full.")
        if self.head.get("left_out"):
            said.append(f"{self.head['left_out']:,} later launches are not in the film.")
        if self.head.get("others"):
            said.append(f"Launches of other kernels are not in the film: {', '.join(self.head['others'])}.")
        if self.head.get("unseen"):
            said.append(f"{self.head['unseen']:,} elements were written without a step that shows it: they change where their launch ends.")
        return said
