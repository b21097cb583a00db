"""Judges memory_spaces: steps of a chain of rotors against NumPy, from every kind of memory; and, in CPU mode, that the memory is
of the kind that was asked for: what was allocated, which pages moved, and after how many faults."""

import re
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker

DEVICE = {"arrays": "TODO 1", "constant": "TODO 2", "texture": "TODO 3", "shared": "TODO 4"}
ROUNDS = {"pageable": "TODO 1", "pinned": "TODO 5", "mapped": "TODO 5 or 6", "managed": "TODO 5 or 6", "prefetched": "TODO 7", "advised": "TODO 8"}
FURTHER = ["field_in_constant", "field_in_shared", "together"]
lab = checker.Lab(__file__, tasks={**DEVICE, **ROUNDS}, further=FURTHER)
EXACT = checker.Tolerance(why="whole numbers that wrap round, never rounded")
RECORDED = {"CUDA_CPU_RECORD_CALLS": "1"}
PAGE = 1 << 16
IN_PLACE = ("mapped", "managed", "prefetched", "advised")

lab.kernels({"structures": "step_structures", **{name: f"step_{name}" for name in [*DEVICE, *FURTHER]}, **dict.fromkeys(ROUNDS, "step_arrays")})


# What is right


def at(field, angle):
    """What the field has at each angle."""
    return field[(angle.astype(numpy.uint64) * numpy.uint64(len(field))) >> numpy.uint64(32)].astype(numpy.uint32)


def kick(state, field):
    state[0, ::1024] += at(field, state[0, ::1024])


def step(angle, speed, field, weights):
    """All rotors at once: the field at each angle, and the neighbours by their distance; beyond its ends the chain goes on."""
    places = numpy.arange(len(angle))
    force = at(field, angle)
    for distance, weight in enumerate(weights, 1):
        left, right = (angle[numpy.clip(places + way, 0, len(angle) - 1)] for way in (-distance, distance))
        turned = ((left - angle).view(numpy.int32) >> 16) + ((right - angle).view(numpy.int32) >> 16)
        force += numpy.uint32(int(weight) % (1 << 32)) * turned.astype(numpy.uint32)
    speed = speed + force
    return angle + speed, speed


def steps(start, field, weights, count):
    angle, speed = start
    for _ in range(count):
        angle, speed = step(angle, speed, field, weights)
    return numpy.stack([angle, speed])


def rounds(start, field, weights, count, steps_each):
    state = start.copy()
    for _ in range(count):
        kick(state, field)
        state = steps(state, field, weights, steps_each)
    return state


# Likely causes


def from_elsewhere(expected, got, case):
    """A table that was read from where it is not."""
    given = case.parameters
    start, field, weights = given["start"], given["field"], given["weights"]
    found = got.view(numpy.uint32)

    def would_be(field, weights):
        return (found == steps(start, field, weights, given["steps"])).all()

    if given["variant"] == "constant":
        if would_be(field, numpy.ones_like(weights)):
            return "the weights are read from chain.weights, where this variant has ones: constant_weights has the right ones (TODO 2b)"
        if would_be(field, numpy.zeros_like(weights)):
            return "the weights are all 0: constant_weights was never filled (TODO 2a)"
        if len(weights) > 1 and would_be(field, numpy.where(numpy.arange(len(weights)) < len(weights) // 4, weights, 0)):
            return "only a quarter of the weights came to constant memory: cudaMemcpyToSymbol counts bytes (TODO 2a)"
    if given["variant"] == "texture" and would_be(numpy.ones_like(field), weights):
        return "the field is read from chain.field, where this variant has ones: chain.texture has the right one (TODO 3b)"
    if would_be(field, numpy.zeros_like(weights)):
        return "the neighbours do not pull"
    return None


def stale(expected, got, case):
    """What the host reads is not what the device wrote."""
    given = case.parameters
    kicked = given["start"].copy()
    for _ in range(given["times"]):
        kick(kicked, given["field"])
    if given["variant"] not in IN_PLACE or not (got[0].view(numpy.uint32) == kicked[0]).all():
        return None
    return ("the host reads its angles before the kernels have written to them: only its own kicks are there. No copy waits for the kernels, so something "
            "else has to (TODO 6)")


def at_the_ends(expected, got, case):
    wrong = numpy.flatnonzero(case.wrong.any(axis=0))
    block, count = 256, expected.shape[1]
    near = numpy.minimum(wrong % block, block - 1 - wrong % block)
    if case.parameters["variant"] == "shared" and count > 2 * block and (near < 2 * len(case.parameters["weights"])).all():
        return "only rotors near the ends of a block are wrong: the tile lacks the angles before or behind the block (TODO 4a)"
    return None


# Cases


def chain(case, variant, count, cells=100, reach=8, steps_=2, times=None, record=False):
    """One variant on a random chain; `times` rounds, where it has rounds."""
    start = case.random.integers(0, 1 << 32, (2, count), dtype=numpy.uint32)
    field = case.random.integers(-(1 << 20), 1 << 20, cells, dtype=numpy.int32)
    weights = case.random.integers(-1000, 1000, reach, dtype=numpy.int32)
    case.parameters = {**case.parameters, "variant": variant, "start": start, "field": field, "weights": weights, "steps": steps_, "times": times or 2}
    of_rounds = variant in ROUNDS
    try:
        got = case.compute("--variant", variant, "--steps", steps_, *(["--rounds", times or 2] if of_rounds else []),
                           inputs={"start": start.view(numpy.int32), "field": field, "weights": weights}, env=RECORDED if record else None)
    except checker.Failure as failure:
        objection = re.search(r"WRONG: ((allocate|device_pointer)\(\) gives .*)", case.last_run.stdout if case.last_run else "")
        if not objection:
            raise
        raise checker.Failure(f"nothing is launched: {objection[1]}") from failure
    expected = rounds(start, field, weights, times or 2, steps_) if of_rounds else steps(start, field, weights, steps_)
    case.compare(expected.view(numpy.int32), got, EXACT, diagnosers=[stale] if of_rounds else [from_elsewhere, at_the_ends])


SIZES = {"one rotor": 1, "31 rotors": 31, "32 rotors": 32, "33 rotors": 33, "a block and one": 257, "a prime, 1009": 1009}
for variant in ["structures", *DEVICE]:
    for name, count in SIZES.items():
        if count in (1, 33, 1009) or variant == "shared":
            lab.case(f"{variant}: {name}", chain, variant=variant, count=count, reach=1 if count == 33 else 8)
    lab.case(f"{variant}: reach 16, one cell", chain, variant=variant, count=600, reach=16, cells=1)
    lab.case(f"{variant}: 1000003 rotors", chain, variant=variant, count=1_000_003, cells=9000, quick=False,
             on_cpu={"count": 20_011})
for variant in FURTHER:
    for name, count in SIZES.items():
        lab.case(f"{variant}: {name}", chain, variant=variant, count=count)
    lab.case(f"{variant}: reach 16, 8192 cells", chain, variant=variant, count=20_011, reach=16, cells=8192)


ALLOCATED = {"pinned": "cudaMallocHost", "mapped": "cudaHostAlloc", **dict.fromkeys(IN_PLACE[1:], "cudaMallocManaged")}


def judge_calls(case, variant):
    """The memory is of its kind, and what lies in one place is not copied."""
    calls = [call["call"] for call in case.last_run.record["calls"]]
    wanted = ALLOCATED.get(variant)
    if wanted and wanted not in calls:
        raise checker.Failure(f"the result is right, but {variant} memory comes from {wanted}, which is never called", "TODO 5a")
    if variant == "mapped":
        case.expect("cudaHostGetDevicePointer" in calls, "the result is right, but nobody asks for the device's address of mapped memory (TODO 5c)")
    case.freed()


def judge_pages(case, variant, count, cells):
    """Which pages moved, after how many faults."""
    angles, field = case.last_run.record["managed"]
    faults = [(name, side, array[f"{side}_faults"]) for name, array in (("angles", angles), ("field", field)) for side in ("device", "host")]
    if variant == "managed":
        for name, side, number in faults:
            case.expect(number > 0, f"the {name} are managed memory, and the {side} meets no page of them that is elsewhere")
        return
    for name, side, number in faults:
        if number:
            what = "send them there before the first step (TODO 7a)" if side == "device" else "send them back behind the last step (TODO 7b)"
            raise checker.Failure(f"the result is right, but the {side} meets {checker.counted(number, 'page')} of the {name} that "
                                  f"{'are' if number > 1 else 'is'} not there: a fault each", f"prefetch all bytes of the angles and of the field: {what}")
    pages = -(-cells * 4 // PAGE)
    if variant == "prefetched":
        case.expect(field["to_device"] > pages, "the pages of the field do not move in each round, though nothing was said of them but prefetches")
    elif field["to_host"] or field["to_device"] > pages + 1:
        raise checker.Failure(f"the result is right, but {field['to_device']} pages of the field went to the device and {field['to_host']} to the host",
                              "a copy of what is read mostly stays on both sides, once it was sent: cudaMemAdviseSetReadMostly (TODO 8)")


def paged(case, variant, count=40_009, cells=20_000):
    """Several pages each; CPU mode counts their ways."""
    chain(case, variant, count, cells, reach=2, times=3, record=case.backend == "cpu")
    if case.backend == "cpu":
        judge_calls(case, variant)
        if variant in IN_PLACE[1:]:
            judge_pages(case, variant, count, cells)


for variant in ROUNDS:
    lab.case(f"{variant}: 33 rotors", chain, variant=variant, count=33)
    lab.case(f"{variant}: 1009 rotors, one round of 4 steps", chain, variant=variant, count=1009, steps_=4, times=1)
    lab.case(f"{variant}: several pages, three rounds", paged, variant=variant)


@lab.case("a size nobody knows before, all variants", fresh=True)
def fresh(case):
    count, cells, reach = (int(case.random.integers(1, most)) for most in (3000, 500, 17))
    for variant in ["structures", *DEVICE, *ROUNDS, *FURTHER * bool(lab.further)]:
        chain(case, variant, count, cells, reach)


@lab.case("all variants in one run, random input")
def everything(case):
    run = case.run("--rotors", 1000)
    case.calls_correct(run, ["structures", *DEVICE, *ROUNDS, *FURTHER * bool(lab.further)])


@lab.case("no rotors")
def empty(case):
    for variant in ("structures", "shared", "managed"):
        got = case.compute("--variant", variant, inputs={"start": numpy.zeros((2, 0), numpy.int32)})
        case.expect(got.shape == (2, 0), f"{variant}: of no rotors {got.shape} numbers are written")


lab.shown("arrays: neighbours load neighbours", ["--variant", "arrays", "--rotors", 2048, "--cells", 8], "step_arrays", "load_sectors", 5,
          "the lanes of a warp read angles that lie far apart: thread i reads chain.angle[i], and its neighbours (TODO 1)")
lab.shown("shared: angles are loaded once", ["--variant", "shared", "--rotors", 2048, "--cells", 8], "step_shared", "load_requests", 1000,
          "each thread still loads its neighbours from global memory: they are in the tile (TODO 4b)")
lab.watched("no race, and each thread stores its own", [["--rotors", 601, "--cells", 100, "--variant", ",".join(DEVICE)]],
            storing={f"step_{name}": 601 for name in DEVICE})


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--rotors", "-1", "many", "", "3Gi")
    case.refuses("--reach", "17", saying="reach")
    case.refuses("--cells", "0", saying="cells")
    case.refuses("--steps", "3", saying="odd")
    case.refuses("--rounds", "0", saying="rounds")
    case.refuses("--variant", "register", saying="variant")
    case.refuses("--rotors", "9", "--output", "o.npy", saying="variant")
    case.refuses("--variant", "shared", "--output", "no/such/o.npy", saying="output")


@lab.case("bad input files")
def bad_files(case):
    good = case.save("good", numpy.ones((2, 9), numpy.int32))
    case.refuses("--start", good, "--rotors", "9", saying="rotors")
    case.refuses("--start", case.save("three", numpy.ones((3, 9), numpy.int32)), saying="two")
    case.refuses("--start", case.save("floats", numpy.ones((2, 9), numpy.float32)), saying="int32")
    case.refuses("--weights", case.save("many", numpy.ones(17, numpy.int32)), saying="weights")
    case.refuses("--field", case.save("none", numpy.ones(0, numpy.int32)), saying="field")
    case.refuses_broken("--start", good)


lab.main()
