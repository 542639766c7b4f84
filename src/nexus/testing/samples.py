"""People, places and records that every suite uses.

A room with Alice and Bob, the project Apollo, and a DM for each of them with the same agent.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from ..core.access import Viewer, administrator_grant
from ..core.ids import AgentId, UserId, WorkspaceId
from ..core.protocols import Floats, Store
from ..core.records import Draft, EmbeddingProfile, Memory, MemoryKind, NewEvent
from ..core.scope import Scope

ACME = WorkspaceId("acme")
OTHER = WorkspaceId("other")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=1)
SPACE = EmbeddingProfile(provider="test", model="axes", dimension=4)

ROOM = Scope.room("design")
PROJECT = Scope.project("apollo")
ALICE_DM = Scope.dm("alice", "scribe")
BOB_DM = Scope.dm("bob", "scribe")
ALICE_PROFILE = Scope.user("alice")

IN_ROOM = Viewer(
    workspace=ACME,
    agent=AgentId("scribe"),
    room="design",
    participants=(UserId("alice"), UserId("bob")),
    project="apollo",
)
ALICE = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("alice"), project="apollo")
BOB = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("bob"), project="apollo")
ADMIN = administrator_grant(ACME)


def event(key: str, text: str = "Tea is served at four.", **more: Any) -> NewEvent:
    told: dict[str, Any] = {"scope": ROOM, "speaker": "alice", "at": NOON, **more}
    return NewEvent(key=key, text=text, **told)


def draft(*sources: str, text: str = "Tea is served at four.", **more: Any) -> Draft:
    told: dict[str, Any] = {"scope": ROOM, "kind": MemoryKind.PASSAGE, **more}
    return Draft(sources=sources, text=text, **told)


def tell(store: Store, *events: NewEvent, workspace: WorkspaceId = ACME) -> list[str]:
    """Append events; their ids."""
    receipts = store.ledger.append(workspace, events, recorded_at=NOON)
    return [receipt.event_id for receipt in receipts]


def keep(
    store: Store,
    key: str,
    text: str = "Tea is served at four.",
    *,
    scope: Scope = ROOM,
    workspace: WorkspaceId = ACME,
    **more: Any,
) -> Memory:
    """Append one event and put one passage that rests on it."""
    (source,) = tell(store, event(key, text, scope=scope), workspace=workspace)
    (memory,) = store.memories.put(workspace, [draft(source, text=text, scope=scope, **more)])
    return memory


def point(store: Store, vectors: dict[str, Floats], workspace: WorkspaceId = ACME) -> int:
    """Keep vectors, by memory id."""
    return store.vectors.put(workspace, SPACE, vectors)


def towards(*numbers: float) -> Floats:
    """The unit vector in this direction."""
    vector = np.zeros(SPACE.dimension, dtype=np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.float32(np.linalg.norm(vector))
