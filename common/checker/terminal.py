"""What a terminal can do and a file cannot: colours, a progress bar that vanishes, single keys."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
import termios
import time
import tty

COLOURS = {"green": "32", "red": "31", "yellow": "33", "grey": "90", "bold": "1"}
CLEAR_SCREEN = "\033[H\033[2J"
BAR_WIDTH = 24
BAR_DELAY = 2.0  # seconds; what is quicker needs no bar
# Everything but control characters, halves of characters, and what turns the direction of writing.
UNFIT = re.compile(r"[^\t\n\x20-\x7e\xa0-\u2029\u202f-\u2065\u206a-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def is_terminal(stream) -> bool:
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def paint(text: str, colour: str, stream=None) -> str:
    """The text in a colour, where the stream is a terminal and NO_COLOR is not set."""
    if not is_terminal(stream or sys.stdout) or os.environ.get("NO_COLOR"):
        return text
    return f"\033[{COLOURS[colour]}m{text}\033[0m"


def clean(text: str) -> str:
    """What somebody else wrote, a compiler or a student, without what a terminal would obey and
    what no JSON, XML or page may hold."""
    return UNFIT.sub("\ufffd", text)


def one_line(text: str) -> str:
    return clean(" ".join(text.split()))


def width() -> int:
    return shutil.get_terminal_size().columns


def bar(done: int, total: int) -> str:
    filled = BAR_WIDTH * done // max(total, 1)
    return f"[{'#' * filled}{'.' * (BAR_WIDTH - filled)}]"


class ProgressBar:
    """One line on standard error, only on a terminal, and only once the work has taken two seconds."""

    def __init__(self):
        self.begun = time.monotonic()
        self.drawn = False

    def show(self, done: int, total: int, text: str) -> None:
        if not is_terminal(sys.stderr) or time.monotonic() - self.begun < BAR_DELAY:
            return
        line = f"{bar(done, total)} {done} of {total}  {text}"
        print(f"\r{line[:width() - 1]}\033[K", end="", file=sys.stderr, flush=True)
        self.drawn = True

    def close(self) -> None:
        if self.drawn:
            print("\r\033[K", end="", file=sys.stderr, flush=True)
            self.drawn = False


class Keys:
    """Single keys from standard input, without Enter and without echo; the terminal is put back."""

    def __init__(self):
        self.descriptor = sys.stdin.fileno()
        self.former = termios.tcgetattr(self.descriptor)

    @staticmethod
    def possible() -> bool:
        """Not from a file, nor behind an `&`, where reading would stop the program."""
        return (sys.stdin.isatty() and is_terminal(sys.stdout)
                and os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp())

    def __enter__(self) -> Keys:
        tty.setcbreak(self.descriptor)
        signal.signal(signal.SIGTSTP, self.pause)
        return self

    def __exit__(self, *_) -> None:
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        self.put_back()

    def put_back(self) -> None:
        try:
            termios.tcsetattr(self.descriptor, termios.TCSADRAIN, self.former)
        except termios.error:
            pass  # the terminal is gone

    def pause(self, *_) -> None:
        """Ctrl+Z: the shell gets its terminal as it was, and it is ours again after `fg`."""
        self.put_back()
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        self.__enter__()

    def read(self) -> str:
        """The keys that were pressed; empty at the end of the input."""
        return os.read(self.descriptor, 64).decode("utf-8", "replace")
