"""Looking memories up by the names that they are about."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from ...core.derive import NAMED, known_as
from ...core.outline import Outline
from ...core.records import MemoryKind
from .cache import LabelCache
from .labels import Readable
from .session import Row, Session

MOST_NAMES = 500  # of what a viewer may read: to read more anew after each message is not worth it
HASH_BYTES = 100  # in a set


@dataclass(frozen=True, slots=True)
class Names:
    """Which names of which kinds there are in a label, as hashes: no name is kept for that."""

    hashes: frozenset[int]
    kinds: frozenset[str]

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

    def readable(self, session: Session, view: Readable) -> list[Names] | None:
        """Those of each label; None, where there are too many to know."""
        if sum([state.names for state in view.named.values()]) > MOST_NAMES:
            return None
        return self._cache.fresh(view.named, partial(_read, session))


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
        if not view.named:
            return []
        asked = NAMED if kinds is None else tuple(kinds)
        known = self._box.readable(session, view) if self._box else None
        wanted = _spelt(names) if known is None else _there(known, names, asked)
        if not wanted:
            return []
        told = {"names": json.dumps(wanted), "kinds": _spelt_kinds(asked), "limit": limit}
        return session.run(query, {**view.with_names, **told}).fetchall()

    def outlines(
        self, session: Session, view: Readable, names: Sequence[str], *, limit: int
    ) -> list[Outline]:
        """As much of the newest facts as tells what they are about, read as one text."""
        kinds = [MemoryKind.FACT]
        rows = self.about(session, view, "outlines", names, kinds=kinds, limit=limit)
        return list(map(Outline.read, json.loads(f"[{','.join([text for (text,) in rows])}]")))


@lru_cache(maxsize=100)  # questions ask for the same few
def _spelt_kinds(kinds: tuple[MemoryKind, ...]) -> str:
    return json.dumps(sorted({*kinds}))


def _spelt(names: Sequence[str]) -> list[str]:
    """Each once, as it is looked up."""
    return sorted(set(map(known_as, names)))


def _there(known: Sequence[Names], names: Sequence[str], kinds: Sequence[str]) -> list[str]:
    """Those that may be there; of kinds that are nowhere, such as links, none is even spelt."""
    held = [(kind, each.hashes) for each in known for kind in kinds if kind in each.kinds]
    if not held:
        return []
    wanted = _spelt(names)
    there = {name for kind, hashes in held for name in wanted if hash((kind, name)) in hashes}
    return sorted(there)


def _read(
    session: Session, stale: Mapping[tuple[int, int], tuple[Names | None, int]]
) -> list[Names]:
    found = session.read_each("names_of_label", list(stale))
    return [
        Names(frozenset(map(hash, rows)), frozenset(kind for kind, _ in rows)) for rows in found
    ]


def newest_of_each(
    session: Session, view: Readable, subjects: Sequence[str], limit: int | None
) -> list[Row]:
    """The newest fact of each predicate of these subjects."""
    if not view.named:
        return []
    wanted = {"subjects": json.dumps(sorted(set(subjects))), "limit": limit}
    return session.run("latest", {**view.with_names, **wanted}).fetchall()
