"""checker.benchmark: runs, the CSV, the table, the plots made from the CSV alone."""

import csv
import re
import subprocess
import sys

import pytest

from farm import ROOT

HEADING = "card,date,lab,variant,size,grid,block,milliseconds,GB/s,GFLOP/s,result\n"
BENCH = f"""import sys
sys.path.insert(0, {str(ROOT / "common")!r})
from checker.benchmark import Benchmark

benchmark = Benchmark(__file__, peers=["vendor"])
for radius in (1, 5):
    benchmark.run("--radius", radius, cpu=["--radius", radius, "--small"])
benchmark.bars("GB/s")
benchmark.lines("milliseconds", x=r"radius (\\d+)", label="radius", logarithmic=True)
benchmark.lines("milliseconds", x=r"of (\\d+)", label="size", title="nothing of it")
benchmark.main()
"""
PROGRAM = f"""#!{sys.executable}
import pathlib, sys
radius, path = sys.argv[2], pathlib.Path(sys.argv[-1])
print("measuring", *sys.argv[1:-2])
text = path.read_text() if path.exists() else {HEADING!r}
for variant, time, speed, result in [("copy", 0, 2000, "right"), ("naive", 2, 500, "right"),
                                     ("fast", 0.5, 2000, "right"), ("vendor", 1, 1000, "RESULT")]:
    text += f'A card,2026-01-02T03:04:05Z,blur,{{variant}},"8 x 8, radius {{radius}}",1,32,{{time}},{{speed}},0,{{result}}\\n'
path.write_text(text)
sys.exit(STATUS)
"""


@pytest.fixture
def lab(folder):
    """A lab with a bench.py and a program in a folder of either backend."""
    bench = folder / "labs/07_blur/bench.py"
    bench.parent.mkdir(parents=True)
    bench.write_text(BENCH)

    def make(backend="gpu", status=0, result="right"):
        program = folder / f"build/{backend}-bench/labs/07_blur/blur"
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(PROGRAM.replace("STATUS)", f"{status})").replace("RESULT", result))
        program.chmod(0o755)
        return program

    def run(*words):
        return subprocess.run([sys.executable, bench, *map(str, words)], text=True, capture_output=True, cwd=folder,
                              check=False)

    make.run, make.folder = run, folder / "build/bench/07_blur"
    return make


def test_runs_table_and_plots(lab):
    result = lab.run("--program", lab())
    assert result.returncode == 0, result.stderr
    assert "measuring --radius 1\n" in result.stdout and "--small" not in result.stdout
    with open(lab.folder / "results.csv", newline="") as file:
        assert len(list(csv.DictReader(file))) == 8
    text = (lab.folder / "results.md").read_text()
    assert "A card, 2026-01-02, `make bench LAB=07`" in text
    assert "8 x 8, radius 5; copy within the device 2000 GB/s" in text
    assert "| variant | ms | GB/s | of copy | vendor takes |" in text
    assert "| fast | 0.5000 | 2000 | 100.0 % | 2.00 x |" in text
    assert "| naive | 2.000 | 500 | 25.0 % | 0.50 x |" in text
    assert sorted(path.name for path in lab.folder.iterdir()) == [
        "bars_gb_s.svg", "lines_milliseconds.svg", "results.csv", "results.md"]
    for path in lab.folder.glob("*.svg"):
        assert f"({path.name})" in text and path.read_text().startswith("<?xml")


def test_the_same_data_give_the_same_files(lab, folder):
    lab.run("--program", lab())
    again = lab.run("--data", lab.folder / "results.csv", "--output", folder / "again")
    assert again.returncode == 0 and "measuring" not in again.stdout
    for name in ("results.md", "bars_gb_s.svg", "lines_milliseconds.svg"):
        assert (folder / "again" / name).read_bytes() == (lab.folder / name).read_bytes(), name


def test_plots_may_be_drawn_later(lab):
    assert lab.run("--program", lab(), "--no-plots").returncode == 0
    assert sorted(path.name for path in lab.folder.iterdir()) == ["results.csv", "results.md"]
    lab.run("--data", lab.folder / "results.csv")
    assert "bars_gb_s.svg" in (lab.folder / "results.md").read_text() and (lab.folder / "bars_gb_s.svg").exists()


def test_many_sizes_are_one_table(lab, folder):
    text = HEADING
    for side in range(1, 12):
        for variant, result in (("copy", "right"), ("naive", "right"), ("fast", "wrong" if side == 11 else "right")):
            text += f'A card,2026-01-02T03:04:05Z,blur,{variant},"{side} x 8, radius 2",1,32,{side},1,0,{result}\n'
    (folder / "many.csv").write_text(text)
    result = lab.run("--data", folder / "many.csv")
    assert "\nradius 2\n\n| ms | naive | fast |\n" in result.stdout, result.stdout
    assert "| 3 x 8 | 3.000 | 3.000 |" in result.stdout and "| 11 x 8 | 11.00 | wrong |" in result.stdout


def test_the_cpu_runs_smaller(lab):
    assert "measuring --radius 5 --small\n" in lab.run("--program", lab("cpu")).stdout


def test_runs_beside_each_other(lab, folder):
    bench = folder / "labs/07_blur/bench.py"
    bench.write_text(BENCH.replace('"--small"]', '"--small"], beside=radius == 5'))
    program = lab()
    wait = ("import time\n(folder := pathlib.Path(__file__).parent / radius).mkdir()\nstart = time.monotonic()\n"
            "while len(list(folder.parent.glob('[15]'))) < 2:\n    time.sleep(0.01)\n    assert time.monotonic() - start < 20\n")
    program.write_text(program.read_text().replace("text = path", wait + "text = path"))
    result = lab.run("--program", program)
    assert result.returncode == 0, result.stderr
    assert "blur: --radius 1\nmeasuring --radius 1\n" in result.stdout and "measuring --radius 5\n" in result.stdout
    with open(lab.folder / "results.csv", newline="") as file:
        assert [row["size"][-1] for row in csv.DictReader(file)] == [*"11115555"]
    assert not list(lab.folder.glob("*.part"))


def test_runs_for_which_there_are_too_few_cores(lab, folder):
    bench = folder / "labs/07_blur/bench.py"
    bench.write_text(BENCH.replace('"--small"]', '"--small"], beside=radius == 5, cores=100_000'))
    result = lab.run("--program", lab())
    assert "measuring --radius 1\n\n07_blur: --radius 5\nmeasuring --radius 5\n" in result.stdout


@pytest.fixture
def in_one_process(lab, folder):
    """The lab's program, which now makes all runs of a command, each like the program itself."""
    bench = folder / "labs/07_blur/bench.py"
    bench.write_text(BENCH.replace('"vendor"])', '"vendor"], one_process=True)'))

    def make(status):
        program = lab()
        program.rename(program.with_name("one"))
        program.write_text(f"""#!{sys.executable}
import subprocess, sys
runs, one = " ".join(sys.argv[1:]).split(" --and "), sys.argv[0].replace("/blur", "/one").replace("07_one", "07_blur")
for run in runs:
    print("of", len(runs), flush=True)
    subprocess.run([one, *run.split(" ")], check=True)
    if {status} == 77 and len(runs) > 1:
        sys.exit(77)  # as lab::skip() does
sys.exit({status} if len(runs) > 1 else 0)
""")
        program.chmod(0o755)
        return lab.run("--program", program)

    return make


@pytest.mark.parametrize("status, ends, processes", [(0, 0, ["2", "2"]), (101, 1, ["2", "2"]), (77, 0, ["2", "1", "1"]), (3, 1, ["2", "2"])])
def test_one_process_for_all_runs(lab, in_one_process, status, ends, processes):
    result = in_one_process(status)
    assert result.returncode == ends, result.stderr
    assert re.findall(r"^of (\d)$", result.stdout, re.MULTILINE) == processes
    assert ("status 3; nothing was written" in result.stderr) == (status == 3)
    if status != 3:
        with open(lab.folder / "results.csv", newline="") as file:
            assert [row["size"][-1] for row in csv.DictReader(file)] == [*"11115555"]


def test_a_wrong_result_is_seen(lab):
    result = lab.run("--program", lab(status=1, result="wrong"))
    assert result.returncode == 1
    assert "| vendor | 1.000 | 1000 | 50.0 % | 1.00 x | wrong |" in result.stdout


def test_a_run_that_fails_leaves_the_old_table(lab):
    lab.run("--program", lab())
    before = (lab.folder / "results.csv").read_bytes()
    result = lab.run("--program", lab(status=2))
    assert result.returncode == 1 and "status 2; nothing was written" in result.stderr
    assert (lab.folder / "results.csv").read_bytes() == before


def test_nothing_but_skipped(lab):
    program = lab()
    program.write_text("#!/bin/sh\nexit 77\n")
    assert lab.run("--program", program).returncode == 77


@pytest.mark.parametrize("words, said", [((), "either --program or --data"), (("--program", "none"), "no file none"),
                                         (("--data", "x.csv"), "no table")])
def test_bad_usage(lab, folder, words, said):
    (folder / "x.csv").write_text("my notes\n1\n")
    result = lab.run(*words)
    assert result.returncode in (1, 2) and said in result.stderr and "Traceback" not in result.stderr
