"""Vectors as bytes: small enough to keep in memory, with a known distance from the real ones.

Each number is kept in one byte, and what that byte leaves out in a second one. Either way the
distance to the real vector is known, so a score from bytes bounds the real score from both
sides. The first bytes of all vectors tell which could be among the best, the second bytes of
those leave only a few, and these are read as floats: the answer is exact.

Turning bytes into floats takes longer than multiplying them. A label of middling size is
therefore kept as floats: a small one does not need it, and a large one would take too much room.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ...core.protocols import Floats

Ints = NDArray[np.int64]
Bytes = NDArray[np.int8]

LABEL, NUMBER, MEMORY = 0, 1, 2  # columns of `Codes.rows`
BLOCK = 256  # rows widened at a time: they fit the cache, and are too few to wake BLAS threads
ROUNDING = np.float32(1e-5)  # of single precision itself
KEPT_AS_FLOATS = range(1_000, 20_000)  # vectors of one label


@dataclass(frozen=True, slots=True)
class Layer:
    """Vectors as bytes times a scale, and the length of what that leaves out."""

    codes: Bytes | Floats
    scales: Floats
    errors: Floats

    def scores(self, asked: Floats) -> Floats:
        if self.codes.dtype == np.float32:
            whole: Floats = self.codes @ asked
            return whole
        found = np.empty(len(self.codes), dtype=np.float32)
        wide = np.empty((BLOCK, self.codes.shape[1]), dtype=np.float32)
        for start in range(0, len(found), BLOCK):
            part = self.codes[start : start + BLOCK]
            wide[: len(part)] = part
            np.dot(wide[: len(part)], asked, out=found[start : start + BLOCK])
        return found * self.scales

    def at(self, places: NDArray[np.intp]) -> Layer:
        return Layer(self.codes[places], self.scales[places], self.errors[places])


@dataclass(frozen=True, slots=True)
class Codes:
    """The vectors of one label."""

    rows: Ints  # label, number of the vector, number of its memory
    coarse: Layer
    fine: Layer | None  # none: the coarse one is the vectors themselves

    @property
    def bytes(self) -> int:
        layers = self.coarse.codes.nbytes * (2 if self.fine else 1)
        return int(layers + self.rows.nbytes + 16 * len(self.rows) + 200)

    @property
    def floats(self) -> Floats | None:
        """The vectors themselves, where they are kept."""
        return self.coarse.codes if self.coarse.codes.dtype == np.float32 else None  # type: ignore[return-value]

    def at(self, places: NDArray[np.intp]) -> Codes:
        fine = self.fine.at(places) if self.fine else None
        return Codes(self.rows[places], self.coarse.at(places), fine)

    def __len__(self) -> int:
        return len(self.rows)


def encoded(rows: Ints, table: Floats, *, as_floats: bool) -> Codes:
    if as_floats:
        ones = np.ones(len(table), dtype=np.float32)
        return Codes(rows, Layer(np.ascontiguousarray(table), ones, ROUNDING * ones), None)
    coarse, rest = _layer(table)
    fine, _ = _layer(rest)
    return Codes(rows, coarse, fine)


def _layer(table: Floats) -> tuple[Layer, Floats]:
    scales = np.abs(table).max(axis=1, initial=1e-12) / np.float32(127)
    codes = np.rint(table / scales[:, None]).astype(np.int8)
    rest = table - codes * scales[:, None]
    errors = np.linalg.norm(rest, axis=1) + ROUNDING
    return Layer(codes, scales.astype(np.float32), errors.astype(np.float32)), rest


def joined(one: Codes, other: Codes) -> Codes:
    """Both, which are kept the same way."""
    rows = np.concatenate([one.rows, other.rows])
    fine = _both(one.fine, other.fine) if one.fine and other.fine else None
    return Codes(rows, _both(one.coarse, other.coarse), fine)


def _both(one: Layer, other: Layer) -> Layer:
    return Layer(
        np.concatenate([one.codes, other.codes]),
        np.concatenate([one.scales, other.scales]),
        np.concatenate([one.errors, other.errors]),
    )


def candidates(blocks: Sequence[Codes], asked: Floats, limit: int) -> list[Codes]:
    """What can be among the `limit` best of each block, and hardly any other."""
    about = [block.coarse.scores(asked) for block in blocks]
    floor = _floor([a - block.coarse.errors for a, block in zip(about, blocks, strict=True)], limit)
    closer, finer, errors = [], [], []
    for scores, block in zip(about, blocks, strict=True):
        places = np.flatnonzero(scores + block.coarse.errors >= floor)
        near = block.at(places)
        closer.append(near)
        finer.append(scores[places] + near.fine.scores(asked) if near.fine else scores[places])
        errors.append((near.fine or near.coarse).errors)
    better = _floor([a - error for a, error in zip(finer, errors, strict=True)], limit)
    return [
        near.at(np.flatnonzero(scores + error >= better))
        for near, scores, error in zip(closer, finer, errors, strict=True)
    ]


def ceilings(blocks: Sequence[Codes], asked: Floats) -> tuple[Ints, Floats]:
    """All rows, and the most each can score."""
    most = [block.coarse.scores(asked) + block.coarse.errors for block in blocks]
    return np.concatenate([block.rows for block in blocks]), np.concatenate(most)


def _floor(sure: Sequence[Floats], limit: int) -> np.float32:
    """A score that `limit` of them certainly reach."""
    every = np.concatenate(sure)
    place = max(len(every) - limit, 0)
    return np.float32(np.partition(every, place)[place])
