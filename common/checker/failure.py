"""How a case ends when it does not pass."""


class Failure(Exception):
    """The case fails; the text is what the learner reads."""


class Skipped(Exception):
    """The case cannot be judged on this machine; the text says why.

    `by_program` is true when the program itself said so (status 77).
    """

    def __init__(self, reason: str, by_program: bool = False):
        super().__init__(reason)
        self.by_program = by_program
