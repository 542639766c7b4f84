"""Erasure: out of every table, with all that rests on it. Each product then looks for traces."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.canonical import time_text
from ...core.codec import memory_from_json
from ...core.erasing import with_shared
from ...core.ids import WorkspaceId
from ...core.links import shared_by
from ...core.records import Erased, Memory, Tombstone
from ...core.scope import Scope
from .decoded import forget_decoded
from .labels import known_workspace, workspace_number
from .memories import delete_memories
from .session import Connections, Row, Session
from .stones import any_erased, stone_of, stones_of
from .uses import erase_uses
from .window import erase_from_window


class SqlEraser:
    def __init__(self, connections: Connections) -> None:
        self._connections = connections

    def derived(self, workspace: WorkspaceId, ids: Iterable[str]) -> list[Memory]:
        with self._connections.reading() as session:
            number = known_workspace(session, workspace)
            bound = {"workspace": number, "ids": json.dumps(list(ids))}
            return _memories(workspace, session.run("resting_on", bound).fetchall())

    def erase(
        self,
        workspace: WorkspaceId,
        *,
        events: Sequence[str],
        memories: Sequence[str],
        tombstones: Sequence[Tombstone],
    ) -> Erased:
        def erase(session: Session) -> Erased:
            number = workspace_number(session, workspace)
            # Asked here, not before: somebody may just have learned from what is to go.
            resting, told = _resting(session, number, workspace, events, memories)
            report = delete_memories(session, workspace, dict.fromkeys([*memories, *resting]))
            self._also_erase(session)
            gone_ids = [*told, *memories, *resting, *(stone.digest for stone in tombstones)]
            seen = erase_from_window(session, number, gone_ids)
            uses = erase_uses(session, number, gone_ids)
            rows = [(number, id) for id in told]
            kept = {"workspace": number, "ids": json.dumps(list(dict.fromkeys(told)))}
            (size,) = session.run("bytes_kept", kept).fetchone()
            session.run("text_shrank", {"workspace": number, "bytes": size})
            queued = session.run_many("drop_any_work", rows)
            session.run("forget_job_errors", {"workspace": number})
            gone = session.run_many("erase_event", rows)
            stones = with_shared(tombstones, events, told)
            session.run_many("add_tombstone", [_stone_row(number, stone) for stone in stones])
            return replace(report, events=gone, queued=queued, window=seen, uses=uses)

        erased = self._connections.write(erase)
        forget_decoded()
        return erased

    def tombstones(self, workspace: WorkspaceId) -> list[Tombstone]:
        with self._connections.reading() as session:
            bound = {"workspace": known_workspace(session, workspace)}
            return [stone_of(row) for row in session.run("tombstones", bound)]

    def stones(self, workspace: WorkspaceId, scopes: Iterable[Scope]) -> frozenset[Tombstone]:
        with self._connections.reading() as session:
            return stones_of(session, known_workspace(session, workspace), scopes)

    def gone(
        self, workspace: WorkspaceId, ids: Sequence[str], *, since: datetime | None = None
    ) -> bool:
        with self._connections.reading() as session:
            return any_erased(session, known_workspace(session, workspace), ids, since)

    def _also_erase(self, session: Session) -> None:
        """What a product keeps beside the tables goes in the same transaction."""


def _resting(
    session: Session,
    number: int,
    workspace: WorkspaceId,
    events: Sequence[str],
    memories: Sequence[str],
) -> tuple[dict[str, Memory], dict[str, None]]:
    """What rests on these, and the events that go: these, and by which they were shared."""
    resting: dict[str, Memory] = {}
    told = dict.fromkeys(events)
    fresh = [*events, *memories]
    while fresh:
        given = {"workspace": number, "ids": json.dumps(fresh)}
        found = _memories(workspace, session.run("resting_on", given).fetchall())
        resting |= {memory.id: memory for memory in found}
        fresh = [id for id in shared_by(found) if id not in told]
        told |= dict.fromkeys(fresh)
    return resting, told


def _memories(workspace: WorkspaceId, rows: Iterable[Row]) -> list[Memory]:
    return [memory_from_json(json.loads(content), workspace, *state) for content, *state in rows]


def _stone_row(number: int, stone: Tombstone) -> Row:
    return number, stone.kind, stone.digest, time_text(stone.at)


def still_kept(session: Session, piece: bytes) -> bool:
    """Whether it also stands in a record that is kept: two people may say the same."""
    bound = {"text": piece.decode(errors="replace"), "bytes": piece}
    (kept,) = session.run("still_kept", bound).fetchone()
    return bool(kept)
