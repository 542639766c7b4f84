"""One bit per number: which of very many vectors are worth a closer look.

All vectors are turned by one random rotation, and of each number only the sign is kept; a
question keeps a second bit, whether the number is a large one. How many signs differ then tells
the cosine, give or take an error that is known: after a random rotation it depends on the number
of dimensions and on the cosine, and not on how the vectors are spread. So nothing is learned from
the data, nothing is built anew as it grows, and a label's bits are the same in every process.

The idea is that of RaBitQ (Gao and Long, SIGMOD 2024).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import erf, floor, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from ...core.protocols import Floats

Words = NDArray[np.uint64]
Counts = NDArray[np.uint16]

COUNTED = hasattr(np, "bitwise_count")  # since numpy 2.0; without it every search is exact
SEED = 1
AT_ONCE = 1 << 16  # vectors: their words fit the processor's cache
HEAVY = 3  # what a sign of a large number counts; with 1 it is the best scale of two bits
DEVIATIONS = 3.5  # a normal distribution has 2 in 10,000 beyond


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
        """How much the signs of vectors this near differ; of 1,000, one or two differ by more.

        Turned at random, such a vector is `cosine` times the question plus noise at right angles
        to it. So each of its signs differs with a known chance, and their sum is as good as
        normally distributed.
        """
        near = min(max(cosine, -1 + 1e-6), 1 - 1e-6)
        lean = self.sizes * near / sqrt(1 - near**2)
        agreeing = np.array([erf(number / sqrt(2)) for number in lean.tolist()])
        weights = np.where(self.sizes > 1, HEAVY, 1)
        expected = float(weights @ (1 - agreeing)) / 2
        alone = float(weights**2 @ (1 - agreeing**2)) / 4
        # The noise is at right angles to the question, so what goes along with it cancels out.
        along = float(weights * self.sizes @ np.exp(-(lean**2) / 2))
        together = along**2 / (2 * pi * len(lean))
        return floor(expected + DEVIATIONS * sqrt(max(alone - together, 0.0)))


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
        differ = np.empty(min(AT_ONCE, len(found)), dtype=np.uint64)
        for start in range(0, len(found), AT_ONCE):
            part = found[start : start + AT_ONCE]
            rows = self.words[:, start : start + AT_ONCE]
            for words, signs, heavy in zip(rows, question.signs, question.heavy, strict=True):
                part += _differing(words, signs, heavy, differ[: len(part)])
        return found

    @classmethod
    def joined(cls, parts: Sequence[Signs]) -> Signs:
        return cls(np.concatenate([part.words for part in parts], axis=1))


def _differing(words: Words, signs: np.uint64, heavy: np.uint64, differ: Words) -> Words:
    """Of one word each; three times 64 fit a byte."""
    np.bitwise_xor(words, signs, out=differ)
    count = np.bitwise_count(differ)
    np.bitwise_and(differ, heavy, out=differ)
    count += np.bitwise_count(differ) * np.uint8(HEAVY - 1)
    return count


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
