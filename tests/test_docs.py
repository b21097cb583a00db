"""The pages in docs/, the handouts and README.md: links lead somewhere, and what one page says of another holds."""

import re

import pytest

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
