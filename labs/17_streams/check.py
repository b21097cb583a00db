"""Judges streams: a sharpened picture, strip sums and chains of steps against NumPy, in several orders of the streams;
and what was asked of CUDA, in CPU mode from its record of calls: where work went, and whether the host waited."""

import re
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker

TODO = {"strips": "TODO 2 or 3", "graph": "TODO 5", "captured": "TODO 5", "built": "TODO 6", "urgent": "TODO 8"}
lab = checker.Lab(__file__, tasks=TODO, shared=dict.fromkeys(("pageable", "one_stream", "with_default"), "TODO 2 or 3"))
EXACT = checker.Tolerance(why="whole numbers, never rounded")
PICTURES = ["whole", "strips", "graph", "pageable", "one_stream", "with_default"]
CHAINS = ["one_by_one", "captured", "built"]
RECORDED = {"CUDA_CPU_RECORD_CALLS": "1"}


# What is right


def sharpened(pixels):
    """Each pixel, and once more its distance from the mean of its eight neighbours; beyond the picture its edge goes on."""
    height, width = pixels.shape
    around = numpy.pad(pixels.astype(int), 1, mode="edge")
    eight = sum(around[y:y + height, x:x + width] for y in range(3) for x in range(3)) - pixels
    return numpy.minimum(numpy.maximum(16 * pixels.astype(int) - eight, 0) // 8, 255).astype(numpy.uint8)


def first_rows(height, strips):
    """Where the strips begin, and the end of the last."""
    strips = min(strips, height)
    return [height * strip // strips for strip in range(strips + 1)]


def stepped(cells):
    return 3 * cells + (numpy.roll(cells, 1) ^ numpy.roll(cells, -1))


def chained(cells, keys, steps):
    for key in keys:
        cells = numpy.uint32(1664525) * cells + key
        for _ in range(steps):
            cells = stepped(cells)
    return cells


# Likely causes


NO_GRAPH = "capture() gives no graph, or one in which nothing was captured: work() has to stand between begin and end (TODO 5)"
ENDINGS = {  # what a program says that ends early -> why
    r"cudaStreamWaitEvent\b.*\s.*cudaErrorInvalidResourceHandle": "the first strip has none above it, the last one none below (TODO 3b)",
    r"cudaGraphInstantiate\w*\b.*\s.*cudaError(InvalidValue|StreamCaptureUnsupported)": "there is no graph: the capture is never ended (TODO 5)",
    r"SIGSEGV|segmentation": "what does a function of the host work on? What cudaLaunchHostFunc is given as data has to be there until it is called: "
                             "&picture.arrivals[strip] is (TODO 4)",
}


def compute(case, *words, **named):
    """Case.compute(), with the cause where the program ends early."""
    try:
        return case.compute(*words, **named)
    except checker.Failure as failure:
        cause = next((cause for said, cause in ENDINGS.items() if re.search(said, str(failure))), None)
        raise checker.Failure(str(failure), cause) if cause else failure


def right_in_order(expected, case):
    """Whether the result is right when all runs in the order of the calls; None on a card."""
    got = case.in_order("forward")
    return None if got is None else numpy.array_equal(got, expected)


def nothing_came(expected, got, case):
    if not (got == 255).all() or (expected == 255).mean() > 0.9:
        return None
    variant, record = case.parameters["variant"], case.last_run.record
    if variant == "graph":
        return NO_GRAPH
    if record and not record["copies"]["to_device"]["calls"]:
        return "nothing is copied to the device (TODO 2a)"
    if record and not record["copies"]["to_host"]["calls"]:
        return "nothing is copied back to the host (TODO 2c)"
    return None


def in_every_order(expected, got, case):
    if case.parameters["variant"] != "whole" and right_in_order(expected, case) is False:
        return "it is wrong in the order of the calls, too, so no stream and no event is to blame: look at offset and bytes (TODO 2a, 2c)"
    return None


def beside_another_strip(expected, got, case):
    """Only rows that a kernel computes with a row of another strip are wrong."""
    wrong = set(numpy.flatnonzero(case.wrong.any(axis=1)).tolist())
    begins = first_rows(len(expected), case.parameters["strips"])
    above, below = set(begins[1:-1]), {row - 1 for row in begins[1:-1]}
    if not wrong <= above | below or len(above | below) == len(expected) and case.backend != "cpu":
        return None
    if wrong <= above - below:
        return ("only first rows of strips are wrong: the kernel did not wait until the strip above had come to the device; its event is "
                "copied[strip - 1], recorded behind its copy (TODO 3)")
    if wrong <= below - above:
        return ("only last rows of strips are wrong: the kernel did not wait until the strip below had come to the device; its event is "
                "copied[strip + 1], recorded behind its copy (TODO 3)")
    return ("only rows beside another strip are wrong: the kernel of a strip did not wait until its neighbours had come to the device. "
            "Their events are recorded behind their copies (TODO 3a) and waited for before the kernel (TODO 3b)")


def whole_strips(expected, got, case):
    """Strips that are wrong throughout."""
    begins = first_rows(len(expected), case.parameters["strips"])
    bad = [strip for strip in range(len(begins) - 1) if case.wrong[begins[strip]:begins[strip + 1]].mean() > 0.5]
    if not bad or len(begins) < 3:
        return None
    return (f"{checker.counted(len(bad), 'strip')} of {len(begins) - 1}, number {bad[0]} the first, {'is' if len(bad) == 1 else 'are'} wrong throughout: copy in, "
            "kernel and copy out of a strip belong into one stream, picture.stream(strip), and keep their order there (TODO 2)")


def other_key(expected, got, case):
    """The result of other keys, or without steps."""
    cells, keys, steps = (case.parameters[name] for name in ("cells", "keys", "steps"))
    got = got.view(numpy.uint32)
    for used, said in ((keys, ""), (numpy.full_like(keys, keys[0]), "each round was stirred with the key of the first: the node's parameters in the "
                                    "executable are not changed (TODO 7)"),
                       (numpy.append(keys[:1], keys[:-1]), "each round has the key of the round before: change the node before the launch (TODO 7)")):
        for done in (steps, 0):
            if (got == chained(cells, used, done)).all():
                return "; ".join(filter(None, [said, "no node does a step (TODO 6a)" * (done != steps)]))
    return None


def copy_node(expected, got, case):
    """What came is the cells at another time of the last round."""
    if case.parameters["variant"] != "built":
        return None
    cells, keys, steps = (case.parameters[name] for name in ("cells", "keys", "steps"))
    before = chained(cells, keys[:-1], steps)
    times = [before, *(chained(before, keys[-1:], done) for done in range(steps))]
    time = next((time for time, cells in enumerate(times) if (cells == got.view(numpy.uint32)).all()), None)
    if time is None:
        return None
    if time == steps and right_in_order(expected, case) is False:
        return "the cells came from the other buffer: behind a round they are in chain.d_cells[0] (TODO 6b)"
    return "the cells came to the host too early: the copy node waits for `last`, the last step (TODO 6b)"


def step_nodes(expected, got, case):
    if case.parameters["variant"] != "built":
        return None
    if right_in_order(expected, case):
        return "nodes ran in another order than they were added in: each step waits for `last`, and is what the next one waits for (TODO 6a)"
    return "a step reads `from`, writes `to`, and waits for `last` (TODO 6a)"


def no_cells(expected, got, case):
    """The host's memory is as it was."""
    if not (got == -1).all():
        return None
    if case.parameters["variant"] == "captured":
        return NO_GRAPH
    return "no cells came to the host: a copy node behind the last step is missing (TODO 6b)"


# What was asked of CUDA


def first_wait(calls):
    """The first call in which the host waits, or asks whether it must; None without."""
    return next((call["call"] for call in calls if call["waits"] or call["call"] in ("cudaEventQuery", "cudaStreamQuery")), None)


def handed_out(calls, streams):
    """The calls from fork_streams() to join_streams(), of all runs before which and behind which the host waits."""
    letters = {"cudaDeviceSynchronize": "D", "cudaEventRecord": "R", "cudaStreamWaitEvent": "W"}
    text = "".join(letters.get(call["call"], ".") for call in calls)
    runs = re.finditer(f"DR{'W' * (streams - 1)}(.*?){'RW' * (streams - 1)}D", text)
    return [call for run in runs for call in calls[run.start(1):run.end(1)]]


WAITS = {
    "cudaMemcpyAsync": "cudaMemcpyAsync waits for the device, because the host's memory is not pinned (TODO 1a)",
    "cudaMemcpy": "cudaMemcpy waits until it is done, and goes to the default stream: cudaMemcpyAsync with the strip's stream does not (TODO 2)",
    "cudaEventSynchronize": "cudaEventSynchronize makes the host wait: a stream waits for an event by cudaStreamWaitEvent (TODO 3b)",
}


OF_CALL = {"launch": "TODO 2b", "cudaEventRecord": "TODO 3a", "cudaStreamWaitEvent": "TODO 3b", "cudaLaunchHostFunc": "TODO 4"}


def judge_strips(case, strips, streams):
    """Nobody waited while strips were handed out, nothing went to the default stream, and all streams had kernels and copies."""
    calls = case.last_run.record["calls"]
    out = handed_out(calls, streams)
    case.expect(out, "launch_strips() no longer begins with fork_streams() and ends with join_streams()")
    call = first_wait(out)
    if call:
        raise checker.Failure("the result is right, but nothing runs beside anything else: the host waits while strips are handed out",
                              WAITS.get(call, f"{call} makes it wait (TODO 2 or 3)"))
    names = [call["call"] for call in calls]
    kept = names.count("cudaMallocHost") + names.count("cudaHostAlloc") - names.count("cudaFreeHost")
    if kept > 0:
        raise checker.Failure(f"{checker.counted(kept, 'piece')} of pinned memory {'is' if kept == 1 else 'are'} never freed",
                              "what cudaMallocHost gave is given to cudaFreeHost (TODO 1b)")
    call = next((call["call"] for call in out if call["stream"] == 0), None)
    if call:
        raise checker.Failure("the result is right, but while strips are handed out something goes to the default stream, which waits for all others",
                              f"{'the' if call == 'launch' else 'a call of'} {call} names no stream, or 0: a strip's work belongs into "
                              f"picture.stream(strip) ({OF_CALL.get(call, 'TODO 2 to 4')})")
    for what, used in (("launches", {call["stream"] for call in out if call["kernel"] == "sharpen_kernel"}),
                       ("copies", {call["stream"] for call in out if call["call"] == "cudaMemcpyAsync"})):
        if len(used) < min(strips, streams):
            raise checker.Failure(f"the result is right, but of {strips} strips the {what} use {len(used)} of the {min(strips, streams)} streams",
                                  "a strip's copies and its launch belong into its stream, picture.stream(strip) (TODO 2)")


def judge_graph(case, nodes):
    """In CPU mode: all work came by launches of one graph."""
    if not case.last_run.record:
        return
    calls = case.last_run.record["calls"]
    launched = [call for call in calls if call["call"] == "cudaGraphLaunch" and call["work"] >= nodes]
    made = sum(call["call"] == "cudaGraphInstantiate" for call in calls)
    case.expect(launched, f"no graph of {nodes} nodes or more is launched")
    case.expect(made == 1, f"{made} graphs were made executable; one that is launched again and again is enough")
    names = [call["call"] for call in calls]
    case.expect(names.count("cudaGraphCreate") + names.count("cudaStreamBeginCapture") <= names.count("cudaGraphDestroy"),
                "a graph is never destroyed: when its executable is made, cudaGraphDestroy ends it (TODO 5)")


# Cases


def picture(case, variant, height, width, strips, streams=3, record=False):
    """Compares the picture; returns the sum of each strip's first and last row, as it should be."""
    pixels = case.random.integers(0, 256, (height, width), dtype=numpy.uint8)
    case.parameters = {**case.parameters, "variant": variant, "strips": strips}
    words = ["--strips", strips, "--streams", streams, *(["--sums", "sums.npy"] if variant != "whole" else [])]
    got = compute(case, "--variant", variant, *words, inputs={"input": pixels}, kind="png", env=RECORDED if record else None)
    expected = sharpened(pixels)
    case.compare(expected, got, EXACT, diagnosers=[nothing_came, in_every_order, beside_another_strip, whole_strips])
    begins, rows = first_rows(height, strips), expected.sum(axis=1, dtype=int)
    return [int(rows[begin] + rows[end - 1]) for begin, end in zip(begins, begins[1:])]


def in_orders(case, variant, others=("reversed", "random:1", "random:2"), judge=lambda sums: None):
    """A picture, its streams in other orders. On a card they are as they come."""
    for case.order in others if case.backend == "cpu" else ("",) * 5:
        judge(picture(case, variant, 61, 50, 7, record=True))


def why_not_told(is_told_of_some):
    if is_told_of_some:
        return "each strip has an Arrival of its own, &picture.arrivals[strip] (TODO 4)"
    return "nothing calls note_arrival (TODO 4)"


def why_too_early(case):
    if case.last_run.record and not any(call["call"] == "cudaLaunchHostFunc" for call in case.last_run.record["calls"]):
        return "note_arrival is called while the work is handed out: the strip's stream is to call it, by cudaLaunchHostFunc (TODO 4)"
    return "note_arrival is called before the strip is there: it belongs into the strip's stream, behind the copy to the host (TODO 4)"


def told(case, variant):
    """The host has been told of each strip, when it had come back."""
    def judge(wanted):
        sums = case.load("sums").tolist()
        wrong = [strip for strip, both in enumerate(zip(sums, wanted)) if both[0] != both[1]]
        if wrong:
            silent = all(sums[strip] == -1 for strip in wrong)
            raise checker.Failure(
                f"of {len(wanted)} strips the host was {'not told of' if silent else 'told too early of'} {len(wrong)}, number {wrong[0]} the first",
                why_not_told(len(wrong) < len(wanted)) if silent else why_too_early(case))

    in_orders(case, variant, judge=judge)


def asynchronous(case, variant):
    """On a card a gate stands before all work, and the program says whether the host had to wait. In CPU mode the record of calls does."""
    if case.backend == "cpu":
        in_orders(case, variant, ("",))
        return judge_strips(case, 7, 3) if variant == "strips" else judge_graph(case, 4 * 7)
    run = case.run("--variant", variant, "--asynchronous", "--height", 999, "--width", 500, status=(0, 1))
    case.expect("asynchronous" not in run.stdout, "the host waits for the device while the work is handed out: is its memory pinned (TODO 1), "
                                                  "and does no call wait (TODO 2, TODO 3)?")
    return case.calls_correct(run, [variant])


lab.case("whole: 40 x 33", picture, variant="whole", height=40, width=33, strips=4)
lab.case("strips: 40 x 33, 4 strips", picture, variant="strips", height=40, width=33, strips=4)
lab.case("strips: one pixel", picture, variant="strips", height=1, width=1, strips=8)
lab.case("strips: a row a strip", picture, variant="strips", height=9, width=70, strips=9)
lab.case("strips: one strip", picture, variant="strips", height=31, width=65, strips=1)
lab.case("strips: more streams than strips", picture, variant="strips", height=31, width=20, strips=3, streams=5)
lab.case("strips: 2000 x 1500 pixels", picture, variant="strips", height=2000, width=1500, strips=16, quick=False,
         on_cpu={"height": 200, "width": 150})
lab.case("strips: streams in other orders", in_orders, variant="strips")
lab.case("strips: the host does not wait", asynchronous, variant="strips")
lab.case("strips: the host is told", told, variant="strips")
for variant in ("pageable", "one_stream", "with_default", "graph"):
    lab.case(f"{variant}: 40 x 33, 4 strips", picture, variant=variant, height=40, width=33, strips=4)
lab.case("graph: in other orders", told, variant="graph")
lab.case("graph: all work by one graph", asynchronous, variant="graph")


def chain(case, variant, count, rounds, steps, record=False, words=()):
    cells, keys = (case.random.integers(0, 1 << 32, size, dtype=numpy.uint32) for size in (count, rounds))
    case.parameters = {**case.parameters, "variant": variant, "cells": cells, "keys": keys, "steps": steps}
    got = compute(case, "--variant", variant, "--steps", steps, *words, inputs={"start": cells.view(numpy.int32), "keys": keys.view(numpy.int32)},
                       output="state", env=RECORDED if record else None)
    case.compare(chained(cells, keys, steps).view(numpy.int32), got, EXACT, diagnosers=[no_cells, other_key, copy_node, step_nodes])


for variant in CHAINS:
    lab.case(f"{variant}: 1000 cells, 3 rounds of 4 steps", chain, variant=variant, count=1000, rounds=3, steps=4)
    lab.case(f"{variant}: one cell, no steps", chain, variant=variant, count=1, rounds=2, steps=0)


@lab.case("captured: all launches by one graph", variant="captured")
def captured(case, variant):
    chain(case, variant, 257, 3, 6, record=True)
    judge_graph(case, 3 * 8)


@lab.case("built: nodes in other orders, one graph whose key is changed", variant="built")
def built(case, variant):
    for case.order in ("reversed", "random:1", "random:2") if case.backend == "cpu" else ("",) * 3:
        chain(case, variant, 257, 3, 6, record=True)
    judge_graph(case, 8)
    calls = (case.last_run.record or {"calls": []})["calls"]
    names = [call["call"] for call in calls]
    case.expect(names.count("cudaGraphExecKernelNodeSetParams") == names.count("cudaGraphLaunch"),
                "the node's parameters are to be changed once before each launch of the graph (TODO 7)")
    launches = [place for place, name in enumerate(names) if name == "cudaGraphLaunch"]
    waiting = [first_wait(calls[first:last]) for first, last in zip(launches[::3], launches[2::3])]
    case.expect(not any(waiting), f"the host waits between the launches of a graph, by {next(filter(None, waiting), '')}: each waits in its "
                                  "stream for the one before, and the host may go on (TODO 7)")


@lab.case("urgent: the small kernel in the stream of higher priority", variant="urgent")
def urgent(case, variant):
    cells = case.random.integers(0, 1 << 32, 999, dtype=numpy.uint32)
    got = case.compute("--variant", variant, inputs={"start": cells.view(numpy.int32)}, output="state", env=RECORDED)
    case.compare(stepped(cells).view(numpy.int32), got, EXACT)
    denied = re.search("^urgent first .*WRONG: (.*)", case.last_run.stdout, re.MULTILINE)
    if case.last_run.record:
        priority = {call["kernel"]: call["priority"] for call in case.last_run.record["calls"] if call["kernel"]}
        if priority["step_kernel"] >= priority["stir_kernel"]:
            raise checker.Failure(f"the large kernel runs with priority {priority['stir_kernel']}, the small one with {priority['step_kernel']}",
                                  "the small one is to have the highest priority, which is the smallest number (TODO 8)")
    case.expect(not denied, f"{denied and denied[1]} (TODO 8)")


@lab.case("pictures and chains nobody knows before", fresh=True)
def fresh(case):
    for variant in PICTURES:
        height, width = (int(size) for size in case.random.integers(1, 90, 2))
        picture(case, variant, height, width, int(case.random.integers(1, 20)), int(case.random.integers(1, 6)))
    for variant in CHAINS:
        chain(case, variant, int(case.random.integers(1, 2000)), int(case.random.integers(1, 6)), 2 * int(case.random.integers(0, 9)))


SMALL = ["--height", 23, "--width", 40, "--strips", 7, "--cells", 40, "--rounds", 2, "--steps", 4]
lab.watched("no race between streams", [["--variant", "strips,built", *SMALL]])


@lab.case("all variants in one run, random input")
def everything(case):
    run = case.run("--height", 50, "--width", 60, status=(0, 1))
    case.calls_correct(run, [*PICTURES, *CHAINS, "urgent alike", "urgent first"])
    case.expect("  stream 2 |" in run.stdout, "the time line has no stream 2")
    run = case.run("--variant", "strips", "--strips", 11, "--streams", 11, "--height", 22, "--width", 9, "--asynchronous")
    case.expect("  stream  9 |" in run.stdout and "  stream 10 |" in run.stdout, "the bars of eleven streams do not stand below each other")


@lab.case("the time line as a table")
def timeline(case):
    case.run("--variant", "strips", "--height", 50, "--width", 60, "--strips", 5, "--timeline", "timeline.csv")
    rows = [line.split(",") for line in (case.folder / "timeline.csv").read_text().splitlines()]
    case.expect(len(rows) == 1 + 3 * 5 and all(float(begin) <= float(end) for *_, begin, end in rows[1:]),
                "timeline.csv has no row for each copy and kernel")


@lab.case("no rows, no columns")
def empty(case):
    for height, width in ((0, 5), (5, 0)):
        case.run("--height", height, "--width", width)
        chain(case, "one_by_one", 5, 2, 2, words=("--height", height, "--width", width))


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--strips --streams --cells --rounds", "0", "many", "")
    case.refuses_values("--height --width", "-1", "wide", "300000")
    case.refuses("--steps", "3", saying="odd")
    case.refuses("--variant", "rivers", saying="variant")
    for option, name in (("output", "out.png"), ("sums", "sums.npy"), ("state", "state.npy"), ("timeline", "line.csv")):
        case.refuses(f"--{option}", name, saying=option)
        case.refuses("--variant", "strips" if option == "state" else "built", f"--{option}", name, saying=option)
    case.refuses("--variant", "whole", "--sums", "sums.npy", saying="sums")
    case.refuses("--variant", "graph", "--timeline", "line.csv", saying="timeline")
    case.refuses("--variant", "built", "--input", case.save("in.png", numpy.zeros((2, 2), numpy.uint8)), saying="--input")
    for option, variant in (("start", "strips"), ("keys", "whole"), ("keys", "urgent")):
        case.refuses("--variant", variant, f"--{option}", case.save(option, numpy.zeros(2, numpy.int32)), saying=f"--{option}")
    case.refuses("--variant", "strips", "--height", 4, "--output", "no/such/out.png", saying="output")


@lab.case("bad input files")
def bad_files(case):
    good = case.save("good.png", case.random.integers(0, 256, (20, 30), dtype=numpy.uint8))
    case.refuses("--input", good, "--height", "20", saying="--height")
    case.refuses_broken("--input", good)
    case.refuses("--start", case.save("floats", numpy.zeros(5, numpy.float32)), saying="int32")
    case.refuses("--keys", case.save("none", numpy.zeros(0, numpy.int32)), saying="no element")
    case.refuses("--start", case.save("cells", numpy.zeros(5, numpy.int32)), "--cells", 5, saying="cells")


lab.main()
