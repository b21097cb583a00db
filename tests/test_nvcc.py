"""nvcc, where present, compiles every solution and exercise without a warning."""

import re
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
# A solution for Turing and Hopper in one run; where no source asks for the architecture, both are made from the same PTX.
# An exercise differs from it in the bodies of a few functions, and nvcc's front end, which reads host code as well, says
# what is wrong there: no machine code is made of it, nor of CUB's kernels, beside which a benchmark measures.
BOTH, FROM_ONE = "-gencode arch=compute_75,code=sm_75 -gencode arch=compute_90,code=sm_90", "-gencode arch=compute_75,code=[sm_75,sm_90]"
FRONT_END = "-arch=compute_90 -ptx"


def mentions(lab, words):
    """Do they stand in a source of the lab, or in a header of the course that it includes?"""
    texts, seen = list(farm.solution_files(lab).values()), set()
    while texts:
        text = texts.pop()
        if words in text:
            return True
        for name in re.findall(r'#include "(?:\.\./)*(?:common/)?([\w/]+\.h)"', text):
            for path in (ROOT / "common" / name, ROOT / "common/lab" / name):
                if path.is_file() and path not in seen:
                    seen.add(path)
                    texts.append(path.read_text(encoding="utf-8"))
    return False


def benchmark_is_apart(lab):
    return mentions(lab, "defined(LAB_BENCH) && __has_include(<cub/")


def compile_strictly(lab, kind):
    """What nvcc says to a solution, an exercise or a benchmark.

    A solution that has a benchmark is compiled as for one, with the vendor's libraries where their headers are; with CUB
    the benchmark is compiled by itself.
    What is of one page and whose Makefile asks for no flags is linked as well, and not told the standard: what a bare
    `nvcc name.cu` needs. Of the others the host's part is only read.
    """
    flags, folder = farm.lab_flags(lab, "gpu", kind != "exercises"), ROOT / "solutions" / lab
    if kind == "exercises":
        folder = farm.call(farm.generated_exercise, lab)
    elif kind == "benchmarks" or not benchmark_is_apart(lab) and (ROOT / "labs" / lab / "bench.py").is_file():
        flags += " -DLAB_BENCH -DLAB_PEERS -DLAB_HOST_PEERS"
    given = farm.exercises.given_files(ROOT / "labs" / lab)
    if flags or given:
        flags += " -std=c++17" + " -c -Xcompiler -fsyntax-only" * (kind == "solutions")
    paths = farm.exercises.include_paths(folder / farm.source_name(lab)) if given else []
    architectures = FRONT_END if kind != "solutions" else BOTH if mentions(lab, "__CUDA_ARCH__") else FROM_ONE
    if kind == "solutions" and "LAB_FURTHER_90A := yes" in (ROOT / "labs" / lab / "Makefile").read_text(encoding="utf-8"):
        architectures, flags = architectures.replace("90", "90a"), flags + " -DLAB_SM_90A"
    target = BUILD / "nvcc" / f"{kind}_{lab}.o"
    target.parent.mkdir(parents=True, exist_ok=True)
    return farm.run(NVCC, *shlex.split(f"{STRICT} {architectures} {flags}"), *paths, farm.source_name(lab), "-o", target,
                    cwd=folder, timeout=600)


def each_program():
    return pytest.mark.parametrize("lab, kind", [
        pytest.param(lab, kind, marks=pytest.mark.ahead(compile_strictly, lab, kind),
                     id=f"{lab}-{kind}")
        for lab in LABS for kind in ["solutions", "exercises"] + ["benchmarks"] * benchmark_is_apart(lab)])


@each_program()
def test_compiles_without_a_warning(lab, kind):
    result = farm.call(compile_strictly, lab, kind)
    assert result.returncode == 0 and "warning" not in result.stderr + result.stdout, result.stderr
