"""Jobs of several workspaces in one call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nexusmem.core.access import administrator_grant
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.jobs import JobState, JobStep, Json, RecurringJob, WorkspaceTurn
from nexusmem.core.protocols.store import Store
from nexusmem.core.strength import StrengthSettings
from nexusmem.maintain.job_runner import JobRunner
from nexusmem.maintain.jobs import cleanup
from nexusmem.maintain.jobs.decay import decay
from nexusmem.maintain.schedule import ScheduledJob
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ADMIN, NOON, OTHER, add_memory, append_events, make_event

DAY = timedelta(days=1)


class Doing:
    """Test helper: a store with one job that runs in several workspaces per call."""

    def __init__(self) -> None:
        self.now = NOON
        self.store = ReferenceStore()
        self.poisoned: WorkspaceId | None = None
        self.groups: list[int] = []
        self.did: list[WorkspaceId] = []
        when = RecurringJob(name="tidy", every=DAY, on_news=False)
        planned = {"tidy": ScheduledJob(recurrence=when, run=self.run, run_many=self.run_together)}
        self.runner = JobRunner(self.store, planned, lambda: self.now)
        for workspace in (ACME, OTHER):
            append_events(self.store, make_event("1"), workspace=workspace)
        self.runner.run_due()
        self.now += DAY

    def run(self, workspace: WorkspaceId, now: datetime, cursor: Json) -> JobStep:
        assert (now, cursor) == (self.now, None)
        if workspace == self.poisoned:
            raise ValueError("poison")
        self.did.append(workspace)
        return JobStep(counts={"done": 1})

    def run_together(self, turns: Sequence[WorkspaceTurn], now: datetime) -> list[JobStep]:
        self.groups.append(len(turns))
        return [self.run(turn.workspace, now, turn.cursor) for turn in turns]

    def state(self) -> JobState:
        (found,) = self.store.jobs.list_jobs(ADMIN)
        return found


@pytest.fixture
def doing() -> Doing:
    return Doing()


def test_short_jobs_run_in_several_workspaces_together(doing: Doing) -> None:
    told: list[tuple[WorkspaceId, bool]] = []
    waited: list[int] = []

    steps = doing.runner.run_due(
        after_step=lambda: waited.append(len(doing.did)),
        on_result=lambda job, done: told.append((job.workspace, done is not None)),
    )

    assert (steps, doing.groups, waited) == (2, [2], [2])
    assert sorted(told) == [(ACME, True), (OTHER, True)]
    assert (doing.state().last_counts, doing.state().due_at) == ({"done": 1}, doing.now + DAY)


@pytest.mark.requirement("E32")
def test_failed_batch_runs_one_by_one(doing: Doing) -> None:
    doing.poisoned = ACME
    waited: list[int] = []

    doing.runner.run_due(after_step=lambda: waited.append(len(doing.did)))

    assert (doing.groups, len(waited), doing.did[-1]) == ([2], 2, OTHER)
    state = doing.state()
    assert (state.attempts, "poison" in str(state.error)) == (1, True)


def test_failed_job_runs_alone(doing: Doing) -> None:
    jobs = doing.store.jobs.claim(now=doing.now, limit=2)
    failed = replace(jobs[1], error="poison")

    for left in ([jobs[0], failed], [failed, jobs[0]]):
        assert doing.runner._take_batch(left, alone=False) == (left[:1], left[1:])
    assert doing.runner._take_batch(jobs, alone=False) == (jobs, [])
    assert doing.runner._take_batch(jobs, alone=True) == (jobs[:1], jobs[1:])


def test_batch_size_follows_the_duration(doing: Doing) -> None:
    runner = doing.runner
    sizes = []
    for done, seconds in ((4, 0.01), (8, 0.01), (16, 1.0), (8, 60.0), (0, 0.0), (1, 0.01)):
        runner._batch_size = max(runner._batch_size, done)
        runner._adjust_batch_size(done, seconds)
        sizes.append(runner._batch_size)

    assert sizes == [8, 16, 8, 1, 1, 2]


@pytest.fixture(params=["inprocess", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store = ReferenceStore() if request.param == "inprocess" else SqliteStore(tmp_path / "m.db")
    yield store
    store.close()


def test_batch_gives_the_results_of_single_runs(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cleanup, "MAX_STATES_PER_COMMIT", 2)
    workspaces = [WorkspaceId(name) for name in ("a", "b", "c", "empty")]
    for number, workspace in enumerate(workspaces[:3]):
        for key in range(3 * number):
            add_memory(store, str(key), workspace=workspace)
    settings: dict[str, Any] = {"settings": StrengthSettings(), "batch": 2}
    turns, archived = [WorkspaceTurn(workspace) for workspace in workspaces], [0] * 4

    for _ in range(9):
        steps = decay(store, turns, now=NOON + 20 * DAY, **settings)
        counts = [step.counts.get("archived", 0) for step in steps]
        archived = [before + more for before, more in zip(archived, counts, strict=True)]
        turns = [
            WorkspaceTurn(turn.workspace, step.cursor)
            for turn, step in zip(turns, steps, strict=True)
        ]

    assert archived == [0, 3, 6, 0]
    for workspace, count in zip(workspaces, archived, strict=True):
        grant = administrator_grant(workspace)
        assert sum(memory.archived for memory in store.memories.find(grant)) == count
        entries = [each.entry for each in store.audit.find(grant, limit=99) if each.entry]
        assert sum(entry.detail["memories"] for entry in entries) == count
