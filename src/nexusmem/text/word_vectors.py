"""Word vectors: potion-base-8M, a table of word-piece vectors shipped with the package.

The rows already include the model's weights of common and rare pieces. Sums run in a fixed order
without BLAS, so a text has identical bits alone, in a batch and on every machine.
"""

from __future__ import annotations

import hashlib
import io
import math
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..core.errors import Corrupt
from ..core.protocols.embedder import Floats
from .wordpiece import ID_TYPECODE, WordPiece

TABLE_PATH = Path(__file__).with_name("potion") / "potion.npz"
TABLE_SHA256 = "744ab9362e44d501b797aec80531c96bd73b1bd5c5485e03defc98e2982c6353"
DIMENSION = 256
MIN_NORM = np.finfo(np.float32).tiny  # smallest divisor
PIECES_PER_CHUNK = 4096  # limits memory: one megabyte of text would need a gigabyte of rows


class TokenVectors(NamedTuple):
    """The pieces of a text for late interaction: ids, unit vectors and original norms."""

    ids: NDArray[np.intp]
    vectors: Floats
    norms: Floats


class VectorTable:
    """The quantized rows with their tokenizer."""

    def __init__(self, rows: NDArray[np.int8], scales: Floats, vocabulary: list[str]) -> None:
        self._rows = rows
        self._scales = scales[:, None]
        self._tokenizer = WordPiece(vocabulary, unknown=())
        # Cache of unit vectors; untouched rows of np.empty use no physical memory.
        self._unit_vectors = np.empty(rows.shape, np.float32)
        self._is_computed = np.zeros(len(rows), np.bool_)

    def write_mean(self, text: str, vector: Floats) -> None:
        """Write the unit vector of the text into `vector`; it stays zero without known pieces."""
        ids, _ = self.token_ids([text])
        for start in range(0, len(ids), PIECES_PER_CHUNK):
            vector += np.add.reduce(self._dequantize_rows(ids[start : start + PIECES_PER_CHUNK]))
        length = math.sqrt(np.add.reduce(vector * vector))
        if length > 0:
            vector /= length

    def token_ids(self, texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        encoded = list(map(self._tokenizer.encode_packed, texts))
        ids = np.frombuffer(b"".join(encoded), ID_TYPECODE)
        sizes = np.fromiter(map(len, encoded), np.intp, len(encoded))
        return ids.astype(np.intp), sizes // ids.itemsize

    def unit_vectors(self, ids: NDArray[np.intp]) -> Floats:
        new = ids[~self._is_computed[ids]]
        if len(new):
            self._unit_vectors[new] = self.token_vectors(new).vectors
            self._is_computed[new] = True
        return self._unit_vectors.take(ids, axis=0)

    def token_vectors(self, ids: NDArray[np.intp]) -> TokenVectors:
        rows = self._dequantize_rows(ids)
        norms = np.sqrt(np.add.reduce(rows * rows, axis=1))
        return TokenVectors(ids, rows / np.maximum(norms, MIN_NORM)[:, None], norms)

    def _dequantize_rows(self, ids: NDArray[np.intp]) -> Floats:
        return self._rows.take(ids, axis=0) * self._scales.take(ids, axis=0)


@lru_cache(maxsize=1)
def load_table() -> VectorTable:
    """Load the table on first use, once per process, to keep the import of nexusmem fast."""
    return parse_table(TABLE_PATH.read_bytes())


def parse_table(content: bytes) -> VectorTable:
    if hashlib.sha256(content).hexdigest() != TABLE_SHA256:
        raise Corrupt(
            "the built-in embedder's table is damaged; reinstall it: "
            "pip install --force-reinstall nexusmem"
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        vocabulary = arrays["vocabulary"].tobytes().decode().split("\n")
        return VectorTable(arrays["rows"], arrays["scales"], vocabulary)
