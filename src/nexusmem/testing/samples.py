"""Sample users, scopes and records that the conformance suites share.

A room with Alice and Bob, the project Apollo, and a direct message of each user with the same
agent.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np

from ..core.access import Viewer, administrator_grant
from ..core.ids import AgentId, UserId, WorkspaceId
from ..core.protocols.embedder import Floats
from ..core.protocols.store import Store
from ..core.records import Draft, EmbeddingProfile, Memory, MemoryKind, NewEvent
from ..core.scope import Scope

ACME = WorkspaceId("acme")
OTHER = WorkspaceId("other")
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(days=1)
TEST_PROFILE = EmbeddingProfile(provider="test", model="axes", dimension=4)

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


def make_event(key: str, text: str = "Tea is served at four.", **more: Any) -> NewEvent:
    told: dict[str, Any] = {"scope": ROOM, "speaker": "alice", "at": NOON, **more}
    return NewEvent(key=key, text=text, **told)


def make_draft(*sources: str, text: str = "Tea is served at four.", **more: Any) -> Draft:
    told: dict[str, Any] = {"scope": ROOM, "kind": MemoryKind.PASSAGE, **more}
    return Draft(sources=sources, text=text, **told)


def append_events(store: Store, *events: NewEvent, workspace: WorkspaceId = ACME) -> list[str]:
    """Append events and return their ids."""
    receipts = store.ledger.append(workspace, events, recorded_at=NOON)
    return [receipt.event_id for receipt in receipts]


def add_memory(
    store: Store,
    key: str,
    text: str = "Tea is served at four.",
    *,
    scope: Scope = ROOM,
    workspace: WorkspaceId = ACME,
    **more: Any,
) -> Memory:
    """Append one event and store one passage derived from it."""
    (source,) = append_events(store, make_event(key, text, scope=scope), workspace=workspace)
    (memory,) = store.memories.put(workspace, [make_draft(source, text=text, scope=scope, **more)])
    return memory


def put_vectors(store: Store, vectors: dict[str, Floats], workspace: WorkspaceId = ACME) -> int:
    """Store vectors, keyed by memory id."""
    return store.vectors.put(workspace, TEST_PROFILE, vectors)


def unit_vector(*numbers: float) -> Floats:
    """Return the unit vector in this direction."""
    vector = np.zeros(TEST_PROFILE.dimension, dtype=np.float32)
    vector[: len(numbers)] = numbers
    return vector / np.float32(np.linalg.norm(vector))
