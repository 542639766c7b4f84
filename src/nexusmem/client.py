"""Nexus: open a memory store and get the places where agents and people use it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from os import PathLike, fspath
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .config.settings import Settings, load_settings
from .core.access import administrator_grant
from .core.errors import InvalidInput, NotFound, Unavailable
from .core.ids import WorkspaceId
from .core.protocols.embedder import Embedder
from .core.protocols.store import Store
from .core.records import Progress, Receipt
from .place.base import check_receipt
from .place.place import Place
from .runtime.progress import ProgressCallback, ignore_progress
from .telemetry.metrics import MetricsSnapshot
from .text.urls import mask_passwords
from .wiring.build import build_parts
from .wiring.parts import Parts
from .workspace import DEFAULT_AGENT, Workspace

if TYPE_CHECKING:
    from .maintain.standalone_worker import StandaloneWorker, WorkerReport
    from .telemetry.metrics import MetricsFile

DEFAULT_WORKSPACE = "default"


class Nexus:
    """A memory store, opened. `Nexus.open("memory.db").user("alice")` is the shortest way in.

    Use it as a context manager, or call `close()`. It is safe to use from several threads.
    """

    def __init__(self, parts: Parts) -> None:
        if not isinstance(parts, Parts):
            raise InvalidInput(f"open a memory with Nexus.open({parts!r}), not Nexus({parts!r})")
        self._parts = parts
        self._address = ""  # of the store, for repr()
        self._metrics_file: MetricsFile | None = None

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
        """Open a store: a file, a URL such as postgresql://…, or a Store object.

        Without `store`, the address comes from `settings`, else from $NEXUS_STORE, else from
        nexus.yaml, else it is ~/.nexus/memory.db.
        `embedder` replaces the configured embedder, `clock` the system clock. With
        `background=False` no thread is started: events are learned when a call needs them, or by
        `flush()`.
        """
        _check_open_arguments(store, settings, embedder)
        chosen = settings or load_settings()
        given = store
        if isinstance(given, str | PathLike):
            chosen = replace(chosen, store=replace(chosen.store, url=fspath(given)))
            given = None
        nexus = cls(
            build_parts(chosen, store=given, embedder=embedder, clock=clock, background=background)
        )
        nexus._address = mask_passwords(chosen.store.url) if given is None else type(given).__name__
        if background:
            nexus._start_metrics_file()
        return nexus

    def __repr__(self) -> str:
        return f"Nexus({self._address!r})"

    def _start_metrics_file(self) -> None:
        """Write this process's metrics to the shared folder, if one is configured."""
        if self._metrics_file is None and self._parts.settings.telemetry.metrics_folder:
            from .wiring.telemetry import share_metrics  # loaded on first use

            self._metrics_file = share_metrics(self._parts)

    def user(
        self,
        name: str,
        *,
        session: str | None = None,
        agent: str = DEFAULT_AGENT,
        workspace: str = DEFAULT_WORKSPACE,
        project: str | None = None,
    ) -> Place:
        """Return the private place of one user with one agent.

        Only this user and this agent see what is written there. `session` names one conversation:
        recent messages belong to it, and memories are shared by all sessions of the user with this
        agent. `workspace` separates tenants: nothing is shared between two workspaces.
        `project` adds the memories of one project.
        """
        return self.workspace(workspace).user(name, session=session, agent=agent, project=project)

    def workspace(self, name: str) -> Workspace:
        """Return a workspace: the memory of one team or tenant, isolated from all others."""
        return Workspace(self._parts, WorkspaceId(name))

    def workspaces(self) -> list[str]:
        """Return the names of all workspaces that have events."""
        return [id.value for id in self._parts.store.list_workspaces()]

    def wait(self, receipt: Receipt) -> Progress:
        """Learn the event of a receipt now, and return its processing stage."""
        check_receipt(receipt)
        grant = administrator_grant(receipt.workspace).narrow_to([receipt.scope])
        self._parts.learner.flush(grant)
        return self.progress(receipt)

    def progress(self, receipt: Receipt) -> Progress:
        """Return the processing stage of an event: durable, indexed or derived.

        `progress.error` says why it is stuck, if it is. Raises NotFound if the event was erased.
        """
        check_receipt(receipt)
        grant = administrator_grant(receipt.workspace).narrow_to([receipt.scope])
        found = self._parts.store.ledger.load_progress(grant, [receipt.event_id])
        if receipt.event_id not in found:
            raise NotFound(f"no event {receipt.event_id!r} here")
        return found[receipt.event_id]

    def reembed(
        self, report: ProgressCallback | None = None, *, delete_old: bool = False
    ) -> dict[str, int]:
        """Embed every memory with the configured embedder, then search with the new vectors.

        Returns the number of vectors that were embedded, switched and dropped. The old vectors
        stay for processes that still use them, until the daily job deletes them; `delete_old`
        deletes them immediately.
        """
        from .maintain.jobs.re_embed import reembed_all  # loaded on first use

        parts = self._parts
        made = reembed_all(
            parts.store, parts.embedder_switch.embedder, report or ignore_progress, drop=delete_old
        )
        profile = parts.embedder_switch.embedder.profile
        for workspace, counts in made.items():
            parts.embedder_switch.expire_state(workspace)
            if counts.total():
                parts.audit.record_action(
                    workspace, "reembed", profile=profile.name, counts=dict(counts)
                )
        names = ("embedded", "switched", "dropped")
        return {name: sum(counts[name] for counts in made.values()) for name in names}

    def schedule_reembed(self) -> int:
        """Schedule that job in every workspace with vectors of another embedder.

        Returns the number of these workspaces.
        """
        parts = self._parts
        ours = parts.embedder_switch.embedder.profile
        used = (
            (each, parts.store.vectors.active_profile(each))
            for each in parts.store.list_workspaces()
        )
        others = [workspace for workspace, profile in used if profile not in (None, ours)]
        for workspace in others:
            parts.schedule_reembed(workspace)
        return len(others)

    def worker(
        self,
        jobs: Sequence[str] | None = None,
        *,
        report: Callable[[WorkerReport], None] = lambda _: None,
    ) -> StandaloneWorker:
        """Return a worker whose `run()` learns and runs jobs until `stop()` is called.

        Several workers may run at the same time, in any process that reaches the store. `jobs`
        names the jobs to run; None runs all. `report` is called with the counts so far.
        """
        from .maintain.standalone_worker import StandaloneWorker  # loaded on first use

        parts = self._parts
        parts.job_runner.check_names(jobs or ())
        self._start_metrics_file()
        return StandaloneWorker(
            parts.store,
            parts.learner,
            parts.job_runner,
            on_start=parts.schedule_switches,
            names=jobs,
            report=report,
        )

    def optimize(self) -> None:
        """Delete expired notes and contexts, and give back disk space."""
        idle = self._parts.settings.compose.idle_timeout
        with suppress(Unavailable):  # Redis expires its items without help
            self._parts.store.window.prune(now=self._parts.now(), idle=idle)
        self._parts.store.optimize()

    def metrics(self) -> MetricsSnapshot:
        """Return a snapshot of all metrics.

        Timings, caches and circuit breakers are those of this process. Sizes, pending work and
        model costs are read from the store, so they cover every process.
        """
        from .wiring.telemetry import metrics_snapshot  # loaded on first use

        return metrics_snapshot(self._parts, self._metrics_file)

    def prometheus(self) -> str:
        """Return the metrics in the Prometheus text format."""
        from .telemetry.metrics import render_prometheus  # loaded on first use

        return render_prometheus(self.metrics())

    def close(self) -> None:
        """Stop the background thread and close the store. Calling it twice is allowed."""
        if self._metrics_file:
            self._metrics_file.close()
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


def _check_open_arguments(store: object, settings: object, embedder: object) -> None:
    """Raise InvalidInput if an argument of `Nexus.open` has the wrong type."""
    if not (store is None or isinstance(store, str | PathLike) or hasattr(store, "ledger")):
        accepted = "a file name, a URL such as postgresql://host/database, or a Store object"
        raise InvalidInput(f"store must be {accepted}, got {store!r:.80}")
    if not isinstance(settings, Settings | None):
        raise InvalidInput(f"settings must be a Settings object, got {settings!r:.80}")
    if embedder is not None and not callable(getattr(embedder, "embed", None)):
        accepted = "an object with the method embed"
        hint = "the setting memory.embeddings.provider chooses an embedder by its name"
        raise InvalidInput(f"embedder must be {accepted}, got {embedder!r:.80}; {hint}")
