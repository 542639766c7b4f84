"""Vectors as blobs, searched inside the grant, with bytes of them in memory."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from ...core.access import Grant
from ...core.codec import memory_from_json
from ...core.filters import Filter
from ...core.ids import WorkspaceId
from ...core.metrics import CacheUse
from ...core.protocols import Floats, Scored
from ...core.records import EmbeddingProfile, Memory
from ..checks import DIGITS, check_vector, ranked
from .best import best_first, few_first, names
from .cache import LabelCache
from .candidates import candidates, ceilings
from .cards import Card, CardBox, Cards, pick
from .codes import LABEL, MEMORY, NUMBER, Codes, Ints, LabelCodes, Way, encoded
from .labels import (
    Readable,
    known_workspace,
    locked_workspace,
    readable,
    take_numbers,
    workspace_number,
)
from .scoring import Cosines, Near, cosines, exact_scores, scored, scored_by_number
from .session import Connections, Session

FIRST_PORTION = 64
FEW = 1_000  # vectors
VERY_FEW = 200  # whose scores are told one by one, and kept until the question asks for them again
AT_ONCE = (
    10_000  # vectors read and made bytes: all of a large label would take several times its room
)


class SqlVectors:
    def __init__(self, connections: Connections, cards: CardBox, cache_bytes: int) -> None:
        self._connections = connections
        self._cards = cards
        self._cache: LabelCache[LabelCodes] = LabelCache(cache_bytes)
        self._profiles: dict[EmbeddingProfile, int] = {}  # committed ones: they never change
        self._last: Near | None = None  # one question asks several times

    @property
    def cache_use(self) -> CacheUse:
        return self._cache.use

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        checked = {id: check_vector(profile, vector) for id, vector in vectors.items()}
        return self._connections.write(
            lambda writer: put_vectors(writer, workspace, profile, checked)
        )

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "ids": json.dumps(ids)}
            bound["profile"] = self._profile(session, profile)
            rows = session.run("vectors_by_id", bound).fetchall()
            table = session.floats([data for _, data in rows])
        return dict(zip((id for id, _ in rows), table, strict=True))

    def nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[Scored]:
        asked = check_vector(profile, vector)
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            number = self._profile(session, profile)
            return self._nearest_in(session, view, grant, number, asked, where=where, limit=limit)

    def _nearest_in(
        self,
        session: Session,
        view: Readable,
        grant: Grant,
        profile: int,
        asked: Floats,
        *,
        where: Filter | None,
        limit: int,
    ) -> list[Scored]:
        """The closest in these labels, which are of what the grant may read."""
        blocks = [block for block in self._blocks(session, view, profile) if len(block)]
        if not blocks:
            return []
        search = _Search(session, view, grant, profile, asked, limit)
        if where:
            return search.past_filter(blocks, where)
        boxes = self._cards.at_hand(session, view)
        if sum(map(len, blocks)) <= VERY_FEW and (near := Near.of(view, profile, blocks, asked)):
            self._last = near
            return few_first(session, view, grant, near.scores, limit=limit, boxes=boxes)
        return search.among_all(blocks, boxes)

    def _blocks(self, session: Session, view: Readable, profile: int) -> Iterator[Codes]:
        wanted = {(view.workspace, s.label, profile): s for s in view.labels if s.latest}
        for codes in self._cache.fresh(wanted, partial(_read, session)):
            yield from codes.parts

    def _profile(self, session: Session, profile: EmbeddingProfile) -> int:
        number = self._profiles.get(profile)
        if number is None:
            number = profile_number(session, profile)
            if number >= 0:
                self._profiles[profile] = number
        return number

    def scores(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        asked = check_vector(profile, vector)
        with self._connections.reading() as session:
            view = readable(session, grant).searched(learned=False)
            number = self._profile(session, profile)
            cards = pick(self._cards.at_hand(session, view), ids)
            known = self._scored_in_memory(session, view, number, asked, cards)
            by_number = {memory: said[0] for memory, _, said in cards if said[0] not in known}
            if by_number:
                known |= scored_by_number(session, view, number, asked, by_number)
            if len(cards) < len(ids):
                there = {said[0] for *_, said in cards}
                rest = [id for id in ids if id not in there]
                known |= scored(self.get(grant, profile, rest), asked)
            return known

    def _scored_in_memory(
        self, session: Session, view: Readable, profile: int, asked: Floats, cards: Sequence[Card]
    ) -> dict[str, float]:
        """Of those whose vectors lie in memory anyhow, for `nearest` to look at."""
        if (last := self._last) and last.tells(view, profile, asked):
            return {said[0]: last.scores[n] for n, _, said in cards if n in last.scores}
        scores: dict[str, float] = {}
        for block in self._blocks(session, view, profile):
            if (floats := block.floats) is not None:
                places = block.place_of()
                here = {said[0]: places[memory] for memory, _, said in cards if memory in places}
                if here:
                    found = cosines(floats[list(here.values())], asked)
                    scores |= zip(here, found.tolist(), strict=True)
        return scores

    def missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        with self._connections.reading() as session:
            bound = {**readable(session, grant).parameters, "limit": limit, "after": after}
            bound["profile"] = self._profile(session, profile)
            rows = session.run("without_vector", bound).fetchall()
        return [
            memory_from_json(json.loads(content), grant.workspace, *state)
            for content, *state in rows
        ]

    def profiles(self) -> list[EmbeddingProfile]:
        with self._connections.reading() as session:
            rows = session.run("profiles").fetchall()
        return [_spelt(*row) for row in rows]

    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        with self._connections.reading() as session:
            bound = dict(readable(session, grant).parameters)
            bound["profile"] = self._profile(session, profile)
            done, left = session.run("vector_coverage", bound).fetchone()
        return {"embedded": done, "missing": left}

    def in_use(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        with self._connections.reading() as session:
            bound = {"workspace": known_workspace(session, workspace)}
            row = session.run("profile_in_use", bound).fetchone()
        return _spelt(*row) if row else None

    def use(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        def use(session: Session) -> None:
            number = workspace_number(session, workspace)
            bound = {"workspace": number, "profile": add_profile(session, profile)}
            session.run("use_profile", bound)
            session.run("answers_changed", {"workspace": number})

        self._connections.write(use)

    def drop(self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int) -> int:
        return self._connections.write(
            lambda session: drop_some_vectors(session, workspace, profile, limit)
        )


@dataclass(slots=True)
class _Search:
    """One question: from bounds to exact scores, best first."""

    session: Session
    view: Readable
    grant: Grant
    profile: int
    asked: Floats
    limit: int

    def among_all(self, blocks: Sequence[Codes], boxes: Sequence[Cards]) -> list[Scored]:
        if sum(map(len, blocks)) <= FEW and all(block.floats is not None for block in blocks):
            near = blocks  # to look at each takes no longer than to find out which to look at
        else:
            near = [block for block in candidates(blocks, self.asked, self.limit) if len(block)]
        found = [self._exact(block.rows, block.floats) for block in near]
        return best_first(
            self.session,
            self.view,
            self.grant,
            np.concatenate([numbers for numbers, _ in found]),
            np.concatenate([scores for _, scores in found]),
            where=None,
            limit=self.limit,
            boxes=boxes,
        )

    def past_filter(self, blocks: Sequence[Codes], where: Filter) -> list[Scored]:
        """In growing portions, until nothing left could beat what passed."""
        rows, most = ceilings(blocks, self.asked)
        passed: list[tuple[str, float]] = []
        size = max(FIRST_PORTION, 4 * self.limit)
        rest = np.arange(len(rows))
        while len(rest):
            taken, rest = _highest(most, rest, size)
            ids = names(self.session, self.view, self.grant, rows[taken, MEMORY].tolist(), where)
            kept = taken[np.isin(rows[taken, MEMORY], list(ids))]
            for memory, score in zip(*self._exact(rows[kept]), strict=True):
                passed.append((ids[int(memory)], float(score)))
            best = sorted((score for _, score in passed), reverse=True)[: self.limit]
            if len(best) == self.limit:
                rest = rest[most[rest] >= best[-1] - 10**-DIGITS]
            size *= 4
        return ranked(passed)[: self.limit]

    def _exact(self, rows: Ints, floats: Floats | None = None) -> tuple[Ints, Cosines]:
        """The numbers of these memories and their cosines, from memory or from the file."""
        if floats is not None:
            return rows[:, MEMORY], cosines(floats, self.asked)
        return exact_scores(self.session, self.view.workspace, self.profile, rows, self.asked)


def _highest(
    most: Floats, rest: NDArray[np.intp], size: int
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    if len(rest) <= size:
        return rest, rest[:0]
    order = np.argpartition(-most[rest], size)
    return rest[order[:size]], rest[order[size:]]


Place = tuple[int, int, int]  # workspace, label, profile


def _read(
    session: Session, stale: Mapping[Place, tuple[LabelCodes | None, int]]
) -> list[LabelCodes]:
    places = [(*key, after, AT_ONCE) for key, (_, after) in stale.items()]
    first = session.read_each("vectors_after", places)
    known = (codes or LabelCodes() for codes, _ in stale.values())
    return [_grown(session, *each) for each in zip(stale, known, first, strict=True)]


def _grown(
    session: Session, key: Place, known: LabelCodes, first: list[tuple[int, int, bytes]]
) -> LabelCodes:
    new = []
    some = first
    while some:
        new.append(_table(session, key[1], some))
        more = len(some) == AT_ONCE
        after = some[-1][0]
        some = session.read_each("vectors_after", [(*key, after, AT_ONCE)])[0] if more else []
    if not new:
        return known
    way = Way.of(len(known) + sum(len(numbers) for numbers, _ in new))
    if not known.kept_like(way):  # it outgrew the way it was kept
        (again,) = _read(session, {key: (None, 0)})
        return again
    return known.grown([encoded(numbers, table, way) for numbers, table in new])


def _table(session: Session, label: int, rows: list[tuple[int, int, bytes]]) -> tuple[Ints, Floats]:
    numbers, memories, vectors = zip(*rows, strict=True)
    places = np.empty((len(rows), 3), dtype=np.int64)
    places[:, LABEL], places[:, NUMBER], places[:, MEMORY] = label, numbers, memories
    return places, session.floats(vectors)


def _named(profile: EmbeddingProfile) -> dict[str, object]:
    return {
        "provider": profile.provider,
        "model": profile.model,
        "dimension": profile.dimension,
        "revision": profile.revision,
    }


def _spelt(provider: str, model: str, dimension: int, revision: str) -> EmbeddingProfile:
    return EmbeddingProfile(provider=provider, model=model, dimension=dimension, revision=revision)


def profile_number(session: Session, profile: EmbeddingProfile) -> int:
    row = session.run("profile", _named(profile)).fetchone()
    return int(row[0]) if row else -1


def add_profile(session: Session, profile: EmbeddingProfile) -> int:
    known = profile_number(session, profile)
    if known >= 0:
        return known
    (number,) = session.run("add_profile", _named(profile)).fetchone()
    return int(number)


def put_vectors(
    session: Session,
    workspace: WorkspaceId,
    profile: EmbeddingProfile,
    vectors: Mapping[str, Floats],
) -> int:
    """Keep these, which were checked; how many of their memories are there."""
    number = locked_workspace(session, workspace)
    kind = add_profile(session, profile)
    spelt = {id: vector.astype("<f4").tobytes() for id, vector in vectors.items()}
    bound = {"workspace": number, "profile": kind, "ids": json.dumps(list(vectors))}
    found = session.run("vectors_placed", bound).fetchall()
    # Learning again what is there is no write.
    changed = [row for row in found if row[3] != spelt[row[0]]]
    # What is read together lies together: a question reads one label, and not all that was learned.
    changed.sort(key=itemgetter(2))
    numbers = take_numbers(session, number, len(changed))
    old = [(number, kind, memory) for _, memory, _, data in changed if data is not None]
    session.run_many("drop_vector", old)
    rows = [
        (number, label, kind, place, memory, spelt[id])
        for place, (id, memory, label, _) in zip(numbers, changed, strict=True)
    ]
    session.run_many("add_vector", rows)
    latest = {label: place for _, label, _, place, *_ in rows}
    replaced = Counter(label for _, _, label, data in changed if data is not None)
    growth = [(number, label, place, replaced[label]) for label, place in latest.items()]
    session.run_many("label_vectors_grew", growth)
    if found:
        session.run("use_first_profile", {"workspace": number, "profile": kind})
    return len(found)


def drop_some_vectors(
    session: Session, workspace: WorkspaceId, profile: EmbeddingProfile, limit: int
) -> int:
    """Of a profile that is not in use. Whoever follows the labels sees that something is gone."""
    number = locked_workspace(session, workspace)
    kind = profile_number(session, profile)
    some = {"workspace": number, "profile": kind, "limit": limit}
    rows = session.run("some_vectors", some).fetchall()
    session.run_many("drop_vector", [(number, kind, memory) for _, _, memory in rows])
    session.run_many("label_lost", [(number, label) for label in {label for _, label, _ in rows}])
    return len(rows)
