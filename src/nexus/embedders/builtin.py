"""The default embedder: potion-base-8M, a table of word-piece vectors inside this package.

No network, no key, no model runtime. A text's vector is the mean of its pieces' rows, which
already carry the model's own weighting of common and rare pieces. Sums run in a fixed order
without BLAS, so a text has the same bits alone, in a batch, and on another machine.
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
from ..core.protocols import Floats
from ..core.records import EmbeddingProfile
from .wordpiece import PACKED, WordPiece

TABLE = Path(__file__).with_name("potion") / "potion.npz"
SHA256 = "744ab9362e44d501b797aec80531c96bd73b1bd5c5485e03defc98e2982c6353"
DIMENSION = 256
LEAST = np.finfo(np.float32).tiny  # nothing is divided by less
PIECES_AT_ONCE = 4096  # a megabyte of text must not need a gigabyte of rows


class Tokens(NamedTuple):
    """A text piece by piece, for late interaction: numbers, unit vectors, and their norms."""

    ids: NDArray[np.intp]
    vectors: Floats
    norms: Floats


class BuiltinEmbedder:
    """Static embeddings of 256 dimensions; English."""

    local = True
    static = True
    profile = EmbeddingProfile(provider="builtin", model="potion-base-8M", dimension=DIMENSION)

    def embed(self, texts: Sequence[str]) -> Floats:
        table = _table()
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            table.write_mean(text, vector)
        return vectors

    def tokens(self, text: str) -> Tokens:
        """The known pieces of a text, in order."""
        ids, _ = _table().pieces([text])
        return _table().tokens(ids)

    def pieces(self, texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Their numbers alone, text after text, and how many each text has."""
        return _table().pieces(texts)

    def directions(self, ids: NDArray[np.intp]) -> Floats:
        """The unit vectors of pieces."""
        return _table().directions(ids)


class _Table:
    def __init__(self, rows: NDArray[np.int8], scales: Floats, vocabulary: list[str]) -> None:
        self._rows = rows
        self._scales = scales[:, None]
        self._pieces = WordPiece(vocabulary, unknown=())
        # Unit vectors of the pieces that were asked for; rows nobody asked for take no room.
        self._directions = np.empty(rows.shape, np.float32)
        self._made = np.zeros(len(rows), np.bool_)

    def write_mean(self, text: str, vector: Floats) -> None:
        """Write the text's direction; without a known piece there is none and zeros stay."""
        ids, _ = self.pieces([text])
        for start in range(0, len(ids), PIECES_AT_ONCE):
            vector += np.add.reduce(self._take(ids[start : start + PIECES_AT_ONCE]))
        length = math.sqrt(np.add.reduce(vector * vector))
        if length > 0:
            vector /= length

    def pieces(self, texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        each = list(map(self._pieces.packed, texts))
        ids = np.frombuffer(b"".join(each), PACKED)
        sizes = np.fromiter(map(len, each), np.intp, len(each))
        return ids.astype(np.intp), sizes // ids.itemsize

    def directions(self, ids: NDArray[np.intp]) -> Floats:
        new = ids[~self._made[ids]]
        if len(new):
            self._directions[new] = self.tokens(new).vectors
            self._made[new] = True
        return self._directions.take(ids, axis=0)

    def tokens(self, ids: NDArray[np.intp]) -> Tokens:
        rows = self._take(ids)
        norms = np.sqrt(np.add.reduce(rows * rows, axis=1))
        return Tokens(ids, rows / np.maximum(norms, LEAST)[:, None], norms)

    def _take(self, ids: NDArray[np.intp]) -> Floats:
        return self._rows.take(ids, axis=0) * self._scales.take(ids, axis=0)


@lru_cache(maxsize=1)
def _table() -> _Table:
    """Load on first use and once per process; importing Nexus must stay cheap."""
    return _parse(TABLE.read_bytes())


def _parse(content: bytes) -> _Table:
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise Corrupt(
            "the built-in embedder's table is damaged; reinstall it: "
            "pip install --force-reinstall nexus-memory"
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        vocabulary = arrays["vocabulary"].tobytes().decode().split("\n")
        return _Table(arrays["rows"], arrays["scales"], vocabulary)
