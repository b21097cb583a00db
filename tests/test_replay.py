"""make replay: the film is what ran, and the page says what the film has, in a real browser, too."""

import json
import os
import re
from pathlib import Path

import browser
import farm
import pytest
import replay_pictures
import replay_truth
from replay import __main__ as command
from checker.failure import Failure
from replay import moments, page, step_hooks
from replay.reel import Reel

pytestmark = [pytest.mark.skipif(os.uname().machine != "x86_64", reason="replays are made on x86-64"),
              pytest.mark.runtimes("sanitize/replay")]
TEACHING = farm.ROOT / "tests/teaching"
LOST_UPDATE = """
#include <cstdio>
struct Pair { int first, second; };
__device__ Pair pair_of(int value) { return {value, 2 * value}; }
__global__ void add(int* sum, Pair* pairs) {
    const int mine = threadIdx.x + 1;
    *sum += mine;
    pairs[threadIdx.x] = pair_of(mine);
}
int main() {
    int *sum, result = 0;
    Pair* pairs;
    cudaMalloc(&sum, sizeof(int));
    cudaMalloc(&pairs, 64 * sizeof(Pair));
    cudaMemset(sum, 0, sizeof(int));
    add<<<1, 40>>>(sum, pairs);
    cudaMemcpy(&result, sum, sizeof(int), cudaMemcpyDeviceToHost);
    std::printf("%d\\n", result);
    return 0;
}
"""


STRUCTURES = """
#include <cstdio>
struct Small { float x, y; };
struct Large { double values[6]; };
struct Copied {
    int value;
    __host__ __device__ Copied(int value) : value(value) {}
    __host__ __device__ Copied(const Copied& other) : value(other.value) {}
};
__constant__ Small fixed[4];
__device__ float sum_of(Small one) { return one.x + one.y; }
__device__ double last_of(Large one) { return one.values[5]; }
__device__ Large large_of(int i) {
    Large made;
    for (int k = 0; k < 6; k++) made.values[k] = i + k;
    return made;
}
__global__ void all(Small* small, Large* large, double* sums, int* count, Large by_value, Copied copied) {
    const int i = threadIdx.x;
    small[i] = {1, 2};
    large[i] = large_of(i);
    sums[i] = sum_of(small[i]);
    sums[i] += last_of(large[i]) + sum_of(fixed[i]);
    large[i + 4] = large[i];
    large[i] = by_value;
    atomicAdd(count, 1);
    int local[3] = {};
    local[i] = copied.value;
    sums[i] += local[0];
}
int main() {
    Small *small, constants[4] = {};
    Large *large, by_value = {};
    double* sums;
    int* count;
    cudaMalloc(&small, 4 * sizeof(Small));
    cudaMalloc(&large, 8 * sizeof(Large));
    cudaMalloc(&sums, 4 * sizeof(double));
    cudaMalloc(&count, sizeof(int));
    cudaMemset(count, 0, sizeof(int));
    cudaMemcpyToSymbol(fixed, constants, sizeof constants);
    all<<<1, 4>>>(small, large, sums, count, by_value, Copied(7));
    cudaDeviceSynchronize();
    return 0;
}
"""
TOO_LATE = """
__global__ void turn(int* turned) {
    __shared__ int tile[64];
    int value = threadIdx.x;
    if (threadIdx.x >= 32) {
        value *= 2;
        value *= 2;
        value *= 2;
    }
    tile[threadIdx.x] = value;
    turned[threadIdx.x] = tile[63 - threadIdx.x];
}
int main() {
    int* turned;
    cudaMalloc(&turned, 64 * sizeof(int));
    turn<<<1, 64>>>(turned);
    cudaDeviceSynchronize();
    return 0;
}
"""
ENDINGS = """
#include <cstdlib>
#include <cstring>
#include <unistd.h>
__global__ void fill(int* array) { array[threadIdx.x] = threadIdx.x; }
int main(int, char** arguments) {
    int* array;
    cudaMalloc(&array, 64 * sizeof(int));
    fill<<<1, strcmp(arguments[1], "past") ? 32 : 65>>>(array);
    cudaDeviceSynchronize();
    if (!strcmp(arguments[1], "crash")) *static_cast<volatile int*>(nullptr) = 1;
    if (!strcmp(arguments[1], "abort")) abort();
    if (!strcmp(arguments[1], "leave")) _exit(3);
    if (!strcmp(arguments[1], "two")) return 2;
    while (!strcmp(arguments[1], "hang")) {
    }
    return 0;
}
"""
KINDS = """
// </script><!-- <script> @REEL@ @TITLE@
struct Base { int first; };
struct Derived : Base { int second; };
struct Bits { unsigned low : 3; int middle : 5; bool last : 1; };
struct Half { int written; int not_yet; };
enum Large : unsigned { huge = 4000000000u };
enum class Tiny : unsigned char { top = 200 };
__device__ int table[3];
__device__ Half alone;
__global__ void all(Derived* derived, Bits* bits, Half* half, Large* large, Tiny* tiny, long double* wide, double* zero) {
    const char* text = "</script><!-- <script>";
    derived->first = 10, derived->second = text[0] == '<';
    bits->low = 5, bits->middle = -3;
    half->written = 7;
    *large = huge, *tiny = Tiny::top, *wide = -1.25L, *zero = -0.0;
    table[2] = table[0] + 8;
    alone.not_yet = 9;
}
__global__ void both(Half* half) {
    if (threadIdx.x == 0) half[1].written = 1;
    __syncthreads();
    if (threadIdx.x == 1) half[1].not_yet = 2;
}
__global__ void each(int* array) {
    __shared__ int mine[2];
    mine[threadIdx.x] = array[threadIdx.x] + blockIdx.x;
    int twice = mine[threadIdx.x];
    twice = 2 * twice;
    twice = 2 * twice;
}
struct Matrix {
    int height, width;
    long unused;
    float* data;  // (height, width)
};
struct Node { int value; Node* next; };
__device__ float sum_of(const float* part) { return part[0] + part[1]; }
__global__ void by_pointers(float** rows, Matrix matrix, Node* list) {
    matrix.data[threadIdx.x] = rows[threadIdx.x][1] + list->next->value;
}
__global__ void divided(float* out, int n) {
    extern __shared__ char raw[];
    float* first = reinterpret_cast<float*>(raw);
    int* second = reinterpret_cast<int*>(first + n);
    first[threadIdx.x] = threadIdx.x + 0.5f, second[threadIdx.x] = threadIdx.x;
    const float* row = first + 2 * threadIdx.x;
    out[threadIdx.x] = sum_of(first + 2) + row[0] + second[1];
}
__global__ void undivided(int* out) {
    extern __shared__ int own[][4];
    __shared__ union { int i[2]; float f[2]; } both;
    both.i[threadIdx.x] = -1 - threadIdx.x;
    own[threadIdx.x][1] = both.i[threadIdx.x];
    out[threadIdx.x] = own[threadIdx.x][1];
}
void with_pointers() {
    float *floats[2], **rows, *out;
    Node nodes[2], *list[2];
    for (int i = 0; i < 2; ++i) cudaMalloc(&floats[i], 64), cudaMalloc(&list[i], sizeof(Node));
    for (int i = 0; i < 2; ++i) {
        cudaMemset(floats[i], 0, 64);
        nodes[i] = {i, i == 0 ? list[1] : nullptr};
        cudaMemcpy(list[i], &nodes[i], sizeof(Node), cudaMemcpyHostToDevice);
    }
    cudaMalloc(&rows, sizeof floats);
    cudaMemcpy(rows, floats, sizeof floats, cudaMemcpyHostToDevice);
    for (int i = 0; i < 2; ++i) {  // the second has the first one's place
        float* data;
        cudaMalloc(&data, 24 + 24 * i);
        by_pointers<<<1, 2>>>(rows, {2 + 2 * i, 3, 0, data}, list[0]);
        cudaFree(data);
    }
    cudaMalloc(&out, 16);
    divided<<<1, 4, 32>>>(out, 4);
    undivided<<<1, 2, 32>>>(reinterpret_cast<int*>(out));
    cudaDeviceSynchronize();
}
int main() {
    void* memory[8];
    for (void*& one : memory) cudaMalloc(&one, 64);
    cudaMemset(memory[1], 0, 64);
    all<<<1, 1>>>((Derived*)memory[0], (Bits*)memory[1], (Half*)memory[2], (Large*)memory[3], (Tiny*)memory[4], (long double*)memory[5], (double*)memory[6]);
    both<<<1, 2>>>((Half*)memory[2]);
    for (int i = 0; i < 2; ++i) {
        cudaMemset(memory[7], i, 64);
        each<<<2, 2>>>((int*)memory[7]);
        cudaDeviceSynchronize();
    }
    with_pointers();
    return 0;
}
"""


def film(source: Path, *words: str, order: str = "", options: tuple = ()):
    """The film of a program's run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CUDA_CPU_ORDER", order)
        return command.filmed(command.parse([*options, str(source), "--", *words]))


def lines_of(one, name: str) -> list[int]:
    """The source's lines of a column of places."""
    return [one.information.places[number - 1][2] if number else 0 for number in one.reel[name]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("replay")


@pytest.fixture(scope="module")
def lost_update(folder):
    source = folder / "lost_update.cu"
    source.write_text(LOST_UPDATE)
    return film(source)


def lie_of_lab(arguments, variant):
    folder = farm.SESSION / "lies" / variant
    folder.mkdir(parents=True)
    return replay_truth.lie_of("10_synchronization", arguments, ".npy", variant, folder)


@pytest.mark.parametrize("arguments, variant", [
    pytest.param(*words, marks=pytest.mark.ahead(lie_of_lab, *words))
    for words in (("--elements 300", "shared_tree"), ("--problem histogram --elements 300", "lane_copies"))])
def test_a_lab_is_told_truly(arguments, variant):
    """Its last memory is what the program writes, and its accesses are those of explain."""
    assert farm.call(lie_of_lab, arguments, variant) == ""


def test_lanes_read_together_before_they_write_together(lost_update):
    """So of a warp's 32 additions one is kept, and of both warps' the last."""
    reel = lost_update.reel
    array = reel["access_array"][0]
    value = int.from_bytes(replay_truth.memory_at(reel)[array], "little")
    assert value in (32 + 40, 32, 40)
    reads = [step for step in range(reel.steps) if reel["step_accesses"][step] == 32]
    assert [lines_of(lost_update, "step_place")[step] for step in reads[:2]] == [7, 7]
    assert any("race" in fault["kind"] and fault["lines"] == [7] for fault in lost_update.faults)


def test_what_the_compiler_does_not_announce_is_found(lost_update):
    memory = replay_truth.memory_at(lost_update.reel)
    pairs = next(one for one in memory if len(one) == 512)
    assert [int.from_bytes(pairs[at:at + 4], "little") for at in range(0, 320, 4)] == [
        one for number in range(1, 41) for one in (number, 2 * number)]
    assert lost_update.reel.head["unseen"] == 0 and 0xffff not in lost_update.reel["access_thread"]


def words_at(one, line: int, what: int, name: str = "") -> int:
    """How many times four bytes of an array of global memory a line loads (0), stores (1) or updates (2); or of a constant."""
    reel = one.reel
    return sum(reel["access_size"][i] // 4 for i, number in enumerate(lines_of(one, "access_place"))
               if number == line and reel["access_what"][i] == what and (reel.head["arrays"][reel["access_array"][i]]["space"] == "constant") == bool(name))


def test_structures_that_are_handed_over_and_returned(folder):
    """Loads and stores that the compiler does not announce; and classes that it hands over by reference."""
    source = folder / "structures.cu"
    source.write_text(STRUCTURES)
    one = film(source)
    first = 20  # the kernel's line `small[i] = {1, 2}`
    assert "small[i] = {1, 2}" in STRUCTURES.splitlines()[first - 1]
    assert [words_at(one, first + by, 1) for by in range(6)] == [8, 48, 8, 8, 48, 48]
    assert [words_at(one, first + by, 0) for by in range(6)] == [0, 0, 8, 8 + 48, 48, 0] and words_at(one, first + 3, 0, "fixed") == 8
    assert words_at(one, first + 6, 2) == 4 and first + 6 in lines_of(one, "step_place")
    assert one.reel.head["unseen"] == 0
    functions = [function["name"] for function in one.information.functions]
    assert {"by_value", "copied", "local"} <= {variable["name"] for variable in one.information.variables
                                               if functions[variable["function"]] == "all"}
    assert [(fault["kind"], fault["lines"]) for fault in one.faults if "index 3" in fault["sentence"]] == [("bounds", [first + 8])]


def test_asynchronous_copies(folder):
    """Each is one store, whose element is as good as not written until the copy is waited for."""
    source = folder / "asynchronous.cu"
    source.write_text(f'''#include "{farm.ROOT}/common/async_copy.h"
__global__ void turn(const float4* a, float4* b) {{
    __shared__ float4 tile[32];
    lab::copy_async<16>(&tile[threadIdx.x], &a[threadIdx.x], true);
    lab::commit_copies();
    lab::wait_for_copies<0>();
    __syncthreads();
    b[threadIdx.x] = tile[31 - threadIdx.x];
}}
int main() {{
    float4 *a, *b;
    cudaMalloc(&a, 512);
    cudaMalloc(&b, 512);
    cudaMemset(a, 0, 512);
    turn<<<1, 32>>>(a, b);
    return cudaDeviceSynchronize();
}}
''')
    one = film(source)
    tile = next(i for i, array in enumerate(one.reel.head["arrays"]) if array["space"] == "shared")
    first = next(step for step in range(one.reel.steps) if tile in one.reel["access_array"][:sum(one.reel["step_accesses"][:step + 1])])
    poison = replay_truth.memory_at(one.reel, first)[tile][:4]
    assert poison.hex() == "5d5afdff" and replay_truth.memory_at(one.reel)[tile] == bytes(512)
    assert replay_truth.problem_of(one, None) == "" and replay_truth.difference(one) == ""


@pytest.fixture(scope="module")
def endings(folder):
    source = folder / "endings.cu"
    source.write_text(ENDINGS)
    return source


@pytest.mark.parametrize("word, status", [("crash", -11), ("abort", -6), ("hang", -15), ("end", 0)])
def test_a_program_that_does_not_end_well_has_its_film(endings, word, status):
    one = film(endings, word, options=("--timeout", "5" if word == "hang" else "300"))
    assert one.status == status and one.reel.steps > 1
    assert replay_truth.memory_at(one.reel)[0][:8] == bytes([0, 0, 0, 0, 1, 0, 0, 0])
    assert ("has not ended within 5 s" in one.said) == (word == "hang")


def test_a_store_just_past_an_allocation_is_one_fault(endings):
    """Though what it has overwritten stops the program, too."""
    one = film(endings, "past")
    assert one.status == 1 and [(fault["kind"], fault["lines"], fault["threads"]) for fault in one.faults] == [("bounds", [5], ["(64,0,0)"])]


def test_a_kernel_that_is_not_there(endings, capsys, tmp_path):
    options = command.parse(["--kernel", "nothing", "--output", str(tmp_path / "page.html"), str(endings), "--", "end"])
    assert command.replay(options) == 2 and "those that ran are fill" in capsys.readouterr().err


@pytest.mark.parametrize("word, status, said", [("two", 0, "ended with status 2"), ("leave", 1, "ended with status 3 and has left no film")])
def test_a_program_that_ends_in_its_own_way(endings, word, status, said, capsys, tmp_path):
    target = tmp_path / "page.html"
    assert command.replay(command.parse(["--timeout", "inf", "--output", str(target), str(endings), "--", word])) == status
    assert said in capsys.readouterr().err and target.exists() == (status == 0)


def test_a_film_that_is_not_whole(lost_update, tmp_path):
    for bytes_kept in (2, 100, len(lost_update.reel.data) - 9):
        (tmp_path / "reel").write_bytes(lost_update.reel.data[:bytes_kept])
        with pytest.raises(Failure, match=f"only the first {bytes_kept:,} bytes"):
            Reel(tmp_path / "reel")


def test_a_page_that_cannot_be_written_leaves_nothing(lost_update, tmp_path):
    (tmp_path / "page.html").mkdir()
    with pytest.raises(Failure, match="cannot write .*page.html: "):
        page.write(lost_update, tmp_path / "page.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_what_is_found_where_nothing_is_recorded_has_no_step(folder, lost_update):
    one = film(folder / "lost_update.cu", options=("--events", "1"))
    assert one.faults == [] and any("race" in sentence for sentence in one.unseen_faults)


@pytest.fixture(scope="module")
def kinds(folder):
    source = folder / "kinds.cu"
    source.write_text(KINDS)
    return film(source)


def test_a_variable_of_the_program_is_one_array(kinds):
    known = page.knowledge(kinds)
    starts = {name: (start, size) for start, size, name, _ in known["symbols"]}
    arrays = [(one["start"], one["bytes"]) for one in kinds.reel.head["arrays"]]
    assert arrays.count(starts["table"]) == 1 and arrays.count(starts["alone"]) == 1


def test_no_source_can_end_or_alter_the_page(kinds, folder):
    path = folder / "kinds.html"
    page.write(kinds, path, "@REEL@ </title>")
    text = path.read_text()
    data = re.search(r'id="known">(.*?)</script>', text, re.DOTALL)[1]
    assert "<" not in data and json.loads(data)["files"][0]["text"] == KINDS
    assert text.count("<title>@REEL@ &lt;/title&gt;</title>") == 1


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there")
def test_values_of_all_kinds_and_who_wrote_them(folder, kinds):
    path = folder / "kinds.html"
    page.write(kinds, path)
    with browser.window(1280, 800) as seen:
        seen.open(path.as_uri())
        seen.wait("document.body.dataset.ready === 'yes'")
        shown = seen.run("""
            const {film, values} = view;
            view.go(film.blocks[1].step - 1);
            return Object.fromEntries(film.arrays.map(one => [one.title, values.element(one, one.title === "table" ? 2 : 0).text]));""")
        assert shown | {"derived": "{first: 10, second: 1}", "bits": "{low: 5, middle: −3, last: false}", "half": "{written: 7, not_yet: ·}",
                        "large": "huge", "tiny": "top", "wide": "−1.25", "zero": "−0", "table": "8", "alone": "{written: 0, not_yet: 9}"} == shown
        last = seen.run("""
            view.go(view.film.blocks[2].step - 1);
            view.choose(view.film.arrays.find(one => one.title === "half").number, 1);
            return byId("cell").textContent;""")
        assert "{written: 1, not_yet: 2}" in last and "written by thread 1" in last
        arrays = seen.run("""
            return view.film.arrays.filter(one => one.guess).map(one => `${one.title}: ${view.values.types[one.type].name} ${one.shape.join(" × ")}`);""")
        assert {"rows: float* 2", "rows[1]: float 16", "list: Node 1", "list.next: Node 1", "matrix.data: float 2 × 3", "matrix.data: float 4 × 3",
                "first: float 4", "second: int 4", "own: int 2 × 4", "both: union 1", "text: char 23"} <= set(arrays)
        assert "part" not in " ".join(arrays) and "row:" not in " ".join(arrays)
        # Step by step the tables say what they say when they are drawn anew.
        assert seen.run("""
            const cells = () => [...document.querySelectorAll("#arrays .c")].map(cell => cell.textContent).join();
            const steps = [...Array(view.film.steps).keys()];
            return [...steps, ...steps.reverse()].filter(step => {
                view.go(step);
                const before = cells();
                view.memory.panels.clear();
                view.show();
                return cells() !== before;
            });""") == []
        assert seen.console() == []


def test_values_of_variables(lost_update):
    """Each thread's `mine`, once it has one."""
    names = {variable["rows"]: variable["name"] for variable in lost_update.information.variables}
    sizes, at, found = [row[4] for row in lost_update.information.rows], 0, {}
    for thread, row in zip(lost_update.reel["variable_thread"], lost_update.reel["variable_number"]):
        data = bytes(lost_update.reel["variable_values"][at:at + sizes[row]])
        at += sizes[row]
        if names.get(row) == "mine":
            assert thread not in found
            found[thread] = int.from_bytes(data, "little")
    assert found == {thread: thread + 1 for thread in range(40)}


def test_a_race_is_told_truly(folder):
    """Which thread reads and writes which element, in which line, and how often."""
    one = film(TEACHING / "tree_sum_stale.cu")
    ours, theirs = replay_truth.accesses_of_film(one), replay_truth.accesses_of_explain(one)
    assert theirs and theirs == ours
    fault = next(fault for fault in one.faults if fault["kind"] == "race")
    assert fault["lines"] == [14] and len(fault["threads"]) == 2 and 0 < fault["step"] < one.reel.steps


def test_another_order_is_another_film():
    source = TEACHING / "tree_sum_stale.cu"
    forward, backward = film(source), film(source, order="reversed")
    assert list(forward.reel["step_warp"][1:5]) == [0, 1, 2, 3] and list(backward.reel["step_warp"][1:5]) == [3, 2, 1, 0]


def test_a_barrier_that_not_all_reach_ends_the_film():
    one = film(TEACHING / "return_before_barrier.cu")
    assert one.status == 1 and [fault["kind"] for fault in one.faults] == ["barrier"]
    assert one.faults[0]["step"] >= one.reel.steps - 1


@pytest.fixture(scope="module", params=["cooperative", "clusters"])
def together(request):
    """A launch whose blocks run at the same time."""
    return film(farm.ROOT / f"tests/programs/sanitize_{request.param}.cu")


def test_blocks_that_run_at_the_same_time_have_stretches(together):
    """From one barrier of theirs to the next, each in its turn; and each its own shared memory."""
    reel = together.reel
    first = [number for launch, number in zip(reel["block_launch"], reel["block_number"]) if launch == 0]
    assert len(first) > 4 and set(first) == {0, 1, 2, 3}
    assert list(reel["block_step"]) == sorted(set(reel["block_step"]))
    shared = [array for array in reel.head["arrays"] if array["space"] == "shared"]
    owned = {array["block"] for array in shared if array["name"] == "own"}
    assert owned == ({0, 1, 2, 3} if "clusters" in together.source.name else set())
    races = [fault for fault in together.faults if fault["kind"] == "race"]
    assert len(races) == ("cooperative" in together.source.name)


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there")
def test_the_page_takes_stretches_back(folder, together):
    """Whoever goes to the end and back finds every thread and every byte as they were."""
    path = folder / f"{together.source.stem}.html"
    page.write(together, path)
    with browser.window(1280, 800) as seen:
        seen.open(path.as_uri())
        seen.wait("document.body.dataset.ready === 'yes'")
        assert seen.run("""
            const {film} = view, found = [];
            const now = () => JSON.stringify([[...film.state.slice(0, 32)], film.arrays.map(one => [...one.data])]);
            for (let step = 0; step < film.steps; ++step) { film.go(step); found.push(now()); }
            for (let step = film.steps; step-- > 0;) { film.go(step); if (now() !== found[step]) return step; }
            return -1;""") == -1
        seen.press("end")
        assert seen.console() == []


def test_a_kernel_that_waits_for_ever_is_told_behind_its_film():
    one = film(farm.ROOT / "tests/programs/sanitize_memory.cu", "8", options=("--events", "20000"))
    assert one.status == 1 and one.reel.steps > 0 and "The film ends after" in " ".join(one.reel.left_out())
    assert any("wait_for_others" in fault and "waits here for ever" in fault for fault in one.unseen_faults), one.unseen_faults


def test_what_is_too_large_is_cut_with_a_sentence():
    one = film(TEACHING / "tree_sum_stale.cu", options=("--events", "500"))
    assert one.status in (0, 1) and one.reel.steps < 100
    assert "The film ends after" in one.reel.left_out()[0]


def test_calls_stand_at_each_line():
    text = """\t.file 1 "mine.cu"\n\t.file 2 "/usr/include/c++/12/cmath"\n\t.loc 1 3 1\n\t.cfi_startproc
\t.cfi_def_cfa_register 6\n\t.loc 1 4 2\n\tnop\n\t.loc 1 4 9\n\t.loc 2 7 1\n.L2:\n\t.loc 1 4 2\n\tleave\n\t.cfi_def_cfa 7, 8\n\tret\n"""
    lines = list(step_hooks.hooked(text.splitlines(keepends=True)))
    assert [lines[i - 1].strip() for i, line in enumerate(lines) if "cuda_cpu_line" in line] == [".loc 1 4 2", ".loc 1 4 2"]
    assert lines[lines.index("\tleave\n") - 1] == "\tcall\tcuda_cpu_leave\n"


@pytest.mark.parametrize("words, said", [
    (["nothing.cu"], "there is no file nothing.cu"), (["common/lab.h"], "does not end in .cu"),
    (["--events", "0", "tests/teaching/tree_sum.cu"], "above zero"),
    (["--output", "no/such/folder/x.html", "tests/teaching/tree_sum.cu"], "cannot write")])
def test_mistakes_are_sentences(words, said, monkeypatch, capsys):
    monkeypatch.chdir(farm.ROOT)
    with pytest.raises(SystemExit) as ended:
        command.parse(words)
    assert ended.value.code == 2 and said in capsys.readouterr().err


# The page

SEEN = """return {step: view.step, sentence: byId("sentence").textContent, cell: byId("cell").textContent,
  ran: [...document.querySelectorAll("#lines .ran")].map(line => Number(line.dataset.line)), slider: Number(byId("slider").value),
  wide: document.documentElement.scrollWidth > innerWidth, hash: location.hash}"""


def value_in(reel, step: int, array: int, index: int) -> int:
    return int.from_bytes(replay_truth.memory_at(reel, step)[array][4 * index:4 * index + 4], "little", signed=True)


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there")
@pytest.mark.parametrize("width, height", [(1280, 800), (390, 844)])
def test_the_page_in_a_browser(folder, lost_update, width, height):
    films = [lost_update, film(TEACHING / "tree_sum_stale.cu"), film(TEACHING / "return_before_barrier.cu")]
    with browser.window(width, height) as seen:
        for number, one in enumerate(films):
            path = folder / f"page-{number}.html"
            page.write(one, path)
            assert "http://" not in path.read_text() and "https://" not in path.read_text()
            reel, lines = one.reel, lines_of(one, "step_place")
            array = reel["access_array"][0]
            seen.open(path.as_uri())
            seen.wait("document.body.dataset.ready === 'yes'")
            for keys, step in ((["right"] * 3, 3), (["left"], 2), (["end"], reel.steps - 1), (["left"], reel.steps - 2),
                               (["home"], 0), (["a"], len(set(reel["step_warp"][1:reel.steps])))):
                seen.press(*keys)
                seen.wait(f"/step={step}(&|$)/.test(location.hash)")
                now = seen.run(SEEN)
                assert now["step"] == now["slider"] == step and f"step={step}" in now["hash"] and not now["wide"]
                if lines[step]:
                    assert now["ran"] == [lines[step]] and f"line {lines[step]} " in now["sentence"]
            for step in (reel.steps // 2, reel.steps - 1, 1):
                seen.run(f"byId('slider').value = {step}; byId('slider').oninput(); view.choose({array}, 0)")
                value = value_in(reel, step, array, 0)
                assert f"[0] = {str(value).replace('-', '−')}" in seen.run(SEEN)["cell"]
            for fault in one.faults[:1]:
                seen.press("home", "f")
                now = seen.run(SEEN)
                assert now["step"] == min(fault["step"], reel.steps - 1)
                sentence = re.sub(r"\b(thread|block) \((\d+),0,0\)", r"\1 \2", fault["sentence"])
                assert sentence in seen.run("return document.querySelector('#faults .now').textContent")
                assert sentence.split(". ")[0] in seen.run("return byId('then').textContent")
            seen.press("home", "p", "right", "1", "right", "1", "p")
            assert "of 2 right" in seen.run("return byId('question').textContent")
        assert seen.console() == []


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there")
def test_a_fault_says_who_writes_too_late(folder):
    source = folder / "too_late.cu"
    source.write_text(TOO_LATE)
    one = film(source)
    fault = next(fault for fault in one.faults if fault["kind"] == "uninitialised")
    written = max(step for step in range(one.reel.steps) if lines_of(one, "step_place")[step] == 10)  # by the second warp, which comes later
    path = folder / "too_late.html"
    page.write(one, path)
    with browser.window(1280, 800) as seen:
        seen.open(path.as_uri())
        seen.wait("document.body.dataset.ready === 'yes'")
        seen.press("f")
        assert f"Too late, thread 63 writes it, at step {written}." in seen.run("return document.querySelector('#faults .now').textContent")
        seen.press("F")
        said = seen.run("return byId('then').textContent")
        assert said.startswith("There is no earlier fault.") and "reads the shared variable tile, element 63" in said


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there")
def test_a_cell_that_is_chosen_by_keys_is_seen(folder):
    path = folder / "cells.html"
    page.write(film(TEACHING / "tree_sum.cu"), path)
    cell = """const box = byId("memory").getBoundingClientRect(), own = document.querySelector("#memory .chosen").getBoundingClientRect();
        return [view.cell.array, view.cell.index, own.top >= box.top && own.bottom <= box.bottom]"""
    with browser.window(1280, 800) as seen:
        seen.open(path.as_uri())
        seen.wait("document.body.dataset.ready === 'yes'")
        array, element = seen.run("""const {film} = view, own = one => one.thread === 70;
            view.follow(70);
            view.go(Array.from(film.step_mask.keys()).find(step => film.accesses(step).some(own)));
            const used = film.accesses(view.step).find(own);
            return [used.array, used.offset / 4]""")
        assert seen.run("""const box = byId("memory").getBoundingClientRect(), own = document.querySelector("#memory .mine").getBoundingClientRect();
            return own.top >= box.top && own.bottom <= box.bottom""")
        for _ in range(3):
            seen.press("m")
            chosen = seen.run(cell)
            assert chosen[2]
            if chosen[0] == array:
                assert chosen[1] == element
                break
        else:
            raise AssertionError("m does not come to the array that the step uses")
        seen.press(*["]"] * 50)
        assert seen.run(cell) == [array, element + 50, True]
        seen.press("p", "right", "m")
        assert "of 1 right" not in seen.run("return byId('question').textContent")


@pytest.mark.skipif(bool(browser.missing()), reason=browser.missing() or "there")
def test_a_million_accesses_stay_usable(folder):
    """A step of a warp is to take less than 50 ms; 10 are usual where nothing else runs."""
    source = folder / "million.cu"
    source.write_text("""__global__ void sums(float* sum, int rounds) {
    __shared__ float tile[256];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (int i = 0; i < rounds; ++i) sum[threadIdx.x] += tile[(threadIdx.x + i) % 256];
}
int main() {
    float* sum;
    cudaMalloc(&sum, 1024);
    cudaMemset(sum, 0, 1024);
    sums<<<1, 256>>>(sum, 1304);
    return cudaDeviceSynchronize();
}
""")
    one = film(source)
    assert len(one.reel["access_what"]) > 990_000 and not one.reel.head["cut"]
    path = folder / "million.html"
    page.write(one, path)
    assert path.stat().st_size < 5_000_000
    with browser.window(1280, 800) as seen:
        seen.open(path.as_uri())
        seen.wait("document.body.dataset.ready === 'yes'")
        times = seen.run("""view.go(view.film.steps >> 1);
            return Array.from({length: 100}, (_, i) => {
                const start = performance.now();
                view.move(i % 2 ? -1 : 1);
                document.body.getBoundingClientRect();
                return performance.now() - start;
            })""")
    assert sorted(times)[50] < 50


@pytest.mark.parametrize("moment", moments.MOMENTS, ids=lambda moment: moment.name)
def test_handouts_ask_before_they_show(moment):
    """Each moment is in its lab's handout with its question, its picture behind it, and what its mistake replaces is in the solution."""
    words = " ".join((farm.ROOT / "labs" / moment.lab / "README.md").read_text().split())
    question = " ".join(moment.task.split())
    assert f"build/replays/{moment.name}.html" in words and question in words
    if moment.picture:
        step = re.match("step=([0-9]+)", moment.picture)[1]
        assert re.search(rf"!\[Step {step}\b.*?\]\(pictures/{moment.name}\.png\)", words[words.index(question):])
        assert replay_pictures.place_of(moment).exists()
    source = farm.solution_file(moment.lab, moment.file or farm.source_name(moment.lab))
    assert not moment.change or moment.change[0] in source.read_text()


def test_each_lab_with_a_moment_has_a_picture():
    assert sorted(moment.lab[:2] for moment in moments.MOMENTS if moment.picture) == [f"{lab:02}" for lab in (*range(3, 14), 16, 19)]
