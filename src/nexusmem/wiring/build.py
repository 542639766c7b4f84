"""Build the parts of a Nexus from its settings; only configured products are imported."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, partial
from typing import TYPE_CHECKING

from ..compose.caching.context_cache import ContextCache, SharedCacheClient, run_now
from ..config.settings import LlmSettings, Settings, describe_context_settings
from ..core.errors import ConfigError, EmbedderUnavailable
from ..core.ids import WorkspaceId, digest
from ..core.protocols.embedder import Embedder
from ..core.protocols.jobs import JobStep, Json, RunStep
from ..core.protocols.models import LanguageModel
from ..core.protocols.queue import BatchWait
from ..core.protocols.store import Store
from ..embedders.switchover import EmbedderSwitch, SwitchState
from ..embedders.wrappers import CachedEmbedder, ProfileCheckedEmbedder, UserSuppliedEmbedder
from ..learn.learner import Learner
from ..learn.model_budget import RECALL_PURPOSE, ModelBudget
from ..learn.settings import MODEL_FREQUENCIES, LearnSettings, ModelReadLimits
from ..maintain.background_worker import BackgroundWorker, UsageCounter
from ..maintain.job_runner import JobRunner
from ..maintain.schedule import JobTools, ScheduledJob, build_schedule
from ..observe.record import EventRecorder
from ..recall.search import Ranking, with_metrics
from ..runtime.breaker import CircuitBreaker, CircuitBreakers
from ..runtime.clock import Clock, MonotonicClock
from ..runtime.quotas import Quotas
from ..telemetry.instrument import InstrumentedEmbedder
from ..telemetry.spans import Telemetry
from .parts import Parts
from .providers import (
    TemplateFinder,
    make_breakers,
    make_embedder,
    make_extractors,
    make_instrumented_llm,
    make_telemetry,
    program_version,
)
from .ranking import make_ranking
from .stores import get_context_cache, make_scratch_store, make_store
from .telemetry import make_audit_recorder

if TYPE_CHECKING:
    from ..core.scope import Scope
    from ..learn.episodes import EpisodeJob, ModelSummarizer
    from ..learn.extract.echo_filter import InjectedContexts
    from ..learn.flows import FlowStep
    from ..learn.model_pass.reader import ModelReader
    from ..maintain.jobs.refresh_dossiers import DossierRefresher

    RunLater = Callable[[Callable[[], None]], None]


def make_schedule(
    settings: Settings,
    store: Store,
    episodes: Callable[[], EpisodeJob] | None,
    ranking: Ranking,
    embedder_switch: EmbedderSwitch,
    *,
    flows: RunStep | None = None,
) -> dict[str, ScheduledJob]:
    """Return the background jobs of every workspace, by name."""
    tools = JobTools(
        episodes=episodes,
        idle=settings.compose.idle_timeout,
        retention_days=settings.audit.retention_days,
        dossiers=make_dossier_job(settings, store, episodes, ranking),
        reembed=make_reembed_job(store, embedder_switch)
        if settings.embeddings.switches_automatically
        else None,
        sharing=lambda workspace: settings.sharing.for_workspace(workspace.value),
        classifier=lambda: make_flow_step(settings, store).classifier,
        flows=flows,
    )
    return build_schedule(store, settings.maintain, tools)


def make_dossier_job(
    settings: Settings,
    store: Store,
    episodes: Callable[[], EpisodeJob] | None,
    ranking: Ranking,
) -> RunStep:
    """Return the job that rewrites outdated dossiers; it uses the summarizer of episodes."""

    def get_summarizer() -> ModelSummarizer | None:
        return episodes().summarizer if episodes and settings.learning.episodes == "model" else None

    @cache  # the refresher remembers what it has checked
    def make_refresher() -> DossierRefresher:
        from ..maintain.jobs.refresh_dossiers import DossierRefresher  # loaded on first use

        idle = timedelta(days=settings.maintain.strength.archive_after_idle_days)
        return DossierRefresher(store, ranking, get_summarizer, idle=idle)

    return lambda workspace, now, cursor: make_refresher().run_step(workspace, now, cursor)


def make_reembed_job(store: Store, embedder_switch: EmbedderSwitch) -> RunStep:
    """Return the job that embeds memories again; it skips workspaces another process switched."""

    def run_step(workspace: WorkspaceId, now: datetime, cursor: Json) -> JobStep:
        from ..maintain.jobs.re_embed import reembed_job_step  # loaded on first use

        if embedder_switch.get_state(workspace) is SwitchState.SUPERSEDED:
            return JobStep()
        step = reembed_job_step(store, embedder_switch.embedder, workspace, cursor, now)
        embedder_switch.expire_state(workspace)
        return step

    return run_step


def build_parts(
    settings: Settings,
    *,
    store: Store | None = None,
    embedder: Embedder | None = None,
    clock: Clock | None = None,
    background: bool = True,
) -> Parts:
    """Build all parts; a given store, embedder or clock replaces the configured one."""
    chosen = (
        UserSuppliedEmbedder(embedder)
        if embedder
        else make_embedder(_require_enabled(settings).embeddings)
    )
    templates = TemplateFinder(settings.compose)
    records, now, telemetry = (
        store or make_store(settings.store),
        MonotonicClock(clock),
        make_telemetry(settings),
    )
    breakers, switch = (
        make_breakers(settings, embedder),
        make_embedder_switch(settings, chosen, records),
    )
    cached = make_cached_embedder(settings, chosen, breakers.embedder, switch, telemetry)
    model, budget = (
        make_instrumented_llm(settings.llm, telemetry),
        make_model_budget(settings.llm, records, now),
    )
    recall_model = (
        budget.make_model_factory(model, settings.llm.model or "", RECALL_PURPOSE)
        if model
        else None
    )
    ranking = make_ranking(
        settings.search, records, cached, recall_model, breakers, vector_status=switch.vector_status
    )
    learner = make_learner(settings, records, cached, model, budget, now, telemetry)
    episodes = make_episodes(settings, records, cached, model, budget, now=now)
    job_runner = make_job_runner(
        settings,
        records,
        episodes,
        ranking,
        switch,
        flows=make_flows_job(settings, records, cached, learner, episodes),
        now=now,
        telemetry=telemetry,
    )
    worker, usage_counter, run_later = make_worker(
        settings, records, learner, job_runner, background=background
    )
    quotas = Quotas(now, settings.quotas, settings.quotas.workspaces)
    recorder = make_recorder(records, quotas, telemetry, worker if background else None)
    return Parts(
        settings=settings,
        store=records,
        recorder=recorder,
        embedder=cached,
        learner=learner,
        worker=worker,
        job_runner=job_runner,
        embedder_switch=switch,
        ranking=with_metrics(ranking, telemetry.metrics),
        model_budget=budget,
        get_episodes=episodes,
        breakers=breakers,
        context_cache=make_context_cache(settings, records, chosen, breakers, now, run_later),
        templates=templates,
        telemetry=telemetry,
        audit=make_audit_recorder(settings, records, now, run_later if background else None),
        usage_counter=usage_counter,
        quotas=quotas,
        now=now,
        background=background,
    )


def make_recorder(
    store: Store, quotas: Quotas, telemetry: Telemetry, worker: BackgroundWorker | None
) -> EventRecorder:
    """Return the write path; without a worker here, it wakes the workers of other processes."""

    def wake_worker() -> None:
        if worker:
            worker.wake()
        else:
            store.queue.notify()

    return EventRecorder(store=store, quotas=quotas, telemetry=telemetry, notify=wake_worker)


def make_embedder_switch(settings: Settings, embedder: Embedder, store: Store) -> EmbedderSwitch:
    """Return the switch that decides which vectors a workspace is searched with."""
    return EmbedderSwitch(
        embedder, store.vectors, refuses_switch=not settings.embeddings.switches_automatically
    )


def make_context_cache(  # called once  # noqa: PLR0917
    settings: Settings,
    store: Store,
    embedder: Embedder,
    breakers: CircuitBreakers,
    now: Clock,
    run_later: RunLater,
) -> ContextCache:
    """Return the context cache of this process, backed by the shared one if configured."""
    shared_cache, seconds = get_context_cache(store), settings.compose.cache_seconds
    if shared_cache is None:
        return ContextCache(now, seconds=seconds)

    @cache
    def compute_fingerprint() -> str:
        profile = breakers.embedder.call(
            lambda: embedder.profile,
            seconds=settings.search.model_timeout_seconds,
            error=EmbedderUnavailable,
        )
        return digest(
            "made with", program_version(), repr(profile), *describe_context_settings(settings)
        )

    client = SharedCacheClient(
        cache=shared_cache, fingerprint=compute_fingerprint, run_later=run_later
    )
    return ContextCache(now, seconds=seconds, shared=client)


def make_worker(
    settings: Settings, store: Store, learner: Learner, jobs: JobRunner, *, background: bool
) -> tuple[BackgroundWorker, UsageCounter, RunLater]:
    """Return the background worker, the usage counter, and a function that runs calls later.

    Without a background thread, that function runs a call immediately.
    """
    usage_counter = UsageCounter(store.usage_counts, enabled=settings.maintain.count_uses)
    runner = jobs if settings.maintain.enabled else None
    worker = BackgroundWorker(learner, runner, usage_counter.flush_before(store.catch_up_replicas))
    return worker, usage_counter, worker.submit if background else run_now


def make_job_runner(
    settings: Settings,
    store: Store,
    episodes: Callable[[], EpisodeJob],
    ranking: Ranking,
    embedder_switch: EmbedderSwitch,
    *,
    flows: RunStep,
    now: Clock,
    telemetry: Telemetry,
) -> JobRunner:
    """Return the runner of the background jobs of every workspace."""
    has_episodes = make_learn_settings(settings).episodes != "off"
    schedule = make_schedule(
        settings, store, episodes if has_episodes else None, ranking, embedder_switch, flows=flows
    )
    return JobRunner(store, schedule, now, telemetry)


def _require_enabled(settings: Settings) -> Settings:
    if not settings.enabled:
        raise ConfigError("memory.enabled is false: the store cannot be opened")
    return settings


def make_cached_embedder(
    settings: Settings,
    embedder: Embedder,
    breaker: CircuitBreaker,
    embedder_switch: EmbedderSwitch,
    telemetry: Telemetry,
) -> CachedEmbedder:
    """Return the embedder with a query cache, a timeout and a circuit breaker.

    With `memory.embeddings.on_change: refuse` it raises an error for another embedder's vectors.
    """
    refuses = not settings.embeddings.switches_automatically
    checked = ProfileCheckedEmbedder(embedder, embedder_switch.vectors) if refuses else embedder
    wait_seconds = settings.search.model_timeout_seconds
    return CachedEmbedder(
        InstrumentedEmbedder(checked, telemetry),
        size=settings.embeddings.query_cache_size,
        provider_call=lambda call: breaker.call(
            call, seconds=wait_seconds, error=EmbedderUnavailable
        ),
        check_ready=embedder_switch.check_ready,
    )


def make_learn_settings(settings: Settings) -> LearnSettings:
    """Return the learn settings, restricted by the switches of `agents.defaults.memory`."""
    agents = settings.agents
    return LearnSettings(
        extract_facts=settings.learning.extract_facts and agents.write.enabled,
        label_messages=settings.learning.label_messages and agents.labeling.enabled,
        on_contradiction=settings.learning.on_contradiction,
        entity_types=settings.learning.entity_types,
        episodes=settings.learning.episodes if agents.write.enabled else "off",
    )


def make_model_budget(settings: LlmSettings, store: Store, now: Clock) -> ModelBudget:
    """Return the accounting of model costs and the budget."""
    prices, budget = settings.prices, settings.budget
    return ModelBudget(costs=store.model_costs, clock=now, prices=prices, budget=budget)


def make_learner(  # called once  # noqa: PLR0917
    settings: Settings,
    store: Store,
    embedder: Embedder,
    model: LanguageModel | None,
    model_budget: ModelBudget,
    now: Clock,
    telemetry: Telemetry,
) -> Learner:
    """Return the learner: events → memories."""
    return Learner(
        store,
        embedder,
        settings.indexing,
        make_learn_settings(settings),
        now,
        make_model_reader=make_model_pass(settings, model, model_budget),
        every_turn=settings.agents.write.frequency == MODEL_FREQUENCIES[0],
        batch_wait=make_batch_wait(settings.llm) if model else None,
        extractors=make_extractors(settings.learning),
        make_flows=partial(make_flow_step, settings),
        telemetry=telemetry,
    )


def make_batch_wait(settings: LlmSettings) -> BatchWait:
    """Return how long messages wait, so that the model reads several in one call."""
    pause = timedelta(seconds=settings.pause_seconds)
    return BatchWait(pause=pause, enough=settings.messages_per_call)


def make_flows_job(
    settings: Settings,
    store: Store,
    embedder: Embedder,
    learner: Learner,
    episodes: Callable[[], EpisodeJob],
) -> RunStep:
    """Return the step of the job that applies the flows to memories of earlier events.

    Its cursor has a digest of the flows: if they were changed since, the job starts again, because
    it applied other flows to the places before the cursor.
    """

    def run_step(workspace: WorkspaceId, now: datetime, cursor: Json) -> JobStep:
        from ..core.protocols.index_repair import DerivedLayer  # loaded on first use
        from ..learn.relearn import Relearner  # loads the rules
        from ..maintain.rebuild import RebuildTools, rebuild_step

        def make_relearner() -> Relearner:
            return Relearner(
                store, lambda: make_scratch_store(store), learner.make_pipeline, lambda: now
            )

        tools = RebuildTools(store, embedder, make_relearner, episodes)
        flows = digest("flows", repr(settings.sharing.for_workspace(workspace.value)))
        is_same = isinstance(cursor, dict) and cursor.get("flows") == flows
        left = cursor.get("left") if is_same else None
        step = rebuild_step(tools, workspace, DerivedLayer.KNOWLEDGE, now=now, cursor=left)
        if step.cursor is None:
            return step
        return replace(step, cursor={"flows": flows, "left": step.cursor})

    return run_step


def make_flow_step(settings: Settings, store: Store) -> FlowStep:
    """Return the step that applies the table of flows; its classifier reads with the built-in
    vectors, whichever embedder searches.
    """
    from ..embedders.builtin import BuiltinEmbedder  # loaded with the first event
    from ..embedders.flow_classifier import FlowClassifier
    from ..learn.flows import FlowStep

    return FlowStep(
        store,
        lambda workspace: settings.sharing.for_workspace(workspace.value),
        FlowClassifier(BuiltinEmbedder().embed),
    )


def make_model_pass(
    settings: Settings, model: LanguageModel | None, model_budget: ModelBudget
) -> Callable[[], ModelReader] | None:
    """Return a factory of the model reader, or None if no model extracts facts."""
    llm = settings.llm
    if model is None or not llm.extract_facts or not make_learn_settings(settings).extract_facts:
        return None

    def build_reader() -> ModelReader:
        from ..learn.model_pass.reader import ModelReader  # loads the rules
        from ..prompts import load_prompt  # loaded on first use

        has_labels = llm.write_labels and make_learn_settings(settings).label_messages
        limits = ModelReadLimits(
            turns=llm.messages_per_call,
            characters=llm.characters_per_call,
            labels=has_labels,
            max_confidence=llm.max_confidence,
        )
        return ModelReader(
            model,
            llm.model or "",
            load_prompt("one_pass"),
            limits,
            model_budget,
            load_prompt("labels") if has_labels else None,
        )

    return build_reader


def make_episodes(
    settings: Settings,
    store: Store,
    embedder: Embedder,
    model: LanguageModel | None,
    model_budget: ModelBudget,
    *,
    now: Clock,
) -> Callable[[], EpisodeJob]:
    """Return a factory of the episode job; a model summarizes only if configured."""
    mode = make_learn_settings(settings).episodes
    if mode == "model" and model is None:
        raise ConfigError("memory.learning.episodes: model needs a model: configure memory.llm")

    @cache
    def build_episodes() -> EpisodeJob:
        from ..learn.episodes import EpisodeJob, ModelSummarizer  # loads the rules
        from ..learn.extract.echo_filter import load_injected  # loaded on first use
        from ..prompts import load_prompt  # loaded on first use

        summarizer = None
        if model is not None and mode == "model":
            name = settings.llm.model or ""
            summarizer = ModelSummarizer(model, name, load_prompt("episode"), model_budget)

        def find_injected(workspace: WorkspaceId, scope: Scope) -> InjectedContexts:
            return load_injected(store, workspace, scope, now=now())

        return EpisodeJob(store, embedder, summarizer, find_injected)

    return build_episodes
