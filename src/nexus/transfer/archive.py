"""Archives: everything a grant may see, as canonical JSON lines.

One line a record, sorted, one possible spelling: exporting, wiping, importing and exporting
again gives the same bytes. Rights never come from the file. A record goes where the
importing grant reaches, into one scope the caller names, or nowhere.
"""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from ..core.access import Grant, check_grant
from ..core.canonical import canonical_json, clean_json, clean_text, clean_time
from ..core.codec import event_from_json, event_json, memory_from_json, memory_json
from ..core.errors import InvalidInput, NexusError
from ..core.ids import WorkspaceId, check_name, digest
from ..core.protocols import Store
from ..core.records import (
    Draft,
    EmbeddingProfile,
    Event,
    EventKind,
    Memory,
    NewEvent,
    Trust,
)
from ..core.scope import Scope

FORMAT = "nexus-archive"
VERSION = 1
BATCH = 500
LONGEST_LINE = 50_000_000
PROBE = WorkspaceId("probe")  # a record is read once to see whether it is one


@dataclass(frozen=True, slots=True, kw_only=True)
class Exported:
    events: int
    memories: int
    vectors: int


@dataclass(slots=True, kw_only=True)
class Imported:
    """What came in, and what did not and why."""

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
    with _written(to) as out:
        for line in ({"type": FORMAT, "version": VERSION}, *_records(events, memories), *rows):
            out.write(canonical_json(line) + "\n")
    return Exported(events=len(events), memories=len(memories), vectors=len(rows))


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
def _written(to: Path | str | TextIO) -> Iterator[TextIO]:
    """A file that is whole or not there."""
    if not isinstance(to, Path | str):
        yield to
        return
    path = Path(to)
    part = path.with_name(path.name + ".part")
    try:
        with part.open("w", encoding="utf-8", newline="\n") as out:
            yield out
        part.replace(path)
    except OSError as error:
        raise InvalidInput(f"cannot write {path}: {error.strerror}") from error
    finally:
        part.unlink(missing_ok=True)


def import_archive(
    store: Store,
    grant: Grant,
    source: Path | str | TextIO,
    *,
    now: Callable[[], datetime],
    scope: Scope | None = None,
    report: Callable[[int, int], None] | None = None,
) -> Imported:
    """Read an archive, or seed 002's JSON list of entries. Reading it twice is reading it once.

    Nothing is written unless the whole file can be read.
    """
    check_grant(grant)
    if scope is not None and not grant.allows(frozenset({scope})):
        raise InvalidInput(f"the scope {scope} is out of reach")
    records = list(_read(source))
    return _Import(store, grant, now, scope).run(records, report or (lambda _done, _all: None))


@dataclass(slots=True)
class _Import:
    store: Store
    grant: Grant
    now: Callable[[], datetime]
    scope: Scope | None

    def run(
        self, records: Sequence[Mapping[str, Any]], report: Callable[[int, int], None]
    ) -> Imported:
        done = Imported()
        by_type: dict[str, list[Mapping[str, Any]]] = {"event": [], "memory": [], "vector": []}
        for record in records:
            by_type[record["type"]].append(record)
        events = self._admitted([self._event(record) for record in by_type["event"]], done)
        total = len(records)
        for batch in _batches(events):
            self._append(batch, done)
            report(done.events + done.repeated, total)
        if self.scope is None:  # in another scope they are derived anew
            self._memories(by_type["memory"], done)
            self._vectors(by_type["vector"], done)
        report(total, total)
        return done

    def _event(self, record: Mapping[str, Any]) -> Event:
        event = event_from_json(record, self.grant.workspace)
        _check_event(event)
        if self.scope is not None:
            event = replace(event, scope=self.scope)
        if not self.grant.everything:  # only an administrator vouches for what a file claims
            event = replace(event, trust=min(event.trust, Trust.EXTERNAL), recorded_at=self.now())
        return event

    def _admitted(self, events: Sequence[Event], done: Imported) -> list[Event]:
        stones = {
            (stone.kind, stone.digest): stone.at
            for stone in self.store.eraser.tombstones(self.grant.workspace)
        }
        admitted = []
        for event in events:
            if not self.grant.allows(frozenset({event.scope})):
                done.out_of_reach += 1
            elif any(mark in stones and event.at <= stones[mark] for mark in _marks(event)):
                done.forgotten += 1
            else:
                admitted.append(event)
        return admitted

    def _append(self, events: Sequence[Event], done: Imported) -> None:
        try:
            receipts = self.store.ledger.append(
                self.grant.workspace, events, recorded_at=self.now()
            )
        except NexusError:
            if len(events) == 1:
                done.conflicting += 1
                return
            for event in events:
                self._append([event], done)
            return
        done.repeated += sum(receipt.repeated for receipt in receipts)
        done.events += sum(not receipt.repeated for receipt in receipts)

    def _memories(self, records: Sequence[Mapping[str, Any]], done: Imported) -> None:
        """Derived records come back through the store, which computes their labels again."""
        drafts = [_draft(memory_from_json(record, self.grant.workspace)) for record in records]
        for batch in _batches([draft for draft in drafts if self._may_rest_on(draft)]):
            done.memories += len(self.store.memories.put(self.grant.workspace, batch))

    def _may_rest_on(self, draft: Draft) -> bool:
        reachable = self.grant.allows(frozenset({draft.scope}))
        events = self.store.ledger.keys(self.grant, draft.sources)
        known = {*events, *(m.id for m in self.store.memories.get(self.grant, draft.sources))}
        return reachable and bool(draft.sources) and known.issuperset(draft.sources)

    def _vectors(self, records: Sequence[Mapping[str, Any]], done: Imported) -> None:
        import numpy as np  # noqa: PLC0415  # importing nexus stays fast

        for record in records:
            if self.store.memories.get(self.grant, [record["memory"]]):
                profile = EmbeddingProfile(**record["profile"])
                vector = np.frombuffer(b64decode(record["data"]), dtype="<f4")
                done.vectors += self.store.vectors.put(
                    self.grant.workspace, profile, {record["memory"]: vector}
                )


def _batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _marks(event: Event) -> Iterable[tuple[str, str]]:
    """The tombstones that would keep this event out, if it is from before them."""
    yield "event", event.id
    yield "scope", digest("scope", str(event.scope))
    yield from (("user", digest("user", who)) for who in (event.speaker, event.scope.owner) if who)


def _draft(memory: Memory) -> Draft:
    return Draft(**{field.name: getattr(memory, field.name) for field in fields(Draft)})


def _check_event(event: NewEvent) -> None:
    check_name(event.speaker, "the speaker")
    clean_text(event.text)
    clean_text(event.key, "the key")
    clean_time(event.at)
    clean_json(event.metadata)


def _read(source: Path | str | TextIO) -> Iterator[dict[str, Any]]:
    if isinstance(source, Path | str):
        try:
            with Path(source).open(encoding="utf-8") as file:
                yield from _read(file)
        except OSError as error:
            raise InvalidInput(f"cannot read {source}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{source} is not UTF-8 text: {error.reason}") from error
        return
    first = source.readline(LONGEST_LINE)
    if first.lstrip().startswith("["):
        yield from _entries(first + source.read())
    else:
        yield from _lines(first, source)


def _lines(first: str, rest: TextIO) -> Iterator[dict[str, Any]]:
    header = _parsed(first, 1)
    if header.get("type") != FORMAT:
        raise InvalidInput('not a Nexus archive: the first line is not {"type":"nexus-archive",…}')
    if header.get("version") != VERSION:
        raise InvalidInput(f"archive version {header.get('version')!r}; this Nexus reads {VERSION}")
    for number, line in enumerate(rest, start=2):
        if line.strip():
            yield _checked(_parsed(line, number), number)


def _parsed(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"line {number} is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise InvalidInput(f"line {number} is not an object")
    return record


def _checked(record: dict[str, Any], number: int) -> dict[str, Any]:
    """The record, if it has the shape of one."""
    try:
        kind = record["type"]
        if kind == "event":
            event_from_json(record, PROBE)
        elif kind == "memory":
            memory_from_json(record, PROBE)
        elif kind == "vector":
            EmbeddingProfile(**record["profile"])
            b64decode(record["data"], validate=True)
        else:
            raise InvalidInput(f"line {number}: unknown type {kind!r}")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidInput(f"line {number} is not a whole record: {error!r}") from error
    return record


def _entries(text: str) -> Iterator[dict[str, Any]]:
    """Seed 002's export: a list of entries with content and metadata."""
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None
    for number, entry in enumerate(entries, start=1):
        yield _checked(_entry_event(entry, number), number)


def _entry_event(entry: Any, number: int) -> dict[str, Any]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("content"), str):
        raise InvalidInput(f"entry {number} has no content")
    metadata = entry.get("metadata") or {}
    at = entry.get("created_at") or "1970-01-01T00:00:00Z"
    key = entry.get("id") or digest("entry", entry["content"], at)
    return {
        "type": "event",
        "scope": "workspace",
        "kind": EventKind.NOTE.value,
        "speaker": entry.get("agent_id") or metadata.get("role") or "import",
        "role": metadata.get("role") or "user",
        "text": entry["content"],
        "at": at,
        "recorded_at": at,
        "key": f"import:{key}",
        "thread": entry.get("session_id"),
        "trust": "external",
        "attachments": [],
        "metadata": metadata,
    }
