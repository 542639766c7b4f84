"""Looking memories up by the names that they are about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

from ...core.derive import NAMED, known_as
from ...core.outline import Outline
from ...core.records import MemoryKind
from .cache import LabelCache
from .labels import Readable
from .session import Row, Session

MOST_NAMES = 500  # of what a viewer may read: to read more anew after each message is not worth it
HASH_BYTES = 100  # in a set


class Wanted(NamedTuple):
    """Names as they are looked up, and of what."""

    names: Sequence[str]
    kinds: Sequence[str]

    @classmethod
    def of(cls, names: Sequence[str], kinds: Sequence[MemoryKind] | None) -> Self:
        asked = {*(NAMED if kinds is None else kinds)}
        return cls(sorted(set(map(known_as, names))), sorted(asked))


@dataclass(frozen=True, slots=True)
class Names:
    """Which names of which kinds there are in a label, as hashes: no name is kept for that."""

    hashes: frozenset[int]

    @property
    def bytes(self) -> int:
        return HASH_BYTES * len(self.hashes) + 200

    def until(self, _number: int, /) -> Names:
        """All: whatever is here is looked up in the moment that is read."""
        return self


class NameBox:
    """The names of every label that was asked about lately: most of what may be one is none."""

    def __init__(self, cache_bytes: int) -> None:
        self._cache: LabelCache[Names] = LabelCache(cache_bytes)

    def known(self, session: Session, view: Readable, wanted: Wanted) -> Wanted:
        """Those that may be there; all of them, where there are too many to know."""
        labels = [state for state in view.labels if state.names]
        if not labels or sum(state.names for state in labels) > MOST_NAMES:
            return wanted
        there = self._cache.fresh(
            {(view.workspace, state.label): state for state in labels}, partial(_read, session)
        )
        names = [
            name
            for name in wanted.names
            if any(hash((kind, name)) in each.hashes for kind in wanted.kinds for each in there)
        ]
        return Wanted(names, wanted.kinds)


class Naming:
    """Looks memories up by names; those that are known to be none are left out."""

    def __init__(self, box: NameBox | None) -> None:
        self._box = box  # None: names are sealed, and nobody here can tell

    def about(
        self,
        session: Session,
        view: Readable,
        query: str,
        names: Sequence[str],
        *,
        kinds: Sequence[MemoryKind] | None,
        limit: int,
    ) -> list[Row]:
        """What this query tells of the newest; no kinds are those of facts and entities."""
        wanted = Wanted.of(names, kinds)
        if self._box:
            wanted = self._box.known(session, view, wanted)
        if not wanted.names or not any(state.names for state in view.labels):
            return []
        told = {
            "names": json.dumps(wanted.names),
            "kinds": json.dumps(wanted.kinds),
            "limit": limit,
        }
        return session.run(query, {**view.with_names, **told}).fetchall()

    def outlines(
        self, session: Session, view: Readable, names: Sequence[str], *, limit: int
    ) -> list[Outline]:
        """As much of the newest facts as tells what they are about, read as one text."""
        kinds = [MemoryKind.FACT]
        rows = self.about(session, view, "outlines", names, kinds=kinds, limit=limit)
        return [
            Outline.read(told) for told in json.loads(f"[{','.join(text for (text,) in rows)}]")
        ]


def _read(
    session: Session, stale: Mapping[tuple[int, int], tuple[Names | None, int]]
) -> list[Names]:
    found = session.read_each("names_of_label", list(stale))
    return [Names(frozenset(map(hash, rows))) for rows in found]


def newest_of_each(
    session: Session, view: Readable, subjects: Sequence[str], limit: int | None
) -> list[Row]:
    """The newest fact of each predicate of these subjects."""
    wanted = {"subjects": json.dumps(sorted(set(subjects))), "limit": limit}
    return session.run("latest", {**view.with_names, **wanted}).fetchall()
