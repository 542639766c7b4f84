"""What is true now, and what was before: read from the log of observations.

Nothing is ever overwritten, so what holds is decided when somebody asks. The newest observation
holds, unless its time has passed; one that is trusted less never takes the place of one that is
trusted more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ..core.canonical import canonical_json
from ..core.derive import known_as
from ..core.records import Memory, MemoryKind


class Tense(StrEnum):
    CURRENT = "current"
    PAST = "past"
    FUTURE = "future"


BOOST = {Tense.CURRENT: 1.2, Tense.PAST: 0.7, Tense.FUTURE: 1.0}  # seed 004's


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpretation:
    """One thing about somebody, at a moment."""

    now: Memory | None  # the observation that holds
    since: datetime | None  # when what holds was first said to hold
    before: tuple[Memory, ...]  # what held earlier, newest first, each value once
    coming: tuple[Memory, ...]  # what is to hold later
    observations: tuple[Memory, ...]  # all it rests on, newest first


def interpret(facts: Iterable[Memory], at: datetime) -> Interpretation:
    """Read observations about one subject and predicate as of a moment."""
    known = sorted((fact for fact in facts if fact.recorded_at <= at), key=_order)
    begun = [fact for fact in known if _begins(fact) <= at]
    holding = _holding(begun, at)
    held = [fact for fact in begun if not holding or _value(fact) != _value(holding)]
    values = {_value(fact): fact for fact in held}  # of equal ones the newest
    return Interpretation(
        now=holding,
        since=_since(begun, holding),
        before=tuple(sorted(values.values(), key=_order, reverse=True)),
        coming=tuple(fact for fact in known if _begins(fact) > at),
        observations=tuple(reversed(known)),
    )


def about(facts: Iterable[Memory], subject: str, predicate: str) -> list[Memory]:
    """Those that say this of this subject; capitals do not matter."""
    wanted = (known_as(subject), predicate.casefold())
    return [
        memory
        for memory in facts
        if memory.kind is MemoryKind.FACT
        and (known_as(memory.fact.subject), memory.fact.predicate.casefold()) == wanted
    ]


def tenses(facts: Sequence[Memory], at: datetime) -> dict[str, Tense]:
    """Whether each of these holds at a moment, held before, or is to hold later; by id."""
    groups: defaultdict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in facts:
        if memory.kind is MemoryKind.FACT:
            fact = memory.fact
            groups[known_as(fact.subject), fact.predicate.casefold()].append(memory)
    found = {}
    for group in groups.values():
        reading = interpret(group, at)
        holding = reading.now and _value(reading.now)
        for memory in group:
            past = Tense.CURRENT if _value(memory) == holding else Tense.PAST
            found[memory.id] = Tense.FUTURE if _begins(memory) > at else past
    return found


def _begins(fact: Memory) -> datetime:
    return fact.valid_from or fact.at


def _order(fact: Memory) -> tuple[datetime, datetime, str]:
    return _begins(fact), fact.recorded_at, fact.id


def _value(fact: Memory) -> str:
    return canonical_json([fact.fact.object, fact.fact.value])


def _over(fact: Memory, at: datetime) -> bool:
    return fact.valid_to is not None and fact.valid_to <= at


def _holding(begun: Sequence[Memory], at: datetime) -> Memory | None:
    holding: Memory | None = None
    for fact in begun:
        if not _over(fact, at) and (holding is None or fact.trust >= holding.trust):
            holding = fact
    return holding


def _since(begun: Sequence[Memory], holding: Memory | None) -> datetime | None:
    """The beginning of the last stretch in which nothing else was said."""
    if holding is None:
        return None
    since = _begins(holding)
    for fact in reversed(begun[: begun.index(holding)]):
        if _value(fact) == _value(holding):
            since = _begins(fact)
        elif fact.trust >= holding.trust:
            break
    return since
