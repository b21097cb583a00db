"""Several programs in one (tests/together.py): planted faults are compiled so."""

import pytest

import farm
import together

PROGRAM = """\
#include "../../common/lab.h"
#include "page.h"
int main(int argc, char**) { return value + argc; }
"""


@pytest.fixture
def joined(folder):
    """joined({name: its page.h}): the source of one program of several."""

    def join(pages):
        programs = {}
        for name, page in pages.items():
            planted = farm.plant("together", f"{folder.name}-{name}", {"program.cu": PROGRAM, "page.h": page})
            target = folder / f"{name}.ii"
            words = farm.compile_command(planted / "program.cu", target, "cpu", False, "")
            assert farm.run(*words, "--translate").returncode == 0
            programs[name] = planted, target.read_text()
        return together.join(programs)

    return join


def test_the_folder_says_which_program_it_is(joined, folder):
    source, program = folder / "all.ii", folder / "all"
    source.write_text(joined({name: f"#pragma once\nconst int value = {value};\n__global__ void kernel() {{}}\n"
                              for name, value in [("one", 10), ("two", 20)]}))
    result = farm.run(*farm.compile_command(source, program, "cpu", False, "-O0"))
    assert result.returncode == 0 and not result.stderr, result
    for name, status in [("one", 11), ("two", 21), ("three", 2)]:
        (folder / name).mkdir()
        (folder / name / "program").hardlink_to(program)
        assert farm.run("./program", cwd=folder / name).returncode == status


def test_other_headers_cannot_be_joined(joined):
    with pytest.raises(together.CannotJoin, match="two"):
        joined({"one": "const int value = 1;\n", "two": "#include <map>\nconst int value = 2;\n"})
