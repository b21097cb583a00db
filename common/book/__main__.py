"""make book: the course as a site, build/book/site, made by Sphinx.

    python3 -m book [--serve] [--pdf] [NN_name ...]

A broken link, a picture that is not there, or a page that nothing leads to stops it. Sphinx and its theme are installed into
build/book/python, once. Ends with 0, 1 when the book cannot be made, or 2 for bad usage.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

from checker.job import interruptible

from .repository import repository

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PLACE = ROOT / "build/book"
SITE, PDF = PLACE / "site", PLACE / "pdf"
WATCHED = ("README.md", "docs", "labs", "solutions", "common/book")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class Impossible(Exception):
    """The book cannot be made; the text says why."""


def python() -> Path:
    """The one that has Sphinx, made where it is not there or wants other versions."""
    folder, wanted = PLACE / "python", (HERE / "requirements.txt").read_text(encoding="utf-8")
    found, there = folder / "bin/python", folder / "requirements.txt"
    if there.is_file() and there.read_text(encoding="utf-8") == wanted and found.exists():
        return found
    print("make book: installs Sphinx and its theme into build/book/python (once)", file=sys.stderr)
    for words in ([sys.executable, "-m", "venv", "--clear", str(folder)],
                  [str(found), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(HERE / "requirements.txt")]):
        result = subprocess.run(words, text=True, capture_output=True, check=False)
        if result.returncode != 0:
            raise Impossible(f"Sphinx cannot be installed:\n{(result.stderr or result.stdout).strip()[-2000:]}")
    there.write_text(wanted, encoding="utf-8")
    return found


def build(site: Path = SITE, pages: Path = PLACE / "pages") -> None:
    """The site anew, as far as pages have changed; `pages` is what Sphinx remembers of them."""
    words = [str(python()), "-B", "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-j", "auto", "-b", "html",
             "-c", str(HERE), "-d", str(pages), str(ROOT), str(site)]
    environment = {**os.environ, "COURSE_PYTHON": sys.executable, "PYTHONPATH": str(ROOT / "common")}
    if subprocess.run(words, env=environment, check=False).returncode != 0:
        shutil.rmtree(pages, ignore_errors=True)  # or the next build would not look at what is wrong, and be content
        raise Impossible("the book is not made, for the reasons above")
    print(f"make book: {os.path.relpath(site / 'index.html')}", file=sys.stderr)


def state() -> dict[str, float]:
    """When each file was changed that the book is made of."""
    files = [path for name in WATCHED for path in ([ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*"))]
    found = {}
    for path in files:
        try:
            if path.is_file():
                found[str(path)] = path.stat().st_mtime
        except FileNotFoundError:  # an editor's, gone meanwhile
            pass
    return found


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        """Says nothing of each file."""


def serve(port: int, before: dict[str, float]) -> None:
    """Shows the site, and builds it anew at each save, until it is interrupted. `before`: of what it was built."""
    try:
        server = http.server.ThreadingHTTPServer(("127.0.0.1", port), functools.partial(Quiet, directory=SITE))
    except OSError as error:
        raise Impossible(f"port {port} cannot be used: {error.strerror}; ARGS=\"--port 8001\" takes another one") from None
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"make book: http://127.0.0.1:{port}/ shows it; Ctrl+C ends", file=sys.stderr)
    while True:
        time.sleep(0.5)
        now = state()
        if now != before:
            before = now
            try:
                build()
            except Impossible as reason:
                print(f"make book: {reason}", file=sys.stderr)


def browser() -> str:
    """The one that prints."""
    if found := next(filter(None, map(shutil.which, BROWSERS)), ""):
        return found
    raise Impossible(f"a PDF is printed by {BROWSERS[0]} or {BROWSERS[2]}, and none is installed (sudo apt install chromium)")


def print_labs(labs: list[str], site: Path = SITE, folder: Path = PDF) -> None:
    """Each lab's page as a PDF, by a browser without a window."""
    folder.mkdir(exist_ok=True)
    for lab in labs:
        target = folder / f"{lab}.pdf"
        words = [browser(), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-pdf-header-footer", f"--user-data-dir={folder / '.browser'}",
                 "--virtual-time-budget=10000", f"--print-to-pdf={target}", (site / "labs" / lab / "README.html").as_uri()]
        target.unlink(missing_ok=True)  # an old one would look like the new one
        try:
            result = subprocess.run(words, text=True, capture_output=True, check=False, timeout=120)
        except subprocess.TimeoutExpired:
            raise Impossible(f"{words[0]} has not printed {lab} within 120 s") from None
        if result.returncode != 0 or not target.is_file():
            raise Impossible(f"{words[0]} has not printed {lab}: {result.stderr.strip()[-500:]}")
        print(f"make book: {os.path.relpath(target)}", file=sys.stderr)
    shutil.rmtree(folder / ".browser", ignore_errors=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="make book", allow_abbrev=False, description="The course as a site.")
    parser.add_argument("--serve", action="store_true", help="show it, and build it anew at each save")
    parser.add_argument("--port", type=int, default=8000, metavar="N", help="where --serve shows it (8000)")
    parser.add_argument("--pdf", action="store_true", help="print the labs' pages, too")
    parser.add_argument("labs", nargs="*", metavar="NN_name", help="print these only")
    options = parser.parse_args()
    if not 0 < options.port < 65536:
        parser.error(f"--port is a number from 1 to 65535, not {options.port}")
    try:
        repository()
    except ValueError as mistake:
        parser.error(str(mistake))
    PLACE.mkdir(parents=True, exist_ok=True)
    try:
        before = state()
        if options.pdf:
            browser()
        build()
        if options.pdf:
            print_labs(options.labs or sorted(path.parent.name for path in ROOT.glob("labs/*/README.md")))
        if options.serve:
            serve(options.port, before)
    except Impossible as reason:
        print(f"make book: {reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(interruptible("book", main))
