"""The plots of docs/results.md: memory, rooflines, ladders, and the lecture notes beside ours."""

from __future__ import annotations

import textwrap
from pathlib import Path

import matplotlib

from .benchmark import unique
from .results import CARDS, day, roofline_file, share, short

matplotlib.use("svg")
# The same figures give the same files, so that a change is seen to be one.
matplotlib.rcParams.update({"svg.hashsalt": "results", "font.size": 8, "axes.grid": True, "axes.axisbelow": True,
                            "grid.alpha": 0.3, "axes.spines.top": False, "axes.spines.right": False})

from matplotlib.figure import Figure  # noqa: E402

OURS, THEIRS = "tab:green", "0.6"


def draw(folder: Path, lines: list[tuple[str, dict]], notes: list[dict]) -> None:
    """`lines`: (lab's name, line of its headlines); `notes`: as checker.results joins them."""
    save(folder / "bandwidth.svg", bandwidth([pair for pair in lines if pair[1]["limit"] == "copy" and share(pair[1])]))
    for card in unique(line["card"] for _, line in lines if line["GFLOP/s"]):
        save(folder / roofline_file(card), roofline(card, [pair for pair in lines if pair[1]["card"] == card]))
    save(folder / "ladders.svg", ladders([pair for pair in lines if pair[1]["peers"] and pair[1]["against"]]))
    save(folder / "notes.svg", notes_plot([row for row in notes if row["ours"]]))


def save(path: Path, figure: Figure | None) -> None:
    if figure:
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None})


def days(lines: list[dict]) -> str:
    """Cards and days of these lines, for a title."""
    return "; ".join(f"{short(card)}, {' and '.join(unique(day(line['date']) for line in lines if line['card'] == card))}"
                     for card in unique(line["card"] for line in lines))


def bandwidth(lines: list[tuple[str, dict]]) -> Figure | None:
    """Bars: bytes a second as a share of a copy's in the same run."""
    if not lines:
        return None
    figure = Figure(figsize=(7, 0.3 * len(lines) + 0.9))
    axes = figure.subplots()
    cards = unique(line["card"] for _, line in lines)
    names = [f"{lab[:2]} {line['what']}" + (f", {short(line['card'])}" if len(cards) > 1 else "") for lab, line in lines]
    bars = axes.barh(range(len(lines)), [100 * share(line) for _, line in lines], color=OURS)
    axes.bar_label(bars, [f"{line['GB/s']:.0f} GB/s" for _, line in lines], padding=3)
    axes.axvline(100, color="black", linestyle="dashed", linewidth=1)
    axes.set_yticks(range(len(lines)), names)
    axes.invert_yaxis()
    axes.set_xlim(0, 118)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("% of a copy within the device")
    axes.set_title(f"Memory: the fastest variant\n{days([line for _, line in lines])}", fontsize=9)
    return figure


def roofline(card: str, lines: list[tuple[str, dict]]) -> Figure | None:
    """Arithmetic against operations a byte. What uses no memory stands at the right edge."""
    points = [(lab, line) for lab, line in lines if line["GFLOP/s"]]
    copies = [line["copy"] for _, line in lines if line["copy"]]
    bounded = [line["GFLOP/s"] / line["GB/s"] for _, line in points if line["GB/s"]]
    left, right = min([0.5, *bounded]) / 2, max([100, *bounded]) * 4
    figure = Figure(figsize=(7, 4.2))
    axes = figure.subplots()
    axes.set(xscale="log", yscale="log", xlabel="operations a byte", ylabel="TFLOP/s, or T instructions/s")
    for words, peak in CARDS.get(card, {}).items():
        axes.hlines(peak, left, right, colors="black", linewidth=0.8, linestyles="dashed")
        # Two roofs of one height share a label.
        same = [name for name, height in CARDS[card].items() if height == peak]
        if words == same[0]:
            axes.annotate(f"{'; '.join(same)}: {peak:g}", (left * 1.1, peak), va="bottom", fontsize=7)
    if copies:
        axes.plot([left, right], [left * max(copies) / 1000, right * max(copies) / 1000], color="black", linewidth=0.8)
        axes.set_ylim(left * max(copies) / 2000, max([1.0, *CARDS.get(card, {}).values()]) * 2)
    colours = matplotlib.colormaps["tab10"]
    for number, (lab, line) in enumerate(points):
        x = line["GFLOP/s"] / line["GB/s"] if line["GB/s"] else right
        axes.plot(x, line["GFLOP/s"] / 1000, ">" if x == right else "o", color=colours(number % 10),
                  label=textwrap.fill(f"{lab[:2]} {line['what']}: {line['variant']}", 38), clip_on=False, linestyle="none")
    axes.set_xlim(left, right)
    copy = f"; the slope is a copy of {max(copies):.0f} GB/s" if copies else ""
    axes.set_title(f"Roofline: the fastest variant{copy}\n{days([line for _, line in lines])}", fontsize=9)
    figure.legend(loc="center left", bbox_to_anchor=(0.91, 0.5), frameon=False, fontsize=7)
    return figure


def ladders(lines: list[tuple[str, dict]]) -> Figure | None:
    """A panel a line: how many times as fast as the vendor's library each variant is."""
    if not lines:
        return None
    rows = (len(lines) + 1) // 2
    most = max(len(line["ladder"]) for _, line in lines)
    figure = Figure(figsize=(8.5, rows * (0.2 * most + 0.9)), layout="constrained")
    for axes, (lab, line) in zip(figure.subplots(rows, 2, squeeze=False).flat, lines):
        peer, time = next(pair for pair in line["against"] if pair[0] in line["peers"])
        ratios = [time / milliseconds for _, milliseconds in line["ladder"]]
        # Bars of a logarithmic axis begin at 1, where the library stands.
        bars = axes.barh(range(len(ratios)), [ratio - 1 for ratio in ratios], left=1,
                         color=[OURS if ratio >= 1 else THEIRS for ratio in ratios])
        axes.bar_label(bars, [f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}" for ratio in ratios], padding=2, fontsize=7)
        axes.set_xscale("log")
        axes.set_xlim(min([0.5, *ratios]) / 3, max([2, *ratios]) * 4)
        axes.axvline(1, color="black", linewidth=1)
        axes.set_yticks(range(len(ratios)), [name for name, _ in line["ladder"]], fontsize=7)
        axes.invert_yaxis()
        axes.grid(axis="y", visible=False)
        axes.set_title(f"{lab[:2]} {textwrap.shorten(line['what'], 48)}: {peer} = 1", fontsize=8)
    for axes in figure.axes[len(lines):]:
        axes.set_axis_off()
    figure.suptitle(f"Times as fast as the vendor's library; {days([line for _, line in lines])}", fontsize=9)
    return figure


def notes_plot(rows: list[dict]) -> Figure | None:
    """Two dots a configuration: the notes' time and ours."""
    if not rows:
        return None
    figure = Figure(figsize=(7, 0.2 * len(rows) + 1))
    axes = figure.subplots()
    names = [f"{row['lab'][:2]} {row['size'].removesuffix(' elements')}, {row['variant']}, {row['block']}" for row in rows]
    theirs, ours = [row["milliseconds"] for row in rows], [row["ours"]["milliseconds"] for row in rows]
    axes.hlines(range(len(rows)), ours, theirs, colors="0.8")
    axes.plot(theirs, range(len(rows)), "o", color=THEIRS, label=f"the notes: {' and '.join(unique(row['card'] for row in rows))}")
    axes.plot(ours, range(len(rows)), "o", color=OURS, label=f"ours: {days([row['ours'] for row in rows])}")
    axes.set_xscale("log")
    axes.set_yticks(range(len(rows)), names, fontsize=7)
    axes.invert_yaxis()
    axes.set_xlabel("time in ms")
    figure.legend(loc="lower center", bbox_to_anchor=(0.5, 1 - 0.4 / figure.get_figheight()), frameon=False, ncols=2)
    return figure
