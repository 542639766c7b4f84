"""Section: one object that declares everything the composer must know of a context section.

To add a section, write a file in `compose/sections` that defines one, and list it in
`compose/sections/__init__.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..core.records.context import ContextItem
    from ..recall.question_analysis import TimeWindow
    from .request import SectionInput

    SectionSource = Callable[[SectionInput], Sequence[ContextItem]]


class QuestionText(NamedTuple):
    """The part of a question that rules read, and the period that it names."""

    text: str
    window: TimeWindow | None = None


ShowCondition = Callable[[QuestionText], str | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Section:
    """One section of a context: its name, its limits, when it is shown, and its source."""

    name: str  # in receipts, settings and metrics
    heading: str
    description: str  # one line for the settings file
    priority: int  # sections with lower numbers take their tokens first
    when: ShowCondition  # returns why the section is shown, or None to leave it out
    source: SectionSource  # makes the items; they are rendered in this order
    cap: int | None = None  # tokens before other sections' leftovers; None: leftovers only
    floor: int = 0  # tokens that no other section may take
    stable: bool = False  # does not depend on the question: belongs to the cacheable prefix
    grows_with_budget: bool = False  # the cap is multiplied for a larger budget
    is_contiguous: bool = False  # when cut, the newest items stay, without a gap
    shows_time: bool = False  # lines carry the time of day, not only the date
    is_bare: bool = False  # lines carry no origin: Nexus itself wrote them


def always(reason: str) -> ShowCondition:
    """Return the condition of a section that every context has."""
    shown_because = f"always: {reason}"
    return lambda _question: shown_because
