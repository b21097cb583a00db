"""What the learner reads: each thing once, at most a screen, and the cause from the case that tells it best."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from .usage import counted
from .diagnose import Fact, Shared

TINY = 64  # elements: with fewer, one value, a shift or a copy fits too many causes
SCREEN = 36  # lines of failures that are shown without --all
WIDE = 150  # letters of a line that stands for a whole group
MARK = "likely cause: "


@dataclass
class Outcome:
    """A case as it ended."""

    name: str
    verdict: str  # "ok", "FAIL" or "skip"
    seconds: float
    variant: str = ""  # whose program text it judges
    function: str = ""  # of the checker
    message: str = ""
    own_cause: str | None = None  # as the case tells it alone
    cause: str | None = None  # as all cases together tell it
    elements: int | None = None  # of the array that was compared
    repeat: str = ""
    told_by: str = ""  # the case whose cause this is, when it is not its own
    by_program: bool = False
    unjudged: bool = False  # other cases are to tell what is wrong
    statuses: list[int] = field(default_factory=list)
    fresh: bool = False  # its input comes from --seed
    launches: list[tuple[str, int, int, int]] = field(default_factory=list)  # checker.record.launches of all runs

    def fail(self, text: str, cause: str | None = None, elements: int | None = None) -> None:
        """Takes the text of a failure apart: what is wrong, the cause, the command that repeats it."""
        lines = text.splitlines()
        self.verdict, self.elements = "FAIL", elements
        self.repeat = next((line for line in lines if line.startswith("repeat: ")), self.repeat)
        lines = [line for line in lines if not line.startswith("repeat: ")]
        if cause is None and len(lines) > 1 and lines[-1].startswith(MARK):
            cause = lines.pop().removeprefix(MARK)
        self.own_cause = self.cause = cause
        self.message = "\n".join(lines)

    def cause_line(self) -> list[str]:
        if not self.cause:
            return []
        told = f" (as {self.told_by} shows)" if self.told_by else ""
        return [("what stands out: " if isinstance(self.cause, Fact) else MARK) + self.cause + told]

    def text(self) -> str:
        """All that is said of the case, from its verdict on."""
        return "\n      ".join([f"{self.verdict:<4}  {self.name}", *self.full_message().splitlines()])

    def full_message(self) -> str:
        return "\n".join([*self.message.splitlines(), *self.cause_line(), *([self.repeat] if self.repeat else [])])

    def why(self) -> str:
        """The cause in one line; what the program says of itself stands for it. "" where nobody knows it."""
        if sure(self.cause):
            return str(self.cause)
        _, said, words = self.message.partition("it says on stderr:\n")
        return words.splitlines()[0].strip() if said else ""

    def key(self) -> str:
        """Equal for cases that fail for one reason, as far as that is known."""
        words = self.why() or f"{self.variant}\n{self.cause or self.message.split(' (')[0]}"
        if self.variant and self.why():
            words = re.sub(rf"\b{re.escape(self.variant)}\b", "*", words)
        words = words.replace("the first byte past the end", "# bytes past the end")
        return re.sub(r"(?<!TODO )(?<!task )\b(?:0x[0-9a-f]+|\d[\d.e+-]*)", "#", words)


# The cause


def settle(outcomes: list[Outcome], tasks: dict[str, str]) -> None:
    """Gives each failing case the cause that all cases together tell. `tasks`: variant -> "TODO 4"."""
    if any(outcome.verdict == "FAIL" and not outcome.unjudged for outcome in outcomes):
        for outcome in outcomes:
            if outcome.unjudged:
                outcome.verdict, outcome.message = "skip", "no race was found, but the result is wrong: the other cases judge it"
    failing = [outcome for outcome in outcomes if outcome.verdict == "FAIL"]
    passed = passing_variants(outcomes)
    right = {outcome.variant for outcome in outcomes if outcome.verdict == "ok"}
    for outcome in failing:
        best = better_explained(outcome, failing) or outcome
        outcome.cause = best.own_cause
        outcome.told_by = best.name if best.own_cause != outcome.own_cause else ""
        if not outcome.cause and "did not end within" in outcome.message and outcome.variant in right - {""}:
            outcome.cause = Fact(f"other cases of {outcome.variant} end, and are right: its loops stop, but where there is more "
                                 f"to do threads do it again and again, in steps that are too small, or one waits for another")
        if outcome.variant and passed - {outcome.variant}:
            outcome.cause = cause_of_its_own(outcome, tasks.get(outcome.variant, ""),
                                             sorted({other.variant for other in failing} - {outcome.variant, ""}))


def passing_variants(outcomes: list[Outcome]) -> set[str]:
    """Those that were judged, and never failed."""
    failed = {outcome.variant for outcome in outcomes if outcome.verdict == "FAIL"}
    return {outcome.variant for outcome in outcomes if outcome.verdict == "ok" and outcome.variant} - failed


def sure(cause: str | None) -> bool:
    return bool(cause) and not isinstance(cause, Fact)


def unclear(outcome: Outcome) -> bool:
    """May a larger case tell more of what was compared here?"""
    return outcome.elements is not None and (outcome.elements < TINY or not sure(outcome.own_cause))


def better_explained(outcome: Outcome, failing: list[Outcome]) -> Outcome | None:
    """The larger case of the same variant that says why; a tiny case does not guess where a larger one is silent."""
    if not unclear(outcome):
        return None
    larger = [other for other in failing if (other.variant, other.variant or other.function) ==
              (outcome.variant, outcome.variant or outcome.function) and (other.elements or 0) >= max(TINY, outcome.elements + 1)]
    telling = [other for other in larger if sure(other.own_cause)]
    return next(iter([*telling, *(larger if outcome.elements < TINY else [])]), None)


def cause_of_its_own(outcome: Outcome, task: str, others: list[str]) -> str | None:
    """The cause, now that another variant passes: what both share is right, so it is the variant's own. Or it lies in
    what it shares with `others`, which fail."""
    cause = outcome.cause
    named = ", ".join(others[:3]) + f" and {len(others) - 3} more" * (len(others) > 3)
    shared = f", or in what it shares with {named}, which fail{'s' * (len(others) == 1)} as well" * bool(others)
    if isinstance(cause, Shared):
        cause = cause.own or (f"it is in {outcome.variant} itself{shared}: other variants pass, with the same copies and the same "
                              f"kind of launch")
    if not task or outcome.why() and not cause or cause and re.search(r"\b(TODO|task)\b", cause):
        return cause
    if not cause:
        return Fact(f"other variants pass: it is in {outcome.variant} itself ({task}){shared}")
    return (Fact if isinstance(cause, Fact) else str)(f"{cause} ({task})")


# The lines


def print_all(failing: list[Outcome]) -> None:
    """Every failing case; what was said before is only named."""
    said: dict[str, str] = {}
    for outcome in failing:
        lines = [f"FAIL  {outcome.name}"]
        first = said.setdefault(outcome.message + (outcome.cause or ""), outcome.name)
        if first != outcome.name:
            lines.append(f"the same as in: {first}")
        else:
            lines += outcome.message.splitlines()
            told = said.setdefault(outcome.cause, outcome.name) if outcome.cause else outcome.name
            lines += outcome.cause_line() if told == outcome.name else [f"the same cause as in: {told}"]
            lines += [outcome.repeat] if outcome.repeat else []
        print("\n      ".join(lines), flush=True)


def print_failures(failing: list[Outcome]) -> bool:
    """Each cause once, with its first case; says whether anything was left out."""
    groups: dict[str, list[Outcome]] = {}
    for outcome in failing:
        groups.setdefault(outcome.key(), []).append(outcome)
    room, waiting = SCREEN, len(groups)
    hidden = len(failing) > len(groups)
    for first, *rest in groups.values():
        waiting -= 1
        lines = [*first.text().split("\n      "), *same_cause(first, rest)]
        if room < SCREEN and len(lines) + min(waiting, 8) > room:
            lines, hidden = [one_line(first, rest)], True
            if room <= 1 and waiting:
                print(f"FAIL  {counted(waiting + 1, 'further group')} of cases")
                return True
        print("\n      ".join(lines), flush=True)
        room -= len(lines)
    return hidden


def same_cause(first: Outcome, rest: list[Outcome]) -> list[str]:
    """How many more cases fail so, and of which variants."""
    if not rest:
        return []
    what = "cause" if first.why() else "result"
    return [cut(f"the same {what} in {counted(len(rest), 'more case')}: {of_variants(rest)}")]


def of_variants(outcomes: list[Outcome]) -> str:
    """"grid_stride (3), vectorised: 1 element": variants with their numbers of cases."""
    names: dict[str, list[str]] = {}
    for outcome in outcomes:
        names.setdefault(outcome.variant or outcome.name, []).append(outcome.name)
    return ", ".join(group[0] if len(group) == 1 else f"{variant} ({len(group)})" for variant, group in names.items())


def one_line(first: Outcome, rest: list[Outcome]) -> str:
    more = f" (and {len(rest)} more)" if rest else ""
    return cut(f"FAIL  {first.name}{more}: {first.why() or first.message.splitlines()[0]}")


def cut(text: str) -> str:
    return text if len(text) <= WIDE else text[:WIDE - 4].rstrip(" ,") + " ..."


def print_skipped(skipped: list[Outcome]) -> None:
    """Each reason once."""
    reasons: dict[str, list[Outcome]] = {}
    for outcome in skipped:
        reasons.setdefault(outcome.message, []).append(outcome)
    for reason, group in reasons.items():
        more = f" and {counted(len(group) - 1, 'more case')}" if len(group) > 1 else ""
        print(f"skip  {group[0].name}{more}: {reason}")
