"""What a lab's page has below its handout: hints, the exercise, replays, results. As JSON, lab -> Markdown, for pages.py,
which runs in Sphinx's own Python.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from checker import exercises
from checker.hint import read_tasks
from replay.moments import MOMENTS, PAGES as REPLAYS

ROOT = Path(__file__).resolve().parents[2]


def fenced(text: str, directive: str, *options: str) -> str:
    """A directive around a text, whatever fences stand in that."""
    fence = "`" * (3 + max((len(run) for run in re.findall("`+", text)), default=0))
    return "\n".join([f"{fence}{{{directive.partition(' ')[0]}}}{directive[len(directive.partition(' ')[0]):]}", *options, "", text.rstrip("\n"), fence, ""])


def folded(kind: str, summary: str, text: str) -> str:
    return f'<details class="{kind}"><summary>{summary}</summary>\n\n{text}\n\n</details>\n'


def hints(folder: Path) -> str:
    parts = ["## Hints\n", "The next one shows when you have opened the one before it.\n"]
    for task in read_tasks((folder / "hints.md").read_text(encoding="utf-8")):
        parts += [f"### {task.title}\n", '<div class="hints">\n']
        parts += [folded("hint", f"Hint {number}", hint) for number, hint in enumerate(task.hints, 1)]
        parts += ["</div>\n"]
    return "\n".join(parts)


def handed_out(lab: str) -> dict[str, str]:
    """The exercise's files; where there are no solutions, those of the learner."""
    if (ROOT / "solutions" / lab).is_dir():
        return exercises.exercise_files(ROOT / "solutions" / lab)
    return {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "labs" / lab).iterdir()) if path.suffix in exercises.SUFFIXES}


def lines_to_write(text: str) -> str:
    """The numbers of the lines that say what is to be written: a TODO, and the comment that goes on below it."""
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        inside = "// TODO" in line or inside and line.strip().startswith("//")
        found += [str(number)] * inside
    return ",".join(found)


def exercise(lab: str) -> str:
    parts = ["## The exercise\n", "As it is handed out; what is to be written is marked.\n"]
    for name, text in handed_out(lab).items():
        marked = lines_to_write(text)
        options = [":linenos:", *([f":emphasize-lines: {marked}"] if marked else [])]
        parts += [folded("source", f"<code>{name}</code>, {len(text.splitlines())} lines", fenced(text, "code-block cuda", *options))]
    return "\n".join(parts)


def replays(lab: str) -> str:
    """Those that `make replays` has built."""
    up = "../../replays"
    parts = []
    for moment in MOMENTS:
        if moment.lab == lab and (REPLAYS / f"{moment.name}.html").is_file():
            address = f"{up}/{moment.name}.html" + (f"#{moment.at}" if moment.at else "")
            parts += [f'### {moment.title}\n\n{moment.task} (<a href="{address}">On a page of its own</a>.)\n',
                      folded("replay", "Watch it here", f'<iframe class="replay" loading="lazy" title="{moment.title}" src="{address}"></iframe>')]
    return "\n".join(["## Replays\n", *parts]) if parts else ""


def results(lab: str) -> str:
    pages = [f"docs/results/{lab}/{path.stem}" for path in sorted((ROOT / "docs/results" / lab).glob("*.md"))]
    names = {"README": "What was measured, and what it means", "results": "All figures"}
    listed = "\n".join(f"/{page}" for page in pages)
    links = "\n".join(f"- [{names[page.rpartition('/')[2]]}](/{page}.md)" for page in pages)
    return f"## Results on a card\n\n{links}\n\n{fenced(listed, 'toctree', ':hidden:')}" if pages else ""


def page(lab: str) -> str:
    return "\n\n".join(filter(None, [hints(ROOT / "labs" / lab), exercise(lab), replays(lab), results(lab)]))


if __name__ == "__main__":
    try:
        print(json.dumps({path.parent.name: page(path.parent.name) for path in sorted(ROOT.glob("labs/*/README.md"))}))
    except OSError as error:
        sys.exit(f"make book: cannot read {error.filename}: {error.strerror}")
    except (exercises.MarkerError, UnicodeDecodeError) as mistake:
        sys.exit(f"make book: {mistake}")
