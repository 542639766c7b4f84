"""What planting promises: that every workspace has the jobs that come again."""

from __future__ import annotations

from datetime import datetime, timedelta

from ...core.access import administrator_grant
from ...core.ids import WorkspaceId
from ...core.jobs import Done, Job, JobState, NewJob, Priority, Recurring, Step
from ...core.leases import LEASE
from ...core.protocols import Store
from ...core.records import Stage
from ..samples import ACME, LATER, NOON, OTHER, event, tell

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
DAILY = Recurring(name="decay", every=DAY, on_news=False)
HOURLY = Recurring(name="patterns", every=HOUR)


def names(jobs: list[Job]) -> list[str]:
    return [job.name for job in jobs]


def done(job: Job, seconds: float = 0.0, **more: object) -> Done:
    return Done(job=job, step=Step(**more), seconds=seconds)  # type: ignore[arg-type]


def state(store: Store, name: str, workspace: WorkspaceId = ACME) -> JobState:
    listed = store.jobs.listed(administrator_grant(workspace))
    (found,) = [each for each in listed if each.name == name]
    return found


def learn(store: Store, now: datetime) -> None:
    """What was told is learned: news."""
    tasks = store.queue.claim(None, now=now, limit=9)
    assert tasks
    store.queue.finish(tasks, reached=Stage.DERIVED, now=now)


def asked(name: str, key: str = "", due_at: datetime = NOON, **more: object) -> NewJob:
    return NewJob(name=name, key=key, due_at=due_at, **more)  # type: ignore[arg-type]


class PlantingSuite:
    """Needs a fixture `store`: an empty one."""

    def test_every_workspace_has_what_comes_again(self, store: Store) -> None:
        tell(store, event("1"))
        tell(store, event("1"), workspace=OTHER)

        assert store.jobs.plant([DAILY, HOURLY], now=NOON) == 4
        assert store.jobs.plant([DAILY, HOURLY], now=LATER) == 0
        assert store.jobs.claim(now=NOON + HOUR / 2, limit=9) == []
        due = store.jobs.claim(now=NOON + HOUR, limit=9)

        assert [(job.workspace, job.name, job.key) for job in due] == [
            (ACME, "patterns", ""),
            (OTHER, "patterns", ""),
        ]

    def test_a_workspace_that_came_later_has_them_too(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([DAILY], now=NOON)
        tell(store, event("1"), workspace=OTHER)

        assert store.jobs.plant([DAILY], now=NOON) == 1
        assert state(store, "decay", OTHER).due_at == NOON + DAY

    def test_a_shorter_interval_holds_at_once(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([DAILY, HOURLY], now=NOON)
        often = Recurring(name="decay", every=HOUR, on_news=False, priority=Priority.LATER)
        assert store.jobs.plant([often, HOURLY], now=NOON) == 1

        assert state(store, "decay").due_at == NOON + HOUR
        (job,) = store.jobs.claim(now=LATER, limit=9, names=["decay"])
        store.jobs.finish([done(job)], now=LATER)

        found = state(store, "decay")
        assert (found.due_at, found.priority) == (LATER + HOUR, Priority.LATER)

    def test_a_longer_interval_holds_from_the_next_time(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([DAILY], now=NOON)
        seldom = Recurring(name="decay", every=5 * DAY, on_news=False)
        store.jobs.plant([seldom], now=NOON)

        assert state(store, "decay").due_at == NOON + DAY
        (job,) = store.jobs.claim(now=NOON + DAY, limit=9)
        store.jobs.finish([done(job)], now=NOON + DAY)

        assert state(store, "decay").due_at == NOON + 6 * DAY

    def test_another_interval_hastens_nobody_who_is_at_it_or_failed_or_sleeps(
        self, store: Store
    ) -> None:
        tell(store, event("1"))
        store.jobs.plant([HOURLY, DAILY], now=NOON)
        now = NOON + DAY
        taken = {job.name: job for job in store.jobs.claim(now=now, limit=9)}
        sleeps, failed = taken["patterns"], taken["decay"]
        store.jobs.finish([done(sleeps)], now=now)
        moment = timedelta(seconds=1)
        store.jobs.plant([Recurring(name="decay", every=moment, on_news=False)], now=now)
        assert state(store, "decay").due_at == now + LEASE
        store.jobs.fail([failed], error="away", retry_at=now + 5 * HOUR)

        often = [Recurring(name=name, every=HOUR / 2) for name in ("patterns", "decay")]
        assert store.jobs.plant(often, now=now) == 2

        assert state(store, "decay").due_at == now + 5 * HOUR
        assert state(store, "patterns").due_at is None

    def test_what_has_no_interval_is_done_only_when_it_is_asked_for(self, store: Store) -> None:
        tell(store, event("1"))
        tell(store, event("1"), workspace=OTHER)
        store.jobs.plant([DAILY, HOURLY], now=NOON)
        learn(store, now=NOON)
        never = [Recurring(name=name, every=None, on_news=False) for name in ("decay", "patterns")]
        store.jobs.schedule(ACME, [asked("share")])

        assert store.jobs.plant(never, now=NOON) == 4
        assert store.jobs.plant(never, now=NOON) == 0
        tell(store, event("2"))
        learn(store, now=NOON)

        assert names(store.jobs.claim(now=NOON + 99 * DAY, limit=9)) == ["share"]
        assert state(store, "decay").every is None
        assert state(store, "patterns").due_at is None
        store.jobs.schedule(ACME, [asked("decay")])
        (job,) = store.jobs.claim(now=NOON, limit=9)
        store.jobs.finish([done(job)], now=NOON)
        assert (job.name, state(store, "decay").due_at) == ("decay", None)
        assert store.jobs.plant([DAILY], now=NOON) == 2
        assert state(store, "decay").due_at == NOON + DAY

    def test_what_is_being_done_comes_no_more_afterwards(self, store: Store) -> None:
        tell(store, event("1"))
        store.jobs.plant([DAILY], now=NOON)
        (job,) = store.jobs.claim(now=LATER, limit=9)
        never = Recurring(name="decay", every=None, on_news=False)

        assert store.jobs.plant([never], now=LATER) == 0
        assert store.jobs.finish([done(job)], now=LATER) == 1
        assert store.jobs.plant([never], now=LATER + 2 * HOUR) == 1

        assert state(store, "decay").due_at is None

    def test_what_was_asked_for_before_it_came_again_comes_again(self, store: Store) -> None:
        store.jobs.schedule(ACME, [asked("decay")])
        store.jobs.finish([done(job) for job in store.jobs.claim(now=NOON, limit=9)], now=NOON)

        store.jobs.plant([DAILY], now=NOON)

        assert state(store, "decay").due_at == NOON + DAY
