"""Late interaction: a question and a text compared word by word, with the built-in table.

For each piece of the question the closest piece of the text, weighted by how telling the piece
is (its vector's length says that). It sees what an average over the text blurs, needs no
model, and works beside any embedder.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..core.protocols import Floats
from .builtin import BuiltinEmbedder


def interaction(question: str, texts: Sequence[str]) -> list[float]:
    """How well each text covers the question, from about 0 to 1."""
    embedder = BuiltinEmbedder()
    asked = embedder.tokens(question)
    total = float(asked.norms.sum())
    if not total:
        return [0.0] * len(texts)
    weights = asked.norms / total
    return [_covered(asked.vectors, weights, embedder.tokens(text).vectors) for text in texts]


def _covered(asked: Floats, weights: Floats, text: Floats) -> float:
    if not len(text):
        return 0.0
    closest = (asked @ text.T).max(axis=1)
    return round(float(closest @ weights), 6)
