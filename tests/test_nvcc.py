"""nvcc, where present, compiles every solution and exercise without a warning."""

import shlex

import pytest

import farm
from farm import BUILD, ROOT

LABS = farm.labs()
NVCC = farm.find_nvcc()
pytestmark = pytest.mark.skipif(not NVCC, reason="there is no nvcc on this machine")

# What is looked for are warnings, so nothing is optimised (-G): those of the host compiler's optimiser
# show in the CPU builds.
STRICT = "-G -Werror all-warnings -Xcompiler -Wall"
# A solution for Turing and Hopper in one run. An exercise differs from it in the bodies of a few functions, and nvcc's
# front end, which reads host code as well, says what is wrong there: no machine code is made of it.
BOTH, FRONT_END = "-gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90", "-arch=compute_90 -ptx"


def compile_strictly(lab, kind):
    """What nvcc says to a solution or an exercise.

    A solution that has a benchmark is compiled as for one, with the vendor's libraries where their headers are.
    What is of one page and whose Makefile asks for no flags is linked as well, and not told the standard: what a bare
    `nvcc name.cu` needs.
    """
    flags, folder = farm.lab_flags(lab, "gpu", kind == "solutions"), ROOT / "solutions" / lab
    if kind == "exercises":
        folder = farm.call(farm.generated_exercise, lab)
    elif (ROOT / "labs" / lab / "bench.py").is_file():
        flags += " -DLAB_BENCH -DLAB_PEERS -DLAB_HOST_PEERS"
    given = farm.exercises.given_files(ROOT / "labs" / lab)
    if flags or given:
        flags += " -std=c++17" + " -c" * (kind == "solutions")
    paths = farm.exercises.include_paths(folder / farm.source_name(lab)) if given else []
    target = BUILD / "nvcc" / f"{kind}_{lab}.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    return farm.run(NVCC, *shlex.split(f"{STRICT} {BOTH if kind == 'solutions' else FRONT_END} {flags}"), *paths, farm.source_name(lab), "-o", target,
                    cwd=folder, timeout=600)


def each_program():
    return pytest.mark.parametrize("lab, kind", [
        pytest.param(lab, kind, marks=pytest.mark.ahead(compile_strictly, lab, kind),
                     id=f"{lab}-{kind}")
        for lab in LABS for kind in ("solutions", "exercises")])


@each_program()
def test_compiles_without_a_warning(lab, kind):
    result = farm.call(compile_strictly, lab, kind)
    assert result.returncode == 0 and "warning" not in result.stderr + result.stdout, result.stderr
