"""Judges dfa_minimization: the classes of every variant, and the automata that it writes, against Python's own."""

import bz2
import gzip
import lzma
import re
import shutil
import subprocess
import sys
from functools import lru_cache
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
sys.path.insert(0, str(Path(__file__).resolve().parent))
import checker
import automata

TASKS = {  # of each variant that has one of its own
    "openmp_tasks": "TODO 3 in openmp.h", "openmp_unfolded": "TODO 4 in openmp.h",
    "horizontal_a": "TODO 5 in counting_sort.cuh", "vertical_a": "TODO 5 in counting_sort.cuh",
    "horizontal_c": "TODO 6 in counting_sort.cuh", "vertical_c": "TODO 6 in counting_sort.cuh",
    "fold": "TODO 7 and 8 in fold.cuh", "retire": "TODO 9 in retire.cuh",
    "adaptive": "TODO 9 in retire.cuh, for its table is that of `retire`",
}
SHARED = {  # and of those that wait for the tasks of others: Moore's rounds by sorting, and what `retire` begins
    **dict.fromkeys(["moore_radix", "openmp_for", "openmp_sections", "openmp_split", "openmp_sort"], "TODO 1 and 2 in moore.h"),
    "signature": "TODO 7 in fold.cuh",
}
FURTHER = ["persistent", "worklist", "adaptive"]
lab = checker.Lab(__file__, TASKS, SHARED, FURTHER)
KERNELS = {  # what a variant launches beside what all do
    "horizontal_a": ["count_by_value", "place_rows", "move_by_value"], "vertical_a": ["count_by_value", "move_by_value"],
    "horizontal_b": ["count_by_vote", "place_rows", "move_by_vote"], "vertical_b": ["count_by_vote", "move_by_vote"],
    "horizontal_c": ["count_by_atomics", "place_rows", "move_by_atomics"], "vertical_c": ["count_by_atomics", "move_by_atomics"],
    "bottom_up": ["move_by_sign"], "fold": ["fold_letter"], "signature": ["refine_states"],
    "retire": ["find_representatives", "keep_crowded"], "persistent": ["refine_until_stable"], "worklist": ["group_step"],
    "adaptive": ["mark_codes", "find_representatives", "keep_crowded|group_step"],  # short rounds, those of `retire`, then of `worklist`
}
HOST = ["hopcroft", "moore_radix", "moore_hash", "openmp_for", "openmp_tasks", "openmp_sections", "openmp_split",
        "openmp_unfolded", "openmp_sort"]
SLOW = ["horizontal_b", "vertical_b"]  # in CPU mode: a barrier for each value
COUNTING = ["horizontal_a", "horizontal_c", "vertical_a", "vertical_c", "bottom_up"]
PATH = ["fold", "signature", "retire"]
FAST = PATH + lab.further
DEVICE = SLOW + COUNTING + FAST
IN_ROUNDS = [name for name in HOST + COUNTING + FAST
             if name not in ("hopcroft", "openmp_unfolded", "worklist", "adaptive")]
WORDS = Path("/usr/share/dict/american-english")
PASSIVE = {"OMP_WAIT_POLICY": "passive"}  # threads that wait leave their core to those that do not
FIXED = 16  # the seed of what is the same in every check


# Judging


class Problem:
    """A text and what must come of it."""

    def __init__(self, kind, text, loops=False):
        self.kind, self.text = kind, text
        self.automaton = automata.read(text, loops)
        self.classes = automata.classes_of(self.automaton)

    @property
    def minimal(self):
        return automata.minimal(self.automaton, self.classes)


@lru_cache(maxsize=None)
def fixed_problems(count):
    """The same for all variants; an oracle's work done once."""
    random = numpy.random.default_rng(FIXED)
    return [Problem(kind, text) for kind, text in automata.small_automata(random, count)]


def write(case, name, text):
    (case.folder / name).write_text(text, encoding="utf-8")
    return name


def symptom(problem, classes, expected):
    """What is seen of one automaton whose classes are wrong."""
    found, wanted = classes.max(initial=0) + 1, expected.max(initial=0) + 1
    if (classes < 0).any():
        return "some states have no class"
    if (classes == 0).all() and wanted > 1:
        return "all states are in one class"
    if (classes == automata.by_lowest(problem.automaton.final)).all():
        return "the classes are still those of the beginning: a round finds nothing to split"
    together = len(numpy.unique(numpy.stack([classes, expected]), axis=1).T)
    if together == found > wanted:
        return "states that are equivalent are in different classes"
    if together == wanted > found:
        return "states that are not equivalent are in one class: it stops early, or leaves out a letter"
    if together == wanted == found:
        return "the partition is right, but its numbers are not in the order of the lowest states"
    return "states that are equivalent are apart, and others that are not are together"


def likely_cause(variant, verified):
    """The program's own sentence on the first step that goes wrong (--verify)."""
    found = re.search(rf"^{variant}: (TODO .*)$", verified.stderr, re.M)
    return found[1] if found else checker.Fact(
        "the steps of the tasks are right one by one when --verify repeats them: it is a race, which `make sanitize "
        "LAB=16` names, or in a file that has no TODO for this variant")


def judge_classes(case, problems, classes, variants, options=(), env=None):
    """`classes`: a row a variant, over the states of all automata."""
    total = sum(problem.automaton.states for problem in problems)
    case.expect(classes.shape == (len(variants), total), f"--classes has the shape {classes.shape}, and there are "
                f"{len(variants)} variants and {total} states")
    for row, variant in zip(classes, variants):
        at = 0
        for number, problem in enumerate(problems):
            found = row[at:at + problem.automaton.states]
            at += problem.automaton.states
            if (found == problem.classes).all():
                continue
            complain(case, problem, number, found, variant, options, env)


def complain(case, problem, number, found, variant, options, env):
    name = write(case, "wrong.txt", problem.text)
    words = [word for word in options if word != "--verify"]
    verified = case.run("decode", name, "--variant", variant, *words, "--verify", status=None, env=env)
    cause = likely_cause(variant, verified)
    where = f"{variant}: automaton {number} ({problem.kind}, in {name})"
    if (found < 0).all():
        raise checker.Failure(f"{where}: a step went wrong, and the program stopped there", cause)
    wrong = int((found != problem.classes).sum())
    shown = "\n".join(f"  [{state}]  expected {problem.classes[state]}   got {found[state]}"
                      for state in numpy.flatnonzero(found != problem.classes)[:5])
    raise checker.Failure(f"{where}: {wrong} of {len(found)} states are in a wrong class\n{shown}\n"
                          f"{symptom(problem, found, problem.classes)}", cause)


def run_classes(case, problems, variants, *options, env=None):
    """Runs the variants on all automata in one file, and judges their classes."""
    name = write(case, "automata.txt", "--\n".join(problem.text for problem in problems))
    (case.folder / "classes.npy").unlink(missing_ok=True)
    words, env = ("decode", name, "--variant", ",".join(variants), *options), {**PASSIVE, **(env or {})}
    run = case.run(*words, "--classes", "classes.npy", status=None, env=env)
    if not (case.folder / "classes.npy").exists():
        explain_end(case, run, words, variants, env)
    judge_classes(case, problems, case.load("classes"), variants, options, env)
    if noted := re.search(r"^\w+: (TODO .*)$", run.stderr, re.M):
        raise checker.Failure("the classes are right, and yet a step goes wrong", noted[1])
    case.expect(run.status == 0, "the classes are right, but the program says that a variant is wrong")


def explain_end(case, run, words, variants, env):
    """The program has crashed or stopped: its own words, and what --verify says before it does so again."""
    text = f"{checker.program.explain_ending(run)}{checker.program.quoted_output(run)}\nrepeat: {run.command}"
    verified = case.run(*words, "--verify", status=None, env=env)
    causes = [likely_cause(variant, verified) for variant in variants]
    table = re.search(r"kernel (?:\w+::)*(?:fold_letter|find_slots), .* past the end of the allocation of (\d+) bytes", run.stderr)
    if table and int(table[1]) & int(table[1]) - 1 == 0:  # the slots are so many, 8 bytes each, and at least 64
        causes.append("TODO 7 in fold.cuh: slot_of_pair looks behind the last slot, which is number `mask`: there the first one follows, "
                      "(slot + 1) & mask")
    raise checker.Failure(text, next((cause for cause in causes if cause.startswith("TODO")), None))


def automaton_of(case, text):
    """What the program has written."""
    try:
        return automata.read(text)
    except ValueError as error:
        case.fail(f"what was written is no automaton: {error}")


def judge_automaton(case, text, problem):
    """The text of an automaton that should be minimal: is it one, of the same language, and numbered by breadth?"""
    got, wanted = automaton_of(case, text), problem.minimal
    case.expect(got.names == wanted.names, f"the symbols are {got.names}, expected {wanted.names}")
    word = automata.difference(got, wanted)
    case.expect(word is None, f"the language is another one: {'the empty word' if word == [] else word} is accepted by "
                "one of the input and the result")
    case.expect(got.states == wanted.states, f"{got.states} states are reached, and {wanted.states} are enough")
    case.expect(text == automata.encode(wanted), "the automaton is minimal, but its states are not numbered by breadth")


def result_of(case, *arguments):
    """What the program prints: an automaton and nothing else."""
    return case.run(*arguments).stdout


# Small automata of every kind


def many(case, variant, count):
    run_classes(case, fixed_problems(count), [variant])
    own_kernels(case, variant)


def own_kernels(case, variant, small=True):
    """Judges the last run. With few states `adaptive` does as `worklist`."""
    if variant in KERNELS and not (small and variant == "adaptive"):
        own, known = KERNELS[variant], {kernel for kernels in KERNELS.values() for kernel in kernels}
        case.kernels(f"variant {variant}", own, sorted(known - set(own)), elements=1)


def counts(variant):
    """How many automata: fewer where CPU mode is slow."""
    return 1300 if variant in HOST else 13 if variant in SLOW else 104 if variant in COUNTING else 195


for variant in HOST + SLOW + COUNTING + PATH + FURTHER:
    lab.case(f"{variant}: {counts(variant)} small automata of every kind", many, variant=variant, count=counts(variant))


@lab.case("automata that nobody knows before", fresh=True)
def fresh(case):
    for variants, count in ((HOST, 390), (COUNTING + FAST, 39)):
        run_classes(case, [Problem(kind, text) for kind, text in automata.small_automata(case.random, count)], variants)


@lab.case("the automata that are written, by hopcroft and moore_hash")
def written(case):
    problems = fixed_problems(390)
    name = write(case, "automata.txt", "--\n".join(problem.text for problem in problems))
    for variant in ("hopcroft", "moore_hash"):
        case.run("decode", name, "minimize", variant, "encode", "--output", f"{variant}.txt")
        texts = re.split(r"^--\n", (case.folder / f"{variant}.txt").read_text(), flags=re.M)
        case.expect(len(texts) == len(problems), f"{len(texts)} automata were written, and {len(problems)} read")
        for text, problem in zip(texts, problems):
            judge_automaton(case, text, problem)


# Sizes around warps and blocks, larger ones, and many symbols


@lru_cache(maxsize=None)
def sized_problems():
    random = numpy.random.default_rng(FIXED + 1)
    problems = []
    for states in (31, 32, 33, 127, 128, 129, 257):
        cycle = [f"{i} {(i + 1) % states} a\n" for i in range(states)]
        finals = [f"{i}\n" for i in range(0, states, 8 if states % 8 == 0 else states)]
        problems.append(Problem(f"a cycle of {states}", "".join(cycle[:1] + finals + cycle[1:])))
        problems.append(Problem(f"{states} states at random", random_text(random, states, 3)))
    for states in (100, 300):
        problems.append(Problem(f"a chain of {states} in any order", chain_text(random, states)))
    problems += [Problem(f"a cycle of {length} with a way out", way_out_text(length)) for length in (5, 40)]
    return problems


def chain_text(random, states):
    """A cycle whose states stand in any order. Under the second letter most of them stay where they are."""
    place = random.permutation(states)
    aside = numpy.where(random.random(states) < 0.05, random.integers(states, size=states), numpy.arange(states))
    return "".join(f"{place[i]} {place[(i + 1) % states]} a\n{place[i]} {place[aside[i]]} b\n"
                   for i in range(states)) + f"{place[0]}\n"


def random_text(random, states, symbols, share=1):
    """A random automaton; with share > 1, each state has that many equivalent ones."""
    targets = random.integers(states // share, size=(states // share, symbols)).tolist()
    final = random.random(states // share) < 0.5
    lines = []
    for state in range(states // share * share):
        base = state % (states // share)
        lines += [f"{state} {target + states // share * (state * 7 + i) % (states // share * share)} s{i}\n"
                  for i, target in enumerate(targets[base])]
        lines += [f"{state}\n"] if final[base] else []
    return "".join(lines)


def sized(case, variant):
    """Who stays in `retire` shows in no class, only when it is verified."""
    problems = [p for p in sized_problems() if variant not in COUNTING or p.automaton.states in (32, 33, 128)]
    run_classes(case, problems, [variant], *["--verify"][:variant == "retire"])
    own_kernels(case, variant, small=False)


for variant in ["moore_radix", "openmp_sort", *COUNTING, *PATH, *FURTHER]:
    lab.case(f"{variant}: 31 to 257 states", sized, variant=variant)


def way_out_text(length):
    """A cycle, from whose first state a chain leads to the only final one; all else leads to three sinks. Backwards along
    the chain one comes into the cycle, and around it again, and the sinks stay together in its class."""
    last, sinks = length + 3, range(length + 4, length + 7)
    transitions = {(state, "a"): (state + 1) % length for state in range(length)}
    transitions.update({(state, "a"): state + 1 for state in range(length, last)})
    transitions.update({(sink, letter): sink for sink in sinks for letter in "ab"})
    transitions[0, "b"] = length
    return f"0 {transitions[0, 'a']} a\n{last}\n" + "".join(
        f"{state} {transitions.get((state, letter), sinks[state % 3])} {letter}\n"
        for state in range(sinks[-1] + 1) for letter in "ab" if (state, letter) != (0, "a"))


@lru_cache(maxsize=None)
def large_problem(share):
    return Problem(f"8000 states, {share} of each", random_text(numpy.random.default_rng(FIXED + share), 8000, 2, share))


@lru_cache(maxsize=None)
def crowded_problem():
    """Half of all transitions are missing: the sink has thousands of predecessors."""
    random = numpy.random.default_rng(FIXED)
    lines = random_text(random, 4000, 3).splitlines(keepends=True)
    return Problem("4000 states, half of the transitions missing", "".join(
        line for line in lines if not line.endswith(("s1\n", "s2\n")) or random.random() < 0.25))


def large(case, variant):
    run_classes(case, [large_problem(1), large_problem(4), crowded_problem()], [variant])


for variant in HOST + PATH + FURTHER:
    lab.case(f"{variant}: 8000 states", large, variant=variant, quick=variant in HOST)


# What a sort or a key takes for something else


@lru_cache(maxsize=None)
def segment_problem(count):
    text = automata.crowded(numpy.random.default_rng(FIXED), count, 13, 1)
    return Problem(f"{13 * count} states, {count} of each, in any order", text)


def segments(case, variant):
    """Several segments of several warps, with several states of each class in all of them; then with two tiles each."""
    problem = segment_problem(10 if variant in SLOW else 24)
    for elements, order in ((1, case.order), (2, "random:1")):
        run_classes(case, [problem], [variant], "--block", 64, "--elements", elements,
                    env={"CUDA_CPU_ORDER": order} if case.backend == "cpu" and order else None)


def long_segment(case, variant):
    """A segment of more places than 8 bits can count. A loop that counts in them never ends, or walks out of the array."""
    try:
        run_classes(case, [segment_problem(24)], [variant], "--block", 64, "--elements", 5)
    except checker.Failure as failure:
        run_classes(case, [segment_problem(24)], [variant], "--block", 64, "--elements", 1)
        raise checker.Failure(str(failure), f"segments of 64 places are right, and this one has 312: a counter of 8 bits ends at 255, "
                              f"so count places in int ({TASKS[variant]})")


for variant in ("horizontal_a", "vertical_a"):
    lab.case(f"{variant}: a segment of more than 255 places", long_segment, variant=variant)
for variant in SLOW + COUNTING:
    lab.case(f"{variant}: big classes in several segments", segments, variant=variant)


@lab.case("signatures that a hash or a short key confuses")
def confused(case):
    run_classes(case, [Problem(f"not told apart by {name}", text) for name, text in automata.keys_that_lie()],
                ["moore_radix", "moore_hash", *FAST])


@lab.case("98304 classes: more than 16 bits")
def many_classes(case):
    problem = object.__new__(Problem)
    problem.kind, (problem.text, problem.automaton) = "a class for each state", automata.many_classes()
    problem.classes = numpy.arange(problem.automaton.states)
    run_classes(case, [problem], ["moore_radix", "fold", "signature"], "--reference", "moore_hash")


@lab.case("openmp_tasks: phases side by side, and none too early")
def phases(case):
    """Each phase waits a while at its beginning, so that whoever does not wait for it comes too early."""
    run_classes(case, [fixed_problems(13)[6], segment_problem(24)], ["openmp_tasks"], "--threads", 4, "--pause", 2)


@lab.case("300 symbols, and 2000")
def symbols(case):
    for count in (300, 2000):
        lines = [f"{s} {t} x{i}\n" for s in range(6) for i in range(count)
                 for t in [int(case.random.integers(6))] if case.random.random() < 0.8]
        problem = Problem(f"{count} symbols", "0\n" + "".join(lines) + "4\n")
        run_classes(case, [problem], HOST + [name for name in FAST if name not in ("persistent", "adaptive")])
        judge_automaton(case, result_of(case, "decode", "automata.txt", "minimize", "encode"), problem)


# Two segments of two warps, with two tiles each.
lab.watched("no race between threads", [["random", 140, 2, "--block", 64, "--elements", 2, "--variant",
                                         "horizontal_a,vertical_c,fold,retire"]])
lab.watched("no race in the variants of further/", [["random", 140, 2, "--variant", "persistent,worklist,adaptive"]], further=True)


@lab.case("threads, elements and bits of the counting sorts")
def shapes(case):
    problems = fixed_problems(195)[13:20] + [p for p in sized_problems() if p.automaton.states == 33]
    for threads, elements, bits in ((64, 1, 1), (64, 3, 6), (256, 2, 3)):
        words = ("--block", threads, "--elements", elements, "--bits", bits)
        run_classes(case, problems, ["horizontal_a", "vertical_a", "vertical_c"], *words)


@lab.case("1, 3 and 16 threads of OpenMP")
def threads_of_openmp(case):
    for threads in (16, 3, 1):
        run_classes(case, fixed_problems(65), [name for name in HOST if "openmp" in name], "--threads", threads)


# Automata that are known


@lab.case("{ab, abcb} has 6 states")
def two_words(case):
    name = write(case, "words.txt", "0 1 a\n1 2 b\n2 3 c\n3 4 b\n2\n4\n")
    text = result_of(case, "decode", name, "minimize", "encode")
    judge_automaton(case, text, Problem("two words", "0 1 a\n1 2 b\n2 3 c\n3 4 b\n2\n4\n"))
    case.expect(automaton_of(case, text).states == 6, "6 states are expected: the sink is one of them")


@lab.case("all final, none final: one state")
def one_class(case):
    for finals in ("", "0\n1\n2\n"):
        name = write(case, "all.txt", "0 1 a\n0 2 b\n1 2 a\n1 1 b\n2 0 a\n2 2 b\n" + finals)
        expected = "0\t0\ta\n0\t0\tb\n" + ("0\n" if finals else "")
        case.same_lines(expected.splitlines(), result_of(case, "decode", name, "minimize", "encode").splitlines())


@lab.case("no symbols at all")
def no_symbols(case):
    run_classes(case, [Problem("the empty word alone", "0\n"), Problem("the same", "1\n")], HOST + DEVICE)
    case.same_lines(["0"], result_of(case, "decode", "automata.txt", "minimize", "encode").split("--")[0].splitlines())


@lab.case("unary, a multiple of 4, as a cycle of 12")
def unary(case):
    name = write(case, "cycle.txt", "".join(f"{i} {(i + 1) % 12} a\n" for i in range(12)) + "0\n4\n8\n")
    case.same_lines(["0\t1\ta", "0", "1\t2\ta", "2\t3\ta", "3\t0\ta"],
                    result_of(case, "decode", name, "minimize", "encode").splitlines())


@lab.case("unreachable states do not count")
def unreachable(case):
    small = "0 1 a\n1 0 a\n1\n"
    texts = [result_of(case, "decode", write(case, "in.txt", text), "minimize", "encode")
             for text in (small, small + "2 0 a\n3 2 a\n3\n")]
    case.expect(texts[0] == texts[1], "two unreachable states have changed the result")
    run_classes(case, [Problem("unreachable", small + "2 0 a\n3 2 a\n3\n")], HOST)


@lab.case("names of symbols: numbers, 0E, other alphabets")
def names(case):
    for text in ("0 1 0E\n1 0 0\n1\n", "0 1 10\n0 0 9\n1 0 2\n1\n", "0 1 ä\n1 0 日本\n0\n", "0 1 1e5\n1 0 100000\n1\n",
                 "0 0 -\n0\n", "0 1 ---\n1 1 \"\\\n1\n"):
        mark = "" if "-" in text else "\ufeff"  # a byte order mark is no part of the text
        judge_automaton(case, result_of(case, "decode", write(case, "in.txt", mark + text), "minimize", "encode"),
                        Problem("names", text))


@lab.case("equal languages, equal files")
def canonical(case):
    one = "0 1 a\n1 2 b\n2 1 a\n0\n2\n"  # (ab)*, with its end and its beginning apart
    other = "5 3 a\n3 5 b\n5\n"
    texts = [result_of(case, "decode", write(case, "in.txt", text), "minimize", "encode") for text in (one, other)]
    texts.append(result_of(case, "best-case", 17, 2, "minimize", "encode"))
    case.expect(texts[0] == texts[1] == texts[2], "three automata of (ab)* have different minimal automata")
    again = result_of(case, "decode", write(case, "in.txt", texts[0]), "minimize", "encode")
    case.expect(again == texts[0], "a minimal automaton that is minimised again becomes another file")


# The families


def generated(case, *words):
    return automaton_of(case, result_of(case, *words, "pass", "encode"))


@lab.case("best case: 3n states for (ab)*")
def best_case(case):
    for n, m in ((1, 2), (7, 2), (40, 5)):
        one = generated(case, "best-case", n, m)
        case.expect(one.states == 3 * n and len(one.names) == m, f"A_{n},{m} has {one.states} states")
        case.expect(one.final.sum() == n, f"A_{n},{m} has {one.final.sum()} final states")
        word = automata.difference(automata.minimal(one), automata.read(
            "".join(f"0 {1 if i == 0 else 2} {name}\n1 {0 if i == 1 else 2} {name}\n2 2 {name}\n"
                    for i, name in enumerate(one.names)) + "0\n"))
        case.expect(word is None, f"A_{n},{m} is not (ab)*: {word}")


@lab.case("worst case: 3n states for ((ab)^n)*")
def worst_case(case):
    for n, m in ((1, 2), (9, 2), (20, 3)):
        one = generated(case, "worst-case", n, m)
        case.expect(one.states == 3 * n and one.final.sum() == 1, f"B_{n},{m} has {one.states} states, "
                    f"{one.final.sum()} of them final")
        case.expect(automata.minimal(one).states == 2 * n + 1, f"B_{n},{m} is not minimal with 2n + 1 states")
        case.expect(one.accepts("ab" * n) and one.accepts("") and not (n > 1 and one.accepts("ab" * (n - 1))),
                    f"B_{n},{m} accepts other words than ((ab)^n)*")


@lab.case("random automata and copies of them")
def random_families(case):
    texts = [result_of(case, "random", 60, 3, "pass", "encode", "--seed", seed) for seed in (1, 2, 1)]
    case.expect(texts[0] == texts[2], "the same seed gives another automaton")
    case.expect(texts[0] != texts[1], "another seed gives the same automaton")
    names = [chr(97 + i) for i in range(26)] + ["aa", "ab"]
    case.expect(generated(case, "random", 5, 28).names == names, "behind z the letters should go on with aa and ab")
    for m in (1, 2, 3):
        one = generated(case, "random", 60, m)
        case.expect(one.states == 60, f"only {one.states} of the 60 states can be reached")
        many = generated(case, "copies", 60, m, 4)
        case.expect(many.states == 240, f"only {many.states} of 4 times 60 states can be reached")
        classes = automata.classes_of(many).reshape(4, 60)
        case.expect((classes == classes[0]).all(), "the copies of a state are not equivalent")


def expect_rounds(case, words, variants, classes, expected):
    run = case.run(*words, "--variant", ",".join(variants), "--classes", "classes.npy", status=(0, 1), env=PASSIVE)
    for variant in variants:
        found = re.search(rf"^{variant}: (\d+) classes, (\d+) rounds", run.stdout, re.M)
        case.expect(found, f"nothing is said about the rounds of {variant}")
        if found.groups() == (str(classes), str(expected)):
            continue
        verified = case.run(*words, "--variant", variant, "--verify", status=None, env=PASSIVE)
        raise checker.Failure(f"{variant}, {words[0]}: {found[1]} classes in {found[2]} rounds, expected {classes} in "
                              f"{expected}", likely_cause(variant, verified))


@lab.case("rounds and classes")
def rounds(case):
    expect_rounds(case, ("best-case", 30, 3), IN_ROUNDS, 3, 2)
    expect_rounds(case, ("worst-case", 12, 2), IN_ROUNDS, 25, 24)
    expect_rounds(case, ("worst-case", 12, 2), ["openmp_unfolded"], 25, 13)  # one as usual, and then two at a time
    run = case.run("worst-case", 6, 2, "minimize", "moore_radix", "pass", "--verbose")
    case.same_lines([f"round {i}: {min(i + 2, 13)} classes" for i in range(1, 13)], run.stderr.splitlines())


# A real one


def trie(words):
    transitions, finals, count, root = [], [], 1, {}
    for word in words:
        node = root
        for letter in word:
            if letter not in node:
                node[letter] = {"": count}
                transitions.append(f"{node.get('', 0)} {count} {letter}\n")
                count += 1
            node = node[letter]
        finals.append(f"{node.get('', 0)}\n")
    return "".join(transitions + finals), count


@lab.case("the trie of all English words", quick=False)
def dictionary(case):
    if not WORDS.is_file():
        raise checker.Skipped(f"{WORDS} is not there: it is in the package wamerican")
    words = WORDS.read_text(encoding="utf-8").split()
    text, states = trie(words)
    name = write(case, "words.txt", text)
    minimal = result_of(case, "decode", name, "minimize", "moore_hash", "encode", "--without-sink")
    start, transitions, finals, _ = automata.parse(minimal)
    found = len({state for (source, _), target in transitions.items() for state in (source, target)})
    if (len(words), states) == (104334, 238103):
        case.expect(found == 33232, f"{states} states became {found}, expected 33232 beside the sink")
    final = set(finals)
    for word in words:
        state = start
        for letter in word:
            state = transitions.get((state, letter))
            case.expect(state is not None, f"the word {word} is lost")
        case.expect(state in final, f"the word {word} is not accepted")
    case.expect(accepted_words(start, transitions, final) == len(set(words)), "other words are accepted than those of the list")


def accepted_words(start, transitions, final):
    """How many words an automaton without cycles accepts. Numbered by breadth, sources may follow targets."""
    following, counted, path = {}, {}, [start]
    for (source, _), target in transitions.items():
        following.setdefault(source, []).append(target)
    while path:
        waiting = [target for target in following.get(path[-1], ()) if target not in counted]
        if waiting:
            path.append(waiting[0])
        else:
            state = path.pop()
            counted[state] = (state in final) + sum(counted[target] for target in following.get(state, ()))
    return counted[start]


@lab.case("what OpenFst makes of them", quick=False)
def openfst(case):
    if not shutil.which("fstminimize"):
        raise checker.Skipped("fstminimize is not there: it is in the package libfst-tools")
    for number, problem in enumerate(fixed_problems(130)):
        wanted = problem.minimal
        symbols = write(case, "symbols.txt", "".join(f"{name} {i}\n" for i, name in enumerate(["<eps>", *wanted.names])))
        write(case, "in.txt", problem.text)
        # unsorted, OpenFst 1.7.9 leaves equivalent states apart
        line = (f"fstcompile --acceptor --isymbols={symbols} in.txt | fstconnect | fstarcsort | fstminimize | "
                f"fstprint --acceptor --isymbols={symbols}")
        text = subprocess.run(line, shell=True, cwd=case.folder, capture_output=True, text=True, check=True).stdout
        dead = [s for s in range(wanted.states) if not wanted.final[s] and (wanted.next[:, s] == s).all()]
        expected = wanted.states - len(dead)
        got = len({state for words in map(str.split, text.splitlines()) for state in words[:2 if len(words) > 2 else 1]})
        case.expect(got == (expected if wanted.final.any() else 0), f"automaton {number} ({problem.kind}): OpenFst has "
                    f"{got} states, and {expected} are expected without a sink")


# Output


@lab.case("tables and pictures")
def output(case):
    table = result_of(case, "best-case", 5, 2, "minimize", "pretty-print")
    case.same_lines(["state  a  b", "> 0 *  1  2", "  1    2  0", "  2    2  2"], table.splitlines())
    accents = result_of(case, "decode", write(case, "in.txt", "0 0 ä\n0 0 öü\n"), "minimize", "pretty-print")
    case.same_lines(["state  ä  öü", "> 0    0   0"], accents.splitlines())
    dot = result_of(case, "best-case", 5, 2, "minimize", "dot")
    for piece in ("digraph", "doublecircle", "start -> 0;", '0 -> 1 [label="a"];', '2 -> 2 [label="a, b"];'):
        case.expect(piece in dot, f"the picture lacks {piece}")
    quoted = result_of(case, "decode", write(case, "in.txt", '0 0 "\\\n0\n'), "minimize", "dot")
    case.expect('label="\\"\\\\"' in quoted, "quotation marks in names must be escaped in a picture")


@lab.case("output to a file, and long options")
def long_options(case):
    printed = result_of(case, "worst-case", 4, 3, "minimize", "encode")
    run = case.run("--input", "worst-case", "--n", 4, "--m=3", "--action", "minimize", "--format", "encode",
                   "--variant", "moore_radix", "--output", "out.txt")
    case.expect((case.folder / "out.txt").read_text() == printed, "the file differs from what is printed")
    case.expect(re.search(r"^moore_radix .*\bcorrect$", run.stdout, re.M), "the table has no row that calls moore_radix correct")
    case.expect(case.run("random", 50, 2, "pass", "pass").stdout.startswith("random: 50 states"), "the size is not said")


@lab.case("the sink left out, and loops in its place")
def completion(case):
    text = "0 1 a\n1 2 b\n2\n"
    name = write(case, "in.txt", text)
    case.same_lines(["0\t1\ta", "1\t2\tb", "2"],
                    result_of(case, "decode", name, "minimize", "encode", "--without-sink").splitlines())
    problem = Problem("loops", text, loops=True)
    judge_automaton(case, result_of(case, "decode", name, "minimize", "encode", "--completion", "loops"), problem)
    case.expect(problem.minimal.accepts("babba"), "(the checker's own loops)")
    passed = result_of(case, "decode", name, "pass", "encode")
    case.expect(automaton_of(case, passed).states == 4, "pass should complete the automaton and no more")
    name = write(case, "in.txt", "0 1 a\n1 1 a\n")  # without its sink, nothing would be left to say where it starts
    case.same_lines(["0\t1\ta", "1\t1\ta"], result_of(case, "decode", name, "pass", "encode", "--without-sink").splitlines())
    round_trip(case)


def round_trip(case):
    """Completed and not minimised, then read again. The start is not the lowest state, and must be written first."""
    asides = [problem for problem in fixed_problems(130) if problem.automaton.start > 0]
    for loops in (False, True):
        problems = [Problem(p.kind, p.text, loops) for p in asides]
        name = write(case, "in.txt", "--\n".join(problem.text for problem in problems))
        words = "pass", "encode", "--completion", "loops" if loops else "sink", "--output"
        case.run("decode", name, *words, "out.txt")
        for text, problem in zip(re.split(r"^--\n", (case.folder / "out.txt").read_text(), flags=re.M), problems):
            same = automaton_of(case, text)
            case.expect(same.names == problem.automaton.names, f"the symbols became {same.names}")
            word = automata.difference(same, problem.automaton)
            case.expect(same.states == problem.automaton.states and word is None, f"an automaton ({problem.kind}) of "
                        f"{problem.automaton.states} states became one of {same.states}; a word that tells them apart: {word}")
        case.run("decode", "out.txt", *words, "again.txt")
        case.expect((case.folder / "again.txt").read_bytes() == (case.folder / "out.txt").read_bytes(),
                    "what was written, read and written once more is another file")


@lab.case("all variants in one run")
def everything(case):
    """Each is run again and again for its time, and judged by its last result as well."""
    run = case.run("--n", 20, status=(0, 1), env=PASSIVE)
    wrong = [variant for variant in HOST + DEVICE if not re.search(rf"^{variant} .*\b(correct|skipped.*)$", run.stdout, re.M)]
    rows = [line for line in run.lines if line.startswith(tuple(f"{variant} " for variant in wrong))]
    case.expect(not wrong, "\n  ".join([f"the table does not call right: {', '.join(wrong)}", *rows]))
    case.expect(run.status == 0, "the table calls all variants right, and yet the program ends with status 1")


# What is refused

BAD_FILES = {  # text: the line and a word of the sentence
    "": "is empty", "\n\n": "no start", "0 0 a\n--\n": "no start", "--\n0 0 a\n": "no start",
    "0 1 a\n1 2\n": "line 2: 2 words", "0 1 a b\n": "line 1: 4 words", "0 1 a\n0 2 a\n": "line 2: state 0 with \"a\" leads to 2",
    "0 1 a\n\n0 1 a\n": "line 3: the transition of state 0 with \"a\" is already in line 1",
    "0 1 a\n1 99 b\n": "line 2: the target 99 is out of range", "0 1 a\n1 -1 b\n": "line 2: the target \"-1\"",
    "0 1 a\n1 99999999999999999999 b\n": "line 2: the target", "x 1 a\n": "line 1: the source \"x\"",
    "0 1 a\n1.5\n": "line 2: the final state \"1.5\"", "0 1 a\n2\n": "line 2: state 2 is final",
    "0 1 a\r\n1\r\n": "line 1: it ends as lines do in Windows", "0 1 a\n1 0 b": "line 2: the line has no end",
    "0 1 a\n1": "line 2: the line has no end", "0 1 a\x01\n": "line 1: byte 6", "0 1 a\n1\x00 0 b\n": "line 2: byte 2",
    "0 1 a\n1 2 <eps>\n2\n": "line 2: <eps> is the empty word", "\ufeff": "is empty",
    "0 0 a\n--\n0 1 a\n0 2 a\n": "line 4: state 0", "0 1 a\n1 0xF b\n": "line 2", "0 4000000000 a\n": "out of range",
}


@lab.case("bad files")
def bad_files(case):
    for text, saying in BAD_FILES.items():
        case.refuses("decode", write(case, "bad.txt", text), "minimize", "encode", "--output", "out.txt", saying=saying)
    long = "x" * 5000
    for text in (f"{long} 0 a\n", f"0 0 {long}\n0 0 {long}\n", f"0 {5000 * '9'} a\n"):
        run = case.refuses("decode", write(case, "bad.txt", text), saying="line")
        case.expect(len(run.stderr) < 500, "a sentence should not repeat a word of thousands of letters")
    (case.folder / "bad.txt").write_bytes(bytes(range(256)))
    case.refuses("decode", "bad.txt", saying="line 1")
    for content, saying in ((gzip.compress(b"0 1 a\n"), "compressed by gzip"), (bz2.compress(b"0 1 a\n"), "compressed by bzip2"),
                            (lzma.compress(b"0 1 a\n"), "compressed by xz"), (b"PK\3\4", "zip archive"), (b"\xd6\xfd\xb2\x7e", "OpenFst"),
                            ("0 1 a\n".encode("utf-16"), "UTF-16"), ("\ufeff0 1 a\n".encode("utf-16-be"), "UTF-16")):
        (case.folder / "bad.txt").write_bytes(content)
        case.refuses("decode", "bad.txt", "minimize", "encode", "--output", "out.txt", saying=saying)
    write(case, "in.txt", "0 1 a\n1\n")
    (case.folder / "link.txt").symlink_to("in.txt")
    for words in (("minimize", "encode", "--output", "./in.txt"), ("minimize", "encode", "--output", "link.txt"),
                  ("--classes", "in.txt")):
        case.refuses("decode", "in.txt", *words, saying="would replace")
    case.expect((case.folder / "in.txt").read_text() == "0 1 a\n1\n", "the input was replaced by the output")
    case.refuses("decode", "absent.txt", saying="absent.txt")
    case.refuses("decode", ".", saying="folder")


@lab.case("bad arguments")
def bad_arguments(case):
    for words, saying in ((("best-case",), "best-case n m"), (("random", 5), "random n m"), (("bestcase", 5, 2), "did you mean best-case"),
                          (("decode",), "decode FILE"), (("best-case", 5, 1), "two symbols"), (("random", 0, 2), "--n"),
                          (("random", 5, 2, "reduce"), "reduce"), (("random", 5, 2, "minimize", "moore"), "moore"),
                          (("random", 5, 2, "minimize", "encode", "pass"), "pass"), (("copies", 5, 2), "copies n m count"),
                          (("--input", "decode"), "--file"), (("random", 5, 2, "--count", 3), "--count"),
                          (("best-case", 5, 2, "--seed", 3), "--seed"), (("random", 5, 2, "--output", "x"), "--format"),
                          (("random", 5, 2, "pass", "--classes", "x.npy"), "--classes"),
                          (("random", 5, 2, "--block", 100), "power of two"), (("random", 5, 2, "--block", 64, "--bits", 7), "--bits"),
                          (("random", 5, 2, "minimize", "encode", "--variant", "all"), "one variant")):
        case.refuses(*words, saying=saying)
    case.refuses("best-case", 2000000000, 2, saying="states")
    case.refuses("random", 2000000000, 65536, saying="not enough memory")
    case.refuses("copies", 2000000000, 2, 2000000000, saying="states")


lab.main()
