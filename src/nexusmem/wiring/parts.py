"""Parts: the components one Nexus is made of, and the calls that combine them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from ..audit.recorder import AuditRecorder
from ..compose.caching.context_cache import ContextCache
from ..config.settings import Settings
from ..core.access import Viewer
from ..core.errors import NexusError, Unavailable
from ..core.ids import WorkspaceId
from ..core.protocols.jobs import NewJob, Priority
from ..core.protocols.store import Store
from ..embedders.switchover import EmbedderSwitch
from ..embedders.wrappers import CachedEmbedder
from ..learn.learner import Learner
from ..learn.model_budget import ModelBudget
from ..maintain.background_worker import MAX_PENDING, BackgroundWorker, UsageCounter
from ..maintain.job_runner import JobRunner
from ..maintain.schedule import REEMBED
from ..observe.record import EventRecorder
from ..recall.question_analysis import clear_question_cache
from ..recall.search import Ranking
from ..runtime.breaker import CircuitBreakers
from ..runtime.clock import Clock
from ..runtime.quotas import Quotas
from ..telemetry.spans import Telemetry

if TYPE_CHECKING:
    from ..learn.episodes import EpisodeJob
    from .providers import TemplateFinder

    RunLater = Callable[[Callable[[], None]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """The components of one Nexus."""

    settings: Settings
    store: Store
    recorder: EventRecorder
    embedder: CachedEmbedder
    embedder_switch: EmbedderSwitch
    learner: Learner
    worker: BackgroundWorker
    job_runner: JobRunner
    ranking: Ranking
    model_budget: ModelBudget
    get_episodes: Callable[[], EpisodeJob]  # created on first use
    breakers: CircuitBreakers
    context_cache: ContextCache
    templates: TemplateFinder
    telemetry: Telemetry
    audit: AuditRecorder
    usage_counter: UsageCounter
    quotas: Quotas
    now: Clock
    background: bool

    def __post_init__(self) -> None:
        if self.settings.embeddings.switches_automatically:
            self.embedder_switch.on_switch = self._start_switch

    def schedule_reembed(self, workspace: WorkspaceId) -> None:
        """Schedule the job that embeds all memories of a workspace, with high priority."""
        job = NewJob(name=REEMBED, due_at=self.now(), priority=Priority.SOON)

        def schedule_job() -> None:
            self.store.jobs.schedule(workspace, [job])
            if self.background:
                self.worker.wake_jobs()

        self.run_later(schedule_job)

    def _start_switch(self, workspace: WorkspaceId) -> None:
        """Schedule the job, and ignore errors: a search must not fail, and the job runs daily."""
        with suppress(NexusError):
            self.schedule_reembed(workspace)

    def schedule_switches(self) -> None:
        """Schedule that job in every workspace with vectors of another embedder."""
        with suppress(Unavailable):  # the daily job tries again
            self.embedder_switch.check_all(self.store.list_workspaces)

    def run_later(self, call: Callable[[], None]) -> None:
        """Run a call in the background thread, or immediately if there is none."""
        if self.background:
            self.worker.submit(call)
        else:
            call()

    def count_uses(
        self, viewer: Viewer, ids: Iterable[str], at: datetime, thread: str | None = None
    ) -> None:
        """Count uses of memories; the counts are written in batches within seconds."""
        pending = self.usage_counter.record_shown(viewer, ids, at, thread)
        if pending >= MAX_PENDING:
            self.run_later(self.usage_counter.flush)
        elif pending == 1 and self.background:
            self.worker.wake()

    def evict_caches(self, workspace: WorkspaceId) -> None:
        """Drop everything this process has cached of a workspace."""
        self.embedder.clear_workspace(workspace)
        self.context_cache.evict_workspace(workspace)
        clear_question_cache()

    def close(self) -> None:
        """Stop the worker, write pending audit entries and counts, and close the store."""
        self.worker.stop()
        self.audit.flush()
        self.usage_counter.flush()
        self.store.close()
