"""Metrics of a client in use, and data that never appears in them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.conftest import Clock

from nexusmem import AsyncNexus, Nexus, NotFound
from nexusmem.config.settings import Settings, TelemetrySettings
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.jobs import NewJob
from nexusmem.core.records import ModelCost
from nexusmem.telemetry.metrics import MetricsSnapshot
from nexusmem.testing.reference_store.store import ReferenceStore

Open = Callable[..., Nexus]


def used(nexus: Nexus) -> MetricsSnapshot:
    """Observe, search twice, fail once, and return the metrics."""
    room = nexus.workspace("acme").room("design", participants=["alice"])
    room.observe_many([{"speaker": "alice", "text": f"Kettle number {n}."} for n in range(12)])
    for _ in range(2):
        room.recall("kettle", limit=5)
        room.compose("Which kettle?")
    with pytest.raises(NotFound):
        room.get("nothing")
    return nexus.metrics()


@pytest.mark.requirement("E35")
def test_operations_are_counted_and_timed(open_nexus: Open) -> None:
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
    assert {each.labels["breaker"] for each in now.find_samples("breaker_state")} >= {
        "embedder",
        "model",
    }


OPERATIONS = ("observe", "recall", "compose", "get")


@pytest.mark.requirement("E18")
def test_strategies_and_sections_have_own_metrics(open_nexus: Open) -> None:
    now = used(open_nexus(":memory:"))

    for technique in ("vector", "keyword", "timeline", "graph", "wording"):
        assert now.timing("strategy_seconds", strategy=technique).count >= 3
    assert now.value("strategy_found_total", strategy="keyword") >= 2 * 12
    assert now.value("strategy_shown_total", strategy="keyword") >= 2 * 5
    sections = {each.labels["section"] for each in now.find_samples("section_seconds")}
    assert {"learn", "window", "plan", "recall", "landmarks", "budget", "render"} <= sections


@pytest.mark.requirement("E35")
def test_cache_hits_are_counted(open_nexus: Open, tmp_path) -> None:
    now = used(open_nexus(str(tmp_path / "m.db")))

    assert now.value("cache_hits_total", cache="contexts") == 1
    assert now.value("cache_misses_total", cache="contexts") == 1
    for cache in ("questions", "keywords", "vectors"):
        assert now.value("cache_hits_total", cache=cache) >= 1
        assert now.value("cache_misses_total", cache=cache) >= 1
    assert now.value("store_bytes") > 10_000


@pytest.mark.requirement("E35")
def test_waiting_work_has_a_lag(open_nexus: Open, clock: Clock) -> None:
    nexus = open_nexus(":memory:")
    nexus.workspace("acme").room("design").observe("alice", "The kettle is red.")
    clock.now += timedelta(seconds=90)

    now = nexus.metrics()

    assert now.value("outbox_waiting") == 1
    assert now.value("outbox_lag_seconds") == pytest.approx(90, abs=0.1)
    nexus.workspace("acme").flush()
    assert nexus.metrics().value("outbox_lag_seconds") == 0


@pytest.mark.requirement("E35")
def test_jobs_have_results_durations_and_lag(open_nexus: Open, clock: Clock) -> None:
    nexus = open_nexus(":memory:")
    workspace = nexus.workspace("acme")
    workspace.room("design").observe_many([{"speaker": "alice", "text": "The kettle is red."}])
    workspace.flush()
    nexus._parts.job_runner.run_due()  # like a worker: the jobs recur from now on
    clock.now += timedelta(days=60)  # a new memory cannot be weak and is excluded
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
def test_model_costs_come_from_the_accounts(open_nexus: Open) -> None:
    store = ReferenceStore()
    nexus = open_nexus(store)
    for workspace in ("acme", "globex"):
        nexus.workspace(workspace).room("design").observe("alice", "The kettle is red.")
        store.model_costs.add(WorkspaceId(workspace), BILL)

    now = nexus.metrics()

    assert now.value("model_tokens_total", direction="input", model="small") == 200
    assert now.value("model_cost_total", purpose="learn") == 0.5
    assert now.value("model_calls_total") == 2


BILL = ModelCost(
    at=datetime(2026, 3, 2, tzinfo=UTC),
    purpose="learn",
    model="small",
    calls=1,
    input_tokens=100,
    output_tokens=10,
    cost=0.25,
)


def test_duplicate_event_is_not_counted_as_written(open_nexus: Open) -> None:
    nexus = open_nexus(":memory:")
    room = nexus.workspace("acme").room("design")
    for _ in range(2):
        room.observe("alice", "The kettle is red.", key="once")

    assert nexus.metrics().value("events_written_total") == 1


CANARY = "zanzibar"


@pytest.mark.requirement("E35")
def test_metrics_contain_no_texts_and_names(open_nexus: Open) -> None:
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
    place.set_value("room", CANARY, CANARY)
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


def test_workspace_labels_are_optional(open_nexus: Open) -> None:
    asked = Settings(telemetry=TelemetrySettings(workspace_names=True))
    for settings, names in ((Settings(), [None]), (asked, ["acme", "globex"])):
        nexus = open_nexus(":memory:", settings=settings)
        for name in ("acme", "globex"):
            nexus.workspace(name).room("design").observe("alice", "The kettle is red.")

        events = nexus.metrics().find_samples("events")

        assert [each.labels.get("workspace") for each in events] == names
        assert sum(each.value for each in events) == 2


async def test_async_client_has_the_same_metrics() -> None:
    async with await AsyncNexus.open(":memory:") as nexus:
        await nexus.workspace("acme").room("design").observe("alice", "The kettle is red.")

        told = {each.name for each in text_string_to_metric_families(await nexus.prometheus())}
        now = await nexus.metrics()

    assert now.value("events") == 1
    assert "nexus_operation_seconds" in told
