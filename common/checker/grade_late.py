"""How late a submission is, by a table of deadlines:

    lab,deadline,student
    03,2026-11-20 23:59,
    03,2026-11-27 23:59,ada        a deadline of her own
"""

from __future__ import annotations

import csv
import math
from datetime import datetime
from pathlib import Path

from .grade_score import named_lab


class Deadlines:
    """Of each lab, and of students who have another one. ValueError says what is wrong with the table."""

    def __init__(self, path: Path | None, labs: list[str]):
        self.times: dict[tuple[str, str], datetime] = {}
        if path is None:
            return
        with open(path, newline="", encoding="utf-8-sig") as file:
            rows = csv.DictReader(file)
            if not {"lab", "deadline"} <= set(rows.fieldnames or ()):
                raise ValueError(f"{path.name} needs the columns lab and deadline, and may have student")
            for number, row in enumerate(rows, 2):
                lab = named_lab(labs, (row["lab"] or "").strip())
                try:
                    when = datetime.fromisoformat((row["deadline"] or "").strip())
                except ValueError:
                    raise ValueError(f"{path.name}:{number}: a deadline is written 2026-11-20 23:59, not "
                                     f"{row['deadline']}") from None
                if lab:  # a table of the whole course may name labs that are not graded now
                    self.times[lab, (row.get("student") or "").strip()] = when

    def days_late(self, student: str, lab: str, changed: float) -> int:
        """Days begun after the deadline, by the time at which the latest file was changed."""
        when = self.times.get((lab, student)) or self.times.get((lab, ""))
        return max(0, math.ceil((changed - when.timestamp()) / 86400)) if when else 0
