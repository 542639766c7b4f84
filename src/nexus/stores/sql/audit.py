"""The trail of each workspace: entries chained in the transaction of what they tell of."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import date, datetime
from typing import Any

from ...core.access import Grant, check_grant
from ...core.audit import Entry, Recorded, TrailReport, with_outcome
from ...core.canonical import time_text
from ...core.chain import GENESIS
from ...core.ids import WorkspaceId
from ...core.trail import (
    Link,
    Walk,
    content_of,
    dropping,
    linked,
    names_one_of,
    parsed_anchor,
    people_of,
    retention_entry,
    without_forgotten,
)
from .accompanied import Accompanied
from .labels import known_workspace, locked_workspaces, workspace_number
from .session import Row, Session
from .stones import stone_of


class SqlAudit:
    def __init__(self, connections: Accompanied) -> None:
        self._connections = connections
        self._writes = True
        self._key: bytes | None = None

    def configure(self, *, writes: bool, key: bytes | None = None) -> None:
        self._writes, self._key = writes, key

    def append(self, workspace: WorkspaceId, entries: Sequence[Entry]) -> None:
        if entries:
            self._connections.write(self._note(workspace, entries))

    def _note(self, workspace: WorkspaceId, entries: Sequence[Entry]) -> Callable[[Session], None]:
        def note(session: Session) -> None:
            number = workspace_number(session, workspace)
            end = trail_end(session, number)
            add_links(session, {number: self._links(session, number, end, entries)})

        return note

    def _note_in(self, entries: Mapping[WorkspaceId, Entry]) -> Callable[[Session], None]:
        def note(session: Session) -> None:
            numbers = locked_workspaces(session, list(entries))
            ends = session.read_each("trail_end", [(number,) for number in numbers])
            links = {
                number: self._links(session, number, _end(end[0]), [entry])
                for number, end, entry in zip(numbers, ends, entries.values(), strict=True)
                if end
            }
            add_links(session, links)

        return note

    def _links(
        self, session: Session, number: int, end: tuple[int, bytes], entries: Sequence[Entry]
    ) -> list[Link]:
        links = linked(*end, entries, self._key)
        if people := {who for entry in entries for who in people_of(entry)}:
            bound = {"workspace": number, "digests": json.dumps(sorted(people))}
            rows = session.run("forgotten_people", bound).fetchall()
            links = without_forgotten(links, entries, map(stone_of, rows))
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
    ) -> list[Recorded]:
        if not check_grant(grant).everything:
            return []
        bound = {
            "action": action,
            "since": time_text(since) if since else None,
            "until": time_text(until) if until else None,
            "after": after or 0,
            "limit": limit,
        }
        name = "newest_audit" if after is None else "next_audit"
        with self._connections.reading() as session:
            number = known_workspace(session, grant.workspace)
            rows = session.run(name, {**bound, "workspace": number})
            return [link_of(row).recorded for row in rows]

    def verify(self, workspace: WorkspaceId, *, anchor: str | None = None) -> TrailReport:
        walk = Walk(self._key, parsed_anchor(anchor))
        with self._connections.reading() as session:
            number = known_workspace(session, workspace)
            length, head = trail_end(session, number)
            walk.along(map(link_of, session.run("trail", {"workspace": number})))
        return walk.ended(workspace, length, head)

    def naming(self, workspace: WorkspaceId, names: Sequence[str]) -> dict[int, str]:
        with self._connections.reading() as session:
            bound = {"workspace": known_workspace(session, workspace)}
            rows = session.run("audit_contents", bound)
            return {number: told for number, told in rows if names_one_of(told, names)}

    def blank(self, workspace: WorkspaceId, numbers: Sequence[int]) -> int:
        def blank(session: Session) -> int:
            place = workspace_number(session, workspace)
            return session.run_many("blank_audit", [(place, number) for number in numbers])

        return self._connections.write(blank) if numbers else 0

    def retain(self, workspace: WorkspaceId, *, before: date, now: datetime) -> int:
        def retain(session: Session) -> int:
            number = workspace_number(session, workspace)
            bound = {"workspace": number, "before": before.isoformat()}
            old = session.run("old_audit", bound).fetchall()
            anchors = dropping(old, before.isoformat())
            if not anchors:
                return 0
            entry = retention_entry(anchors, before, now)
            self._note(workspace, [entry])(session)
            session.run("drop_audit", {"workspace": number, "through": anchors[-1].last})
            return len(old)

        return self._connections.write(retain) if self._is_older(workspace, before) else 0

    def _is_older(self, workspace: WorkspaceId, before: date) -> bool:
        """Whether there is anything to drop: asked daily of every workspace, and seldom so."""
        with self._connections.reading() as session:
            bound = {"workspace": known_workspace(session, workspace)}
            row = session.run("oldest_audit", bound).fetchone()
        return row is not None and row[0] < before.isoformat()

    def prepare(self, *, today: date, ahead: int, before: date | None = None) -> dict[str, int]:
        del today, ahead, before  # one table holds every day
        return {}

    def _recording(
        self, workspace: WorkspaceId, entry: Entry, outcome: str | None
    ) -> AbstractContextManager[None]:
        if not self._writes:
            return nullcontext()
        content_of(entry)  # what cannot be recorded is not done

        def note(session: Session, value: Any) -> None:
            if told := with_outcome(entry, outcome, value):
                self._note(workspace, told)(session)

        return self._connections.along.noting(note)

    def _recording_in(self, entries: Mapping[WorkspaceId, Entry]) -> AbstractContextManager[None]:
        if not self._writes:
            return nullcontext()
        for entry in entries.values():
            content_of(entry)
        note = self._note_in(entries)
        return self._connections.along.noting(lambda session, _: note(session))


def trail_end(session: Session, number: int) -> tuple[int, bytes]:
    """Where a workspace's next entry goes: how many there are, and the newest hash."""
    (found,) = session.read_each("trail_end", [(number,)])
    return _end(found[0]) if found else (0, GENESIS)


def _end(row: Row) -> tuple[int, bytes]:
    return row[0], row[1] or GENESIS


def add_links(session: Session, links: Mapping[int, Sequence[Link]]) -> None:
    """At the ends of the trails of these workspaces."""
    session.run_many("add_audit", [_row(n, link) for n, some in links.items() for link in some])
    ends = [(number, some[-1].number, some[-1].hash) for number, some in links.items()]
    session.run_many("advance_trail", ends)


def _row(number: int, link: Link) -> Row:
    kept = (link.content, link.salt, link.commitment, link.hash, link.seal)
    return (number, link.number, link.day, link.at, link.action, *kept)


def link_of(row: Row) -> Link:
    number, at, action, content, salt, promise, hash, seal = row
    return Link(
        number=number,
        at=at,
        action=action,
        content=content,
        salt=salt,
        commitment=promise,
        hash=hash,
        seal=seal,
    )
