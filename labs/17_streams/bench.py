"""Times of a picture in strips, by their number, of many small steps, and the time line of the strips."""

import csv
import subprocess
import tempfile
from pathlib import Path

from checker.benchmark import Benchmark
from checker.usage import backend_of

COLOURS = {"i": "C0", "k": "C3", "o": "C2"}
WORDS = {"i": "copy in", "k": "kernel", "o": "copy out"}
DRAWN = ("strips", "pageable", "one_stream", "with_default")


class WithTimeline(Benchmark):
    """One more plot: when each copy and kernel of the strips ran. What it shows stays in timeline.csv, beside the plots."""

    def measure(self, program: Path, path: Path) -> int:
        status = super().measure(program, path)
        small = ["--height", 256, "--width", 256] if backend_of(program) == "cpu" else []
        lines = []
        with tempfile.TemporaryDirectory() as folder:
            tables = [Path(folder) / f"{variant}.csv" for variant in DRAWN]
            words = [program]  # one process for all
            for variant, table in zip(DRAWN, tables):
                words += ["--and"] * (len(words) > 1) + ["--variant", variant, "--strips", 8, "--timeline", table, *small]
            subprocess.run([str(word) for word in words], stdout=subprocess.DEVNULL, check=False)
            for table in filter(Path.exists, tables):
                heading, *rows = table.read_text(encoding="utf-8").splitlines(keepends=True)
                lines += rows if lines else [heading, *rows]
        path.with_name("timeline.csv").write_text("".join(lines), encoding="utf-8")
        return status

    def draw(self, rows: list[dict], folder: Path) -> list[tuple[str, str]]:
        drawn = super().draw(rows, folder)
        path = folder / "timeline.csv"
        pieces = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines())) if drawn and path.exists() else []
        if not pieces:
            return drawn
        from matplotlib.figure import Figure

        variants = list(dict.fromkeys(piece["variant"] for piece in pieces))
        figure = Figure(figsize=(8, 0.8 + 0.9 * len(variants)))
        for place, variant in enumerate(variants):
            axes = figure.add_subplot(len(variants), 1, place + 1)
            mine = [piece for piece in pieces if piece["variant"] == variant]
            for piece in mine:
                begin, end = float(piece["begin"]), float(piece["end"])
                axes.barh(int(piece["stream"]), end - begin, left=begin, height=0.8, color=COLOURS[piece["what"]], edgecolor="white",
                          linewidth=0.4, label=WORDS[piece["what"]])
            axes.set(xlim=(0, max(float(piece["end"]) for piece in pieces)), yticks=sorted({int(piece["stream"]) for piece in mine}))
            axes.set_ylabel(variant, rotation=0, ha="right", va="center")
            axes.invert_yaxis()
            axes.grid(axis="y", visible=False)
            axes.tick_params(labelbottom=variant == variants[-1])
        axes.set_xlabel("time in ms; a row a stream")
        handles, labels = axes.get_legend_handles_labels()
        kinds = dict(zip(labels, handles))
        figure.legend(kinds.values(), kinds, loc="upper center", ncols=3, frameon=False)
        figure.savefig(folder / "timeline.svg", bbox_inches="tight", metadata={"Date": None})
        return [*drawn, ("when each copy and kernel of 8 strips ran", "timeline.svg")]


benchmark = WithTimeline(__file__, one_process=True)
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
benchmark.headline(" steps, 4096 cells$", "1020 small kernels", limit="", against=["one_by_one"])
benchmark.main()
