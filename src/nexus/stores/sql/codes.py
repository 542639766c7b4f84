"""Vectors as bytes: small enough to keep in memory, with a known distance from the real ones.

Each number is kept in one byte, and what that byte leaves out in a second one. Either way the
distance to the real vector is known, so a score from bytes bounds the real score from both
sides: `candidates.py` uses that to find the best.

Turning bytes into floats takes longer than multiplying them, and reading floats from the database
longer than both. A label is therefore kept as floats; only a large one would take too much room
and is kept with the signs of its vectors instead, see `signs.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...core.protocols import Floats
from .signs import COUNTED, Signs

Ints = NDArray[np.int64]
Bytes = NDArray[np.int8]
Places = NDArray[np.intp]

LABEL, NUMBER, MEMORY = 0, 1, 2  # columns of `Codes.rows`
BLOCK = 256  # rows widened at a time: they fit the cache
AS_THEY_ARE = 1_024  # rows of floats at a time: still too few to wake BLAS threads
ROUNDING = np.float32(1e-5)  # of single precision itself
KEPT_AS_FLOATS = range(20_000)  # vectors of one label
SIGNED_FROM = 20_000
PLACE_BYTES = 100  # of an entry of `Codes.places`
MUCH_LARGER = 4  # times: a part that stays as it is when another is added


@dataclass(frozen=True, slots=True)
class Layer:
    """Vectors as bytes times a scale, and the length of what that leaves out."""

    codes: Bytes | Floats
    scales: Floats
    errors: Floats

    def scores(self, asked: Floats, places: Places | None = None) -> Floats:
        """Of the vectors at these places, or of all."""
        found = np.empty(len(self.codes if places is None else places), dtype=np.float32)
        floats = self.codes.dtype == np.float32
        wide = np.empty((0 if floats else BLOCK, self.codes.shape[1]), dtype=np.float32)
        size = AS_THEY_ARE if floats else BLOCK
        for start in range(0, len(found), size):
            block = slice(start, start + size)
            part = self.codes[block] if places is None else self.codes.take(places[block], axis=0)
            if not floats:
                wide[: len(part)] = part
                part = wide[: len(part)]
            np.dot(part, asked, out=found[block])
        return found * (self.scales if places is None else self.scales[places])

    def at(self, places: Places) -> Layer:
        return Layer(self.codes[places], self.scales[places], self.errors[places])

    def first(self, count: int) -> Layer:
        return Layer(self.codes[:count], self.scales[:count], self.errors[:count])


@dataclass(frozen=True, slots=True)
class Codes:
    """Vectors of one label."""

    rows: Ints  # label, number of the vector, number of its memory
    coarse: Layer
    fine: Layer | None  # none: the coarse one is the vectors themselves
    signs: Signs | None = None
    places: dict[int, int] = field(default_factory=dict, repr=False)  # filled when asked for

    @property
    def bytes(self) -> int:
        layers = self.coarse.codes.nbytes * (2 if self.fine else 1)
        signs = self.signs.words.nbytes if self.signs else 0
        places = PLACE_BYTES * len(self.rows) if self.fine is None else 0
        return int(layers + signs + places + self.rows.nbytes + 16 * len(self.rows) + 200)

    @property
    def floats(self) -> Floats | None:
        """The vectors themselves, where they are kept."""
        return self.coarse.codes if self.coarse.codes.dtype == np.float32 else None  # type: ignore[return-value]

    def place_of(self) -> dict[int, int]:
        """Where the vector of each memory stands."""
        if len(self.places) < len(self.rows):
            self.places.update(zip(self.rows[:, MEMORY].tolist(), range(len(self)), strict=True))
        return self.places

    def at(self, places: Places) -> Codes:
        """Those at these places, as they are compared next: without their signs."""
        fine = self.fine.at(places) if self.fine else None
        return Codes(self.rows[places], self.coarse.at(places), fine)

    def until(self, number: int) -> Codes:
        there = int(np.searchsorted(self.rows[:, NUMBER], number, "right"))
        if there == len(self):
            return self
        fine = self.fine.first(there) if self.fine else None
        signs = Signs(self.signs.words[:, :there]) if self.signs else None
        return Codes(self.rows[:there], self.coarse.first(there), fine, signs)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class LabelCodes:
    """All vectors of one label, in a few parts: adding one must not copy all the others."""

    parts: tuple[Codes, ...] = ()

    @property
    def bytes(self) -> int:
        return 200 + sum(part.bytes for part in self.parts)

    def until(self, number: int) -> LabelCodes:
        """Those whose numbers go up to this one; numbers rise."""
        return LabelCodes(tuple(part.until(number) for part in self.parts))

    def kept_like(self, way: Way) -> bool:
        return all(
            (part.fine is None, part.signs is not None) == (way.as_floats, way.signed)
            for part in self.parts
        )

    def grown(self, added: Sequence[Codes]) -> LabelCodes:
        """With these after the others; a part is always much larger than all that follow."""
        kept, last = list(self.parts), list(added)
        while kept and len(kept[-1]) < MUCH_LARGER * sum(map(len, last)):
            last.insert(0, kept.pop())
        return LabelCodes((*kept, _joined(last)))

    def __len__(self) -> int:
        return sum(map(len, self.parts))


@dataclass(frozen=True, slots=True)
class Way:
    """How the vectors of a label are kept."""

    as_floats: bool
    signed: bool

    @classmethod
    def of(cls, count: int) -> Way:
        """For a label of so many vectors."""
        as_floats = count in KEPT_AS_FLOATS
        return cls(as_floats, COUNTED and not as_floats and count >= SIGNED_FROM)


def encoded(rows: Ints, table: Floats, way: Way) -> Codes:
    if way.as_floats:
        ones = np.ones(len(table), dtype=np.float32)
        return Codes(rows, Layer(np.ascontiguousarray(table), ones, ROUNDING * ones), None)
    coarse, rest = _layer(table)
    fine, _ = _layer(rest)
    return Codes(rows, coarse, fine, Signs.of(table) if way.signed else None)


def _layer(table: Floats) -> tuple[Layer, Floats]:
    scales = np.abs(table).max(axis=1, initial=1e-12) / np.float32(127)
    codes = np.rint(table / scales[:, None]).astype(np.int8)
    rest = table - codes * scales[:, None]
    errors = np.linalg.norm(rest, axis=1) + ROUNDING
    return Layer(codes, scales.astype(np.float32), errors.astype(np.float32)), rest


def _joined(parts: Sequence[Codes]) -> Codes:
    """All of them, which are kept the same way."""
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([part.rows for part in parts])
    fine = [part.fine for part in parts if part.fine]
    signs = [part.signs for part in parts if part.signs]
    return Codes(
        rows,
        _layers_joined([part.coarse for part in parts]),
        _layers_joined(fine) if fine else None,
        Signs.joined(signs) if signs else None,
    )


def _layers_joined(layers: Sequence[Layer]) -> Layer:
    return Layer(
        np.concatenate([layer.codes for layer in layers]),
        np.concatenate([layer.scales for layer in layers]),
        np.concatenate([layer.errors for layer in layers]),
    )
