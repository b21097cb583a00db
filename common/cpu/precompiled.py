"""Precompiled headers: what a program begins with is in a file already, if one was made of the same text by the same
compiler with the same options. Its name is a digest of these, so that it is never an old one.

    precompiled.py FOLDER HEADERS AGREED... <PREPROCESSED    puts the beginning into FOLDER/NAME.ii, if there is one
"""

from __future__ import annotations

import hashlib
import os
import sys

FIRST = b'/cpu/include/cuda_runtime.h" 1\n'
BACK = b'\n# 0 "<command-line>" 2\n'  # as g++ says that a header of the command line has ended


def divided(text: bytes, headers: int) -> tuple[bytes, bytes]:
    """A preprocessed source as its beginning, the headers that it is told to include first, and its rest."""
    first = end = text.find(FIRST)
    for _ in range(headers):
        end = text.find(BACK, end) + len(BACK) if end >= 0 else -1
        if end < len(BACK):
            return b"", text
    return text[text.rfind(b"\n", 0, first) + 1:end], text[end:]


def name_of(beginning: bytes, agreed: tuple[str, ...]) -> str:
    """agreed: the compiler, and the options that count."""
    return hashlib.blake2b(os.fsencode("\n".join(agreed)) + b"\n" + beginning, digest_size=16).hexdigest()


def shortened(text: bytes, folder: str, headers: str, *agreed: str) -> tuple[str, bytes]:
    """A preprocessed source as the words that have its beginning read from a file, and its rest."""
    beginning, rest = divided(text, int(headers))
    path = os.path.join(folder, name_of(beginning, agreed) + ".gch")
    if not beginning or not os.path.isfile(path):
        return "", text
    quoted = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'#pragma GCC pch_preprocess "{quoted}"\n', rest


def main(folder: str, headers: str, *agreed: str) -> None:
    if beginning := divided(sys.stdin.buffer.read(), int(headers))[0]:
        with open(os.path.join(folder, name_of(beginning, agreed) + ".ii"), "wb") as file:
            file.write(beginning)


if __name__ == "__main__":
    main(*sys.argv[1:])
