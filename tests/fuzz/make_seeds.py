"""Writes small files of every kind for the fuzzers to begin with: make_seeds.py FOLDER."""

import io
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pictures  # noqa: E402

folder = Path(sys.argv[1])
for name in ("image", "array_file", "automaton"):
    (folder / name).mkdir(parents=True, exist_ok=True)
for i, (name, (content, _)) in enumerate(pictures.every_kind().items()):
    (folder / "image" / name).write_bytes(bytes([i % 5]) + content)
for i, kind in enumerate(["float32", "float64", "int32", "uint8"]):
    for dimensions in range(4):
        file = io.BytesIO()
        numpy.save(file, numpy.ones((2, 3, 1)[:dimensions], kind))
        start = bytes([8 * i + dimensions + 1])
        (folder / "array_file" / f"{kind}-{dimensions}.npy").write_bytes(start + file.getvalue())
automata = {"words": "0 1 a\n1 2 b\n2 3 c\n2\n3\n", "cycle": "2 1 0E\n1 0 0E\n0 2 0E\n0\n", "one": "0\n",
            "several": "0 0 a\n--\n1 0 b\n\n0 1 b\n1\n--\n0\n", "twice": "0 1 a\n0 2 a\n",
            "windows": "0 1 a\r\n1\r\n", "cut": "0 1 a\n1 0"}
for i, (name, text) in enumerate(automata.items()):
    (folder / "automaton" / name).write_bytes(bytes([i]) + text.encode())
