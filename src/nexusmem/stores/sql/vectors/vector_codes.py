"""Scalar quantization: vectors as bytes in memory, with a known error.

One byte per number is the coarse layer; the fine layer quantizes its error in a second byte. The
distance to the real vector is known for both, so a score from bytes bounds the exact score from
both sides. `prefilter.py` uses these bounds.

Converting bytes to floats takes longer than multiplying, and reading floats from the database
takes longer than both. So the vectors of a label are cached as floats. Only a large label is
cached as bytes with sign bits, see `binary_codes.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import erf, floor, pi, sqrt

import numpy as np
from numpy.typing import NDArray

from ....core.protocols.embedder import Floats

Words = NDArray[np.uint64]
Counts = NDArray[np.uint16]

HAS_BITWISE_COUNT = hasattr(np, "bitwise_count")  # numpy 2.0; without it searches are exact
SEED = 1
VECTORS_PER_BLOCK = 1 << 16  # one word of each fits into the CPU cache
LARGE_WEIGHT = 3  # weight of the sign of a large number; 1 and 3 are the best two-bit scale
MAX_DEVIATIONS = 3.5  # a normal distribution exceeds it in 2 of 10,000 cases


@dataclass(frozen=True, slots=True)
class BinaryQuery:
    """Signs of a query vector, and which of its numbers are large."""

    signs: Words
    large: Words
    magnitudes: Floats = field(repr=False)  # absolute values, scaled to a mean square of 1

    @classmethod
    def from_vector(cls, query_vector: Floats) -> BinaryQuery:
        turned = query_vector @ random_rotation(len(query_vector))
        sizes = np.abs(turned) * np.float32(sqrt(len(turned)))
        return cls(_pack_bits(turned[None] > 0)[:, 0], _pack_bits(sizes[None] > 1)[:, 0], sizes)

    def max_distance(self, cosine: float) -> int:
        """Return a sign distance that vectors with this cosine rarely exceed (2 in 10,000).

        After a random rotation such a vector is `cosine` times the query plus orthogonal noise.
        So each sign differs with a known probability, and the sum is nearly normally distributed.
        """
        near = min(max(cosine, -1 + 1e-6), 1 - 1e-6)
        lean = self.magnitudes * near / sqrt(1 - near**2)
        agreeing = np.array([erf(number / sqrt(2)) for number in lean.tolist()])
        weights = np.where(self.magnitudes > 1, LARGE_WEIGHT, 1)
        expected = float(weights @ (1 - agreeing)) / 2
        variance = float(weights**2 @ (1 - agreeing**2)) / 4
        # The noise is orthogonal to the query: its parallel component has no variance.
        parallel = float(weights * self.magnitudes @ np.exp(-(lean**2) / 2))
        covariance = parallel**2 / (2 * pi * len(lean))
        return floor(expected + MAX_DEVIATIONS * sqrt(max(variance - covariance, 0.0)))


@dataclass(frozen=True, slots=True)
class BinaryCodes:
    """Sign bits of many vectors, 64 dimensions per word; shape (words, vectors)."""

    words: Words

    @classmethod
    def from_vectors(cls, table: Floats) -> BinaryCodes:
        turn = random_rotation(table.shape[1])
        words = np.empty((turn.shape[1] // 64, len(table)), dtype=np.uint64)
        for start in range(0, len(table), VECTORS_PER_BLOCK):
            words[:, start : start + VECTORS_PER_BLOCK] = _pack_bits(
                table[start : start + VECTORS_PER_BLOCK] @ turn > 0
            )
        return cls(words)

    def sign_distances(self, query: BinaryQuery) -> Counts:
        """Return the weighted number of signs that differ from the query, per vector."""
        found = np.zeros(self.words.shape[1], dtype=np.uint16)
        differ = np.empty(min(VECTORS_PER_BLOCK, len(found)), dtype=np.uint64)
        for start in range(0, len(found), VECTORS_PER_BLOCK):
            part = found[start : start + VECTORS_PER_BLOCK]
            rows = self.words[:, start : start + VECTORS_PER_BLOCK]
            for words, signs, heavy in zip(rows, query.signs, query.large, strict=True):
                part += _word_distances(words, signs, heavy, differ[: len(part)])
        return found

    @classmethod
    def concat_all(cls, parts: Sequence[BinaryCodes]) -> BinaryCodes:
        return cls(np.concatenate([part.words for part in parts], axis=1))


def _word_distances(words: Words, signs: np.uint64, large: np.uint64, buffer: Words) -> Words:
    """Return the distances of one word per vector; at most 192, so a byte is enough."""
    np.bitwise_xor(words, signs, out=buffer)
    count = np.bitwise_count(buffer)
    np.bitwise_and(buffer, large, out=buffer)
    count += np.bitwise_count(buffer) * np.uint8(LARGE_WEIGHT - 1)
    return count


@lru_cache(maxsize=8)
def random_rotation(dimension: int) -> Floats:
    """Return the fixed random rotation, padded to a multiple of 64 dimensions."""
    size = -(-dimension // 64) * 64
    normal = np.random.default_rng(SEED).standard_normal((size, size))
    turn, _ = np.linalg.qr(normal)
    return np.ascontiguousarray(turn[:dimension], dtype=np.float32)


def _pack_bits(positive: NDArray[np.bool_]) -> Words:
    """Return packed bits: one row of words per 64 columns."""
    return np.packbits(positive, axis=1).view(np.uint64).T


Ints = NDArray[np.int64]
Bytes = NDArray[np.int8]
Positions = NDArray[np.intp]

LABEL, NUMBER, MEMORY = 0, 1, 2  # columns of `ByteCodes.rows`
BYTE_BLOCK_ROWS = 256  # rows converted at a time: they fit into the CPU cache
FLOAT_BLOCK_ROWS = 1_024  # few enough that BLAS starts no threads
FLOAT32_ERROR = np.float32(1e-5)  # rounding error of single precision
FLOAT_LABEL_SIZES = range(20_000)  # vectors per label that are cached as floats
SIGN_BITS_FROM = 20_000
POSITION_BYTES = 100  # estimate of an entry of `ByteCodes.positions`
GROWTH_FACTOR = 4  # a block is merged if it is smaller than this multiple of the new rows


@dataclass(frozen=True, slots=True)
class QuantizedLayer:
    """Vectors as bytes times a scale, and the norm of the quantization error."""

    codes: Bytes | Floats
    scales: Floats
    errors: Floats

    def approximate_scores(
        self, query_vector: Floats, positions: Positions | None = None
    ) -> Floats:
        """Return the dot products of the vectors at `positions`, or of all."""
        found = np.empty(len(self.codes if positions is None else positions), dtype=np.float32)
        floats = self.codes.dtype == np.float32
        wide = np.empty((0 if floats else BYTE_BLOCK_ROWS, self.codes.shape[1]), dtype=np.float32)
        size = FLOAT_BLOCK_ROWS if floats else BYTE_BLOCK_ROWS
        for start in range(0, len(found), size):
            block = slice(start, start + size)
            part = (
                self.codes[block]
                if positions is None
                else self.codes.take(positions[block], axis=0)
            )
            if not floats:
                wide[: len(part)] = part
                part = wide[: len(part)]
            np.dot(part, query_vector, out=found[block])
        return found * (self.scales if positions is None else self.scales[positions])

    def take_rows(self, positions: Positions) -> QuantizedLayer:
        return QuantizedLayer(self.codes[positions], self.scales[positions], self.errors[positions])

    def take_first(self, count: int) -> QuantizedLayer:
        return QuantizedLayer(self.codes[:count], self.scales[:count], self.errors[:count])


@dataclass(frozen=True, slots=True)
class ByteCodes:
    """A block of vectors of one label."""

    rows: Ints  # label, number of the vector, number of its memory
    coarse: QuantizedLayer
    fine: QuantizedLayer | None  # None: the coarse layer has the exact floats
    sign_bits: BinaryCodes | None = None
    positions: dict[int, int] = field(default_factory=dict, repr=False)  # filled on first use

    @property
    def size_bytes(self) -> int:
        layers = self.coarse.codes.nbytes * (2 if self.fine else 1)
        signs = self.sign_bits.words.nbytes if self.sign_bits else 0
        positions = POSITION_BYTES * len(self.rows) if self.fine is None else 0
        return int(layers + signs + positions + self.rows.nbytes + 16 * len(self.rows) + 200)

    @property
    def floats(self) -> Floats | None:
        """The exact vectors, or None if only bytes are cached."""
        return self.coarse.codes if self.coarse.codes.dtype == np.float32 else None  # type: ignore[return-value]

    def memory_positions(self) -> dict[int, int]:
        """Return the position of the vector of each memory number."""
        if len(self.positions) < len(self.rows):
            self.positions.update(zip(self.rows[:, MEMORY].tolist(), range(len(self)), strict=True))
        return self.positions

    def take_rows(self, positions: Positions) -> ByteCodes:
        """Return the rows at these positions, without sign bits."""
        fine = self.fine.take_rows(positions) if self.fine else None
        return ByteCodes(self.rows[positions], self.coarse.take_rows(positions), fine)

    def as_of(self, number: int) -> ByteCodes:
        count = int(np.searchsorted(self.rows[:, NUMBER], number, "right"))
        if count == len(self):
            return self
        fine = self.fine.take_first(count) if self.fine else None
        signs = BinaryCodes(self.sign_bits.words[:, :count]) if self.sign_bits else None
        return ByteCodes(self.rows[:count], self.coarse.take_first(count), fine, signs)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class LabelVectors:
    """All vectors of one label, in a few blocks: adding one does not copy all others."""

    blocks: tuple[ByteCodes, ...] = ()

    @property
    def size_bytes(self) -> int:
        return 200 + sum(part.size_bytes for part in self.blocks)

    def as_of(self, number: int) -> LabelVectors:
        """Return the vectors with a number up to this one; numbers are sorted."""
        return LabelVectors(tuple(part.as_of(number) for part in self.blocks))

    def has_precision(self, precision: VectorPrecision) -> bool:
        return all(
            (part.fine is None, part.sign_bits is not None)
            == (precision.is_float, precision.has_sign_bits)
            for part in self.blocks
        )

    def with_added(self, added: Sequence[ByteCodes]) -> LabelVectors:
        """Append blocks; each block stays much larger than all later ones together."""
        unchanged, merged = list(self.blocks), list(added)
        while unchanged and len(unchanged[-1]) < GROWTH_FACTOR * sum(map(len, merged)):
            merged.insert(0, unchanged.pop())
        return LabelVectors((*unchanged, _concat_codes(merged)))

    def __len__(self) -> int:
        return sum(map(len, self.blocks))


@dataclass(frozen=True, slots=True)
class VectorPrecision:
    """The form in which the vectors of a label are cached."""

    is_float: bool
    has_sign_bits: bool

    @classmethod
    def for_count(cls, count: int) -> VectorPrecision:
        """Return the precision for a label with `count` vectors."""
        as_floats = count in FLOAT_LABEL_SIZES
        return cls(as_floats, HAS_BITWISE_COUNT and not as_floats and count >= SIGN_BITS_FROM)


def encode_vectors(rows: Ints, table: Floats, precision: VectorPrecision) -> ByteCodes:
    if precision.is_float:
        ones = np.ones(len(table), dtype=np.float32)
        return ByteCodes(
            rows, QuantizedLayer(np.ascontiguousarray(table), ones, FLOAT32_ERROR * ones), None
        )
    coarse, rest = _quantize_layer(table)
    fine, _ = _quantize_layer(rest)
    return ByteCodes(
        rows, coarse, fine, BinaryCodes.from_vectors(table) if precision.has_sign_bits else None
    )


def _quantize_layer(table: Floats) -> tuple[QuantizedLayer, Floats]:
    scales = np.abs(table).max(axis=1, initial=1e-12) / np.float32(127)
    codes = np.rint(table / scales[:, None]).astype(np.int8)
    rest = table - codes * scales[:, None]
    errors = np.linalg.norm(rest, axis=1) + FLOAT32_ERROR
    return QuantizedLayer(codes, scales.astype(np.float32), errors.astype(np.float32)), rest


def _concat_codes(parts: Sequence[ByteCodes]) -> ByteCodes:
    """Concatenate blocks of the same precision."""
    if len(parts) == 1:
        return parts[0]
    rows = np.concatenate([part.rows for part in parts])
    fine = [part.fine for part in parts if part.fine]
    signs = [part.sign_bits for part in parts if part.sign_bits]
    return ByteCodes(
        rows,
        _concat_layers([part.coarse for part in parts]),
        _concat_layers(fine) if fine else None,
        BinaryCodes.concat_all(signs) if signs else None,
    )


def _concat_layers(layers: Sequence[QuantizedLayer]) -> QuantizedLayer:
    return QuantizedLayer(
        np.concatenate([layer.codes for layer in layers]),
        np.concatenate([layer.scales for layer in layers]),
        np.concatenate([layer.errors for layer in layers]),
    )
