"""The state of memories: changed without touching what they say, and read without their words."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime

from ...core.access import Grant
from ...core.canonical import text_time, time_text
from ...core.codec import MEMORY_KINDS, TIERS
from ...core.ids import WorkspaceId
from ...core.moving import check_administrator
from ...core.records import Tier, Trust
from ...core.states import State
from ...core.uses import UNUSED
from .labels import locked_workspace, readable
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
        return self._connections.write(
            lambda session: mark_memories(session, workspace, ids, tier=tier, archived=archived),
            lazily=True,
        )

    def states(
        self,
        grant: Grant,
        *,
        after: str | None = None,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
    ) -> list[State]:
        check_administrator(grant)
        with self._connections.reading() as session:
            view = readable(session, grant)
            bound: dict[str, object] = {"workspace": view.workspace, "limit": limit}
            rows = _rows(session, bound, after, used_since, idle_since)
            if not rows:
                return []
            uses = common_uses(session, view.workspace, [row[1] for row in rows])
        learned = {state.label for state in view.labels if state.learned}
        return [_state(row, uses, learned, by_id=used_since is not None) for row in rows]


def _rows(
    session: Session,
    bound: dict[str, object],
    after: str | None,
    used_since: datetime | None,
    idle_since: datetime | None,
) -> list[Row]:
    if used_since is not None:
        told = {"after": after or "", "since": time_text(used_since)}
        return session.run("used_lately", {**bound, **told}).fetchall()
    bound["after"] = int(after or 0)
    if idle_since is None:
        return session.run("fading", bound).fetchall()
    bound["since"] = time_text(idle_since)
    return session.run("fading_in_idle_conversations", bound).fetchall()


def _state(row: Row, uses: UsesForAll, learned: set[int], *, by_id: bool) -> State:
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
        label in learned,
        uses.of(id, label) if id in uses.uses else UNUSED,
    )


def mark_memories(
    session: Session,
    workspace: WorkspaceId,
    ids: Sequence[str],
    *,
    tier: Tier | None = None,
    archived: bool | None = None,
) -> int:
    """How many were otherwise before; the epochs of their labels grow."""
    number = locked_workspace(session, workspace)
    bound = {
        "workspace": number,
        "ids": json.dumps(list(ids)),
        "tier": tier.value if tier else None,
        "archived": archived,
    }
    changed = [label for (label,) in session.run("mark_memories", bound).fetchall()]
    session.run_many("events_came", [(number, label) for label in sorted(set(changed))])
    return len(changed)
