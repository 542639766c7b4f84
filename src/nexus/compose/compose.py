"""The flow: plan → fetch → nothing twice → budget → render → receipt.

Recall runs once, outside of any transaction, because it asks an embedder; everything else is read
in one moment. Each source goes through one stage: what is away is missed, and not waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial

from ..core.access import Grant, Viewer
from ..core.canonical import time_text
from ..core.context import Context, ContextReceipt, Item, Section, shown_by
from ..core.errors import Unavailable
from ..core.ids import digest
from ..core.part import Part
from ..core.protocols import Store
from ..core.records import Found
from ..core.text import words_alone
from ..core.window import WindowView
from ..recall.answer import Ranking, answer
from ..recall.episodes import Pointed, Questions, pointed_at
from ..recall.iterate import leads_in
from ..recall.query import make_query
from .asking import Asking, Source
from .budget import STEADY
from .cache import key_of
from .fit import Fitted, Measure, fit
from .found import find_for
from .lines import KeptLines
from .messages import events_of
from .plan import Plan, plan
from .render import render
from .sections import SECTIONS
from .settings import Composing
from .stages import Stages
from .steady import Sections, Standing, SteadySections
from .window import window_of
from .wish import Wish, checked

MORE_HITS = 15  # asked for beyond those shown, because the window may show some of them
MEANING = "meaning"  # as recall calls what it does with an embedder
NOTHING = Found(hits=(), total=0, seconds=0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Composer:
    """Composes contexts from these parts."""

    store: Store
    ranking: Ranking
    catch_up: Callable[[Grant], object]
    clock: Callable[[], datetime]
    settings: Composing = field(default_factory=Composing)
    threshold: float = 0.0
    sources: Mapping[Part, Source] = field(default_factory=lambda: SECTIONS)
    steady: SteadySections | None = None
    lines: KeptLines | None = None
    questions: Questions | None = None  # their embedder: episodes are found by meaning, too

    def compose(self, viewer: Viewer, wish: Wish) -> Context:
        """What a model is given before it answers, as far as this viewer may see."""
        wish = checked(wish)
        stages = Stages()
        measure = Measure.of(wish.model)
        if self.lines:
            measure = replace(measure, lines=self.lines.of(viewer, measure.family))
        asking = self._asking(viewer, wish, stages)
        settings = asking.settings
        found = self._fetched(asking, wish, stages, measure)
        with stages.timed("budget"):
            fitted = fit(asking, wish, settings, found, measure)
        return _context(asking, wish, fitted, stages, wish.budget or settings.budget)

    def _asking(self, viewer: Viewer, wish: Wish, stages: Stages) -> Asking:
        """What every section is told: the last messages, the plan, and the hits."""
        grant = viewer.grant()
        bare = Asking(
            store=self.store,
            grant=grant,
            viewer=viewer,
            plan=Plan(wanted={}, question=wish.question, steps=(wish.question,)),
            now=self.clock() if wish.as_of is None else wish.as_of,
            replayed=wish.as_of is not None,
            settings=self.settings.within(wish.budget),
        )
        stages.stage("learn", lambda: self.catch_up(grant), None)
        view = stages.stage("window", lambda: self._view(bare, wish), bare.view)
        stages.degraded += view.degraded
        recent = [event.text for event in view.events if event.text != wish.question]
        with stages.timed("plan"):
            planned = plan(wish.question, now=bare.now, recent=recent)
        asking = replace(bare, plan=planned, view=view, shown=_shown_by(wish, viewer, view))
        if Part.RECALL not in planned.wanted:
            return asking
        found = stages.stage("recall", lambda: self._found(asking, wish), NOTHING)
        stages.degraded += found.degraded
        return replace(asking, found=found, pointed=self._pointed(asking, found, stages))

    def _pointed(self, asking: Asking, found: Found, stages: Stages) -> Pointed | None:
        """The question's vector for its episodes, while nothing is open.

        An embedder that recall missed is not waited for once more.
        """
        missed = any(remark.startswith(f"{MEANING}: ") for remark in found.degraded)
        if self.questions is None or missed or Part.EPISODES not in asking.plan.wanted:
            return None
        look = partial(pointed_at, self.questions, asking.grant.workspace, asking.plan.question)
        return stages.stage(Part.EPISODES.value, look, None)

    def _view(self, asking: Asking, wish: Wish) -> WindowView:
        return window_of(
            self.store,
            asking.grant,
            asking.viewer.home,
            asking.now,
            wish.window or self.settings.window,
            idle=self.settings.idle,
            as_of=wish.as_of,
            hurry=True,
        )

    def _found(self, asking: Asking, wish: Wish) -> Found:
        def look(question: str) -> Found:
            query = make_query(
                question,
                limit=self.settings.hits + MORE_HITS,
                threshold=max(self.threshold, self.settings.least_score),
                people=[person.value for person in asking.viewer.people],
                now=asking.now,
                as_of=wish.as_of,
                explain=wish.explain,
            )
            return answer(self.store, self.ranking, asking.grant, query, keys=False)

        people = [person.value for person in asking.viewer.people]
        return find_for(
            asking.plan,
            look,
            lambda found: leads_in(self.store, asking.grant, wish.question, found, people),
        )

    def _fetched(
        self, asking: Asking, wish: Wish, stages: Stages, measure: Measure
    ) -> dict[Part, Sequence[Item]]:
        """What each section that is wanted has to say, all of one moment."""
        wanted = [part for part in self.sources if part in asking.plan.wanted]
        with self.store.moment():
            known = self._known(asking, wish, stages, measure)
            rest = (part for part in wanted if part not in known)
            return {**known, **self._from_sources(rest, asking, stages)}

    def _from_sources(
        self, parts: Iterable[Part], asking: Asking, stages: Stages
    ) -> dict[Part, Sequence[Item]]:
        found: dict[Part, Sequence[Item]] = {}
        for part in parts:
            source = self.sources[part]
            found[part] = stages.stage(part.value, lambda: source(asking), [])  # noqa: B023
        return found

    def _known(self, asking: Asking, wish: Wish, stages: Stages, measure: Measure) -> Sections:
        """The sections that no question changes, with their tokens; from the turn before."""
        if self.steady is None or asking.replayed:
            return {}
        window = wish.window or self.settings.window
        try:
            epoch = self.store.epoch(asking.grant)
        except Unavailable:
            return {}  # each section says itself what it misses
        standing = Standing(asking.viewer, window, measure.family, epoch)
        known = self.steady.find(standing)
        if known is None:
            remarks, forgotten = len(stages.degraded), self.steady.forgotten
            parts = (part for part in self.sources if part in STEADY)
            found = self._from_sources(parts, asking, stages)
            known = {part: measure.counted(part, items) for part, items in found.items()}
            if len(stages.degraded) == remarks:
                self.steady.keep(standing, known, forgotten=forgotten)
        return known


def _shown_by(wish: Wish, viewer: Viewer, view: WindowView) -> frozenset[str]:
    """The ids of the events that the caller's messages show, told by their keys or their words."""
    if not wish.said:
        return frozenset()
    words = {words_alone(each.text) for each in wish.said}
    same = (event.id for event in view.events if words_alone(event.text) in words)
    return events_of(wish.said, viewer, wish.thread).union(same)


def _context(asking: Asking, wish: Wish, fitted: Fitted, stages: Stages, budget: int) -> Context:
    id = digest("context", key_of(asking.viewer, wish), time_text(asking.now))
    shares = [fitted.shares[part] for part in Part if part in fitted.shares]
    with stages.timed("render"):
        rendered = render(
            asking.viewer,
            {each.part: each.items for each in shares},
            id=id,
            now=asking.now,
            as_of=asking.replayed,
            remarks=fitted.remarks,
        )
    sections = tuple(
        Section(part=each.part, items=each.items, tokens=each.tokens)
        for each in shares
        if each.items
    )
    receipt = ContextReceipt(
        id=id,
        at=asking.now,
        question=wish.question,
        budget=budget,
        tokens=fitted.tokens,
        plan=asking.plan.wanted,
        sections={each.part: each.tokens for each in sections},
        frame=fitted.tokens - sum(each.tokens for each in shares),
        shown=shown_by(sections),
        cut=fitted.cut,
        seconds=stages.seconds,
        degraded=tuple(dict.fromkeys(stages.degraded)),
    )
    return Context(sections=sections, receipt=receipt, text=rendered.text, steady=rendered.steady)
