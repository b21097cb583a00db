"""The translator (common/cpu/translate.py) and the script around it (common/cpu/compile.sh)."""

import os
import shlex
import shutil
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import farm

sys.path.insert(0, str(farm.ROOT / "common/cpu"))

import absent  # noqa: E402
from absent import absent_header, missing, unknown  # noqa: E402
from declarations import declared  # noqa: E402
from translate import TranslationError, learner_spans, translate  # noqa: E402
from two_passes import halves_of_functors, merged  # noqa: E402

COMPILE = farm.ROOT / "common/cpu/compile.sh"
LAUNCHES = "tests/programs/translator_launches.cu"


def squeezed(text):
    """The text without line markers and without white space, to compare the rest."""
    return "".join(re.sub(r"^# .*$", "", text, flags=re.MULTILINE).split())


def literal(source):
    """The C++ string literal of a source text."""
    return '"' + source.replace("\\", "\\\\").replace('"', '\\"') + '"'


def call(kernel, arguments, shape, called=None):
    """What a launch becomes; of a name that no kernel of the text has, as of a pointer."""
    sentence = f"the arguments of this launch do not fit the parameters of the kernel {kernel}"
    words = f"{literal(kernel)}, {literal(arguments)}, ::cuda_cpu::Shape({shape})"
    return (f"[](auto fits) {{ static_assert(fits, {literal(sentence)}); }}"
            f"(::cuda_cpu::launcher({words}, {called or kernel})({arguments}))")


def places(text):
    """The lines and columns of every word of a text, as its line markers tell them."""
    found, line = {}, 1
    for content in text.split("\n"):
        marker = re.match(r'# (\d+) "', content)
        line = int(marker[1]) if marker else line + 1
        if not marker:
            for word in re.finditer(r"\w+", content):
                column = len(content[: word.start()].encode())  # in bytes, as the compiler counts
                found.setdefault(word[0], set()).add((line - 1, column))
    return found


def system_header(text):
    """Preprocessed text that comes from a system header, between learner's lines."""
    return f'# 1 "a.cu"\n# 1 "/usr/include/x.h" 1 3 4\n{text}\n# 2 "a.cu" 2\n'


# --------------------------------------------------------------------------- launches

PLAIN_LAUNCHES = [
    ("k", "1, 2", "a"),
    ("k", "1, 2, 3, s", "a, b"),
    ("k", "1, 2", ""),
    ("k", "dim3(1, 2), dim3{3, 4, 5}", "a"),
    ("k", "n >> 2, 1 << 3", "a"),
    ("k", "(a > b), n < 2 ? 1 : 2", "a"),
    ("k", "g(1, 2), f<A, B>(c)", "a"),
    ("k", "f<A<B<1>>>(), sizeof(T)", "a"),
    ("k", "1, A<B<1>>{}", "a"),
    ("k", "1, value<A<1>>", "a"),
    ("k<A, B<C, 3>>", "1, 2", "a"),
    ("k<A<B<C>>>", "1, 2", "a"),
    ("k<(x > 1), (1 < 2)>", "1, 2", "a"),
    ("k<1 << 3, decltype(a->b)>", "1, 2", "a"),
    ("k<'>', f<2>()>", "1, 2", "a"),
    ("n::m::k<A>", "1, 2", "a"),
    ("::n::k", "1, 2", "a"),
    ("A<B, C>::template k<T>", "1, 2", "a"),
    ("k<Ts...>", "1, 2", "values..."),
    ("k", "1, 2", "f(a, b), {1, 2}, A<B, C>{}"),
    ("k", "1, 2", "[&](int i) { return (i, a[i]); }"),
    ("k", "1, 2", r"""")\"(", '(', '\'', ')', R"x()")x", "/*", u8"//" """.strip()),
    ("k", "1, 2", "1'000'000, ')'"),
]


@pytest.mark.parametrize("kernel, shape, arguments", PLAIN_LAUNCHES)
def test_launch(kernel, shape, arguments):
    expected = squeezed(call(kernel, arguments, shape))
    assert squeezed(translate(f"{kernel}<<<{shape}>>>({arguments})")) == expected
    assert squeezed(translate(f"{kernel}\n<<<\n{shape} >>> (\n{arguments}\n)\n")) == expected


@pytest.mark.parametrize("kernel", ["this->kernel", "table[i + 1].kernel", "(a > b ? f : g)",
                                    "(*f)", "choose(1, 2)", "choose<A, B>(1)[2]"])
def test_kernel_that_is_a_pointer(kernel):
    """It is read when the launch is written, not when the kernel runs."""
    expected = squeezed(call(kernel, "a", "1, 2"))
    assert squeezed(translate(f"{kernel}<<<1, 2>>>(a)")) == expected


@pytest.mark.parametrize("before, after", [
    ("if (a) ", ";"), ("if (a) ; else ", ";"), ("if constexpr (a > b) ", ";"), ("for (;;) ", ";"),
    ("while (f(a)) ", ";"), ("do ", "; while (a);"), ("case 1:", ";"), ("return ", ";"),
    ("label: ", ";"), ("a ? f() : ", ";"), ("(void)", ";"), ("f(a), ", ", g(b);"), ("{ ", "; }"),
    ("a = b; ", ";"), ("[=] { ", "; }();"), ("template <int N> void f() { ", "; }"),
])
def test_launch_in_a_statement(before, after):
    translated = translate(f"{before}n::k<3><<<1, 2>>>(a){after}")
    assert squeezed(translated) == squeezed(before + call("n::k<3>", "a", "1, 2") + after)
    assert ":::" not in translated


def test_launch_in_the_arguments_of_a_launch():
    inner = "[=] { k<A, 2><<<1, 2>>>(b); }"
    expected = call("k", "@", "3, 4").replace(literal("@"), literal(inner))
    expected = expected.replace("@", f"[=] {{ {call('k<A, 2>', 'b', '1, 2')}; }}")
    assert squeezed(translate(f"k<<<3, 4>>>({inner})")) == squeezed(expected)


def test_two_launches_on_a_line():
    assert squeezed(translate("k<<<1, 2>>>(a), k<<<3, 4>>>(b);")) == squeezed(
        f"{call('k', 'a', '1, 2')}, {call('k', 'b', '3, 4')};")


def test_null_is_a_null_pointer():
    """The preprocessor sets markers around NULL, a macro of a system header."""
    null = '\n# 5 "a.cu" 3 4\n__null\n# 5 "a.cu"\n'
    text = f'# 5 "a.cu"\nk<<<1, 2, 0, {null}>>>({null}, ((void*)0), f({null}), {null});\n'
    expected = call("k", "@", "1, 2, 0, __null").replace(literal("@"), '"NULL, ((void*)0), f( NULL ), NULL"')
    assert squeezed(translate(text)) == squeezed(expected.replace("@", "nullptr, nullptr, f(__null), nullptr") + ";")


@pytest.mark.parametrize("kernel", ["k", "n::k", "k<3, A<B>>"])
def test_name_of_a_kernel(kernel):
    """It may stand for many functions: the launch asks for the one of these arguments."""
    address = f"::cuda_cpu::address_of(cuda_cpu_wanted, {kernel})"
    known = "void " if kernel == "n::k" else ""
    result = f" -> decltype(void({kernel}(cuda_cpu_arguments...)))" if known else ""
    expected = call(kernel, "a", "1, 2", f"[=](auto&&... cuda_cpu_arguments){result} {{ {kernel}(cuda_cpu_arguments...); }}, "
                    f"[=](auto cuda_cpu_wanted) -> decltype({address}) {{ return {address}; }}")
    if known:
        expected = expected.replace('kernel n::k"', 'kernel k()"')
    text = translate(f"namespace m {{ __global__ void k(); }} {kernel}<<<1, 2>>>(a)")
    assert squeezed(expected) in squeezed(text)


def test_zero_for_a_template_is_what_its_parameter_wants():
    template = "template <class T, int n = 2> __global__ void k(T* a, int b = 1, const A<T, n>& c = {}) { }"
    translated = squeezed(translate(f"{template} void f() {{ k<<<1, 2>>>(a, 0, (0)); k<<<1, 0>>>(f(0)); }}"))
    assert translated.count("::cuda_cpu::Zero()") == 1 and "(a,::cuda_cpu::Zero(),(0))" in translated
    assert squeezed("template <class T, int n = 2> ::cuda_cpu::Parameters<void(T* a, int b, const A<T, n>& c)> "
                    "cuda_cpu_parameters_of_k(T* a, int b = 1, const A<T, n>& c = {});") in translated


@pytest.mark.parametrize("text, marked", [
    ("__device__ void f(volatile int* p, int n) { p[n] += *p + *(p + 1) + g(p) + &q.p[1] + p; }", 3),
    ("__global__ void k() { volatile __shared__ int a[2][3], b; a[0][1] = b * a[1][1]; { int a[2]; } f(&b); }", 3),
    ("volatile int* f(int); void g() { volatile int i = 0; i++; }", 0),
    ("__shared__ volatile float s[32]; __global__ void k() { const volatile float* q = s; s[1] = q[2]; }", 2),
    ("__device__ volatile int flag; __global__ void k() { while (flag == 0) {} g(&flag); }", 1),
    ("__device__ void f(int& x) { volatile int& y = x; while (y == 0) {} }", 1),
    ("__device__ void f(int* p) { while (*(volatile int*)p == 0 || ((volatile int *)(p + 1))[2]) {} g((int*)p); }", 2),
    ("__device__ void f(int* p) { while (*static_cast<const volatile int*>(p) == 0) {} }", 1),
    ("__global__ void k(volatile int*); void f(int* p) { k<<<1, 1>>>((volatile int*)p); k<<<1, 1>>>(static_cast<volatile int*>(p)); }", 2),
])
def test_accesses_to_volatile_memory_are_marked(text, marked):
    translated = translate(text)
    assert translated.count("::cuda_cpu::in_step") == marked and translated.count("(") == translated.count(")")


@pytest.mark.parametrize("statement, marked", [
    ("s[i] += s[i ^ 8];", "s[i] += #s[i ^ 8]@;"),
    ("if (b) s[i] = max(s[i], f(s[i ^ d].x) + 1);", "if (b) s[i] = max(s[i], f(#s[i ^ d]@.x) + 1);"),
    ("s[i] += t[i ^ 8];", None), ("x = s[i ^ 8];", None), ("if (s[i] == s[i ^ 8]) f();", None), ("s[i ^ 8] = s[i];", None),
])
def test_elements_that_lanes_exchange_are_marked(statement, marked):
    text = f"__device__ void f(float* s) {{ {statement} }}"
    expected = text if marked is None else text.replace(statement, marked.replace("#", "::cuda_cpu::exchanged(").replace("@", ")"))
    assert squeezed(translate(text)) == squeezed(expected.replace("__device__", ""))


@pytest.mark.parametrize("text, count", [
    ("__device__ void f() { if (b) { p = new int[3]; q = new A(1); } }", 2), ("void f() { p = new A; }", 0),
    ("__global__ void k() { new (place) A; g([=] { return new A; }); }", 1),
    ("struct A { void* operator new(size_t); }; __global__ void k() { p = new A; }", 0),
])
def test_new_in_device_code_is_marked_where_it_is_observed(text, count):
    assert translate(text, observed=True).count("new (::cuda_cpu::KernelNew())") == count
    assert "KernelNew" not in translate(text)


def test_accesses_to_volatile_members_are_marked():
    text = "struct B { volatile int round; int other; }; __device__ void f(B* b) { while (b->round == 0) {} ++g[1].b->round; b->other = 1; }"
    translated = squeezed(translate(text))
    assert "while((::cuda_cpu::spin(),b->round)==0)" in translated and "++(::cuda_cpu::spin(),g[1].b->round);" in translated
    assert translated.count("spin()") == 2


@pytest.mark.parametrize("cast", ["(void*)", "(const void *)&", "reinterpret_cast<void*>("])
@pytest.mark.parametrize("kernel", ["k", "n::k", "k<float, A<2>>"])
def test_address_of_a_kernel(cast, kernel):
    """It keeps the types of its parameters, for cudaLaunchKernel and for graphs."""
    close = ")" * cast.endswith("(")
    text = f"__global__ void k(int a); void f() {{ g({cast}{kernel}{close}, 1); k<<<1, 2>>>(3); x = (a) * k + (void*)k(); }}"
    address = cast.endswith("&") and "&" or ""
    translated = squeezed(translate(text))
    assert squeezed(f"g({cast.rstrip('&')}::cuda_cpu::kernel_address({address}{kernel}){close}, 1)") in translated
    assert translated.count("kernel_address") == 1


@pytest.mark.parametrize("text, said", [
    ('asm("mma.sync.aligned.m16n8k8 %0;" : "=f"(d));', "inline PTX: mma.sync.aligned.m16n8k8 %0 is not in CPU mode"),
    ('asm volatile("mov.u32 %0, %%nothing;" : "=r"(d));', "inline PTX: %nothing is not in CPU mode"),
    ('asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(a));', "inline PTX: mbarrier.init.shared.b64 [%0], 1 is not in CPU mode"),
    ('asm("{ .reg .pred p; bra DONE; DONE: }");', "inline PTX: bra DONE is not in CPU mode"),
])
def test_inline_ptx_that_is_not_there(text, said):
    """The compiler says it where code is made of it: not in a template that nobody uses."""
    assert f'__attribute__((error("{said} (docs/' in translate(f"__global__ void k() {{ {text} }}")


def test_the_dimensions_of_a_cluster_go_with_each_launch_by_name():
    text = "template <int n> __global__ void __cluster_dims__(2, 1) k(int a) { } void f() { k<3><<<4, 32>>>(1); }"
    translated = squeezed(translate(text))
    assert "__cluster_dims__" not in translated and "::cuda_cpu::needs_clusters(2,1);" in translated
    assert "::cuda_cpu::Shape(4,32).in_clusters(2,1)" in translated


@pytest.mark.parametrize("words, left", [
    ("-O3 -arch=sm_80 -gencode arch=compute_80,code=sm_80 -DN=3 -rdc=true --extended-lambda -lineinfo", "-O3 -DN=3"),
    ("-Xcompiler -fopenmp,-Wall -Xcompiler=-march=native -Xlinker -rpath --std=c++17", "-fopenmp -Wall -march=native -Wl,-rpath -std=c++17"),
    ("-lcublas -lm -lcudart -L/opt/lib -Xptxas -v --ptxas-options=-v -maxrregcount 32 -I include", "-lm -L/opt/lib -I include"),
])
def test_options_of_nvcc(words, left):
    """What only nvcc knows is left out of a program's flags, and what it hands over to the compiler stays."""
    script = f". {shlex.quote(str(COMPILE.parent))}/nvcc_options.sh; without_nvcc_options"
    result = subprocess.run(["bash", "-c", script], input="\n".join(words.split()) + "\n", capture_output=True, text=True, check=True)
    assert result.stdout.split() == left.split()


@pytest.mark.parametrize("text", ['asm volatile("" ::: "memory");', 'asm("rdtsc" : "=a"(low), "=d"(high));', '__asm__("name");'])
def test_assembly_of_the_host_stays(text):
    assert translate(f"void f() {{ {text} }}") == f"void f() {{ {text} }}"


@pytest.fixture
def toolkit(tmp_path, monkeypatch):
    """A toolkit whose headers declare little."""
    include = tmp_path / "include"
    for name, text in (("cuda_runtime_api.h", "// cudaComment\ncudaError_t cudaNovel(int);\nstruct cudaDeviceProp { int ballads; };\n"
                        "struct cudaCopy {\n    struct cudaDeviceProp target;\n};\ntypedef struct {\n    int x;\n} melody;\n"),
                       ("sm_99_rt.h", "static __device__ int ballads(int);\n"), ("cufft.h", "void cufftNovel();\n"),
                       ("cufoo.h", ""), ("cccl/cub/novel.cuh", "struct DeviceNovel;\n")):
        (include / name).parent.mkdir(parents=True, exist_ok=True)
        (include / name).write_text(text)
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    return include


def test_a_header_that_is_not_there(toolkit):
    text = ('# 0 "my.cu"\n# 1 "/usr/include/x.h" 1 3\n# 1 "/opt/cuda/cufft.h" 1 3\n# 2 "/usr/include/x.h" 2 3\n# 2 "my.cu" 2\n'
            'int a;\n\n# 1 "/opt/cuda/cusparseLt.h" 1 3\nint b;\n# 5 "my.cu" 2\nint c;\n')
    file, line, sentence = absent_header(text)
    assert (file, line) == ("my.cu", 4) and sentence.startswith("cusparseLt.h is not in CPU mode, which has no cuSPARSELt")
    assert absent_header(text.replace("cusparseLt.h", "mine.h")) is None
    assert absent_header(text.replace("/opt/cuda/cusparseLt.h", "/home/me/cub/mine.h").replace("cusparseLt.h", "mine.h")) is None
    assert absent_header(text.replace("/opt/cuda/cusparseLt.h", "cub/mine.h")) is None
    grid_queue = "cub/grid/grid_queue.cuh is not in CPU mode, which has no other parts of CUB than docs/cpu-mode.md lists: "
    assert absent_header(text.replace("/opt/cuda/cusparseLt.h", "/opt/cuda/include/cccl/cub/grid/grid_queue.cuh"))[2].startswith(grid_queue)
    assert absent_header(text.replace("/opt/cuda/cusparseLt.h", "nppi_mine.h")) is None
    novel = "cufoo.h is not in CPU mode: this program needs a card"
    assert absent_header(text.replace("/opt/cuda/cusparseLt.h", f"{toolkit}/cufoo.h"))[2].startswith(novel)

    said = "my.cu:3:10: fatal error: npp.h: No such file or directory\n    3 | #include <npp.h>\ncompilation terminated.\n"
    assert missing(said).startswith("my.cu:3: error: npp.h is not in CPU mode, which has no NPP: ")
    assert missing("my.cu:3:10: fatal error: 'npp.h' file not found\n").startswith("my.cu:3: error: npp.h is not in CPU mode")
    assert "my.cu:3: error: " + grid_queue in missing(said.replace("npp.h", "cub/grid/grid_queue.cuh"))
    assert "my.cu:3: error: " + novel in missing(said.replace("npp.h", "cufoo.h"))
    assert "which has no MathDx, libraries in kernels: " in missing(said.replace("npp.h", "cufftdx.hpp"))
    assert "Thrust and libcu++ come with the CUDA Toolkit, or as libthrust-dev" in missing(said.replace("npp.h", "thrust/sort.h"))
    assert missing(said.replace("npp.h", "cute/tensor.hpp")).startswith("my.cu:3: error: cute/tensor.hpp is not in CPU mode, which has no CUTLASS: ")
    assert missing(said.replace("npp.h", "mpi.h")) == "my.cu:3: error: mpi.h is not on this machine: it belongs to MPI\n"
    assert missing(said.replace("npp.h", "mine.h")) == (
        "my.cu:3: error: mine.h is not on this machine: no folder in which the compiler looks has it, and -IFOLDER adds one\n")
    assert missing("my.cu:3:2: error: #error mine\n") == "my.cu:3:2: error: #error mine\n"


def test_a_header_of_thrust_that_was_not_included(tmp_path):
    (tmp_path / "thrust").mkdir()
    (tmp_path / "thrust/gather.h").write_text("// scatter(\nvoid gather(int);\n")
    said, text = "my.cu:3:9: error: 'gather' is not a member of 'thrust'\n", f'# 1 "{tmp_path}/thrust/detail/config.h" 1 3\n'
    assert unknown(said, text).startswith("my.cu:3: error: thrust::gather is in <thrust/gather.h>, which the program does not include")
    assert "include" not in unknown(said, text + f'# 1 "{tmp_path}/thrust/gather.h" 1 3\n')
    assert "include" not in unknown(said.replace("gather", "scatter"), text)


@pytest.mark.parametrize("said, sentence", [
    ("'cudaNovel' was not declared in this scope", "cudaNovel is not in CPU mode: this"),
    ("\u2018cudaNovel\u2019 does not name a type; did you mean \u2018cudaNo\u2019?", "cudaNovel is not in CPU mode: this"),
    ("use of undeclared identifier 'ballads'", "ballads is not in CPU mode: this"),
    ("'struct cudaDeviceProp' has no member named 'ballads'", "cudaDeviceProp::ballads is not in CPU mode: this"),
    ("no type named 'DeviceNovel' in namespace 'cub'", "cub::DeviceNovel is not in CPU mode: this"),
    ("variable has incomplete type 'struct cudaExternalMemoryHandleDesc'", "cudaExternalMemoryHandleDesc is not in CPU mode, which has no memory of graphics: this"),
    ("'cufftNovel' was not declared in this scope", None),  # cufft.h is not included
    ("'cudaComment' was not declared in this scope", None),  # in no header of the toolkit
    ("'struct Mine' has no member named 'ballads'", None),
    ("'total' was not declared in this scope", None),
    ("'target' was not declared in this scope", None),  # a member of a structure
    ("'melody' was not declared in this scope", "melody is not in CPU mode: this"),
])
def test_a_name_that_is_not_there(toolkit, said, sentence):
    """What the toolkit declares and the compiler does not know is said in a sentence; what neither knows is the learner's slip."""
    said = f"my.cu: In function 'main':\nmy.cu:7:5: \x1b[01;31m\x1b[Kerror: \x1b[m\x1b[K{said}\n    7 |     line\nmy.cu:9:1: error: 'x' was not declared\n"
    text = '# 1 "/opt/cub/cub.cuh" 1 3\n'
    expected = said if sentence is None else f"my.cu:7: error: {sentence} program needs a card (BACKEND=gpu)\n"
    assert unknown(said, text) == expected
    if sentence is None and "cufft" in said:
        assert unknown(said, text + '# 1 "/opt/cufft.h" 1 3\n').startswith("my.cu:7: error: cufftNovel is not in CPU mode")


REFUSED = [
    "cusparseSpMMOp", "cusparseScsrcolor", "cusparseSbsrmv", "cusparseSpGEMM_getNumProducts", "cublasUint8gemmBias",
    "cublasXtSspmm", "curand_discrete", "cudaMallocMipmappedArray", "cudaImportExternalMemory", "cudaDevAttrHostNumaId", "tex2Dgather",
    "cudaIpcGetMemHandle", "cudaGraphAddMemAllocNode", "cusolverDnIRSXgesv", "cuMemAlloc", "cub::ScanTileState", "cudaDeviceProp().deviceNumaId",
]


@pytest.mark.skipif(absent.toolkit() is None, reason="no CUDA Toolkit is here")
def test_names_of_the_toolkit_that_are_not_there(tmp_path):
    """One compilation says what CPU mode does not know; of each name there is a sentence."""
    headers = "cublasXt.h cublas_v2.h cuda.h curand_kernel.h cusolverDn.h cusparse.h cub/cub.cuh"
    uses = "".join(f"    (void)({name});\n" for name in REFUSED)
    (tmp_path / "my.cu").write_text("".join(f"#include <{name}>\n" for name in headers.split()) + "void f() {\n" + uses + "}\n")
    subprocess.run(["bash", COMPILE, "--translate", "my.cu", "-o", "my.ii"], cwd=tmp_path, check=True)
    said = subprocess.run(["g++", "-std=c++17", "-fsyntax-only", "-x", "c++-cpp-output", "my.ii"], cwd=tmp_path, capture_output=True, text=True).stderr
    text = (tmp_path / "my.ii").read_text()
    sentences = [unknown(line + "\n", text).split("error: ")[1] for line in said.splitlines() if ": error: " in line]
    names = [name.replace("().", "::") for name in REFUSED]
    assert [sentence.split(" is not in CPU mode")[0] for sentence in sentences] == names


def test_a_name_that_is_not_there_without_a_toolkit(tmp_path, monkeypatch):
    monkeypatch.setattr("absent.toolkit", lambda: None)
    said = "my.cu:7:5: error: 'cudaNovel' was not declared in this scope\n"
    assert unknown(said, "") == "my.cu:7: error: CPU mode does not know cudaNovel: if it is written right, this program needs a card (BACKEND=gpu)\n"
    assert unknown(said.replace("\n", "; did you mean 'cudaNo'?\n"), "").endswith("?\n")
    source = tmp_path / "my.cu"
    source.write_text("int main() {\n    cudaIpcGetMemHandle(nullptr, nullptr);\n    cudaGraphicsMapResources(1, x);\n}\n")
    result = subprocess.run(["bash", COMPILE, "--only-say", source, "-o", tmp_path / "x"], capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (1, f"{source}:2: error: cudaIpcGetMemHandle is not in CPU mode, which has no access to other "
                                                  "processes' memory and events: this program needs a card (BACKEND=gpu)\n"
                                                  "    2 |     cudaIpcGetMemHandle(nullptr, nullptr);\n")


def test_clock():
    text = "clock_t clock(void); long f() { return clock() - a.clock() - n::clock(); }"
    assert squeezed(translate(text)) == squeezed(text.replace("return clock()", "return ::cuda_cpu::clock()"))


@pytest.mark.parametrize("text", [
    'const char* a = "k<<<1, 2>>>(a) __shared__ int x;";',
    "auto a = R\"(k<<<1, 2>>>(a)\n __shared__ int x;)\";",
    "std::ostream& operator<<<T>(A a); X::operator<<<T>(b);",
    "a << b << c; a <<= b; x = a << 3 >> 2; A<B<C<D>>> b;",
    '#pragma message "k<<<1, 2>>>(a)"',
    "int f() __attribute__((__noinline__)); [[gnu::__noinline__]] int g();",
    "",
])
def test_what_is_no_launch_stays(text):
    assert translate(text) == text
    # With something to translate in the same text, too.
    assert translate(f"{text}\n__global__ void k();") == f"{text}\n           void k();"


@pytest.mark.parametrize("before, name, after, parameters", [
    ("__global__ void ", "k", "(int a = {}) {", 0),
    ("template <class T = A<(1 > 2)>> static __global__ void ", "k", "(T a)\n{", 1),
    ("template <class T, int n = f(1, 2), class U = A<int, int>> __global__ void ", "k", "(T a) {", 3),
    ("template <> void __global__ ", "k<float>", "() noexcept {", 99),
    ("__global__ __attribute__((noinline)) enable_if_t<(n > 0)> ", "k", "(F f) {", 0),
    ('extern "C" { __global__ auto ', "k", "() -> void {", 0),
])
def test_kernel(before, name, after, parameters):
    """Its body begins with what stops a call without <<<...>>>; a launch knows its parameters."""
    head = f"{before}{name}{after}".replace("__global__", "")
    translated = squeezed(translate(f"{before}{name}{after} f(); }}"))
    assert translated.endswith(
        squeezed(f"{head} ::cuda_cpu::enter_kernel(__func__, __PRETTY_FUNCTION__, {parameters}); f(); }}"))
    launched = translate(f"{before}{name}{after} }} void f() {{ k<<<1, 2>>>(3); }} }}")
    signature = name + after[: after.index(")") + 1]
    known = name == "k"  # the parameters of a specialisation are those of its template
    assert (f'kernel {signature}");' in launched) == known
    assert ("-> decltype(void(k(cuda_cpu_arguments...)))" in launched) == known


@pytest.mark.parametrize("text", [
    "void f() { k<<<1, 2>>>(); } __global__ void k();",
    "namespace a { __global__ void k(); } void f() { k<<<1, 2>>>(); }",
    "__global__ void k(); void f() { A::k.l<<<1, 2>>>(); l<<<1, 2>>>(); }",
])
def test_parameters_of_a_kernel_that_is_not_visible(text):
    """The compiler has to say that there is no such name."""
    assert "decltype(void(" not in translate(text)


def test_system_headers_stay():
    text = system_header("x<<<y __shared__ float; __global__")
    assert translate(text) == text
    assert translate(text + "k<<<1, 2>>>(a);").startswith(text)


# --------------------------------------------------------------------------- shared memory


def aligned(element):
    """What keeps an array at addresses that a float4 may have."""
    return f"__attribute__((aligned(16), aligned(__alignof__({element}))))"


def static(declaration, names):
    """What a __shared__ declaration in a function becomes."""
    seen = "static thread_local unsigned long long cuda_cpu_seen;"
    return f"{declaration}; {{ {seen} ::cuda_cpu::enter_shared(cuda_cpu_seen, {names}); }}"


@pytest.mark.parametrize("source, declaration, names", [
    ("__shared__ float a", "@ float a", "a"),
    ("__shared__ float a[32][33], b", "@<float> float a[32][33], b", "a, b"),
    ("float __shared__ a", "@ float a", "a"),
    ("static __shared__ float a", "@ float a", "a"),
    ("__shared__ static volatile float a[f<1, 2>()]", "@<volatile float> volatile float a[f<1, 2>()]", "a"),
    ("__shared__ unsigned long long *a, **b[2]", "@<unsigned long long *> unsigned long long *a, **b[2]", "a, b"),
    ("__shared__ float (*a)[4], (*b)(int, int)", "@ float (*a)[4], (*b)(int, int)", "a, b"),
    ("__shared__ std::pair<A, B<C, D>> a, b[2]", "@<std::pair<A, B<C, D>>> std::pair<A, B<C, D>> a, b[2]", "a, b"),
    ("__shared__ typename X<A, (b > c)>::T a", "@ typename X<A, (b > c)>::T a", "a"),
    ("__shared__ struct P a", "@ struct P a", "a"),
    ("__shared__ union { float x[4]; int y; } a, b", "@ union { float x[4]; int y; } a, b", "a, b"),
    ("struct P { int x, y; } __shared__ a", "@ struct P { int x, y; } a", "a"),
    ("__shared__ __attribute__((aligned(B))) T a", "__attribute__((aligned(B))) @ T a", "a"),
    ("__attribute__((aligned(B))) __shared__ T a", "__attribute__((aligned(B))) @ T a", "a"),
    ("__shared__ T a[4] __attribute__((aligned(B)))", "@<T> T a[4] __attribute__((aligned(B)))", "a"),
    ("__shared__ alignas(16) float a", "alignas(16) @ float a", "a"),
    ("[[maybe_unused]] alignas(B) __shared__ T a", "[[maybe_unused]] alignas(B) @ T a", "a"),
    ("__shared__ decltype(x + y) a[3]", "@<decltype(x + y)> decltype(x + y) a[3]", "a"),
    ("__device__ __shared__ T a", "@ T a", "a"),
])
def test_static_shared_memory(source, declaration, names):
    expected = static(re.sub(r"@(<[^@]*?>(?= ))?", lambda array: "static thread_local " + (aligned(array[1][1:-1]) if array[1] else ""), declaration), names)
    for before, after in [("void k() { ", " }"), ("auto k = [] { f(); ", " };"),
                          ("struct A { void k() { if (b) { } ", " } };"),
                          ('namespace a { extern "C" { void k() { switch (c) { case 1: ', "}}}}")]:
        translated = translate(f"{before}{source};{after}")
        assert squeezed(translated) == squeezed(before + expected + after)


@pytest.mark.parametrize("before", ["", "namespace {", "namespace a::b { inline namespace c {",
                                    'extern "C" {', "namespace a { struct B { int c; };"])
def test_static_shared_memory_outside_functions(before):
    assert squeezed(translate(f"{before} __shared__ float a[3];")) == squeezed(
        f"{before} static thread_local {aligned('float')} float a[3];")


def dynamic(element, name, size="@", row="", scope="function"):
    """What an `extern __shared__` declaration becomes."""
    computed = f"[::cuda_cpu::dynamic_shared_bytes / sizeof({row or element})]"
    declared, size = size.replace("@", "[]"), size.replace("@", computed)
    value = f"*reinterpret_cast<{element} (*){size}>(::cuda_cpu::dynamic_shared())"
    if scope == "namespace":
        return f"thread_local {element} (&{name}){size} = {value};"
    check = f"{{ [[maybe_unused]] extern {element} {name}{declared}; }}"
    return f"{check} {element} (&{name}){size} = {value};"


@pytest.mark.parametrize("source, expected", [
    ("extern __shared__ float a[]", dynamic("float", "a")),
    ("__shared__ extern float a[]", dynamic("float", "a")),
    ("extern __shared__ __attribute__((aligned(16))) unsigned char a[]",
     dynamic("unsigned char", "a")),
    ("alignas(16) extern volatile __shared__ float4 a[]", dynamic("volatile float4", "a")),
    ("extern float __shared__ a[] __attribute__((aligned(8)))", dynamic("float", "a")),
    ("extern __shared__ std::pair<A, B> *a[]", dynamic("std::pair<A, B> *", "a")),
    ("extern __shared__ typename X<A, B>::T a[]", dynamic("typename X<A, B>::T", "a")),
    ("extern __shared__ const int a[], *b[]",
     dynamic("const int", "a") + dynamic("const int *", "b")),
    ("extern __shared__ float a[][32]", dynamic("float", "a", "@[32]", "float[32]")),
    ("extern __shared__ float a[64]", dynamic("float", "a", "[64]")),
    ("extern __shared__ float a", dynamic("float", "a", "")),
])
def test_dynamic_shared_memory(source, expected):
    for before, after in [("void k() { ", " }"), ("auto k = [] { ", " };")]:
        translated = translate(f"{before}{source};{after}")
        assert squeezed(translated) == squeezed(before + expected + after)


def test_dynamic_shared_memory_outside_functions():
    for before in ("", "namespace a { "):
        assert squeezed(translate(before + "extern __shared__ float a[];")) == squeezed(
            before + dynamic("float", "a", scope="namespace"))


def test_qualifiers():
    assert translate("__global__ void k(); __host__ __device__ int c();") == (
        "           void k();                     int c();")
    assert squeezed(translate("__noinline__ int f(); __attribute__((__noinline__)) int g();")) == (
        squeezed("__attribute__((noinline)) int f(); __attribute__((__noinline__)) int g();"))


# --------------------------------------------------------------------------- lines and errors


def test_every_word_stays_at_its_line_and_column():
    text = '''# 1 "a.cu"
void kernel1() { __shared__ float tile1[size1], tile2; use1(tile1); }
__global__ void kernel2(int a1) {
    extern __shared__ double
        dynamic1[];
    use2(dynamic1);    __shared__ int tile3[size3]; use3(tile3);
}
# 20 "b.cuh"
void host1() {
    kernel3 <block1,
             Block>
        <<<grid1, block3,
           bytes1>>>(
            value1, [=] { kernel4<<<grid2, block4>>>(value2); },
            value3); use4();
    kernel5<<<grid3, block5>>>(value4); use5();
    \u00e9\u00e9(), kernel6<<<grid4, block6>>>(value5), use6();
}
'''
    before, after = places(text), places(translate(text))
    for word in re.findall(r"[a-z]+\d", text):
        assert before[word] <= after[word], word


def test_lines_of_macros():
    """What a macro makes stands on the line of its use."""
    after = places(translate('# 7 "a.cu"\ndo { k<<<1, 2>>>(a); } while (0); next;\nlast;\n'))
    assert {line for line, _ in after["k"] | after["next"]} == {7} and after["last"] == {(8, 0)}


@pytest.mark.parametrize("line, sentence", [
    ("    k<<<1, 2(a);", "the launch of k has no >>>"),
    ("    k<<<f(1, 2>>>(a);", "the launch of k has no >>>, or a bracket before it is not closed"),
    ("    k<<<1, 2>>(a);", "the launch of k has no >>>"),
    ("    k<2><<<1, 2>>>;", "the launch of k<2> has no arguments in parentheses"),
    ("    k<<<1, 2>>>(a, (b);", "the arguments of k are not closed: a ) is missing"),
    ("    k<<<1>>>(a);", "the launch of k needs a grid and a block"),
    ("    <<<1, 2>>>(a);", "there is no kernel before <<<"),
    ("    = <<<1, 2>>>(a);", "there is no kernel before <<<"),
    ("    __shared__ int a = 3;", "a __shared__ variable cannot have an initialiser"),
    ("    __shared__ int a{};", "a __shared__ variable cannot have an initialiser"),
    ("    extern __shared__ int (*a)();", "this dynamic shared memory cannot be read"),
])
def test_what_cannot_be_read(line, sentence):
    learner = f'void f() {{\n}}\n# 40 "dir/a b.cu"\nvoid g() {{\n{line}\n}}\n'
    text = system_header("int f();\n") + learner
    with pytest.raises(TranslationError) as caught:
        translate(text)
    first, shown = str(caught.value).split("\n")
    assert first.startswith(f"dir/a b.cu:41: error: {sentence}")
    assert shown == f"   41 | {line}"


@pytest.mark.parametrize("definition", [
    "void k(int a) {", "static void\nk() {", "template <class T> void k(T a) {", "__device__ void k() {",
    "namespace { void k() {",
])
@pytest.mark.parametrize("launch", ["k<<<1, 2>>>(3)", "if (f) k<int><<<1, 2>>>(3)", "n::k<<<1, 2>>>(3)"])
def test_launched_function_that_is_no_kernel(definition, launch):
    line = definition[: definition.index("k(")].count("\n") + 7
    with pytest.raises(TranslationError) as caught:
        translate(f'# 7 "a.cu"\n{definition} }}\nint f() {{ return k(1), {launch}; }}\n')
    assert str(caught.value).startswith(f"a.cu:{line}: error: k is launched but is no kernel: write ")


@pytest.mark.parametrize("text", [
    "__global__ void k(); void k() {} void f() { k<<<1, 2>>>(); }",
    "void k() {} void f() { k<<<1, 2>>>(); } template <class T> __global__ void k(T);",
    "void k() {} void f(void (*k)()) { k<<<1, 2>>>(); }",
    "void k() {} void f(void k()) { k<<<1, 2>>>(); }",
    "void k() {} template <void (&k)()> void f() { k<<<1, 2>>>(); }",
    "void k() {} template <class K> void f(K k) { k<<<1, 2>>>(); }",
    "void k() {} void f() { auto k = g; k<<<1, 2>>>(); }",
    "void k() {} void f() { decltype(g) k{g}; k<<<1, 2>>>(); }",
    "void k() {} void f() { auto [n, k] = g; k<<<1, 2>>>(); }",
    "void k() {} void f() { [k = g] { k<<<1, 2>>>(); }(); }",
    "void k() {} void f(A a) { a.k<<<1, 2>>>(); }",
    "struct A { static void k() {} }; void f() { A::k<<<1, 2>>>(); }",
    "void k(); void f() { k<<<1, 2>>>(); }",
])
def test_launched_name_that_may_be_a_kernel(text):
    assert "::cuda_cpu::launcher(" in translate(text)


@pytest.mark.parametrize("text", [
    "void f() { k<<<1, 2>>>(a)", "void f() { __shared__ int a", "__shared__ float a[3]\nint b = 3;",
    "}}} k<<<1, 2>>>(a); )", "> k<<<1, 2>>>(a)", ")<<<1, 2>>>(a)", "__shared__", "__shared__;",
    "extern __shared__;", "extern __shared__ a[];", "{ __shared__ }", "<<<", ">>>", "k<<<", "(((",
    "k<<<1, 2>>>", "'\"k<<<1, 2>>>(a)", 'R"(k<<<', "<<<<<<< HEAD\n=======\n>>>>>>> other",
])
def test_broken_text_is_an_error_or_left_to_the_compiler(text):
    try:
        translate(text)
    except TranslationError as error:
        assert re.match(r"<stdin>:\d+: error: [a-z_]", str(error))


def test_is_fast():
    learner = "__global__ void k(float* a) { if (a[3] > 0) a[3] *= 2; }\n" * 200
    learner += "void f(float* a) { k<<<1, dim3(2, 3)>>>(a); }\n" * 200
    header = "template <class T> struct A { T operator()(const T& a) const { return a << 3; } };\n"
    text = system_header(header * 40_000) + learner
    assert len(text) > 3_000_000
    begin = time.process_time()
    translate(text)
    assert time.process_time() - begin < 0.5  # it takes 0.1


# --------------------------------------------------------------------------- compiled programs


@pytest.mark.ahead(farm.build, LAUNCHES, "", "cpu", False, "-O0")
def test_program(run):
    program = farm.build(LAUNCHES, backend="cpu", flags="-O0")
    result = run(program)
    assert result.returncode == 0 and not result.stderr
    assert result.stdout == """\
shape 2x1x1 of 1x3x2: 1
shape 1x1x1 of 2x1x1: 2
shape 2x1x1 of 3x1x1: 1
in_namespace 3
in_namespace 2
with_default 1 42
with_default 1 3
no_arguments 7
text b ) 62
pointer null
no_arguments 2
no_arguments 4
filled 4.5 12
filled 4 6
filled 10 6
dynamic 2.5 8
dynamic 1 4
dynamic_rows 7
in_function 12
many 3 of 3
filled 0.5 6
filled 1 20
no_arguments 9
shape 1x1x1 of 1x1x1: 4
in_function 6
shape 1x1x1 of 1x1x1: 6
3 no error
"""


def compile_script(folder, *words, runtime_object="/nonexistent/runtime.a"):
    """Runs compile.sh in a folder, without optimisation."""
    return farm.run(COMPILE, "--python", sys.executable, "--flags", "-O0",
                    "--runtime-object", runtime_object, *words, cwd=folder)


ERRORS = """\
#include <cstdio>
#define LAUNCH(kernel, ...) kernel<<<1, 1>>>(__VA_ARGS__)
__global__ void add(const float* a, float* sum, int count) {
    __shared__ float row[sizes];
    if (threadIdx.x < count) sum[0] = a[1] + b[1];
    extern __shared__ float values[];
}
__global__ void other(flot* a) {}
__global__ void third() { extern __shared__ int values[]; }
int main() {
    int unused;
    float* a = nullptr;
    add<<<1, blocks>>>(a, a, 3);
    add<<<1, 1>>>(a, b, 3);
    add<<<dim3(1, 2),
          256>>>(a,
                 c, 3);
    int text = "text";
    LAUNCH(add, a, a, d);
    add<<<1, 1>>>(a);
    add<<<1, 1>>>(3, a, 3);
    ad<<<1, 1>>>(a);
}
"""

MISFIT = "the arguments of this launch do not fit the parameters of the kernel"
# The line, the text under the caret and what the compiler says. In a macro's expansion the caret is
# only near; without an own place in the source (None) the caret is not looked at.
EXPECTED_ERRORS = [
    (4, "sizes", "'sizes' was not declared"),
    (4, "row", "'row' was not declared"),
    (5, "b[1]", "'b' was not declared"),
    (8, None, "variable or field 'other' declared void"),
    (8, None, "'flot' was not declared"),
    (8, None, "'a' was not declared"),
    (9, None, "conflicting declaration 'int values []'"),
    (13, "blocks", "'blocks' was not declared"),
    (14, "b, 3", "'b' was not declared"),
    (17, "c, 3", "'c' was not declared"),
    (18, '"text"', "invalid conversion from 'const char*' to 'int'"),
    (19, None, "'d' was not declared"),
    (20, "add", f"{MISFIT} add(const float* a, float* sum, int count)"),
    (21, "add", f"{MISFIT} add(const float* a, float* sum, int count)"),
    (22, "ad<<<", "'ad' was not declared"),
]


def test_errors_show_the_learner_s_own_line(folder):
    (folder / "my lab.cu").write_text(ERRORS)
    result = compile_script(folder, "my lab.cu", "-o", "program")
    assert result.returncode == 1
    output = result.stderr.replace("\u2018", "'").replace("\u2019", "'")
    lines = ["", *ERRORS.split("\n")]
    form = r"^my lab\.cu:(\d+):(\d+): error: (.*)\n(.*)$"
    errors = re.findall(form, output, re.MULTILINE)
    for line, under, sentence in EXPECTED_ERRORS:
        column = lines[line].index(under) + 1 if under else None
        assert any(int(error[0]) == line and (int(error[1]) == column or not under)
                   and sentence in error[2] and error[3] == f"{line:5} | {lines[line]}"
                   for error in errors), f"line {line}: {sentence}"
    assert len(errors) == len(EXPECTED_ERRORS) == output.count("error:")
    assert "my lab.cu:11:9: warning: unused variable 'unused'" in output
    assert set(re.findall(r"^(.*?):\d+:\d+: warning", output, re.MULTILINE)) == {"my lab.cu"}
    # Nothing of the runtime's templates comes with a misfit: the two lines before it name the learner's.
    for misfit in re.finditer(rf"(.*)\n(.*)\n.*{MISFIT}", output):
        assert misfit[1].startswith("my lab.cu: ") and misfit[2].startswith("my lab.cu:"), misfit[0]
    assert os.listdir(folder) == ["my lab.cu"]


# Each with the text under which its error has to stand, or behind which.
IN_MACROS = """\
#include "check.h"
__global__ void k(int a) {}
int f(int, int);
int main() {
    int count = 1;
    CHECK(f(count, missing) + 1);  /* a comment */ CHECK(0);
    CHECK(f(count + 1 * 2, // in two lines
            absent));
    CHECK(3 + twice(count, TWICE(other)) * 2);
\tk<<<1, CHECK(third)>>>(CHECK(fourth));
    const char* text = NULL; CHECK(text != NULL && *text == fifth);
    count = sixth;
    CHECK(f(1, 2))
}
"""


def test_errors_in_macros_stand_under_the_learners_text(folder):
    (folder / "check.h").write_text("""#include <stddef.h>
template <class T> T check(T value, const char*, const char*, int) { return value; }
#define TWICE(x) ((x) + (x))
#define CHECK(...) check((check(0, "", "", 0), (__VA_ARGS__)), #__VA_ARGS__, __FILE__, __LINE__)
""")
    (folder / "lab.cu").write_text(IN_MACROS)
    output = compile_script(folder, "lab.cu", "-o", "lab").stderr
    lines = IN_MACROS.expandtabs(8).splitlines()  # as the compiler counts
    expected = {(number, line.index(word) + 1) for number, line in enumerate(lines, 1)
                for word in ("missing", "absent", "twice", "other", "third", "fourth", "fifth", "sixth") if word in line}
    expected.add((13, len(lines[12]) + 1))
    found = {(int(line), int(column)) for line, column in re.findall(r"^lab\.cu:(\d+):(\d+): error", output, re.MULTILINE)}
    assert found == expected, output


def test_an_operator_stays_whole(folder):
    """Of a line that is not the one that its number says, some words are found in the other line all the same."""
    (folder / "lab.cu").write_text("int x = 2;\nint main() {\n    int rows = 6;\n#line 1\n"
                                   "    rows /= 2;\n    return rows;\n}\n")
    assert "error" not in compile_script(folder, "lab.cu", "-o", "lab.ii", "--translate").stderr
    assert "/=" in (folder / "lab.ii").read_text().rpartition("int rows")[2]


SMALL = """\
#include "header.h"
__global__ void k(int a) {}
int main() { k<<<1, 1>>>(A); return 3; }
"""


def test_paths_lists_and_what_is_left(folder, run):
    place = folder / "a [b] c"
    (place / "out").mkdir(parents=True)
    (place / "my lab.cu").write_text(SMALL)
    (place / "header.h").write_text("#define A 2\n")
    runtime = farm.call(farm.runtime, "cpu")
    result = compile_script(place, "my lab.cu", "-o", "out/my lab", runtime_object=runtime)
    assert result.returncode == 0 and result.stdout + result.stderr == ""
    assert run(place / "out/my lab").returncode == 3
    assert compile_script(place, "my lab.cu", "--list", "out/lab.d", runtime_object=runtime).returncode == 0
    assert sorted(os.listdir(place / "out")) == ["lab.d", "my lab"]
    rules = (place / "out/lab.d").read_text().replace("\\\n", " ")
    assert rules.startswith("output: my\\ lab.cu ") and {"header.h", str(runtime)} < set(shlex.split(rules))

    # A learner's mistake leaves the program of before, and nothing else.
    (place / "header.h").write_text("")
    before = (place / "out/my lab").stat().st_mtime_ns
    result = compile_script(place, "my lab.cu", "-o", "out/my lab", runtime_object=runtime)
    assert result.returncode == 1 and "my lab.cu:3:26: error: 'A' was not declared" in (
        result.stderr.replace("\u2018", "'").replace("\u2019", "'"))
    assert sorted(os.listdir(place / "out")) == ["lab.d", "my lab"]
    assert (place / "out/my lab").stat().st_mtime_ns == before


def test_error_of_the_translator_stops_the_build(folder):
    (folder / "lab.cu").write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>; }\n")
    result = compile_script(folder, "lab.cu", "-o", "program")
    assert result.returncode == 1
    assert result.stderr == (
        "lab.cu:2: error: the launch of k has no arguments in parentheses (they may be empty): "
        "write k<<<grid, block>>>(arguments)\n    2 | int main() { k<<<1, 1>>>; }\n")
    assert os.listdir(folder) == ["lab.cu"]


def test_translation_and_compilation_may_be_two_calls(folder):
    (folder / "lab.cu").write_text("__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
    runtime = farm.call(farm.runtime, "cpu")
    first = compile_script(folder, "--translate", "lab.cu", "-o", "lab.ii")
    assert first.returncode == 0 and "cuda_cpu::launcher" in (folder / "lab.ii").read_text(), first
    second = compile_script(folder, "lab.ii", "-o", "lab", runtime_object=runtime)
    assert second.returncode == 0, second
    assert farm.run(folder / "lab").returncode == 0
    assert sorted(os.listdir(folder)) == ["lab", "lab.cu", "lab.ii"]


def test_of_what_the_runtime_has_compiled_the_declaration_is_left():
    text = """# 1 "../common/lab/words.h" 1
#pragma interface
namespace lab {
inline std::string joined(int most = f({1}),
                          char end = ')') {
    return most ? "}" : "{";
}
constexpr int twice(int i) { return 2 * i; }
inline int table[] = {1, 2};
static int in_this_object() { return 1; }
int tried() try { return 1; } catch (int) { return 2; } catch (...) { return 3; }
__attribute__((format(printf, 1, 2))) __device__ int both() { return 1; }
template <class T> struct Kept { int get() { return 1; } };
class Words : public Base {
 public:
    Words(int i) noexcept : first{i}, second(i) { go(); }
    bool operator==(const Words& other) const { return true; }
    auto all() { return first; }
# 30 "../common/lab/words.h"
    struct Row { int end() const { return 1; } int at = 0; };
    int first{1};
};
}
# 5 "own.h" 2
#pragma interface
inline int own() { return 1; }
"""
    left = declared(text)
    assert left.count("\n") == text.count("\n")
    for whole, declaration in ((' {\n    return most ? "}" : "{";\n}', " ;\n\n"), (" : first{i}, second(i) { go(); }", " ;"), (" { return true; }", " ;"),
                               ("end() const { return 1; }", "end() const ;"), ("inline std", " std")):
        assert text.count(whole) == 1
        text = text.replace(whole, declaration)
    assert left.split() == text.split()


def test_headers_are_compiled_once_and_known_by_their_content(folder):
    """Those in front of a lab lie beside the runtime. Spoiled ones stop a build that takes them, and no build of other headers."""
    runtime = farm.call(farm.runtime, "cpu")
    place = folder / "a \"place"
    place.mkdir()
    shutil.copy(runtime, place)
    for precompiled in runtime.parent.glob("*.gch"):
        (place / precompiled.name).write_text("spoiled")
    spoiled = len(list(place.glob("*.gch")))
    source = farm.ROOT / "solutions/01_hello_world/hello_world.cu"

    def taken(source, *words):
        result = farm.run("bash", COMPILE, "--python", sys.executable, "--runtime-object", place / "runtime.a", *words, source,
                          "-o", folder / "program")
        return re.findall(r"(\w+)\.gch: ", result.stderr)

    (folder / "plain.cu").write_text("int main() {}\n")
    of_labs, of_all = taken(source), taken(folder / "plain.cu")
    assert of_labs and of_all and of_labs != of_all
    assert taken(folder / "plain.cu", "--flags", "-fopenmp") == of_all
    other = folder / "other/solutions/01_hello_world/hello_world.cu"
    other.parent.mkdir(parents=True)
    shutil.copytree(farm.ROOT / "common/lab", folder / "other/common/lab")
    shutil.copy(farm.ROOT / "common/lab.h", folder / "other/common")
    shutil.copy(source, other)
    assert taken(other) == of_all
    assert taken(source, "--flags", "-DLAB_FURTHER") == of_labs
    assert not taken(source, "--flags", "-O0")
    made = farm.run("bash", COMPILE, "--python", sys.executable, "--headers", place, "--flags", "-O0")
    assert made.returncode == 0, made.stderr
    assert not taken(source, "--flags", "-O0 -Wno-unused") and len(list(place.glob("*.gch"))) == spoiled + 1
    assert farm.run(folder / "program").returncode in (0, 77)


GIVEN = """#pragma once
#ifdef LAB_GIVEN_COMPILED
#pragma interface
#endif
int page();
inline int given() { return 1 + page(); }
"""


@pytest.fixture
def lab_with_host(folder):
    """A course with one lab, which has a page and a header that is compiled once."""
    (folder / "common").mkdir()
    for part in ("cpu", "lab", "build.sh", "lab.h", "replay"):
        (folder / "common" / part).symlink_to(farm.ROOT / "common" / part)
    for place in ("labs/21_toy/given", "solutions/21_toy", "build"):
        (folder / place).mkdir(parents=True)
    (folder / "labs/21_toy/given/toy.h").write_text(GIVEN)
    (folder / "labs/21_toy/given/host.cpp").write_text('#pragma implementation "toy.h"\n#include "toy.h"\n')
    for place, number in (("labs", 10), ("solutions", 20)):
        (folder / place / "21_toy/page.cuh").write_text(f"int page() {{ return {number}; }}\n")
        (folder / place / "21_toy/toy.cu").write_text(
            '#include <cstdio>\n#include "page.cuh"\n#include "given/toy.h"\nint main() { printf("%d\\n", given()); }\n')
    runtime = farm.call(farm.runtime, "cpu")
    for path in (runtime, *runtime.parent.glob("*.gch")):
        (folder / "build" / path.name).symlink_to(path)
    return folder


def test_what_is_given_for_the_host_is_compiled_once(lab_with_host):
    """Not with a change of a page, nor for the solution as well; but with a change of its own, and with other flags."""
    def printed(place="labs", *flags):
        built = farm.run("bash", lab_with_host / "common/cpu/compile.sh", "--python", sys.executable, "--runtime-object",
                         "build/runtime.a", *flags, f"{place}/21_toy/toy.cu", "-o", "build/toy", cwd=lab_with_host)
        assert built.returncode == 0, built.stderr
        return int(farm.run(lab_with_host / "build/toy").stdout), {path: path.stat().st_ino for path in lab_with_host.glob("build/given/21_toy/*.o")}

    lab = lab_with_host / "labs/21_toy"
    number, first = printed()
    assert number == 11 and len(first) == 1
    (lab / "page.cuh").write_text("int page() { return 30; }\n")
    assert printed() == (31, first)
    assert printed("solutions") == (21, first)
    (lab / "given/toy.h").write_text(GIVEN.replace("1 +", "2 +"))
    number, second = printed()
    assert number == 32 and second.keys() == first.keys() and second != first
    number, both = printed("labs", "--flags", "-DOTHER")
    assert number == 32 and len(both) == 2


@pytest.mark.parametrize("wrong, said", [
    (GIVEN.replace("1 +", "unknown +"), "given/toy.h:6:"), (GIVEN.replace("page();", "page(;"), "given/toy.h:5:"),
    (GIVEN.replace("page();", "page() };"), "given/toy.h:5:"), (GIVEN.replace("page(); }", "page();"), "error: expected ‘}’"),
    (GIVEN + '#include "other.h"\n', "given/other.h: error: it says #pragma interface, but given/host.cpp does not compile it")])
def test_what_is_wrong_in_what_is_given_for_the_host_ends_the_build(lab_with_host, wrong, said):
    (lab_with_host / "labs/21_toy/given/toy.h").write_text(wrong)
    (lab_with_host / "labs/21_toy/given/other.h").write_text(GIVEN.replace("given", "other"))
    built = farm.run("bash", lab_with_host / "common/cpu/compile.sh", "--python", sys.executable, "--runtime-object", "build/runtime.a",
                     "labs/21_toy/toy.cu", "-o", "build/toy", cwd=lab_with_host)
    assert built.returncode != 0 and said in built.stderr.replace("'", "‘", 1) and "Traceback" not in built.stderr
    assert not (lab_with_host / "build/toy").exists()


@pytest.mark.parametrize("host", sorted(farm.ROOT.glob("labs/*/given/host.cpp")), ids=lambda host: host.parts[-3])
def test_what_a_lab_compiles_once_has_nothing_of_a_page(host):
    """Neither the exercise's nor the solution's: no page is read for it. And what it holds is what says so."""
    said = farm.run("bash", COMPILE, "--python", sys.executable, "--list", "/dev/stdout", "--flags", "-DLAB_GIVEN_COMPILED", host)
    read = {Path(word).resolve() for word in shlex.split(said.stdout.replace("\\\n", " ")) if "/labs/" in word}
    read = {path for path in read if path.is_relative_to(farm.ROOT / "labs")}
    assert host in read and all(path.parent == host.parent for path in read)
    implemented = re.findall(r'^#pragma implementation "(.*)"$', host.read_text(), re.MULTILINE)
    assert implemented == sorted(path.name for path in host.parent.iterdir() if "\n#pragma interface" in path.read_text())
    assert {host.parent / name for name in implemented} <= read


def test_options_of_the_environment_make_other_precompiled_headers(folder):
    """Two for each: no program with other options takes them. The compiler here only preprocesses."""
    compiler = folder / "compiler"
    compiler.write_text('#!/bin/bash\n[[ " $* " != *"/precompiled "* && " $* " != *" -c "* ]] || { : >"${@: -1}" && exit; }\nexec g++ "$@"\n')
    compiler.chmod(0o755)
    for place, flags in (("own", "-march=native"), ("plain", ""), ("again", "")):
        (folder / place).mkdir()
        result = farm.run("bash", COMPILE, "--runtime", "--python", sys.executable, "--cxx", compiler, "-o", folder / place / "runtime.a",
                          env={"CPU_CXXFLAGS": flags})
        assert result.returncode == 0 and (folder / place / "runtime.a").exists(), result.stderr
    own, plain, again = ({path.name for path in (folder / place).glob("*.gch")} for place in ("own", "plain", "again"))
    assert len(own) == len(plain) == 2 and plain == again and not own & plain


@pytest.mark.parametrize("words, sentence", [
    ([], "-o PROGRAM is missing"),
    (["lab.cu"], "-o PROGRAM is missing"),
    (["-o", "program"], "SOURCE.cu is missing"),
    (["--translate", "a.cu", "b.cu", "-o", "a.ii"], "--translate takes one source, but got a.cu b.cu"),
    (["lab.cu", "--fast", "-o", "program"], "unknown option --fast"),
    (["lab.cu", "-o"], "-o needs a value"),
    (["--runtime", "lab.cu", "-o", "runtime.a"], "--runtime takes no source, but got lab.cu"),
    (["lab.cu", "-o", "nowhere/program"], "the folder of nowhere/program does not exist"),
])
def test_bad_usage(folder, words, sentence):
    result = farm.run(COMPILE, *words, cwd=folder)
    assert result.returncode == 2 and result.stdout == "" and os.listdir(folder) == []
    assert result.stderr.startswith(f"compile.sh: {sentence}") and result.stderr.count("\n") == 1


@pytest.mark.skipif(not shutil.which("clang++"), reason="clang++ is not installed")
@pytest.mark.parametrize("debug", [[], ["--debug"]], ids=["", "debug"])
def test_clang_takes_the_flags(folder, debug):
    """Those of an ordinary build; --translate ends before it is compiled, which would take long."""
    result = farm.run("bash", COMPILE, "--translate", "--cxx", "clang++", "--python", sys.executable, *debug,
                      farm.ROOT / LAUNCHES, "-o", folder / "translated.ii")
    assert result.returncode == 0 and "unknown argument" not in result.stderr, result.stderr


@pytest.mark.parametrize("includes, word, places", [("thrust/sort.h", "operator()", [('"my.cu"', 2)]), ("thrust/sort.h", "call", []), ("vector", "operator()", [])])
def test_function_objects_with_two_halves(includes, word, places):
    """Thrust calls the device's half; elsewhere each side calls its own."""
    text = f'# 1 "/opt/include/{includes}" 1 3\n# 1 "my.cu" 2\nstruct A {{\n__host__ __device__ int {word}() {{\n    return 1;\n}}\n}};\n'
    assert halves_of_functors(text, text.replace("1;", "2;")) == places
    assert halves_of_functors(text, text) == []
    assert ("return 1;" in merged(text, text.replace("1;", "2;"))[0]) == (places == [])
