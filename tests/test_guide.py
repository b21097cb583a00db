"""The lab that docs/teaching.md adds, in a copy of the course: every command knows it as the guide leaves it."""

import shutil
import subprocess
import sys

import pytest

import guide
from farm import BACKEND, ROOT, SESSION, call, lend_runtimes, own_environment

pytestmark = pytest.mark.skipif(BACKEND != "cpu", reason="CPU mode")


def copy_of_the_course():
    path = SESSION / "guide/course"
    shutil.copytree(ROOT / "common", path / "common", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "Makefile", path)
    lend_runtimes(path, "cpu", "sanitize/races", "sanitize/bounds", "sanitize/accesses")
    guide.write(path)
    make(path, "exercises", "LAB=21")
    return path


def make(course, *words, status=0):
    environment = {**own_environment(), "BACKEND": "cpu", "PYTHON": sys.executable}
    result = subprocess.run(["make", *words], cwd=course, env=environment, text=True, capture_output=True, check=False,
                            timeout=600)
    assert result.returncode == status, result.stdout + result.stderr
    return result.stdout + result.stderr


def walk():
    course = copy_of_the_course()
    said = make(course, "hint", "LAB=21")
    assert "hint 1 of 3" in said and "No TODO is left" not in said
    assert "13 of 13 cases pass" in make(course, "check", "LAB=21", "SOLUTION=1")
    said = make(course, "check", "LAB=21", status=2)
    assert "2 of 13 cases pass" in said
    shown = (course / "labs/21_scale/README.md").read_text().split("$ make check LAB=21\n")[1].split("```")[0]
    assert shown in said
    assert "no race" in make(course, "sanitize", "LAB=21", "SOLUTION=1")
    assert "load g 4.0/4.0, store g 4.0/4.0" in make(course, "explain", "LAB=21", "SOLUTION=1")


@pytest.mark.ahead.with_args(walk)
@pytest.mark.runtimes("sanitize/bounds")
def test_the_guides_lab():
    call(walk)
