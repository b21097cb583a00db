"""What people's own programs need of CUDA: each feature by a program that checks itself, and `make run FILE=`."""

import json
import re
import sys

import pytest

import farm
import features

PROGRAMS = [program.relative_to(farm.ROOT) for program in features.programs()]
AS_MAKE_RUN = {"CUDA_CPU_BARRIERS": "volta"}  # which `make run FILE=` sets
only_cpu = pytest.mark.skipif(farm.BACKEND != "cpu", reason="about CPU mode alone")


@pytest.mark.parametrize("program", [
    pytest.param(program, id=program.stem, marks=pytest.mark.ahead(farm.build, program, "", "", False, features.flags(farm.ROOT / program, farm.BACKEND)))
    for program in PROGRAMS])
def test_feature(program):
    result = farm.run(farm.build(program, flags=features.flags(farm.ROOT / program, farm.BACKEND)), env=AS_MAKE_RUN, timeout=60)
    if result.returncode == 77:
        pytest.skip(result.stderr)
    assert (result.returncode, result.stdout.splitlines()[-1:]) == (0, ["ok"]), result.stdout + result.stderr


@only_cpu
@pytest.mark.ahead(farm.build, "tests/programs/features/managed_memory.cu")
def test_record_of_managed_memory(tmp_path):
    """Faults and moved pages of each allocation, in their order, also of those that were freed: check_pages() has the first."""
    result = farm.run(farm.build("tests/programs/features/managed_memory.cu"), env={"CUDA_CPU_RECORD": str(tmp_path / "record")})
    assert result.returncode == 0, result.stdout + result.stderr
    pages = json.loads((tmp_path / "record").read_text())["managed"]
    assert pages[0] == {"bytes": (5 * 16384 - 1024) * 4, "device_faults": 8, "host_faults": 4, "to_device": 8, "to_host": 4}
    assert len(pages) == 8 and pages[3]["device_faults"] == 0 and pages[3]["to_device"] == 5


def test_table_of_features():
    """docs/cpu-mode.md has what the programs say: python3 tests/features.py writes it."""
    assert features.PAGE.read_text(encoding="utf-8") == features.page_with_table()


@only_cpu
@pytest.mark.ahead(farm.build, "tests/programs/library_mistakes.cu")
@pytest.mark.parametrize("mistake, said", [
    ("host", "library_mistakes.cu:14: cublasSscal: x, 0x[0-9a-f]+, is memory of the host. A library of CUDA only uses device memory"),
    ("null", "library_mistakes.cu:15: cublasSscal: x is a null pointer"),
    ("small", "library_mistakes.cu:16: cublasSscal: x, 0x[0-9a-f]+, is too small: 36 bytes are used, and there are 32 bytes"),
    ("scalar", "library_mistakes.cu:17: cublasSscal: alpha, 0x[0-9a-f]+, is device memory, but a pointer to the host is expected"),
    ("freed", "library_mistakes.cu:20: cublasSscal: x, 0x[0-9a-f]+, is memory that was given to cudaFree"),
])
def test_wrong_memory_for_a_library(mistake, said):
    result = farm.run(farm.build("tests/programs/library_mistakes.cu"), mistake)
    assert result.returncode == 1 and re.match(said, result.stderr), result.stderr


@only_cpu
@pytest.mark.ahead(farm.build, "tests/programs/library_mistakes.cu")
@pytest.mark.parametrize("asked, said", [
    ("type", r"library_mistakes.cu:\d+: cublasLtMatmul: numbers of type 28 \(cudaDataType\): not in CPU mode; this program needs a card"),
    ("node", r"library_mistakes.cu:\d+: cudaMallocAsync: memory nodes of graphs: not in CPU mode; this program needs a card"),
    ("freed node", r"library_mistakes.cu:\d+: cudaFreeAsync: memory nodes of graphs: not in CPU mode; this program needs a card"),
])
def test_what_a_library_does_not_have(asked, said):
    result = farm.run(farm.build("tests/programs/library_mistakes.cu"), asked)
    assert result.returncode == 77 and re.match(said, result.stderr), result.stderr


@only_cpu
@pytest.mark.ahead(farm.build, "tests/programs/nccl_processes.cu")
@pytest.mark.parametrize("wrong, well, said", [
    ("", 4, ""),
    ("count", 0, "NCCL: in ncclAllReduce rank 1 sends 119996 bytes to rank 0, which expects 120000"),
    ("dies", 1, "NCCL: rank 0 waits in ncclAllReduce for rank 1, whose process has ended"),
])
def test_nccl_between_processes(wrong, well, said):
    result = farm.run(farm.build("tests/programs/nccl_processes.cu"), wrong)
    assert result.stdout == f"{well} of 4 ranks end well\n" and said in result.stderr, result.stdout + result.stderr


@only_cpu
@pytest.mark.ahead(farm.build, "tests/programs/sample_headers.cu")
def test_headers_of_the_samples(tmp_path):
    """helper_cuda.h and its kin where a program does not bring them; a failed call is named."""
    result = farm.run(farm.build("tests/programs/sample_headers.cu"), "--count=4", f"-image={tmp_path}/image.ppm")
    assert result.stdout.endswith("\n4 -1.000 1.000 -0.485 1\n1 2 2 60 1\n"), result.stdout + result.stderr
    assert result.returncode == 1 and re.search(r"sample_headers.cu:45: `cudaFree\(.*\)` failed: cudaErrorInvalid", result.stderr), result.stderr


PARENT = """#include <cstdio>
__global__ void add_up(int* values, int count) {
    if (count > 1) {
        add_up<<<2, 1>>>(values + blockIdx.x * count, count / 2);
        cudaDeviceSynchronize();
        values[blockIdx.x * count] += values[blockIdx.x * count + count / 2];
    }
}
int main() {
    int* values;
    cudaMallocManaged(&values, 64 * sizeof *values);
    for (int i = 0; i < 64; ++i) values[i] = i;
    add_up<<<1, 1>>>(values, 64);
    cudaDeviceSynchronize();
    std::printf("%d %s\\n", values[0], cudaGetErrorString(cudaGetLastError()));
    cudaFree(values);
}
"""


@only_cpu
@pytest.mark.parametrize("flags, said", [("-DCUDA_FORCE_CDP1_IF_SUPPORTED", "2016 no error\n"), ("", "")])
def test_a_kernel_that_waits_for_its_children(tmp_path, flags, said):
    """As before CUDA 12, where the program says so; else it is refused, and the sentence tells of that."""
    (tmp_path / "parent.cu").write_text(PARENT)
    result = farm.run("make", "run", f"FILE={tmp_path}/parent.cu", f"FLAGS={flags}", f"PYTHON={sys.executable}", env={"BACKEND": "cpu"})
    assert result.stdout.endswith(said) and (said or "-DCUDA_FORCE_CDP1_IF_SUPPORTED" in result.stderr), result.stdout + result.stderr


MAIN = """#include <cstdio>
#include <part.h>
#include <omp.h>
int helper(int);
extern "C" int one(void);
int main() {
    int* value;
    cudaMallocManaged(&value, sizeof *value);
    *value = helper(omp_get_max_threads() > 0) * one();
    add<<<1, 1>>>(value, NUMBER);
    cudaDeviceSynchronize();
    std::printf("%d\\n", *value);
    cudaFree(value);
}
"""


@pytest.fixture
def own(tmp_path):
    """A program of three files and a header, in folders whose names hold spaces."""
    folder = tmp_path / "my program"
    (folder / "my headers").mkdir(parents=True)
    (folder / "main.cu").write_text(MAIN)
    (folder / "other part.cu").write_text('#include "part.h"\n__global__ void add(int* value, int n) { *value += n; }\n')
    (folder / "helper.cpp").write_text("#include <cuda_runtime.h>\nint helper(int x) { int n; cudaGetDeviceCount(&n); return x * n; }\n")
    (folder / "one.c").write_text("int one(void) { int class = 1; return class; }\n")
    (folder / "new").write_bytes(b"a program that is called like a header of the system")
    (folder / "my headers" / "part.h").write_text("__global__ void add(int* value, int n);\n")
    return folder


def make(command, folder, files, flags):
    names = " ".join(f"'{folder / name}'" for name in files)
    return farm.run("make", "-s", command, f"FILE={names}", f"FLAGS=-DNUMBER=5 '-I{folder / 'my headers'}' {flags}",
                    f"REPLAY=--output '{folder / 'page.html'}'", f"PYTHON={sys.executable}", "BACKEND=cpu", cwd=farm.ROOT, timeout=300)


@only_cpu
@pytest.mark.parametrize("command, said", [("run", "6\n"), ("sanitize", "no race, nothing out of bounds"), ("replay", "my program/page.html\n")])
def test_several_files(command, said, own):
    result = make(command, own, ["helper.cpp", "main.cu", "one.c", "other part.cu"],
                  "-Xcompiler -fopenmp --extended-lambda -arch=sm_75 -std=c++14 -lcublas")
    assert result.returncode == 0 and said in result.stdout, result.stdout + result.stderr


@only_cpu
@pytest.mark.parametrize("name", ["host.cpp", "host.c"])
def test_a_source_that_is_not_a_cu_file(name, tmp_path):
    """A program that calls CUDA's libraries alone needs no kernel."""
    (tmp_path / name).write_text("#include <cuda_runtime.h>\n#include <stdio.h>\n"
                                 'int main(void) { int n; cudaGetDeviceCount(&n); printf("%d\\n", n); return 0; }\n')
    result = make("run", tmp_path, [name], "")
    assert (result.returncode, result.stdout) == (0, "1\n"), result.stderr
    (tmp_path / name).write_text("#include <nvcomp.h>\nint main(void) { return 0; }\n")
    assert f"{name}:1: error: nvcomp.h is not in CPU mode, which has no nvCOMP" in make("run", tmp_path, [name], "").stderr


UNHEEDED = """#include <cstdio>
__global__ void count(int* x) { *x += 1; }
int main(int argc, char**) {
    int *a, *b;
    cudaMalloc(&a, 4), cudaMalloc(&b, 4);
    cudaMemset(a, 0, 4);
    if (argc <= 3) cudaMemcpy(a, b, 8, cudaMemcpyDeviceToDevice);
    if (argc == 2) puts(cudaGetErrorName(cudaGetLastError()));
    if (argc == 3) puts(cudaGetErrorName(cudaMemcpy(a, b, 8, cudaMemcpyDeviceToDevice)));
    count<<<1, argc == 4 ? 2000 : 1>>>(a);
    cudaFree(a), cudaFree(b);
}
"""


@only_cpu
@pytest.mark.parametrize("arguments, said", [
    ("", r"unheeded\.cu:7: cudaMemcpy fails, and the program does not look at what it returns: invalid argument \(copy: 8 bytes .*\n"),
    ("asks", ""),
    ("looks once", r"unheeded\.cu:7: cudaMemcpy fails, .*\n"),
    ("launches too much", r".*unheeded\.cu:10: the launch of count has blocks of 2000 threads; .* Ask cudaGetLastError\(\) after a launch\.\n"),
])
def test_a_failure_that_nobody_looks_at(arguments, said, tmp_path):
    """make run tells the first at the end; of one that the program hears of it says nothing."""
    (tmp_path / "unheeded.cu").write_text(UNHEEDED)
    result = farm.run("make", "-s", "run", f"FILE={tmp_path}/unheeded.cu", f"ARGS={arguments}", f"PYTHON={sys.executable}", env={"BACKEND": "cpu"})
    assert result.returncode == 0 and re.fullmatch(rf"backend: .*\n(compiling .*\n)?{said}", result.stderr), result.stderr


@only_cpu
def test_what_is_missing_is_named(own):
    result = make("run", own, ["main.cu", "helper.cpp", "one.c"], "-fopenmp")
    assert result.returncode != 0 and "undefined reference" not in result.stderr
    assert f"add(int*, int) is used, and no file that was given defines it: give the file that does, too (FILE=\"'{own}/main.cu' " \
           f"'{own}/helper.cpp' '{own}/one.c' '{own}/other part.cu'\")" in result.stderr
    result = make("run", own, ["main.cu", "other part.cu", "helper.cpp", "one.c"], "")
    assert "the program uses OpenMP: give FLAGS=-fopenmp" in result.stderr
    said = make("run", own, ["other part.cu"], "").stderr
    assert f"main is used, and no file that was given defines it: give the file that does, too (FILE=\"'{own}/other part.cu' '{own}/main.cu'\")" in said
    result = make("run", own, ["main.cu", "no.cu"], "")
    assert f"make run: there is no file {own}/no.cu; FILE= names a .cu file" in result.stderr


@only_cpu
def test_what_is_defined_twice_is_named(tmp_path):
    (tmp_path / "kernel.cu").write_text("\n__global__ void add(int* value) { ++*value; }\nint count = 3;\n")
    (tmp_path / "main.cu").write_text('#include "kernel.cu"\nint main() { add<<<1, 1>>>(nullptr); return 0; }\n')
    said = make("run", tmp_path, ["main.cu", "kernel.cu"], "").stderr
    for line, name in ((2, "add(int*)"), (3, "count")):
        assert f"{tmp_path}/kernel.cu:{line}: error: {name} is defined here, and both {tmp_path}/main.cu and {tmp_path}/kernel.cu have this file" in said
    (tmp_path / "main.cu").write_text("int count = 4;\nint main() { return 0; }\n")
    said = make("run", tmp_path, ["main.cu", "kernel.cu"], "").stderr
    assert f"{tmp_path}/kernel.cu:3: error: count is defined here and in {tmp_path}/main.cu:1: a program has one definition" in said
    assert "multiple definition" not in said


@only_cpu
def test_what_is_left_out_for_newer_cards_is_named(tmp_path):
    """Functions have the code of nvcc's second pass; of other lines it is said, and errors stand in their own line."""
    source = tmp_path / "newer.cu"
    source.write_text("#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 600\n#endif\n#if __CUDA_ARCH__ >= 700\n__device__ int newer;\n#endif\n"
                      "__global__ void kernel() {\n#if __CUDA_ARCH__ >= 700\n    unknown();\n#endif\n}\nint main() {}\n")
    result = farm.run("bash", farm.ROOT / "common/cpu/compile.sh", "--runtime-object", farm.call(farm.runtime, "cpu"),
                      source, "-o", tmp_path / "newer")
    assert f"{source}:4: note: CPU mode leaves this line out" in result.stderr
    assert result.returncode != 0 and f"{source}:8:5: error: ‘unknown’ was not declared" in result.stderr.replace("'", "‘", 1), result.stderr


@only_cpu
def test_what_a_program_leaves_to_nvcc(tmp_path):
    """A .cu file, or a header of its own, that asks for nvcc gets it; headers of the system do not."""
    (tmp_path / "twice.h").write_text("#if defined(__CUDACC__)\n__device__ int twice(int x) { return 2 * x; }\n#endif\n")
    (tmp_path / "guarded.cu").write_text("""#include <thrust/device_vector.h>
#include "twice.h"
#include <cstdio>
__global__ void kernel(int* x) { *x = twice(*x); }
int main() {
    thrust::device_vector<int> x(1, 21);
    kernel<<<1, 1>>>(x.data().get());
    std::printf("%d\\n", int(x[0]));
}
""")
    result = make("run", tmp_path, ["guarded.cu"], "")
    if "thrust/device_vector.h" in result.stderr:
        pytest.skip("Thrust is not on this machine")
    assert (result.returncode, result.stdout) == (0, "42\n"), result.stderr


@only_cpu
def test_a_lab_that_asks_for_nvcc_keeps_its_further_variants(tmp_path):
    (tmp_path / "lab.cu").write_text(f"""#include "{farm.ROOT}/common/lab.h"
#ifdef __CUDACC__
extern "C" const bool lab_with_further;
int main() {{ std::printf("%d\\n", lab_with_further); }}
#endif
""")
    result = make("run", tmp_path, ["lab.cu"], "-DLAB_FURTHER")
    assert (result.returncode, result.stdout) == (0, "1\n"), result.stderr
