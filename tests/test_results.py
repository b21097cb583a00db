"""docs/results.md: what stands between its markers is what `make results` writes."""

import shutil
import subprocess
import sys

import pytest

from farm import ROOT

HEADING = "card,date,lab,variant,size,grid,block,milliseconds,GB/s,GFLOP/s,result\n"
BENCH = f"""import sys
sys.path.insert(0, {str(ROOT / "common")!r})
from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=["vendor"])
benchmark.bars("GB/s", title="speeds")
"""


def results(*words, course=ROOT):
    return subprocess.run([sys.executable, "-B", "-m", "checker.results", "--course", course, *words], text=True,
                          capture_output=True, cwd=ROOT / "common", check=False)


def rows(card="NVIDIA H200", day="2026-01-02", speed=2000):
    """A lab's CSV: two variants and the vendor's, at two sizes."""
    text = HEADING
    for size in ("8 x 8", "9 x 9"):
        for variant, time in (("copy", 0), ("naive", 2), ("fast", 0.5), ("wrong", 0.1), ("vendor", 1)):
            state = "wrong" if variant == "wrong" else "right"
            text += f"{card},{day}T03:04:05Z,blur,{variant},{size},1,32,{time},{speed / max(time, 1):g},{5 if time else 0},{state}\n"
    return text


@pytest.fixture
def course(folder):
    """A course with one measured lab, and a page that has only its markers."""
    (folder / "docs/results/17_new").mkdir(parents=True)
    (folder / "labs/17_new").mkdir(parents=True)
    (folder / "docs/results.md").write_text("before\n<!-- figures:begin -->\nold\n<!-- figures:end -->\nafter\n")
    (folder / "docs/results/17_new/results.csv").write_text(rows())
    (folder / "labs/17_new/bench.py").write_text(
        BENCH + 'benchmark.headline("^8 x", "eight")\nbenchmark.headline("^9", limit="float", against=["naive"])\nbenchmark.main()\n')
    return folder


def page(course):
    return (course / "docs/results.md").read_text()


def test_the_page_is_what_the_figures_say():
    result = results("--check")
    assert result.returncode == 0, result.stdout + result.stderr
    for name in ("bandwidth.svg", "ladders.svg", "notes.svg"):
        assert f"(results/{name})" in (ROOT / "docs/results.md").read_text() and (ROOT / "docs/results" / name).exists()


def test_a_new_lab_is_taken_up_by_itself(course):
    assert results("--check", course=course).returncode == 1 and "\nold\n" in page(course)
    result = results(course=course)
    assert result.returncode == 0, result.stderr
    text = page(course)
    assert text.startswith("before\n") and text.endswith("-->\nafter\n") and "\nold\n" not in text
    assert ("| [17 new](results/17_new/results.md) | eight | fast | 0.5000 ms, 2000 GB/s | 100.0 % of a copy | vendor 2 x "
            "| H200 | 2 Jan 2026 |") in text
    assert "| 9 x 9 | fast | 0.5000 ms, 0.0 TFLOP/s | 0.0 % of the arithmetic | naive 4 x |" in text
    assert "[speeds](results/17_new/bars_gb_s_speeds.svg)" in text
    for file in ("17_new/results.md", "bandwidth.svg", "roofline_h200.svg", "ladders.svg"):
        assert (course / "docs/results" / file).exists(), file
    assert results("--check", course=course).returncode == 0


def test_each_line_names_its_card_and_later_figures_count(course):
    (course / "docs/results/17_new/results.csv").write_text(rows() + rows("A card nobody knows").removeprefix(HEADING))
    (course / "docs/results/17_new/handout.csv").write_text(
        HEADING + "NVIDIA H200,2026-01-03,blur,fast,8 x 8,1,32,0.4,1900,5,right\n")
    assert results(course=course).returncode == 0
    text = page(course)
    assert "(../labs/17_new/README.md#figures) | eight | fast | 0.4000 ms, 1900 GB/s | 95.0 % of a copy | vendor 2.5 x | H200 | 3 Jan 2026 |" in text
    assert "| eight | fast | 0.5000 ms, 2000 GB/s | 100.0 % of a copy | vendor 2 x | A card nobody knows | 2 Jan 2026 |" in text
    assert "| 9 x 9 | fast | 0.5000 ms, 0.0 TFLOP/s | - | naive 4 x | A card nobody knows |" in text


def test_without_a_headline_the_last_size(course):
    (course / "labs/17_new/bench.py").write_text(BENCH + "benchmark.main()\n")
    assert results("--check", course=course).returncode == 1
    assert results(course=course).returncode == 0 and "| 9 x 9 | fast |" in page(course) and "8 x 8" not in page(course)


def test_the_notes_beside_ours(course):
    (course / "docs/results/notes.csv").write_text(
        "lab,size,variant,block,card,milliseconds,processor,processor_milliseconds\n"
        "17_new,8 x 8,fast,32,RTX 3090,1.5,i9-10920X,30\n17_new,8 x 8,fast,64,RTX 3090,3,i9-10920X,30\n")
    assert results(course=course).returncode == 0
    assert "| 17 | 8 x 8 | fast, 32 | 1.5 ms (RTX 3090) | 20 x | 0.5000 ms | - | 3.0 |" in page(course)
    assert "| 17 | 8 x 8 | fast, 64 | 3 ms (RTX 3090) | 10 x | - | - | - |" in page(course)


def test_what_was_measured_for_the_notes_alone(course):
    """It names its card, its processor is that of the same card, and what the benchmark has counts more."""
    test_the_notes_beside_ours(course)
    (course / "docs/results/17_new/notes.csv").write_text(
        HEADING + "Tesla T4,2026-01-01,blur,fast,8 x 8,1,32,9,1,5,right\nTesla T4,2026-01-01,blur,fast,8 x 8,1,64,1.5,1,5,right\n"
        "Tesla T4,2026-01-01,blur,cpu,8 x 8,-,-,30,1,5,right\n")
    assert results(course=course).returncode == 0
    assert "| 1.5 ms (RTX 3090) | 20 x | 0.5000 ms (H200) | - | 3.0 |" in page(course)
    assert "| 3 ms (RTX 3090) | 10 x | 1.500 ms (Tesla T4) | 20 x | 2.0 |" in page(course)
    assert "9.000 ms" not in page(course)


def spoil_markers(course):
    (course / "docs/results.md").write_text("no markers\n")


def spoil_card(course):
    (course / "docs/results/17_new/results.csv").write_text(rows('"CPU mode, as Tesla T4"'))


def spoil_bench(course):
    shutil.rmtree(course / "labs/17_new")


def spoil_table(course):
    (course / "docs/results/17_new/results.csv").write_text("my notes\n")


@pytest.mark.parametrize("spoil, said", [(spoil_markers, "needs the lines"), (spoil_card, "measured in CPU mode"),
                                         (spoil_bench, "there is no labs/17_new/bench.py"), (spoil_table, "no table")])
def test_what_is_unfit_is_named(course, spoil, said):
    spoil(course)
    result = results("--check", course=course)
    assert result.returncode == 1 and said in result.stderr and "Traceback" not in result.stderr
