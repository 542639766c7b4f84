"""Archives: everything a grant may read, as canonical JSON lines.

Each record is one line, lines are sorted, and each record has one possible encoding. Export, wipe,
import and export again gives the same bytes.

A file grants no access. A record goes into its scope if the importing grant covers it, into one
scope that the caller names, or is skipped.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode, b64encode
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TextIO

from ..core.access import Grant, check_grant
from ..core.canonical import (
    canonical_json,
    clean_json,
    clean_text,
    clean_time,
    format_time,
    parse_time,
)
from ..core.errors import Conflict, Forgotten, InvalidInput
from ..core.flows import label_rule
from ..core.ids import WorkspaceId, check_name, digest, require_str
from ..core.json_codec import event_from_json, event_to_json, memory_from_json, memory_to_json
from ..core.protocols.embedder import Floats
from ..core.protocols.eraser import scope_digests
from ..core.protocols.store import Store
from ..core.records import (
    Draft,
    EmbeddingProfile,
    Event,
    EventKind,
    Fact,
    Memory,
    MemoryKind,
    Tombstone,
    Trust,
)
from ..core.records.dossiers import QUESTION_KEY, check_dossier, parse_reach
from ..core.records.entities import ENTITY, check_entity
from ..core.records.facts import check_fact
from ..core.records.goals import check_goal_action
from ..core.records.links import LANDMARK, SHARE, check_share, check_shared_landmark, is_shared_copy
from ..core.records.notebook import DOCUMENT, check_version, is_version
from ..core.records.procedures import OUTCOME, TOOL, check_outcome, check_tool_use
from ..core.scope import Scope
from ..learn.extract.explicit_events import explicit_drafts
from ..runtime.progress import ProgressCallback, ignore_progress

FORMAT = "nexus-archive"
VERSION = 1
MAX_LINE_CHARACTERS = 50_000_000
TOMBSTONE_KINDS = ("event", "memory", "user", "scope")
DIGEST_PATTERN = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class VectorRecord:
    memory: str
    profile: EmbeddingProfile
    data: Floats


ArchiveRecord = Event | Memory | VectorRecord | Tombstone


def read_records(source: Path | str | TextIO, workspace: WorkspaceId) -> Iterator[ArchiveRecord]:
    if isinstance(source, Path | str):
        try:
            with check_file_path(source).open(encoding="utf-8") as file:
                yield from read_records(file, workspace)
        except OSError as error:
            raise InvalidInput(f"cannot read {source}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InvalidInput(f"{source} is not UTF-8 text: {error.reason}") from error
        return
    first = source.readline(MAX_LINE_CHARACTERS)
    if first.lstrip().startswith("["):
        yield from _read_entries(first + source.read(), workspace)
    else:
        yield from _read_lines(first, source, workspace)


def check_file_path(name: Path | str) -> Path:
    if "\0" in str(name):
        raise InvalidInput(f"not a file name: {str(name)!r:.80}")
    return Path(name)


@contextmanager
def _error_context(where: str) -> Iterator[None]:
    """Convert any error in the block to InvalidInput with the position in the file."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(f"{where}: {error}") from error
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise InvalidInput(f"{where} is not a valid record: {error!r:.200}") from error
    except RecursionError:
        raise InvalidInput(f"{where} is nested too deep") from None


def _read_lines(first: str, rest: TextIO, workspace: WorkspaceId) -> Iterator[ArchiveRecord]:
    header = _parse_line(first, 1)
    if header.get("type") != FORMAT:
        raise InvalidInput('not a Nexus archive: the first line is not {"type":"nexus-archive",…}')
    if header.get("version") != VERSION:
        raise InvalidInput(f"archive version {header.get('version')!r}; this Nexus reads {VERSION}")
    for number, line in enumerate(rest, start=2):
        if line.strip():
            record = _parse_line(line, number)
            with _error_context(f"line {number}"):
                parsed = _parse_record(record, workspace)
            yield parsed


def _parse_line(line: str, number: int) -> dict[str, Any]:
    try:
        record = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"line {number} is not JSON: {error}") from None
    if not isinstance(record, dict):
        raise InvalidInput(f"line {number} is not an object")
    return record


def _parse_record(record: Mapping[str, Any], workspace: WorkspaceId) -> ArchiveRecord:
    match record["type"]:
        case "event":
            return _validate_event(event_from_json(record, workspace))
        case "memory":
            return _validate_memory(memory_from_json(record, workspace))
        case "vector":
            return _validate_vector(record)
        case "tombstone":
            return _validate_tombstone(record)
        case other:
            raise InvalidInput(f"unknown type {other!r:.80}")


def _validate_event(event: Event) -> Event:
    """Return the event in the form `observe` would have written."""
    check_name(event.speaker, "the speaker")
    check_name(event.role, "the role")
    if event.thread is not None:
        check_name(event.thread, "the thread")
    cleaned = replace(
        event,
        text=clean_text(event.text),
        key=clean_text(event.key, "the key"),
        at=clean_time(event.at),
        recorded_at=clean_time(event.recorded_at, "recorded_at"),
        metadata=_clean_mapping(event.metadata, "metadata"),
    )
    if not cleaned.text.strip() or not cleaned.key:
        raise InvalidInput("an event needs a text and a key")
    clean_json([asdict(attachment) for attachment in cleaned.attachments], "attachments")
    _check_kind(cleaned)
    for draft in explicit_drafts(cleaned):  # an invalid one would stay queued as a failed task
        if draft.kind is MemoryKind.FACT:
            check_fact(Fact(**draft.body), draft.confidence)
        if draft.kind is MemoryKind.GOAL:
            check_goal_action(draft.body)
    return cleaned


def _check_kind(event: Event) -> None:
    """Raise InvalidInput unless the metadata fits the event kind."""
    if is_version(event):
        check_version(event.metadata[DOCUMENT])
    if event.kind is EventKind.QUESTION:
        _clean_mapping(event.metadata.get(QUESTION_KEY, {}), QUESTION_KEY)
    if event.kind is EventKind.ENTITY:
        check_entity(event.metadata.get(ENTITY))
    if event.kind is EventKind.OUTCOME:
        check_outcome(_clean_mapping(event.metadata.get(OUTCOME, {}), OUTCOME))
    if event.kind is EventKind.TOOL and TOOL in event.metadata:
        check_tool_use(_clean_mapping(event.metadata[TOOL], TOOL))
    if event.kind is EventKind.SHARE:
        check_share(event.metadata.get(SHARE))
    if event.kind is EventKind.NOTE and is_shared_copy(event) and LANDMARK in event.metadata:
        check_shared_landmark(event.metadata[LANDMARK])


def _validate_tombstone(record: Mapping[str, Any]) -> Tombstone:
    kind, what = require_str(record["kind"], "kind"), require_str(record["digest"], "digest")
    if kind not in TOMBSTONE_KINDS or not DIGEST_PATTERN.fullmatch(what):
        raise InvalidInput(f"not a tombstone: {kind!r:.40} {what!r:.80}")
    at = parse_time(require_str(record["at"], "at"))
    return Tombstone(kind=kind, digest=what, at=clean_time(at))


def _validate_memory(memory: Memory) -> Memory:
    start, end = memory.valid_from, memory.valid_to
    whole = replace(
        memory,
        at=clean_time(memory.at),
        recorded_at=clean_time(memory.recorded_at, "recorded_at"),
        metadata=_clean_mapping(memory.metadata, "metadata"),
        body=_clean_mapping(memory.body, "body"),
        valid_from=None if start is None else clean_time(start, "valid_from"),
        valid_to=None if end is None else clean_time(end, "valid_to"),
    )
    told = (whole.text, whole.slot, whole.source, *whole.sources, *whole.tags)
    known = (whole.indexed_text, whole.speaker, whole.role, whole.thread)
    for text in (*told, *(text for text in known if text is not None)):
        _check_text(text)
    shares = (whole.confidence, whole.salience)
    if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in shares):
        raise InvalidInput("confidence and salience must be between 0 and 1")
    if not isinstance(whole.learned, bool) or not isinstance(whole.archived, bool):
        raise InvalidInput("learned and archived must be true or false")
    if whole.kind is MemoryKind.FACT:
        check_fact(whole.fact, whole.confidence)
    if whole.kind is MemoryKind.DOSSIER:
        check_dossier(whole.body)
    return whole


def _validate_vector(record: Mapping[str, Any]) -> VectorRecord:
    import numpy as np  # importing nexus stays fast

    profile = EmbeddingProfile(**record["profile"])
    names = (record["memory"], profile.provider, profile.model, profile.revision)
    data = np.frombuffer(b64decode(record["data"], validate=True), dtype="<f4")
    length = float(np.linalg.norm(data.astype(np.float64)))
    for name in names:
        _check_text(name)
    if data.shape != (profile.dimension,):
        raise InvalidInput("a vector must have the dimension of its profile")
    if not 0.99 < length < 1.01:
        raise InvalidInput(f"a vector must have length 1, got {length:.3g}")
    return VectorRecord(record["memory"], profile, data)


def _check_text(text: Any) -> None:
    """Raise InvalidInput unless a store can hold the text; any length is accepted."""
    if "\0" in require_str(text, "a text"):
        raise InvalidInput("a text must not contain a NUL character")
    text.encode()


def _clean_mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be a mapping, got {type(value).__name__}")
    cleaned: dict[str, Any] = clean_json(dict(value), what)
    return cleaned


def _read_entries(text: str, workspace: WorkspaceId) -> Iterator[ArchiveRecord]:
    """Parse the export format of specification 002: entries with content and metadata."""
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"not JSON: {error}") from None
    for number, entry in enumerate(entries, start=1):
        with _error_context(f"entry {number}"):
            parsed = _parse_record(_entry_event(entry), workspace)
        yield parsed


def _entry_event(entry: Any) -> dict[str, Any]:
    if not isinstance(entry, Mapping) or not isinstance(entry.get("content"), str):
        raise InvalidInput("the entry has no content")
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


BATCH = 500

TombstoneKey = tuple[str, str]  # identifies a tombstone: its kind and digest


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportReport:
    events: int
    memories: int
    vectors: int


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """Counts of imported records, and of skipped records by reason."""

    events: int = 0
    repeated: int = 0
    memories: int = 0
    vectors: int = 0
    out_of_reach: int = 0  # scopes that the importing grant does not cover
    forgotten: int = 0  # erased here before, and not imported again
    conflicting: int = 0  # the key is already used for another event here


def export_archive(
    store: Store,
    grant: Grant,
    to: Path | str | TextIO,
    *,
    scope: Scope | None = None,
    vectors: bool = False,
) -> ExportReport:
    """Write what a grant can see; with `scope`, only what was said and learned there."""
    check_grant(grant)
    events = sorted(store.ledger.find(grant), key=lambda event: (event.at, event.id))
    memories = sorted(store.memories.find(grant), key=lambda memory: (memory.at, memory.id))
    if scope is not None:
        events = [event for event in events if event.scope == scope]
        memories = [memory for memory in memories if memory.scope == scope]
    rows = list(_vector_lines(store, grant, memories)) if vectors else []
    head = ({"type": FORMAT, "version": VERSION}, *_tombstone_lines(store, grant))
    with atomic_writer(to) as out:
        for line in (*head, *_record_lines(events, memories), *rows):
            out.write(canonical_json(line) + "\n")
    return ExportReport(events=len(events), memories=len(memories), vectors=len(rows))


def _tombstone_lines(store: Store, grant: Grant) -> Iterator[dict[str, Any]]:
    """Yield tombstones for a full restore. Only the administrator gets them."""
    tombstones = store.eraser.list_tombstones(grant.workspace) if grant.everything else []
    for each in tombstones:
        at = format_time(each.at)
        yield {"type": "tombstone", "kind": each.kind, "digest": each.digest, "at": at}


def _record_lines(events: Sequence[Event], memories: Sequence[Memory]) -> Iterator[dict[str, Any]]:
    yield from ({"type": "event", **event_to_json(event)} for event in events)
    yield from ({"type": "memory", **memory_to_json(memory)} for memory in memories)


def _vector_lines(
    store: Store, grant: Grant, memories: Sequence[Memory]
) -> Iterator[dict[str, Any]]:
    ids = [memory.id for memory in memories]
    for profile in store.vectors.list_profiles():
        vectors = store.vectors.get(grant, profile, ids)
        space = {field.name: getattr(profile, field.name) for field in fields(profile)}
        for id in ids:
            if id in vectors:
                data = b64encode(vectors[id].astype("<f4").tobytes()).decode()
                yield {"type": "vector", "memory": id, "profile": space, "data": data}


@contextmanager
def atomic_writer(to: Path | str | TextIO) -> Iterator[TextIO]:
    """Open a file for atomic replacement. Write a pipe or a device directly."""
    if not isinstance(to, Path | str):
        yield to
        return
    path = check_file_path(to)
    try:
        is_stream = path.exists() and not path.is_file()
        with _open_directly(path) if is_stream else _atomic_file(path.resolve()) as out:
            yield out
    except OSError as error:
        advice = "name a file in a folder that you may write to"
        raise InvalidInput(f"cannot write {path}: {error.strerror}; {advice}") from error


def _open_directly(path: Path) -> TextIO:
    return path.open("w", encoding="utf-8", newline="\n")


@contextmanager
def _atomic_file(path: Path) -> Iterator[TextIO]:
    part = path.with_name(path.name + ".part")
    try:
        with _open_directly(part) as out:
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
    report: ProgressCallback | None = None,
    record_counts: Callable[[dict[str, int]], None] | None = None,
) -> ImportReport:
    """Import an archive, or the JSON list of specification 002; a second import changes nothing.

    Nothing is written unless the complete file is valid. Vectors of another embedder than
    `profile` are skipped and computed again. `record_counts` gets the counts for the
    administrator, with those of erased people. The returned report omits them.
    """
    check_grant(grant)
    if scope is not None and not grant.allows(frozenset({scope})):
        raise InvalidInput(f"the caller cannot write to the scope {scope}")
    records = list(read_records(source, grant.workspace))
    ours = profile() if profile and any(isinstance(r, VectorRecord) for r in records) else None
    work = _ArchiveImport(store, grant, now, scope, ours)
    done = work.run(records, report or ignore_progress)
    if record_counts:
        record_counts({**asdict(done), "of_forgotten": work.of_forgotten})
    return done


@dataclass(slots=True)
class _ArchiveImport:
    store: Store
    grant: Grant
    now: Callable[[], datetime]
    scope: Scope | None
    profile: EmbeddingProfile | None  # None: any
    of_forgotten: int = 0  # imported although the named speaker was erased

    def run(self, records: Sequence[ArchiveRecord], report: ProgressCallback) -> ImportReport:
        done = ImportReport()
        self._apply_tombstones([record for record in records if isinstance(record, Tombstone)])
        events = [record for record in records if isinstance(record, Event)]
        total = len(records)
        for batch in _split_batches(self._admit_events(events, done)):
            self._append_events(batch, done)
            report(done.events + done.repeated, total)
        if self._is_trusted:
            self._import_memories(
                [record for record in records if isinstance(record, Memory)], done
            )
            vectors = [record for record in records if isinstance(record, VectorRecord)]
            self._import_vectors([v for v in vectors if self.profile in (None, v.profile)], done)
        report(total, total)
        return done

    @property
    def _is_trusted(self) -> bool:
        """Return whether derived records and shares of the file are imported as they are.

        Only an administrator may do so. For other callers, or in another scope, records are derived
        again. A forged share event would otherwise reveal whether its memory exists.
        """
        return self.scope is None and self.grant.everything

    def _apply_tombstones(self, tombstones: Sequence[Tombstone]) -> None:
        """Write the tombstones of the archive, and erase what they cover."""
        if tombstones and self.grant.everything:
            self.store.eraser.erase(
                self.grant.workspace, events=[], memories=[], tombstones=tombstones
            )

    def _adapt_event(self, event: Event) -> Event:
        if self.scope is not None:
            event = replace(event, scope=self.scope)
        if not self.grant.everything:  # the file's trust and times count only for an administrator
            event = replace(event, trust=min(event.trust, Trust.EXTERNAL), recorded_at=self.now())
        return event

    def _admit_events(self, lines: Sequence[Event], done: ImportReport) -> list[Event]:
        tombstones = self._tombstone_times()
        admitted = []
        for line in lines:
            event = self._adapt_event(line)
            claimed = event.kind is EventKind.SHARE and not self._is_trusted
            if claimed or not self.grant.allows(frozenset({event.scope})):
                done.out_of_reach += 1
            elif any(
                _is_erased(tombstones, mark, event.at) for mark in self._tombstone_keys(line, event)
            ):
                done.forgotten += 1
            else:
                admitted.append(event)
                self.of_forgotten += _is_erased(tombstones, _speaker_key(event), event.at)
        return admitted

    def _tombstone_times(self) -> dict[TombstoneKey, datetime]:
        tombstones = self.store.eraser.list_tombstones(self.grant.workspace)
        return {(each.kind, each.digest): each.at for each in tombstones}

    def _tombstone_keys(self, line: Event, event: Event) -> Iterator[TombstoneKey]:
        """Return the tombstones that block this event: only those of scopes the caller can read.

        Any caller may write an event in the name of another speaker, as with `observe`. A rejection
        would reveal to the caller that this person was erased. An administrator may know that.
        """
        for each in (line, event):
            if self.grant.allows(frozenset({each.scope})):
                yield "event", each.id
                yield "scope", digest("scope", str(each.scope))
                yield from (("user", digest("user", who)) for who in [each.scope.owner] if who)
        if self.grant.everything:
            yield _speaker_key(event)

    def _append_events(self, events: Sequence[Event], done: ImportReport) -> None:
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
                self._append_events([event], done)
            return
        done.repeated += sum(receipt.duplicate for receipt in receipts)
        done.events += sum(not receipt.duplicate for receipt in receipts)

    def _import_memories(self, memories: Sequence[Memory], done: ImportReport) -> None:
        """Import derived records through the store, which computes their labels again.

        Records for readers of an erased scope are skipped.
        """
        tombstones = self._tombstone_times()
        waiting = [
            _make_draft(memory)
            for memory in memories
            if not _is_for_erased_scope(tombstones, memory)
        ]
        while ready := [draft for draft in waiting if self._has_sources(draft)]:
            for batch in _split_batches(ready):
                wanted = [draft.id for draft in batch if draft.id]
                before = {each.id for each in self.store.memories.get(self.grant, wanted)}
                stored = self.store.memories.put(self.grant.workspace, batch)
                done.memories += sum(each.id not in before for each in stored)
            imported = {draft.id for draft in ready}
            waiting = [draft for draft in waiting if draft.id not in imported]
        archived = [memory.id for memory in memories if memory.archived]
        for ids in _split_batches(archived):
            self.store.memories.set_state(self.grant.workspace, ids, archived=True)

    def _has_sources(self, draft: Draft) -> bool:
        reachable = self.grant.allows(frozenset({draft.scope}))
        events = self.store.ledger.load_keys(self.grant, draft.sources)
        memories = self.store.memories.get(self.grant, draft.sources)
        existing = {*events, *(memory.id for memory in memories)}
        return reachable and bool(draft.sources) and existing.issuperset(draft.sources)

    def _import_vectors(self, vectors: Sequence[VectorRecord], done: ImportReport) -> None:
        for batch in _split_batches(vectors):
            memories = self.store.memories.get(self.grant, [each.memory for each in batch])
            ids = {memory.id for memory in memories}
            spaces: dict[EmbeddingProfile, dict[str, Floats]] = defaultdict(dict)
            for each in batch:
                if each.memory in ids:
                    spaces[each.profile][each.memory] = each.data
            for profile, rows in spaces.items():
                before = self.store.vectors.get(self.grant, profile, list(rows))
                self.store.vectors.put(self.grant.workspace, profile, rows)
                done.vectors += len(rows.keys() - before.keys())


def _split_batches(items: Sequence[Any]) -> Iterator[Sequence[Any]]:
    return (items[start : start + BATCH] for start in range(0, len(items), BATCH))


def _speaker_key(event: Event) -> TombstoneKey:
    return "user", digest("user", event.speaker)


def _is_erased(
    tombstones: Mapping[TombstoneKey, datetime], key: TombstoneKey, at: datetime
) -> bool:
    """Return whether a tombstone covers this record. It always covers an event."""
    return key in tombstones and (key[0] == "event" or at <= tombstones[key])


def _is_for_erased_scope(tombstones: Mapping[TombstoneKey, datetime], memory: Memory) -> bool:
    reach = scope_digests(parse_reach(memory.body)) if memory.kind is MemoryKind.DOSSIER else []
    marks = [(kind, digest) for kind in ("scope", "user") for digest in reach]
    return any(_is_erased(tombstones, mark, memory.at) for mark in marks)


def _make_draft(memory: Memory) -> Draft:
    """Return the draft of an exported memory; the store checks its flow against the table."""
    names = [each.name for each in fields(Draft) if each.name != "flow"]
    return Draft(**{name: getattr(memory, name) for name in names}, flow=label_rule(memory.label))
