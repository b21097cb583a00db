"""docs/colab.ipynb: its form, and its cells tried one by one in a fresh clone, without Jupyter.

    python3 -B tests/test_notebook.py     tries all of them, not only those of two labs

A line that begins with `!` is bash, with the notebook's variables; `%cd` and `%%writefile` do what they do in a
notebook; display(Image(...)) needs pictures that are there.
"""

import ast
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from PIL import Image

from farm import BACKEND, ROOT, lend_runtimes

NOTEBOOK = ROOT / "docs/colab.ipynb"
FULLY = ("01", "03")  # labs whose cells every test run tries; a lab costs some seconds
LAB = re.compile(r"LAB=(\d+)")


def cells(kind="code"):
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def is_tried(cell):
    """Whether a cell belongs to no lab, or to one of those that are tried fully."""
    number = LAB.search(cell)
    return not number or number[1] in FULLY


class Session:
    """What a notebook keeps from cell to cell."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.variables: dict[str, str] = {}

    def run(self, cell: str) -> str:
        """What the cell prints; whatever it cannot do is an AssertionError."""
        if cell.startswith("%%writefile "):
            first, text = cell.split("\n", 1)
            (self.folder / first.split(maxsplit=1)[1]).write_text(text, encoding="utf-8")
            return ""
        return "".join(self.line(line) for line in cell.splitlines() if line and not line.startswith("#"))

    def line(self, line: str) -> str:
        if line.startswith("!"):
            environment = {**os.environ, "BACKEND": BACKEND, "PYTHON": sys.executable, "TERM": "dumb", **self.variables}
            return subprocess.run(["bash", "-c", line[1:]], cwd=self.folder, env=environment, text=True, timeout=200,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout
        if line.startswith("%cd "):
            self.folder = self.folder / shlex.split(line)[1]
            assert self.folder.is_dir(), f"{line}: there is no such folder"
            return ""
        statement = ast.parse(line).body[0]
        if isinstance(statement, ast.Assign):
            self.variables[statement.targets[0].id] = ast.literal_eval(statement.value)
        elif not isinstance(statement, ast.ImportFrom):
            assert line.startswith("display("), f"nothing here knows how to try: {line}"
            for file in re.findall(r'Image\("(.*?)"\)', line):
                Image.open(self.folder / file).verify()
        return ""


def clone_source(folder: Path) -> Path:
    """A repository of the course as it lies here, changes that nobody has committed among it."""
    files = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], cwd=ROOT, check=False,
                           capture_output=True).stdout
    if not files:
        pytest.skip("the course is no git repository here")
    present = b"\0".join(name for name in files.split(b"\0") if name and (ROOT / os.fsdecode(name)).is_file())
    repository = folder / "course.git"
    repository.mkdir()
    subprocess.run(["tar", "cf", folder / "course.tar", "--null", "-T", "-"], cwd=ROOT, input=present, check=True)
    subprocess.run(["tar", "xf", folder / "course.tar"], cwd=repository, check=True)
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "the course"]):
        subprocess.run([*git, *words], cwd=repository, check=True, capture_output=True)
    return repository


def expect(cell: str, printed: str) -> None:
    """What the cell has to have printed, judged by the commands in it."""
    if "make run" in cell:
        assert re.search(r"^compiling (labs|solutions)/|backend: ", printed, re.MULTILINE), printed
        assert "refused" not in printed and "Error 127" not in printed, printed
    if "make check" in cell:
        assert re.search(r"\d+ of \d+ cases pass", printed), printed
        assert "FAIL" in printed and "Traceback" not in printed, printed
    if "SOLUTION=1" in cell:
        assert "make: ***" not in printed, printed
    if "make hint" in cell or "make progress" in cell:
        assert "make: ***" not in printed and "Traceback" not in printed, printed
    if "make progress" in cell:
        assert re.search(r"^08 .*not started", printed, re.MULTILINE), printed


def try_cells(folder: Path, chosen) -> None:
    session = Session(folder)
    repository = clone_source(folder)
    for cell in cells():
        if not chosen(cell):
            continue
        print(f"--- {cell}\n")
        printed = session.run(cell)
        print(printed)
        if "ADDRESS" in session.variables and "#@param" in cell:
            session.variables["ADDRESS"] = str(repository)
        expect(cell, printed)
        if (session.folder / "common").is_dir() and not (session.folder / "build/cpu").exists():
            lend_runtimes(session.folder, "cpu")
        if '!echo "%%writefile' in cell:  # what it prints is a cell of its own
            path = session.folder / printed.split("\n", 1)[0].split()[1]
            before = path.read_text(encoding="utf-8")
            session.run(printed.replace("// TODO", "// DONE"))
            assert path.read_text(encoding="utf-8") == before.replace("// TODO", "// DONE") != before
            session.run(printed)
    assert (session.folder / "labs.tar.gz").exists()


def test_form():
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
    assert {"cells", "metadata", "nbformat", "nbformat_minor"} == set(notebook)
    names = [cell["id"] for cell in notebook["cells"]]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    for cell in notebook["cells"]:
        code = cell["cell_type"] == "code"
        wanted = {"cell_type", "id", "metadata", "source"} | ({"outputs", "execution_count"} if code else set())
        assert set(cell) == wanted and all(isinstance(line, str) for line in cell["source"])
        assert not code or (cell["outputs"], cell["execution_count"]) == ([], None), "clear the outputs before you commit"


def test_every_lab_from_01_to_08_is_run_and_checked():
    text = "\n".join(cells())
    for number in range(1, 9):
        assert f"!make run LAB={number:02}\n" in text + "\n" and f"!make check LAB={number:02} " in text
    for path in re.findall(r"(?:labs|data)/[\w./]+\w", "\n".join(cells() + cells("markdown"))):
        assert (ROOT / path).exists() or "labs.tar" in path, f"the notebook names {path}, which is not there"


def test_cells_one_by_one(folder):
    try_cells(folder, is_tried)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as work:
        try_cells(Path(work), lambda cell: True)
    print("every cell was tried")
