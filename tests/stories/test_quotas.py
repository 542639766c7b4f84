"""A workspace that has or does as much as it may."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import Clock

from nexus import AsyncNexus, Nexus, QuotaExceeded
from nexus.config import QuotaSettings, Settings, load_settings
from nexus.core.quotas import Quota

Open = Callable[..., Nexus]
MINUTE = timedelta(minutes=1)


def limited(open_nexus: Open, where: str = ":memory:", **quotas: object) -> Nexus:
    return open_nexus(where, settings=Settings(quotas=QuotaSettings(**quotas)))


def kettles(number: int) -> list[dict[str, str]]:
    return [{"speaker": "alice", "text": f"Kettle number {n}."} for n in range(number)]


@pytest.mark.requirement("D30")
def test_all_messages_of_a_call_find_room_or_none_is_written(open_nexus: Open) -> None:
    room = limited(open_nexus, events_per_day=700).workspace("acme").room("design")

    with pytest.raises(QuotaExceeded, match="700 events a day"):
        room.observe_many(kettles(701))  # more than are committed at a time

    assert room.recent() == []
    assert len(room.observe_many(kettles(700))) == 700


@pytest.mark.requirement("D30")
def test_a_workspace_may_have_another_quota_and_shares_none(open_nexus: Open) -> None:
    nexus = limited(open_nexus, events_per_day=1, workspaces={"large": Quota(events_per_day=3)})

    for name, most in (("small", 1), ("large", 3), ("other", 1)):
        room = nexus.workspace(name).room("design")
        room.observe_many(kettles(most))
        with pytest.raises(QuotaExceeded) as refused:
            room.observe("alice", "One more.")
        assert refused.value.limit == most


@pytest.mark.requirement("D30")
def test_forgetting_makes_room(open_nexus: Open) -> None:
    workspace = limited(open_nexus, text_bytes=1_000).workspace("acme")
    room = workspace.room("design")
    first = room.observe("alice", "x" * 300)
    with pytest.raises(QuotaExceeded, match="forget something"):
        room.observe("alice", "y" * 300)

    workspace.forget(event=first)

    room.observe("alice", "y" * 300)


def test_what_was_acknowledged_is_learned_though_there_are_enough_memories(
    open_nexus: Open,
) -> None:
    room = limited(open_nexus, memories=2).workspace("acme").room("design")
    room.observe_many(kettles(5))

    found = room.recall("kettle")

    assert len(found) == 5
    with pytest.raises(QuotaExceeded, match="2 memories"):
        room.observe("alice", "One more.")


@pytest.mark.requirement("E34")
def test_questions_are_limited_by_the_minute(open_nexus: Open, clock: Clock) -> None:
    nexus = limited(open_nexus, recalls_per_minute=3)
    room = nexus.workspace("acme").room("design")
    room.observe("alice", "The kettle is red.")
    room.recall("kettle")
    room.compose("Which kettle?")
    room.compose("Which kettle?")  # from the cache, and a question all the same

    for ask in (lambda: room.recall("kettle"), lambda: room.compose("Which kettle?")):
        with pytest.raises(QuotaExceeded, match="3 questions a minute") as refused:
            ask()

    assert refused.value.frees_at is not None
    assert nexus.workspace("other").room("design").recall("kettle") is not None
    assert nexus.metrics().value("errors_total", operation="recall", error="QuotaExceeded") == 1
    clock.now += MINUTE
    assert room.recall("kettle")


def test_events_are_limited_by_the_minute_and_a_refused_call_takes_nothing(
    open_nexus: Open, clock: Clock
) -> None:
    room = limited(open_nexus, observes_per_minute=10).workspace("acme").room("design")
    room.observe_many(kettles(8))

    with pytest.raises(QuotaExceeded, match="10 events a minute"):
        room.observe_many(kettles(3))
    room.observe_many(kettles(2))

    clock.now += MINUTE
    room.observe_many(kettles(10))


def test_a_refusal_says_no_more_to_one_who_writes_than_to_one_who_does_not(
    open_nexus: Open,
) -> None:
    """Whoever is refused learns the limit and the end of the day, whatever others did."""
    said = []
    for others in (4, 9):
        workspace = limited(open_nexus, events_per_day=4).workspace("acme")
        workspace.dm("bob").observe_many(kettles(min(others, 4)))
        with pytest.raises(QuotaExceeded) as refused:
            workspace.dm("alice").observe_many(kettles(1 if others == 4 else 4))
        said.append(str(refused.value))

    assert said[0] == said[1]


def test_the_administrator_sees_what_is_used(open_nexus: Open) -> None:
    workspace = limited(open_nexus, events_per_day=10, recalls_per_minute=5).workspace("acme")
    workspace.room("design").observe_many(kettles(3))
    workspace.room("design").recall("kettle")

    told = {each.name: (each.used, each.limit) for each in workspace.quota()}

    assert told["events_per_day"] == (3, 10)
    assert told["recalls_per_minute"] == (1, 5)
    assert told["observes_per_minute"] == (3, None)
    assert told["memories"][0] > 0
    assert told["text_bytes"][0] > 100


async def test_the_awaited_face_is_limited_too() -> None:
    settings = Settings(quotas=QuotaSettings(events_per_day=1))
    async with await AsyncNexus.open(":memory:", settings=settings, background=False) as nexus:
        workspace = nexus.workspace("acme")
        await workspace.room("design").observe("alice", "The kettle is red.")
        with pytest.raises(QuotaExceeded):
            await workspace.room("design").observe("alice", "The kettle is blue.")

        assert (await workspace.quota())[0].used == 1


WRITER = """
import sys
from nexus import Nexus, QuotaExceeded
from nexus.config import QuotaSettings, Settings
settings = Settings(quotas=QuotaSettings(events_per_day=40))
written = 0
with Nexus.open(sys.argv[1], settings=settings, background=False) as nexus:
    room = nexus.workspace("acme").room("design")
    for number in range(30):
        try:
            room.observe("alice", f"Kettle {number} of {sys.argv[2]}.")
            written += 1
        except QuotaExceeded:
            pass
print(written)
"""


@pytest.mark.slow
@pytest.mark.requirement("D30")
def test_processes_share_what_is_counted_in_the_store(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "memory.db")]
    running = [
        subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(3)
    ]

    written = [int(each.communicate(timeout=100)[0]) for each in running]

    assert sum(written) == 40


def test_quotas_are_read_from_the_settings_file(tmp_path: Path) -> None:
    file = tmp_path / "nexus.yaml"
    file.write_text(
        "memory:\n  quotas:\n    events_per_day: 10\n    workspaces:\n"
        "      acme.inc: {events_per_day: 20, recalls_per_minute: 5}\n"
    )

    quotas = load_settings(file, {}).quotas

    assert quotas.events_per_day == 10
    assert quotas.workspaces == {"acme.inc": Quota(events_per_day=20, recalls_per_minute=5)}
