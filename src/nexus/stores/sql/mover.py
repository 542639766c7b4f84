"""Records of an SQL store as they are, line by line: the administrator's way in and out."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields

import numpy as np

from ...core.access import Grant
from ...core.canonical import canonical_json, text_time, time_text
from ...core.codec import event_from_json, memory_from_json
from ...core.errors import Conflict
from ...core.ids import WorkspaceId
from ...core.moving import (
    Entry,
    MovedJob,
    Position,
    Shelf,
    Standing,
    Used,
    Work,
    bill_line,
    bill_of,
    check_administrator,
    continues,
    stone_line,
    stone_of,
)
from ...core.protocols import Floats
from ...core.records import EmbeddingProfile, Spent, Tombstone
from ...core.trail import Link
from ...core.trail import continues as continues_trail
from ...core.window import item_from_json
from .audit import add_links, link_of, trail_end
from .labels import chain_end, known_workspace, label_number, label_of, workspace_number
from .memories import add_memories
from .session import Connections, Row, Session
from .vectors import profile_number, put_vectors
from .window import window_row

Place = list[int | str]  # of the last row that was read: a row after it has a larger one
START: Mapping[Shelf, Place] = {
    Shelf.EVENTS: [0],
    Shelf.MEMORIES: [0],
    Shelf.VECTORS: [0, 0],
    Shelf.USES: [0, ""],
    Shelf.TOMBSTONES: ["", ""],
    Shelf.SPENDING: ["", "", ""],
    Shelf.WINDOW: [0, "", ""],
    Shelf.WORK: [-1, 0],
    Shelf.JOBS: ["", ""],
    Shelf.AUDIT: [0],
}
QUERIES = {
    Shelf.EVENTS: "standing_events",
    Shelf.MEMORIES: "standing_memories",
    Shelf.VECTORS: "standing_vectors",
    Shelf.USES: "standing_uses",
    Shelf.TOMBSTONES: "standing_tombstones",
    Shelf.SPENDING: "standing_spending",
    Shelf.WINDOW: "standing_window",
    Shelf.WORK: "standing_work",
    Shelf.JOBS: "standing_jobs",
    Shelf.AUDIT: "standing_audit",
}


MOVED = tuple(field.name for field in fields(MovedJob))  # the columns of a job, in order


class SqlMover:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def workspaces(self) -> list[WorkspaceId]:
        with self._connections.reading() as session:
            names = [WorkspaceId(name) for (name,) in session.run("named_workspaces")]
            return [name for name in names if any(_counted(session, name))]

    def count(self, grant: Grant) -> dict[Shelf, int]:
        workspace = check_administrator(grant)
        with self._connections.reading() as session:
            return dict(zip(Shelf, _counted(session, workspace), strict=True))

    def read(
        self, grant: Grant, shelf: Shelf, *, after: str | None = None, limit: int
    ) -> list[Standing]:
        workspace = check_administrator(grant)
        place: Place = START[shelf] if after is None else json.loads(after)
        with self._connections.reading() as session:
            number = known_workspace(session, workspace)
            rows = _standing(session, number, shelf, place, limit)
            line = LINES[shelf]
            return [Standing(json.dumps(row[: len(place)]), line(row)) for row in rows]

    def write(self, workspace: WorkspaceId, shelf: Shelf, lines: Sequence[str]) -> int:
        new = list(dict.fromkeys(lines))
        keep = KEEPERS[shelf]
        return self._connections.write(lambda session: keep(session, workspace, new))


def _counted(session: Session, workspace: WorkspaceId) -> Row:
    number = known_workspace(session, workspace)
    counts: Row = session.run("standing_counts", {"workspace": number}).fetchone()
    return counts


def _standing(session: Session, number: int, shelf: Shelf, place: Place, limit: int) -> list[Row]:
    """The next rows of a shelf. Each begins with its place."""
    after = dict(zip(("first", "second", "third"), place, strict=False))
    return session.run(QUERIES[shelf], {"workspace": number, "limit": limit, **after}).fetchall()


def _entry_line(row: Row) -> str:
    seq, id, content, salt, promise, hash = row
    return Entry(number=seq, id=id, content=content, salt=salt, commitment=promise, hash=hash).line


def _memory_line(content: str, tier: str, archived: bool) -> str:
    """The content with the state laid over it."""
    return canonical_json({**json.loads(content), "tier": tier, "archived": bool(archived)})


def _use_line(row: Row) -> str:
    _, id, scopes, count, conversations, last_at, owner = row
    (place,) = json.loads(scopes)
    return Used(
        memory=id,
        place=place,
        owner=owner,
        count=count,
        conversations=conversations.split(),
        last_at=last_at,
    ).line


def _position_line(row: Row) -> str:
    _, _, id, provider, model, dimension, revision, data = row
    profile = EmbeddingProfile(
        provider=provider, model=model, dimension=dimension, revision=revision
    )
    return Position(memory=id, profile=profile, data=data).line


def _stone_line(row: Row) -> str:
    kind, digest, at = row
    return stone_line(Tombstone(kind=kind, digest=digest, at=text_time(at)))


def _bill_line(row: Row) -> str:
    day, purpose, model, calls, told, answered, cost = row
    return bill_line(
        Spent(
            at=text_time(day),
            purpose=purpose,
            model=model,
            calls=calls,
            input_tokens=told,
            output_tokens=answered,
            cost=cost,
        )
    )


def _work_line(row: Row) -> str:
    priority, _, id, step, due_at, attempts, error = row
    return Work(
        event=id, step=step, due_at=due_at, attempts=attempts, error=error, priority=priority
    ).line


def _job_line(row: Row) -> str:
    """Numbers as every store has them: a file knows no true and false."""
    told = dict(zip(MOVED, row, strict=True))
    told |= {name: bool(told[name]) for name in ("on_news", "dead")}
    return MovedJob(**told).line


LINES: Mapping[Shelf, Callable[[Row], str]] = {
    Shelf.EVENTS: _entry_line,
    Shelf.MEMORIES: lambda row: _memory_line(*row[1:]),
    Shelf.VECTORS: _position_line,
    Shelf.USES: _use_line,
    Shelf.TOMBSTONES: _stone_line,
    Shelf.SPENDING: _bill_line,
    Shelf.WINDOW: lambda row: row[-1],
    Shelf.WORK: _work_line,
    Shelf.JOBS: _job_line,
    Shelf.AUDIT: lambda row: link_of(row).line,
}


def _keep_events(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    entries = [Entry.of(line) for line in lines]
    number, length, head = chain_end(session, workspace)
    new = [entry for entry in entries if entry.number > length]
    _check_same(session, number, [entry for entry in entries if entry.number <= length])
    continues(length, head, new)
    rows = _event_rows(session, number, workspace, new)
    if session.run_many("add_event", rows) < len(rows):
        raise Conflict("an event is there already, at another place")
    if new:
        size, today = sum(row[-1] for row in rows), ""  # they were written on other days
        end = (number, new[-1].number, new[-1].hash, size, today)
        session.run_many("advance_chain", [end])
        labels = sorted({row[3] for row in rows} - {None})
        session.run_many("events_came", [(number, label) for label in labels])
    return len(new)


def _check_same(session: Session, number: int, entries: Sequence[Entry]) -> None:
    """What is there must be what comes; erased in one of the two is another."""
    if not entries:
        return
    before: Place = [min(entry.number for entry in entries) - 1]
    rows = _standing(session, number, Shelf.EVENTS, before, len(entries))
    there = {_entry_line(row) for row in rows}
    for entry in entries:
        if entry.line not in there:
            raise Conflict(f"event {entry.number} is there already, and another one")


def _event_rows(
    session: Session, number: int, workspace: WorkspaceId, entries: Sequence[Entry]
) -> list[Row]:
    rows: list[Row] = []
    for entry in entries:
        label = key = at = None
        if entry.content is not None:
            event = event_from_json(json.loads(entry.content), workspace)
            label = label_number(session, number, frozenset({event.scope}))
            key, at = event.key, time_text(event.at)
        size = len((entry.content or "").encode())
        kept = (entry.content, entry.salt, entry.commitment, entry.hash, size)
        rows.append((number, entry.number, entry.id, label, key, at, *kept))
    return rows


def _keep_memories(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = workspace_number(session, workspace)
    told = {json.loads(line)["id"]: line for line in lines}
    bound = {"workspace": number, "ids": json.dumps(list(told))}
    rows = session.run("known_memories", bound).fetchall()
    known = {id: _memory_line(*kept) for id, *kept in rows}
    for id, line in known.items():
        if told[id] != line:
            raise Conflict(f"the memory {id} is there already, and another one")
    new = [line for id, line in told.items() if id not in known]
    add_memories(session, number, [memory_from_json(json.loads(each), workspace) for each in new])
    return len(new)


def _keep_vectors(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    spaces: dict[EmbeddingProfile, dict[str, Floats]] = defaultdict(dict)
    for each in map(Position.of, lines):
        spaces[each.profile][each.memory] = np.frombuffer(each.data, dtype="<f4")
    number = workspace_number(session, workspace)
    new = 0
    for profile, vectors in spaces.items():
        kind = profile_number(session, profile)
        bound = {"workspace": number, "profile": kind, "ids": json.dumps(list(vectors))}
        (known,) = session.run("count_known_vectors", bound).fetchone()
        new += put_vectors(session, workspace, profile, vectors) - known
    return new


def _keep_uses(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = workspace_number(session, workspace)
    rows = [
        (
            number,
            label_of(session, number, [use.place]),
            use.memory,
            use.count,
            " ".join(use.conversations),
            use.last_at,
            use.owner,
        )
        for use in map(Used.of, lines)
    ]
    return session.run_many("move_use", rows)


def _keep_stones(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = workspace_number(session, workspace)
    stones = map(stone_of, lines)
    rows = [(number, stone.kind, stone.digest, time_text(stone.at)) for stone in stones]
    return session.run_many("add_tombstone", rows)


def _keep_bills(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = workspace_number(session, workspace)
    rows = [
        (
            number,
            time_text(bill.at),
            bill.purpose,
            bill.model,
            bill.calls,
            bill.input_tokens,
            bill.output_tokens,
            float(bill.cost),
        )
        for bill in map(bill_of, lines)
    ]
    return session.run_many("move_spending", rows)


def _keep_items(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = workspace_number(session, workspace)
    new = 0
    for line in lines:
        item = item_from_json(json.loads(line))
        row = window_row(session, number, item, item.tied_to, line)
        new += session.run("move_window_item", row).rowcount
    return new


def _keep_work(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = workspace_number(session, workspace)
    works = [Work.of(line) for line in lines]
    bound = {"workspace": number, "ids": json.dumps([work.event for work in works])}
    places = {id: (seq, label) for id, seq, label in session.run("places_of_events", bound)}
    rows = [
        (
            number,
            *places[each.event],
            each.step,
            each.due_at,
            each.attempts,
            each.error,
            each.priority,
        )
        for each in works
        if each.event in places
    ]
    return session.run_many("move_work", rows)


def _keep_jobs(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = workspace_number(session, workspace)
    return session.run_many("move_jobs", [(number, *astuple(MovedJob.of(line))) for line in lines])


def _keep_audit(session: Session, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    coming = [Link.of(line) for line in lines]
    number = workspace_number(session, workspace)
    length, head = trail_end(session, number)
    known = [link for link in coming if link.number <= length]
    before: Place = [known[0].number - 1] if known else [0]
    rows = _standing(session, number, Shelf.AUDIT, before, len(known))
    if [link_of(row).line for row in rows] != [link.line for link in known]:
        raise Conflict("the audit of the target is another one, or one in use")
    new = coming[len(known) :]
    continues_trail(length, head, new)
    if new:
        add_links(session, {number: new})
    return len(new)


KEEPERS: Mapping[Shelf, Callable[[Session, WorkspaceId, Sequence[str]], int]] = {
    Shelf.EVENTS: _keep_events,
    Shelf.MEMORIES: _keep_memories,
    Shelf.VECTORS: _keep_vectors,
    Shelf.USES: _keep_uses,
    Shelf.TOMBSTONES: _keep_stones,
    Shelf.SPENDING: _keep_bills,
    Shelf.WINDOW: _keep_items,
    Shelf.WORK: _keep_work,
    Shelf.JOBS: _keep_jobs,
    Shelf.AUDIT: _keep_audit,
}
