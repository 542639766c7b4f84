"""Vectors as blobs, searched exactly inside the grant.

The cache holds a byte per number. A byte-sized vector differs from the real one by a known
distance, so its score bounds the real score from both sides: whatever could still be among
the best is read as floats and scored again. The answer is exact.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from ...core.access import Grant
from ...core.codec import memory_from_json
from ...core.filters import Filter
from ...core.ids import WorkspaceId
from ...core.protocols import Floats, Scored
from ...core.records import EmbeddingProfile, Memory
from ..checks import DIGITS, check_vector, ranked
from .best import names
from .cache import LabelCache
from .connections import Connection, Connections
from .labels import SQL, Readable, known_workspace, readable, take_numbers

Ints = NDArray[np.int64]
BLOCK = 4_096  # rows widened to floats at a time: they fit the processor's cache
FIRST_PORTION = 64


@dataclass(frozen=True, slots=True)
class Codes:
    """The vectors of one label, a byte per number."""

    memories: Ints
    codes: NDArray[np.int8]
    scales: Floats
    errors: Floats  # length of what the bytes leave out

    @property
    def bytes(self) -> int:
        return int(self.codes.nbytes + self.memories.nbytes + 2 * self.scales.nbytes + 200)

    def __len__(self) -> int:
        return len(self.memories)


class SqliteVectors:
    def __init__(self, connections: Connections, cache_bytes: int) -> None:
        self._connections = connections
        self._cache: LabelCache[Codes] = LabelCache(cache_bytes)

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        checked = {id: check_vector(profile, vector) for id, vector in vectors.items()}
        return self._connections.write(lambda writer: _put(writer, workspace, profile, checked))

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        with self._connections.reading() as connection:
            bound = {**readable(connection, grant).parameters, "ids": json.dumps(ids)}
            bound["profile"] = profile_number(connection, profile)
            rows = connection.execute(SQL["vectors_by_id"], bound).fetchall()
        return {id: np.frombuffer(data, dtype="<f4") for id, data in rows}

    def nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
    ) -> list[Scored]:
        asked = check_vector(profile, vector)
        with self._connections.reading() as connection:
            view = readable(connection, grant)
            number = profile_number(connection, profile)
            blocks = [block for block in self._blocks(connection, view, number) if len(block)]
            if not blocks:
                return []
            memories = np.concatenate([block.memories for block in blocks])
            about, error = _approximate(blocks, asked)
            search = _Search(connection, view, grant, number, asked, where, limit)
            return search.run(memories, about + error)

    def _blocks(self, connection: Connection, view: Readable, profile: int) -> Iterator[Codes]:
        for state in view.labels:
            if state.latest:
                rows = {"workspace": view.workspace, "label": state.label, "profile": profile}
                key = (view.workspace, state.label, profile)
                yield self._cache.fresh(key, state, partial(_read, connection, rows))

    def missing(self, grant: Grant, profile: EmbeddingProfile, *, limit: int) -> list[Memory]:
        with self._connections.reading() as connection:
            bound = {**readable(connection, grant).parameters, "limit": limit}
            bound["profile"] = profile_number(connection, profile)
            rows = connection.execute(SQL["without_vector"], bound).fetchall()
        return [memory_from_json(json.loads(content), grant.workspace) for (content,) in rows]

    def profiles(self) -> list[EmbeddingProfile]:
        with self._connections.reading() as connection:
            rows = connection.execute(SQL["profiles"]).fetchall()
        return [
            EmbeddingProfile(provider=provider, model=model, dimension=size, revision=revision)
            for provider, model, size, revision in rows
        ]

    def use(self, profile: EmbeddingProfile) -> None:
        def use(connection: Connection) -> None:
            bound = {"profile": add_profile(connection, profile)}
            connection.execute(SQL["use_profile"], bound)

        self._connections.write(use)


@dataclass(slots=True)
class _Search:
    """One question: from upper bounds to exact scores, best first."""

    connection: Connection
    view: Readable
    grant: Grant
    profile: int
    asked: Floats
    where: Filter | None
    limit: int

    def run(self, memories: Ints, ceilings: NDArray[np.float32]) -> list[Scored]:
        passed: list[tuple[str, float]] = []
        size = max(FIRST_PORTION, 4 * self.limit)
        rest = np.arange(len(memories))
        while len(rest):
            taken, rest = _highest(ceilings, rest, size)
            passed += self._exact(memories[taken])
            best = sorted((score for _, score in passed), reverse=True)[: self.limit]
            if len(best) == self.limit:
                floor = best[-1] - 10**-DIGITS
                rest = rest[ceilings[rest] >= floor]
            size *= 4
        return ranked(passed)[: self.limit]

    def _exact(self, numbers: Ints) -> list[tuple[str, float]]:
        ids = names(self.connection, self.view, self.grant, numbers, self.where)
        bound = {**self.view.parameters, "profile": self.profile}
        bound["numbers"] = json.dumps(list(ids))
        rows = self.connection.execute(SQL["vectors_by_number"], bound).fetchall()
        if not rows:
            return []
        table = np.frombuffer(b"".join(data for _, data in rows), dtype="<f4")
        scores = table.reshape(len(rows), -1).astype(np.float64) @ self.asked.astype(np.float64)
        pairs = zip(rows, np.round(np.maximum(scores, 0.0), DIGITS), strict=True)
        return [(ids[number], float(score)) for (number, _), score in pairs]


def _highest(
    ceilings: NDArray[np.float32], rest: NDArray[np.intp], size: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if len(rest) <= size:
        return rest, rest[:0]
    order = np.argpartition(-ceilings[rest], size)
    return rest[order[:size]], rest[order[size:]]


def _approximate(blocks: Sequence[Codes], asked: Floats) -> tuple[Floats, Floats]:
    """Scores from bytes, and how far each can be off."""
    scores = []
    for block in blocks:
        for start in range(0, len(block), BLOCK):
            part = slice(start, start + BLOCK)
            scores.append((block.codes[part].astype(np.float32) @ asked) * block.scales[part])
    # 1e-5 covers the rounding of single precision itself
    errors = np.concatenate([block.errors for block in blocks]) + np.float32(1e-5)
    return np.concatenate(scores), errors


def _read(connection: Connection, rows: dict[str, int], known: Codes | None, after: int) -> Codes:
    new = connection.execute(SQL["new_vectors"], {**rows, "after": after}).fetchall()
    if not new:
        return known or _encoded(np.zeros(0, dtype=np.int64), np.zeros((0, 1), dtype=np.float32))
    memories = np.array([row[1] for row in new], dtype=np.int64)
    table = np.frombuffer(b"".join(row[2] for row in new), dtype="<f4").reshape(len(new), -1)
    added = _encoded(memories, table)
    return _joined(known, added) if known and len(known) else added


def _encoded(memories: Ints, table: Floats) -> Codes:
    scales = np.abs(table).max(axis=1, initial=1e-12) / np.float32(127)
    codes = np.rint(table / scales[:, None]).astype(np.int8)
    errors = np.linalg.norm(table - codes * scales[:, None], axis=1)
    return Codes(memories, codes, scales.astype(np.float32), errors.astype(np.float32))


def _joined(one: Codes, other: Codes) -> Codes:
    return Codes(
        np.concatenate([one.memories, other.memories]),
        np.concatenate([one.codes, other.codes]),
        np.concatenate([one.scales, other.scales]),
        np.concatenate([one.errors, other.errors]),
    )


def _named(profile: EmbeddingProfile) -> dict[str, object]:
    return {
        "provider": profile.provider,
        "model": profile.model,
        "dimension": profile.dimension,
        "revision": profile.revision,
    }


def profile_number(connection: Connection, profile: EmbeddingProfile) -> int:
    row = connection.execute(SQL["profile"], _named(profile)).fetchone()
    return int(row[0]) if row else -1


def add_profile(connection: Connection, profile: EmbeddingProfile) -> int:
    known = profile_number(connection, profile)
    if known >= 0:
        return known
    (number,) = connection.execute(SQL["add_profile"], _named(profile)).fetchone()
    return int(number)


def _put(
    connection: Connection,
    workspace: WorkspaceId,
    profile: EmbeddingProfile,
    vectors: Mapping[str, Floats],
) -> int:
    number = known_workspace(connection, workspace)
    kind = add_profile(connection, profile)
    places = {}
    for id in vectors:
        bound = {"workspace": number, "id": id}
        row = connection.execute(SQL["memory_content"], bound).fetchone()
        if row:
            places[id] = row[:2]
    numbers = take_numbers(connection, number, workspace, len(places)) if places else range(0)
    for vector_number, (id, (memory, label)) in zip(numbers, places.items(), strict=True):
        where = {"workspace": number, "label": label, "profile": kind, "memory": memory}
        replaced = connection.execute(SQL["drop_vector"], where).rowcount
        data = vectors[id].astype("<f4").tobytes()
        connection.execute(SQL["add_vector"], {**where, "number": vector_number, "data": data})
        grown = {**where, "latest": vector_number, "replaced": replaced}
        connection.execute(SQL["label_vectors_grew"], grown)
    return len(places)
