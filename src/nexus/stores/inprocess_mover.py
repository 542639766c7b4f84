"""Records of the store in memory as they are: the specification of `core.moving.Mover`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import islice

import numpy as np

from ..core.access import Grant
from ..core.canonical import canonical_json, text_time, time_text
from ..core.chain import content_of
from ..core.codec import event_from_json, memory_from_json, memory_json
from ..core.errors import Conflict
from ..core.ids import WorkspaceId
from ..core.moving import (
    Entry,
    Position,
    Shelf,
    Standing,
    Work,
    bill_line,
    bill_of,
    check_administrator,
    continues,
    stone_line,
    stone_of,
)
from ..core.records import Stage
from ..core.trail import Link
from ..core.trail import continues as continues_trail
from ..core.window import item_from_json, item_to_json
from .inprocess import InProcessVectors, _Entry, _State, _Work, _Workspace
from .inprocess_jobs import moved_line, row_of
from .inprocess_uses import keep_use, use_lines


class InProcessMover:
    def __init__(self, state: _State) -> None:
        self._state = state

    def workspaces(self) -> list[WorkspaceId]:
        with self._state.lock:
            known = {*self._state.workspaces, *self._state.audit.trails}
            return sorted(id for id in known if any(self._counted(id).values()))

    def count(self, grant: Grant) -> dict[Shelf, int]:
        with self._state.lock:
            return self._counted(check_administrator(grant))

    def _counted(self, workspace: WorkspaceId) -> dict[Shelf, int]:
        return {shelf: sum(1 for _ in self._lines(workspace, shelf)) for shelf in Shelf}

    def read(
        self, grant: Grant, shelf: Shelf, *, after: str | None = None, limit: int
    ) -> list[Standing]:
        workspace = check_administrator(grant)
        start = 0 if after is None else int(after)
        with self._state.lock:
            some = islice(self._lines(workspace, shelf), start, start + limit)
            return [Standing(str(place), line) for place, line in enumerate(some, start + 1)]

    def _lines(self, workspace: WorkspaceId, shelf: Shelf) -> Iterator[str]:
        home = self._state.of(workspace)
        items = self._state.window.items.items()
        every: dict[Shelf, Iterator[str]] = {
            Shelf.EVENTS: (_entry_line(n, entry) for n, entry in enumerate(home.entries, start=1)),
            Shelf.MEMORIES: (canonical_json(memory_json(m)) for m in home.memories.values()),
            Shelf.VECTORS: self._vector_lines(home),
            Shelf.USES: iter(use_lines(home.uses)),
            Shelf.TOMBSTONES: map(stone_line, home.tombstones),
            Shelf.SPENDING: map(bill_line, home.bills.values()),
            Shelf.WINDOW: (canonical_json(item_to_json(i)) for at, i in items if at[0] == home.id),
            Shelf.WORK: map(_work_line, home.work.values()),
            Shelf.JOBS: map(moved_line, home.jobs.values()),
            Shelf.AUDIT: (link.line for link in self._state.audit.trails[workspace].links),
        }
        return every[shelf]

    def _vector_lines(self, home: _Workspace) -> Iterator[str]:
        for profile in sorted(self._state.profiles, key=astuple):
            for id, vector in home.vectors[profile.name].items():
                data = vector.astype("<f4").tobytes()
                yield Position(memory=id, profile=profile, data=data).line

    def write(self, workspace: WorkspaceId, shelf: Shelf, lines: Sequence[str]) -> int:
        with self._state.lock:
            known = {_name(shelf, line) for line in self._lines(workspace, shelf)}
            new = [line for line in dict.fromkeys(lines) if _name(shelf, line) not in known]
            home = self._state.of(workspace)
            if shelf is Shelf.EVENTS:
                _chain(home, [Entry.of(line) for line in new])
            elif shelf is Shelf.VECTORS:
                self._keep_vectors(workspace, [Position.of(line) for line in new])
            elif shelf is Shelf.WINDOW:
                for item in (item_from_json(json.loads(line)) for line in new):
                    self._state.window.items[workspace, item.scope, item.slot, item.key] = item
            elif shelf is Shelf.AUDIT:
                self._keep_audit(workspace, [Link.of(line) for line in new])
            elif shelf is Shelf.MEMORIES:
                _keep_memories(home, new)
            else:
                for line in new:
                    _keep(home, shelf, line)
        return len(new)

    def _keep_audit(self, workspace: WorkspaceId, links: Sequence[Link]) -> None:
        trail = self._state.audit.trails[workspace]
        continues_trail(trail.length, trail.head, links)
        if links:
            trail.extend(links)

    def _keep_vectors(self, workspace: WorkspaceId, positions: Sequence[Position]) -> None:
        vectors = InProcessVectors(self._state)
        for each in positions:
            data = np.frombuffer(each.data, dtype="<f4")
            vectors.put(workspace, each.profile, {each.memory: data})


# What a record is known by. An event or a memory is the whole line: another one is Conflict.
NAMES = {
    Shelf.VECTORS: ("memory", "profile"),
    Shelf.USES: ("memory", "place"),
    Shelf.TOMBSTONES: ("kind", "digest"),
    Shelf.SPENDING: ("at", "purpose", "model"),
    Shelf.WINDOW: ("scope", "beside", "slot", "key"),
    Shelf.WORK: ("event",),
    Shelf.JOBS: ("name", "key"),
}


def _name(shelf: Shelf, line: str) -> str:
    if shelf not in NAMES:
        return line
    told = json.loads(line)
    return canonical_json([told[name] for name in NAMES[shelf]])


def _entry_line(number: int, entry: _Entry) -> str:
    return Entry(
        number=number,
        id=entry.id,
        content=content_of(entry.event) if entry.event else None,
        salt=entry.salt if entry.event else None,
        commitment=entry.commitment,
        hash=entry.hash,
    ).line


def _work_line(work: _Work) -> str:
    return Work(
        event=work.event_id,
        step=work.step.value,
        due_at=time_text(work.due_at),
        attempts=work.attempts,
        error=work.error,
        priority=work.priority,
    ).line


def _chain(home: _Workspace, entries: Sequence[Entry]) -> None:
    """All of them, or none."""
    continues(len(home.entries), home.head, entries)
    for entry in entries:
        told = entry.content
        event = None if told is None else event_from_json(json.loads(told), home.id)
        kept = _Entry(entry.id, event, entry.salt or b"", entry.commitment, entry.hash)
        home.entries.append(kept)
        home.by_id[entry.id] = kept
        home.epochs.update([frozenset({event.scope})] if event else [])


def _keep_memories(home: _Workspace, lines: Sequence[str]) -> None:
    memories = [memory_from_json(json.loads(line), home.id) for line in lines]
    if home.memories.keys() & {memory.id for memory in memories}:
        raise Conflict("a memory is there already, and another one")
    for memory in memories:
        home.write(memory)
        home.epochs[memory.label] += 1


def _keep(home: _Workspace, shelf: Shelf, line: str) -> None:
    if shelf is Shelf.TOMBSTONES:
        home.tombstones.append(stone_of(line))
    elif shelf is Shelf.USES:
        keep_use(home.uses, line)
    elif shelf is Shelf.JOBS:
        job = row_of(line)
        home.jobs[job.name, job.key] = job
    elif shelf is Shelf.SPENDING:
        bill = bill_of(line)
        home.bills[bill.at, bill.purpose, bill.model] = bill
    else:
        work = Work.of(line)
        due_at = text_time(work.due_at)
        home.work[work.event] = _Work(
            work.event,
            Stage(work.step),
            due_at,
            attempts=work.attempts,
            error=work.error,
            priority=work.priority,
        )
