"""Keywords, links, names and vectors, compared with the memories they were made of.

Label by label and a part at a time, each part in one transaction. After every expected row was
put right, a label with more rows than expected has some that belong to nothing; only then are
they looked for.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...core.access import Label, administrator_grant
from ...core.canonical import time_text
from ...core.codec import memory_from_json
from ...core.derive import asks, directs, keyword_text, thread_name
from ...core.ids import WorkspaceId
from ...core.layers import Damage, Json, Layer, Mended
from ...core.records import Memory
from ...core.text import terms
from .labels import NOTHING, known_workspace, label_number, locked_workspace, readable
from .memories import add_memories, delete_memories
from .rows import name_rows, posting_rows
from .session import Connections, Row, Session

FIRST = "0001-01-01T00:00:00.000000Z"  # before every memory
AT_ONCE = 2_000  # vectors that are looked at together
EVERY = 1_000_000_000  # more than any label holds
ROUNDED = 1e-3  # by how much the length of a unit vector may be off

Sums = tuple[int, int, int, int]  # documents, terms, threads, names


class SqlLayers:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def damage(self, workspace: WorkspaceId) -> list[Damage]:
        with self._connections.reading() as session:
            number = known_workspace(session, workspace)
            view = readable(session, administrator_grant(workspace))
            rows = [_sums(session, number, state.label) for state in view.labels]
            bare, strays = session.run("link_damage", {"workspace": number}).fetchone()
            unfit = len(_unfit_vectors(session, workspace, number))
        found = {
            (Layer.KEYWORDS, "words that do not add up in so many places"): sum(
                not each.words_fit for each in rows
            ),
            (Layer.GRAPH, "names that do not add up in so many places"): sum(
                not each.names_fit for each in rows
            ),
            (Layer.GRAPH, "memories without what they rest on"): bare,
            (Layer.GRAPH, "links of memories that are not there"): strays,
            (Layer.VECTORS, "vectors that cannot be right"): unfit,
        }
        return [
            Damage(layer, f"{what}: {count}") for (layer, what), count in found.items() if count
        ]

    def mend(
        self, workspace: WorkspaceId, layer: Layer, *, cursor: Json = None, limit: int
    ) -> Mended:
        def mend(session: Session) -> Mended:
            number = locked_workspace(session, workspace)
            if number == NOTHING.workspace:
                return Mended()
            if layer is Layer.VECTORS:
                return _mend_vectors(session, workspace, number)
            return _Walk(session, workspace, number, layer).part(_Place.of(cursor), limit)

        return self._connections.write(mend)


class _Sums(NamedTuple):
    """What a label says of itself, and what there is."""

    said: Sums
    there: Sums
    in_threads: int
    in_postings: int

    @classmethod
    def of(cls, row: Row) -> _Sums:
        told = tuple(map(int, row))
        return cls(told[:4], told[4:8], *told[8:])  # type: ignore[arg-type]

    @property
    def words_fit(self) -> bool:
        terms = self.there[1]
        return self.said[:3] == self.there[:3] and self.in_threads == self.in_postings == terms

    @property
    def names_fit(self) -> bool:
        return self.said[3] == self.there[3]


def _sums(session: Session, number: int, label: int) -> _Sums:
    bound = {"workspace": number, "label": label}
    return _Sums.of(session.run("label_sums", bound).fetchone())


class _Place(NamedTuple):
    """How far a walk has come: inside a label, behind this memory, with so many rows seen."""

    label: int
    at: str = FIRST
    id: str = ""
    rows: int = 0
    emptied: bool = False  # rows of no memory were among its names: they are written anew

    @classmethod
    def of(cls, cursor: Json) -> _Place:
        return cls(*cursor) if cursor else cls(0)


class _Found(NamedTuple):
    """A memory as it lies in its label."""

    number: int
    at: str
    id: str
    kind: str
    thread: int
    length: int
    asks: bool
    directs: bool
    memory: Memory


@dataclass(slots=True)
class _Walk:
    """One transaction of it."""

    session: Session
    workspace: WorkspaceId
    number: int
    layer: Layer
    changed: int = 0
    _homes: dict[tuple[Label, bool], int] = field(default_factory=dict)
    _threads: dict[tuple[int, str], int] = field(default_factory=dict)

    def part(self, place: _Place, limit: int) -> Mended:
        looked = 0
        while looked < limit:
            label = self._next_label(place.label)
            if label is None:
                self._end()
                return Mended(looked=looked, changed=self.changed)
            place = place if label == place.label else _Place(label)
            found = self._found(place, limit - looked)
            rows = place.rows + self._mend(label, found)
            place = place._replace(rows=rows)
            if found:
                place = place._replace(at=found[-1].at, id=found[-1].id)
            if len(found) < limit - looked:
                place = self._finished(place)
            looked += max(1, len(found))  # also an empty label is some work
        return Mended(looked=looked, changed=self.changed, cursor=list(place))

    def _next_label(self, least: int) -> int | None:
        bound = {"workspace": self.number, "label": least}
        (label,) = self.session.run("next_label", bound).fetchone()
        return None if label is None else int(label)

    def _found(self, place: _Place, limit: int) -> list[_Found]:
        bound = {"workspace": self.number, "label": place.label, "limit": limit}
        rows = self.session.run("memories_of_label", {**bound, "at": place.at, "id": place.id})
        return [
            _Found._make(
                [*row, memory_from_json(json.loads(content), self.workspace, tier, archived)]
            )
            for *row, content, tier, archived in rows.fetchall()
        ]

    def _mend(self, label: int, found: Sequence[_Found]) -> int:
        """Put right what these memories have in the layer; how many rows that is."""
        if not found:
            return 0
        if self.layer is Layer.GRAPH:
            return self._mend_names(label, found)
        out_of_place = [each.id for each in found if not self._in_place(label, each)]
        if out_of_place:
            self._put_anew([each.memory for each in found if each.id in out_of_place])
        kept = [each for each in found if each.id not in out_of_place]
        rows = [row for each in kept for row in self._postings(label, each)]
        self._note(label, self.session.run_many("mend_posting", rows))
        return len(rows)

    def _in_place(self, label: int, found: _Found) -> bool:
        """Whether it lies where its content says."""
        memory = found.memory
        told = (
            self._home(memory),
            time_text(memory.at),
            memory.kind.value,
            len(terms(keyword_text(memory))),
            bool(asks(memory.text)),
            bool(directs(memory)),
            self._thread(label, thread_name(memory), found.thread),
        )
        kept = (found.kind, found.length, bool(found.asks), bool(found.directs), found.thread)
        return told == (label, found.at, *kept)

    def _home(self, memory: Memory) -> int:
        shelf = (memory.label, memory.learned)
        if shelf not in self._homes:
            place = label_number(self.session, self.number, memory.label, learned=memory.learned)
            self._homes[shelf] = place
        return self._homes[shelf]

    def _thread(self, label: int, name: str, believed: int) -> int:
        """The number of a thread; one that is lost is made again, with the number it had."""
        if (label, name) not in self._threads:
            named = {"workspace": self.number, "label": label, "name": name}
            if not self.session.run("thread", named).fetchone():
                restored = self.session.run("restore_thread", {**named, "thread": believed})
                self._note(label, restored.rowcount)
            row = self.session.run("thread", named).fetchone()
            self._threads[label, name] = int(row[0]) if row else -1
        return self._threads[label, name]

    def _put_anew(self, memories: Sequence[Memory]) -> None:
        delete_memories(self.session, self.workspace, [memory.id for memory in memories])
        add_memories(self.session, self.number, memories)
        self.changed += len(memories)

    def _postings(self, label: int, found: _Found) -> list[Row]:
        words = terms(keyword_text(found.memory))
        return posting_rows(self.number, label, found.number, found.thread, words)

    def _mend_names(self, label: int, found: Sequence[_Found]) -> int:
        """Their links, too."""
        ids = [each.id for each in found]
        wanted = {(each.id, source) for each in found for source in each.memory.sources}
        bound = {"workspace": self.number, "ids": json.dumps(ids)}
        there = {(origin, to) for origin, to in self.session.run("links_from", bound).fetchall()}
        for query, pairs in (("add_link", wanted - there), ("drop_link", there - wanted)):
            rows = [(self.number, origin, "derived_from", to) for origin, to in sorted(pairs)]
            self.changed += self.session.run_many(query, rows) if rows else 0
        names = [row for each in found for row in name_rows(self.number, label, each.memory)]
        self._note(label, self.session.run_many("mend_name", names) if names else 0)
        return len(names)

    def _note(self, label: int, changed: int) -> None:
        """Whoever has read this label before starts over."""
        if changed > 0:
            self.changed += changed
            self.session.run_many("label_lost", [(self.number, label)])

    def _finished(self, place: _Place) -> _Place:
        """All rows that a label must have are there: what is beyond them goes."""
        here = {"workspace": self.number, "label": place.label}
        if self.layer is Layer.GRAPH:
            (count,) = self.session.run("count_names", here).fetchone()
            if count > place.rows and not place.emptied:
                self._note(place.label, self.session.run("drop_names_of", here).rowcount)
                return _Place(place.label, emptied=True)
        else:
            (count,) = self.session.run("count_postings", here).fetchone()
            if count > place.rows:
                self._drop_strays(place.label)
            self._note(place.label, self.session.run("recount_threads", here).rowcount)
            self._note(place.label, self.session.run("drop_empty_threads", here).rowcount)
        self._recount(place.label)
        return _Place(place.label + 1)

    def _drop_strays(self, label: int) -> None:
        here = {"workspace": self.number, "label": label}
        strays = [memory for (memory,) in self.session.run("stray_postings", here).fetchall()]
        if not strays:
            return
        told = {**here, "memories": json.dumps(strays)}
        self._note(label, self.session.run("drop_postings_of", told).rowcount)
        wanted = set(strays)
        left = [each for each in self._found(_Place(label), EVERY) if each.number in wanted]
        rows = [row for each in left for row in self._postings(label, each)]
        self.session.run_many("mend_posting", rows)

    def _recount(self, label: int) -> None:
        here = {"workspace": self.number, "label": label}
        sums = _sums(self.session, self.number, label)
        if sums.said != sums.there:
            names = ("documents", "terms", "threads", "names")
            told = dict(zip(names, sums.there, strict=True))
            self.session.run("set_label_sums", {**here, **told})
            self._note(label, 1)

    def _end(self) -> None:
        if self.layer is Layer.GRAPH:
            bound = {"workspace": self.number}
            self.changed += max(0, self.session.run("drop_stray_links", bound).rowcount)


def _mend_vectors(session: Session, workspace: WorkspaceId, number: int) -> Mended:
    """Remove what cannot be right."""
    unfit = _unfit_vectors(session, workspace, number)
    session.run_many("drop_vector", [(number, profile, memory) for _, profile, memory in unfit])
    session.run_many("label_lost", [(number, label) for label in {label for label, *_ in unfit}])
    return Mended(changed=len(unfit))


def _unfit_vectors(
    session: Session, workspace: WorkspaceId, number: int
) -> list[tuple[int, int, int]]:
    """The label, profile and memory of vectors without their memory, or of no unit length."""
    bound = {"workspace": number, "limit": AT_ONCE}
    found = [(label, *rest) for label, *rest in session.run("stray_vectors", bound).fetchall()]
    sizes = dict(session.run("numbered_profiles").fetchall())
    labels = [state.label for state in readable(session, administrator_grant(workspace)).labels]
    for label in labels:
        for profile, size in sizes.items():
            after = 0
            while some := _next(session, (number, label, profile, after, AT_ONCE)):
                found += [(label, profile, each) for each in _wrong(session, some, size)]
                after = some[-1][0]
    return list(dict.fromkeys(found))


def _next(session: Session, place: Row) -> list[tuple[int, int, bytes]]:
    return session.read_each("vectors_after", [place])[0]


def _wrong(session: Session, rows: Sequence[tuple[int, int, bytes]], size: int) -> list[int]:
    """The memories whose vectors are of another size, or not of unit length."""
    whole = [row for row in rows if len(row[2]) == 4 * size]
    wrong = [memory for _, memory, data in rows if len(data) != 4 * size]
    if whole:
        lengths = np.linalg.norm(session.floats([data for *_, data in whole]), axis=1)
        off = ~(np.abs(lengths - 1.0) < ROUNDED)  # a length that is no number is off, too
        wrong += [row[1] for row, bad in zip(whole, off.tolist(), strict=True) if bad]
    return wrong
