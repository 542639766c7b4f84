"""Quotas of workspaces."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from tests.conftest import Clock

from nexusmem import AsyncNexus, Nexus, QuotaExceeded
from nexusmem.config.settings import QuotaSettings, Settings, load_settings
from nexusmem.runtime.quotas import Quota

Open = Callable[..., Nexus]
MINUTE = timedelta(minutes=1)


def limited(open_nexus: Open, where: str = ":memory:", **quotas: object) -> Nexus:
    return open_nexus(where, settings=Settings(quotas=QuotaSettings(**quotas)))


def kettles(number: int) -> list[dict[str, str]]:
    return [{"speaker": "alice", "text": f"Kettle number {n}."} for n in range(number)]


@pytest.mark.requirement("D30")
def test_batch_is_written_completely_or_not_at_all(open_nexus: Open) -> None:
    room = limited(open_nexus, events_per_day=700).workspace("acme").room("design")

    with pytest.raises(QuotaExceeded, match="700 events per day"):
        room.observe_many(kettles(701))  # more than one transaction holds

    assert room.recent() == []
    assert len(room.observe_many(kettles(700))) == 700


@pytest.mark.requirement("D30")
def test_workspaces_have_independent_quotas(open_nexus: Open) -> None:
    nexus = limited(open_nexus, events_per_day=1, workspaces={"large": Quota(events_per_day=3)})

    for name, most in (("small", 1), ("large", 3), ("other", 1)):
        room = nexus.workspace(name).room("design")
        room.observe_many(kettles(most))
        with pytest.raises(QuotaExceeded) as refused:
            room.observe("alice", "One more.")
        assert refused.value.limit == most


@pytest.mark.requirement("D30")
def test_erasing_frees_quota(open_nexus: Open) -> None:
    workspace = limited(open_nexus, max_text_bytes=1_000).workspace("acme")
    room = workspace.room("design")
    first = room.observe("alice", "x" * 300)
    with pytest.raises(QuotaExceeded, match="erase records"):
        room.observe("alice", "y" * 300)

    workspace.forget(event=first)

    room.observe("alice", "y" * 300)


def test_acknowledged_events_are_learned_beyond_the_memory_quota(
    open_nexus: Open,
) -> None:
    room = limited(open_nexus, max_memories=2).workspace("acme").room("design")
    room.observe_many(kettles(5))

    found = room.recall("kettle")

    assert len(found) == 5
    with pytest.raises(QuotaExceeded, match="2 memories"):
        room.observe("alice", "One more.")


@pytest.mark.requirement("E34")
def test_reads_are_limited_per_minute(open_nexus: Open, clock: Clock) -> None:
    nexus = limited(open_nexus, reads_per_minute=3)
    room = nexus.workspace("acme").room("design")
    room.observe("alice", "The kettle is red.")
    room.recall("kettle")
    room.compose("Which kettle?")
    room.compose("Which kettle?")  # a cached result counts, too

    for ask in (lambda: room.recall("kettle"), lambda: room.compose("Which kettle?")):
        with pytest.raises(QuotaExceeded, match="3 reads per minute") as refused:
            ask()

    assert refused.value.frees_at is not None
    assert nexus.workspace("other").room("design").recall("kettle") is not None
    assert nexus.metrics().value("errors_total", operation="recall", error="QuotaExceeded") == 1
    clock.now += MINUTE
    assert room.recall("kettle")


def test_rejected_writes_do_not_consume_the_rate_limit(open_nexus: Open, clock: Clock) -> None:
    room = limited(open_nexus, writes_per_minute=10).workspace("acme").room("design")
    room.observe_many(kettles(8))

    with pytest.raises(QuotaExceeded, match="10 events per minute"):
        room.observe_many(kettles(3))
    room.observe_many(kettles(2))

    clock.now += MINUTE
    room.observe_many(kettles(10))


def test_quota_error_reveals_no_usage_of_others(
    open_nexus: Open,
) -> None:
    """The error names the limit and the end of the day, regardless of others' writes."""
    said = []
    for others in (4, 9):
        workspace = limited(open_nexus, events_per_day=4).workspace("acme")
        workspace.dm("bob").observe_many(kettles(min(others, 4)))
        with pytest.raises(QuotaExceeded) as refused:
            workspace.dm("alice").observe_many(kettles(1 if others == 4 else 4))
        said.append(str(refused.value))

    assert said[0] == said[1]


def test_administrator_sees_quota_usage(open_nexus: Open) -> None:
    workspace = limited(open_nexus, events_per_day=10, reads_per_minute=5).workspace("acme")
    workspace.room("design").observe_many(kettles(3))
    workspace.room("design").recall("kettle")

    told = {each.name: (each.used, each.limit) for each in workspace.quota()}

    assert told["events_per_day"] == (3, 10)
    assert told["reads_per_minute"] == (1, 5)
    assert told["writes_per_minute"] == (3, None)
    assert told["max_memories"][0] > 0
    assert told["max_text_bytes"][0] > 100


async def test_async_client_has_the_same_quotas() -> None:
    settings = Settings(quotas=QuotaSettings(events_per_day=1))
    async with await AsyncNexus.open(":memory:", settings=settings, background=False) as nexus:
        workspace = nexus.workspace("acme")
        await workspace.room("design").observe("alice", "The kettle is red.")
        with pytest.raises(QuotaExceeded):
            await workspace.room("design").observe("alice", "The kettle is blue.")

        assert (await workspace.quota())[0].used == 1


WRITER = """
import sys
from nexusmem import Nexus, QuotaExceeded
from nexusmem.config.settings import QuotaSettings, Settings
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
def test_processes_share_stored_quotas(tmp_path: Path) -> None:
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
        "      acme.inc: {events_per_day: 20, reads_per_minute: 5}\n"
    )

    quotas = load_settings(file, {}).quotas

    assert quotas.events_per_day == 10
    assert quotas.workspaces == {"acme.inc": Quota(events_per_day=20, reads_per_minute=5)}
