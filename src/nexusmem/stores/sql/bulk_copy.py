"""Bulk copy of an SQL store: raw records as JSON lines, for `nexus migrate`."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, fields

import numpy as np

from ...audit.chain import AuditLink
from ...audit.chain import check_link_chain as continues_trail
from ...core.access import Grant
from ...core.canonical import canonical_json, format_time, parse_time
from ...core.errors import Conflict
from ...core.ids import WorkspaceId
from ...core.json_codec import event_from_json, memory_from_json
from ...core.protocols.bulk_copy import (
    CopyRow,
    EventCopy,
    JobCopy,
    RecordType,
    TaskCopy,
    UsageCopy,
    VectorCopy,
    check_administrator,
    check_event_chain,
    decode_cost,
    decode_tombstone,
    encode_cost,
    encode_tombstone,
)
from ...core.protocols.embedder import Floats
from ...core.records import EmbeddingProfile, ModelCost, Tombstone
from ...core.records.window import item_from_json
from .audit import append_links, link_from_row, read_chain_end
from .memories import add_memories
from .readable_labels import (
    ensure_label,
    ensure_label_by_digests,
    ensure_workspace,
    find_workspace,
    lock_chain_end,
)
from .transactions import Connections, Row, Transaction
from .vectors.vector_store import profile_number, put_vectors
from .window import build_window_row

RowCursor = list[int | str]  # sort key of the last row that was read
START_CURSORS: Mapping[RecordType, RowCursor] = {
    RecordType.EVENTS: [0],
    RecordType.MEMORIES: [0],
    RecordType.VECTORS: [0, 0],
    RecordType.USES: [0, ""],
    RecordType.TOMBSTONES: ["", ""],
    RecordType.SPENDING: ["", "", ""],
    RecordType.WINDOW: [0, "", ""],
    RecordType.WORK: [-1, 0],
    RecordType.JOBS: ["", ""],
    RecordType.AUDIT: [0],
}
READ_QUERIES = {
    RecordType.EVENTS: "page_events",
    RecordType.MEMORIES: "page_memories",
    RecordType.VECTORS: "page_vectors",
    RecordType.USES: "page_uses",
    RecordType.TOMBSTONES: "page_tombstones",
    RecordType.SPENDING: "page_model_costs",
    RecordType.WINDOW: "page_window_items",
    RecordType.WORK: "page_work",
    RecordType.JOBS: "page_jobs",
    RecordType.AUDIT: "page_audit",
}


JOB_FIELDS = tuple(field.name for field in fields(JobCopy))  # columns of a job row, in order


class SqlBulkCopy:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def list_workspaces(self) -> list[WorkspaceId]:
        with self._connections.read_transaction() as session:
            names = [WorkspaceId(name) for (name,) in session.execute_query("workspace_names")]
            return [name for name in names if any(_count_rows(session, name))]

    def count_records(self, grant: Grant) -> dict[RecordType, int]:
        workspace = check_administrator(grant)
        with self._connections.read_transaction() as session:
            return dict(zip(RecordType, _count_rows(session, workspace), strict=True))

    def read_rows(
        self, grant: Grant, record_type: RecordType, *, after: str | None = None, limit: int
    ) -> list[CopyRow]:
        workspace = check_administrator(grant)
        cursor: RowCursor = START_CURSORS[record_type] if after is None else json.loads(after)
        with self._connections.read_transaction() as session:
            number = find_workspace(session, workspace)
            rows = _read_rows(session, number, record_type, cursor, limit)
            format_line = LINE_FORMATTERS[record_type]
            return [CopyRow(json.dumps(row[: len(cursor)]), format_line(row)) for row in rows]

    def write_rows(
        self, workspace: WorkspaceId, record_type: RecordType, lines: Sequence[str]
    ) -> int:
        new = list(dict.fromkeys(lines))
        write_lines = LINE_WRITERS[record_type]
        return self._connections.write(lambda session: write_lines(session, workspace, new))


def _count_rows(session: Transaction, workspace: WorkspaceId) -> Row:
    number = find_workspace(session, workspace)
    counts: Row = session.execute_query("count_all_rows", {"workspace": number}).fetchone()
    return counts


def _read_rows(
    session: Transaction, number: int, record_type: RecordType, cursor: RowCursor, limit: int
) -> list[Row]:
    """Return the next rows of a record type. The first columns are the cursor."""
    after = dict(zip(("first", "second", "third"), cursor, strict=False))
    return session.execute_query(
        READ_QUERIES[record_type], {"workspace": number, "limit": limit, **after}
    ).fetchall()


def _event_line(row: Row) -> str:
    seq, id, content, salt, promise, hash = row
    return EventCopy(
        number=seq, id=id, content=content, salt=salt, commitment=promise, hash=hash
    ).line


def _memory_line(content: str, tier: str, archived: bool) -> str:
    """Return the JSON of a memory with its current tier and archive flag."""
    return canonical_json({**json.loads(content), "tier": tier, "archived": bool(archived)})


def _usage_line(row: Row) -> str:
    _, id, scopes, count, conversations, last_at, owner = row
    (scope,) = json.loads(scopes)
    return UsageCopy(
        memory=id,
        place=scope,
        owner=owner,
        count=count,
        conversations=conversations.split(),
        last_at=last_at,
    ).line


def _vector_line(row: Row) -> str:
    _, _, id, provider, model, dimension, revision, data = row
    profile = EmbeddingProfile(
        provider=provider, model=model, dimension=dimension, revision=revision
    )
    return VectorCopy(memory=id, profile=profile, data=data).line


def _tombstone_line(row: Row) -> str:
    kind, digest, at = row
    return encode_tombstone(Tombstone(kind=kind, digest=digest, at=parse_time(at)))


def _cost_line(row: Row) -> str:
    day, purpose, model, calls, input_tokens, output_tokens, cost = row
    return encode_cost(
        ModelCost(
            at=parse_time(day),
            purpose=purpose,
            model=model,
            calls=calls,
            input_tokens=input_tokens,
            output_tokens=output_tokens,
            cost=cost,
        )
    )


def _work_line(row: Row) -> str:
    priority, _, id, step, due_at, attempts, error = row
    return TaskCopy(
        event=id, step=step, due_at=due_at, attempts=attempts, error=error, priority=priority
    ).line


def _job_line(row: Row) -> str:
    """Return the JSON of a job, with booleans: SQLite stores them as 0 and 1."""
    values = dict(zip(JOB_FIELDS, row, strict=True))
    values |= {name: bool(values[name]) for name in ("on_news", "dead")}
    return JobCopy(**values).line


LINE_FORMATTERS: Mapping[RecordType, Callable[[Row], str]] = {
    RecordType.EVENTS: _event_line,
    RecordType.MEMORIES: lambda row: _memory_line(*row[1:]),
    RecordType.VECTORS: _vector_line,
    RecordType.USES: _usage_line,
    RecordType.TOMBSTONES: _tombstone_line,
    RecordType.SPENDING: _cost_line,
    RecordType.WINDOW: lambda row: row[-1],
    RecordType.WORK: _work_line,
    RecordType.JOBS: _job_line,
    RecordType.AUDIT: lambda row: link_from_row(row).line,
}


def _write_events(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    entries = [EventCopy.from_line(line) for line in lines]
    number, length, head = lock_chain_end(session, workspace)
    new = [entry for entry in entries if entry.number > length]
    _check_identical(session, number, [entry for entry in entries if entry.number <= length])
    check_event_chain(length, head, new)
    rows = _event_rows(session, number, workspace, new)
    if session.execute_batch("add_event", rows) < len(rows):
        raise Conflict("an event already exists at another position of the chain")
    if new:
        size, today = (
            sum(row[-1] for row in rows),
            "",
        )  # an import does not count for the daily quota
        end = (number, new[-1].number, new[-1].hash, size, today)
        session.execute_batch("advance_chain", [end])
        labels = sorted({row[3] for row in rows} - {None})
        session.execute_batch("bump_label_epoch", [(number, label) for label in labels])
    return len(new)


def _check_identical(session: Transaction, number: int, entries: Sequence[EventCopy]) -> None:
    """Raise Conflict unless the stored events equal the copies; an erased event differs."""
    if not entries:
        return
    before: RowCursor = [min(entry.number for entry in entries) - 1]
    rows = _read_rows(session, number, RecordType.EVENTS, before, len(entries))
    stored = {_event_line(row) for row in rows}
    for entry in entries:
        if entry.line not in stored:
            raise Conflict(f"event {entry.number} already exists with other content")


def _event_rows(
    session: Transaction, number: int, workspace: WorkspaceId, entries: Sequence[EventCopy]
) -> list[Row]:
    rows: list[Row] = []
    for entry in entries:
        label = key = at = None
        if entry.content is not None:
            event = event_from_json(json.loads(entry.content), workspace)
            label = ensure_label(session, number, frozenset({event.scope}))
            key, at = event.key, format_time(event.at)
        size = len((entry.content or "").encode())
        columns = (entry.content, entry.salt, entry.commitment, entry.hash, size)
        rows.append((number, entry.number, entry.id, label, key, at, *columns))
    return rows


def _write_memories(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = ensure_workspace(session, workspace)
    line_by_id = {json.loads(line)["id"]: line for line in lines}
    bound = {"workspace": number, "ids": json.dumps(list(line_by_id))}
    rows = session.execute_query("memory_states_by_id", bound).fetchall()
    stored = {id: _memory_line(*columns) for id, *columns in rows}
    for id, line in stored.items():
        if line_by_id[id] != line:
            raise Conflict(f"memory {id} already exists with other content")
    new = [line for id, line in line_by_id.items() if id not in stored]
    add_memories(session, number, [memory_from_json(json.loads(each), workspace) for each in new])
    return len(new)


def _write_vectors(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    by_profile: dict[EmbeddingProfile, dict[str, Floats]] = defaultdict(dict)
    for each in map(VectorCopy.from_line, lines):
        by_profile[each.profile][each.memory] = np.frombuffer(each.data, dtype="<f4")
    number = ensure_workspace(session, workspace)
    new = 0
    for profile, vectors in by_profile.items():
        profile_key = profile_number(session, profile)
        bound = {"workspace": number, "profile": profile_key, "ids": json.dumps(list(vectors))}
        (existing,) = session.execute_query("count_known_vectors", bound).fetchone()
        new += put_vectors(session, workspace, profile, vectors) - existing
    return new


def _write_uses(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = ensure_workspace(session, workspace)
    rows = [
        (
            number,
            ensure_label_by_digests(session, number, [use.place]),
            use.memory,
            use.count,
            " ".join(use.conversations),
            use.last_at,
            use.owner,
        )
        for use in map(UsageCopy.from_line, lines)
    ]
    return session.execute_batch("import_use", rows)


def _write_tombstones(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = ensure_workspace(session, workspace)
    tombstones = map(decode_tombstone, lines)
    rows = [(number, each.kind, each.digest, format_time(each.at)) for each in tombstones]
    return session.execute_batch("add_tombstone", rows)


def _write_costs(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = ensure_workspace(session, workspace)
    rows = [
        (
            number,
            format_time(bill.at),
            bill.purpose,
            bill.model,
            bill.calls,
            bill.input_tokens,
            bill.output_tokens,
            float(bill.cost),
        )
        for bill in map(decode_cost, lines)
    ]
    return session.execute_batch("import_model_cost", rows)


def _write_window_items(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = ensure_workspace(session, workspace)
    new = 0
    for line in lines:
        item = item_from_json(json.loads(line))
        row = build_window_row(session, number, item, item.erasure_keys, line)
        new += session.execute_query("import_window_item", row).rowcount
    return new


def _write_work(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = ensure_workspace(session, workspace)
    tasks = [TaskCopy.from_line(line) for line in lines]
    bound = {"workspace": number, "ids": json.dumps([task.event for task in tasks])}
    positions = {
        id: (seq, label) for id, seq, label in session.execute_query("event_positions", bound)
    }
    rows = [
        (
            number,
            *positions[each.event],
            each.step,
            each.due_at,
            each.attempts,
            each.error,
            each.priority,
        )
        for each in tasks
        if each.event in positions
    ]
    return session.execute_batch("import_work", rows)


def _write_jobs(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    number = ensure_workspace(session, workspace)
    return session.execute_batch(
        "import_job", [(number, *astuple(JobCopy.from_line(line))) for line in lines]
    )


def _write_audit(session: Transaction, workspace: WorkspaceId, lines: Sequence[str]) -> int:
    links = [AuditLink.from_line(line) for line in lines]
    number = ensure_workspace(session, workspace)
    length, head = read_chain_end(session, number)
    existing = [link for link in links if link.number <= length]
    before: RowCursor = [existing[0].number - 1] if existing else [0]
    rows = _read_rows(session, number, RecordType.AUDIT, before, len(existing))
    if [link_from_row(row).line for row in rows] != [link.line for link in existing]:
        raise Conflict("the target already has another audit log")
    new = links[len(existing) :]
    continues_trail(length, head, new)
    if new:
        append_links(session, {number: new})
    return len(new)


LINE_WRITERS: Mapping[RecordType, Callable[[Transaction, WorkspaceId, Sequence[str]], int]] = {
    RecordType.EVENTS: _write_events,
    RecordType.MEMORIES: _write_memories,
    RecordType.VECTORS: _write_vectors,
    RecordType.USES: _write_uses,
    RecordType.TOMBSTONES: _write_tombstones,
    RecordType.SPENDING: _write_costs,
    RecordType.WINDOW: _write_window_items,
    RecordType.WORK: _write_work,
    RecordType.JOBS: _write_jobs,
    RecordType.AUDIT: _write_audit,
}
