"""make book: a site without a warning, faults that stop it, and what a reader meets in a browser.

Sphinx is installed by `make book` alone, so where nobody has called it these tests are skipped."""

import functools
import html
import http.server
import os
import re
import resource
import shutil
import subprocess
import sys
import threading

import pytest

import browser
import farm
from book import __main__ as book
from book import labs, repository
from checker import exercises
from farm import ROOT

PYTHON = book.PLACE / "python/bin/python"
pytestmark = pytest.mark.skipif(not PYTHON.exists(), reason="Sphinx is not installed here: make book installs it")
in_browser = pytest.mark.skipif(bool(browser.missing()), reason=browser.missing())
SIZES = ((1280, 900), (390, 844))
PAGES = ("index.html", "labs/03_vector_add/README.html", "labs/10_synchronization/README.html", "labs/15_lagrange_interpolation/README.html",
         "docs/results.html", "docs/glossary.html", "docs/teaching.html")

# Each text with less contrast to what lies behind it than WCAG asks for, 4.5, or 3 where it is large.
CONTRAST = """
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const colour = text => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = text; canvas.fillRect(0, 0, 1, 1); return [...canvas.getImageData(0, 0, 1, 1).data]; };
const light = c => { const [r, g, b] = c.slice(0, 3).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
                     return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const behind = element => { for (; element; element = element.parentElement) { const c = colour(getComputedStyle(element).backgroundColor); if (c[3] > 250) return c; }
                            return [255, 255, 255, 255]; };
const bad = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (texts.nextNode()) {
    const element = texts.currentNode.parentElement, style = getComputedStyle(element), box = element.getBoundingClientRect();
    if (!texts.currentNode.data.trim() || !box.width || !box.height || style.visibility === "hidden" || style.opacity === "0" || element.closest("svg")) continue;
    const a = light(colour(style.color)), b = light(behind(element)), size = parseFloat(style.fontSize);
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < (size >= 24 || size >= 18.66 && style.fontWeight >= 700 ? 3 : 4.5))
        bad.add(`${element.tagName}.${element.className} ${style.color} ${ratio.toFixed(2)} ${texts.currentNode.data.trim().slice(0, 30)}`);
}
return [...bad].slice(0, 10);
"""


@pytest.fixture(scope="module")
def site():
    """The site, built from nothing."""
    place = farm.SESSION / "book"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    book.build(place / "site", place / "pages")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    # Of a processor, since other tests run beside this one.
    assert after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime < 60
    return place / "site"


@pytest.fixture(scope="module")
def address(site):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_each_page_of_the_course_is_there(site):
    for path in (*ROOT.glob("docs/**/*.md"), *ROOT.glob("labs/*/README.md")):
        assert (site / path.relative_to(ROOT)).with_suffix(".html").is_file(), path
    start = (site / "index.html").read_text()
    assert all(f"labs/{lab}/README.html" in start for lab in farm.labs())


@pytest.fixture
def broken(tmp_path):
    """A copy of the course in a folder with a name of all kinds, and what builds it."""
    tmp_path /= "a [b] 'c' \"d\" & e"
    tmp_path.mkdir()
    for name in ("common", "docs", "labs", "solutions"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "README.md", tmp_path)
    for name in ("data", "build"):
        (tmp_path / name).symlink_to(ROOT / name)

    def build() -> subprocess.CompletedProcess:
        words = [str(PYTHON), "-B", "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-c", str(tmp_path / "common/book"), str(tmp_path), str(tmp_path / "site")]
        return subprocess.run(words, text=True, capture_output=True, check=False,
                              env={**os.environ, "COURSE_PYTHON": sys.executable, "PYTHONPATH": str(tmp_path / "common")})
    return tmp_path, build


def test_a_fault_in_a_page_stops_the_build(broken):
    folder, build = broken
    faults = {"labs/03_vector_add/README.md": "\n[x](../../docs/nowhere.md)\n", "labs/04_matrix_add/README.md": "\n![x](pictures/nowhere.png)\n",
              "docs/setup.md": "\n[x](cpu-mode.md#no-such-heading)\n", "labs/05_rgb_to_gray/README.md": '\n<p><a href="../../docs/setup.md">x</a></p>\n',
              "labs/06_image_flip/README.md": '\n[x][way] and [all](../ "of them")\n\n[way]: no-way.md\n',
              "labs/07_image_blur/README.md": "\n<p><IMG alt='' SRC=pictures/x.svg></p>\n", "docs/new.md": "# A page that nothing leads to\n"}
    for name, text in faults.items():
        with open(folder / name, "a") as file:
            file.write(text)
    result = build()
    assert result.returncode != 0
    for said in (r"labs/03_vector_add/README.md:\d+:.*nowhere", r"labs/04_matrix_add/README.md:\d+:.*nowhere.png",
                 r"docs/setup.md:\d+:.*no-such-heading", r"labs/05_rgb_to_gray/README.md:\d+:.*\.\./\.\./docs/setup.md stands in HTML",
                 r"labs/06_image_flip/README.md:\d+:.*no-way", r"labs/07_image_blur/README.md:\d+:.*pictures/x.svg stands in HTML", r"docs/new.md: WARNING: document isn't included"):
        assert re.search(said, result.stderr), result.stderr
    assert "'../'" not in result.stderr  # a folder that is there


def test_a_lab_without_hints_is_named(broken):
    folder, build = broken
    (folder / "labs/05_rgb_to_gray/hints.md").unlink()
    said = build().stderr
    assert "cannot read" in said and "labs/05_rgb_to_gray/hints.md: No such file" in said and "Traceback" not in said and "report" not in said


@pytest.mark.parametrize("text, address", [
    ("https://github.com/o/c.git/", "https://github.com/o/c"), ("git@github.com:o/c.git\n", "https://github.com/o/c"),
    ("https://gitlab.com/group/below/c", "https://gitlab.com/group/below/c"), ("https://git.university.edu/o/c", ""),
    ("https://name:word@github.com/o/c", ""), ('https://github.com/o/c"><script>', ""), ("https://", ""), ("/a/folder", "")])
def test_where_the_course_is_published(text, address):
    assert repository.address_of(text) == address


@pytest.mark.parametrize("words, settings, said", [
    ([], {"REPOSITORY": "nonsense"}, "nonsense is none"), (["--port", "70000"], {}, "not 70000"), (["--port", "0"], {}, "not 0")])
def test_mistakes_are_sentences(words, settings, said):
    result = subprocess.run([sys.executable, "-B", "-m", "book", *words], text=True, capture_output=True, check=False,
                            env={**os.environ, **settings, "PYTHONPATH": str(ROOT / "common")})
    assert result.returncode == 2 and said in result.stderr and "Traceback" not in result.stderr


def test_a_pdf_without_a_browser_is_refused_before_the_build(monkeypatch, capsys):
    monkeypatch.setattr(book, "BROWSERS", ("no-such-browser", "", "nor-this"))
    monkeypatch.setattr(book, "build", lambda: pytest.fail("built"))
    monkeypatch.setattr(sys, "argv", ["book", "--pdf"])
    assert book.main() == 1 and "none is installed" in capsys.readouterr().err


@pytest.mark.parametrize("lab", farm.labs())
def test_a_labs_page_has_its_exercise_and_marks_what_to_write(site, lab):
    page = (site / f"labs/{lab}/README.html").read_text()
    blocks = re.findall(r'<details class="source"><summary><code>(.*?)</code>.*?<pre>(.*?)</pre>', page, re.DOTALL)
    files = exercises.exercise_files(ROOT / "solutions" / lab)
    assert [name for name, _ in blocks] == list(files)
    for name, block in blocks:
        plain = html.unescape(re.sub(r'<span class="linenos">.*?</span>|<[^>]+>', "", block))
        assert plain.strip() == files[name].strip()
        marked = "".join(re.findall(r'<span class="hll">(.*?)\n</span>', block, re.DOTALL))
        assert marked.count("TODO") >= plain.count("// TODO")


@pytest.mark.parametrize("lab", farm.labs())
def test_links_lead_to_places_that_are_there(site, lab):
    """Those that the book adds, too: terms, results, replays."""
    page = site / f"labs/{lab}/README.html"
    for link in re.findall(r'(?:href|src)="([^"]+)"', page.read_text()):
        path, _, anchor = html.unescape(link).partition("#")
        if path.startswith(("http", "data:")):
            continue
        target = (page.parent / path.partition("?")[0]).resolve() if path else page
        assert target.exists(), link
        assert not anchor or target.suffix != ".html" or "replays" in path or f'id="{anchor}"' in target.read_text(), link


@in_browser
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_pages_in_a_browser(address, size):
    with browser.window(*size) as chromium:
        for page in PAGES:
            chromium.open(f"{address}/{page}")
            chromium.run("for (const one of document.querySelectorAll('details')) one.open = true")
            chromium.run("window.scrollTo(0, document.body.scrollHeight)")
            assert chromium.console() == [], page
            width, room = chromium.run("return [document.documentElement.scrollWidth, innerWidth]")
            assert width <= room, page
            for theme in ("light", "dark"):
                chromium.run(f"document.body.dataset.theme = '{theme}'")
                assert chromium.run(CONTRAST) == [], (page, theme)


@in_browser
def test_formulas_are_set(address):
    with browser.window(1280, 900) as chromium:
        for lab in farm.labs():
            chromium.open(f"{address}/labs/{lab}/README.html")
            wanted, found, wrong = chromium.run("return ['.math', '.math .katex', '.katex-error'].map(what => document.querySelectorAll(what).length)")
            assert wanted == found and wrong == 0, lab
            assert chromium.console() == []


@in_browser
def test_hints_show_one_at_a_time(address):
    with browser.window(390, 844) as chromium:
        chromium.open(f"{address}/labs/03_vector_add/README.html")
        shown = "return [...document.querySelectorAll('.hints')[0].querySelectorAll('details')].filter(one => one.checkVisibility()).length"
        assert chromium.run(shown) == 1
        chromium.run("document.querySelector('.hints summary').click()")
        assert chromium.run(shown) == 2


@in_browser
@pytest.mark.parametrize("word, page", [("divergence", "labs/09_warp_divergence/README.html"), ("bubblewrap", "docs/teaching.html")])
@pytest.mark.parametrize("served", [True, False], ids=["served", "from a folder"])
def test_search(site, address, word, page, served):
    with browser.window(390, 844) as chromium:
        chromium.open(f"{address if served else site.as_uri()}/search.html?q={word}")
        chromium.wait("document.querySelectorAll('#search-results li').length > 0")
        chromium.wait(f"[...document.querySelectorAll('#search-results a')].some(link => link.href.includes('{page}'))")
        assert chromium.console() == []


@in_browser
def test_words_and_drawings_stay_whole(site):
    """On a telephone a heading's words; in a line the words of a command; in print the lines of drawings, but those that the paper is too narrow for."""
    with browser.window(390, 844) as chromium:
        for lab in farm.labs():
            chromium.open((site / f"labs/{lab}/README.html").as_uri())
            assert chromium.run("""return [...document.querySelectorAll("h1")].flatMap(one => [...one.firstChild.data.matchAll(/\\S+/g)].filter(word => {
                const range = document.createRange();
                range.setStart(one.firstChild, word.index);
                range.setEnd(one.firstChild, word.index + word[0].length);
                return range.getClientRects().length > 1; })).map(String)""") == [], lab
        chromium.open((site / "labs/03_vector_add/README.html").as_uri())
        assert chromium.run("return [...document.querySelectorAll('code .pre')].filter(one => one.textContent.length < 20 && one.offsetHeight > 30).map(one => one.textContent)") == []
    with browser.window(673, 900) as chromium:  # 178 mm
        chromium.open((site / "labs/03_vector_add/README.html").as_uri())
        chromium.command("Emulation.setEmulatedMedia", media="print")
        assert chromium.run("""return [...document.querySelectorAll(".highlight pre")].filter(one => one.checkVisibility()).filter(one => {
            const lines = one.textContent.trimEnd().split("\\n"), style = getComputedStyle(one);
            return Math.max(...lines.map(line => line.length)) < 110 && one.clientHeight > (lines.length + 1) * parseFloat(style.lineHeight) + 2 * parseFloat(style.paddingTop);
        }).map(one => one.textContent)""") == []


@in_browser
def test_a_lab_is_printed(site, tmp_path):
    book.print_labs(["03_vector_add"], site, tmp_path)
    text = (tmp_path / "03_vector_add.pdf").read_bytes()
    assert text.startswith(b"%PDF-") and 3 < len(re.findall(rb"/Type\s*/Page\b", text)) < 20


def test_replays_are_shown_where_they_are_built(tmp_path, monkeypatch):
    monkeypatch.setattr(labs, "REPLAYS", tmp_path)
    assert labs.replays("10_synchronization") == ""
    (tmp_path / "10_race.html").touch()
    text = labs.replays("10_synchronization")
    assert text.count("<iframe") == 1 and 'src="../../replays/10_race.html"' in text
