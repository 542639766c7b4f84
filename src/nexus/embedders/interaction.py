"""Late interaction: a question and some texts compared word by word, with the built-in table.

For each piece of the question the closest piece of a text. A piece counts by how telling it is: its
vector's length says that of the language, and how few of the texts come near it says it of them. It
sees what an average over the text blurs, needs no model, and works beside any embedder.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np

from ..core.protocols import Floats
from .builtin import BuiltinEmbedder

SMALL_PRODUCT = 200_000  # multiplications
RARE = 0.02  # nothing is taken for more telling than what so few texts come near


def interaction(question: str, texts: Sequence[str]) -> list[float]:
    """How well each text covers what tells them apart in the question, from about 0 to 1."""
    embedder = BuiltinEmbedder()
    asked = embedder.tokens(question)
    pieces = [embedder.pieces(text) for text in texts]
    held = [number for number, ids in enumerate(pieces) if len(ids)]
    scores = [0.0] * len(texts)
    if not len(asked.norms) or not held:
        return scores
    # Texts share most of their words: each word is compared once.
    words, places = np.unique(np.concatenate(pieces), return_inverse=True)
    cosines = _compared(asked.vectors, embedder.directions(words))
    starts = [0, *accumulate(len(pieces[number]) for number in held)][:-1]
    by_word = np.ascontiguousarray(cosines.T)  # a row is soon found, a column is not
    closest = np.maximum.reduceat(by_word.take(places, axis=0), starts, axis=0)
    covered = np.round(closest @ _telling(asked.norms, closest), 6)
    for number, score in zip(held, covered.tolist(), strict=True):
        scores[number] = score
    return scores


def _telling(norms: Floats, closest: Floats) -> Floats:
    """What each piece of the question counts; together 1, or 0 if all texts hold all of it."""
    near = np.round(np.clip(closest, RARE, 1.0).mean(axis=0), 4)  # alike on every machine
    weights: Floats = norms * -np.log(near)
    total = float(weights.sum())
    return weights / total if total else weights


def _compared(asked: Floats, words: Floats) -> Floats:
    """All cosines, in products too small to wake the threads of a numeric library.

    Threads gain nothing at this size, and wait for each other on a busy machine.
    """
    size = max(1, SMALL_PRODUCT // max(asked.size, 1))
    parts = [asked @ words[at : at + size].T for at in range(0, len(words), size)]
    return np.concatenate(parts, axis=1)
