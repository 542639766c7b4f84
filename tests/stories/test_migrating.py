"""A whole memory moves into another store, and answers there as it did before."""

from __future__ import annotations

import io

import pytest

from nexus import Nexus
from nexus.config import EmbeddingSettings, Settings
from nexus.core.access import administrator_grant
from nexus.core.ids import WorkspaceId
from nexus.core.protocols import Store
from nexus.core.records import Spent
from nexus.stores.inprocess import InProcessStore
from nexus.transfer.archive import export_archive
from nexus.transfer.migrating import migrate

SETTINGS = Settings(embeddings=EmbeddingSettings(provider="hashing"))
WORKSPACES = ("acme", "other")
QUESTIONS = ("Which database did we choose?", "Who likes tea?", "When is the release?")


def opened(store: Store) -> Nexus:
    return Nexus.open(store, settings=SETTINGS, background=False)


def lived_in(store: Store, *, messages: int = 30) -> Store:
    """A memory of two workspaces in which people talked, took notes, forgot and left work."""
    nexus = opened(store)
    for name in WORKSPACES:
        workspace = nexus.workspace(name)
        room = workspace.room("design", participants=["alice", "bob"])
        for number in range(messages):
            room.observe("alice", f"Decision {number}: we use PostgreSQL, release {number}.")
        room.observe("bob", "I like green tea, and alice likes coffee.")
        workspace.dm("bob").observe("bob", "My secret is a garden behind the mill.")
        workspace.flush()
        room.note("plan", {"step": 1})
        workspace.forget(user="bob")
        room.observe("alice", "This is still to be learned: tea at four.")
        at = room.observe("carol", "Who likes tea? I like tea.").workspace
        bill = {"calls": 1, "input_tokens": 10, "output_tokens": 3, "cost": 0.1}
        now = nexus._parts.now()
        store.accounts.add(at, Spent(at=now, purpose="extract", model="small", **bill))
    return store


def everything(store: Store, name: str) -> dict[str, object]:
    """What an administrator sees of a workspace."""
    grant = administrator_grant(WorkspaceId(name))
    archive = io.StringIO()
    export_archive(store, grant, archive, vectors=True)
    return {
        "archive": archive.getvalue(),
        "report": store.ledger.verify(grant.workspace),
        "work": store.queue.waiting(grant, limit=1000),
        "spent": store.accounts.spent(grant.workspace),
        "count": store.count(grant),
        "profiles": store.vectors.profiles(),
    }


def answers(store: Store) -> list[object]:
    """What people get for their questions: ids, order and scores."""
    told: list[object] = []
    nexus = opened(store)
    for name in WORKSPACES:
        workspace = nexus.workspace(name)
        room = workspace.room("design", participants=["alice", "bob"])
        for question in QUESTIONS:
            told += [(hit.memory.id, round(hit.score, 6)) for hit in room.recall(question)]
        told.append(sorted(note.key for note in room.notes()))
    return told


@pytest.mark.requirement("X10")
def test_nothing_is_different_in_the_new_place() -> None:
    source, target = lived_in(InProcessStore()), InProcessStore()
    before = [everything(source, name) for name in WORKSPACES]

    moved = migrate(source, target)

    assert [each.workspace for each in moved] == list(WORKSPACES)
    assert [everything(source, name) for name in WORKSPACES] == before
    assert [everything(target, name) for name in WORKSPACES] == before
    assert answers(target) == answers(source)
