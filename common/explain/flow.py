"""In which order the pieces of a function's code are walked through, so that lanes that part meet again.

Of lanes at different places those go first whose place comes first in this order. It has to be such that
a loop's body comes before what follows the loop, and both ways of a branch before where they join. That
is a weak topological order (Bourdoncle, 1993): what is strongly connected stands together, its entry
first, the rest in the same kind of order. The order of the addresses will not do: compilers like to put
the unlikely way of a branch behind the function.
"""

import re
import sys
from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

sys.setrecursionlimit(100_000)

TARGET = re.compile(r"\b([0-9a-f]+) <")
# x86-64 and 64-bit Arm
BRANCH = re.compile(r"j[a-z]+|b\.[a-z]+|cbn?z|tbn?z|loop[a-z]*")
JUMP = re.compile(r"jmp|b|br")
LEAVE = re.compile(r"ret[a-z]*|ud2|hlt|udf|brk")


class Instruction(NamedTuple):
    address: int
    name: str
    operands: str


def successors(code: list[Instruction]) -> dict[int, list[int]]:
    """The pieces of a function by their first addresses, and where each may go on."""
    addresses = {instruction.address for instruction in code}
    starts = {code[0].address}
    leaving: dict[int, list[int]] = {}  # what ends a piece, and where it leads
    for instruction, following in zip(code, [*code[1:], None]):
        after = [following.address] if following else []
        match = TARGET.search(instruction.operands)
        there = [int(match[1], 16)] if match and int(match[1], 16) in addresses else []
        if LEAVE.fullmatch(instruction.name):
            leaving[instruction.address] = []
        elif JUMP.fullmatch(instruction.name):
            leaving[instruction.address] = there
        elif BRANCH.fullmatch(instruction.name):
            leaving[instruction.address] = there + after
        else:
            continue
        starts.update(there, after)
    ordered, edges = sorted(starts), {}
    for start, end in zip(ordered, [*ordered[1:], code[-1].address + 1]):
        edges[start] = [end] if end in starts else []
    for address, leads in leaving.items():
        edges[ordered[bisect_right(ordered, address) - 1]] = leads
    return edges


def order(edges: dict[int, list[int]]) -> list[int]:
    """The pieces' first addresses in a weak topological order."""
    return in_order(sorted(edges), set(edges), edges)


def in_order(roots: list[int], nodes: set[int], edges: dict[int, list[int]]) -> list[int]:
    """Orders `nodes`: component after component, and within each its entry and then the rest."""
    result: list[int] = []
    for head, *rest in components(roots, nodes, edges):
        result.append(head)
        if rest:
            result += in_order([*sorted(edges[head]), *sorted(rest)], set(rest), edges)
    return result


def loops(edges: dict[int, list[int]]) -> list[set[int]]:
    """The pieces of each loop; a loop within a loop is part of the outer one."""
    return [set(component) for component in components(sorted(edges), set(edges), edges)
            if len(component) > 1 or component[0] in edges[component[0]]]


def loop_tests(loop: set[int], edges: dict[int, list[int]]) -> set[int]:
    """Pieces that decide whether a loop goes on."""
    return {piece for piece in loop if len(edges[piece]) > 1 and not loop.issuperset(edges[piece])}


def condensed(edges: dict[int, list[int]], kept: set[int]) -> dict[int, set[int]]:
    """The same with some of the pieces only, and through the others to the next of these; 0 is the function's end."""
    found: dict[int, set[int]] = {}
    for piece in kept:
        ways, seen, waiting = set(), set(), list(edges[piece]) or [0]
        while waiting:
            way = waiting.pop()
            if way == 0 or way in kept:
                ways.add(way)
            elif way not in seen:
                seen.add(way)
                waiting += edges[way] or [0]
        found[piece] = ways
    return found


def decided(edges: dict[int, set[int]]) -> dict[int, set[int]]:
    """For each branch the pieces that run or not as it decides; a loop's test, and only such a branch, is one itself."""
    certain = on_every_way(edges)
    found: dict[int, set[int]] = {}
    for piece, ways in edges.items():
        if len(ways) > 1:
            joins = certain[piece] - {piece}
            goes_on = [piece in reached([way], edges, joins) for way in ways]
            found[piece] = reached(ways, edges, joins | {piece} if all(goes_on) else joins)
    return found


def reached(ways: Iterable[int], edges: dict[int, set[int]], without: set[int]) -> set[int]:
    """What can follow these pieces, themselves among it, without passing some others."""
    found: set[int] = set()
    waiting = list(ways)
    while waiting:
        way = waiting.pop()
        if way in edges and way not in found and way not in without:
            found.add(way)
            waiting += edges[way]
    return found


def on_every_way(edges: dict[int, set[int]]) -> dict[int, set[int]]:
    """For each piece those that every way from it to the function's end passes, itself among them."""
    found = {piece: {*edges, 0} for piece in edges} | {0: {0}}
    changed = True
    while changed:
        changed = False
        for piece in sorted(edges, reverse=True):
            passed = {piece} | set.intersection(*(found[way] for way in edges[piece]))
            changed = changed or passed != found[piece]
            found[piece] = passed
    return found


def components(roots: list[int], nodes: set[int], edges: dict[int, list[int]]) -> list[list[int]]:
    """What is strongly connected (Tarjan, 1972), in topological order; each with its entry first."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    waiting: set[int] = set()
    found: list[list[int]] = []

    def visit(node: int) -> None:
        number[node] = low[node] = len(number)
        stack.append(node)
        waiting.add(node)
        for following in sorted((one for one in edges[node] if one in nodes), reverse=True):
            if following not in number:
                visit(following)
                low[node] = min(low[node], low[following])
            elif following in waiting:
                low[node] = min(low[node], number[following])
        if low[node] == number[node]:
            component = stack[stack.index(node):]
            del stack[-len(component):]
            waiting.difference_update(component)
            found.append(component)

    for root in roots:
        if root in nodes and root not in number:
            visit(root)
    return found[::-1]
