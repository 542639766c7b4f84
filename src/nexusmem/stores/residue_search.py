"""Search of raw database files for bytes that should have been erased."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

FileOpener = Callable[[Path], IO[bytes]]  # opens a file of the database; decrypts it if needed

CHUNK_BYTES = 4_000_000
PREFIX_BYTES = 3  # a table of all 16 million prefixes marks the positions to compare


def count_in_file(path: Path, pieces: Iterable[bytes]) -> Counter[bytes]:
    """Return how often each piece occurs in a file; pieces have at least three bytes."""
    with path.open("rb") as file:
        return count_occurrences(file, pieces)


def count_occurrences(file: IO[bytes], pieces: Iterable[bytes]) -> Counter[bytes]:
    """Return how often each piece occurs in the rest of an open file."""
    by_prefix: dict[bytes, set[bytes]] = defaultdict(set)
    for piece in pieces:
        by_prefix[piece[:PREFIX_BYTES]].add(piece)
    table = np.zeros(1 << 24, dtype=bool)
    for prefix in by_prefix:
        table[int.from_bytes(prefix, "little")] = True
    longest = max(
        (len(piece) for group in by_prefix.values() for piece in group), default=PREFIX_BYTES
    )
    return Counter(
        piece
        for chunk, length in _read_chunks(file, longest)
        for offset in _find_prefixes(chunk, table)
        if offset < length
        for piece in by_prefix[chunk[offset : offset + PREFIX_BYTES]]
        if chunk.startswith(piece, offset)
    )


def _read_chunks(file: IO[bytes], overlap: int) -> Iterator[tuple[bytes, int]]:
    """Yield chunks with `overlap` bytes of the next chunk, and the length without them."""
    chunk = file.read(CHUNK_BYTES)
    while chunk:
        following = file.read(CHUNK_BYTES)
        yield chunk + following[:overlap], len(chunk)
        chunk = following


def _find_prefixes(chunk: bytes, table: np.ndarray[tuple[int], np.dtype[np.bool]]) -> list[int]:
    values = np.frombuffer(chunk, dtype=np.uint8).astype(np.int32)
    if len(values) < PREFIX_BYTES:
        return []
    prefixes = values[:-2] | values[1:-1] << 8 | values[2:] << 16
    offsets: list[int] = np.flatnonzero(table[prefixes]).tolist()
    return offsets
