"""Type-checked only: every line has an error that the type checker must report.

An unused ignore comment is an error, so this file fails if an error is no longer reported.
"""

from __future__ import annotations

from nexusmem import AgentId, Nexus, Place, UserId, Viewer, WorkspaceId
from nexusmem.core.access import administrator_grant
from nexusmem.core.protocols.store import Store

NAME = "acme"


def a_workspace_is_not_text(store: Store) -> None:
    store.ledger.verify(NAME)  # type: ignore[arg-type]
    store.ledger.verify(UserId(NAME))  # type: ignore[arg-type]
    store.memories.delete(NAME, [])  # type: ignore[arg-type]
    administrator_grant(NAME)  # type: ignore[arg-type]
    Viewer(workspace=NAME, agent=AgentId("a"), user=UserId("u"))  # type: ignore[arg-type]
    Viewer(workspace=WorkspaceId(NAME), agent=AgentId("a"), user=AgentId("u"))  # type: ignore[arg-type]


def a_viewer_is_not_forgotten(store: Store, viewer: Viewer) -> None:
    Viewer(agent=AgentId("a"), user=UserId("u"))  # type: ignore[call-arg]
    store.memories.get(["id"])  # type: ignore[call-arg, arg-type]
    store.memories.find()  # type: ignore[call-arg]
    store.memories.find(None)  # type: ignore[arg-type]
    store.memories.find(viewer)  # type: ignore[arg-type]
    store.ledger.find(WorkspaceId(NAME))  # type: ignore[arg-type]
    store.count_records()  # type: ignore[call-arg]


def nothing_is_told_to_nowhere(nexus: Nexus, room: Place) -> None:
    nexus.observe("alice", "Hello.")  # type: ignore[attr-defined]
    nexus.recall("hello")  # type: ignore[attr-defined]
    room.observe("alice", "Hello.", visibility="public")  # type: ignore[call-arg]
    room.observe("alice", "Hello.", kee="k")  # type: ignore[call-arg]
    room.recall("hello", limit="10")  # type: ignore[arg-type]
    room.recall("hello", grant=room.grant)  # type: ignore[call-arg]
