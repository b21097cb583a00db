"""The command `make sanitize` itself; that it finds each kind of fault is tests/test_teaching.py's affair."""

import json
import os
import re
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

import pytest

import farm
from checker import sanitize, sanitize_card, sanitize_words
from checker.sanitize_words import Finding, merged
from explain import frames
from teaching import corpus, on_card

FAULTS = farm.ROOT / "tests" / "programs" / "sanitize_faults.cu"
WORDS = FAULTS.with_name("sanitize_words.cu")
LINE_OF_MALLOC = 1 + FAULTS.read_text().split("cudaMalloc(")[0].count("\n")
LINE_OF_CRASH = 1 + FAULTS.read_text().split("if (fault == 12) *")[0].count("\n")
only_cpu = pytest.mark.skipif(farm.BACKEND != "cpu", reason="on a card: bash tests/on_card.sh teaching")


def run_sanitize(*arguments, env=None):
    # What `make run FILE=` asks of barriers is not for those who watch.
    return farm.run(sys.executable, "-B", "-m", "checker.sanitize", *arguments,
                    env={"PYTHONPATH": str(farm.ROOT / "common"), "CUDA_CPU_DEVICE": "", "CUDA_CPU_BARRIERS": "volta", **(env or {})},
                    timeout=300)


@only_cpu
def test_silent(folder):
    """A right program: what was looked at, and what was not, status 0, an empty list."""
    result = run_sanitize(FAULTS, "--json", folder / "found.json")
    assert (result.returncode, result.stderr) == (0, "")
    assert re.fullmatch(r"no race, nothing out of bounds .* in: \w+ \(1 block\)\n.* Not looked at: [\s\S]+\n", result.stdout)
    assert json.loads((folder / "found.json").read_text()) == []


@only_cpu
@pytest.mark.parametrize("number, kind, lines, variable, words", [
    (1, "race", [17, 18], "tile", "Put __syncthreads() between the write in line 17 and the read in line 18."),
    (2, "bounds", [22], "values", "the first byte past the end of the allocation of 192 bytes"),
    (3, "race", [27], "hits", "thread (0,0,0) of block (1,0,0)"),
    (4, "uninitialised", [10], "values", "which nobody has written (48 times)"),
    (5, "leak", [LINE_OF_MALLOC], None, "never given to cudaFree"),
    (7, "host-pointer", [42], None, "reads from and writes to memory of the host (48 and 48 times)."),
    (8, "bounds", [44], "values", "4 bytes before the start of the allocation of 192 bytes, values. The index is below 0"),
    (10, "race", [32, 34], "tile", "comes too early: put another __syncthreads() behind line 34."),
    (11, "barrier", [47], None, "only 8 of the 48 threads of block (0,0,0) reach this barrier"),
    (15, "race", [56, 57], "pairs", "the shared variable pairs, byte "),
    (16, "freed", [68], "own", "inside the local array own. That memory is no longer there."),
])
def test_fault(folder, number, kind, lines, variable, words):
    """One finding, worded in CUDA's terms, and status 1."""
    result = run_sanitize(FAULTS, "--json", folder / "found.json", "--", str(number))
    assert result.returncode == 1, result.stdout + result.stderr
    found, = json.loads((folder / "found.json").read_text())
    assert (found["kind"], found["lines"], found["variable"]) == (kind, lines, variable)
    assert words in found["sentence"] and found["sentence"].startswith(f"sanitize_faults.cu:{lines[0]}")
    assert result.stdout == f"{found['sentence']}\n1 fault found\n"


@only_cpu
@pytest.mark.parametrize("number, kind, words", [
    (1, "bounds", r"16128 bytes past the end of the allocation of 256 bytes"),
    (2, "other", r"a function calls itself"),
    (3, "host-pointer", r"calls a function through a pointer that is null"),
    (4, "bounds", r"past the end of the variable word of 4 bytes"),
    (5, "race", r"the lines \d+, \d+ and \d+ use it, .* Put __sync\w+\(\) between one step and the next"),
    (6, "host-pointer", r"wrote to address 0xabcd0000, which is no device memory"),
    (7, "race", r"the array values, element 1 "),
    (8, "call", r"an allocation of 1,099,511,627,776 bytes failed: under watch a program has .*\n(.*\n)*"
                r".*cudaMalloc fails, and the program does not look at what it returns: out of memory"),
    (9, "undefined", r"\(0,0,0\), \w+ a value of type float4? at an address that is no multiple of 16\. A GPU stops"),
    (10, "bounds", r"of the shared variable entries of 132 bytes\. Does the launch ask for enough, in its third place\?"),
    (11, "race", r"race between host code and a copy on pinned memory \(byte 0 of an allocation of 256 bytes\)"),
    (12, "race", r"race between two launches of kernel halve on the array values, element 0"),
    (13, "race", r"race between two copies on global memory"),
    (14, "other", r"kernel give_up, thread \(0,0,0\) of block \(0,0,0\), asserts that .*values\[0\] == 1, which does not hold"),
    (15, "other", r"kernel give_up, .* calls __trap\(\), which ends the kernel"),
])
def test_words(folder, number, kind, words):
    """One finding at the line of its fault, be that in a header, and with the cause."""
    found = folder / "found.json"
    result = run_sanitize(WORDS, "--flags", "-fno-strict-aliasing", "--json", found, "--", number)
    assert result.returncode == 1 and re.search(words, result.stderr + result.stdout), result.stderr + result.stdout
    [finding] = json.loads(found.read_text())
    lines = [line for file in (WORDS, WORDS.with_suffix(".h")) for line, text in enumerate(file.read_text().splitlines(), 1)
             if re.search(rf"\bLINE {number}\b", text)]
    assert (finding["kind"], finding["lines"]) == (kind, lines)


@only_cpu
def test_a_line_of_a_header_is_none_of_the_program_s(folder):
    """The first code of this program is that of a template in a header of CPU mode."""
    source = folder / "leak.cu"
    source.write_text("int main() {\n    int* values = nullptr;\n    return cudaMalloc(&values, 4) != cudaSuccess;\n}\n")
    assert run_sanitize(source).stdout == ("leak.cu:3: 4 bytes of device memory, allocated here, are never given to cudaFree.\n"
                                           "1 fault found\n")


UNWRITTEN = """#include <vector>
__global__ void write(int* out) { out[threadIdx.x] = 3; }
int main(int argc, char**) {
    int* out;
    cudaMalloc(&out, 64 * sizeof(int));
    write<<<1, argc < 2 ? 32 : 64>>>(out);
    std::vector<int> back(64);
    cudaMemcpy(back.data(), out, 64 * sizeof(int), cudaMemcpyDeviceToHost);
    int sum = 0;
    for (const int one : back) sum += one;
    cudaFree(out);
    return sum == 0;
}
"""


@only_cpu
def test_host_code_reads_what_nobody_wrote(folder):
    """Behind a copy, which is no fault; make run tells of the copy."""
    source = folder / "unwritten.cu"
    source.write_text(UNWRITTEN)
    found = run_sanitize(source)
    assert found.returncode == 1 and found.stdout == (
        "unwritten.cu:10: host code reads an element that a copy brought from the device, where nobody had written it (32 times). Let a "
        "kernel, a copy or cudaMemset write all of it first.\n1 fault found\n")
    assert run_sanitize(source, "--", "all").returncode == 0
    for argument, said in (("", "unwritten.cu:8: what is copied to the host here is, in 32 of 64 words, memory that nobody has written, or NaN"),
                           ("all", "")):
        result = farm.run("make", "-s", "run", f"FILE={source}", f"ARGS={argument}", f"PYTHON={sys.executable}", env={"BACKEND": "cpu"})
        assert result.returncode == 0 and result.stderr.count("nobody has written") == bool(said) and said in result.stderr, result.stderr


@only_cpu
@pytest.mark.parametrize("order", ["reversed", "random:7"])
@pytest.mark.parametrize("number, advice", [(1, "between the write in line 17 and the read in line 18."),
                                            (10, "put another __syncthreads() behind line 34.")])
def test_advice_is_the_same_in_every_order(number, advice, order):
    result = run_sanitize(FAULTS, "--", str(number), env={"CUDA_CPU_ORDER": order})
    assert result.returncode == 1 and f"{advice}\n1 fault found\n" in result.stdout, result.stdout


@only_cpu
def test_random_order_says_its_seed():
    """One seed for both programs; as CUDA_CPU_ORDER it gives the same run again."""
    result = run_sanitize(FAULTS, "--", "1", env={"CUDA_CPU_ORDER": "random"})
    order = re.fullmatch(r"threads and blocks run in random order: CUDA_CPU_ORDER=(random:\d+)\n", result.stderr)
    assert order, result.stderr
    again = run_sanitize(FAULTS, "--", "1", env={"CUDA_CPU_ORDER": order[1]})
    assert (again.returncode, again.stdout, again.stderr) == (1, result.stdout, "")


@only_cpu
@pytest.mark.parametrize("order", ["forward", "reversed"])
def test_cooperative_launch(order):
    """What a barrier of the grid orders is no race; without it two blocks race. Blocks that wait for another give way."""
    result = run_sanitize(FAULTS.with_name("sanitize_cooperative.cu"), env={"CUDA_CPU_ORDER": order})
    assert result.returncode == 1 and result.stdout.endswith("1 fault found\n"), result.stdout + result.stderr
    assert re.match(r"sanitize_cooperative\.cu:12 and sanitize_cooperative\.cu:14: race in kernel shift on the array values", result.stdout)


def lines_of(source, number):
    return [line for line, text in enumerate(source.read_text().splitlines(), 1) if re.search(rf"// LINE\b.*\b{number}\b", text)]


CLUSTERS, MEMORY = (FAULTS.with_name(f"sanitize_{name}.cu") for name in ("clusters", "memory"))


@only_cpu
@pytest.mark.parametrize("source, number, kind, words", [
    (CLUSTERS, 1, "race", r"on the shared variable own, element \d+ .* The two blocks are of one cluster: put cluster\.sync\(\) between the two"),
    (CLUSTERS, 2, "freed", r"the shared variable own, element \d+, of another block of its cluster .* put cluster\.sync\(\) between"),
    (CLUSTERS, 3, "bounds", r"the first byte past the end of the shared variable own of 128 bytes"),
    (CLUSTERS, 4, "uninitialised", r"the shared variable own, element \d+, which nobody has written"),
    (CLUSTERS, 5, "barrier", r"only 1 of the 2 blocks of the cluster reach this cluster\.sync\(\)"),
    (CLUSTERS, 6, "bounds", r"asks for the shared memory of block 2 of its cluster, which has 2: their ranks begin at 0"),
    (CLUSTERS, 7, "race", r"in kernel count on the shared variable total .* put cluster\.sync\(\)"),
    (MEMORY, 1, "race", r"in kernel use on memory that a kernel has allocated \(byte 0 of an allocation of 256 bytes\)"),
    (MEMORY, 2, "uninitialised", r"malloc leaves anything in the memory"),
    (MEMORY, 3, "race", r"thread \(0,0,0\) of the same block frees it in line \d+, .* Put __syncthreads\(\) before it is freed"),
    (MEMORY, 9, "race", r"in kernel with_new on memory that a kernel has allocated \(byte 0 of an allocation of 256 bytes\)"),
    (MEMORY, 10, "race", r"thread \(0,0,0\) of the same block frees it in line \d+, .* Put __syncthreads\(\) before it is freed"),
    (MEMORY, 11, "race", r"in kernel wait_for_plain on the array flag"),
    (MEMORY, 12, "barrier", r"kernel wait_for_plain, .* (waits|loops) here for ever"),
    (MEMORY, 4, "race", r"in kernel shift on global memory"),
    (MEMORY, 5, "bounds", r"touches byte 256 of row 0, slice 0 of a surface of 256 bytes x 2 rows"),
    (MEMORY, 6, "race", r"in kernel look_up on the array out"),
    (MEMORY, 7, "uninitialised", r"kernel shift, .* reads global memory \(byte \d+ of an allocation of 512 bytes\), which nobody has written"),
    (MEMORY, 8, "barrier", r"kernel wait_for_others, .* waits here for ever"),
])
def test_what_blocks_and_objects_share(folder, source, number, kind, words):
    """Distributed shared memory, memory from malloc in kernels, surfaces, textures; and a kernel that waits for ever."""
    result = run_sanitize(source, "--json", folder / "found.json", "--", number)
    assert result.returncode == 1 and re.search(words, result.stdout), result.stdout + result.stderr
    found = {one["kind"]: one["lines"] for one in json.loads((folder / "found.json").read_text())}
    lines = found.pop(kind)
    assert lines == (lines_of(source, number) or lines)
    # Where accesses are not watched, a thread that waits for a plain variable lets no other have its turn.
    assert set(found) == ({"barrier"} if (source, number) == (MEMORY, 11) else set())


@only_cpu
@pytest.mark.parametrize("order", ["forward", "reversed", "random:7"])
@pytest.mark.parametrize("source", [CLUSTERS, MEMORY])
def test_nothing_is_said_of_what_blocks_and_objects_share(source, order):
    result = run_sanitize(source, env={"CUDA_CPU_ORDER": order})
    assert (result.returncode, result.stderr) == (0, ""), result.stdout + result.stderr


@only_cpu
def test_several_lists_of_arguments():
    """`--` makes another run; each finding is said once, and the all-clear names every kernel that ran."""
    result = run_sanitize(FAULTS, "--", "0", "--", "1", "--", "1")
    assert result.returncode == 1 and result.stdout.endswith("\n1 fault found\n"), result.stdout
    result = run_sanitize(FAULTS, "--", "0", "--", "0")
    assert result.returncode == 0 and re.search(r"no leak in: \w+", result.stdout), result.stdout


@only_cpu
def test_a_watched_case(tmp_path):
    """A checker runs the learner's file in the build that looks for races; without a source it says that nobody did."""
    lab = tmp_path / "labs/98_watched"
    lab.mkdir(parents=True)
    (lab / "check.py").write_text(f"import sys\nsys.path.insert(0, {str(farm.ROOT / 'common')!r})\nimport checker\n"
                                  "lab = checker.Lab(__file__)\n"
                                  "lab.watched('a', [['0']], lambda case: case.threads('race', storing=10 ** 6))\n"
                                  "lab.watched('b', [['0'], ['1']])\nlab.main()\n")
    words = [sys.executable, lab / "check.py", "--program", "/bin/true", "--keep", tmp_path / "kept"]
    result = farm.run(*words)
    assert result.stdout == "0 of 0 cases pass; races were not looked for: make sanitize LAB=98 does\n"
    result = farm.run(*words, "--source", FAULTS)
    assert result.returncode == 1 and "0 of 2 cases pass\n" in result.stdout
    assert "race is never launched" in result.stdout
    assert re.search(r"sanitize_faults\.cu:17 and sanitize_faults\.cu:18: race in kernel .*\n.*repeat: make sanitize LAB=98 "
                     r'ARGS="1"', result.stdout), result.stdout


@pytest.mark.parametrize("order", ["bogus", "random:x", "random:", "forward "])
def test_an_order_that_is_none(order):
    result = run_sanitize(FAULTS, "--backend", "cpu", env={"CUDA_CPU_ORDER": order})
    assert (result.returncode, result.stdout) == (2, "")
    assert f"{order} is no order; write forward, reversed, random or random:SEED" in result.stderr


@only_cpu
@pytest.mark.parametrize("number, status", [(6, 2), (9, 77)])
def test_program_that_does_not_get_far(number, status):
    result = run_sanitize(FAULTS, "--", str(number))
    assert result.returncode == status
    assert re.fullmatch(rf"the program .* \(status {status}\), and says nothing\n", result.stderr), result.stderr


@only_cpu
@pytest.mark.parametrize("number, found, said", [
    (12, [("crash", [LINE_OF_CRASH], "host code wrote to address 0x8, and the program crashed."),
          ("race", [27], "hits")], ""),
    (13, [("race", [27], "hits")], "the program did not end within 1 second"),
    (14, [("race", [27], "hits"), ("crash", [], "the program crashed (SIGABRT)")], ""),
])
def test_what_was_found_before_the_end_counts(folder, number, found, said):
    result = run_sanitize(FAULTS, "--json", folder / "found.json", "--timeout", "1", "--", str(number))
    assert result.returncode == 1 and said in result.stderr and "FINDINGS" not in result.stderr, result.stderr
    written = json.loads((folder / "found.json").read_text())
    assert [(one["kind"], one["lines"]) for one in written] == [one[:2] for one in found]
    assert all(words in one["sentence"] for one, (*_, words) in zip(written, found))
    assert result.stdout.startswith("".join(one["sentence"] + "\n" for one in written))


def test_a_program_is_made_anew_when_its_source_is_another(tmp_path, monkeypatch):
    """Also by an older file; and each source has a program of its own."""
    assert sanitize.place_of("races", tmp_path / "a_b/x.cu") != sanitize.place_of("races", tmp_path / "a/b/x.cu")
    monkeypatch.chdir(tmp_path)
    Path("compile.sh").write_text("""case $2 in --list) echo x: x.cu tile.cuh >"$3" ;; -o) cat x.cu tile.cuh >"$3"; echo >>log ;; esac\n""")
    for step, (text, header) in enumerate([("first", "first"), ("other", "first"), ("other", "2"), ("first", "first")], 1):
        for name, content in (("x.cu", text), ("tile.cuh", header)):
            Path(name).write_text(content)
            os.utime(name, (1e9 - step, 1e9 - step))
        for _ in range(2):
            sanitize.built(SimpleNamespace(source="x.cu"), ["g++"], "", Path("x"), ["bash", "./compile.sh", "x.cu"])
        assert (Path("x").read_text(), Path("log").read_text()) == (text + header, "\n" * step)


@pytest.mark.parametrize("arguments, sentence", [
    ([], "the following arguments are required: FILE.cu"),
    (["no_such_file.cu"], "there is no file no_such_file.cu"),
    ([Path(__file__)], "is no CUDA program: its name does not end in .cu"),
    ([FAULTS, "--timeout", "0"], "--timeout takes a number above zero"),
    ([FAULTS, "--json", "no_such_folder/found.json"], "there is no such folder"),
    ([FAULTS, "--program", "no_such_program"], "there is no file no_such_program"),
])
def test_bad_usage(arguments, sentence):
    result = run_sanitize(*arguments)
    assert (result.returncode, result.stdout) == (2, "")
    assert sentence in result.stderr and result.stderr.count("\n") == 1


def test_without_the_tool(folder):
    """On a card without compute-sanitizer: skipped, with the reason."""
    result = run_sanitize(FAULTS, "--backend", "gpu", "--program", FAULTS,
                      env={"PATH": str(folder), "CUDA_HOME": str(folder), "CUDA_PATH": ""})
    if os.path.exists("/usr/local/cuda/bin/compute-sanitizer"):
        pytest.skip("the tool is there")
    assert result.returncode == 77 and "compute-sanitizer is not found" in result.stderr


# --------------------------------------------------------------------------- on a card

# What the tools have printed of programs of the corpus, by tool and program.
REPORTS = {tuple(head.split()): text for head, _, text in
           (part.partition("\n") for part in
            (corpus.FOLDER / "compute_sanitizer.txt").read_text().split("##### ")[1:])}


def reported(tool, name, host=None):
    """The findings in a report; `host` says the line of every address in host code."""
    lines = defaultdict(lambda: (f"{name}.cu", host)) if host else {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(sanitize_card, "lines_of", lambda _, addresses: ({at: lines[at] for at in addresses}, set()))
        return sanitize_card.findings_of(REPORTS[tool, name], Path("corpus") if host else None)


@pytest.mark.parametrize("tool, name, count, sentence", [
    ("synccheck", "barrier_in_both_branches", 2, "kernel halves, thread (0,0,0) of block (0,0,0), waits at a barrier "
     "that not all threads of the block come to (at least 2 times). Every"),
    ("racecheck", "broadcast_unwaited", 4, "race in kernel subtract_first on shared memory (4 bytes): thread (31,0,0) "
     "of block (0,0,0) reads it in line 12, thread (0,0,0) of the same block writes it in line 11, and nothing orders "
     "the two. Put __syncwarp() between the write in line 11 and the read in line 12; if one stands there, put another "
     "behind line 12."),
    ("racecheck", "reverse_unwaited", 1, "writes it in line 11, thread (32,0,0) of the same block reads it in line 12, "
     "and nothing orders the two. Put __syncthreads() between the write in line 11 and the read in line 12; if one"),
    ("memcheck", "guard_one_too_far", 1, "kernel doubled, thread (36,0,0) of block (1,0,0), writes to the first byte "
     "past the end of the nearest allocation, of 400 bytes. Compare the index"),
    ("memcheck", "left_neighbour_of_first", 1, "reads from 4 bytes before the start of the nearest allocation, of 256"),
    ("memcheck", "freed_before_launch", 1, "Or was the memory given to cudaFree before?"),
    ("memcheck", "host_argument", 1, "reads from memory that is not the device's. A pointer that a kernel uses"),
    ("memcheck", "dynamic_tile_too_small", 1, "writes to shared memory that the block does not have. "),
    ("memcheck", "window_before_start", 1, "reads from local memory that the thread does not have. "),
    ("initcheck", "tail_unset", 1, "kernel doubled, thread (63,0,0) of block (0,0,0), reads global memory that nobody "
     "has written. "),
])
def test_report_of_a_kernel(tool, name, count, sentence):
    """A finding like the CPU's, of the kind and at the line that the program expects."""
    found = next(finding for finding in reported(tool, name) if finding.kind != "leak")
    example = corpus.EXAMPLES[name]
    assert found.kind in on_card.TAKEN_FOR.get(example.kind, {example.kind}), found
    assert found.lines and set(found.lines) <= {*example.lines, on_card.ACCESS_IN_KERNEL.get(name)}, found
    assert found.kernel and f"{name}.cu:{found.lines[0]}" in found.sentence
    assert found.count == count and sentence in found.sentence, found.sentence


@pytest.mark.parametrize("tool, name, sentence", [
    ("memcheck", "array_leaked", "256 bytes of device memory, which cudaMalloc gave, are never given to cudaFree."),
    ("memcheck", "copy_back_reversed", "cudaMemcpy is refused. Does the direction fit the two pointers"),
    ("memcheck", "memset_too_long", "cudaMemset is refused: it is longer than the allocation"),
    ("memcheck", "freed_twice", "cudaFree is given memory that cudaMalloc has not given, or that is freed already."),
])
def test_report_of_a_call(tool, name, sentence):
    """Host code: the line is known if the program was built with -g."""
    example = corpus.EXAMPLES[name]
    found, = reported(tool, name, host=example.lines[0])
    assert (found.kind, found.lines) == (example.kind, list(example.lines))
    assert found.sentence.startswith(f"{name}.cu:{example.lines[0]}: {sentence}")
    without, = reported(tool, name)
    assert not without.lines and without.sentence.startswith(sentence)


def test_report_of_a_copy_of_nothing():
    found, = reported("initcheck", "pitch_in_elements", host=20)
    assert found.kind == "uninitialised" and "cudaMemcpy2D copies memory of the device that nobody has" in found.sentence


@pytest.mark.parametrize("signature, name", [
    ("void course::scale<(int)4, float>(const float *, int)", "scale"), ("(anonymous namespace)::fill(int *)", "fill"),
    ("sum(Vector)", "sum")])
def test_name_of_a_kernel(signature, name):
    assert sanitize_card.base_name(signature) == name


@pytest.fixture
def card(folder):
    """Commands that answer as those of a machine with a card do. The tool prints REPORTS[tool, NAME]."""
    for name, body in {
        "nvidia-smi": "echo '9.0, NVIDIA H200'",
        "nvcc": """case $1 in
            --version) echo 'Cuda compilation tools, release 13.0, V13.0.48' ;;
            --list-gpu-code) echo sm_90 ;;
            -E | --dryrun) ;;
            *) echo "$*" >"$0.words"; while [ $# -gt 1 ]; do shift; done; cp /bin/true "$1" ;;
            esac""",
        "compute-sanitizer": """tool=$2
            while [ "$1" != --log-file ]; do shift; done
            cp "$(dirname "$0")/$tool-$4" "$2" 2>/dev/null || echo '========= ERROR SUMMARY: 0 errors' >"$2"
            case $5 in hangs) sleep 30 ;; crashes) exit 11 ;; breaks) echo '========= Internal error' >"$2" ;; esac""",
    }.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    for (tool, name), text in REPORTS.items():
        (folder / f"{tool}-{name}").write_text(text)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "NVCC": str(folder / "nvcc"), "BACKEND": "gpu",
            "CUDA_VISIBLE_DEVICES": "0", "CCBIN": ""}


def test_file_on_a_card(folder, card):
    """nvcc builds it for the card, with lines of the host's code, and the tools run it."""
    result = run_sanitize(FAULTS, "--", "silent", env=card)
    assert (result.returncode, result.stderr) == (0, ""), result.stderr
    assert result.stdout.startswith("no race, nothing out of bounds")
    words = (folder / "nvcc.words").read_text()
    assert " -lineinfo -g -gencode arch=compute_90,code=sm_90 " in words and str(FAULTS) in words


@pytest.mark.parametrize("name, output", [
    ("guard_one_too_far", r"guard_one_too_far\.cu:10: .*\n1 fault found\n"),
    ("guard_one_too_far hangs", r"guard_one_too_far\.cu:10: .*\n1 fault found\n"),
    ("nothing hangs", r"under memcheck the program did not end within 1 second[^$]*BACKEND=cpu names a barrier"),
    ("nothing breaks", "has not come to an end:\n========= Internal error"),
    ("device_read_by_host crashes", "crashed in host code, .* BACKEND=cpu names the line"),
])
def test_endings_on_a_card(card, name, output):
    """What was found counts, however the program ends; what follows from a fault does not."""
    result = run_sanitize(FAULTS, "--timeout", "1", "--", *name.split(), env=card)
    assert result.returncode == 1 and re.search(output, result.stdout + result.stderr), result


def test_unknown_backend():
    result = run_sanitize(FAULTS, env={"BACKEND": "tpu"})
    assert (result.returncode, result.stderr) == (2, "sanitize: BACKEND=tpu is neither gpu nor cpu\n")


def test_without_a_card(folder, card):
    (folder / "nvidia-smi").write_text("#!/bin/sh\nexit 9\n")
    result = run_sanitize(FAULTS, env=card)
    assert result.returncode == 77 and "BACKEND=gpu is not possible here: nvidia-smi finds no card" in result.stderr


# --------------------------------------------------------------------------- words


def test_a_race_explains_what_nobody_wrote():
    def finding(kind, lines, variable):
        return Finding(kind, lines, "k", None, None, variable, 1, "")

    race, unwritten = finding("race", [3, 4], "tile"), finding("uninitialised", [4], "tile")
    other = finding("uninitialised", [4], "values")
    assert merged([race, unwritten, other, race]) == [race, other]


def test_where_the_processor_stopped_is_named_once():
    stopped, misaligned, elsewhere = (Finding(kind, [line], "k", None, None, None, 1, "")
                                      for kind, line in (("other", 3), ("undefined", 3), ("other", 4)))
    assert merged([stopped, misaligned, elsewhere]) == [misaligned, elsewhere]


@pytest.mark.parametrize("write, read, between, words", [
    (1, 4, "", "Put __syncthreads() between the write in line 1 and the read in line 4."),
    (1, 4, "// __syncthreads();", "Put __syncthreads() between the write in line 1 and the read in line 4."),
    (1, 4, "__syncwarp();", "Put __syncthreads() between the write in line 1 and the read in line 4."),
    (1, 4, "__syncthreads();", "the next round of a loop that comes too early: put another __syncthreads() behind line 4."),
    (1, 4, "}\n", "Put __syncthreads() between the write in line 1 and the read in line 4; if one stands there"),
    (4, 1, "", "Put __syncthreads() between the reads in line 1 and the next write in line 4, or, if they belong to two"),
    (4, 1, "}\n", "Put __syncthreads() between the write in line 4 and the read in line 1, which stands in another function."),
    (4, 1, "__syncthreads();", "put another __syncthreads() behind line 4."),
    (4, 4, "", "atomicAdd for a sum; otherwise give each thread"),
    (0, 0, "", "Put __syncthreads() between the two."),
])
def test_where_a_barrier_belongs(write, read, between, words):
    sides = [{"atomic": 0, "number": 0, "warp": warp, "write": warp, "line": line}
             for warp, line in enumerate((read, write))]
    lines = sorted({read, write}) if read else []
    said = {sanitize_words.repair(*pair, lines, f"for (;;) {{ first\n{between}\nthird\nfourth\n") for pair in (sides, sides[::-1])}
    assert len(said) == 1 and words in said.pop()


def test_a_barrier_that_stands_in_the_loop_before():
    """It orders the rounds of that loop, not what comes behind it."""
    loading = "for (int i = 0; i < f(n); i++) {  // {\n    tile[i] = a[i];\n    __syncthreads();\n  }\n  sum += tile[j];\n"
    sides = [{"atomic": 0, "number": 0, "warp": line, "write": line == 2, "line": line} for line in (2, 5)]
    assert "is it inside a loop" in sanitize_words.repair(*sides, [2, 5], loading)
    assert "the next round" in sanitize_words.repair(*sides, [2, 5], loading.replace("  }\n", "\n") + "}\n")
    assert sanitize_words.braces_around("while (a) { b; }\nif (c) { d;\n", 1) == {10: True}
    assert sanitize_words.braces_around("while (a) { b; }\nif (c) { d;\n", 2) == {24: False}


@pytest.mark.parametrize("barrier, words", [
    ("__syncthreads();", "so it is the next call of this function that comes too early: put another __syncthreads() behind line 4."),
    ("if (c) __syncthreads();", "is it inside a loop or a condition? Put __syncthreads() behind that, before line 4."),
    ("{ __syncthreads(); }", "is it inside a loop or a condition?"),
])
def test_a_function_that_is_called_again(barrier, words):
    """It clears what others still read from the call before."""
    sides = [{"atomic": 0, "number": 0, "warp": line, "write": line == 2, "line": line} for line in (2, 4)]
    text = f"int largest() {{\n    if (t == 0) m = 0;\n    {barrier}\n    return m;\n}}\n"
    assert words in sanitize_words.repair(*sides, [2, 4], text)


def test_a_block_of_one_warp_is_not_told_what_would_not_do_for_more():
    sides = [{"atomic": 0, "number": 0, "warp": 0, "write": line, "line": 1 + line} for line in (0, 1)]
    assert "Put __syncwarp()" in sanitize_words.repair(*({**side, "warps": 2} for side in sides), [1, 2], "a\nb\n")
    assert "Put __syncthreads()" in sanitize_words.repair(*({**side, "warps": 1} for side in sides), [1, 2], "a\nb\n")


def test_advice_for_lines_of_two_files(tmp_path):
    """A line of one file stands neither before nor behind that of another."""
    source = tmp_path / "sum.cu"
    source.write_text("")
    words = sanitize_words.Words({1: ("sum.cu", 3), 2: ("tile.cuh", 9)}, tmp_path / "sum", source)
    read, write = ({"place": place, "atomic": 0, "number": 0, "warp": place, "write": place == 2} for place in (1, 2))
    fact = {"first": read, "second": write, "size": 4, "bytes": 64}
    assert words.advice(fact, [3, 9]) == "Put __syncthreads() between the two."


def test_the_runtime_knows_the_learner_s_files_as_python_does(folder):
    """Where a learner's file ends is told in two languages."""
    own, beside = folder / "own.h", folder / "string.h"
    own.write_text("")
    beside.symlink_to("/usr/include/string.h")
    source = folder / "learners.cpp"
    common = farm.ROOT / "common"
    source.write_text(f'#include "faults.h"\nconst char cuda_cpu::cuda_cpu_common[] = "{common.resolve()}/";\n'
                      'int main(int count, char** names) {\n    for (int i = 1; i < count; ++i)\n'
                      '        std::putchar(cuda_cpu::is_learners(names[i]) ? \'1\' : \'0\');\n}\n')
    includes = [f"-I{common / part}" for part in ("cpu/runtime", "cpu/include")]
    program = folder / "learners"
    built = farm.run("g++", "-std=c++17", *includes, source, "-o", program)
    assert built.returncode == 0, built.stderr
    files = ["/no/such/scale.cu", "tile.cuh", own, beside, "/usr/include/string.h", f"{folder}/../{folder.name}/own.h",
             "/usr/share/../include/string.h", common / "lab.h", common / "cpu/runtime/faults.h", folder / "missing.h", folder,
             "/no.cu/Makefile", common / "build.sh", farm.ROOT / "labs/03_vector_add/vector_add.cu"]
    said = "".join(str(int(sanitize_words.is_learners(str(file)))) for file in files)
    assert farm.run(program, *files).stdout == said and {"0", "1"} <= set(said)


def test_lines_in_a_path_with_a_space(monkeypatch):
    text = "0x10\nscale\n/home/a b/my c.cu:12 (discriminator 3)\n0x20\nf\n/home/a b/lab.h:7\n0x30\n??\n??:?\n"
    monkeypatch.setattr(frames.subprocess, "run", lambda *_, **__: SimpleNamespace(stdout=text))
    assert sanitize_words.lines_of("a.out", [16, 32, 48]) == ({16: ("my c.cu", 12)}, {32, 48})
    assert sanitize_words.PLACE.match("/home/a b/scale.cu:9: a sentence")["line"] == "9"
    assert sanitize_card.PLACE.search("at scale(float *)+0x70 in /home/a b/scale.cu:9").groups() == ("scale.cu", "9")


@pytest.mark.parametrize("declaration, size", [
    ("const float* __restrict__ ", 4), ("unsigned char *", 1), ("unsigned ", 4), ("extern __shared__ float4 ", 16),
    ("const unsigned long long* ", 8), ("__shared__ alignas(16) double ", 8), ("uint16_t* ", 2), ("std::uint8_t* ", 1),
    ("float** ", 8), ("Pair* ", None), ("T* ", None), ("", None)])
def test_size_of_an_element(declaration, size):
    assert sanitize_words.size_of_element(declaration) == size
