"""What the book adds to the pages that lie in the course: their order, to each lab what labs.py has for it, links to the
glossary. An extension of Sphinx; nothing of it is written anywhere but into the site.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

logger = logging.getLogger(__name__)
ROOT = Path(__file__).resolve().parents[2]
REPLAYS = ROOT / "build/replays"
PATTERNS = ["README.md", "docs/**.md", "labs/*/README.md"]
ORDER = {  # caption -> pages; one that stands nowhere stops the build
    "Start here": ["docs/setup", "docs/troubleshooting"],
    "Labs": sorted(f"labs/{path.parent.name}/README" for path in ROOT.glob("labs/*/README.md")),
    "Tools": ["docs/cpu-mode", "docs/sanitize", "docs/explain", "docs/explain-against-ncu", "docs/replay", "docs/profiling", "docs/book"],
    "Teaching": ["docs/syllabus", "docs/teaching", "docs/glossary"],
    "Results": ["docs/results", *sorted(f"docs/{path.stem}" for path in ROOT.glob("docs/notes-*.md"))],
}
GLOSSARY = "docs/glossary"


def contents(caption: str, pages: list[str]) -> str:
    lines = "\n".join(f"/{page}" for page in pages)
    return f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{lines}\n```\n"


def read_labs(app) -> None:
    """What stands below each handout: by the course's Python, since Sphinx's lacks what the checkers need."""
    words = [os.environ.get("COURSE_PYTHON", sys.executable), "-B", "-m", "book.labs"]
    result = subprocess.run(words, env={**os.environ, "PYTHONPATH": str(ROOT / "common")}, check=False, stdout=subprocess.PIPE)
    if result.returncode != 0:
        sys.exit(1)  # it has said why; of an exception Sphinx makes a report of itself
    app.labs = json.loads(result.stdout)


def changed(app, env, *_) -> list[str]:
    """The labs' pages to which something else belongs than at the last build."""
    before, env.labs = getattr(env, "labs", {}), app.labs
    return [f"labs/{lab}/README" for lab, text in app.labs.items() if before.get(lab) != text]


LANGUAGES = {"console": r"\$ ", "cuda": r"//|#(include|pragma) |__global__|if \(|(static )?const \w", "python": r'"""|(from|import) \w'}


def coloured(text: str) -> str:
    """With a language for what stands between fences without one, by its first line; most is what a terminal shows."""
    lines, fence = text.split("\n"), ""
    for number, line in enumerate(lines):
        mark = re.match(r" *(`{3,})", line)
        if fence:
            fence = "" if line.strip() == fence else fence
        elif mark:
            fence = mark[1]
            if line.strip() == "```":
                lines[number] += next((name for name, begin in LANGUAGES.items() if re.match(rf" *({begin})", lines[number + 1])), "")
    return "\n".join(lines)


def add(app, docname: str, source: list[str]) -> None:
    """At the end of a page, what belongs to it."""
    text = coloured(source[0]).replace("```math\n", "```{math}\n")
    text = LINK.sub(lambda match: leads_out(app, docname, match), text)
    if docname == app.config.root_doc:
        text += "\n\n" + "\n".join(contents(caption, pages) for caption, pages in ORDER.items())
    elif re.fullmatch(r"docs/results/\d\d_\w+/results", docname):  # tables, by make bench
        text = f"# Lab {docname.split('/')[2][:2]}: all figures\n\n{text}"
    elif docname.startswith("labs/"):
        lab = docname.split("/")[1]
        text += f"\n\n{app.labs[lab]}"
    source[0] = text


LEFT_OUT = ("solutions/", "tests/")  # of a copy for students
LINK = re.compile(r"""(?<!!)\[([^\]]*)\]\(<?([^)#:\s<>]+)>?(?:\s+(?:"[^"]*"|'[^']*'))?\)""")
HTML_LINK = re.compile(r"""<(?:a|img|source|video|iframe)\b[^>]*?\s(?:href|src|srcset)\s*=\s*["']?(?!https?:|mailto:)([^"'\s>]*)""", re.IGNORECASE)


def leads_out(app, docname: str, match: re.Match) -> str:
    """A link to a folder, or to Markdown that is no page, leads into the published course, or nowhere if that is not known."""
    path = Path(os.path.normpath((ROOT / docname).parent / match[2]))
    name = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else ""
    if name.startswith(LEFT_OUT) and not (ROOT / name.partition("/")[0]).exists():
        return match[1]
    if not (path.is_dir() or path.suffix == ".md" and path.is_file() and name.removesuffix(".md") not in app.env.found_docs):
        return match[0]
    published = app.config.published
    return f"[{match[1]}]({published}/{'tree' if path.is_dir() else 'blob'}/{app.config.branch}/{name})" if published else match[1]


def terms() -> dict[str, tuple[str, str]]:
    """Each English term of the glossary in small letters -> its row's name, and what it means."""
    found = {}
    rows = re.findall(r"^\| ([^|]+) \| [^|]+ \| ([^|]+) \|", (ROOT / f"{GLOSSARY}.md").read_text(encoding="utf-8"), re.MULTILINE)
    for row, meaning in rows[1:]:
        for term in row.split(", "):
            found[term.strip("`").lower()] = (nodes.make_id(f"term {row}"), meaning.replace("`", ""))
    return found


def refuse_html_links(app, doctree) -> None:
    """Says it where HTML on a page leads to a page, a heading or a picture: nobody looks whether it is there, nor copies it."""
    for node in doctree.findall(nodes.raw):
        for link in HTML_LINK.findall(node.astext()):
            if not link.startswith(f"../../{REPLAYS.name}/"):  # those that labs.py has put there
                logger.warning("%s stands in HTML: write it in Markdown, as [text](%s) or ![text](%s)", link, link, link, location=node)


PROSE = (nodes.paragraph, nodes.emphasis, nodes.strong)


def link_terms(app, doctree) -> None:
    """In a handout the first time that a term of the glossary comes up leads there; in the glossary each row has a name."""
    docname = app.env.docname
    if docname == GLOSSARY:
        for row in doctree.findall(nodes.row):
            row["ids"].append(nodes.make_id(f"term {row[0].astext()}"))
    if not docname.startswith("labs/"):
        return
    known = terms()
    pattern = re.compile(r"\b(%s)(?:s|es)?\b" % "|".join(sorted(map(re.escape, known), key=len, reverse=True)), re.IGNORECASE)
    linked = set()
    for text in list(doctree.findall(nodes.Text)):
        if not isinstance(text.parent, PROSE) or in_link(text):
            continue
        parts, end = [], 0
        for match in pattern.finditer(text.astext()):
            name, meaning = known[match[1].lower()]
            if name in linked:
                continue
            linked.add(name)
            parts += [nodes.Text(text[end:match.start()]),
                      nodes.reference("", match[0], refuri=f"../../{GLOSSARY}.html#{name}", reftitle=meaning, classes=["term"])]
            end = match.end()
        if parts:
            text.parent.replace(text, [*parts, nodes.Text(text[end:])])


def in_link(node) -> bool:
    while node is not None:
        if isinstance(node, (nodes.reference, nodes.title, addnodes.pending_xref, addnodes.download_reference)):
            return True
        node = node.parent
    return False


def katex() -> Path:
    """The folder in which the system has KaTeX."""
    for folder in (os.environ.get("KATEX"), "/usr/share/javascript/katex", ROOT / "build/packages/usr/share/javascript/katex"):
        if folder and (Path(folder) / "katex.min.js").is_file():
            return Path(folder)
    sys.exit("make book: KaTeX, which sets the formulas, is not installed (libjs-katex); KATEX=folder says where it is")


START = """
const style = document.createElement("link");
style.rel = "stylesheet";
style.href = new URL("katex.min.css", document.currentScript.src);
document.head.append(style);
for (const formula of document.querySelectorAll(".math")) renderMathInElement(formula);
"""


def copy_along(app, error) -> None:
    """What the pages load: KaTeX and the replays. And the first page under the name that servers ask for."""
    if error:
        return
    site, place = Path(app.outdir), katex()
    target = site / "_static/katex"
    (target / "fonts").mkdir(parents=True, exist_ok=True)
    script = next(path for path in (place / "contrib/auto-render.min.js", place / "contrib/auto-render.js") if path.is_file())
    (target / "formulas.js").write_text("\n".join([(place / "katex.min.js").read_text(), script.read_text(), START]))
    shutil.copy(place / "katex.min.css", target)
    for font in place.glob("fonts/*.woff2"):
        shutil.copy(font, target / "fonts")
    for page in REPLAYS.glob("*.html"):
        (site / "replays").mkdir(exist_ok=True)
        shutil.copy(page, site / "replays")
    shutil.copy(site / f"{app.config.root_doc}.html", site / "index.html")


def setup(app) -> dict:
    app.add_config_value("published", "", "env")  # where the course's repository is to be seen
    app.add_config_value("branch", "main", "env")
    app.connect("builder-inited", read_labs)
    app.connect("env-get-outdated", changed)
    app.connect("source-read", add)
    app.connect("doctree-read", refuse_html_links)
    app.connect("doctree-read", link_terms)
    app.connect("build-finished", copy_along)
    return {"parallel_read_safe": True}
