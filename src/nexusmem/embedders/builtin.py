"""Built-in embedder: potion-base-8M, a table of word-piece vectors shipped with the package.

It needs no network, key or model runtime. The vector of a text is the mean of the table rows of its
pieces (`text/word_vectors.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.protocols.embedder import Floats, WordMatch
from ..core.records import EmbeddingProfile
from ..text.word_vectors import DIMENSION, TokenVectors, load_table


class BuiltinEmbedder:
    """Embedder with static vectors of 256 dimensions, for English."""

    is_local = True
    static = True
    profile = EmbeddingProfile(provider="builtin", model="potion-base-8M", dimension=DIMENSION)

    def embed(self, texts: Sequence[str]) -> Floats:
        table = load_table()
        vectors = np.zeros((len(texts), DIMENSION), np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            table.write_mean(text, vector)
        return vectors

    def token_vectors(self, text: str) -> TokenVectors:
        """Return the pieces of a text that are in the vocabulary, in order."""
        ids, _ = load_table().token_ids([text])
        return load_table().token_vectors(ids)

    def token_ids(self, texts: Sequence[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the piece ids of all texts concatenated, and the number of pieces per text."""
        return load_table().token_ids(texts)

    def unit_vectors(self, ids: NDArray[np.intp]) -> Floats:
        """Return the unit vectors of these pieces."""
        return load_table().unit_vectors(ids)


MAX_PRODUCT_SIZE = 200_000  # multiplications per matrix product
MIN_CLOSENESS = 0.02  # lower bound of the mean closeness: limits the weight of a rare piece


def match_words(question: str, texts: Sequence[str]) -> WordMatch:
    """Compare the pieces of a question with those of each text (late interaction)."""
    embedder = BuiltinEmbedder()
    query = embedder.token_vectors(question)
    pieces, counts = embedder.token_ids(texts)
    scores = np.zeros(len(texts))
    closest = np.zeros((len(texts), len(query.norms)), np.float32)
    if len(query.norms) and len(pieces):
        unique, positions = _unique_pieces(pieces)
        cosines = _cosine_matrix(embedder.unit_vectors(unique), query.vectors)
        has_pieces = counts > 0
        starts = (counts.cumsum() - counts)[has_pieces]
        own = np.maximum.reduceat(cosines.take(positions, axis=0), starts, axis=0)
        closest[has_pieces] = own
        # Summed without BLAS: its small kernels can report an invalid value where there is none.
        weighted = own * _piece_weights(query.norms, own)
        scores[has_pieces] = np.add.reduce(weighted, axis=1).round(6)
    return WordMatch(scores.tolist(), closest, query.norms)


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
    with np.errstate(invalid="ignore"):  # unit vectors are finite
        for start in range(0, len(words), size):
            rows = slice(start, start + size)
            np.matmul(words[rows], question.T, out=cosines[rows])
    return cosines
