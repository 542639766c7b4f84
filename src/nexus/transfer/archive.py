"""Archives: everything a grant may see, as canonical JSON lines.

One line a record, sorted, one possible spelling: exporting, wiping, importing and exporting
again gives the same bytes. Rights never come from the file. A record goes where the
importing grant reaches, into one scope the caller names, or nowhere.
"""

from __future__ import annotations

from base64 import b64encode
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from ..core.access import Grant, check_grant
from ..core.canonical import canonical_json, time_text
from ..core.codec import event_json, memory_json
from ..core.erasing import drawer_digests
from ..core.errors import Conflict, Forgotten, InvalidInput
from ..core.ids import digest
from ..core.protocols import Floats, Store
from ..core.reach import reach_of
from ..core.records import (
    Draft,
    EmbeddingProfile,
    Event,
    EventKind,
    Memory,
    MemoryKind,
    Tombstone,
    Trust,
)
from ..core.report import Report, silent
from ..core.scope import Scope
from .reading import FORMAT, VERSION, Record, VectorRecord, checked_path, read_records

BATCH = 500

Mark = tuple[str, str]  # what a tombstone is known by: its kind and digest


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    events: int
    memories: int
    vectors: int


@dataclass(slots=True, kw_only=True)
class Imported:
    """What came in that was not here, and what did not and why."""

    events: int = 0
    repeated: int = 0
    memories: int = 0
    vectors: int = 0
    out_of_reach: int = 0  # scopes the importing grant does not cover
    forgotten: int = 0  # erased here before, and not taken in again
    conflicting: int = 0  # a key that is used here for something else


def export_archive(
    store: Store, grant: Grant, to: Path | str | TextIO, *, vectors: bool = False
) -> Exported:
    check_grant(grant)
    events = sorted(store.ledger.find(grant), key=lambda event: (event.at, event.id))
    memories = sorted(store.memories.find(grant), key=lambda memory: (memory.at, memory.id))
    rows = list(_vectors(store, grant, memories)) if vectors else []
    head = ({"type": FORMAT, "version": VERSION}, *_tombstones(store, grant))
    with written(to) as out:
        for line in (*head, *_records(events, memories), *rows):
            out.write(canonical_json(line) + "\n")
    return Exported(events=len(events), memories=len(memories), vectors=len(rows))


def _tombstones(store: Store, grant: Grant) -> Iterator[dict[str, Any]]:
    """What must not come back, for whoever restores the whole; to nobody else's eyes."""
    stones = store.eraser.tombstones(grant.workspace) if grant.everything else []
    for stone in stones:
        at = time_text(stone.at)
        yield {"type": "tombstone", "kind": stone.kind, "digest": stone.digest, "at": at}


def _records(events: Sequence[Event], memories: Sequence[Memory]) -> Iterator[dict[str, Any]]:
    yield from ({"type": "event", **event_json(event)} for event in events)
    yield from ({"type": "memory", **memory_json(memory)} for memory in memories)


def _vectors(store: Store, grant: Grant, memories: Sequence[Memory]) -> Iterator[dict[str, Any]]:
    ids = [memory.id for memory in memories]
    for profile in store.vectors.profiles():
        known = store.vectors.get(grant, profile, ids)
        space = {field.name: getattr(profile, field.name) for field in fields(profile)}
        for id in ids:
            if id in known:
                data = b64encode(known[id].astype("<f4").tobytes()).decode()
                yield {"type": "vector", "memory": id, "profile": space, "data": data}


@contextmanager
def written(to: Path | str | TextIO) -> Iterator[TextIO]:
    """A file that is whole or not there; a pipe or a device, which nothing replaces, as it is."""
    if not isinstance(to, Path | str):
        yield to
        return
    path = checked_path(to)
    try:
        passes_on = path.exists() and not path.is_file()
        with _directly(path) if passes_on else _replaced(path.resolve()) as out:
            yield out
    except OSError as error:
        advice = "name a file in a folder that you may write to"
        raise InvalidInput(f"cannot write {path}: {error.strerror}; {advice}") from error


def _directly(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", newline="\n")


@contextmanager
def _replaced(path: Path) -> Iterator[TextIO]:
    part = path.with_name(path.name + ".part")
    try:
        with _directly(part) as out:
            yield out
        part.replace(path)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def import_archive(
    store: Store,
    grant: Grant,
    source: Path | str | TextIO,
    *,
    now: Callable[[], datetime],
    scope: Scope | None = None,
    profile: Callable[[], EmbeddingProfile] | None = None,
    report: Report | None = None,
    recorded: Callable[[dict[str, int]], None] | None = None,
) -> Imported:
    """Read an archive, or seed 002's JSON list of entries. Reading it twice is reading it once.

    Nothing is written unless the whole file can be read. Vectors of another embedder than
    `profile` are left out, and made anew. `recorded` gets the counts for the administrator, who is
    also told of people who were forgotten; what is returned does not tell.
    """
    check_grant(grant)
    if scope is not None and not grant.allows(frozenset({scope})):
        raise InvalidInput(f"the scope {scope} is out of reach")
    records = list(read_records(source, grant.workspace))
    ours = profile() if profile and any(isinstance(r, VectorRecord) for r in records) else None
    work = _Import(store, grant, now, scope, ours)
    done = work.run(records, report or silent)
    if recorded:
        recorded({**asdict(done), "of_forgotten": work.of_forgotten})
    return done


@dataclass(slots=True)
class _Import:
    store: Store
    grant: Grant
    now: Callable[[], datetime]
    scope: Scope | None
    profile: EmbeddingProfile | None  # None: any
    of_forgotten: int = 0  # taken in, though whoever is said to have said it was forgotten

    def run(self, records: Sequence[Record], report: Report) -> Imported:
        done = Imported()
        self._bury([record for record in records if isinstance(record, Tombstone)])
        told = [record for record in records if isinstance(record, Event)]
        total = len(records)
        for batch in _batches(self._admitted(told, done)):
            self._append(batch, done)
            report(done.events + done.repeated, total)
        if self._vouched:
            self._memories([record for record in records if isinstance(record, Memory)], done)
            vectors = [record for record in records if isinstance(record, VectorRecord)]
            self._vectors([v for v in vectors if self.profile in (None, v.profile)], done)
        report(total, total)
        return done

    @property
    def _vouched(self) -> bool:
        """Only an administrator vouches for what a file says was derived, or shared by somebody.

        In another scope, or for anybody else, it is derived anew; and whoever could make up an
        act of sharing would see by what becomes of it whether what it names is there.
        """
        return self.scope is None and self.grant.everything

    def _bury(self, stones: Sequence[Tombstone]) -> None:
        """What was forgotten where the archive comes from is forgotten here, and stays so."""
        if stones and self.grant.everything:
            self.store.eraser.erase(self.grant.workspace, events=[], memories=[], tombstones=stones)

    def _told(self, event: Event) -> Event:
        if self.scope is not None:
            event = replace(event, scope=self.scope)
        if not self.grant.everything:  # only an administrator vouches for what a file claims
            event = replace(event, trust=min(event.trust, Trust.EXTERNAL), recorded_at=self.now())
        return event

    def _admitted(self, lines: Sequence[Event], done: Imported) -> list[Event]:
        stones = self._stones()
        admitted = []
        for line in lines:
            event = self._told(line)
            claimed = event.kind is EventKind.SHARE and not self._vouched
            if claimed or not self.grant.allows(frozenset({event.scope})):
                done.out_of_reach += 1
            elif any(_is_over(stones, mark, event.at) for mark in self._marks(line, event)):
                done.forgotten += 1
            else:
                admitted.append(event)
                self.of_forgotten += _is_over(stones, _speaker(event), event.at)
        return admitted

    def _stones(self) -> dict[Mark, datetime]:
        stones = self.store.eraser.tombstones(self.grant.workspace)
        return {(stone.kind, stone.digest): stone.at for stone in stones}

    def _marks(self, line: Event, event: Event) -> Iterator[Mark]:
        """The tombstones that keep this out: those of drawers that may be read, of all else none.

        Anybody may say that somebody said something, here as by `observe`. If that depended on
        whether a person was forgotten, whoever tries it would learn that. An administrator may.
        """
        for each in (line, event):
            if self.grant.allows(frozenset({each.scope})):
                yield "event", each.id
                yield "scope", digest("scope", str(each.scope))
                yield from (("user", digest("user", who)) for who in [each.scope.owner] if who)
        if self.grant.everything:
            yield _speaker(event)

    def _append(self, events: Sequence[Event], done: Imported) -> None:
        try:
            receipts = self.store.ledger.append(
                self.grant.workspace, events, recorded_at=self.now()
            )
        except (Conflict, Forgotten) as error:
            if len(events) == 1:
                done.conflicting += isinstance(error, Conflict)
                done.forgotten += isinstance(error, Forgotten)
                return
            for event in events:
                self._append([event], done)
            return
        done.repeated += sum(receipt.repeated for receipt in receipts)
        done.events += sum(not receipt.repeated for receipt in receipts)

    def _memories(self, memories: Sequence[Memory], done: Imported) -> None:
        """Derived records come back through the store, which computes their labels again.

        Not what was made for readers of a drawer that went since.
        """
        stones = self._stones()
        waiting = [_draft(memory) for memory in memories if not _made_for_gone(stones, memory)]
        while ready := [draft for draft in waiting if self._may_rest_on(draft)]:
            for batch in _batches(ready):
                wanted = [draft.id for draft in batch if draft.id]
                before = {each.id for each in self.store.memories.get(self.grant, wanted)}
                kept = self.store.memories.put(self.grant.workspace, batch)
                done.memories += sum(each.id not in before for each in kept)
            here = {draft.id for draft in ready}
            waiting = [draft for draft in waiting if draft.id not in here]
        archived = [memory.id for memory in memories if memory.archived]
        for ids in _batches(archived):
            self.store.memories.mark(self.grant.workspace, ids, archived=True)

    def _may_rest_on(self, draft: Draft) -> bool:
        reachable = self.grant.allows(frozenset({draft.scope}))
        events = self.store.ledger.keys(self.grant, draft.sources)
        known = {*events, *(m.id for m in self.store.memories.get(self.grant, draft.sources))}
        return reachable and bool(draft.sources) and known.issuperset(draft.sources)

    def _vectors(self, vectors: Sequence[VectorRecord], done: Imported) -> None:
        for batch in _batches(vectors):
            known = self.store.memories.get(self.grant, [each.memory for each in batch])
            ids = {memory.id for memory in known}
            spaces: dict[EmbeddingProfile, dict[str, Floats]] = defaultdict(dict)
            for each in batch:
                if each.memory in ids:
                    spaces[each.profile][each.memory] = each.data
            for profile, rows in spaces.items():
                before = self.store.vectors.get(self.grant, profile, list(rows))
                self.store.vectors.put(self.grant.workspace, profile, rows)
                done.vectors += len(rows.keys() - before.keys())


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _speaker(event: Event) -> Mark:
    return "user", digest("user", event.speaker)


def _is_over(stones: Mapping[Mark, datetime], mark: Mark, at: datetime) -> bool:
    """Whether something with this mark is from before its tombstone; an event always is."""
    return mark in stones and (mark[0] == "event" or at <= stones[mark])


def _made_for_gone(stones: Mapping[Mark, datetime], memory: Memory) -> bool:
    reach = drawer_digests(reach_of(memory.body)) if memory.kind is MemoryKind.DOSSIER else []
    marks = [(kind, digest) for kind in ("scope", "user") for digest in reach]
    return any(_is_over(stones, mark, memory.at) for mark in marks)


def _draft(memory: Memory) -> Draft:
    return Draft(**{field.name: getattr(memory, field.name) for field in fields(Draft)})
