"""What an operator sees of a memory at work, and what never shows."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.conftest import Clock

from nexus import AsyncNexus, Nexus, NotFound
from nexus.config import Settings, TelemetrySettings
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import NewJob
from nexus.core.metrics import Snapshot
from nexus.core.records import Spent
from nexus.stores.inprocess import InProcessStore

Open = Callable[..., Nexus]


def used(nexus: Nexus) -> Snapshot:
    """Something is told, asked twice, and not found once."""
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe_many([{"speaker": "alice", "text": f"Kettle number {n}."} for n in range(12)])
    for _ in range(2):
        room.recall("kettle", limit=5)
        room.compose("Which kettle?")
    with pytest.raises(NotFound):
        room.get("nothing")
    return nexus.metrics()


@pytest.mark.requirement("E35")
def test_everything_that_was_done_is_counted_and_timed(open_nexus: Open) -> None:
    now = used(open_nexus(":memory:"))

    times = {op: now.timing("operation_seconds", operation=op).count for op in OPERATIONS}
    assert times == {"observe": 1, "recall": 2, "compose": 2, "get": 1}
    assert now.timing("operation_seconds", operation="learn").count >= 1
    assert now.timing("operation_seconds", operation="embed").count >= 1
    assert 0 < now.timing("operation_seconds", operation="recall").p50 < 30
    assert now.value("events_written_total") == now.value("events") == 12
    assert now.value("memories", kind="passage") == 12
    assert now.value("vectors") >= 12
    assert now.value("outbox_waiting") == 0
    assert {each.labels["breaker"] for each in now.named("breaker_state")} >= {"embedder", "model"}


OPERATIONS = ("observe", "recall", "compose", "get")


@pytest.mark.requirement("E18")
def test_each_technique_and_section_has_its_own_times_and_results(open_nexus: Open) -> None:
    now = used(open_nexus(":memory:"))

    for technique in ("meaning", "keyword", "timeline", "graph", "wording"):
        assert now.timing("strategy_seconds", strategy=technique).count >= 3
    assert now.value("strategy_found_total", strategy="keyword") >= 2 * 12
    assert now.value("strategy_shown_total", strategy="keyword") >= 2 * 5
    sections = {each.labels["section"] for each in now.named("section_seconds")}
    assert {"learn", "window", "plan", "recall", "landmarks", "budget", "render"} <= sections


@pytest.mark.requirement("E35")
def test_caches_tell_how_often_they_knew(open_nexus: Open, tmp_path) -> None:
    now = used(open_nexus(str(tmp_path / "m.db")))

    assert now.value("cache_hits_total", cache="contexts") == 1
    assert now.value("cache_misses_total", cache="contexts") == 1
    for cache in ("questions", "keywords", "vectors"):
        assert now.value("cache_hits_total", cache=cache) >= 1
        assert now.value("cache_misses_total", cache=cache) >= 1
    assert now.value("store_bytes") > 10_000


@pytest.mark.requirement("E35")
def test_work_that_waits_tells_how_long(open_nexus: Open, clock: Clock) -> None:
    nexus = open_nexus(":memory:")
    nexus.workspace("acme").room("design").observe("alice", "The kettle is red.")
    clock.now += timedelta(seconds=90)

    now = nexus.metrics()

    assert now.value("outbox_waiting") == 1
    assert now.value("outbox_lag_seconds") == pytest.approx(90, abs=0.1)
    nexus.workspace("acme").flush()
    assert nexus.metrics().value("outbox_lag_seconds") == 0


@pytest.mark.requirement("E35")
def test_jobs_tell_what_they_did_how_long_it_took_and_how_late_they_are(
    open_nexus: Open, clock: Clock
) -> None:
    nexus = open_nexus(":memory:")
    workspace = nexus.workspace("acme")
    workspace.room("design").observe_many([{"speaker": "alice", "text": "The kettle is red."}])
    workspace.flush()
    nexus._parts.jobs.run_due()  # as a worker does: from now on they come again
    clock.now += timedelta(days=60)  # what was just said cannot be weak, and is not looked at
    workspace.run_job("decay")
    clock.now += timedelta(days=3)

    now = nexus.metrics()

    assert now.timing("job_seconds", job="decay").count == 1
    looked_at = {"job": "decay", "result": "looked_at"}
    assert now.value("job_results_total", **looked_at) >= 1
    assert now.value("job_last_results", **looked_at) >= 1
    assert now.value("job_last_run_seconds", job="decay") == pytest.approx(3 * 86_400, abs=5)
    assert now.value("jobs_due", job="decay") == 1
    assert now.value("job_lag_seconds", job="decay") > 86_400


@pytest.mark.requirement("E35")
def test_what_models_cost_is_read_from_the_accounts(open_nexus: Open) -> None:
    store = InProcessStore()
    nexus = open_nexus(store)
    for workspace in ("acme", "globex"):
        nexus.workspace(workspace).room("design").observe("alice", "The kettle is red.")
        store.accounts.add(WorkspaceId(workspace), BILL)

    now = nexus.metrics()

    assert now.value("model_tokens_total", direction="input", model="small") == 200
    assert now.value("model_cost_total", purpose="learn") == 0.5
    assert now.value("model_calls_total") == 2


BILL = Spent(
    at=datetime(2026, 3, 2, tzinfo=UTC),
    purpose="learn",
    model="small",
    calls=1,
    input_tokens=100,
    output_tokens=10,
    cost=0.25,
)


def test_a_repeated_event_is_not_counted_as_written(open_nexus: Open) -> None:
    nexus = open_nexus(":memory:")
    room = nexus.workspace("acme").room("design")
    for _ in range(2):
        room.observe("alice", "The kettle is red.", key="once")

    assert nexus.metrics().value("events_written_total") == 1


CANARY = "zanzibar"


@pytest.mark.requirement("E35")
def test_nothing_that_was_said_and_no_name_is_in_the_metrics(open_nexus: Open) -> None:
    nexus = open_nexus(":memory:")
    place = nexus.workspace(f"w-{CANARY}").room(f"r-{CANARY}", participants=[f"u-{CANARY}"])
    place.observe(
        f"u-{CANARY}",
        f"My password is {CANARY}-1234 and {CANARY} lives in {CANARY}.",
        key=f"k-{CANARY}",
        thread=f"t-{CANARY}",
        metadata={CANARY: CANARY},
        tags=[CANARY],
    )
    place.set_fact("room", CANARY, CANARY)
    asked = NewJob(name="tidy", key=CANARY, due_at=datetime(2026, 3, 2, tzinfo=UTC))
    place._parts.store.jobs.schedule(place.viewer.workspace, [asked])
    place.recall(f"Who is {CANARY}?")
    place.compose(f"Where is {CANARY}?")
    for failing in (lambda: place.get(CANARY), lambda: place.entity(f"nobody {CANARY}")):
        with pytest.raises(NotFound):
            failing()

    told = nexus.prometheus() + repr(nexus.metrics())

    assert "operation_seconds" in told
    assert CANARY not in told


def test_workspaces_are_told_apart_only_where_that_is_asked_for(open_nexus: Open) -> None:
    asked = Settings(telemetry=TelemetrySettings(workspaces=True))
    for settings, names in ((Settings(), [None]), (asked, ["acme", "globex"])):
        nexus = open_nexus(":memory:", settings=settings)
        for name in ("acme", "globex"):
            nexus.workspace(name).room("design").observe("alice", "The kettle is red.")

        events = nexus.metrics().named("events")

        assert [each.labels.get("workspace") for each in events] == names
        assert sum(each.value for each in events) == 2


async def test_the_awaited_face_tells_the_same() -> None:
    async with await AsyncNexus.open(":memory:") as nexus:
        await nexus.workspace("acme").room("design").observe("alice", "The kettle is red.")

        told = {each.name for each in text_string_to_metric_families(await nexus.prometheus())}
        now = await nexus.metrics()

    assert now.value("events") == 1
    assert "nexus_operation_seconds" in told
