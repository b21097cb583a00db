#!/usr/bin/env python3
"""Takes the pictures of replays anew that the handouts show: labs/NN_name/pictures/MOMENT.png. It needs Chromium.

    make replays && python3 tests/replay_pictures.py [NN]...
"""

from __future__ import annotations

import base64
import io
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "common"), str(ROOT / "tests")]
import browser  # noqa: E402
from replay import moments  # noqa: E402


def place_of(moment: moments.Moment) -> Path:
    return ROOT / "labs" / moment.lab / "pictures" / f"{moment.name}.png"


def main() -> int:
    wanted = [moment for moment in moments.MOMENTS if moment.picture and (not sys.argv[1:] or moment.lab[:2] in sys.argv[1:])]
    if problem := browser.missing() or next((f"{one.name}.html is not there: make replays" for one in wanted
                                             if not (moments.PAGES / f"{one.name}.html").exists()), ""):
        print(problem, file=sys.stderr)
        return 2
    with browser.window(1280, 720) as seen:
        for moment in wanted:
            seen.open(f"{(moments.PAGES / moment.name).as_uri()}.html#{moment.picture}")
            seen.wait("document.body.dataset.ready === 'yes'")
            seen.run("document.documentElement.style.colorScheme = 'light'; return new Promise(done => setTimeout(done, 300))")
            picture = Image.open(io.BytesIO(base64.b64decode(seen.ask("GET", "/screenshot"))))
            place_of(moment).parent.mkdir(exist_ok=True)
            picture.convert("RGB").quantize(48).save(place_of(moment), optimize=True)
            print(place_of(moment).relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
