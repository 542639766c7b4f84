"""Looking for bytes that should be gone, in files as they lie on the disk."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO

import numpy as np

Reader = Callable[[Path], IO[bytes]]  # opens a file, to be read as what it says

CHUNK = 4_000_000
PREFIX = 3  # bytes; a table of their 16 million values tells where a look is worth while


def found_in_file(path: Path, pieces: Iterable[bytes]) -> Counter[bytes]:
    """How often each of these pieces (of three bytes or more) occurs in a file as it lies there."""
    with path.open("rb") as file:
        return found_in(file, pieces)


def found_in(file: IO[bytes], pieces: Iterable[bytes]) -> Counter[bytes]:
    """How often each of these pieces (of three bytes or more) occurs in what is left to read."""
    by_prefix: dict[bytes, set[bytes]] = defaultdict(set)
    for piece in pieces:
        by_prefix[piece[:PREFIX]].add(piece)
    table = np.zeros(1 << 24, dtype=bool)
    for prefix in by_prefix:
        table[int.from_bytes(prefix, "little")] = True
    longest = max((len(piece) for group in by_prefix.values() for piece in group), default=PREFIX)
    return Counter(
        piece
        for chunk, fresh in _chunks(file, longest)
        for place in _promising(chunk, table)
        if place < fresh
        for piece in by_prefix[chunk[place : place + PREFIX]]
        if chunk.startswith(piece, place)
    )


def _chunks(file: IO[bytes], overlap: int) -> Iterator[tuple[bytes, int]]:
    """Parts of the file, each with a look into the next, and where its own part ends."""
    known = file.read(CHUNK)
    while known:
        more = file.read(CHUNK)
        yield known + more[:overlap], len(known)
        known = more


def _promising(chunk: bytes, table: np.ndarray[tuple[int], np.dtype[np.bool]]) -> list[int]:
    each = np.frombuffer(chunk, dtype=np.uint8).astype(np.int32)
    if len(each) < PREFIX:
        return []
    prefixes = each[:-2] | each[1:-1] << 8 | each[2:] << 16
    places: list[int] = np.flatnonzero(table[prefixes]).tolist()
    return places
