"""Bulk copy and index repair of the reference store."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import islice

import numpy as np

from ...audit.chain import AuditLink
from ...audit.chain import check_link_chain as continues_trail
from ...core.access import Grant
from ...core.canonical import canonical_json, format_time, parse_time
from ...core.derive import keyword_text
from ...core.errors import Conflict
from ...core.hash_chain import event_content
from ...core.ids import WorkspaceId
from ...core.json_codec import event_from_json, memory_from_json, memory_to_json
from ...core.protocols.bulk_copy import (
    CopyRow,
    EventCopy,
    RecordType,
    TaskCopy,
    VectorCopy,
    check_administrator,
    check_event_chain,
    decode_cost,
    decode_tombstone,
    encode_cost,
    encode_tombstone,
)
from ...core.protocols.index_repair import DerivedLayer, IndexDamage, Json, RepairResult
from ...core.records import Stage
from ...core.records.window import item_from_json, item_to_json
from ...text.terms import extract_terms
from .jobs import job_from_line, job_to_line
from .memories import ReferenceVectors
from .state import LedgerEntry, StoredTask, StoreState, WorkspaceData
from .usage_counts import add_usage_line, usage_to_lines


class ReferenceIndexRepair:
    """Reference implementation of the protocol `DerivedIndexes`."""

    def __init__(self, state: StoreState) -> None:
        self._state = state

    def find_damage(self, workspace: WorkspaceId) -> list[IndexDamage]:
        with self._state.lock:
            home = self._state.get_workspace(workspace)
            counts = {
                (DerivedLayer.KEYWORDS, "memories with stale keywords"): len(
                    _find_stale_terms(home)
                ),
                (DerivedLayer.VECTORS, "invalid vectors"): len(_find_bad_vectors(home)),
            }
        return [IndexDamage(layer, f"{what}: {n}") for (layer, what), n in counts.items() if n]

    def repair(
        self, workspace: WorkspaceId, layer: DerivedLayer, *, cursor: Json = None, limit: int
    ) -> RepairResult:
        del cursor, limit  # the repair runs in one step
        with self._state.lock:
            home = self._state.get_workspace(workspace)
            if layer is DerivedLayer.VECTORS:
                bad = _find_bad_vectors(home)
                for space, id in bad:
                    del home.vectors[space][id]
                return RepairResult(changed=len(bad))
            words = _find_stale_terms(home) if layer is DerivedLayer.KEYWORDS else {}
            home.words.update(words)
            for id in home.words.keys() - home.memories.keys():
                del home.words[id]
            return RepairResult(checked=len(home.memories), changed=len(words))


def _find_stale_terms(home: WorkspaceData) -> dict[str, list[str]]:
    """Return the correct terms of memories with wrong terms in the index."""
    every = {id: extract_terms(keyword_text(memory)) for id, memory in home.memories.items()}
    return {id: words for id, words in every.items() if home.words.get(id) != words}


def _find_bad_vectors(home: WorkspaceData) -> list[tuple[str, str]]:
    return [
        (space, id)
        for space, vectors in home.vectors.items()
        for id, vector in vectors.items()
        if id not in home.memories or not abs(float(np.linalg.norm(vector)) - 1.0) < 1e-3
    ]


class ReferenceBulkCopy:
    """Reference implementation of the protocol `BulkCopy`."""

    def __init__(self, state: StoreState) -> None:
        self._state = state

    def list_workspaces(self) -> list[WorkspaceId]:
        with self._state.lock:
            workspaces = {*self._state.workspaces, *self._state.audit.trails}
            return sorted(id for id in workspaces if any(self._count_by_type(id).values()))

    def count_records(self, grant: Grant) -> dict[RecordType, int]:
        with self._state.lock:
            return self._count_by_type(check_administrator(grant))

    def _count_by_type(self, workspace: WorkspaceId) -> dict[RecordType, int]:
        return {
            record_type: sum(1 for _ in self._iter_lines(workspace, record_type))
            for record_type in RecordType
        }

    def read_rows(
        self, grant: Grant, record_type: RecordType, *, after: str | None = None, limit: int
    ) -> list[CopyRow]:
        workspace = check_administrator(grant)
        start = 0 if after is None else int(after)
        with self._state.lock:
            lines = islice(self._iter_lines(workspace, record_type), start, start + limit)
            return [CopyRow(str(position), line) for position, line in enumerate(lines, start + 1)]

    def _iter_lines(self, workspace: WorkspaceId, record_type: RecordType) -> Iterator[str]:
        home = self._state.get_workspace(workspace)
        items = self._state.window.items.items()
        every: dict[RecordType, Iterator[str]] = {
            RecordType.EVENTS: (
                _entry_to_line(n, entry) for n, entry in enumerate(home.entries, start=1)
            ),
            RecordType.MEMORIES: (
                canonical_json(memory_to_json(m)) for m in home.memories.values()
            ),
            RecordType.VECTORS: self._iter_vector_lines(home),
            RecordType.USES: iter(usage_to_lines(home.uses)),
            RecordType.TOMBSTONES: map(encode_tombstone, home.tombstones),
            RecordType.SPENDING: map(encode_cost, home.costs.values()),
            RecordType.WINDOW: (
                canonical_json(item_to_json(i)) for at, i in items if at[0] == home.id
            ),
            RecordType.WORK: map(_work_to_line, home.work.values()),
            RecordType.JOBS: map(job_to_line, home.jobs.values()),
            RecordType.AUDIT: (link.line for link in self._state.audit.trails[workspace].links),
        }
        return every[record_type]

    def _iter_vector_lines(self, home: WorkspaceData) -> Iterator[str]:
        for profile in sorted(self._state.profiles, key=astuple):
            for id, vector in home.vectors[profile.name].items():
                data = vector.astype("<f4").tobytes()
                yield VectorCopy(memory=id, profile=profile, data=data).line

    def write_rows(
        self, workspace: WorkspaceId, record_type: RecordType, lines: Sequence[str]
    ) -> int:
        with self._state.lock:
            existing = {
                _line_identity(record_type, line)
                for line in self._iter_lines(workspace, record_type)
            }
            new = [
                line
                for line in dict.fromkeys(lines)
                if _line_identity(record_type, line) not in existing
            ]
            home = self._state.get_workspace(workspace)
            if record_type is RecordType.EVENTS:
                _append_entries(home, [EventCopy.from_line(line) for line in new])
            elif record_type is RecordType.VECTORS:
                self._write_vectors(workspace, [VectorCopy.from_line(line) for line in new])
            elif record_type is RecordType.WINDOW:
                for item in (item_from_json(json.loads(line)) for line in new):
                    self._state.window.items[workspace, item.scope, item.slot, item.key] = item
            elif record_type is RecordType.AUDIT:
                self._write_audit(workspace, [AuditLink.from_line(line) for line in new])
            elif record_type is RecordType.MEMORIES:
                _write_memories(home, new)
            else:
                for line in new:
                    _write_line(home, record_type, line)
        return len(new)

    def _write_audit(self, workspace: WorkspaceId, links: Sequence[AuditLink]) -> None:
        trail = self._state.audit.trails[workspace]
        continues_trail(trail.length, trail.head, links)
        if links:
            trail.extend(links)

    def _write_vectors(self, workspace: WorkspaceId, positions: Sequence[VectorCopy]) -> None:
        vectors = ReferenceVectors(self._state)
        for each in positions:
            data = np.frombuffer(each.data, dtype="<f4")
            vectors.put(workspace, each.profile, {each.memory: data})


# Fields that identify a record. Events and memories are identified by the complete line, because a
# different record with the same id raises Conflict.
IDENTITY_FIELDS = {
    RecordType.VECTORS: ("memory", "profile"),
    RecordType.USES: ("memory", "place"),
    RecordType.TOMBSTONES: ("kind", "digest"),
    RecordType.SPENDING: ("at", "purpose", "model"),
    RecordType.WINDOW: ("scope", "beside", "slot", "key"),
    RecordType.WORK: ("event",),
    RecordType.JOBS: ("name", "key"),
}


def _line_identity(record_type: RecordType, line: str) -> str:
    if record_type not in IDENTITY_FIELDS:
        return line
    fields = json.loads(line)
    return canonical_json([fields[name] for name in IDENTITY_FIELDS[record_type]])


def _entry_to_line(number: int, entry: LedgerEntry) -> str:
    return EventCopy(
        number=number,
        id=entry.id,
        content=event_content(entry.event) if entry.event else None,
        salt=entry.salt if entry.event else None,
        commitment=entry.commitment,
        hash=entry.hash,
    ).line


def _work_to_line(work: StoredTask) -> str:
    return TaskCopy(
        event=work.event_id,
        step=work.step.value,
        due_at=format_time(work.due_at),
        attempts=work.attempts,
        error=work.error,
        priority=work.priority,
    ).line


def _append_entries(home: WorkspaceData, entries: Sequence[EventCopy]) -> None:
    """Append all entries, or raise Conflict if they do not continue the chain."""
    check_event_chain(len(home.entries), home.chain_head, entries)
    for entry in entries:
        content = entry.content
        event = None if content is None else event_from_json(json.loads(content), home.id)
        stored = LedgerEntry(entry.id, event, entry.salt or b"", entry.commitment, entry.hash)
        home.entries.append(stored)
        home.by_id[entry.id] = stored
        home.epochs.update([frozenset({event.scope})] if event else [])


def _write_memories(home: WorkspaceData, lines: Sequence[str]) -> None:
    memories = [memory_from_json(json.loads(line), home.id) for line in lines]
    if home.memories.keys() & {memory.id for memory in memories}:
        raise Conflict("a different memory with the same id already exists")
    for memory in memories:
        home.write_memory(memory)
        home.epochs[memory.label] += 1


def _write_line(home: WorkspaceData, record_type: RecordType, line: str) -> None:
    if record_type is RecordType.TOMBSTONES:
        home.tombstones.append(decode_tombstone(line))
    elif record_type is RecordType.USES:
        add_usage_line(home.uses, line)
    elif record_type is RecordType.JOBS:
        job = job_from_line(line)
        home.jobs[job.name, job.key] = job
    elif record_type is RecordType.SPENDING:
        cost = decode_cost(line)
        home.costs[cost.at, cost.purpose, cost.model] = cost
    else:
        work = TaskCopy.from_line(line)
        due_at = parse_time(work.due_at)
        home.work[work.event] = StoredTask(
            work.event,
            Stage(work.step),
            due_at,
            attempts=work.attempts,
            error=work.error,
            priority=work.priority,
        )
