"""Settings of contexts: the budget and each section's share of it, in tokens."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .section import Section

MIN_BUDGET = 250  # tokens; a smaller budget has no room for the header and a few lines
MAX_BUDGET = 1_000_000  # tokens
CONTEXT_DIVISOR = 3  # by default a context takes at most a third of the prompt
MAX_EVENTS = 1_000
MARKS = ("kind", "source", "times", "unsure", "scope")  # what the brackets of a line may contain


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposeSettings:
    """Defaults of every context."""

    budget_tokens: int = 4_000
    recent_messages: int = 40
    idle_hours: float = 24  # without a message or note, until the window of a place is emptied
    max_hits: int = 5  # in the section "recall"
    max_related: int = 25  # in the section "related"
    min_relevance: float = 0.012  # probability of helping below which a hit is not shown
    likely_relevance: float = 0.25  # from which a hit belongs to the section "recall"
    cache_seconds: int = 300  # how long the same question gets the same context; 0: no cache
    min_score: float = 0.2  # hits below it are not shown
    template: str = "markdown"  # markdown | compact | xml | json, or a plug-in
    sections: tuple[str, ...] = ()  # shown, in this order; empty: all
    headings: Mapping[str, str] = field(default_factory=dict)  # by section name
    marks: tuple[str, ...] = MARKS  # what the brackets of a line contain, if it is unusual
    pinned_decisions: int = 5  # standing decisions that every context shows
    pinned_tasks: int = 5  # open commitments and action items
    pinned_preferences: int = 5  # wishes about how the agent behaves
    tools: tuple[str, ...] = ()  # by which the agent looks up more; each a name or a description
    section_tokens: Mapping[str, int] = field(default_factory=dict)  # caps, by section name
    section_min_tokens: Mapping[str, int] = field(default_factory=dict)  # floors, by section name

    @property
    def idle_timeout(self) -> timedelta:
        return timedelta(hours=self.idle_hours)

    def scale_to_budget(self, budget: int | None, sections: Iterable[Section]) -> ComposeSettings:
        """Return settings with larger caps for the sections that grow with a larger budget.

        These sections are stable. They get no leftovers, because leftovers depend on the question.
        """
        if budget is None or budget <= self.budget_tokens:
            return self
        factor = budget / self.budget_tokens
        scaled = {
            section.name: int(self.section_cap(section) * factor)
            for section in sections
            if section.grows_with_budget
        }
        return replace(
            self,
            budget_tokens=budget,
            section_tokens={**self.section_tokens, **scaled},
            pinned_decisions=int(self.pinned_decisions * factor),
            pinned_tasks=int(self.pinned_tasks * factor),
            pinned_preferences=int(self.pinned_preferences * factor),
        )

    def section_cap(self, section: Section) -> int:
        """Return the tokens that a section has before it gets any leftovers."""
        return self.section_tokens.get(section.name, section.cap or 0)

    def section_floor(self, section: Section) -> int:
        """Return the tokens that are reserved for a section that needs them."""
        return self.section_min_tokens.get(section.name, section.floor)


def context_budget(limit: int, requested: int | None, default: int) -> int:
    """Return the budget of a context inside a prompt of at most `limit` tokens."""
    available = limit if requested else limit // CONTEXT_DIVISOR
    return max(MIN_BUDGET, min(requested or default, available))
