"""make replay: the film is what ran, and the page says what the film has, in a real browser, too."""

import collections
import os
from pathlib import Path

import browser
import farm
import pytest
import replay_truth
from checker import sanitize
from explain.record import Record
from replay import __main__ as command
from replay import moments, page, step_hooks

pytestmark = pytest.mark.skipif(os.uname().machine != "x86_64", reason="replays are made on x86-64")
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


def test_the_last_memory_is_what_a_lab_writes():
    assert replay_truth.problem_of("10_synchronization", "shared_tree") == ""


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


def test_values_of_variables(lost_update):
    """Each thread's `mine`, once it has one."""
    names = {variable["rows"]: variable["name"] for variable in lost_update.information.variables}
    sizes, at, found = [row[2] for row in lost_update.information.rows], 0, {}
    for thread, row in zip(lost_update.reel["variable_thread"], lost_update.reel["variable_number"]):
        data = bytes(lost_update.reel["variable_values"][at:at + sizes[row]])
        at += sizes[row]
        if names.get(row) == "mine":
            assert thread not in found
            found[thread] = int.from_bytes(data, "little")
    assert found == {thread: thread + 1 for thread in range(40)}


def test_accesses_are_those_of_explain(folder):
    """In a film of a race: which thread reads and writes which element, and how often."""
    source = TEACHING / "tree_sum_stale.cu"
    one = film(source)
    reel, starts = one.reel, {array["start"]: array for array in one.reel.head["arrays"]}
    ours = collections.Counter((bool(reel["access_what"][i]), starts[reel.head["arrays"][reel["access_array"][i]]["start"]]["shared"],
                                reel["access_thread"][i], reel["access_offset"][i]) for i in range(len(reel["access_what"])))
    options = command.parse([str(source)])
    record = Record.of_run(sanitize.built_for_cpu("accesses", options), [], {"CUDA_CPU_TOUCHES": "4000"})
    theirs = collections.Counter((bool(what), int(space == 1), first + lane, offset)
                                 for _, what, space, _, _, _, _, _, first, lanes in record.launches[0].touches
                                 for lane, offset in lanes)
    assert theirs and theirs == ours
    fault = next(fault for fault in one.faults if fault["kind"] == "race")
    assert fault["lines"] == [14] and len(fault["threads"]) == 2 and 0 < fault["step"] < reel.steps


def test_another_order_is_another_film():
    source = TEACHING / "tree_sum_stale.cu"
    forward, backward = film(source), film(source, order="reversed")
    assert list(forward.reel["step_warp"][1:5]) == [0, 1, 2, 3] and list(backward.reel["step_warp"][1:5]) == [3, 2, 1, 0]


def test_a_barrier_that_not_all_reach_ends_the_film():
    one = film(TEACHING / "return_before_barrier.cu")
    assert one.status == 1 and [fault["kind"] for fault in one.faults] == ["barrier"]
    assert one.faults[0]["step"] >= one.reel.steps - 1


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
    with browser.Browser(width, height, folder / f"profile-{width}") as seen:
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
                assert fault["sentence"] in seen.run("return document.querySelector('#faults .now').textContent")
                assert fault["sentence"].split(". ")[0] in seen.run("return byId('then').textContent")
            seen.press("home", "p", "right", "1", "right", "1", "p")
            assert "of 2 right" in seen.run("return byId('question').textContent")
        assert seen.console() == []


@pytest.mark.parametrize("moment", moments.MOMENTS, ids=lambda moment: moment.name)
def test_handouts_ask_before_they_show(moment):
    """Each moment is in its lab's handout with its question, and what its mistake replaces is in the solution."""
    words = " ".join((farm.ROOT / "labs" / moment.lab / "README.md").read_text().split())
    assert f"build/replays/{moment.name}.html" in words and " ".join(moment.task.split()) in words
    solution = farm.ROOT / "solutions" / moment.lab / f"{moment.lab[3:]}.cu"
    assert not moment.change or moment.change[0] in solution.read_text()
