"""make grade with the real CPU mode: lines in its messages, and how many threads store. Confined as a grading is."""

import dataclasses
import os
import subprocess
from pathlib import Path

import pytest

from checker import grade_build, grade_confine, grade_storing
from checker.grade_collect import Work
from checker.grade_lines import with_lines
from farm import ROOT

SOURCE = """#include <cstdlib>
__global__ void shares(int* out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = i;
}
__global__ void works_alone(int* out, int count) {
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int i = 0; i < count; i++) out[i] = i;
}
__global__ void does_nothing(int*, int) {}
__device__ int value(const int* in, int i) {
    return in[i];
}
__global__ void reads_outside(int* out, int count) {
    out[0] = value(out, count + (1 << 20));
}
int main(int, char** words) {
    const int kind = atoi(words[1]);
    int* out;
    cudaMalloc(&out, 100 * sizeof(int));
    if (kind == 0) shares<<<2, 64>>>(out, 100), works_alone<<<2, 64>>>(out, 100);
    if (kind == 1) does_nothing<<<1, 32>>>(out, 100), works_alone<<<1, 1>>>(out, 2);
    if (kind == 2) reads_outside<<<1, 1>>>(out, 100);
    if (kind == 3) *out = 1;
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""


def line_with(text):
    return next(number for number, line in enumerate(SOURCE.splitlines(), 1) if text in line)


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The folder of a submission that has been compiled, and what it was compiled with."""
    folder = tmp_path_factory.mktemp("lines") / "work"
    for place in (folder.parent, *folder.parent.parents[:2]):
        place.chmod(0o755)
    folder.mkdir()
    tools = dataclasses.replace(grade_build.find_tools(ROOT, "03_vector_add"), small=[["0"], ["1"]])
    tools.build_watched_runtime(ROOT)
    confinement = grade_confine.strongest(grade_confine.compile_confine(ROOT, "g++"), "g++", [folder.parent], [], False, 600)
    work = Work("98_share", (("share.cu", SOURCE.encode()),))
    assert grade_build.compile_work(ROOT, folder, work, tools, confinement) is None
    return folder, work, tools, confinement


def test_who_stores_is_counted(graded):
    folder, work, tools, confinement = graded
    found = grade_storing.storing(ROOT, folder, work, tools, confinement, 20)
    assert found == {"shares": [128, 100], "works_alone": [128, 1], "does_nothing": [32, 0]}
    usual = {"shares": [128, 100], "works_alone": [128, 100]}
    assert grade_storing.in_words(found, usual) == ("threads that store, in a small case: works_alone 1 of 128, the worked solution 100; "
                                                    "does_nothing 0 of 32")
    assert grade_storing.in_words({"shares": [128, 60]}, usual).endswith("as many as in the worked solution")


def test_a_forged_record_counts_nothing():
    for launches in ([{"kernel": "x"}], [{"kernel": "x", "grid": [1], "block": [[]], "storing": 1}], 7, [{"storing": "many"}]):
        assert grade_storing.counts({"launches": launches}) == {}


@pytest.mark.parametrize("kind, said", [(2, "return in[i]"), (3, "*out = 1")])
def test_messages_name_lines(graded, kind, said):
    folder, work, tools, confinement = graded
    program = folder / "program/share"
    here = folder / "here" / str(kind)
    here.mkdir(parents=True)
    words = grade_confine.here(confinement.of_program([program], here.parent, 20), here)
    result = subprocess.run([*words, str(program), str(kind)], cwd=here, env={**os.environ, "CUDA_CPU_ADDRESSES": "1"},
                            text=True, capture_output=True, check=False)
    assert "{code" in result.stderr, result

    def run(command, typed):
        return grade_build.run_tool(ROOT, folder, confinement, tools, command, 20, typed)

    message, unknown, forged = with_lines([result.stderr, "{code 1}: it failed", "in {code ffffffffffffffff 2}"], program,
                                          {"share.cu"}, run)
    assert f"share.cu:{line_with(said)}: " in message and "{code" not in message
    assert (unknown, forged) == ("it failed", "in a line that is not known")
    assert with_lines(["{code 1}: it failed"], Path("/nowhere"), {"share.cu"}, run) == ["it failed"]
