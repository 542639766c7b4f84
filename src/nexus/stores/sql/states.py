"""The state of memories: changed without touching what they say, and read without their words."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime

from ...core.access import Grant
from ...core.canonical import text_time, time_text
from ...core.codec import MEMORY_KINDS, TIERS
from ...core.ids import WorkspaceId
from ...core.moving import check_administrator
from ...core.records import Tier, Trust
from ...core.states import State
from ...core.strength import NOTHING_SPARED, Spared
from .labels import known_workspaces, locked_workspaces
from .session import Connections, Row, Session
from .uses import UsesForAll, common_uses

TRUST = tuple(Trust)  # by number


class SqlStates:
    """The part of the memories that knows of their state."""

    _connections: Connections

    def mark(
        self,
        workspace: WorkspaceId,
        ids: Sequence[str],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> int:
        return self.mark_in({workspace: ids}, tier=tier, archived=archived)[workspace]

    def mark_in(
        self,
        ids: Mapping[WorkspaceId, Sequence[str]],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> dict[WorkspaceId, int]:
        return self._connections.write(
            lambda session: mark_memories(session, ids, tier=tier, archived=archived), lazily=True
        )

    def states(
        self,
        grant: Grant,
        *,
        after: str | None = None,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        without: Spared = NOTHING_SPARED,
    ) -> list[State]:
        (found,) = self.states_in(
            [(grant, after)],
            limit=limit,
            used_since=used_since,
            idle_since=idle_since,
            archived=archived,
            without=without,
        )
        return found

    def states_in(
        self,
        places: Sequence[tuple[Grant, str | None]],
        *,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        without: Spared = NOTHING_SPARED,
    ) -> list[list[State]]:
        workspaces = [check_administrator(grant) for grant, _ in places]
        query, after, more = _question(used_since, idle_since, archived, without)
        with self._connections.reading() as session:
            numbers = known_workspaces(session, workspaces)
            asked = [
                (number, place or after, limit, *more)
                for number, (_, place) in zip(numbers, places, strict=True)
            ]
            pages = dict(zip(numbers, session.read_each(query, asked), strict=True))
            ids = {number: [row[1] for row in page] for number, page in pages.items() if page}
            uses = dict(zip(ids, common_uses(session, ids), strict=True))
        by_id = used_since is not None
        return [
            [_state(row, uses[number], by_id=by_id) for row in pages[number]] for number in numbers
        ]

    def going_on_in(self, grants: Sequence[Grant], *, since: datetime) -> list[datetime | None]:
        workspaces = [check_administrator(grant) for grant in grants]
        with self._connections.reading() as session:
            numbers = known_workspaces(session, workspaces)
            asked = [(number, time_text(since)) for number in numbers]
            found = session.read_each("going_on", asked)
        return [text_time(last) if last else None for ((last,),) in found]


def _question(
    used_since: datetime | None, idle_since: datetime | None, archived: bool, without: Spared
) -> tuple[str, str | int, Row]:
    """The query, what its order begins after, and what it wants to know besides."""
    if used_since is not None:
        return "used_lately", "", (time_text(used_since), archived)
    if idle_since is not None:
        return "fading_in_idle_conversations", 0, (time_text(idle_since),)
    times = time_text(without.since), time_text(without.knowledge_since)
    return "fading", 0, (without.salience, *times)


def _state(row: Row, uses: UsesForAll, *, by_id: bool) -> State:
    memory, id, label, kind, at, length, salience, confidence, trust, tier, archived, pinned = row
    return State(
        id if by_id else str(memory),
        id,
        MEMORY_KINDS[kind],
        text_time(at) if isinstance(at, str) else at,
        length,
        salience,
        confidence,
        TRUST[trust],
        TIERS[tier],
        bool(archived),
        bool(pinned),
        label in uses.learned,
        uses.of(id, label),
    )


def mark_memories(
    session: Session,
    ids: Mapping[WorkspaceId, Sequence[str]],
    *,
    tier: Tier | None = None,
    archived: bool | None = None,
) -> dict[WorkspaceId, int]:
    """How many were otherwise before; the epochs of their labels grow."""
    numbers = locked_workspaces(session, list(ids))
    state = (tier.value if tier else None, archived)
    rows = [
        (number, json.dumps(list(some)), *state)
        for number, some in zip(numbers, ids.values(), strict=True)
    ]
    changed = session.read_each("mark_memories", rows)
    labels = {(n, label) for n, each in zip(numbers, changed, strict=True) for (label,) in each}
    session.run_many("events_came", sorted(labels))
    return {workspace: len(each) for workspace, each in zip(ids, changed, strict=True)}
