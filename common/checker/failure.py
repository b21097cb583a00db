"""How a case ends when it does not pass."""


class Failure(Exception):
    """The case fails; the text is what the learner reads.

    `cause` is a sentence of diagnose, or None; `elements` is how many the compared array has, None when
    nothing was compared. Both are for the report, which may find a better cause in another case.
    """

    def __init__(self, text: str, cause: str | None = None, elements: int | None = None):
        super().__init__(text)
        self.cause = cause
        self.elements = elements


class Unjudged(Failure):
    """The case has found nothing of its own, but the program calls its result wrong: it fails only where no other case does."""


class Skipped(Exception):
    """The case cannot be judged on this machine; the text says why.

    `by_program` is true when the program itself said so (status 77).
    """

    def __init__(self, reason: str, by_program: bool = False):
        super().__init__(reason)
        self.by_program = by_program
