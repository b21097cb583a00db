"""Where the course is published, as far as its pages lead there."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FORM = re.compile(r"https://git(hub|lab)\.com(/[\w.-]+){2,}")  # whose addresses of files are known


def address_of(text: str) -> str:
    """A repository's address without what git adds to it; "" if pages of its files are not known."""
    text = text.strip().replace("git@github.com:", "https://github.com/").rstrip("/").removesuffix(".git")
    return text if FORM.fullmatch(text) else ""


def repository() -> str:
    """REPOSITORY, or what git has cloned the course from; "" if that is at neither place. ValueError: REPOSITORY is no such address."""
    if asked := os.environ.get("REPOSITORY"):
        if address := address_of(asked):
            return address
        raise ValueError(f"REPOSITORY is an address as https://github.com/owner/course, or the like at gitlab.com; {asked} is none")
    try:
        words = ["git", "-C", str(ROOT), "config", "--get", "remote.origin.url"]
        return address_of(subprocess.run(words, text=True, capture_output=True, check=False).stdout)
    except FileNotFoundError:  # no git
        return ""
