"""Judges work that is shared out over cards: heat bit for bit, sums and products of whole numbers, against NumPy, for 1 to 8
cards and in several orders of the streams; and in CPU mode, from its record of calls, which cards worked and whether the host waited."""

import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
import checker

TODO = {"heat_waiting": "TODO 1 or 3", "heat_reading": "TODO 2", "heat": "TODO 4", "sum_ring": "TODO 5", "sum_nccl": "TODO 6", "product": "TODO 7"}
lab = checker.Lab(__file__, tasks=TODO)
EXACT = checker.Tolerance(why="whole numbers, and means that are rounded in one order")
RECORDED = {"CUDA_CPU_RECORD_CALLS": "1"}
ORDERS = ("reversed", *(f"random:{seed}" for seed in range(1, 5)))


# What is right


def shares(count, cards):
    """Where the shares begin, and the end of the last: the first ones have one more."""
    each, more = divmod(count, cards)
    return [card * each + min(card, more) for card in range(cards + 1)]


def heated(plate, steps):
    """The rim keeps its heat; each other cell gets the mean of its four neighbours."""
    for _ in range(steps):
        after = plate.copy()
        after[1:-1, 1:-1] = numpy.float32(0.25) * ((plate[:-2, 1:-1] + plate[2:, 1:-1]) + (plate[1:-1, :-2] + plate[1:-1, 2:]))
        plate = after
    return plate


# Likely causes


def bands(expected, got, case):
    """Which bands are wrong, and where in them. After two steps a halo that did not come is in one row; later it has spread."""
    cards, steps, variant = (case.parameters[name] for name in ("cards", "steps", "variant"))
    begins = shares(len(expected), min(cards, len(expected)))
    rows = set(numpy.flatnonzero(case.wrong.any(axis=1)).tolist())
    reach = {row for begin in begins[1:-1] for row in range(begin - steps, begin + steps)}
    launches = [call for call in calls_of(case) if call["kernel"] == "heat_kernel"]
    idle = [card for card in range(len(begins) - 1) if numpy.isnan(got[begins[card]:begins[card + 1]]).mean() > 0.9]
    if launches:
        idle = [card for card in idle if all(call["device"] != card for call in launches)]
    if idle and len(idle) < len(begins) - 1:
        return (f"no row of card {idle[0]}{' (and others)' if len(idle) > 1 else ''} was computed: the rows from {begins[idle[0]]} to {begins[idle[0] + 1] - 1} "
                "are its share (TODO 1)")
    if variant == "heat" and len(expected) > 2 * cards and len({call["stream"] for call in launches if call["device"] == 0}) == 1:
        return "of each band the edges are computed alone: the rows between them are left out, or in the same stream (TODO 4c)"
    if not rows or not rows <= reach:
        return None
    above = steps > 2 or any(begin in rows for begin in begins[1:-1])
    below = steps > 2 or any(begin - 1 in rows for begin in begins[1:-1])
    spread = ", and what is near them" if steps > 2 else ""
    which = ("first and last rows" if above and below else "first rows" if above else "last rows") + f" of bands are wrong{spread}"
    if variant == "heat_waiting":
        ways = [*(["the last row of a band belongs into above[to] of the band below it"] if above else []),
                *(["the first row of a band belongs into below[to] of the band above it"] if below else [])]
        return f"{which}: {', and '.join(ways)} (TODO 3a)"
    return (f"{which}: they were computed before the halos had come. The event `sent` stands behind the copies, in their stream (TODO 4a), and the edges wait "
            f"for that of the band{'s above and below' if above and below else ' above' if above else ' below'} (TODO 4b)")


def sums_of_others(expected, got, case):
    """What a card has, if it is the sum over some of the cards."""
    arrays, cards = case.inputs["arrays"], case.parameters["cards"]
    if (got == arrays).all():
        return {"sum_ring": "each card has its own array still: nothing was passed on (TODO 5)",
                "sum_nccl": "each card has its own array still: there is no call of NCCL for it (TODO 6)"}.get(case.parameters["variant"])
    begins = shares(expected.shape[1], cards)
    right = ~case.wrong
    pieces = [[right[card, begins[piece]:begins[piece + 1]].all() for piece in range(cards)] for card in range(cards)]
    if all(pieces[card][(card + 1) % cards] for card in range(cards)):
        return "card k has the whole sum of piece k + 1, and not of all the others: they have not gone round once more (TODO 5c)"
    return None


def rows_of_product(expected, got, case):
    begins = shares(len(expected), case.parameters["cards"])
    bad = [card for card in range(len(begins) - 1)
           if begins[card] < begins[card + 1] and case.wrong[begins[card]:begins[card + 1]].any(axis=1).all()]
    if not bad:
        return None
    return (f"the rows of card {bad[0]}{' (and others)' if len(bad) > 1 else ''} are wrong, {begins[bad[0]]} to {begins[bad[0] + 1] - 1}: are they copied "
            "from there and to there, in the stream of the launch (TODO 7)?")


# What was asked of CUDA: in CPU mode


def calls_of(case):
    return (case.last_run.record or {}).get("calls", [])


def all_work(case, kernel, cards, todo):
    """Each card has launched the kernel."""
    found = {call["device"] for call in calls_of(case) if call["kernel"] == kernel}
    idle = sorted(set(range(cards)) - found)
    if calls_of(case) and idle:
        raise checker.Failure(f"the result is right, but {checker.counted(len(idle), 'card')} of {cards} launched nothing: number {idle[0]}", todo)


def hidden_wait(case, kernel, at_a_time, todo):
    """The host does not wait between the launches that belong together."""
    calls = calls_of(case)
    places = [place for place, call in enumerate(calls) if call["kernel"] == kernel]
    for first in range(0, len(places) - at_a_time + 1, at_a_time):
        for call in calls[places[first]:places[first + at_a_time - 1]]:
            if call["waits"]:
                raise checker.Failure(f"the result is right, but the host waits in {call['call']} while work is handed out",
                                      f"streams wait for events, by cudaStreamWaitEvent; the host waits for nothing ({todo})")


def copies(case):
    return sum(call["call"] in ("cudaMemcpyPeerAsync", "cudaMemcpyPeer") and call["work"] > 0 for call in calls_of(case))


# Cases


def heat(case, variant, height, width, steps, cards):
    plate = case.floats((height, width), 0, 100)
    case.parameters = {**case.parameters, "variant": variant, "steps": steps, "cards": cards}
    got = case.compute("--variant", variant, "--steps", steps, "--devices", cards, inputs={"plate": plate}, env=RECORDED)
    case.compare(heated(plate, steps), got, EXACT, diagnosers=[bands])
    all_work(case, "heat_kernel", 1 if variant == "heat_one" else min(cards, height), "the rows are not shared out (TODO 1)")


lab.case("heat_one: 40 x 33", heat, variant="heat_one", height=40, width=33, steps=3, cards=4)
for variant in ("heat_waiting", "heat_reading", "heat"):
    lab.case(f"{variant}: 40 x 33, 4 cards", heat, variant=variant, height=40, width=33, steps=2, cards=4)
    lab.case(f"{variant}: one card", heat, variant=variant, height=9, width=20, steps=2, cards=1)
    lab.case(f"{variant}: one row, 2 cards", heat, variant=variant, height=1, width=20, steps=2, cards=2)
    lab.case(f"{variant}: fewer rows than cards: 5 x 20, 8 cards", heat, variant=variant, height=5, width=20, steps=4, cards=8)
    lab.case(f"{variant}: rows left over: 38 x 20, 5 cards", heat, variant=variant, height=38, width=20, steps=5, cards=5)
lab.case("heat: 4000 x 3000, 3 cards", heat, variant="heat", height=4000, width=3000, steps=10, cards=3, quick=False, on_cpu={"height": 150, "width": 100})


@lab.case("heat: in other orders", variant="heat")
def heat_in_orders(case, variant):
    for case.order in ORDERS if case.backend == "cpu" else ("",) * 3:
        for steps in (2, 8):
            heat(case, variant, 30, 24, steps, 4)


@lab.case("heat: all cards work, and the host does not wait", variant="heat")
def heat_hidden(case, variant):
    heat(case, variant, 30, 24, 3, 4)
    hidden_wait(case, "heat_kernel", 3 * 4 * 2, "TODO 4")
    runs = sum(call["kernel"] == "heat_kernel" for call in calls_of(case)) // (3 * 4 * 2)
    case.expect(not calls_of(case) or copies(case) == runs * 3 * 2 * 3, "the host hands out more copies or fewer than two between neighbours a step (TODO 3a)")
    own = {(call["device"], call["stream"]) for call in calls_of(case) if call["kernel"] == "heat_kernel"}
    case.expect(not calls_of(case) or len(own) == 8, "the edges and the inner rows of a card belong into two streams (TODO 4c)")


def require_nccl(case, cards):
    """On a machine that has no NCCL, or fewer devices than ranks, there is nothing to judge. CPU mode has as many as it wants."""
    if case.backend != "cpu" and case.run("--variant", "sum_nccl", "--devices", cards, "--numbers", 1, status=(0, 1, 77)).status == 77:
        raise checker.Skipped(f"this machine has no NCCL, or fewer than {checker.counted(cards, 'device')}")


def reduced(case, variant, count, cards, record=False):
    if variant == "sum_nccl":
        require_nccl(case, cards)
    arrays = case.random.integers(-(1 << 31), 1 << 31, (cards, count), dtype=numpy.int64).astype(numpy.int32)
    case.parameters = {**case.parameters, "variant": variant, "cards": cards}
    expected = numpy.broadcast_to(arrays.astype(numpy.uint32).sum(axis=0, dtype=numpy.uint32), arrays.shape).view(numpy.int32)
    got = case.compute("--variant", variant, inputs={"arrays": arrays}, env={"CUDA_CPU_DEVICES": str(cards), **(RECORDED if record else {})})
    case.compare(expected, got, EXACT, diagnosers=[sums_of_others])


lab.case("sum_through_first: 1000 numbers, 4 cards", reduced, variant="sum_through_first", count=1000, cards=4)
for variant in ("sum_ring", "sum_nccl"):
    for count, cards in ((1000, 4), (1, 1), (7, 2), (3, 5), (1001, 8)):
        lab.case(f"{variant}: {checker.counted(count, 'number')}, {checker.counted(cards, 'card')}", reduced, variant=variant, count=count, cards=cards)


@lab.case("sum_ring: in other orders, piece by piece", variant="sum_ring")
def ring_in_orders(case, variant):
    for case.order in ORDERS if case.backend == "cpu" else ("",) * 5:
        reduced(case, variant, 997, 5, record=True)
    all_work(case, "add_kernel", 5, "each card adds to a piece in each step (TODO 5b)")
    hidden_wait(case, "add_kernel", 5 * 4, "TODO 5")
    runs = sum(call["kernel"] == "add_kernel" for call in calls_of(case)) // (5 * 4)
    case.expect(not calls_of(case) or copies(case) == runs * 2 * 4 * 5, "each card is to send a piece in each of 2 (n - 1) steps, and no more (TODO 5)")


@lab.case("sum_nccl: in other orders, by NCCL", variant="sum_nccl")
def nccl_in_orders(case, variant):
    for case.order in ORDERS if case.backend == "cpu" else ("",):
        reduced(case, variant, 300, 3, record=True)
    names = [call["call"] for call in calls_of(case)]
    case.expect(not names or ("ncclAllReduce" in names and copies(case) == 0), "the sum is to come from ncclAllReduce alone (TODO 6)")


def product(case, variant, m, k, n, cards):
    a, b = (case.random.integers(-9, 10, shape).astype(numpy.int32) for shape in ((m, k), (k, n)))
    case.parameters = {**case.parameters, "variant": variant, "cards": cards}
    got = case.compute("--variant", variant, "--devices", cards, inputs={"a": a, "b": b}, env=RECORDED)
    case.compare((a @ b).astype(numpy.float32), got, EXACT, diagnosers=[rows_of_product])
    all_work(case, "product_kernel", 1 if variant == "product_one" else min(cards, m), "each card launches product_kernel on its rows (TODO 1, TODO 7)")


lab.case("product_one: 17 x 9 times 9 x 20", product, variant="product_one", m=17, k=9, n=20, cards=2)
for m, k, n, cards in ((17, 9, 20, 3), (40, 33, 18, 1), (2, 5, 7, 5), (16, 1, 1, 2), (50, 20, 31, 8)):
    lab.case(f"product: {m} x {k} times {k} x {n}, {checker.counted(cards, 'card')}", product, variant="product", m=m, k=k, n=n, cards=cards)


@lab.case("product: in other orders, by all cards", variant="product")
def product_in_orders(case, variant):
    for case.order in ORDERS if case.backend == "cpu" else ("",) * 3:
        product(case, variant, 33, 20, 17, 4)
    hidden_wait(case, "product_kernel", 4, "TODO 7")


@lab.case("sizes nobody knows before", fresh=True)
def fresh(case):
    def up_to(most):
        return int(case.random.integers(1, most))
    for variant in ("heat_waiting", "heat_reading", "heat"):
        heat(case, variant, up_to(60), up_to(60), up_to(8), up_to(9))
    for variant in ("sum_ring", "sum_nccl") if case.backend == "cpu" else ("sum_ring",):
        reduced(case, variant, up_to(3000), up_to(9))
    product(case, "product", up_to(60), up_to(60), up_to(60), up_to(9))


SMALL = ["--devices", 3, "--height", 11, "--width", 20, "--steps", 4, "--numbers", 50]
lab.watched("no race between streams", [["--variant", "heat,sum_ring,sum_nccl", *SMALL]])


@lab.case("all variants in one run, random input")
def everything(case):
    run = case.run("--height", 30, "--width", 40, "--numbers", 500, "--size", 33, status=(0,))
    case.calls_correct(run, [name for name in ("heat_one", "heat_waiting", "heat_reading", "heat", "sum_through_first", "sum_ring", "sum_nccl",
                                               "product_one", "product") if case.backend == "cpu" or name != "sum_nccl"])


@lab.case("bad arguments")
def bad_arguments(case):
    case.refuses_values("--devices --steps --size --numbers", "-1", "many", "")
    case.refuses_values("--height --width", "0", "wide")
    case.refuses("--variant", "cold", saying="variant")
    case.refuses("--output", "out.npy", saying="output")
    case.refuses("--variant", "heat", "--height", 4, "--output", "no/such/out.npy", saying="output")


@lab.case("bad input files")
def bad_files(case):
    good = case.save("good", numpy.zeros((3, 4), numpy.float32))
    case.refuses("--variant", "heat", "--plate", good, "--height", "20", saying="--height")
    case.refuses_broken("--plate", good, "--variant", "heat")
    case.refuses("--arrays", good, saying="int32")
    case.refuses("--plate", case.save("none", numpy.zeros((0, 4), numpy.float32)), "--variant", "heat", saying="no cells")
    left, big = case.save("left", numpy.ones((3, 4), numpy.int32)), case.save("big", numpy.full((4, 4), 1 << 22, numpy.int32))
    case.refuses("--variant", "product", "--a", left, saying="together")
    case.refuses("--variant", "product", "--a", left, "--b", left, saying="shapes")
    case.refuses("--variant", "product", "--a", left, "--b", big, saying="exact")


lab.main()
