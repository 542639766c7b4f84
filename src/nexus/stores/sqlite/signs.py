"""One bit per number: which of very many vectors are worth a closer look.

All vectors are turned by one random rotation, and of each number only the sign is kept; a
question keeps a second bit, whether the number is a large one. How many signs differ then tells
the cosine, give or take an error that is known: after a random rotation it depends on the number
of dimensions and on the cosine, and not on how the vectors are spread. So nothing is learned from
the data, nothing is built anew as it grows, and a label's bits are the same in every process.

The idea is that of RaBitQ (Gao and Long, SIGMOD 2024).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from math import erf, floor, sqrt

import numpy as np
from numpy.typing import NDArray

from ...core.protocols import Floats

Words = NDArray[np.uint64]
Counts = NDArray[np.uint16]

COUNTED = hasattr(np, "bitwise_count")  # since numpy 2.0; without it every search is exact
SEED = 1
AT_ONCE = 1 << 15  # vectors: their words fit the processor's cache
HEAVY = 3  # what a sign of a large number counts; with 1 it is the best scale of two bits
DEVIATIONS = 3.0  # of 1,000 vectors exactly at the limit one or two differ by more


@dataclass(frozen=True, slots=True)
class Question:
    """A vector that is asked for: its signs, and which of its numbers are large."""

    signs: Words
    heavy: Words
    sizes: Floats = field(repr=False)  # of the numbers; 1 is their mean square

    @classmethod
    def of(cls, asked: Floats) -> Question:
        turned = asked @ rotation(len(asked))
        sizes = np.abs(turned) * np.float32(sqrt(len(turned)))
        return cls(_packed(turned[None] > 0)[:, 0], _packed(sizes[None] > 1)[:, 0], sizes)

    def furthest(self, cosine: float) -> int:
        """How much the signs of a vector this near differ, apart from one or two in a thousand.

        Turned at random, such a vector is `cosine` times the question plus noise of the length
        that is left. So each of its signs differs with a known chance; their sum is as good as
        normally distributed.
        """
        near = min(max(cosine, -1 + 1e-6), 1 - 1e-6)
        lean = near / sqrt(2 * (1 - near**2))
        agreeing = np.array([erf(size * lean) for size in self.sizes.tolist()])
        weights = np.where(self.sizes > 1, HEAVY, 1)
        expected = float(weights @ (1 - agreeing)) / 2
        variance = float(weights**2 @ (1 - agreeing**2)) / 4
        return floor(expected + DEVIATIONS * sqrt(variance))


@dataclass(frozen=True, slots=True)
class Signs:
    """The signs of many vectors, 64 to a word; a row of words runs along the vectors."""

    words: Words

    @classmethod
    def of(cls, table: Floats) -> Signs:
        turn = rotation(table.shape[1])
        words = np.empty((turn.shape[1] // 64, len(table)), dtype=np.uint64)
        for start in range(0, len(table), AT_ONCE):
            words[:, start : start + AT_ONCE] = _packed(table[start : start + AT_ONCE] @ turn > 0)
        return cls(words)

    def differing(self, question: Question) -> Counts:
        """How many signs differ from the question's, those of large numbers counting more."""
        found = np.zeros(self.words.shape[1], dtype=np.uint16)
        for start in range(0, len(found), AT_ONCE):
            part = found[start : start + AT_ONCE]
            for words, signs, heavy in zip(
                self.words[:, start : start + AT_ONCE], question.signs, question.heavy, strict=True
            ):
                differ = words ^ signs
                part += np.bitwise_count(differ)
                differ &= heavy
                part += np.bitwise_count(differ) * np.uint8(HEAVY - 1)
        return found

    def joined(self, other: Signs) -> Signs:
        return Signs(np.concatenate([self.words, other.words], axis=1))


@lru_cache(maxsize=8)
def rotation(dimension: int) -> Floats:
    """Always the same one, into the next full word of dimensions."""
    size = -(-dimension // 64) * 64
    normal = np.random.default_rng(SEED).standard_normal((size, size))
    turn, _ = np.linalg.qr(normal)
    return np.ascontiguousarray(turn[:dimension], dtype=np.float32)


def _packed(positive: NDArray[np.bool_]) -> Words:
    """One row of words for every 64 columns."""
    return np.packbits(positive, axis=1).view(np.uint64).T
