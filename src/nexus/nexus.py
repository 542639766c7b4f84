"""Nexus: open a memory, enter a workspace, tell it things, find them again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .config import Settings, load_settings
from .core.access import administrator_grant
from .core.errors import NotFound, Unavailable
from .core.ids import WorkspaceId
from .core.metrics import Snapshot
from .core.protocols import Embedder, Store
from .core.records import Progress, Receipt
from .core.report import Report, silent
from .reading import check_receipt
from .wiring import Parts, assemble
from .workspace import Workspace

if TYPE_CHECKING:
    from .gathering import Shared
    from .maintain.shift import Shift, Worked


class Nexus:
    """One memory. `Nexus.open("memory.db")` is all it takes."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._shared: Shared | None = None

    @classmethod
    def open(
        cls,
        store: str | PathLike[str] | Store | None = None,
        *,
        settings: Settings | None = None,
        embedder: Embedder | None = None,
        clock: Callable[[], datetime] | None = None,
        background: bool = True,
    ) -> Self:
        """Open a file, a URL or a store of your own; with no argument, the configured default.

        `background=False` learns only when somebody asks or flushes.
        """
        chosen = settings or load_settings()
        given = store
        if isinstance(given, str | PathLike):
            chosen = replace(chosen, store=replace(chosen.store, url=fspath(given)))
            given = None
        opened = cls(
            assemble(chosen, store=given, embedder=embedder, clock=clock, background=background)
        )
        if background:
            opened._share()
        return opened

    def _share(self) -> None:
        """Whoever runs for long leaves its metrics for others, if that is configured."""
        if self._shared is None and self._parts.settings.telemetry.folder:
            from .meters import shared  # noqa: PLC0415  # only then

            self._shared = shared(self._parts)

    def workspace(self, name: str) -> Workspace:
        return Workspace(self._parts, WorkspaceId(name))

    def workspaces(self) -> list[str]:
        """The names of all that were written to."""
        return [id.value for id in self._parts.store.workspaces()]

    def wait(self, receipt: Receipt) -> Progress:
        """Index and learn what this receipt stands for, and say how far it came."""
        check_receipt(receipt)
        grant = administrator_grant(receipt.workspace).within([receipt.scope])
        self._parts.learner.flush(grant)
        return self.progress(receipt)

    def progress(self, receipt: Receipt) -> Progress:
        grant = administrator_grant(receipt.workspace).within([receipt.scope])
        known = self._parts.store.ledger.progress(grant, [receipt.event_id])
        if receipt.event_id not in known:
            raise NotFound(f"no event {receipt.event_id!r} here")
        return known[receipt.event_id]

    def reembed(self, report: Report | None = None, *, drop_old: bool = False) -> dict[str, int]:
        """Change over to the configured embedder now: a vector of its kind for every memory.

        Vectors of the former one stay, for a process that still asks with them, until the daily
        job removes them; with `drop_old` they go at once.
        """
        from .maintain.reembed import reembed  # noqa: PLC0415  # only then

        parts = self._parts
        made = reembed(parts.store, parts.changeover.embedder, report or silent, drop=drop_old)
        profile = parts.changeover.embedder.profile
        for workspace, own in made.items():
            parts.changeover.look_again(workspace)
            if own.total():
                parts.audit.wrote(workspace, "reembed", profile=profile.name, counts=dict(own))
        counted = ("embedded", "switched", "dropped")
        return {name: sum(own[name] for own in made.values()) for name in counted}

    def reembed_soon(self) -> int:
        """Ask for the job that does so wherever others are in use; in how many workspaces."""
        parts = self._parts
        ours = parts.changeover.embedder.profile
        used = ((each, parts.store.vectors.in_use(each)) for each in parts.store.workspaces())
        others = [workspace for workspace, profile in used if profile not in (None, ours)]
        for workspace in others:
            parts.reembed_soon(workspace)
        return len(others)

    def shift(
        self,
        jobs: Sequence[str] | None = None,
        *,
        report: Callable[[Worked], None] = lambda _: None,
    ) -> Shift:
        """A worker that has nothing else to do: `shift.run()` learns and does jobs until `end`.

        As many as you like may work at once, in any process that reaches the store. It does all
        jobs, or only these.
        """
        from .maintain.shift import Shift  # noqa: PLC0415  # whoever asks has no use for it

        parts = self._parts
        parts.jobs.check_names(jobs or ())
        self._share()
        look = parts.look_for_others
        return Shift(parts.store, parts.learner, parts.jobs, first=look, names=jobs, report=report)

    def optimize(self) -> None:
        """Give back disk space, also that of notes and contexts whose time is over."""
        idle = self._parts.settings.compose.idle
        with suppress(Unavailable):  # a window elsewhere lets go of it by itself
            self._parts.store.window.prune(now=self._parts.now(), idle=idle)
        self._parts.store.optimize()

    def metrics(self) -> Snapshot:
        """What this process did and how long it took, and how the store stands.

        Operations, caches and breakers are of this process; sizes, work that waits and what
        models cost are read from the store, which other processes may use, too.
        """
        from .meters import measured  # noqa: PLC0415  # only then

        return measured(self._parts, self._shared)

    def prometheus(self) -> str:
        """The same, as Prometheus reads it."""
        from .core.exposition import exposition  # noqa: PLC0415

        return exposition(self.metrics())

    def close(self) -> None:
        if self._shared:
            self._shared.close()
        self._parts.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
