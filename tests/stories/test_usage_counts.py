"""Usage counts of recall and compose, and who may know of them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.records import MemoryKind
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.maintain.settings import MaintainSettings
from nexusmem.place.place import Place
from nexusmem.testing.reference_store.store import ReferenceStore

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def nexus(clock: Clock) -> Iterator[Nexus]:
    with Nexus.open(
        ReferenceStore(), embedder=HashingEmbedder(), clock=clock, background=False
    ) as opened:
        yield opened


def passage(place: Place) -> str:
    place.flush()
    store = place._parts.store
    return next(m.id for m in store.memories.find(place.grant) if m.kind is MemoryKind.PASSAGE)


@pytest.mark.requirement("E23")
def test_recall_and_compose_count_each_memory_once(nexus: Nexus, clock: Clock) -> None:
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.remember("lunch first, then the staging server", scope="workspace")
    id = passage(room)
    assert room.strength(id).uses == 0

    room.recall("staging server")
    room.compose("What about the staging server?")
    room.compose("What about the staging server?")  # cached context
    room.recall("staging server", as_of=NOON)  # replays are not counted
    clock.now += timedelta(days=3)
    room.recall("staging server")

    told = room.strength(id)
    assert (told.uses, told.conversations) == (3, 2)
    assert told.age_days < 0.001
    assert told.parts["frequency"] > 0


@pytest.mark.requirement("E23")
def test_thread_is_its_own_conversation(nexus: Nexus, clock: Clock) -> None:
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.remember("lunch first, then the staging server", scope="workspace")
    id = passage(room)
    asked = [{"role": "user", "content": "What about the staging server?"}]
    for thread in ("one", "two", "three"):
        room.context_for(asked, thread=thread)
    clock.now += timedelta(days=3)
    room.context_for(asked, thread="three")

    told = room.strength(id)
    assert (told.uses, told.conversations) == (4, 3)


@pytest.mark.requirement("E23", "X2")
def test_private_use_is_invisible_to_others(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    room = acme.room("design", participants=["alice", "bob"], project="apollo")
    alice, bob = acme.dm("alice", project="apollo"), acme.dm("bob", project="apollo")
    room.remember("The staging server is called heron.", scope="project")
    id = passage(room)

    for _ in range(3):
        alice.recall("staging server")

    assert alice.strength(id).uses == 3
    assert bob.strength(id).uses == room.strength(id).uses == 0


def test_disabled_counting_counts_nothing() -> None:
    store = ReferenceStore()
    settings = Settings(maintain=MaintainSettings(count_uses=False))
    with Nexus.open(
        store, settings=settings, embedder=HashingEmbedder(), background=False
    ) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        room.observe("alice", "The staging server is called heron.")
        id = passage(room)
        room.recall("staging server")

        assert room.strength(id).uses == 0


@pytest.mark.requirement("E23", "X6")
def test_erasure_deletes_usage_counts(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")
    dm = acme.dm("alice", project="apollo")
    room = acme.room("design", participants=["bob"], project="apollo")
    room.remember("The staging server is called heron.", scope="project")
    id = passage(room)
    dm.recall("staging server")
    room.recall("staging server")
    assert dm.strength(id).uses == 1

    report = acme.forget(user="alice")

    assert report.erased.uses == 1
    assert (acme.dm("alice", project="apollo").strength(id).uses, room.strength(id).uses) == (0, 1)


def test_pending_uses_are_written_on_close(tmp_path) -> None:
    file = tmp_path / "memory.db"
    with Nexus.open(str(file), embedder=HashingEmbedder()) as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        room.observe("alice", "The staging server is called heron.")
        id = passage(room)
        room.recall("staging server")

    with Nexus.open(str(file), embedder=HashingEmbedder()) as nexus:
        again = nexus.workspace("acme").room("design", participants=["alice"])

        assert again.strength(id).uses == 1
