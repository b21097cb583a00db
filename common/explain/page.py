"""All of it as one page that needs nothing else: tables, the worst lines, the source, the pictures."""

from html import escape

from . import advice, table
from .cards import Card
from .operations import operations_for
from .picture import Picture
from .summary import Kernel, source_lines, worst

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
table { border-collapse: collapse; margin: .5rem 0 }
td, th { padding: .1rem .7rem; text-align: right; border-bottom: 1px solid #ddd; white-space: nowrap }
.left { text-align: left } .bad { background: #fde3df } .fine { color: #777 }
code, pre, .code { font: 13px/1.45 ui-monospace, monospace }
.code td { border: 0; padding: 0 .6rem; text-align: left; white-space: pre } .code td.note { text-align: right; color: #a33 }
.code tr.bad td { background: #fde3df } figure { margin: 1rem 0; overflow-x: auto }
"""


def page(kernels: list[Kernel], card: Card, operations: dict[str, float], name: str,
         pictures: dict[str, Picture]) -> str:
    """The page's text."""
    parts = [f"<h1>{escape(name)}</h1>", *worst_part(kernels)]
    for kernel in kernels:
        parts.append(f"<h2><code>{escape(kernel.name)}</code></h2><p>{escape(table.heading(kernel))}</p>")
        parts += table_part(kernel)
        figures = table.kernel_figures(kernel, card, operations_for(kernel, operations))
        parts.append("<p>" + "<br>".join(escape(line.strip()) for line in figures) + "</p>")
        parts += [f"<figure>{picture.svg}</figure>" for picture in pictures.values() if picture.kernel == kernel.name]
    parts += source_part(kernels)
    return (f'<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>{escape(name)}</title>'
            f"<style>{STYLE}</style>{''.join(parts)}</html>\n")


def worst_part(kernels: list[Kernel]) -> list[str]:
    found = worst(kernels)
    if not found:
        return [f"<p>{escape(table.NOTHING_WORSE)}</p>"]
    entries = []
    for kernel, line in found:
        lines = source_lines(line.file)
        text = lines[line.line - 1].strip() if line.line <= len(lines) else ""
        entries.append(f"<li>{escape(table.title(kernel, line))}<br>"
                       f"<code>{escape(text)}</code><br>{escape(advice.problem(line))}</li>")
    return ["<h2>The worst lines</h2><ol>", *entries, "</ol>"]


def table_part(kernel: Kernel) -> list[str]:
    if not kernel.lines():
        return ["<p>No line of it touches memory.</p>"]
    heads = "".join(f"<th>{escape(head)}</th>" for head in table.HEADINGS)
    rows = [f"<table><tr>{heads}</tr>"]
    for line in kernel.lines():
        inside = "".join(f'<td class="{"" if right else "left"}">{escape(cell)}</td>'
                         for cell, right in zip(table.cells(kernel, line), table.RIGHT))
        rows.append(f'<tr class="{"bad" if line.waste > line.access.requests else ""}">{inside}</tr>')
    return [*rows, "</table>"]


def source_part(kernels: list[Kernel]) -> list[str]:
    """Every file with the figures in its margin."""
    notes: dict[str, dict[int, list[str]]] = {}
    bad = set()
    for kernel in kernels:
        for line in kernel.lines():
            text = f"{line.words} {line.per_request:.1f} / {line.least_per_request:.1f}"
            known = notes.setdefault(line.file, {}).setdefault(line.line, [])
            known += [text] if text not in known else []
            if line.waste > line.access.requests:
                bad.add((line.file, line.line))
    parts = []
    for file, of_line in notes.items():
        rows = [f'<tr class="{"bad" if (file, number) in bad else ""}"><td class="note">{"; ".join(of_line.get(number, []))}</td>'
                f'<td class="fine">{number}</td><td>{escape(text)}</td></tr>'
                for number, text in enumerate(source_lines(file), 1)]
        parts.append(f'<h2>{escape(file)}</h2><p>In the margin: sectors or wavefronts a request / the least possible.</p>'
                     f'<table class="code">{"".join(rows)}</table>')
    return parts
