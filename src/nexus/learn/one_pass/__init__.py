"""Reading several turns with a language model, in one call.

It makes what the rules make, and never alone: what was said is kept, indexed and read by the rules
before, so that a model that is away, wrong or too expensive takes nothing away.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ...core.errors import BadOutput, BudgetSpent, NexusError
from ...core.models import LanguageModel
from ...core.records import Draft, Event
from ...prompts import Template
from ..limits import Limits
from ..rules.extracted import Extracted
from ..spending import LEARN, Spending
from .items import REFUSED, Items
from .merge import draft_of, made_by, makers_of, merged
from .shape import ANSWER
from .turns import Excerpt, batches, words_of

__all__ = [
    "Limits",
    "OnePass",
    "Reading",
    "draft_of",
    "made_by",
    "makers_of",
    "merged",
    "next_try",
]

CORRECTION = (
    "Your last answer to this could not be used: {why}. Answer again with the JSON object that was"
    " asked for and nothing else; say less if it was too long."
)
AWAY = (timedelta(minutes=1), timedelta(minutes=10), timedelta(hours=1))
WRONG = (timedelta(hours=1), timedelta(hours=6), timedelta(days=1))  # each costs two calls


@dataclass(frozen=True, slots=True)
class Reading:
    """What a model found in some turns, twice.

    `extracted` is what the rules would give: names in it are as they were said, and go the same
    way to whom they mean, so that nobody gets a second record, or another one's name. `drafts`
    are the same facts and landmarks, and the labels, ready to be kept as they are. The first
    source of a draft is the event that taught it; of each event and kind, both come in one order.
    """

    drafts: tuple[Draft, ...]
    extracted: Mapping[str, Extracted] = field(default_factory=dict)  # by the event that taught it
    dropped: Mapping[str, int] = field(default_factory=dict)  # why → how many items


@dataclass(frozen=True, slots=True)
class OnePass:
    """Entities, facts, landmarks and labels of a batch of turns."""

    model: LanguageModel
    name: str  # of the model, in the settings
    prompt: Template
    limits: Limits
    spending: Spending

    @property
    def maker(self) -> str:
        """What every memory it makes is marked with."""
        return f"{self.prompt.name}@{self.prompt.version}:{self.prompt.hash}"

    def batches(self, events: Iterable[Event]) -> Iterator[list[Event]]:
        """What to give to `read`; events that are in no batch have nothing to teach a model."""
        return batches(events, self.limits)

    def read(
        self, turns: Sequence[Event], before: Sequence[Event] = (), known: Iterable[str] = ()
    ) -> Reading:
        """What the model finds in one batch. No transaction may be open.

        `before` are the events before it, oldest first; `known` are names that may be used
        although nobody said them here. Bad output is asked for once more, with what was wrong.
        Raises BadOutput if that did not help, ModelUnavailable if nobody answers, and BudgetSpent
        if there is no money left: all of them before anything is written.
        """
        known = tuple(known)
        try:
            return self._ask(turns, before, known)
        except BadOutput as error:
            if error.problem == "cut off" and len(turns) > 1:
                return self._ask_in_halves(turns, before, known)
            return self._ask(turns, before, known, CORRECTION.format(why=error))

    def _ask_in_halves(
        self, turns: Sequence[Event], before: Sequence[Event], known: Sequence[str]
    ) -> Reading:
        """For more than can be said at once, two answers are the correction."""
        middle = len(turns) // 2
        first = self._ask(turns[:middle], before, known)
        second = self._ask(turns[middle:], [*before, *turns[:middle]], known)
        dropped = Counter(first.dropped) + Counter(second.dropped)
        extracted = {**first.extracted, **second.extracted}
        return Reading((*first.drafts, *second.drafts), extracted, dropped)

    def _ask(
        self,
        turns: Sequence[Event],
        before: Sequence[Event],
        known: Sequence[str],
        correction: str = "",
    ) -> Reading:
        excerpt = Excerpt.of(turns, before, self.limits)
        if not excerpt.turns:
            return Reading(())
        model = self.spending.on_account(self.model, self.name, LEARN)(turns[0].workspace)
        asked = self.prompt.render(asked=excerpt.asked(), correction=correction)
        said = model.complete(asked, schema=ANSWER)
        names = words_of(" ".join([*known, *(turn.event.speaker for turn in excerpt.all)]))
        most = self.limits.items_per_turn * len(excerpt.turns)
        items = Items(excerpt, self.maker, self.prompt.name, names, most)
        drafts = items.drafts(said.data)
        if items.dropped.keys() - REFUSED and not drafts and not items.extracted:
            why = ", ".join(sorted(items.dropped))
            raise BadOutput(f"nothing in the answer can be kept: {why}", problem="nothing usable")
        return Reading(tuple(drafts), items.extracted, dict(items.dropped))


def next_try(error: NexusError, attempts: int, now: datetime) -> datetime | None:
    """When to ask again after a failure; bad output is not paid for again and again.

    After three times it waits for somebody (`nexus jobs retry`). Whoever waits for something else
    (`flush`) must not ask any earlier: each time costs.
    """
    if isinstance(error, BudgetSpent) and error.until:
        return error.until
    waits = WRONG if isinstance(error, BadOutput) else AWAY
    if attempts < len(waits):
        return now + waits[attempts]
    return None if isinstance(error, BadOutput) else now + waits[-1]
