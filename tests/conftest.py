"""Fixtures for all tests.

    def test_something(build, run):
        program = build("tests/programs/runtime_barriers.cu")     # the CPU build, or BACKEND=gpu's
        result = run(program, "--elements", 33)
        assert result.returncode == 0, result.stderr

Mark the test with `@pytest.mark.builds("tests/programs/runtime_barriers.cu")` (or the module, with
`pytestmark = pytest.mark.builds(...)`), and the source is compiled before the test's turn comes.
"""

import os
import re
import shutil
import sys
from collections import Counter

sys.dont_write_bytecode = True  # nothing is written outside the build folder
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # others of NumPy's threads would spin while they wait

import pytest  # noqa: E402

import farm  # noqa: E402


def pytest_collection_modifyitems(items):
    """Files whose tests mostly ask for work that is done ahead come last: meanwhile the others are gone through."""
    def file(item):  # Ubuntu 22.04's pytest is older than item.path
        return item.nodeid.partition("::")[0]

    announced, all_items = Counter(), Counter(map(file, items))
    for item in items:
        announced[file(item)] += item.get_closest_marker("ahead") is not None
    items.sort(key=lambda item: 2 * announced[file(item)] >= all_items[file(item)])


def pytest_collection_finish(session):
    """Starts, in the order of the tests, what they have announced."""
    if session.config.option.collectonly:
        return
    farm.remove_old_sessions()
    for item in session.items:  # those for which many wait
        for marker in item.iter_markers("runtimes"):
            for place in marker.args if farm.BACKEND == "cpu" else ():
                farm.ahead(farm.runtime, place)
    for item in session.items:
        for marker in item.iter_markers("builds"):
            for source in marker.args:
                farm.ahead(farm.build, source)
        for marker in item.iter_markers("ahead"):
            farm.ahead(*marker.args)


def pytest_unconfigure(config):
    farm.close()


def pytest_report_header(config):
    return f"backend: {farm.BACKEND} (BACKEND=gpu builds with nvcc and runs on the card)"


@pytest.fixture(scope="session")
def root():
    """The course's folder."""
    return farm.ROOT


@pytest.fixture(scope="session")
def build():
    """build(source, name="", backend="", debug=False, flags="") -> the program; compiled once."""
    return farm.build


@pytest.fixture(scope="session")
def run():
    """run(program, *arguments, env=None, timeout=120, cwd=None, input=None) -> CompletedProcess."""
    return farm.run


@pytest.fixture
def folder(request):
    """An empty folder of the test's own, under build/tests/."""
    name = re.sub(r"[^A-Za-z0-9]+", "_", request.node.nodeid.removeprefix("tests/")).strip("_")
    path = farm.SESSION / "folders" / name[:120]
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
