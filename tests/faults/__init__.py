"""Planted faults: tests/faults/NN_name.py lists ways to break solutions/NN_name/name.cu.

    from faults import Fault

    FAULTS = [
        Fault(name="dropped bounds test", old="if (i < count)", new="if (true)", count=2,
              caught="never written"),
    ]

Each fault is applied to the solution, built, and must fail the lab's checker with status 1.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """One way to break a solution: `old` becomes `new`, exactly `count` times."""

    name: str
    old: str
    new: str
    count: int = 1
    caught: str = ""  # a regular expression that the checker's output must match
    on_card: str = ""  # the same on a card, where something else is said
    file: str = ""  # the file to change when it is not the lab's .cu
    backends: tuple[str, ...] = ("cpu", "gpu")  # where the fault shows
    further: bool = False  # in what only FURTHER=1 builds, but in no page of further/
    cases: tuple[str, ...] = ()  # those that tell it, where others of its variant come before them: they are tried alone
    watched: bool = False  # shows in a watched case (lab.watched), which costs another build; in CPU mode only

    def apply(self, text: str) -> str:
        """The broken source; an error when `old` is not there as often as announced."""
        found = text.count(self.old)
        if found != self.count:
            raise ValueError(f"fault '{self.name}': `{self.old}` stands {found} times in the solution, "
                             f"not {self.count}")
        return text.replace(self.old, self.new)

    def function(self, text: str) -> str:
        """The name of the function that it breaks first, as far as the text tells; kernels and host routines alike."""
        heads = re.findall(r"^[A-Za-z_](?:[\w<>:,*& ]|__launch_bounds__\(.*?\))*?[ *&](?!__launch)(\w+)\(",
                           text[:text.find(self.old)], re.MULTILINE)
        return heads[-1] if heads else ""
