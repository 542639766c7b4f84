"""Plans of a conversation: which one a follow-up such as "it's off" means, and what it changes.

If the words may mean several plans, they change none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, time, timedelta

from ...core.derive import normalize_name
from ...core.records import Draft, Event, Fact
from ...text.predicates import find_ended, parse_day
from ..extract.fact_drafts import fact_draft
from ..rules.relations import category_of
from ..rules.results import NO_SPAN, FollowUp, Statement, StatementTense
from .scope_facts import KnownFact

DATED_PLANS = frozenset("SCHEDULED_FOR DUE_ON OCCURS_ON STARTS_ON".split())
OTHER_PLANS = frozenset("MOVING_TO TRAVELING_TO MIGRATING_TO".split())
PLANS = DATED_PLANS | OTHER_PLANS
NAMELESS = frozenset({"deadline", "date", "due date", "new date", "new deadline", "day"})
GRACE = timedelta(days=1)  # a plan of yesterday may still be moved
SURE_CONFIDENCE = 0.9
RULE = "follow-up of a plan"


@dataclass(frozen=True, slots=True)
class Plan:
    """The newest fact about a plan, and whether the plan was called off after it."""

    known: KnownFact
    is_cancelled: bool = False

    @property
    def subject(self) -> str:
        return self.known.fact.subject

    @property
    def is_dated(self) -> bool:
        return self.known.fact.predicate.upper() in DATED_PLANS

    @property
    def begins_at(self) -> datetime | None:
        day = parse_day(self.known.fact) if self.is_dated else None
        return datetime.combine(day, time(), UTC) if day else self.known.valid_from

    def is_ahead(self, at: datetime) -> bool:
        begins = self.begins_at
        return begins is None or begins > at - GRACE


def list_plans(newest_first: Iterable[KnownFact]) -> list[Plan]:
    """Return the plans among known facts, newest first, each once."""
    plans: dict[tuple[str, str], Plan] = {}
    ends: list[KnownFact] = []
    superseded: set[str] = set()
    for each in newest_first:
        fact, predicate = each.fact, each.fact.predicate.upper()
        superseded |= set(each.marks.get("supersedes", ()))
        if predicate not in PLANS or each.id in superseded or each.confidence < SURE_CONFIDENCE:
            continue
        key = (normalize_name(fact.subject), predicate)
        if fact.tense == "past" or fact.negated:
            ends.append(each)
        elif key not in plans:
            plans[key] = Plan(each, is_cancelled=_is_ended(each, ends))
    return list(plans.values())


def _is_ended(plan: KnownFact, ends: Sequence[KnownFact]) -> bool:
    value = " ".join(str(plan.fact.object or plan.fact.value).casefold().split())
    return any(
        normalize_name(end.fact.subject) == normalize_name(plan.fact.subject)
        and end.fact.predicate.upper() == plan.fact.predicate.upper()
        and find_ended(end.fact, [value]) is not None
        for end in ends
    )


def find_meant(follow_up: FollowUp, plans: Sequence[Plan], at: datetime) -> Plan | None:
    """Return the plan that a follow-up means; None if that is not clear."""
    if follow_up.is_cancelled:
        fitting = [each for each in plans if not each.is_cancelled and each.is_ahead(at)]
    else:
        fitting = [each for each in plans if each.is_dated]
        fitting = [each for each in fitting if each.is_cancelled or each.is_ahead(at)]
    if follow_up.needs_gap:
        fitting = [each for each in fitting if each.is_cancelled]
    if follow_up.place and follow_up.day is None:
        fitting = [each for each in fitting if each.known.fact.predicate.upper() != "DUE_ON"]
    if follow_up.is_due:
        due = [each for each in fitting if each.known.fact.predicate.upper() == "DUE_ON"]
        fitting = due or fitting
    if follow_up.what is not None:
        fitting = [each for each in fitting if _is_named(follow_up.what, each.subject)]
    return _choose_last(fitting)


def _is_named(words: str, subject: str) -> bool:
    """Return whether words name a plan: "party" means "Ida's garden party"."""
    asked, known = (re.findall(r"\w+", each.casefold()) for each in (words, subject))
    return bool(asked) and asked == known[-len(asked) :]


def _choose_last(plans: Sequence[Plan]) -> Plan | None:
    """Return the plan that was mentioned last; None if one message has several."""
    if not plans:
        return None
    last = max(each.known.at for each in plans)
    newest = [each for each in plans if each.known.at == last]
    return newest[0] if len({normalize_name(each.subject) for each in newest}) == 1 else None


def follow_up_drafts(event: Event, follow_up: FollowUp, plan: Plan) -> Iterator[Draft]:
    """Yield the facts that a follow-up states about its plan."""
    known, fact = plan.known, plan.known.fact
    statement = Statement(
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        value=fact.value if isinstance(fact.value, str) else None,
        aspect=fact.aspect,
        sentence=follow_up.sentence,
        source=NO_SPAN,
        category=category_of(fact.predicate),
        rule=RULE,
    )
    if follow_up.is_cancelled:
        yield _draft(event, replace(statement, temporal=StatementTense.PAST), known)
    elif day := _new_day(follow_up, plan):
        text, since = day
        if text != statement.value:
            future = replace(statement, temporal=StatementTense.FUTURE, valid_from=since)
            yield _draft(event, replace(future, object=None, value=text), known)
    if follow_up.place:
        placed = replace(statement, predicate="LOCATED_IN", object=follow_up.place, value=None)
        yield _draft(event, replace(placed, category=category_of("LOCATED_IN")), known)


def _new_day(follow_up: FollowUp, plan: Plan) -> tuple[str, datetime | None] | None:
    """Return the new date of a plan as text, and when it begins."""
    if follow_up.day is not None:
        return follow_up.day, follow_up.since
    begins = plan.begins_at
    if follow_up.shift is None or begins is None:
        return None
    moved = begins + follow_up.shift
    return f"{moved:%Y-%m-%d}", moved


def _draft(event: Event, statement: Statement, known: KnownFact) -> Draft:
    draft = fact_draft(event, statement, lambda _names, _sentence: known.sources)
    sources = tuple(dict.fromkeys(draft.sources))
    return replace(draft, sources=sources, confidence=min(draft.confidence, known.confidence))


def is_nameless(fact: Fact) -> bool:
    """Return whether a dated fact does not say what has the date: "the new deadline is …"."""
    return fact.predicate.upper() in DATED_PLANS and fact.subject.casefold() in NAMELESS
