"""Job schedule: the names of all background jobs, their intervals and their functions.

A new job needs a line in `_all_jobs` and an interval in `settings`. A job is a function of a store,
a workspace, the current time and a cursor. It runs one short step and returns counts and the next
cursor. A step can be interrupted and repeated at any point, so it must be idempotent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from ..core.flows import DEFAULT_SHARING, Sharing
from ..core.ids import WorkspaceId
from ..core.protocols.jobs import (
    JobStep,
    Json,
    Priority,
    RecurringJob,
    RunBatch,
    RunStep,
    WorkspaceTurn,
)
from ..core.protocols.store import Store
from ..core.strength import StrengthSettings
from .settings import MaintainSettings

if TYPE_CHECKING:
    from ..learn.episodes import EpisodeJob
    from ..learn.flows.decide import SentenceClassifier

REEMBED = "reembed"
FLOWS_JOB = "flows"
EPISODES_PER_STEP = 20  # threads and sessions that one step summarizes


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledJob:
    """A job: its recurrence and the function that runs one step."""

    recurrence: RecurringJob
    run: RunStep
    run_many: RunBatch | None = None  # one step in several workspaces, for short steps


@dataclass(frozen=True, slots=True, kw_only=True)
class JobTools:
    """Dependencies of jobs besides the store."""

    episodes: Callable[[], EpisodeJob] | None  # None: only on request
    idle: timedelta  # after which a window is emptied
    retention_days: int  # of the audit log; 0: unlimited
    dossiers: RunStep | None = None  # None: only on request
    reembed: RunStep | None = None  # None: only on request
    sharing: Callable[[WorkspaceId], Sharing] = lambda _: DEFAULT_SHARING
    classifier: Callable[[], SentenceClassifier | None] = lambda: None  # of flows
    flows: RunStep | None = None  # applies changed flows to existing memories, only on request


def build_schedule(
    store: Store, settings: MaintainSettings, tools: JobTools
) -> dict[str, ScheduledJob]:
    """Return all jobs by name."""
    return {each.recurrence.name: each for each in _all_jobs(store, settings, tools)}


def _all_jobs(store: Store, settings: MaintainSettings, tools: JobTools) -> Iterator[ScheduledJob]:
    every = settings.interval_minutes
    yield from _make_job(every.consolidate, "consolidate", partial(_run_consolidate, store))
    yield from _make_job(
        every.near_duplicates, "near_duplicates", partial(_run_near_duplicates, store)
    )
    yield from _make_job(every.habits, "habits", partial(_run_habits, store))
    if tools.episodes:
        yield from _make_job(every.episodes, "episodes", partial(_run_episodes, tools.episodes))
    if tools.dossiers:
        yield from _make_job(every.dossiers, "dossiers", tools.dossiers)
    strength = settings.strength
    yield from _make_sweep(
        every.session_end, "session_end", partial(_run_session_end, store, strength)
    )
    for minutes, name, together in (
        (every.promote, "promote", partial(_run_promote, store, strength, tools)),
        (every.decay, "decay", partial(_run_decay, store, strength)),
        (
            every.cleanup,
            "cleanup",
            partial(_run_cleanup, store, (tools.idle, strength.archive_after_idle_days)),
        ),
    ):
        yield from _make_sweep(minutes, name, together, on_news=False)
    days = partial(_run_audit_partitions, store, tools.retention_days)
    yield from _make_job(every.audit_partitions, "audit_partitions", days, on_news=False)
    if tools.flows:
        yield from _make_job(0, FLOWS_JOB, tools.flows, on_news=False)
    if tools.reembed:
        yield from _make_job(every.reembed, REEMBED, tools.reembed, on_news=False)


def _make_job(
    minutes: float, name: str, run: RunStep, *, on_news: bool = True
) -> Iterator[ScheduledJob]:
    """Yield a job that runs `minutes` after new events, or (`on_news=False`) after its last run.

    0 minutes: only on request. Jobs that do not depend on news have a lower priority.
    """
    every = timedelta(minutes=minutes) if minutes > 0 else None
    priority = Priority.USUAL if on_news else Priority.LATER
    news = on_news and every is not None
    yield ScheduledJob(
        recurrence=RecurringJob(name=name, every=every, on_news=news, priority=priority), run=run
    )


def _make_sweep(
    minutes: float, name: str, run_many: RunBatch, *, on_news: bool = True
) -> Iterator[ScheduledJob]:
    """Yield a job that processes several workspaces in one call."""

    def run_one(workspace: WorkspaceId, now: datetime, cursor: Json) -> JobStep:
        (step,) = run_many([WorkspaceTurn(workspace, cursor)], now)
        return step

    for each in _make_job(minutes, name, run_one, on_news=on_news):
        yield replace(each, run_many=run_many)


# The functions import their modules on first use, so that opening a store stays fast.


def _run_consolidate(store: Store, workspace: WorkspaceId, now: datetime, cursor: Json) -> JobStep:
    from .jobs.consolidate import consolidate

    return consolidate(store, workspace, now=now, cursor=cursor)


def _run_near_duplicates(
    store: Store, workspace: WorkspaceId, now: datetime, cursor: Json
) -> JobStep:
    from .jobs.consolidate import consolidate_all

    return consolidate_all(store, workspace, now=now, cursor=cursor)


def _run_habits(store: Store, workspace: WorkspaceId, now: datetime, cursor: Json) -> JobStep:
    from ..learn.habits import refresh_habits_after

    result = refresh_habits_after(store, workspace, now, cursor or 0)
    return JobStep(counts={"changed": result.changed}, cursor=result.last)


def _run_episodes(
    episodes: Callable[[], EpisodeJob], workspace: WorkspaceId, now: datetime, cursor: Json
) -> JobStep:
    del cursor  # the events show which episodes are missing
    return episodes().run_step(workspace, now, limit=EPISODES_PER_STEP)


def _run_session_end(
    store: Store, settings: StrengthSettings, turns: Sequence[WorkspaceTurn], now: datetime
) -> list[JobStep]:
    from .jobs.promote import promote_after_session

    return promote_after_session(store, turns, now=now, settings=settings)


def _run_promote(
    store: Store,
    strength: StrengthSettings,
    tools: JobTools,
    turns: Sequence[WorkspaceTurn],
    now: datetime,
) -> list[JobStep]:
    from .jobs.promote import FlowTools, promote

    flows = FlowTools(tools.sharing, tools.classifier)
    return promote(store, turns, now=now, settings=strength, flows=flows)


def _run_decay(
    store: Store, settings: StrengthSettings, turns: Sequence[WorkspaceTurn], now: datetime
) -> list[JobStep]:
    from .jobs.decay import decay

    return decay(store, turns, now=now, settings=settings)


def _run_cleanup(
    store: Store, idle_limits: tuple[timedelta, int], turns: Sequence[WorkspaceTurn], now: datetime
) -> list[JobStep]:
    from .jobs.cleanup import cleanup

    idle, days = idle_limits  # for windows (timedelta) and for conversations (days)
    return cleanup(store, turns, now=now, idle=idle, idle_days=days)


def _run_audit_partitions(
    store: Store, retention_days: int, workspace: WorkspaceId, now: datetime, cursor: Json
) -> JobStep:
    from ..audit.chain import apply_retention

    return apply_retention(store, workspace, now=now, cursor=cursor, retention_days=retention_days)
