"""Built-in embedder: potion-base-8M, a table of word-piece vectors shipped with the package.

It needs no network, key or model runtime. The vector of a text is the mean of the table rows of its
pieces; the rows already include the model's weights of common and rare pieces. Sums run in a fixed
order without BLAS, so a text has identical bits alone, in a batch and on every machine.
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
from ..core.records import EmbeddingProfile
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


class BuiltinEmbedder:
    """Embedder with static vectors of 256 dimensions, for English."""

    is_local = True
    static = True
    profile = EmbeddingProfile(provider="builtin", model="potion-base-8M", dimension=DIMENSION)

    def embed(self, texts: Sequence[str]) -> Floats:
        table = _load_table()
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            table.write_mean(text, vector)
        return vectors

    def token_vectors(self, text: str) -> TokenVectors:
        """Return the pieces of a text that are in the vocabulary, in order."""
        ids, _ = _load_table().token_ids([text])
        return _load_table().token_vectors(ids)

    def token_ids(self, texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the piece ids of all texts concatenated, and the number of pieces per text."""
        return _load_table().token_ids(texts)

    def unit_vectors(self, ids: NDArray[np.intp]) -> Floats:
        """Return the unit vectors of these pieces."""
        return _load_table().unit_vectors(ids)


class _VectorTable:
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
def _load_table() -> _VectorTable:
    """Load the table on first use, once per process, to keep the import of nexusmem fast."""
    return _parse_table(TABLE_PATH.read_bytes())


def _parse_table(content: bytes) -> _VectorTable:
    if hashlib.sha256(content).hexdigest() != TABLE_SHA256:
        raise Corrupt(
            "the built-in embedder's table is damaged; reinstall it: "
            "pip install --force-reinstall nexusmem"
        )
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        vocabulary = arrays["vocabulary"].tobytes().decode().split("\n")
        return _VectorTable(arrays["rows"], arrays["scales"], vocabulary)


MAX_PRODUCT_SIZE = 200_000  # multiplications per matrix product
MIN_CLOSENESS = 0.02  # lower bound of the mean closeness: limits the weight of a rare piece


def interaction_scores(question: str, texts: Sequence[str]) -> list[float]:
    """Return for each text how well it covers the distinctive pieces of the question, 0 to 1."""
    embedder = BuiltinEmbedder()
    query = embedder.token_vectors(question)
    pieces, counts = embedder.token_ids(texts)
    scores = np.zeros(len(texts))
    if len(query.norms) and len(pieces):
        unique, positions = _unique_pieces(pieces)
        cosines = _cosine_matrix(embedder.unit_vectors(unique), query.vectors)
        has_pieces = counts > 0
        starts = (counts.cumsum() - counts)[has_pieces]
        closest = np.maximum.reduceat(cosines.take(positions, axis=0), starts, axis=0)
        scores[has_pieces] = (closest @ _piece_weights(query.norms, closest)).round(6)
    values: list[float] = scores.tolist()
    return values


def _unique_pieces(pieces: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """Return the distinct ids in ascending order, and the position of each piece among them.

    Texts share most of their pieces, so each distinct piece is compared once. Ids are small:
    marking them in a table takes half the time of sorting.
    """
    marked = np.zeros(pieces.max() + 1, np.bool_)
    marked[pieces] = True
    (unique,) = marked.nonzero()
    positions = np.empty(len(marked), np.int32)  # int64 would be allocated again on each call
    positions[unique] = np.arange(len(unique))
    return unique, positions.take(pieces)


def _piece_weights(norms: Floats, closest: Floats) -> Floats:
    """Return the weights of the question's pieces; their sum is 1, or 0 if every text has all."""
    within = np.minimum(np.maximum(closest, MIN_CLOSENESS), 1.0)
    closeness = (np.add.reduce(within) / len(within)).round(4)  # same on every machine
    weights: Floats = norms * -np.log(closeness)
    total = float(np.add.reduce(weights))
    return weights / total if total else weights


def _cosine_matrix(words: Floats, question: Floats) -> Floats:
    """Return the cosines with a row for each word.

    The products are too small for BLAS to start threads, which would only wait for each other.
    """
    size = max(1, MAX_PRODUCT_SIZE // question.size)
    cosines = np.empty((len(words), len(question)), np.float32)
    for start in range(0, len(words), size):
        rows = slice(start, start + size)
        np.matmul(words[rows], question.T, out=cosines[rows])
    return cosines
