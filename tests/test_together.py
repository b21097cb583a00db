"""Several broken programs in one (tests/together.py): planted faults are compiled so."""

import pytest

import farm
import together

PROGRAM = """\
#include "../../common/lab.h"

constexpr int factor = 2;

struct Sum {
    int value = 0;
    void add(int more) {
        value += more;
    }
};

__global__ void kernel(int* values) {
    __shared__ int mine[32];
    mine[threadIdx.x] = threadIdx.x;
    values[threadIdx.x] = factor * mine[threadIdx.x];
}

int main() {
    lab::DeviceArray<int> values(32);
    std::vector<int> h_values(32);
    kernel<<<1, 32>>>(values.get());
    values.download(h_values);
    Sum sum;
    for (int value : h_values) sum.add(value);
    printf("%d at line %d\\n", sum.value, __LINE__);
}
"""
BROKEN = {
    "one": [("values[threadIdx.x] = f", "values[threadIdx.x] = threadIdx.x == 1 ? 0 : f")],
    "two": [("    mine[threadIdx.x] = threadIdx.x;\n", "    // Longer\n    // than before\n    mine[threadIdx.x] = 3;\n"), ("+= more", "-= more")],
}


def broken(name):
    text = PROGRAM
    for old, new in BROKEN[name]:
        assert text.count(old) == 1
        text = text.replace(old, new)
    return text


def test_the_folder_says_which_program_it_is(folder):
    paths = {name: farm.plant("test_together", name, {"program.cu": text}) / "program.cu"
             for name, text in {"right": PROGRAM, **{name: broken(name) for name in BROKEN}}.items()}
    joined = together.join(paths["right"], {number: paths[name] for number, name in enumerate(BROKEN)})
    source = farm.plant("test_together", "joined", {"program.cu": joined, "planted.h": together.header(list(BROKEN))})
    program = folder / "all"
    result = farm.run(*farm.compile_command(source / "program.cu", program, "cpu", False, "-O0"))
    assert result.returncode == 0 and not result.stderr, result
    for name, said in [("one", "990 at line 25\n"), ("two", "-192 at line 25\n"), ("three", "992 at line 25\n")]:
        (folder / name).mkdir()
        (folder / name / "program").hardlink_to(program)
        assert farm.run("./program", cwd=folder / name).stdout == said


def test_a_line_is_that_of_the_broken_source(folder):
    paths = [farm.plant("test_together", name, {"page.h": text}) / "page.h" for name, text in
             [("page", "int f() {\n    return 1;\n}\n"), ("longer", "int f() {\n    // a word\n    return x;\n}\n")]]
    joined = together.join(paths[0], {0: paths[1]}).split("\n")
    assert joined[joined.index("    // a word") - 1] == f'#line 2 "{paths[1]}"'
    assert joined[joined.index("    return 1;") - 1] == f'#line 2 "{paths[0]}"'
    assert joined[-3:] == [f'#line 3 "{paths[0]}"', "}", ""]


@pytest.mark.parametrize("old, new", [("factor = 2", "factor = 3"), ("int value = 0", "int value = 1"), ("int more", "long more"),
                                      ("int main() {", "int other;\nint main() {")], ids=["constant", "member", "parameter", "declaration"])
def test_what_is_no_body_of_a_function_cannot_be_joined(old, new):
    right = PROGRAM.split("\n")
    with pytest.raises(together.CannotJoin, match="line"):
        together.broken_bodies(right, PROGRAM.replace(old, new).split("\n"))
