"""What is true now, and what was before: read from the log of observations.

Nothing is ever overwritten, so what holds is decided when somebody asks. Of a relation that
holds one value at a time (`core.predicates`) the newest observation holds; of any other, every
value that was not taken back. One that is trusted less never takes the place of one that is
trusted more.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ..core.derive import known_as
from ..core.predicates import bearing_on
from ..core.records import Memory, MemoryKind
from .observed import Course, Ended, Observed, Standing


class Tense(StrEnum):
    CURRENT = "current"
    PAST = "past"
    FUTURE = "future"


BOOST = {Tense.CURRENT: 1.2, Tense.PAST: 0.7, Tense.FUTURE: 1.0}  # seed 004's


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpretation:
    """One thing about somebody, at a moment."""

    now: Memory | None  # the observation that holds; of several the newest
    since: datetime | None  # when what holds was first said to hold
    before: tuple[Memory, ...]  # what held earlier, newest first, each value once
    coming: tuple[Memory, ...]  # what is to hold later
    observations: tuple[Memory, ...]  # all it rests on, newest first
    holding: tuple[Memory, ...] = ()  # all that hold, newest first, each value once
    ended: tuple[Ended, ...] = ()  # for each of `before`: until when, and who says so


def interpret(
    facts: Iterable[Memory],
    at: datetime,
    predicate: str | None = None,
    *,
    known_by: datetime | None = None,
) -> Interpretation:
    """Read observations about one subject and relation: how it was at a moment.

    `predicate` is the relation asked for, where some of the facts tell of it by another one.
    `known_by`: by what had been told by then, if not by that moment itself.
    """
    known = _observed(facts, at if known_by is None else known_by, predicate)
    courses = _courses(known, at).values()
    held = _standing(courses)
    gone = [each for course in courses for each in course.gone()]
    gone.sort(key=lambda pair: pair[0].order, reverse=True)
    coming = [each for course in courses for each in course.coming.values()]
    return Interpretation(
        now=held[0].newest.memory if held else None,
        since=held[0].since if held else None,
        before=tuple(each.memory for each, _ in gone),
        coming=tuple(each.memory for each in sorted(coming, key=lambda each: each.order)),
        observations=tuple(
            each.memory for each in sorted(known, key=lambda each: each.order, reverse=True)
        ),
        holding=tuple(each.newest.memory for each in held),
        ended=tuple(end for _, end in gone),
    )


def standing(facts: Iterable[Memory], at: datetime, predicate: str) -> list[Standing]:
    """All that hold of it at a moment, as `interpret` tells them, for who asks nothing else."""
    known = _observed(facts, at, predicate)
    if len(known) == 1 and known[0].holds_alone(at):  # as most do
        return [Standing(known[0], known[0].begins)]
    return _standing(_courses(known, at).values())


def about(facts: Iterable[Memory], names: str | Iterable[str], predicate: str) -> list[Memory]:
    """Those that tell this of somebody, by a name or any of several; capitals do not matter."""
    wanted = {known_as(name) for name in ([names] if isinstance(names, str) else names)}
    relations = set(bearing_on(predicate))
    return [
        memory
        for memory in facts
        if memory.kind is MemoryKind.FACT
        and memory.body["predicate"].upper() in relations
        and known_as(memory.body["subject"]) in wanted
    ]


def tenses(facts: Sequence[Memory], at: datetime) -> dict[str, Tense]:
    """Whether each of these holds at a moment, held before, or is to hold later; by id."""
    groups: defaultdict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in facts:
        if memory.kind is MemoryKind.FACT:
            subject, predicate = memory.body["subject"], memory.body["predicate"]
            groups[known_as(subject), predicate.upper()].append(memory)
    found: dict[str, Tense] = {}
    for (subject, predicate), own in groups.items():
        others = [groups.get((subject, other), ()) for other in bearing_on(predicate)[1:]]
        beside = [memory for other in others for memory in other]
        row = {memory.id: Observed.of(memory, predicate) for memory in (*own, *beside)}
        courses = _courses(row.values(), at)
        found |= {memory.id: _tense(row[memory.id], courses, at) for memory in own}
    return found


def _observed(facts: Iterable[Memory], known_by: datetime, predicate: str | None) -> list[Observed]:
    asked = predicate.upper() if predicate else None
    return [Observed.of(memory, asked) for memory in facts if memory.recorded_at <= known_by]


def _standing(courses: Iterable[Course]) -> list[Standing]:
    """What holds, newest first, each value once."""
    found = [held for course in courses for held in course.holding.values()]
    if len(found) > 1:
        found.sort(key=lambda held: held.newest.order, reverse=True)
    return found


def _courses(known: Iterable[Observed], at: datetime) -> dict[str, Course]:
    """By aspect: a favourite color and a favourite food do not take each other's place."""
    rows: defaultdict[str, list[Observed]] = defaultdict(list)
    for each in known:
        rows[each.aspect].append(each)
    return {aspect: Course(at).run(row) for aspect, row in rows.items()}


def _tense(each: Observed, courses: Mapping[str, Course], at: datetime) -> Tense:
    course = courses[each.aspect]
    if each.past:
        return Tense.PAST
    if each.value in course.coming and (each.planned or each.begins > at):
        return Tense.FUTURE
    holds = each.value in course.holding
    return Tense.CURRENT if holds != each.denial else Tense.PAST
