"""Automata for the checker and the pictures: text, partitions and minimal automata, written in Python on their own.

Nothing here is taken from the program that is judged. Small automata are minimised by the table of
distinguishable pairs, larger ones by rounds of numpy.unique.
"""

from collections import deque
from dataclasses import dataclass

import numpy


@dataclass
class Automaton:
    """A complete automaton. next: (symbols, states); final: (states) of bool."""

    next: numpy.ndarray
    final: numpy.ndarray
    start: int
    names: list[str]

    @property
    def states(self):
        return len(self.final)

    def accepts(self, word):
        state = self.start
        for name in word:
            state = self.next[self.names.index(name), state]
        return bool(self.final[state])


def in_order(names):
    """Shorter names first, then by their bytes."""
    return sorted(names, key=lambda name: (len(name.encode()), name.encode()))


# Text


def parse(text):
    """start, {(source, symbol): target}, finals, names: what the lines say. Lines that are wrong raise ValueError."""
    start, transitions, finals = None, {}, []
    for line in text.splitlines():
        words = line.split()
        if not words:
            continue
        if len(words) not in (1, 3):
            raise ValueError(f"the line {line!r} has {len(words)} words")
        start = int(words[0]) if start is None else start
        if len(words) == 1:
            finals.append(int(words[0]))
        elif (int(words[0]), words[2]) in transitions:
            raise ValueError(f"two lines for state {words[0]} with {words[2]}")
        else:
            transitions[int(words[0]), words[2]] = int(words[1])
    if start is None:
        raise ValueError("no start state")
    return start, transitions, finals, in_order({name for _, name in transitions})


def completed(start, transitions, finals, names, loops=False):
    """Reachable states in the order of their numbers, and a sink behind them if something is missing."""
    leading = {}
    for (source, name), target in transitions.items():
        leading.setdefault(source, []).append((name, target))
    reached, waiting = {start}, [start]
    while waiting:
        for _, target in leading.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    number = {state: i for i, state in enumerate(sorted(reached))}
    missing = len(reached) * len(names) > sum(len(leading.get(state, ())) for state in reached)
    sink = missing and not loops
    states = len(reached) + sink
    next = numpy.tile(numpy.arange(states) if loops else numpy.full(states, states - 1), (len(names), 1))
    symbol = {name: i for i, name in enumerate(names)}
    for state in reached:
        for name, target in leading.get(state, ()):
            next[symbol[name], number[state]] = number[target]
    final = numpy.zeros(states, bool)
    final[[number[state] for state in finals if state in number]] = True
    return Automaton(next.astype(numpy.int64), final, number[start], list(names))


def read(text, loops=False):
    return completed(*parse(text), loops=loops)


def encode(automaton, without=()):
    """The text of an automaton whose start is state 0. Transitions into the states of `without` are left out."""
    lines = []
    for state in range(automaton.states):
        if state in without:
            continue
        lines += [f"{state}\t{target}\t{name}\n" for name, target in zip(automaton.names, automaton.next[:, state])
                  if target not in without]
        lines += [f"{state}\n"] if automaton.final[state] else []
    return "".join(lines)


# Partitions


def by_lowest(labels):
    """Classes numbered by their lowest state."""
    _, first, inverse = numpy.unique(labels, return_index=True, return_inverse=True)
    rank = numpy.empty(len(first), numpy.int64)
    rank[numpy.argsort(first)] = numpy.arange(len(first))
    return rank[inverse.reshape(-1)]


def by_pairs(automaton):
    """Two states differ if a letter leads them to states that differ; the table grows until it stands still."""
    differ = automaton.final[:, None] != automaton.final
    while True:
        before = differ.sum()
        for next in automaton.next:
            differ |= differ[next[:, None], next]
        if differ.sum() == before:
            return by_lowest((~differ).argmax(axis=1))


def by_rounds(automaton):
    """Rows of classes, made unique until a round finds no more of them. Returns classes and rounds."""
    classes, rounds = by_lowest(automaton.final), 0
    while True:
        rounds += 1
        key = classes
        for next in automaton.next:
            _, key = numpy.unique(key * automaton.states + classes[next], return_inverse=True)
            key = key.reshape(-1)
        if key.max(initial=0) == classes.max(initial=0):
            return by_lowest(key), rounds
        classes = key


def classes_of(automaton):
    return by_pairs(automaton) if automaton.states <= 70 else by_rounds(automaton)[0]


def minimal(automaton, classes=None):
    """The quotient, numbered by breadth from its start."""
    classes = classes_of(automaton) if classes is None else classes
    _, lowest = numpy.unique(classes, return_index=True)
    return by_breadth(Automaton(classes[automaton.next[:, lowest]], automaton.final[lowest],
                                int(classes[automaton.start]), automaton.names))


def by_breadth(automaton):
    order, number, waiting = [], {automaton.start: 0}, deque([automaton.start])
    rows = automaton.next.T.tolist()
    while waiting:
        state = waiting.popleft()
        order.append(state)
        for target in rows[state]:
            if target not in number:
                number[target] = len(number)
                waiting.append(target)
    rank = numpy.full(automaton.states, -1)
    rank[order] = numpy.arange(len(order))
    return Automaton(rank[automaton.next[:, order]], automaton.final[order], 0, automaton.names)


def difference(one, other):
    """A word that one accepts and the other does not, as a list of names, or None: the product automaton."""
    came, waiting = {(one.start, other.start): None}, deque([(one.start, other.start)])
    rows, other_rows = one.next.T.tolist(), other.next.T.tolist()
    while waiting:
        pair = waiting.popleft()
        if one.final[pair[0]] != other.final[pair[1]]:
            word = []
            while came[pair]:
                pair, name = came[pair]
                word.insert(0, name)
            return word
        for name, target in zip(one.names, zip(rows[pair[0]], other_rows[pair[1]])):
            if target not in came:
                came[target] = (pair, name)
                waiting.append(target)
    return None


# Small ones of every kind; each takes a numpy Generator and gives the text of a file


def text_of(random, transitions, finals, start=0):
    """Lines in any order, only that the start comes first; states get other numbers."""
    states = 1 + max([start, *finals, *(t for s, _, u in transitions for t in (s, u))])
    number = random.permutation(states)
    lines = [f"{number[s]} {number[t]} {name}" for s, name, t in transitions]
    lines += [f"{number[state]}" for state in finals]
    lines = [lines[i] for i in random.permutation(len(lines))]
    first = next((i for i, line in enumerate(lines) if line.split()[0] == str(number[start])), None)
    if first is None:  # the start has no line of its own: it becomes final
        return f"{number[start]}\n" + "".join(line + "\n" for line in lines)
    lines.insert(0, lines.pop(first))
    return "".join(line + "\n" for line in lines)


def random_one(random, most=12, symbols=None, missing=0.0, final=0.5):
    states = int(random.integers(1, most + 1))
    names = [chr(97 + i) for i in range(symbols or int(random.integers(1, 4)))]
    transitions = [(s, name, int(random.integers(states))) for s in range(states) for name in names
                   if random.random() >= missing]
    finals = [s for s in range(states) if random.random() < final]
    linked = {s for s, _, t in transitions for s in (s, t)} | {0}
    return text_of(random, transitions, [s for s in finals if s in linked])


def cycle(random):
    length = int(random.integers(1, 25))
    period = int(random.integers(1, 9))
    finals = [i for i in range(length) if i % period == 0 or random.random() < 0.1]
    return text_of(random, [(i, "a", (i + 1) % length) for i in range(length)], finals)


def chain(random):
    length = int(random.integers(1, 25))
    finals = [i for i in range(length + 1) if i == length or random.random() < 0.3]
    return text_of(random, [(i, "a", i + 1) for i in range(length)], finals)


def many_sinks(random):
    states, sinks = int(random.integers(1, 8)), int(random.integers(1, 8))
    transitions = [(s, name, int(random.integers(states + sinks))) for s in range(states) for name in "ab"]
    transitions += [(s, name, s) for s in range(states, states + sinks) for name in "ab"]
    return text_of(random, transitions, [s for s in range(states) if random.random() < 0.5])


def copied(random):
    states, count = int(random.integers(1, 6)), int(random.integers(2, 5))
    targets = random.integers(states, size=(states, 2))
    final = random.random(states) < 0.5
    transitions = [(c * states + s, name, int(random.integers(count)) * states + int(targets[s, i]))
                   for c in range(count) for s in range(states) for i, name in enumerate("ab")]
    return text_of(random, transitions, [c * states + s for c in range(count) for s in range(states) if final[s]])


def words(random):
    """The trie of some short words."""
    trie, transitions, finals = {"": 0}, [], set()
    for _ in range(int(random.integers(1, 12))):
        word = "".join(random.choice(list("abc"), int(random.integers(0, 6))))
        for i in range(len(word)):
            if word[:i + 1] not in trie:
                trie[word[:i + 1]] = len(trie)
                transitions.append((trie[word[:i]], word[i], trie[word[:i + 1]]))
        finals.add(trie[word])
    return text_of(random, transitions, sorted(finals))


KINDS = {
    "complete": lambda random: random_one(random),
    "incomplete": lambda random: random_one(random, missing=0.3),
    "mostly unreachable": lambda random: random_one(random, most=20, symbols=1),
    "all final": lambda random: random_one(random, final=1.0),
    "none final": lambda random: random_one(random, final=0.0),
    "one state": lambda random: random_one(random, most=1),
    "many letters, few states": lambda random: random_one(random, most=5, symbols=8),
    "almost all alike": lambda random: random_one(random, most=30, symbols=2, final=0.05),
    "unary cycle": cycle,
    "unary chain": chain,
    "many sinks": many_sinks,
    "copies": copied,
    "words": words,
}


def small_automata(random, count):
    """(kind, text) of as many automata, the kinds in turn."""
    kinds = list(KINDS.items())
    return [(kind, make(random)) for kind, make in (kinds[i % len(kinds)] for i in range(count))]


# Those that a key, a hash or a sort takes for what they are not


def crowded(random, count, classes, symbols):
    """So many states of each class, and they stand in any order: several of each in every segment of a sort. The first
    letter goes around through all states."""
    order = random.permutation(count * classes)
    members = order.reshape(count, classes)  # a column for each class
    targets, final = random.integers(classes, size=(classes, symbols)), random.random(classes) < 0.5
    lines = [f"{state} {target} a\n" for state, target in zip(order, numpy.roll(order, -1))]
    lines += [f"{state} {random.choice(members[:, targets[label, symbol]])} {chr(98 + symbol)}\n"
              for row in members for label, state in enumerate(row) for symbol in range(symbols)]
    return "".join(lines) + "".join(f"{state}\n" for state in members[:, final].ravel())


def many_classes():
    """98304 states, each a class of its own: numbers of classes and of slots need more than 16 bits, and the product of two
    of them more than 32. They are told apart in layers, a round each: from each of 97655 states the letters b and c lead to
    another pair of 382 states, and from these to pairs of 20, and so on. In sorted order those with one target by c are 256
    neighbours. So the targets of some pairs of states, which the letter a alone tells apart, differ by 65536 there. The
    letter d leads all to the last state, whose number is high."""
    sizes = [97655, 240, 382, 20, 5, 2]  # the states by layer; the second are those pairs, and the last are final or not
    first = numpy.cumsum([0, *sizes])
    states = first[-1]
    a, b, c = (numpy.full(states, states - 1) for _ in range(3))
    a[:sizes[0]] = numpy.arange(sizes[0]) + 1
    for layer, below, width in ((0, 2, 256), (2, 3, 20), (3, 4, 5), (4, 5, 2)):
        place = numpy.arange(sizes[layer])
        b[first[layer]:first[layer + 1]] = first[below] + place % width
        c[first[layer]:first[layer + 1]] = first[below] + place // width % sizes[below]
    a[first[4]:first[5] - 1] = first[5]
    place = numpy.arange(sizes[1])
    a[first[1]:first[2]] = place // 2 * 256 + place % 2 * 65536
    a[first[2]:first[2] + sizes[1]] = first[1] + place
    automaton = Automaton(numpy.stack([a, b, c, numpy.full(states, states - 1)]), numpy.arange(states) == first[5], 0, list("abcd"))
    lines = [f"{state} {row[0]} a\n{state} {row[1]} b\n{state} {row[2]} c\n{state} {row[3]} d\n"
             for state, row in enumerate(automaton.next.T.tolist())]
    return "".join(lines) + f"{first[5]}\n", automaton


def told_apart(word, other):
    """Three states in three classes. From 0 and from 1 some letters lead to the final state 2, and the others stay: `word`
    and `other` say which. Before the first round both are in class 0, and so these bits are their signatures."""
    lines = [f"{state} {2 if bit else state} x{letter:04}\n" for state, bits in enumerate((word, other))
             for letter, bit in enumerate(bits)]
    lines += [f"2 2 x{letter:04}\n" for letter in range(len(word))]
    return "0 1 y0000\n1 0 y0000\n2 2 y0000\n2\n" + "".join(lines)  # y leads from 0 to 1


def thue_morse():
    """Two words with equal sums, exclusive ors and polynomials modulo 2^64, whatever the factor: the sequence of Thue and
    Morse, and its complement. What shifts them out of a key is given room, before and behind."""
    word = numpy.array([0], bool)
    while len(word) < 1024:
        word = numpy.concatenate([word, ~word])
    room = numpy.zeros(64, bool)
    return numpy.concatenate([room, word, room]), numpy.concatenate([room, ~word, room])


# Keys of 32 bits that grow digit by digit: (at first, next, two words of 48 letters that have the same key). The words
# are those of 2^18 random ones that happened to agree.
KEYS = {
    "FNV-1": (2166136261, lambda key, digit: key * 16777619 ^ digit, 0x410c1369c359, 0x2d714df6a32),
    "FNV-1a": (2166136261, lambda key, digit: (key ^ digit) * 16777619, 0x5fc60e97c8ad, 0x425ee8baf1ec),
    "33 and ^": (5381, lambda key, digit: key * 33 ^ digit, 0x5f47e1b0a4b8, 0x7f2de9eb8057),
    "31 and ^": (0, lambda key, digit: key * 31 ^ digit, 0x5959531e2590, 0x74f60096442),
    "hash_combine of Boost": (0, lambda key, digit: key ^ digit + 0x9E3779B9 + (key << 6) + (key >> 2),
                              0x39a3990911a9, 0x6726d8bde3d3),
    "a shift and ^": (0, lambda key, digit: (mixed := (key ^ digit) * 0x85EBCA6B & 0xFFFFFFFF) ^ mixed >> 13,
                      0x21e3b3f812e, 0x23715084bc3f),
    "the golden ratio": (0, lambda key, digit: (key ^ digit) * 2654435761, 0x55b3d1750970, 0x2c6e71f6b55a),
}


def key_of(first, step, digits):
    key = first
    for digit in digits:
        key = step(key, digit) & 0xFFFFFFFF
    return key


def keys_that_lie():
    """(name of the key, text): unequal signatures of which a key says that they are equal."""
    yield "a sum, a polynomial, a shift", told_apart(*thue_morse())
    for name, (first, step, *words) in KEYS.items():
        words = [[word >> letter & 1 for letter in range(48)] for word in words]
        keys = [key_of(first, step, [0, *word, 0]) for word in words]  # the own class, the letters, and y
        assert keys[0] == keys[1] and words[0] != words[1], name
        yield name, told_apart(*words)
