"""What a world does while nobody tells it anything, as data like the other operations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from ..core.access import Viewer
from ..core.ids import WorkspaceId
from .operations import World

JOBS = (
    *("consolidate", "near_duplicates", "patterns", "dossiers"),
    *("session_end", "promote", "decay", "cleanup"),
)


@dataclass(frozen=True)
class Housekeeping:
    """Nobody's secret: flush, optimize, reopen, what is told again, or the time that passes."""

    what: str
    viewer: Viewer
    label = None
    tells = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    def do(self, world: World) -> Any:
        if self.what == "reopen":
            world.open_again()
        elif self.what == "optimize":
            world.nexus.optimize()
        elif self.what == "flush":
            world.place(self.viewer).flush()
        elif self.what in ("learn everything", "tell episodes", "rebuild"):
            for each in map(world.nexus.workspace, world.nexus.workspaces()):
                if self.what == "rebuild":
                    each.rebuild()
                else:
                    _ = each.flush() if self.what == "learn everything" else each.learn_episodes()
        elif self.what == "three weeks pass":
            self._later(world, timedelta(days=21), JOBS)
        else:
            self._later(world, timedelta(days=1), ["promote"])

    def _later(self, world: World, passed: timedelta, jobs: Sequence[str]) -> None:
        world.now += passed
        for entered in sorted(world.entered):
            for job in jobs:
                world.nexus.workspace(entered.value).run_job(job)
