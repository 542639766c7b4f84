"""Audit log in SQL: a hash chain per workspace, written in the transaction of each action."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date, datetime
from typing import Any

from ...audit.chain import (
    AuditLink,
    ChainVerifier,
    blank_forgotten,
    build_links,
    droppable_days,
    entry_content,
    mentions_any,
    parse_anchor,
    people_digests,
    retention_entry,
)
from ...audit.records import AuditEntry, AuditReport, RecordedEntry, add_outcome
from ...core.access import Grant, check_grant
from ...core.canonical import format_time
from ...core.hash_chain import GENESIS
from ...core.ids import WorkspaceId
from .readable_labels import ensure_workspace, find_workspace, lock_workspaces
from .tombstones import tombstone_from_row
from .transactions import HookedConnections, Row, Transaction


class SqlAudit:
    def __init__(self, connections: HookedConnections) -> None:
        self._connections = connections
        self._writes = True
        self._key: bytes | None = None

    def configure(self, *, writes: bool, key: bytes | None = None) -> None:
        self._writes, self._key = writes, key

    def append(self, workspace: WorkspaceId, entries: Sequence[AuditEntry]) -> None:
        if entries:
            self._connections.write(self._entry_writer(workspace, entries))

    def _entry_writer(
        self, workspace: WorkspaceId, entries: Sequence[AuditEntry]
    ) -> Callable[[Transaction], None]:
        def write_entries(session: Transaction) -> None:
            number = ensure_workspace(session, workspace)
            end = read_chain_end(session, number)
            append_links(session, {number: self._build_links(session, number, end, entries)})

        return write_entries

    def _entry_writer_many(
        self, entries: Mapping[WorkspaceId, AuditEntry]
    ) -> Callable[[Transaction], None]:
        def write_entries(session: Transaction) -> None:
            numbers = lock_workspaces(session, list(entries))
            ends = session.fetch_each("audit_chain_end", [(number,) for number in numbers])
            links = {
                number: self._build_links(session, number, _parse_chain_end(end[0]), [entry])
                for number, end, entry in zip(numbers, ends, entries.values(), strict=True)
                if end
            }
            append_links(session, links)

        return write_entries

    def _build_links(
        self,
        session: Transaction,
        number: int,
        end: tuple[int, bytes],
        entries: Sequence[AuditEntry],
    ) -> list[AuditLink]:
        links = build_links(*end, entries, self._key)
        if people := {who for entry in entries for who in people_digests(entry)}:
            bound = {"workspace": number, "digests": json.dumps(sorted(people))}
            rows = session.execute_query("user_tombstones", bound).fetchall()
            links = blank_forgotten(links, entries, map(tombstone_from_row, rows))
        return links

    def find(
        self,
        grant: Grant,
        *,
        action: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        after: int | None = None,
        limit: int,
    ) -> list[RecordedEntry]:
        if not check_grant(grant).everything:
            return []
        bound = {
            "action": action,
            "since": format_time(since) if since else None,
            "until": format_time(until) if until else None,
            "after": after or 0,
            "limit": limit,
        }
        name = "newest_audit" if after is None else "next_audit"
        with self._connections.read_transaction() as session:
            number = find_workspace(session, grant.workspace)
            rows = session.execute_query(name, {**bound, "workspace": number})
            return [link_from_row(row).as_recorded for row in rows]

    def verify(self, workspace: WorkspaceId, *, anchor: str | None = None) -> AuditReport:
        walk = ChainVerifier(self._key, parse_anchor(anchor))
        with self._connections.read_transaction() as session:
            number = find_workspace(session, workspace)
            length, head = read_chain_end(session, number)
            walk.verify_links(
                map(link_from_row, session.execute_query("audit_chain", {"workspace": number}))
            )
        return walk.make_report(workspace, length, head)

    def find_mentions(self, workspace: WorkspaceId, names: Sequence[str]) -> dict[int, str]:
        with self._connections.read_transaction() as session:
            bound = {"workspace": find_workspace(session, workspace)}
            rows = session.execute_query("audit_contents", bound)
            return {number: content for number, content in rows if mentions_any(content, names)}

    def erase_contents(self, workspace: WorkspaceId, numbers: Sequence[int]) -> int:
        def blank_rows(session: Transaction) -> int:
            workspace_number = ensure_workspace(session, workspace)
            return session.execute_batch(
                "blank_audit", [(workspace_number, number) for number in numbers]
            )

        return self._connections.write(blank_rows) if numbers else 0

    def apply_retention(self, workspace: WorkspaceId, *, before: date, now: datetime) -> int:
        def drop_old_rows(session: Transaction) -> int:
            number = ensure_workspace(session, workspace)
            bound = {"workspace": number, "before": before.isoformat()}
            old = session.execute_query("old_audit", bound).fetchall()
            anchors = droppable_days(old, before.isoformat())
            if not anchors:
                return 0
            entry = retention_entry(anchors, before, now)
            self._entry_writer(workspace, [entry])(session)
            session.execute_query("drop_audit", {"workspace": number, "through": anchors[-1].last})
            return len(old)

        return (
            self._connections.write(drop_old_rows)
            if self._has_older_entries(workspace, before)
            else 0
        )

    def _has_older_entries(self, workspace: WorkspaceId, before: date) -> bool:
        """Return whether entries before that day exist. A cheap read, run daily per workspace."""
        with self._connections.read_transaction() as session:
            bound = {"workspace": find_workspace(session, workspace)}
            row = session.execute_query("oldest_audit", bound).fetchone()
        return row is not None and row[0] < before.isoformat()

    def prepare_days(
        self, *, today: date, ahead: int, before: date | None = None
    ) -> dict[str, int]:
        del today, ahead, before  # all days are in one table
        return {}

    def _with_audit_entry(
        self, workspace: WorkspaceId, entry: AuditEntry, outcome: str | None
    ) -> AbstractContextManager[None]:
        if not self._writes:
            return nullcontext()
        entry_content(entry)  # raises before the action if the entry cannot be encoded

        def write_entry(session: Transaction, value: Any) -> None:
            if recorded := add_outcome(entry, outcome, value):
                self._entry_writer(workspace, recorded)(session)

        return self._connections.write_hooks.add_hook(write_entry)

    def _with_audit_entries(
        self, entries: Mapping[WorkspaceId, AuditEntry]
    ) -> AbstractContextManager[None]:
        if not self._writes:
            return nullcontext()
        for entry in entries.values():
            entry_content(entry)
        note = self._entry_writer_many(entries)
        return self._connections.write_hooks.add_hook(lambda session, _: note(session))


def read_chain_end(session: Transaction, number: int) -> tuple[int, bytes]:
    """Return the number of entries and the hash of the newest one."""
    (found,) = session.fetch_each("audit_chain_end", [(number,)])
    return _parse_chain_end(found[0]) if found else (0, GENESIS)


def _parse_chain_end(row: Row) -> tuple[int, bytes]:
    return row[0], row[1] or GENESIS


def append_links(session: Transaction, links: Mapping[int, Sequence[AuditLink]]) -> None:
    """Insert links at the end of the chain of each workspace number."""
    session.execute_batch(
        "add_audit", [_link_row(n, link) for n, some in links.items() for link in some]
    )
    ends = [(number, some[-1].number, some[-1].hash) for number, some in links.items()]
    session.execute_batch("advance_audit_chain", ends)


def _link_row(number: int, link: AuditLink) -> Row:
    columns = (link.content, link.salt, link.commitment, link.hash, link.seal)
    return (number, link.number, link.day, link.at, link.action, *columns)


def link_from_row(row: Row) -> AuditLink:
    number, at, action, content, salt, promise, hash, seal = row
    return AuditLink(
        number=number,
        at=at,
        action=action,
        content=content,
        salt=salt,
        commitment=promise,
        hash=hash,
        seal=seal,
    )
