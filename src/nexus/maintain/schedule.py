"""The jobs there are: their names, when each is done, and by what function.

Whoever adds one writes a line here and an interval in `settings`. A job is a function of a store,
a workspace, the time and where it left off. It does a little, says what it did, and where the next
step goes on. It may be broken off at any point and done again: it must not matter how often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

from ..core.ids import WorkspaceId
from ..core.jobs import Json, Priority, Recurring, Run, RunTogether, Step, Turn
from ..core.protocols import Store
from ..core.strength import Strengthening
from .settings import Maintaining

if TYPE_CHECKING:
    from ..learn.episodes import Episodes

REEMBED = "reembed"
EPISODES_AT_ONCE = 20  # threads and sessions that one step tells


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """A job, when it is done, and by what function."""

    when: Recurring
    run: Run
    together: RunTogether | None = None  # a step in several workspaces at once, if it is short


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What jobs need besides the store."""

    episodes: Callable[[], Episodes] | None  # None: they are told only when somebody asks
    idle: timedelta  # until a place's window is empty
    retention_days: int  # of the audit; 0: for ever
    dossiers: Run | None = None  # None: they are made anew only when somebody asks
    reembed: Run | None = None  # None: an embedder is changed only when somebody asks


def schedule(store: Store, settings: Maintaining, tools: Tools) -> dict[str, Planned]:
    """Every job there is, by its name."""
    return {each.when.name: each for each in _planned(store, settings, tools)}


def _planned(store: Store, settings: Maintaining, tools: Tools) -> Iterator[Planned]:
    every = settings.intervals
    yield from _every(every.consolidate, "consolidate", partial(_consolidate, store))
    yield from _every(every.near_duplicates, "near_duplicates", partial(_near_duplicates, store))
    yield from _every(every.patterns, "patterns", partial(_patterns, store))
    if tools.episodes:
        yield from _every(every.episodes, "episodes", partial(_episodes, tools.episodes))
    if tools.dossiers:
        yield from _every(every.dossiers, "dossiers", tools.dossiers)
    strength = settings.strength
    yield from _swept(every.session_end, "session_end", partial(_session_end, store, strength))
    for minutes, name, together in (
        (every.promote, "promote", partial(_promote, store, strength)),
        (every.decay, "decay", partial(_decay, store, strength)),
        (every.cleanup, "cleanup", partial(_cleanup, store, (tools.idle, strength.idle_days))),
    ):
        yield from _swept(minutes, name, together, on_news=False)
    days = partial(_audit_partitions, store, tools.retention_days)
    yield from _every(every.audit_partitions, "audit_partitions", days, on_news=False)
    if tools.reembed:
        yield from _every(every.reembed, REEMBED, tools.reembed, on_news=False)


def _every(minutes: float, name: str, run: Run, *, on_news: bool = True) -> Iterator[Planned]:
    """So many minutes after news, or (without `on_news`) after the last time: that can wait.

    0: only when it is asked for.
    """
    every = timedelta(minutes=minutes) if minutes > 0 else None
    priority = Priority.USUAL if on_news else Priority.LATER
    news = on_news and every is not None
    yield Planned(when=Recurring(name=name, every=every, on_news=news, priority=priority), run=run)


def _swept(
    minutes: float, name: str, together: RunTogether, *, on_news: bool = True
) -> Iterator[Planned]:
    """The same for what is done in many workspaces at once."""

    def alone(workspace: WorkspaceId, now: datetime, cursor: Json) -> Step:
        (step,) = together([Turn(workspace, cursor)], now)
        return step

    for each in _every(minutes, name, alone, on_news=on_news):
        yield replace(each, together=together)


# The functions load what they need when they are first run: opening a memory waits for none.


def _consolidate(store: Store, workspace: WorkspaceId, now: datetime, cursor: Json) -> Step:
    from .consolidate import consolidate  # noqa: PLC0415

    return consolidate(store, workspace, now=now, cursor=cursor)


def _near_duplicates(store: Store, workspace: WorkspaceId, now: datetime, cursor: Json) -> Step:
    from .consolidate import near_duplicates  # noqa: PLC0415

    return near_duplicates(store, workspace, now=now, cursor=cursor)


def _patterns(store: Store, workspace: WorkspaceId, now: datetime, cursor: Json) -> Step:
    from ..learn.patterns import patterns_after  # noqa: PLC0415

    found = patterns_after(store, workspace, now, cursor or 0)
    return Step(counts={"changed": found.changed}, cursor=found.last)


def _episodes(
    episodes: Callable[[], Episodes], workspace: WorkspaceId, now: datetime, cursor: Json
) -> Step:
    del cursor  # which ones are missing follows from the events
    return episodes().step(workspace, now, limit=EPISODES_AT_ONCE)


def _session_end(
    store: Store, settings: Strengthening, turns: Sequence[Turn], now: datetime
) -> list[Step]:
    from .promote import session_end  # noqa: PLC0415

    return session_end(store, turns, now=now, settings=settings)


def _promote(
    store: Store, settings: Strengthening, turns: Sequence[Turn], now: datetime
) -> list[Step]:
    from .promote import promote  # noqa: PLC0415

    return promote(store, turns, now=now, settings=settings)


def _decay(
    store: Store, settings: Strengthening, turns: Sequence[Turn], now: datetime
) -> list[Step]:
    from .decay import decay  # noqa: PLC0415

    return decay(store, turns, now=now, settings=settings)


def _cleanup(
    store: Store, over_after: tuple[timedelta, int], turns: Sequence[Turn], now: datetime
) -> list[Step]:
    from .cleanup import cleanup  # noqa: PLC0415

    idle, days = over_after  # of windows, and of conversations
    return cleanup(store, turns, now=now, idle=idle, idle_days=days)


def _audit_partitions(
    store: Store, retention_days: int, workspace: WorkspaceId, now: datetime, cursor: Json
) -> Step:
    from .trail import keep_days  # noqa: PLC0415

    return keep_days(store, workspace, now=now, cursor=cursor, retention_days=retention_days)
