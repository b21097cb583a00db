"""The pages in docs/, the handouts and README.md: links lead somewhere, what one page says of another holds,
and the commands of the handouts work."""

import ast
import re
import shlex

import pytest

import farm
from farm import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("labs/*/README.md"))]


def headings(page):
    """Of a Markdown page, those in code apart."""
    text = re.sub(r"^(```+).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"^#+ (.*)$", text, re.MULTILINE)


def anchors(page):
    """As GitHub makes them of headings."""
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings(page)}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page):
    text = re.sub(r"^(```+).*?^\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if link.startswith(("http:", "https:")):
            continue
        assert target.exists(), f"{link}: there is no such file"
        assert not anchor or target.suffix != ".md" or anchor in anchors(target), f"{link}: there is no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_formulas_in_a_line(page):
    """Markdown takes the backslash before a sign for its own, and a dollar alone for the beginning of a formula."""
    text = re.sub(r"^( *```+).*?^\1|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for line in text.splitlines():
        assert line.count("$") % 2 == 0, line
        for formula in re.findall(r"\$[^$]*\$", line):
            assert not re.search(r"\\[^a-zA-Z]", formula) and formula == f"${formula.strip('$ ')}$", formula


def test_the_syllabus_names_sections_and_questions_that_are_there():
    text = (ROOT / "docs/syllabus.md").read_text(encoding="utf-8")
    first, second = text.split("## Week by week")
    labs = {week: re.findall(r"\[(\d\d)\]", row) for week, row in re.findall(r"^\| (\d+) \|(.*)$", first, re.MULTILINE)}
    weeks = re.findall(r"^\| (\d+) \|(.*)$", second, re.MULTILINE)
    assert [week for week, _ in weeks] == list(labs) == [str(week) for week in range(1, 15)]
    assert set(sum(labs.values(), [])) <= {path.name[:2] for path in ROOT.glob("labs/[0-9]*")}
    for week, row in weeks:
        handouts = [next(ROOT.glob(f"labs/{lab}_*/README.md")) for lab in labs[week]]
        known = {heading for handout in handouts for heading in headings(handout)}
        for section in re.findall(r"\*([^*]+)\*", row):
            assert section in known, f"week {week}: no handout has a section {section!r}"


def test_the_glossary_is_in_order():
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|", (ROOT / "docs/glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    terms = [english.lower() for english, _ in rows[2:]]
    assert terms == sorted(terms) and len(set(terms)) == len(terms) > 60


def newer_than_3_10(text):
    """The lines of what only a later Python reads: a star in an index, except*."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, getattr(ast, "TryStar", ())):
            yield node.lineno
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple) and any(isinstance(part, ast.Starred) for part in node.slice.elts):
            if not ast.get_source_segment(text, node.slice).startswith("("):
                yield node.lineno


def test_python_3_10_is_enough_as_set_up_says():
    assert list(newer_than_3_10("f[1, 2]\nf[1, *x]\nf[(1, *x)]\n")) == [2]
    files = [path for folder in ("common", "data", "labs", "tests") for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 100
    assert {str(path): found for path in files if (found := list(newer_than_3_10(path.read_text(encoding="utf-8"))))} == {}


@pytest.mark.parametrize("lab", farm.labs())
def test_a_handout_begins_with_what_to_do(lab):
    page = ROOT / "labs" / lab / "README.md"
    assert headings(page)[1] == "What to do"
    assert f"`make hint LAB={lab[:2]}`" in page.read_text(encoding="utf-8")


# What a handout says to type, with the program called at once and large sizes made small.

LARGEST = {"--elements": 50_000, "--height": 300, "--width": 300, "--size": 200, "--points": 2000, "--n": 100,
           "--grid": 100, "--limit": 300, "--repeat": 10, "--nodes": 200, "worst-case": 8, "copies": 10, "--radius": 9}
WRITES = {"--output", "--picture", "--csv"}


def commands(lab):
    """(variables, words of ARGS) of each `make run` of this lab that the handout shows."""
    pages = ROOT / "labs" / lab / "README.md", ROOT / "docs/results" / lab / "README.md"
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages if page.exists())
    lines = re.findall(r"^(?:\$ )?((?:[A-Z_]+=\S+ )*make run LAB=.*)$", text, re.MULTILINE)
    for line in dict.fromkeys([*lines, *re.findall(r"`(make run LAB=[^`]*)`", text)]):
        words = shlex.split(line.partition(" | ")[0].partition(" > ")[0], comments=True)
        variables = dict(word.partition("=")[::2] for word in words if "=" in word)
        if variables["LAB"] == lab[:2] and variables.get("BACKEND", farm.BACKEND) == farm.BACKEND:
            yield variables, shlex.split(variables.pop("ARGS", ""))


def smaller(lab, words):
    """The same command with little to do."""
    makefile = (ROOT / "labs" / lab / "Makefile").read_text(encoding="utf-8")
    sizes = {name: lists.partition(" -- ")[0].rstrip("\\ ")  # the first of several runs
             for name, lists in re.findall(r"^LAB_(SMALL|EXPLAIN) := (.*)$", makefile, re.MULTILINE)}
    if not words:
        return shlex.split(sizes.get("SMALL") or sizes.get("EXPLAIN", ""))
    small = shlex.split(sizes.get("SMALL", ""))
    if not {*LARGEST, "--input", "--demo"} & {*words} and {*small[::2]} <= {*LARGEST}:  # sizes of the lab as a whole
        return [*words, *small]
    words = list(words)
    for place, word in enumerate(words[1:], 1):
        number = re.fullmatch(r"(\d+)([KMG]i)?", word)
        most = LARGEST.get(words[place - 1])
        if number and most and (number[2] or int(number[1]) > most):
            words[place] = str(most)
    return words


def files_that_are_read(words):
    return [word for before, word in zip(["", *words], words)
            if re.search(r"\.(png|jpe?g|npy|txt|mtx|csv)$", word) and before not in WRITES]


def type_what_a_handout_says(lab):
    """Exercise and solution, as handed out: no file is missing, and given code is not led astray by a stub."""
    folder = farm.SESSION / "handouts" / lab
    folder.mkdir(parents=True)
    (folder / "data").symlink_to(ROOT / "data")
    (folder / "build").mkdir()
    shown = list(commands(lab))
    assert shown, "the handout shows no command that runs the lab"
    for variables, words in shown:
        environment = {name: value for name, value in variables.items() if name.startswith("CUDA_")}
        missing = [word for word in files_that_are_read(words) if not (folder / word).exists()]
        assert not missing, f"{words}: {missing} is not in the course"
        words = smaller(lab, words)
        for kind in ("solutions",) if {"SOLUTION", "FURTHER"} & {*variables} else ("solutions", "exercises"):
            built = farm.call(farm.compile_lab, lab, kind, None)
            assert built, built.output
            result = farm.run(built.program, *words, env=environment, cwd=folder)
            said = f"{kind} {' '.join(words)}: status {result.returncode}\n{result.stdout[-500:]}{result.stderr}"
            allowed = (0, 77) if kind == "solutions" else (0, 1, 77)
            if "--demo" in words:  # shows what goes wrong
                allowed = (0, 1, 77)
            assert result.returncode in allowed, said
            # CHECK(...) writes `call` behind the place; what stops a kernel, or the host, does not.
            stopped = re.search(r"^\S+\.(cu|cuh|h):\d+: [^`]", result.stderr, re.MULTILINE)
            assert not stopped or "--demo" in words, said


@pytest.mark.parametrize("lab", [pytest.param(lab, marks=pytest.mark.ahead(type_what_a_handout_says, lab)) for lab in farm.labs()])
def test_what_a_handout_says_to_type_works(lab):
    farm.call(type_what_a_handout_says, lab)
