"""From settings to parts. The only place that picks a product, and it imports just that one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING

from .auditing import Auditor, make_auditor
from .compose.cache import ContextCache
from .compose.elsewhere import Elsewhere, at_once
from .config import LlmSettings, Settings, shaping
from .core.access import Viewer
from .core.breaker import Breaker, Breakers
from .core.clock import Clock, RisingClock
from .core.errors import ConfigError, EmbedderUnavailable, NexusError, Unavailable
from .core.ids import WorkspaceId, digest
from .core.jobs import NewJob, Priority
from .core.models import LanguageModel
from .core.protocols import Embedder, Store
from .core.quotas import Quotas
from .core.records import NewEvent, Receipt
from .core.telemetry import Telemetry
from .embedders.cached import CachedEmbedder
from .embedders.changing import Changeover
from .embedders.checked import CheckedEmbedder
from .embedders.given import GivenEmbedder
from .embedders.measured import MeasuredEmbedder
from .learn.learner import Learner
from .learn.learning import FREQUENCIES, Learning
from .learn.limits import Limits
from .learn.spending import RECALL, Spending
from .maintain.jobs import Runner
from .maintain.schedule import REEMBED
from .maintain.using import MOST_WAITING, Using
from .maintain.worker import Worker
from .products import make_breakers, make_embedder, measured_llm, program, traced
from .ranking import make_ranking
from .recall.answer import Ranking
from .recall.measured import measured
from .scheduling import make_schedule
from .storing import keeper_of, make_store

if TYPE_CHECKING:
    from .core.scope import Scope
    from .learn.episodes import Episodes
    from .learn.immune import Injected
    from .learn.one_pass import OnePass

    Later = Callable[[Callable[[], None]], None]

REPEATED = attrgetter("repeated")


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """Everything a Nexus is made of."""

    settings: Settings
    store: Store
    embedder: CachedEmbedder
    changeover: Changeover
    learner: Learner
    worker: Worker
    jobs: Runner
    ranking: Ranking
    spending: Spending
    episodes: Callable[[], Episodes]  # made when first needed
    breakers: Breakers
    contexts: ContextCache
    telemetry: Telemetry
    audit: Auditor
    using: Using
    quotas: Quotas
    now: Clock
    background: bool

    def __post_init__(self) -> None:
        if self.settings.embeddings.changes:
            self.changeover.begin = self._begin_to_change

    def reembed_soon(self, workspace: WorkspaceId) -> None:
        """Let the job that gives memories their vectors come to this workspace next."""
        job = NewJob(name=REEMBED, due_at=self.now(), priority=Priority.SOON)

        def ask() -> None:
            self.store.jobs.schedule(workspace, [job])
            if self.background:
                self.worker.hurry()

        self.afterwards(ask)

    def _begin_to_change(self, workspace: WorkspaceId) -> None:
        """A question is answered, also where the job cannot be asked for: it comes daily."""
        with suppress(NexusError):
            self.reembed_soon(workspace)

    def look_for_others(self) -> None:
        """Ask for that job wherever vectors of another embedder are in use."""
        with suppress(Unavailable):  # an embedder that is away is looked for again by the job
            self.changeover.look_at_all(self.store.workspaces)

    def append(
        self, workspace: WorkspaceId, events: Sequence[NewEvent], now: datetime
    ) -> list[Receipt]:
        """Write events down, durably; what follows from them is learned in the background."""
        with self.telemetry.doing("observe", workspace=workspace) as deed:
            quota = self.quotas.observing(workspace, len(events))
            receipts = self.store.ledger.append(workspace, events, recorded_at=now, quota=quota)
            deed.tell(receipts=receipts)
        new = len(receipts) - sum(map(REPEATED, receipts))
        self.telemetry.metrics.add("events_written_total", (), new)
        if self.background:
            self.worker.nudge()
        else:
            self.store.queue.announce()
        return receipts

    def afterwards(self, call: Callable[[], None]) -> None:
        """Do this when nobody waits: in the background, if there is one, and else now."""
        if self.background:
            self.worker.later(call)
        else:
            call()

    def used(
        self, viewer: Viewer, ids: Iterable[str], at: datetime, thread: str | None = None
    ) -> None:
        """Count what was shown, later: within seconds, and many at once."""
        waiting = self.using.note(viewer, ids, at, thread)
        if waiting >= MOST_WAITING:
            self.afterwards(self.using.write)
        elif waiting == 1 and self.background:
            self.worker.nudge()

    def close(self) -> None:
        self.worker.stop()
        self.audit.flush()
        self.using.write()
        self.store.close()


def assemble(
    settings: Settings,
    *,
    store: Store | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    background: bool = True,
) -> Parts:
    """Build the parts these settings name, or take the ones given."""
    chosen = GivenEmbedder(embedder) if embedder else make_embedder(_enabled(settings).embeddings)
    kept, now, telemetry = store or make_store(settings.store), RisingClock(clock), traced(settings)
    guards, changing = make_breakers(settings, embedder), make_changeover(settings, chosen, kept)
    cached = make_cached(settings, chosen, guards.embedder, changing, telemetry)
    model, spending = measured_llm(settings.llm, telemetry), make_spending(settings.llm, kept, now)
    asked = spending.on_account(model, settings.llm.model or "", RECALL) if model else None
    ranking = make_ranking(settings.search, kept, cached, asked, guards, standing=changing.standing)
    learner = make_learner(settings, kept, cached, model, spending, now, telemetry)
    episodes = make_episodes(settings, kept, cached, model, spending, now=now)
    jobs = make_jobs(settings, kept, episodes, ranking, changing, now=now, telemetry=telemetry)
    worker, using, later = make_worker(settings, kept, learner, jobs, background=background)
    return Parts(
        settings=settings,
        store=kept,
        embedder=cached,
        learner=learner,
        worker=worker,
        jobs=jobs,
        changeover=changing,
        ranking=measured(ranking, telemetry.metrics),
        spending=spending,
        episodes=episodes,
        breakers=guards,
        contexts=make_contexts(settings, kept, chosen, guards, now, later),
        telemetry=telemetry,
        audit=make_auditor(settings, kept, now, later if background else None),
        using=using,
        quotas=Quotas(now, settings.quotas, settings.quotas.workspaces),
        now=now,
        background=background,
    )


def make_changeover(settings: Settings, embedder: Embedder, store: Store) -> Changeover:
    """Which vectors may be asked; one that refuses says so where others are in use."""
    return Changeover(embedder, store.vectors, refuses=not settings.embeddings.changes)


def make_contexts(  # noqa: PLR0917  # called once
    settings: Settings,
    store: Store,
    embedder: Embedder,
    guards: Breakers,
    now: Clock,
    later: Later,
) -> ContextCache:
    """The cache of this process, and behind it the one that others share, if there is one."""
    keeper, seconds = keeper_of(store), settings.compose.cached_seconds
    if keeper is None:
        return ContextCache(now, seconds=seconds)

    @cache
    def made_with() -> str:
        wait = settings.search.model_wait_seconds
        asked = lambda: embedder.profile  # noqa: E731
        profile = guards.embedder.call(asked, seconds=wait, error=EmbedderUnavailable)
        return digest("made with", program(), repr(profile), *shaping(settings))

    elsewhere = Elsewhere(keeper=keeper, made_with=made_with, later=later)
    return ContextCache(now, seconds=seconds, elsewhere=elsewhere)


def make_worker(
    settings: Settings, store: Store, learner: Learner, jobs: Runner, *, background: bool
) -> tuple[Worker, Using, Later]:
    """In the background: it does jobs, if it may, and counts what was shown.

    And a way to have something done when nobody waits, if there is a background.
    """
    using = Using(store.uses, counted=settings.maintain.uses)
    done = jobs if settings.maintain.enabled else None
    worker = Worker(learner, done, using.and_then(store.follow))
    return worker, using, worker.later if background else at_once


def make_jobs(
    settings: Settings,
    store: Store,
    episodes: Callable[[], Episodes],
    ranking: Ranking,
    changing: Changeover,
    *,
    now: Clock,
    telemetry: Telemetry,
) -> Runner:
    """The jobs of every workspace, and who does them."""
    told = episodes if make_learning(settings).episodes != "off" else None
    planned = make_schedule(settings, store, told, ranking, changing)
    return Runner(store, planned, now, telemetry)


def _enabled(settings: Settings) -> Settings:
    if not settings.enabled:
        raise ConfigError("this memory is switched off: memory.enabled is false")
    return settings


def make_cached(
    settings: Settings,
    embedder: Embedder,
    guard: Breaker,
    changeover: Changeover,
    telemetry: Telemetry,
) -> CachedEmbedder:
    """Questions are embedded while somebody waits: not for long, and not if it was just away.

    One that the memory does not know is refused, where the settings want that.
    """
    refuses = not settings.embeddings.changes
    checked = CheckedEmbedder(embedder, changeover.vectors) if refuses else embedder
    wait_seconds = settings.search.model_wait_seconds
    return CachedEmbedder(
        MeasuredEmbedder(checked, telemetry),
        size=settings.embeddings.cached_questions,
        asking=lambda call: guard.call(call, seconds=wait_seconds, error=EmbedderUnavailable),
        ready=changeover.check,
    )


def make_learning(settings: Settings) -> Learning:
    """Seed 001's switches say whether anything is learned at all."""
    agents = settings.agents
    return Learning(
        facts=settings.learning.facts and agents.write.enabled,
        labels=settings.learning.labels and agents.labeling.enabled,
        contradictions=settings.learning.contradictions,
        types=settings.learning.types,
        episodes=settings.learning.episodes if agents.write.enabled else "off",
    )


def make_spending(settings: LlmSettings, store: Store, now: Clock) -> Spending:
    """What models cost, and how much they may."""
    prices, budget = settings.prices, settings.budget
    return Spending(accounts=store.accounts, clock=now, prices=prices, budget=budget)


def make_learner(  # noqa: PLR0917  # called once
    settings: Settings,
    store: Store,
    embedder: Embedder,
    model: LanguageModel | None,
    spending: Spending,
    now: Clock,
    telemetry: Telemetry,
) -> Learner:
    return Learner(
        store,
        embedder,
        settings.indexing,
        make_learning(settings),
        now,
        make_one_pass=make_one_pass(settings, model, spending),
        every_turn=settings.agents.write.frequency == FREQUENCIES[0],
        telemetry=telemetry,
    )


def make_one_pass(
    settings: Settings, model: LanguageModel | None, spending: Spending
) -> Callable[[], OnePass] | None:
    """The reader of turns, where a model is configured and may read them; made when needed."""
    llm = settings.llm
    if model is None or not llm.learn or not make_learning(settings).facts:
        return None

    def make() -> OnePass:
        from .learn.one_pass import OnePass  # noqa: PLC0415  # the rules load with it
        from .prompts import load_prompt  # noqa: PLC0415

        limits = Limits(turns=llm.turns_per_call, characters=llm.characters_per_call)
        return OnePass(model, llm.model or "", load_prompt("one_pass"), limits, spending)

    return make


def make_episodes(
    settings: Settings,
    store: Store,
    embedder: Embedder,
    model: LanguageModel | None,
    spending: Spending,
    *,
    now: Clock,
) -> Callable[[], Episodes]:
    """Who tells episodes: a model only where the settings say so."""
    told_by = make_learning(settings).episodes
    if told_by == "model" and model is None:
        raise ConfigError("memory.learning.episodes: model needs a model: configure memory.llm")

    @cache
    def make() -> Episodes:
        from .learn.episodes import Episodes, Narrator  # noqa: PLC0415  # the rules load with it
        from .learn.injected import injected_in  # noqa: PLC0415
        from .prompts import load_prompt  # noqa: PLC0415

        narrator = None
        if model is not None and told_by == "model":
            name = settings.llm.model or ""
            narrator = Narrator(model, name, load_prompt("episode"), spending)

        def injected(workspace: WorkspaceId, scope: Scope) -> Injected:
            return injected_in(store, workspace, scope, now=now())

        return Episodes(store, embedder, narrator, injected)

    return make
