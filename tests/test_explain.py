"""make explain: kernels whose figures are known by hand, the tables, pages and pictures made of them."""

import csv
import os
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml
from pathlib import Path

import pytest

import farm
from explain import advice, cards, flow, ncu, operations, picture, table
from explain.record import Access, Record
from explain.summary import Line, kernels_of, name, worst

SOURCE = "tests/programs/explain_known.cu"
SIDE_BY_SIDE = """
__global__ void meet(const float* in, float* out) {
    const float value = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = value;
}
__global__ void add(float* sum) {
    for (int i = 0; i < 64; i++) atomicAdd(sum, 1.0f);
}
__global__ void fill(int* list, int* count) { list[atomicAdd(count, 1)] = threadIdx.x; }

int main() {
    int* memory;
    cudaMalloc(&memory, 1 << 17);
    cudaMemset(memory, 0, 1 << 17);
    float* const floats = reinterpret_cast<float*>(memory) + 32;
    for (int i = 0; i < 20; i++) meet<<<64, 256>>>(floats, floats);
    add<<<64, 256>>>(floats);
    fill<<<64, 256>>>(memory + 300, memory);
    return cudaDeviceSynchronize();
}
"""

# Five kernels of two names, and a line that runs in one launch of five.
ALIKE = """
namespace A { __global__ void twin(int* o) { o[threadIdx.x] = 1; } }
namespace B { __global__ void twin(int* o) { o[threadIdx.x * 2] = 1; } }
namespace { __global__ void twin(float* o) { o[threadIdx.x] = 2; } }
__device__ int overloaded(int i) { return 2 * i; }
__global__ void overloaded(int* o) { o[overloaded(threadIdx.x)] = 1; }
__global__ void overloaded(float* o, int (*)(int)) { o[threadIdx.x] = 1; }
__global__ void sometimes(int* o, bool now) { if (now) o[threadIdx.x] = 1; }
template <typename T> __global__ void filled(T* o, int n) { if (threadIdx.x < n) o[threadIdx.x] = 1; }

int main() {
    int* o;
    cudaMalloc(&o, 1024);
    A::twin<<<1, 32>>>(o);
    B::twin<<<1, 32>>>(o);
    twin<<<1, 32>>>(reinterpret_cast<float*>(o));
    overloaded<<<1, 32>>>(o);
    overloaded<<<1, 32>>>(reinterpret_cast<float*>(o), nullptr);
    for (int i = 0; i < 5; i++) sometimes<<<1, 32>>>(o, i == 0);
    for (int i = 0; i < 2; i++) filled<<<1, 32>>>(o, 32 * i);
    return cudaDeviceSynchronize();
}
"""

pytestmark = pytest.mark.runtimes("sanitize/accesses")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if farm.BACKEND != "cpu":
        pytest.skip("counts what CPU mode does")
    return compiled(farm.ROOT / SOURCE, tmp_path_factory.mktemp("explain") / "explain_known")


def compiled(source, target):
    runtime = farm.call(farm.runtime, "sanitize/accesses")
    words = ["bash", farm.ROOT / "common/cpu/compile.sh", "--sanitize", "accesses", "--python", sys.executable]
    subprocess.run([*words, "--runtime-object", runtime, source, "-o", target], check=True)
    return target


@pytest.fixture(scope="module")
def record(program):
    result = Record.of_run(program, [])
    assert result.status == 0, result.said
    return result


@pytest.fixture
def of(record):
    """of("kernel", number of its launch) -> the launch."""
    return lambda kernel, number=0: [launch for launch in record.launches if launch.kernel == kernel][number]


@pytest.mark.parametrize("launch, sectors", [(0, 4), (1, 8), (2, 32)])
def test_stride(of, launch, sectors):
    loads, stores = of("stride_copy", launch).total("load", "global"), of("stride_copy", launch).total("store", "global")
    assert (loads.requests, loads.lanes, loads.units, loads.least) == (128, 4096, 128 * sectors, 128 * 4)
    assert (stores.requests, stores.units, stores.least) == (128, 128 * 4, 128 * 4)


def test_offset_of_one_element_takes_a_sector_more(of):
    loads = of("offset_copy").total("load", "global")
    assert (loads.requests, loads.units, loads.least) == (128, 128 * 5, 128 * 4)


def test_broadcast_takes_one_sector(of):
    loads = of("broadcast").total("load", "global")
    assert (loads.requests, loads.units, loads.bytes, loads.asked) == (128, 128, 128 * 4, 128 * 128)
    assert of("broadcast").unique_read == 4 * 32


def test_float4_is_one_request(of):
    for what in ("load", "store"):
        accesses = of("vectors").total(what, "global")
        assert (accesses.requests, accesses.units, accesses.least) == (128, 128 * 16, 128 * 16)


def test_a_vector_stored_in_parts_is_one_request_and_three_floats_are_three(of):
    stores = sorted((access.requests, access.units) for access in of("parts").accesses.values() if access.what == "store")
    assert stores == [(128, 128 * 12)] * 3 + [(128, 128 * 16)]


def test_lanes_that_do_nothing(of):
    launch = of("guarded")
    loads = launch.total("load", "global")
    assert (loads.requests, loads.lanes) == (124, 4096 - 128 - 24)
    assert launch.branch_efficiency() is None  # lanes leave: no branch on a GPU either
    assert launch.active_lanes() < 32


def test_tile_without_and_with_padding(of):
    plain, padded = of("tile_columns", 0).total("load", "shared"), of("tile_columns", 1).total("load", "shared")
    assert (plain.requests, plain.units, plain.conflicts, plain.most) == (32, 32 * 32, 32 * 31, 32)
    assert (padded.requests, padded.units, padded.conflicts, padded.most) == (32, 32, 0, 1)
    assert of("tile_columns").barriers == 1
    assert of("tile_columns").total("store", "shared").conflicts == 0


def test_shared_accesses_of_8_and_16_bytes(of):
    near, far = of("wide_shared", 0).total("load", "shared"), of("wide_shared", 1).total("load", "shared")
    # 32 doubles are two half warps, the 16 pairs that two lanes share each are four quarters.
    assert (near.requests, near.units, near.conflicts) == (2, 2 + 4, 0)
    # Every second double: two words a bank in each half. Every second pair, four a quarter: no conflict.
    assert (far.requests, far.units, far.conflicts) == (2, 4 + 4, 2)


@pytest.mark.parametrize("launch, paths", enumerate([1, 2, 4, 8, 16, 32]))
def test_paths(of, launch, paths):
    stores = of("many_paths", launch).total("store", "global")
    assert stores.lanes / stores.requests == 32 / paths
    # Of the branches k == path each warp leaves one a round the same way, if it is the only path.
    assert (of("many_paths", launch).branch_efficiency() == 100) == (paths == 1)


def test_lanes_meet_again_behind_a_loop(of):
    accesses = [access for access in of("meet_again").accesses.values() if access.what == "store"]
    assert sorted((access.requests, access.lanes) for access in accesses) == [(4, 4 * 32), (4 * 31, 4 * 31 * 16)]


def test_histogram_on_one_bin(of):
    atomics = of("histogram").total("atomic", "global")
    assert (atomics.requests, atomics.lanes, atomics.most, atomics.same) == (128, 4096, 32, 4096)


def test_atomic_of_a_float_is_one_atomic(of):
    launch = of("sum_of_floats")
    assert launch.total("atomic", "global").requests == 2
    assert launch.total("load", "global").requests == launch.total("store", "global").requests == 0


def test_shuffles_are_no_branches(of):
    launch = of("shuffled_sum")
    assert launch.total("load", "global").requests == 4
    assert launch.total("store", "global").requests == 4
    assert launch.total("store", "global").lanes == 4


def test_constants_and_variables_of_the_program(of):
    launch = of("other_memory")
    assert launch.total("store", "global").requests == 8 and launch.total("load", "global").requests <= 4
    assert launch.total("load", "constant").requests > 0


@pytest.mark.parametrize("launch", [0, 1], ids=["by its name", "as a parameter of a template"])
def test_a_vector_by_value_is_loaded(of, launch):
    loads = of("by_value", launch).total("load", "global")
    assert (loads.requests, loads.units) == (2 * 4, 2 * 4 * 16)


def test_neighbouring_words_are_loaded_one_by_one(of):
    loads = of("shifted_together").total("load", "global")
    assert (loads.requests, loads.asked) == (3 * 4, 3 * 4 * 128)


def test_a_condition_around_an_atomic_is_a_branch(of):
    # Each round splits the warp, and has a test of the loop or two.
    assert 40 < of("few_update").branch_efficiency() < 70


def test_arithmetic_of_a_header_is_the_kernel_s_own(of):
    # Some three hundred rounds a warp; lanes leave in eleven of them, for lane 31 is 31 / 3 rounds ahead.
    efficiency = of("escape").branch_efficiency()
    assert efficiency is not None and 95 < efficiency < 100


def test_every_launch_is_there_and_complete(record):
    assert len(record.launches) == 28
    assert all(launch.recorded == launch.blocks and not launch.truncated for launch in record.launches)


def test_names_have_their_template_arguments(record):
    names = [kernel.name for kernel in kernels_of(record)]
    assert "tile_columns<32>" in names and "tile_columns<33>" in names


def line_with(text):
    lines = (farm.ROOT / SOURCE).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize("kernel, text, kind, lanes", [
    ("many_paths", "if (k == path)", "branch", 3.0),
    ("meet_again", "step < lane", "loop", 16.0),
    ("few_update", "atomicAdd(&sums[round], sum)", "branch", 17.3),
])
def test_the_line_that_parts_the_lanes(record, kernel, text, kind, lanes):
    found = next(one for one in kernels_of(record) if one.name == kernel)
    parting = found.partings[0]
    assert (parting.line, parting.kind, round(parting.lanes, 1)) == (line_with(text), kind, lanes)
    assert parting.wasteful and (found, parting) in worst([found])
    assert any(f"the {kind} of explain_known.cu:{parting.line} costs most" in line
               for line in table.kernel_figures(found, None, 0))
    assert f"{lanes} are active" in advice.problem(parting)


def test_a_kernel_whose_lanes_stay_together_parts_none(record):
    names = ("stride_copy", "histogram", "by_value", "guarded")
    together = [kernel for kernel in kernels_of(record) if kernel.name in names]
    assert len(together) == 4 and not any(line.wasteful for kernel in together for line in kernel.partings)


def test_a_few_percent_are_no_waste():
    def line(units):
        return Line("a.cu", 1, 0, Access("load", "global", requests=100, lanes=3200, units=units, least=400))
    assert not line(400).wasteful and not line(430).wasteful and line(500).wasteful


def test_equal_accesses_of_a_line_have_numbers():
    lines = [Line("nowhere.cu", 7, column, Access("load", "global")) for column in (3, 9)]
    name(lines)
    assert [line.which for line in lines] == ["(1 of 2)", "(2 of 2)"]


def test_the_rate_is_that_of_the_parameters(record):
    kernels = {kernel.name: kernel.arithmetic() for kernel in kernels_of(record)}
    assert kernels["stride_copy"] == kernels["vectors"] == "float" and kernels["escape"] == "double"
    assert kernels["few_update"] == ""
    few = next(kernel for kernel in kernels_of(record) if kernel.name == "few_update")
    assert "(arithmetic at the rate of float; that of double if" in list(table.kernel_figures(few, cards.find("T4"), 1e9))[-1]


def test_a_sample_says_so_and_agrees(program, of):
    record = Record.of_run(program, [], {"CUDA_CPU_EVENTS": "4000"})
    sampled = [launch for launch in record.launches if launch.kernel == "stride_copy"][2]
    assert 8 <= sampled.recorded < sampled.blocks
    loads, all_loads = sampled.total("load", "global"), of("stride_copy", 2).total("load", "global")
    assert loads.units / loads.requests == all_loads.units / all_loads.requests


def test_kernels_behind_one_pointer_are_told_apart(program):
    launches = Record.of_run(program, ["often"], {"CUDA_CPU_TOUCHES": "9"}).launches
    first, second = ([launch for launch in launches if launch.kernel == name] for name in ("first_of_two", "second_of_two"))
    assert (len(first), sum(launch.recorded for launch in first)) == (40, 33)
    assert len(second) == 4 and sum(launch.recorded for launch in second) >= 3
    assert [sum(bool(launch.touches) for launch in of_one) for of_one in (first, second)] == [1, 1]


def test_what_blocks_and_objects_share(program, tmp_path):
    """Shared memory of another block is counted in sectors; memory from malloc in a kernel, surfaces and textures are global."""
    def rows(name):
        made = compiled(farm.ROOT / f"tests/programs/sanitize_{name}.cu", tmp_path / name)
        return [(kernel.name, line.words, round(line.access.requests), line.per_request)
                for kernel in kernels_of(Record.of_run(made, [])) for line in kernel.lines()]
    clusters = rows("clusters")
    assert ("exchange", "load distributed", 4, 4) in clusters and ("count", "atomic distributed", 6, 1) in clusters
    memory = rows("memory")
    for one in (("use", "store global", 2, 8), ("in_block", "store global", 2, 8), ("shift", "load global", 2, 8),
                ("shift", "store global", 2, 8), ("look_up", "load global", 2, 8)):
        assert any(row[:3] == one[:3] for row in memory), (one, memory)


def test_kernels_launched_by_an_address_have_their_names(program, tmp_path):
    source = tmp_path / "by_address.cu"
    source.write_text("""
__global__ void one(int* v) { v[threadIdx.x] = 1; }
__global__ void two(int* v) { v[threadIdx.x * 8] = 2; }
int main() {
    int* v; cudaMalloc(&v, 1 << 12); void* arguments[] = {&v};
    void (*table[])(int*) = {one, two};
    for (auto kernel : table) kernel<<<1, 32>>>(v);
    cudaLaunchKernel(table[0], 1, 32, arguments);
    cudaLaunchKernel((const void*)table[1], 1, 32, arguments, 0, nullptr);
    cudaLaunchKernel(reinterpret_cast<void*>(*table), 1, 32, arguments, 0, nullptr);
    return cudaDeviceSynchronize() != cudaSuccess || cudaGetLastError() != cudaSuccess;
}
""")
    record = Record.of_run(compiled(source, tmp_path / "by_address"), [])
    assert [(launch.kernel, launch.recorded) for launch in record.launches] == [("one", 1), ("two", 1), ("one", 1), ("two", 1), ("one", 1)]
    assert {(kernel.name, line.line) for kernel in kernels_of(record) for line in kernel.lines()} == {("one", 2), ("two", 3)}


def test_a_file_needs_no_word_about_python():
    """make explain FILE=... in a shell that names no Python."""
    result = farm.run("env", "-u", "PYTHON", "-u", "MAKEFLAGS", "make", "explain", "FILE=tests/programs/explain_transpose.cu", cwd=farm.ROOT)
    assert result.returncode == 0, result.stdout + result.stderr


def test_figures_are_the_same_in_every_run(program, tmp_path, monkeypatch):
    source = tmp_path / "side_by_side.cu"
    source.write_text(SIDE_BY_SIDE)
    side_by_side = compiled(source, tmp_path / "side_by_side")
    monkeypatch.delenv("CUDA_CPU_THREADS", raising=False)
    first, *others = (Record.of_run(side_by_side, []).launches for _ in range(3))
    assert all(figures(launches) == figures(first) for launches in others)
    # On two cores the blocks fill the list in another order each time; the rest is the same.
    for _ in range(3):
        on_two_cores = Record.of_run(side_by_side, [], {"CUDA_CPU_THREADS": "2"}).launches
        assert figures(on_two_cores[:-1]) == figures(first[:-1])


def figures(launches):
    return [(launch.kernel, launch.accesses, launch.pieces, launch.barriers, launch.unique_read, launch.unique_written)
            for launch in launches]


def test_kernels_of_one_name_are_told_apart(program, tmp_path):
    source = tmp_path / "alike.cu"
    source.write_text(ALIKE)
    alike = compiled(source, tmp_path / "alike")
    record = Record.of_run(alike, [], {"CUDA_CPU_TOUCHES": "9"})
    kernels = kernels_of(record)
    assert [(kernel.name, len(kernel.launches)) for kernel in kernels] == [
        ("A::twin", 1), ("B::twin", 1), ("twin", 1), ("overloaded(int*)", 1), ("overloaded(float*, int (*)(int))", 1),
        ("sometimes", 5), ("filled<int>", 2)]
    requests = [[table.cells(kernel, line)[3] for line in kernel.lines()] for kernel in kernels]
    assert requests == [["1"], ["1"], ["1"], ["1"], ["1"], ["0.2"], ["0.5"]]
    figures = [list(table.kernel_figures(kernel, cards.find("T4"), 0))[-1] for kernel in kernels]
    assert all("its bound is less than the launch itself takes (memory" in line for line in figures)
    pictures = picture.all_of(kernels, 32)
    assert pictures["twin store global"].kernel == "A::twin" and ">A::twin, store" in pictures["twin store global"].svg
    assert pictures["twin store global 2"].kernel == "B::twin"
    assert "filled, store" in pictures["filled store global"].svg
    (_, twin), *_ = picture.all_of(kernels[1:2], 32).items()  # as --kernel B::twin chooses
    assert twin.kernel == "B::twin"


def test_an_average_that_is_not_0_is_not_printed_as_0():
    assert [table.size(number) for number in (0, 0.001, 0.04, 0.2, 1, 4.5, 25.6, 1536)] == [
        "0", "<0.01", "0.04", "0.2", "1", "4.5", "26", "1.5 Ki"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_no_traceback(number):
    words = [sys.executable, "-B", "-m", "explain", "/bin/sleep", "60"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env={**os.environ, "PYTHONPATH": str(farm.ROOT / "common")}) as process:
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        while not any(is_asleep(child) for child in children.read_text().split()):
            time.sleep(0.02)
        sleeper = children.read_text().strip()
        time.sleep(0.1)  # until it is known to its parent
        process.send_signal(number)
        assert process.communicate(timeout=20) == ("", "\ninterrupted\n")
    assert process.returncode == 130 and not is_asleep(sleeper)


def is_asleep(process):
    """Whether a process, by its number, is the program of that name."""
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().startswith(b"/bin/sleep")
    except OSError:
        return False


def test_the_order_of_threads_is_asked_for(program):
    def in_order(order):
        return subprocess.run([sys.executable, "-B", "-m", "explain", program, "none"], stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, env={
                                  **os.environ, "PYTHONPATH": str(farm.ROOT / "common"), "CUDA_CPU_ORDER": order})
    refused = in_order("nonsense")
    assert refused.returncode == 2 and refused.stderr.startswith("make explain: nonsense is no order; write forward, ")
    assert in_order("random:7").returncode == 0


@pytest.mark.parametrize("words, sentence", [
    (["FILE=README.md"], "make explain: README.md is no CUDA source; FILE= names a .cu file"),
    ([f"FILE={SOURCE}", "LAB=03"], "FILE names a file of your own, LAB a lab: give make explain one of them"),
])
def test_refuses_what_it_would_ignore(words, sentence):
    result = subprocess.run(["make", "explain", f"PYTHON={sys.executable}", *words], cwd=farm.ROOT,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2 and sentence in result.stderr and not result.stdout


def test_make_hands_the_order_on():
    words = ["make", "--dry-run", "explain", f"FILE={SOURCE}", "ORDER=random:7", f"PYTHON={sys.executable}"]
    result = subprocess.run(words, cwd=farm.ROOT, stdout=subprocess.PIPE, text=True, check=True)
    assert "CUDA_CPU_ORDER='random:7' PYTHONPATH=" in result.stdout


def explain(program, *options):
    words = [sys.executable, "-B", "-m", "explain", *options, program]
    environment = {**os.environ, "PYTHONPATH": str(farm.ROOT / "common")}
    return subprocess.run(list(map(str, words)), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def test_report_page_and_pictures(program, tmp_path):
    result = explain(program, "--kernel", "tile_columns", "--card", "h100", "--html", tmp_path / "page.html",
                     "--picture", tmp_path / "pictures")
    assert result.returncode == 0, result.stderr
    assert "32-way conflict" in result.stdout and "tile[threadIdx.x][threadIdx.y]" in result.stdout
    assert "1. " in result.stdout and "tile[32][33]" in result.stdout and "H100" in result.stdout
    assert "stride_copy" not in result.stdout
    assert result.stdout.index(" | ") < result.stdout.index("\n1. ")  # the worst lines come last
    page = (tmp_path / "page.html").read_text()
    assert "<svg" in page and "http://www.w3.org/2000/svg" in page and "src=" not in page
    pictures = sorted((tmp_path / "pictures").iterdir())
    assert pictures and all(xml.parse(picture).getroot().tag.endswith("svg") for picture in pictures)


def test_pictures_of_the_handouts_show_what_the_solutions_say():
    pictures = [path for memory in ("global", "shared") for path in farm.ROOT.glob(f"labs/*/pictures/*_{memory}*.svg")]
    assert pictures
    for path in pictures:
        title = xml.parse(path).getroot().find(".//{*}text").text
        kernel, _, source = title.partition(", ")
        source = source.partition(": ")[2].removesuffix(" ...")
        lab = path.parts[-3]
        text = " ".join("\n".join(farm.solution_files(lab).values()).split())
        assert f"{kernel}(" in text and source in text, f"{path}: make explain draws it anew"


def test_each_difference_from_ncu_has_its_reason():
    with open(farm.ROOT / "docs/explain-against-ncu.csv", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["verdict"] == "differs"]
    assert rows and all(row["reason"] for row in rows)


def test_banks_of_wide_accesses():
    # Each eight lanes of the first have all banks; of the second two lanes have one bank.
    near, far = ([16, 0, 0, 0, [(lane, 48 * lane * by) for lane in range(32)]] for by in (1, 2))
    assert max(picture.ways_of(near)) == 1 and max(picture.ways_of(far)) == 2


def test_a_picture_says_that_it_is_cut():
    request = [4, 0, 0, 0, [(lane, 4 * lane) for lane in range(32)]]
    assert "cut: the first 4096 of 65536 elements" in picture.elements("a", [request], 4 * 65536, 32)
    assert "cut" not in picture.elements("a", [request], 4 * 4096, 32)
    far = [4, 0, 0, 0, [(lane, 128 * 3 * lane) for lane in range(32)]]
    assert "cut: the first 64 of 94 rows" in picture.banks("a", [far])


def test_halves_of_a_percent_stay():
    assert [advice.plain(number) for number in (12.5, 50.0, 10.1132)] == ["12.5", "50", "10.1"]


def test_refuses_what_it_does_not_know(program):
    result = explain(program, "--card", "T1000")
    assert result.returncode == 2 and "there is no card T1000" in result.stderr
    result = explain(program, "--kernel", "nobody")
    assert result.returncode == 1 and "no kernel's name contains nobody; there are stride_copy, " in result.stderr
    for option, value, sentence in [("--events", "0", "a whole number from 1 on is needed, not 0"),
                                    ("--html", "nowhere/page.html", "cannot write nowhere/page.html")]:
        result = explain(program, option, value)
        assert result.returncode == 2 and sentence in result.stderr


def test_says_what_is_missing_and_what_the_program_did(program, tmp_path):
    (tmp_path / "objdump").symlink_to("/nowhere")
    words = [sys.executable, "-B", "-m", "explain", program]
    result = subprocess.run(words, stderr=subprocess.PIPE, text=True,
                            env={"PATH": str(tmp_path), "PYTHONPATH": str(farm.ROOT / "common")})
    assert result.returncode == 1 and result.stderr.startswith("make explain: objdump is not installed")
    result = subprocess.run(["make", "explain", f"FILE={tmp_path}/my sum.cu"], cwd=farm.ROOT, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2 and f"there is no file {tmp_path}/my sum.cu" in result.stderr


def test_of_an_exercise_as_it_was_shipped_the_solution_is_explained():
    words = ["make", "--dry-run", "explain", "BACKEND=cpu", f"PYTHON={sys.executable}"]
    result = subprocess.run(words, cwd=farm.ROOT / "labs/03_vector_add", stdout=subprocess.PIPE, text=True, check=True)
    assert "as it was shipped: the worked solution is explained" in result.stdout
    assert "build/cpu-explain/solutions/03_vector_add/vector_add" in result.stdout


def test_operations_are_rate_times_time_where_a_table_has_them(tmp_path):
    times = tmp_path / "times.csv"
    times.write_text("property,value\nwarp size,32\n")
    assert operations.operations_of(times) == {}
    times.write_text("variant,milliseconds,GFLOP/s\ntiled,2,3\n")
    assert operations.operations_of(times) == {"tiled": 6e6}


def test_what_a_branch_decides():
    # 1 chooses 2 or 3, both lead to 4, the test of a loop of 4 and 5; 6 is a part that did not ask to be kept
    edges = {1: [2, 3], 2: [6], 6: [4], 3: [4], 4: [5, 7], 5: [4], 7: []}
    kept = flow.condensed(edges, {1, 2, 3, 4, 5, 7})
    assert kept[2] == {4} and kept[7] == {0}
    assert flow.decided(kept) == {1: {2, 3}, 4: {4, 5}}


def test_order_of_a_loop_with_a_branch():
    # 1 -> 2; 2 tests the loop: 3 or 9; 3 branches to 4, which a compiler has put last (20), or to 5
    edges = {1: [2], 2: [3, 9], 3: [20, 5], 5: [2], 9: [], 20: [5]}
    ordered = flow.order(edges)
    assert ordered[:2] == [1, 2] and ordered[-1] == 9 and ordered.index(20) < ordered.index(5)
    loop, = flow.loops(edges)
    assert loop == {2, 3, 5, 20} and flow.loop_tests(loop, edges) == {2}


def test_roofline():
    assert cards.roofline(cards.find("t4"), 320e3, 1, False) == (1.0, "memory")
    assert cards.roofline(cards.find("H100"), 1, 67e6, False) == (1.0, "arithmetic")
    assert len(cards.CARDS) >= 12


NCU = '''==PROF== Connected to process 7 (/course/transpose)
==PROF== Profiling "tile" - 0: 0%....50%....100% - 4 passes
"ID","Process ID","Kernel Name","Block Size","Grid Size","l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","smsp__thread_inst_executed_per_inst_executed.ratio"
"","","","","","","","",""
"0","7","void tile<(int)32>(const float *, float *)","(32, 32, 1)","(4, 1, 1)","1,024","4,096","31.5"
'''


def test_reads_what_ncu_writes():
    row, = ncu.parse(NCU)
    assert (row["grid"], row["block"]) == ([4, 1, 1], [32, 32, 1])
    assert row["metrics"]["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] == 4096
    assert any("load global" in line and "4.00" in line for line in ncu.table([row]))


@pytest.mark.parametrize("script, sentence", [
    ("echo '==ERROR== ERR_NVGPUCTRPERM - The user does not have permission' >&2; exit 1", "ERR_NVGPUCTRPERM"),
    ("exit 1", "ncu counted nothing"),
])
def test_says_why_ncu_counts_nothing(tmp_path, script, sentence):
    fake = tmp_path / "ncu"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    with pytest.raises(ncu.NoCounters, match=sentence):
        ncu.profile(tmp_path / "program", [], ncu=str(fake))
    with pytest.raises(ncu.NoCounters, match="not installed"):
        ncu.profile(tmp_path / "program", [], ncu=str(tmp_path / "none"))
