"""Late interaction: a question and some texts compared word by word, with the built-in table.

For each piece of the question the closest piece of a text. A piece counts by how telling it is: its
vector's length says that of the language, and how few of the texts come near it says it of them. It
sees what an average over the text blurs, needs no model, and works beside any embedder.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.protocols import Floats
from .builtin import BuiltinEmbedder

SMALL_PRODUCT = 200_000  # multiplications
RARE = 0.02  # nothing is taken for more telling than what so few texts come near


def interaction(question: str, texts: Sequence[str]) -> list[float]:
    """How well each text covers what tells them apart in the question, from about 0 to 1."""
    embedder = BuiltinEmbedder()
    asked = embedder.tokens(question)
    pieces, counts = embedder.pieces(texts)
    scores = np.zeros(len(texts))
    if len(asked.norms) and len(pieces):
        words, places = _each_once(pieces)
        cosines = _compared(embedder.directions(words), asked.vectors)
        held = counts > 0
        starts = (counts.cumsum() - counts)[held]
        closest = np.maximum.reduceat(cosines.take(places, axis=0), starts, axis=0)
        scores[held] = (closest @ _telling(asked.norms, closest)).round(6)
    found: list[float] = scores.tolist()
    return found


def _each_once(pieces: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.int32]]:
    """The pieces in order, and the place of each among them.

    Texts share most of their words: each word is compared once. Numbers are so small that they are
    marked in a table, which takes half the time that sorting them would.
    """
    marked = np.zeros(pieces.max() + 1, np.bool_)
    marked[pieces] = True
    (words,) = marked.nonzero()
    places = np.empty(len(marked), np.int32)  # a larger table would be new memory each time
    places[words] = np.arange(len(words))
    return words, places.take(pieces)


def _telling(norms: Floats, closest: Floats) -> Floats:
    """What each piece of the question counts; together 1, or 0 if all texts hold all of it."""
    within = np.minimum(np.maximum(closest, RARE), 1.0)
    near = (np.add.reduce(within) / len(within)).round(4)  # alike on every machine
    weights: Floats = norms * -np.log(near)
    total = float(np.add.reduce(weights))
    return weights / total if total else weights


def _compared(words: Floats, asked: Floats) -> Floats:
    """All cosines, a row for each word, in products too small to wake a numeric library's threads.

    Threads gain nothing at this size, and wait for each other on a busy machine.
    """
    size = max(1, SMALL_PRODUCT // asked.size)
    cosines = np.empty((len(words), len(asked)), np.float32)
    for at in range(0, len(words), size):
        np.matmul(words[at : at + size], asked.T, out=cosines[at : at + size])
    return cosines
