"""Writes small files of every kind for the fuzzers to begin with: make_seeds.py FOLDER."""

import io
import sys
from pathlib import Path

import numpy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import pictures  # noqa: E402

folder = Path(sys.argv[1])
for name in ("image", "array_file"):
    (folder / name).mkdir(parents=True, exist_ok=True)
for i, (name, (content, _)) in enumerate(pictures.every_kind().items()):
    (folder / "image" / name).write_bytes(bytes([i % 5]) + content)
for i, kind in enumerate(["float32", "float64", "int32", "uint8"]):
    for dimensions in range(4):
        file = io.BytesIO()
        numpy.save(file, numpy.ones((2, 3, 1)[:dimensions], kind))
        start = bytes([8 * i + dimensions + 1])
        (folder / "array_file" / f"{kind}-{dimensions}.npy").write_bytes(start + file.getvalue())
