"""Decay: archived memories leave contexts and stay searchable."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from nexusmem import Nexus
from nexusmem.core.protocols.jobs import JobState
from nexusmem.core.records import MemoryKind, Tier
from nexusmem.embedders.feature_hash import HashingEmbedder

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
DAY = timedelta(days=1)


class Clock:
    now = START

    def __call__(self) -> datetime:
        return self.now


@pytest.mark.requirement("D8", "E26", "E23")
def test_old_memory_is_archived_until_it_is_used(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = START
    with Nexus.open(
        str(tmp_path / "m.db"), embedder=HashingEmbedder(), clock=clock, background=False
    ) as nexus:
        acme = nexus.workspace("acme")
        dm = acme.dm("alice")
        dm.observe("alice", "I study botany.")
        for number in range(40):  # pushes it out of the recent messages
            dm.observe("alice", f"ok, {number}")
        dm.flush()
        (studying,) = (m for m in dm.facts() if m.fact.predicate == "LEARNING")

        def brought_up() -> bool:
            items = dm.compose("Good morning!").section_items("profile")
            return any(item.id == studying.id for item in items)

        assert brought_up()
        clock.now = START + 300 * DAY
        counts = acme.run_job("decay")
        assert counts["archived"] >= 1
        assert dm.get(studying.id).archived
        assert not brought_up()

        assert dm.recall("botany", kind=["fact"])[0].memory.id == studying.id
        assert any(
            item.id == studying.id for item in dm.compose("What do I study?").section_items("facts")
        )
        assert dm.recall("botany", kind=["fact"], where={"archived": True})
        assert acme.run_job("decay")["revived"] >= 1
        assert brought_up()


@pytest.mark.requirement("E26")
@pytest.mark.parametrize(("days", "archived"), [(89, 0), (91, 1)])
def test_conversation_is_archived_after_ninety_days(days: int, archived: int) -> None:
    clock = Clock()
    with Nexus.open(":memory:", embedder=HashingEmbedder(), clock=clock, background=False) as nexus:
        acme = nexus.workspace("acme")
        room = acme.room("design")
        room.observe("alice", "The kettle is red.", thread="tea")
        room.set_note("colour", "red")
        acme.flush()
        clock.now = START + days * DAY

        counts = acme.run_job("cleanup")

        assert (counts["archived"], acme.run_job("cleanup")["archived"]) == (archived, 0)
        assert counts["window"] == 1
        recorded = [each.entry.detail for each in acme.audit(action="archive") if each.entry]
        assert [each["idle_days"] for each in recorded] == [90] * archived


@pytest.mark.requirement("D8", "X2")
@pytest.mark.parametrize(
    ("part", "asked", "kind"),
    [
        ("procedures", "How do we make a release?", MemoryKind.PROCEDURE),
        ("episodes", "When did we decide on a database?", MemoryKind.EPISODE),
    ],
)
def test_no_section_shows_archived_memories(part: str, asked: str, kind: MemoryKind) -> None:
    clock = Clock()
    with Nexus.open(":memory:", embedder=HashingEmbedder(), clock=clock, background=False) as nexus:
        acme = nexus.workspace("acme")
        room = acme.room("design", participants=["alice"])
        room.observe("alice", "Which database do we use? We decided to use PostgreSQL.")
        room.procedures.finish("release 1.0", success=True, steps=["build", "publish"])
        acme.flush()
        clock.now = START + 2 * DAY
        acme.refresh_episodes()
        store = room._parts.store
        ids = [each.id for each in store.memories.find(room.grant) if each.kind is kind]
        assert room.compose(asked).section_items(part)

        store.memories.set_state(acme.id, ids, archived=True)

        assert not room.compose(asked).section_items(part)


@pytest.mark.requirement("D5", "E24")
def test_active_conversation_is_checked_after_its_end(
    tmp_path: Path,
) -> None:
    clock = Clock()
    clock.now = START
    with Nexus.open(
        str(tmp_path / "m.db"), embedder=HashingEmbedder(), clock=clock, background=False
    ) as nexus:
        acme = nexus.workspace("acme")
        rooms = [acme.room(name) for name in ("pier", "office")]
        for room, text in zip(rooms, ("The pier is wet.", "The office is dry."), strict=True):
            room.observe("alice", text)

        def work() -> JobState:
            nexus.worker().run(once=True)
            (job,) = [each for each in acme.jobs() if each.name == "session_end"]
            return job

        work()
        clock.now += 2 * DAY
        assert work().due_at is None, "all is quiet"
        began = clock.now
        for minutes, room in ((0, rooms[0]), (50, rooms[0]), (58, rooms[1])):
            clock.now = began + timedelta(minutes=minutes)
            room.observe("alice", f"We decided to use ferry number {minutes}.")
            work()

        for minutes, before in ((61, 50), (111, 58), (119, None)):
            clock.now = began + timedelta(minutes=minutes)
            job = work()
            assert job.last_run_at is not None
            assert timedelta() <= job.last_run_at - clock.now < timedelta(seconds=1)
            if before is not None:
                assert job.due_at is not None
                assert job.due_at - began < timedelta(minutes=before + 61)
        assert job.due_at is None


@pytest.mark.requirement("D5", "D9")
def test_important_memory_of_a_session_is_promoted(tmp_path: Path) -> None:
    clock = Clock()
    clock.now = START
    with Nexus.open(
        str(tmp_path / "m.db"), embedder=HashingEmbedder(), clock=clock, background=False
    ) as nexus:
        acme = nexus.workspace("acme")
        session = acme.session("monday", user="alice")
        for text in ("We should pick a database.", "We decided to use PostgreSQL.", "Good."):
            session.observe("alice", text)
        session.flush()
        clock.now = START + 2 * DAY
        acme.refresh_episodes()
        acme.run_job("session_end")
        clock.now = START + 400 * DAY
        acme.run_job("decay")

        kept = {memory.kind: memory for memory in session._parts.store.memories.find(session.grant)}
        assert kept[MemoryKind.EPISODE].tier is Tier.LONG or kept[MemoryKind.EPISODE].archived
        (episode,) = session.episodes("session")
        assert (episode.tier, episode.archived) == (Tier.LONG, False)
        assert not kept[MemoryKind.LANDMARK].archived
        assert kept[MemoryKind.PASSAGE].archived
