"""Times of a picture in strips, by their number, of many small steps, and the time line of the strips."""

import csv
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "common"))
from checker.benchmark import Benchmark

COLOURS = {"i": "C0", "k": "C3", "o": "C2"}
WORDS = {"i": "copy in", "k": "kernel", "o": "copy out"}
DRAWN = ("strips", "pageable", "one_stream", "with_default")


class WithTimeline(Benchmark):
    """One more plot: when each copy and kernel of the strips ran."""

    lines_of: dict = {}

    def measure(self, program: Path, path: Path) -> int:
        status = super().measure(program, path)
        size = [] if "gpu" in program.parts else ["--height", 256, "--width", 256]
        with tempfile.TemporaryDirectory() as folder:
            for variant in DRAWN:
                table = Path(folder) / f"{variant}.csv"
                words = [program, "--variant", variant, "--strips", 8, "--timeline", table, *size]
                if subprocess.run([str(word) for word in words], stdout=subprocess.DEVNULL, check=False).returncode == 0:
                    self.lines_of[variant] = list(csv.DictReader(table.read_text().splitlines()))
        return status

    def draw(self, rows: list[dict], folder: Path) -> list[tuple[str, str]]:
        drawn = super().draw(rows, folder)
        if not self.lines_of or not drawn:
            return drawn
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 1.1 + 1.1 * len(self.lines_of)))
        end = max(float(row["end"]) for rows_of in self.lines_of.values() for row in rows_of)
        for place, (variant, pieces) in enumerate(self.lines_of.items()):
            axes = figure.add_subplot(len(self.lines_of), 1, place + 1)
            for piece in pieces:
                begin, until = float(piece["begin"]), float(piece["end"])
                axes.barh(int(piece["stream"]), until - begin, left=begin, height=0.8, color=COLOURS[piece["what"]], edgecolor="white",
                          linewidth=0.4, label=WORDS[piece["what"]])
            axes.set(xlim=(0, end), ylabel=variant, yticks=sorted({int(piece["stream"]) for piece in pieces}))
            axes.invert_yaxis()
        axes.set_xlabel("time in ms; a row a stream")
        handles, labels = axes.get_legend_handles_labels()
        kinds = dict(zip(labels, handles))
        figure.legend(kinds.values(), kinds, loc="upper center", ncols=3, frameon=False)
        figure.savefig(folder / "timeline.svg", bbox_inches="tight", metadata={"Date": None})
        return [*drawn, ("when each copy and kernel of 8 strips ran", "timeline.svg")]


benchmark = WithTimeline(__file__)
PICTURES = "whole,strips,graph,pageable,one_stream,with_default"
CHAINS = "one_by_one,captured,built"
for strips in (1, 2, 4, 8, 16, 32, 64, 128):
    benchmark.run("--variant", PICTURES, "--strips", strips, cpu=("--variant", PICTURES, "--strips", strips, "--height", 128))
for cells in (256, 4096, 65536, 1 << 20):
    benchmark.run("--variant", CHAINS, "--cells", cells, cpu=("--variant", CHAINS, "--cells", min(cells, 1024), "--rounds", 2))
benchmark.run("--variant", "urgent")
benchmark.lines("milliseconds", x=r"(\d+) strips", label="strips", logarithmic=True, only=" strips", title="a picture in strips")
benchmark.lines("milliseconds", x=r"(\d+) cells$", label="cells", logarithmic=True, only="rounds", title="20 rounds of 50 steps")
benchmark.headline(" 16 strips,", "8192 x 8192 pixels copied, sharpened, copied back", limit="", against=["whole"])
benchmark.main()
