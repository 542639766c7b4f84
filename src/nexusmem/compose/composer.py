"""Composer: plan, fetch, deduplicate, fit to the budget, render, and write the receipt.

Recall runs first and outside of any transaction, because it calls an embedder. Everything else is
read in one snapshot. A source that is unavailable is skipped and reported in the receipt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import TypeVar

from ..core.access import Grant, Viewer
from ..core.canonical import format_time
from ..core.errors import Unavailable
from ..core.ids import digest
from ..core.protocols.store import Store
from ..core.records import Hits
from ..core.records.context import Context, ContextItem, ContextReceipt, ContextSection, list_shown
from ..core.records.window import WindowView
from ..observe.chat_messages import derive_event_ids
from ..recall.query import make_query
from ..recall.rewriters import LeadFinder, SearchFunction, find_lead_names, search_in_steps
from ..recall.search import Ranking, search_memories
from ..recall.views.episodes import QueryEmbedder, QueryVector, embed_question
from ..telemetry.spans import trace_step
from ..text.terms import normalize_words
from .caching.context_cache import context_key
from .caching.viewer_caches import LineCache, SectionCache, SectionCacheKey, SectionItems
from .conversation.turns import list_turns
from .render import ContextWriter, mask_items, render_context
from .request import ContextRequest, SectionInput, validate_request
from .router import ContextPlan, plan_context
from .section import Section
from .sections import SECTIONS
from .sections.episodes import EPISODES
from .sections.landmarks import LANDMARKS, is_preference
from .sections.recall import RECALL, RELATED, drop_shown_sentences
from .sections.window import WINDOW
from .selection import SectionSelection, TokenMeter, select_items
from .settings import ComposeSettings
from .window import load_window

EXTRA_HITS = 10  # searched beyond those shown, because the window may show some of them
VECTOR_STRATEGY = "vector"  # recall's name for the strategy that needs the embedder
NOT_COMPARED = (RELATED.name, WINDOW.name)  # the window is compared as a whole
MAX_SELECTIONS = 5  # each one may have no room for a line that quotes a related item
NO_RESULTS = Hits(hits=(), total=0, seconds=0.0)

T = TypeVar("T")


@dataclass(slots=True)
class StageTimer:
    """The duration of each stage in seconds, and the stages that were unavailable."""

    seconds: dict[str, float] = field(default_factory=dict)
    degraded: list[str] = field(default_factory=list)

    def run_stage(self, name: str, call: Callable[[], T], default: T) -> T:
        """Return the result of `call`; on Unavailable, note the error and return `default`."""
        started = time.perf_counter()
        try:
            with trace_step(f"compose.{name}"):
                try:
                    return call()
                except Unavailable as error:
                    self.degraded.append(f"{name}: {error}")
                    return default
        finally:
            self._add_seconds(name, started)

    @contextmanager
    def time_stage(self, name: str) -> Iterator[None]:
        started = time.perf_counter()
        try:
            with trace_step(f"compose.{name}"):
                yield
        finally:
            self._add_seconds(name, started)

    def _add_seconds(self, name: str, started: float) -> None:
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - started


def search_plan(plan: ContextPlan, search: SearchFunction, leads: LeadFinder | None = None) -> Hits:
    """Return the hits of a plan; only a multi-step question is searched more than once.

    Names in the first hits are followed for nested questions only: measured on other questions,
    they find nothing more.
    """
    if not plan.is_multi_step:
        return search(plan.question)
    return search_in_steps(
        search, plan.question, steps=plan.steps[1:], find_leads=leads if plan.is_nested else None
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """Composes contexts from a store, a ranking and the sections."""

    store: Store
    ranking: Ranking
    catch_up: Callable[[Grant], object]
    clock: Callable[[], datetime]
    settings: ComposeSettings = field(default_factory=ComposeSettings)
    threshold: float = 0.0
    section_cache: SectionCache | None = None
    line_cache: LineCache | None = None
    questions: QueryEmbedder | None = None  # embeds questions, to find episodes by vector

    def compose(self, viewer: Viewer, request: ContextRequest) -> Context:
        """Return the context of a request, made of what the viewer may see."""
        request = validate_request(request)
        stages = StageTimer()
        writer = self._make_writer(viewer, request)
        meter = TokenMeter.for_model(request.model, writer)
        if self.line_cache and writer.style:
            style = f"{writer.style} {writer.now:%Y-%m-%d}"  # today's lines have no date
            lines = self.line_cache.for_viewer(viewer, meter.family, style)
            meter = replace(meter, lines=lines)
        inputs = self._prepare_input(viewer, request, writer, stages)
        settings = inputs.settings
        candidates = self._load_sections(inputs, request, stages, meter)
        with stages.time_stage("budget"):
            selection = _select_unquoted(inputs, request, settings, candidates, meter)
        return _build_context(inputs, request, writer, selection, stages)

    def _make_writer(self, viewer: Viewer, request: ContextRequest) -> ContextWriter:
        return ContextWriter(
            template=request.template,
            settings=self.settings,
            viewer=viewer,
            now=self.clock() if request.as_of is None else request.as_of,
            is_past=request.as_of is not None,
        )

    def _prepare_input(
        self, viewer: Viewer, request: ContextRequest, writer: ContextWriter, stages: StageTimer
    ) -> SectionInput:
        """Load the last messages, plan the sections and search; return what sections read."""
        grant = viewer.grant()
        bare = SectionInput(
            store=self.store,
            grant=grant,
            viewer=viewer,
            plan=ContextPlan(sections={}, question=request.question, steps=(request.question,)),
            now=writer.now,
            is_replay=writer.is_past,
            settings=self.settings.scale_to_budget(request.budget, SECTIONS),
            tools=[str(each) for each in request.tools or self.settings.tools],
        )
        stages.run_stage("learn", lambda: self.catch_up(grant), None)
        view = stages.run_stage(
            "window", lambda: self._load_window(bare, request), bare.window_view
        )
        stages.degraded += view.degraded
        with stages.time_stage("plan"):
            turns = list_turns(request, viewer, view.events)
            plan = plan_context(request.question, now=bare.now, turns=turns)
            if self.settings.sections:
                shown = {n: plan.sections[n] for n in writer.order if n in plan.sections}
                plan = replace(plan, sections=shown)
        inputs = replace(
            bare,
            plan=plan,
            window_view=view,
            shown_event_ids=_caller_event_ids(request, viewer, view),
        )
        if RECALL.name not in plan.sections:
            return inputs
        hits = stages.run_stage(
            RECALL.name, lambda: self._search_memories(inputs, request), NO_RESULTS
        )
        stages.degraded += hits.degraded
        return replace(
            inputs,
            search_results=hits,
            question_vector=self._embed_question(inputs, hits, stages),
        )

    def _embed_question(
        self, inputs: SectionInput, results: Hits, stages: StageTimer
    ) -> QueryVector | None:
        """Return the question's vector for the episodes section, outside of any transaction.

        If the embedder was unavailable for recall, it is not called again.
        """
        failed = any(remark.startswith(f"{VECTOR_STRATEGY}: ") for remark in results.degraded)
        if self.questions is None or failed or EPISODES.name not in inputs.plan.sections:
            return None
        workspace, question = inputs.grant.workspace, inputs.plan.question
        embed = partial(embed_question, self.questions, workspace, question)
        return stages.run_stage(EPISODES.name, embed, None)

    def _load_window(self, inputs: SectionInput, request: ContextRequest) -> WindowView:
        return load_window(
            self.store,
            inputs.grant,
            inputs.viewer.home,
            inputs.now,
            request.recent_messages or self.settings.recent_messages,
            idle=self.settings.idle_timeout,
            as_of=request.as_of,
            skip_rebuild=True,
        )

    def _search_memories(self, inputs: SectionInput, request: ContextRequest) -> Hits:
        people = [person.value for person in inputs.viewer.people]

        def search_once(question: str) -> Hits:
            query = make_query(
                question,
                limit=self.settings.max_hits + self.settings.max_related + EXTRA_HITS,
                threshold=max(self.threshold, self.settings.min_score),
                people=people,
                now=inputs.now,
                as_of=request.as_of,
                explain=request.explain,
                min_relevance=self.settings.min_relevance,
            )
            return search_memories(
                self.store, self.ranking, inputs.grant, query, include_keys=False
            )

        return search_plan(
            inputs.plan,
            search_once,
            lambda hits: find_lead_names(
                self.store, inputs.grant, inputs.plan.question, hits, people
            ),
        )

    def _load_sections(
        self, inputs: SectionInput, request: ContextRequest, stages: StageTimer, meter: TokenMeter
    ) -> dict[str, Sequence[ContextItem]]:
        """Return the items of each planned section, all read in one snapshot."""
        planned = [section for section in SECTIONS if section.name in inputs.plan.sections]
        with self.store.snapshot():
            names = {section.name for section in planned}
            stable = {
                name: items
                for name, items in self._stable_sections(inputs, request, stages, meter).items()
                if name in names
            }
            rest = (section for section in planned if section.name not in stable)
            found = {**stable, **_run_sources(rest, inputs, stages)}
            if inputs.plan.is_talk:
                found[LANDMARKS.name] = list(filter(is_preference, found[LANDMARKS.name]))
            return found

    def _stable_sections(
        self, inputs: SectionInput, request: ContextRequest, stages: StageTimer, meter: TokenMeter
    ) -> SectionItems:
        """Return the stable sections with their tokens, from the cache if nothing was written."""
        if self.section_cache is None or inputs.is_replay:
            return {}
        window = request.recent_messages or self.settings.recent_messages
        try:
            epoch = self.store.epoch(inputs.grant)
        except Unavailable:
            return {}  # each section reports what is unavailable
        style = meter.writer.style
        if not style:
            return {}
        limits = inputs.settings
        counts = limits.pinned_decisions, limits.pinned_tasks, limits.pinned_preferences
        more = (f"{inputs.now:%Y-%m-%d}", *map(str, counts), *inputs.tools)
        key = SectionCacheKey(inputs.viewer, window, meter.family, epoch, style, more)
        cached = self.section_cache.get(key)
        if cached is None:
            remarks, generation = len(stages.degraded), self.section_cache.generation
            names = meter.writer.order
            stable = (each for each in SECTIONS if each.stable and each.name in names)
            items = _run_sources(stable, inputs, stages)
            cached = {name: meter.count_items(name, each) for name, each in items.items()}
            if len(stages.degraded) == remarks:
                self.section_cache.put(key, cached, generation=generation)
        return cached


def _select_unquoted(
    inputs: SectionInput,
    request: ContextRequest,
    settings: ComposeSettings,
    candidates: Mapping[str, Sequence[ContextItem]],
    meter: TokenMeter,
) -> SectionSelection:
    """Choose the items to show, without the sentences of related items that others quote.

    If an item that quotes a sentence does not fit, the related item keeps the sentence.
    """
    related = candidates.get(RELATED.name)
    if not related:
        return select_items(inputs, request, settings, candidates, meter)
    quoting = {name: each for name, each in candidates.items() if name not in NOT_COMPARED}
    rest = drop_shown_sentences(related, quoting.values())
    for _ in range(MAX_SELECTIONS):
        chosen = {**candidates, RELATED.name: rest}
        selection = select_items(inputs, request, settings, chosen, meter)
        shown = {name: {item.id for item in each.items} for name, each in selection.shares.items()}
        quoting = {
            name: [item for item in items if item.id in shown.get(name, ())]
            for name, items in quoting.items()
        }
        before, rest = rest, drop_shown_sentences(related, quoting.values())
        if [each.text for each in rest] == [each.text for each in before]:
            break
    return selection


def _run_sources(
    sections: Iterable[Section], inputs: SectionInput, stages: StageTimer
) -> dict[str, Sequence[ContextItem]]:
    items: dict[str, Sequence[ContextItem]] = {}
    for section in sections:
        found: Sequence[ContextItem] = stages.run_stage(
            section.name, partial(section.source, inputs), []
        )
        items[section.name] = mask_items(found)
    return items


def _caller_event_ids(request: ContextRequest, viewer: Viewer, view: WindowView) -> frozenset[str]:
    """Return the ids of the events that the caller's messages show, by key or by text."""
    if not request.messages:
        return frozenset()
    words = {normalize_words(each.text) for each in request.messages}
    same = (event.id for event in view.events if normalize_words(event.text) in words)
    return derive_event_ids(request.messages, viewer, request.thread).union(same)


def _build_context(
    inputs: SectionInput,
    request: ContextRequest,
    writer: ContextWriter,
    selection: SectionSelection,
    stages: StageTimer,
) -> Context:
    id = digest("context", context_key(inputs.viewer, request), format_time(inputs.now))
    shares = [selection.shares[name] for name in writer.order if name in selection.shares]
    with stages.time_stage("render"):
        rendered = render_context(
            writer, {each.part: each.items for each in shares}, remarks=selection.remarks
        )
    sections = tuple(
        ContextSection(part=each.part, items=each.items, tokens=each.tokens)
        for each in shares
        if each.items
    )
    receipt = ContextReceipt(
        id=id,
        at=inputs.now,
        question=request.question,
        budget=request.budget or inputs.settings.budget_tokens,
        tokens=selection.tokens,
        plan=inputs.plan.sections,
        searched=inputs.plan.question if inputs.plan.added else "",
        added=inputs.plan.added,
        sections={each.part: each.tokens for each in sections},
        frame=selection.tokens - sum(each.tokens for each in shares),
        shown=list_shown(sections),
        cut=selection.cut,
        seconds=stages.seconds,
        degraded=tuple(dict.fromkeys(stages.degraded)),
    )
    return Context(
        sections=sections,
        receipt=receipt,
        text=rendered.text,
        stable_prefix_length=rendered.stable_prefix_length,
    )
