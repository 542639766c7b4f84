"""From settings to the jobs that a memory does for itself."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING

from .config import Settings
from .core.ids import WorkspaceId
from .core.jobs import Json, Run, Step
from .core.protocols import Store
from .embedders.changing import Changeover, State
from .maintain.schedule import Planned, Tools, schedule
from .recall.answer import Ranking

if TYPE_CHECKING:
    from .learn.episodes import Episodes, Narrator
    from .maintain.fresh import Freshening


def make_schedule(
    settings: Settings,
    store: Store,
    episodes: Callable[[], Episodes] | None,
    ranking: Ranking,
    changing: Changeover,
) -> dict[str, Planned]:
    """The jobs of every workspace."""
    tools = Tools(
        episodes=episodes,
        idle=settings.compose.idle,
        retention_days=settings.audit.retention_days,
        dossiers=freshening(settings, store, episodes, ranking),
        reembed=reembedding(store, changing) if settings.embeddings.changes else None,
    )
    return schedule(store, settings.maintain, tools)


def freshening(
    settings: Settings,
    store: Store,
    episodes: Callable[[], Episodes] | None,
    ranking: Ranking,
) -> Run:
    """The job that makes stale dossiers anew, told by whoever tells episodes."""

    def narrator() -> Narrator | None:
        return episodes().narrator if episodes and settings.learning.episodes == "model" else None

    @cache  # it knows what it has looked at
    def make() -> Freshening:
        from .maintain.fresh import Freshening  # noqa: PLC0415  # only then

        idle = timedelta(days=settings.maintain.strength.idle_days)
        return Freshening(store, ranking, narrator, idle=idle)

    return lambda workspace, now, cursor: make().step(workspace, now, cursor)


def reembedding(store: Store, changing: Changeover) -> Run:
    """The job that changes workspaces over; not those that another process has changed."""

    def run(workspace: WorkspaceId, now: datetime, cursor: Json) -> Step:
        from .maintain.reembed import reembed_and_tidy  # noqa: PLC0415  # only then

        if changing.state(workspace) is State.LEFT_BEHIND:
            return Step()
        step = reembed_and_tidy(store, changing.embedder, workspace, cursor, now)
        changing.look_again(workspace)
        return step

    return run
