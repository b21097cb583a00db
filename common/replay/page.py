"""The page: one HTML file with everything in it, the film compressed."""

from __future__ import annotations

import base64
import gzip
import html
import json
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from checker.failure import Failure

if TYPE_CHECKING:
    from .__main__ import Film

HERE = Path(__file__).resolve().parent
SCRIPTS = ("film.js", "values.js", "memory.js", "threads.js", "time.js", "predict.js")


def write(film: Film, path: Path, title: str = "", task: str = "") -> None:
    """Writes the page of a film."""
    text = (HERE / "page.html").read_text(encoding="utf-8")
    reel = base64.b64encode(gzip.compress(film.reel.data, 6, mtime=0)).decode()
    known = json.dumps({**knowledge(film), "task": task}, separators=(",", ":")).replace("<", "\\u003c")  # no </script> ends it, and no <!-- keeps it open
    kernels = {launch["kernel"] for launch in film.reel.head["launches"]}
    parts = {
        "TITLE": html.escape(title or ": ".join([film.source.name, *(kernels if len(kernels) == 1 else [])])),
        "STYLE": (HERE / "style.css").read_text(encoding="utf-8"),
        "KNOWN": known,
        "REEL": reel,
        "SCRIPT": "\n".join((HERE / name).read_text(encoding="utf-8") for name in SCRIPTS),
    }
    text = re.sub(r"@([A-Z]+)@", lambda match: parts[match[1]], text)  # at once, since a program may say @REEL@, too
    temporary = path.with_name(path.name + ".part")
    try:
        temporary.write_text(text, encoding="utf-8", errors="replace")
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise Failure(f"cannot write {path}: {error.strerror}") from None


def knowledge(film: Film) -> dict:
    """What the page has to know beside the film: sources, places, functions, variables, types."""
    information, starts = film.information, [one["start"] for one in film.reel.head["arrays"]]
    used = {number for name in ("step_place", "move_place", "access_place") for number in film.reel[name]} - {0}
    files = sorted(dict.fromkeys(information.places[number - 1][1] for number in sorted(used)), key=lambda name: not name.endswith(film.source.name))
    numbers = {name: number for number, name in enumerate(files)}
    places: list = [[0, 0, 0]] + [
        [numbers[file], line, information.function_of[index]] if index + 1 in used else 0
        for index, (_, file, line) in enumerate(information.places)]
    return {
        "command": shlex.join([film.source.name, *film.arguments]),
        "files": [{"name": Path(name).name, "text": Path(name).read_text(encoding="utf-8", errors="replace")} for name in files],
        "places": places,
        "functions": [[one["name"], one["line"], numbers.get(one["file"], 0)] for one in information.functions],
        "variables": [[one["name"], one["type"], one["function"], one["rows"], one["parameter"]] for one in information.variables],
        "rows": [row[4] for row in information.rows],
        "types": information.types,
        "symbols": [one for one in information.symbols if any(one[0] <= start < one[0] + one[1] for start in starts)],
        "faults": film.faults,
        "left_out": film.reel.left_out() + [f"Found where nothing was recorded: {sentence}" for sentence in film.unseen_faults],
        "status": film.status,
        "order": film.order or "forward",
    }
