"""Many workspaces in one go: by the runner, and by what sweeps them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from nexus.core.access import administrator_grant
from nexus.core.ids import WorkspaceId
from nexus.core.jobs import JobState, Json, Recurring, Step, Turn
from nexus.core.protocols import Store
from nexus.core.strength import Strengthening
from nexus.maintain import sweeps
from nexus.maintain.decay import decay
from nexus.maintain.jobs import Runner
from nexus.maintain.schedule import Planned
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, NOON, OTHER, event, keep, tell

DAY = timedelta(days=1)


class Doing:
    """A store with one job that is done in several workspaces at once."""

    def __init__(self) -> None:
        self.now = NOON
        self.store = InProcessStore()
        self.poisoned: WorkspaceId | None = None
        self.groups: list[int] = []
        self.did: list[WorkspaceId] = []
        when = Recurring(name="tidy", every=DAY, on_news=False)
        planned = {"tidy": Planned(when=when, run=self.run, together=self.run_together)}
        self.runner = Runner(self.store, planned, lambda: self.now)
        for workspace in (ACME, OTHER):
            tell(self.store, event("1"), workspace=workspace)
        self.runner.run_due()
        self.now += DAY

    def run(self, workspace: WorkspaceId, now: datetime, cursor: Json) -> Step:
        assert (now, cursor) == (self.now, None)
        if workspace == self.poisoned:
            raise ValueError("poison")
        self.did.append(workspace)
        return Step(counts={"done": 1})

    def run_together(self, turns: Sequence[Turn], now: datetime) -> list[Step]:
        self.groups.append(len(turns))
        return [self.run(turn.workspace, now, turn.cursor) for turn in turns]

    def state(self) -> JobState:
        (found,) = self.store.jobs.listed(ADMIN)
        return found


@pytest.fixture
def doing() -> Doing:
    return Doing()


def test_what_is_short_is_done_in_several_workspaces_at_once(doing: Doing) -> None:
    told: list[tuple[WorkspaceId, bool]] = []
    waited: list[int] = []

    steps = doing.runner.run_due(
        between=lambda: waited.append(len(doing.did)),
        told=lambda job, done: told.append((job.workspace, done is not None)),
    )

    assert (steps, doing.groups, waited) == (2, [2], [2])
    assert sorted(told) == [(ACME, True), (OTHER, True)]
    assert (doing.state().last_counts, doing.state().due_at) == ({"done": 1}, doing.now + DAY)


@pytest.mark.requirement("E32")
def test_what_does_not_work_together_is_done_alone_and_fails_alone(doing: Doing) -> None:
    doing.poisoned = ACME
    waited: list[int] = []

    doing.runner.run_due(between=lambda: waited.append(len(doing.did)))

    assert (doing.groups, len(waited), doing.did[-1]) == ([2], 2, OTHER)
    state = doing.state()
    assert (state.attempts, "poison" in str(state.error)) == (1, True)


def test_what_did_not_work_before_is_done_alone(doing: Doing) -> None:
    jobs = doing.store.jobs.claim(now=doing.now, limit=2)
    failed = replace(jobs[1], error="poison")

    for left in ([jobs[0], failed], [failed, jobs[0]]):
        assert doing.runner._alike(left, alone=False) == (left[:1], left[1:])
    assert doing.runner._alike(jobs, alone=False) == (jobs, [])
    assert doing.runner._alike(jobs, alone=True) == (jobs[:1], jobs[1:])


def test_as_many_are_taken_as_are_quick(doing: Doing) -> None:
    runner = doing.runner
    sizes = []
    for done, seconds in ((4, 0.01), (8, 0.01), (16, 1.0), (8, 60.0), (0, 0.0), (1, 0.01)):
        runner._at_once = max(runner._at_once, done)
        runner._learn_how_many(done, seconds)
        sizes.append(runner._at_once)

    assert sizes == [8, 16, 8, 1, 1, 2]


@pytest.fixture(params=["inprocess", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store = InProcessStore() if request.param == "inprocess" else SqliteStore(tmp_path / "m.db")
    yield store
    store.close()


def test_workspaces_are_swept_together_as_each_alone(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sweeps, "MOST_MARKED", 2)
    workspaces = [WorkspaceId(name) for name in ("a", "b", "c", "empty")]
    for number, workspace in enumerate(workspaces[:3]):
        for key in range(3 * number):
            keep(store, str(key), workspace=workspace)
    settings: dict[str, Any] = {"settings": Strengthening(), "batch": 2}
    turns, archived = [Turn(workspace) for workspace in workspaces], [0] * 4

    for _ in range(9):
        steps = decay(store, turns, now=NOON + 20 * DAY, **settings)
        counts = [step.counts.get("archived", 0) for step in steps]
        archived = [before + more for before, more in zip(archived, counts, strict=True)]
        turns = [Turn(turn.workspace, step.cursor) for turn, step in zip(turns, steps, strict=True)]

    assert archived == [0, 3, 6, 0]
    for workspace, count in zip(workspaces, archived, strict=True):
        grant = administrator_grant(workspace)
        assert sum(memory.archived for memory in store.memories.find(grant)) == count
        entries = [each.entry for each in store.audit.find(grant, limit=99) if each.entry]
        assert sum(entry.detail["memories"] for entry in entries) == count
