"""Fact timelines: current, past and upcoming values, computed from observations.

Observations are never overwritten, so the current value is computed at read time. A single-valued
relation (`text.predicates`) has the value of its newest observation. Any other relation has every
value that was not denied. An observation never replaces one of higher trust, and an unsure one
(`core.records.facts.is_sure`) never replaces or ends a sure one.

A plan takes effect on its date, unless it was cancelled or got another date before. A plan without
a date is upcoming until a fact says that it happened. A relation whose value is a date, such as
DUE_ON, has the date that was stated last, also if that date lies ahead.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, time, timedelta
from enum import StrEnum

from ...core.derive import normalize_name
from ...core.json_codec import fast_constructor
from ...core.records import Fact, Memory, MemoryKind, Metadata
from ...core.records.facts import is_sure
from ...text.predicates import (
    DATED,
    LASTING,
    LISTED_TOGETHER,
    PLANS,
    REPEATED,
    SHARED_HOME,
    SINGLE_VALUED,
    WE,
    denies_value,
    find_ended,
    has_no_value,
    is_contrary,
    is_end,
    is_single_valued,
    normalize_aspect,
    normalize_fact_value,
    parse_day,
    predicates_about,
)

OWN_STATEMENT_PERIOD = timedelta(
    days=1
)  # for this long a person's own statement outranks statements by others


LATE_NEWS_PERIOD = timedelta(days=366)  # an end that lies further back belongs to an earlier time
MOMENT = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Observation:
    """A memory of kind fact, prepared for comparison."""

    memory: Memory
    fact: Fact
    aspect: str
    value: str  # normalized for comparison
    is_exclusive: bool  # replaces the value before
    is_denial: bool  # states that the value does not hold, or no longer
    is_past: bool  # states that the value held in the past
    is_planned: bool  # states that the value will hold, or end, without a date
    is_only_plan: bool  # a plan for this relation: MOVING_TO in the timeline of LIVES_IN
    starts_at: datetime
    ends_at: datetime | None
    trust: int
    is_sure: bool  # may be shown as true
    reconcile_marks: Metadata  # metadata set by reconciliation; empty for explicit facts

    @classmethod
    def from_memory(
        cls, memory: Memory, target_predicate: str | None = None, *, at: datetime | None = None
    ) -> Observation:
        """Build an observation from a fact, as sure as it is at the time `at` (None: when said).

        `target_predicate` is the relation of the timeline if the fact uses a related predicate.
        """
        fact = _new_fact(**memory.body)
        predicate = fact.predicate.upper()
        relation = target_predicate or predicate
        lasting, dated = predicate in LASTING, predicate in DATED
        marks = memory.metadata if memory.learned else {}
        is_only_plan = predicate in PLANS and relation != predicate
        starts_at, is_planned = _start_of(memory, fact, is_only_plan)
        return _new_observation(
            memory=memory,
            fact=fact,
            aspect=normalize_aspect(fact),
            value=normalize_fact_value(fact),
            is_exclusive=is_single_valued(
                fact if relation == predicate else replace(fact, predicate=relation)
            ),
            is_denial=fact.negated != is_contrary(predicate, relation),
            is_past=fact.tense == "past" and not lasting and not _has_passed(memory, fact),
            is_planned=is_planned,
            is_only_plan=is_only_plan,
            starts_at=starts_at,
            ends_at=None if lasting or dated else memory.valid_to,
            trust=marks.get("accepted", memory.trust),  # a person may have accepted it
            is_sure=is_sure(memory, at or memory.at),
            reconcile_marks=marks,
        )

    @property
    def is_own_statement(self) -> bool:
        """True if the speaker is the subject of the fact, alone or as one of "we"."""
        if self.memory.role != "user" or self.memory.speaker is None:
            return False
        return normalize_name(self.fact.subject) in (normalize_name(self.memory.speaker), WE)

    @property
    def is_known_later(self) -> bool:
        """True if the fact states a date that nobody knew before the statement."""
        predicate = self.fact.predicate.upper()
        return predicate in DATED and predicate not in LASTING

    def is_listed_with(self, other: Observation) -> bool:
        """Return whether one message lists both values, such as two phone numbers."""
        return (
            self.fact.predicate.upper() in LISTED_TOGETHER
            and self.memory.sources == other.memory.sources
            and self.starts_at == other.starts_at
        )

    def is_weaker_claim(self, other: Observation) -> bool:
        """Return whether the other observation is a recent own statement and this one is not."""
        is_recent = abs(self.memory.at - other.memory.at) < OWN_STATEMENT_PERIOD
        return is_recent and other.is_own_statement and not self.is_own_statement

    def can_end(self, other: Observation) -> bool:
        """Return whether this observation may replace, end or correct the other one."""
        return self.trust >= other.trust and (self.is_sure or not other.is_sure)

    @property
    def sort_key(self) -> tuple[datetime, datetime, str]:
        """Orders observations by the time they take effect; past ones by their end."""
        effective_at = self.ends_at or self.memory.at if self.is_past else self.starts_at
        return effective_at, self.memory.recorded_at, self.memory.id

    def has_ended(self, at: datetime) -> bool:
        """Return whether the validity ends at or before `at`."""
        return self.ends_at is not None and self.ends_at <= at

    def as_of(self, at: datetime) -> Observation:
        """Return the observation as seen at `at`: a past interval that contains `at` is current."""
        has_begun = self.memory.valid_from is not None and self.starts_at <= at
        is_inside = (
            self.is_past and has_begun and self.ends_at is not None and not self.has_ended(at)
        )
        return replace(self, is_past=False) if is_inside else self

    def is_current_alone(self, at: datetime) -> bool:
        """Return whether the value holds if there is no other observation."""
        is_special = self.is_denial or self.is_past or self.is_planned or self.ends_at is not None
        return (
            not is_special
            and self.starts_at <= at
            and not self.is_correction
            and not self.is_held_back
        )

    @property
    def supersedes(self) -> frozenset[str]:
        return frozenset(self.reconcile_marks.get("supersedes", ()))

    @property
    def is_correction(self) -> bool:
        return bool(self.reconcile_marks.get("corrects"))

    @property
    def is_held_back(self) -> bool:
        return bool(self.reconcile_marks.get("held_back"))


def _start_of(memory: Memory, fact: Fact, is_only_plan: bool) -> tuple[datetime, bool]:
    """Return when a fact takes effect, and whether it is a plan without a date."""
    predicate, is_future = fact.predicate.upper(), fact.tense == "future"
    if predicate in REPEATED:
        return (memory.valid_from or memory.at) if is_future else memory.at, (
            is_future and memory.valid_from is None
        )
    if predicate in DATED and not is_only_plan:
        return memory.at, False
    day = _day_of(memory, fact) if predicate in DATED else memory.valid_from
    is_plan = is_future or (predicate in PLANS and fact.tense != "past")
    if is_only_plan and day is not None:
        return max(day, memory.at), False
    return day or memory.at, is_plan and day is None


def _day_of(memory: Memory, fact: Fact) -> datetime | None:
    """Return the date that a dated fact states."""
    if memory.valid_from is not None:
        return memory.valid_from
    day = parse_day(fact)
    return datetime.combine(day, time(), UTC) if day else None


def _has_passed(memory: Memory, fact: Fact) -> bool:
    """Return whether a dated fact in the past tense names a day before the statement.

    "The party was on Friday" keeps the date. "The party next Friday is cancelled" ends it.
    """
    if fact.predicate.upper() not in DATED - REPEATED:
        return False
    has_ended = memory.valid_to is not None and memory.valid_from is None
    day = _day_of(memory, fact)
    return not has_ended and day is not None and day <= memory.at


_new_fact, _new_observation = fast_constructor(Fact), fast_constructor(Observation)


@dataclass(frozen=True, slots=True, kw_only=True)
class EndedFact:
    """A fact that no longer holds, its end, and the memory that ended it."""

    memory: Memory
    ended_at: datetime | None  # None: unknown
    ended_by: Memory


@dataclass(slots=True)
class HeldValue:
    """A current value: its newest observation, and since when it holds."""

    newest: Observation
    since: datetime


@dataclass(slots=True)
class FactHistory:
    """The values of one aspect at the time `at`, after replaying its observations."""

    at: datetime
    current: dict[str, HeldValue] = field(default_factory=dict)
    past: dict[str, tuple[Observation, EndedFact]] = field(default_factory=dict)
    upcoming: dict[str, Observation] = field(default_factory=dict)
    held_back: list[Observation] = field(default_factory=list)  # by a contradiction
    has_end_dates: bool = False  # whether any observation has an end

    def replay_observations(self, observations: Sequence[Observation]) -> FactHistory:
        """Apply all observations in the order they take effect; return self."""
        observations = _order_late_news([each.as_of(self.at) for each in observations])
        ignored = {
            id
            for each in observations
            if each.is_correction
            for id in _find_superseded(each, observations)
        }
        ignored |= _find_cancelled_plans(observations)
        self.has_end_dates = any(each.ends_at is not None for each in observations)
        valid = sorted(
            (each for each in observations if each.memory.id not in ignored),
            key=lambda each: each.sort_key,
        )
        for each in valid:
            self._apply_observation(each, observations)
        self._expire_values(self.at)
        for each in valid if self.current else ():
            self._apply_late_end(each)
        if not self.current:
            for each in self.held_back:
                if each.is_exclusive and not each.has_ended(self.at):
                    self.current = {each.value: HeldValue(each, each.starts_at)}
        return self

    def _apply_observation(
        self, observation: Observation, observations: Sequence[Observation]
    ) -> None:
        if observation.is_denial:
            if (
                observation.starts_at <= self.at
                and not (observation.is_past or observation.is_planned)
                and not observation.is_held_back
            ):
                self._apply_denial(observation)
        elif observation.is_past:
            # Otherwise the observation is not yet in the past at this time.
            if observation.memory.at <= self.at or observation.has_ended(self.at):
                self._apply_past(observation)
        elif observation.is_known_later and observation.memory.at > self.at:
            return
        elif observation.is_held_back:
            self.held_back += [observation] if observation.starts_at <= self.at else []
        elif observation.is_planned or observation.starts_at > self.at:
            self.upcoming[observation.value] = observation
        else:
            self._expire_values(observation.starts_at)
            superseded = _find_superseded(observation, observations)
            for other in observations if superseded else ():
                if other.memory.id in superseded and other.value != observation.value:
                    self._end_value(other.value, observation.starts_at, observation)
            self._apply_current(observation)

    def _apply_current(self, observation: Observation) -> None:
        others = self.current.items() if observation.is_exclusive else ()
        rivals = [
            held
            for value, held in others
            if value != observation.value and not observation.is_listed_with(held.newest)
        ]
        if any(
            not observation.can_end(held.newest) or observation.is_weaker_claim(held.newest)
            for held in rivals
        ):
            return
        for held in rivals:
            self._end_value(held.newest.value, observation.starts_at, observation)
        same_value = self.current.get(observation.value)
        if same_value is None:
            self.current[observation.value] = HeldValue(observation, observation.starts_at)
        elif observation.can_end(same_value.newest):
            same_value.newest = observation
        self.upcoming.pop(observation.value, None)

    def _apply_past(self, observation: Observation) -> None:
        if observation.is_only_plan:
            return  # a cancelled plan never held
        value = observation.value
        ended = value if value in self.current else find_ended(observation.fact, self.current)
        if ended is not None:
            self._end_value(ended, observation.ends_at or observation.memory.at, observation)
        elif value not in self.past and not has_no_value(observation.fact):
            end = EndedFact(
                memory=observation.memory, ended_at=observation.ends_at, ended_by=observation.memory
            )
            self.past[value] = (observation, end)

    def _apply_denial(self, observation: Observation) -> None:
        denied = [value for value in self.current if denies_value(observation.fact, value)]
        if not denied and is_end(observation.fact):
            ended = find_ended(observation.fact, self.current)
            denied = [ended] if ended is not None else []
        for value in denied:
            if not observation.is_weaker_claim(self.current[value].newest):
                self._end_value(value, observation.starts_at, observation)

    def _apply_late_end(self, observation: Observation) -> None:
        """End a value that was stated after its end, by somebody who did not know of the end.

        "She left in April", said in May, ends "she works there", said on the second of April.
        """
        is_end = observation.is_past or (observation.is_denial and not observation.is_planned)
        said_at, effective_at = observation.memory.at, observation.sort_key[0]
        is_dated = effective_at < said_at <= self.at
        if not is_end or not is_dated or observation.is_only_plan or observation.is_held_back:
            return
        if observation.is_past and (observation.is_denial or observation.memory.valid_from):
            return  # a period of the past, which says nothing about the time after it
        stated = {
            value
            for value, held in self.current.items()
            if held.newest.memory.valid_from is None
            and effective_at <= held.newest.starts_at < said_at
            and held.newest.starts_at - effective_at < LATE_NEWS_PERIOD
            and not observation.is_weaker_claim(held.newest)
        }
        ended = observation.value if observation.value in stated else None
        ended = ended or find_ended(observation.fact, stated)
        if ended is not None:
            self._end_value(ended, said_at, observation)

    def _end_value(self, value: str, at: datetime, by: Observation) -> None:
        held = self.current.get(value)
        if held is not None and by.can_end(held.newest):
            del self.current[value]
            end = EndedFact(memory=held.newest.memory, ended_at=at, ended_by=by.memory)
            self.past[value] = (held.newest, end)

    def _expire_values(self, at: datetime) -> None:
        """End the values with an end at or before `at`."""
        if not self.has_end_dates:
            return
        for value, held in list(self.current.items()):
            if held.newest.ends_at is not None and held.newest.has_ended(at):
                self._end_value(value, held.newest.ends_at, held.newest)

    def past_values(self) -> Iterator[tuple[Observation, EndedFact]]:
        """Yield the past values that are not current again."""
        return ((each, end) for each, end in self.past.values() if each.value not in self.current)


def _order_late_news(observations: list[Observation]) -> list[Observation]:
    """Move statements without a date before a change that was reported later.

    "She has been at Postnord since the 5th", said on the 12th, replaces "she works at Velmora",
    said on the 8th.
    """
    changes = [
        each
        for each in observations
        if each.is_exclusive
        and each.memory.valid_from is not None
        and each.starts_at < each.memory.at
        and each.fact.tense == "current"
        and not (each.is_denial or each.is_planned or each.is_held_back)
    ]
    return [_move_before(each, changes) for each in observations] if changes else observations


def _move_before(observation: Observation, changes: Sequence[Observation]) -> Observation:
    if observation.is_denial or observation.is_past or observation.is_planned:
        return observation
    later = [
        change.starts_at
        for change in changes
        if observation.memory.valid_from is None
        and change.value != observation.value
        and change.starts_at <= observation.starts_at < change.memory.at
        and change.can_end(observation)
        and not change.is_weaker_claim(observation)
    ]
    return replace(observation, starts_at=min(later) - MOMENT) if later else observation


def _find_cancelled_plans(observations: Sequence[Observation]) -> set[str]:
    """Return the ids of plans that were cancelled or replaced before they took effect."""
    plans = [
        each
        for each in observations
        if (each.is_planned or each.starts_at > each.memory.at) and not each.is_past
    ]
    if not plans:
        return set()
    return {
        plan.memory.id
        for plan in plans
        for other in observations
        if other.memory.at > plan.memory.at
        and (plan.is_planned or other.memory.at < plan.starts_at)
        and other.can_end(plan)
        and not other.is_held_back
        and (
            plan.memory.id in other.supersedes
            or _is_denied_plan(plan, other)
            or _is_ended_plan(plan, other)
            or _is_replaced_plan(plan, other)
        )
    }


def _is_denied_plan(plan: Observation, other: Observation) -> bool:
    """Return whether a denial applies to a plan, and not only to the time after it began."""
    if not other.is_denial or other.is_past or not denies_value(other.fact, plan.value):
        return False
    if plan.is_denial:  # an end that was announced gets another date
        return not other.is_planned
    has_date = other.starts_at > other.memory.at
    return not has_date or (not plan.is_planned and other.starts_at <= plan.starts_at)


def _is_ended_plan(plan: Observation, other: Observation) -> bool:
    """Return whether a statement in the past tense cancels a plan: "Izmir is off"."""
    if plan.is_denial or other.is_denial or not other.is_past:
        return False
    is_older = other.ends_at is not None and other.ends_at <= plan.memory.at
    is_same = other.fact.predicate.upper() == plan.fact.predicate.upper()
    return is_same and not is_older and find_ended(other.fact, [plan.value]) is not None


def _is_replaced_plan(plan: Observation, other: Observation) -> bool:
    """Return whether a newer plan moves the date of a plan, or replaces a plan for that time."""
    if plan.is_denial or other.is_denial or other.is_past:
        return False
    if other.fact.predicate.upper() != plan.fact.predicate.upper():
        return False
    if plan.fact.predicate.upper() in DATED:
        return plan.is_exclusive and other.value != plan.value
    has_date = other.memory.valid_from is not None
    if other.value == plan.value:
        return has_date and other.starts_at != plan.starts_at
    is_same_time = (
        other.is_planned
        if plan.is_planned
        else other.starts_at == plan.starts_at and not other.is_planned
    )
    return plan.is_exclusive and is_same_time


def _find_superseded(observation: Observation, observations: Sequence[Observation]) -> set[str]:
    """Return the ids that this observation supersedes; never those of higher trust or sure ones
    if it is unsure itself.
    """
    ids = observation.supersedes
    if not ids:
        return set()
    replaceable = (other for other in observations if observation.can_end(other))
    return {other.memory.id for other in replaceable if other.memory.id in ids}


class FactStatus(StrEnum):
    """Status of a fact at a time: it holds, held before, or will hold later."""

    CURRENT = "current"
    PAST = "past"
    FUTURE = "future"


# From specification 004.
STATUS_BOOST = {FactStatus.CURRENT: 1.2, FactStatus.PAST: 0.7, FactStatus.FUTURE: 1.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class FactTimeline:
    """The values of one relation of a subject, at one time."""

    now: Memory | None  # the newest current fact
    since: datetime | None  # when its value was first observed
    before: tuple[Memory, ...]  # past values, newest first, each value once
    upcoming: tuple[Memory, ...]  # values that will hold later
    observations: tuple[Memory, ...]  # all facts of this timeline, newest first
    current: tuple[Memory, ...] = ()  # all current values, newest first, each value once
    past: tuple[EndedFact, ...] = ()  # for each of `before`: its end and the fact that ended it
    unsure: tuple[Memory, ...] = ()  # the observations that are not sure, newest first


def build_timeline(
    facts: Iterable[Memory],
    at: datetime,
    predicate: str | None = None,
    *,
    as_of: datetime | None = None,
) -> FactTimeline:
    """Compute the timeline of one subject and relation at the time `at`.

    `predicate` is the relation of the timeline if some facts use a related predicate. Only facts
    recorded by `as_of` (default: `at`) are used.
    """
    known = [each for each in facts if each.recorded_at <= (at if as_of is None else as_of)]
    observations = _parse_observations(known, at, predicate)
    newest_first = sorted(observations, key=lambda each: each.sort_key, reverse=True)
    histories = _build_histories(observations, at).values()
    held = _sort_held_values(histories)
    past = [each for history in histories for each in history.past_values()]
    past.sort(key=lambda pair: pair[0].sort_key, reverse=True)
    upcoming = [each for history in histories for each in history.upcoming.values()]
    return FactTimeline(
        now=held[0].newest.memory if held else None,
        since=held[0].since if held else None,
        before=tuple(each.memory for each, _ in past),
        upcoming=tuple(each.memory for each in sorted(upcoming, key=lambda each: each.sort_key)),
        observations=tuple(each.memory for each in newest_first),
        current=tuple(each.newest.memory for each in held),
        past=tuple(end for _, end in past),
        unsure=tuple(each.memory for each in newest_first if not each.is_sure),
    )


def current_values(facts: Iterable[Memory], at: datetime, predicate: str) -> list[HeldValue]:
    """Return the current values that may be shown as true, newest first.

    These are the sure ones of `FactTimeline.current`.
    """
    known = (each for each in facts if each.recorded_at <= at)
    observations = [each for each in _parse_observations(known, at, predicate) if each.is_sure]
    if len(observations) == 1 and observations[0].is_current_alone(at):  # the common case
        return [HeldValue(observations[0], observations[0].starts_at)]
    return _sort_held_values(_build_histories(observations, at).values())


def facts_about(
    facts: Iterable[Memory], names: str | Iterable[str], predicate: str
) -> list[Memory]:
    """Return the facts about a subject with this predicate or a related one.

    The subject may have several names; they are compared normalized. What a person says about "we"
    counts for that person. If the relation has one value, a fact about the person comes first.
    """
    wanted = {normalize_name(name) for name in ([names] if isinstance(names, str) else names)}
    relations = set(predicates_about(predicate))
    related = [
        memory
        for memory in facts
        if memory.kind is MemoryKind.FACT and memory.body["predicate"].upper() in relations
    ]
    own = [each for each in related if normalize_name(each.body["subject"]) in wanted]
    shared = [each for each in related if WE not in wanted and is_said_for(each, wanted)]
    return own + (shared if may_share(predicate, own) else [])


def is_said_for(memory: Memory, names: Container[str]) -> bool:
    """Return whether one of these people states the fact about "we"."""
    speaker = memory.speaker if memory.role == "user" else None
    is_we = normalize_name(memory.body["subject"]) == WE
    return is_we and speaker is not None and normalize_name(speaker) in names


def may_share(predicate: str, own: Sequence[Memory]) -> bool:
    """Return whether facts about "we" count for a person with these facts of the relation."""
    name = predicate.upper()
    return not own or name in SHARED_HOME or name not in SINGLE_VALUED


def fact_statuses(
    facts: Sequence[Memory], at: datetime, *, only: Container[str] | None = None
) -> dict[str, FactStatus]:
    """Return the status of each fact at the time `at`, by memory id.

    With `only`, relations without a fact of these ids are left out.
    """
    groups: defaultdict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in facts:
        if memory.kind is MemoryKind.FACT:
            subject, predicate = memory.body["subject"], memory.body["predicate"]
            groups[normalize_name(subject), predicate.upper()].append(memory)
    statuses: dict[str, FactStatus] = {}
    for (subject, predicate), own in groups.items():
        if only is not None and not any(memory.id in only for memory in own):
            continue
        others = [groups.get((subject, other), ()) for other in predicates_about(predicate)[1:]]
        related = [memory for other in others for memory in other]
        row = {
            memory.id: Observation.from_memory(memory, predicate, at=at)
            for memory in (*own, *related)
        }
        histories = _build_histories(row.values(), at)
        statuses |= {memory.id: _fact_status(row[memory.id], histories, at) for memory in own}
    return statuses


@dataclass(frozen=True, slots=True)
class FactEnd:
    """When a stated value ceased to hold, and the fact that ended or replaced it."""

    at: datetime
    by: Memory
    is_correction: bool = False  # the value never held


def find_fact_ends(
    facts: Iterable[Memory], ids: Container[str], at: datetime, predicate: str
) -> dict[str, FactEnd | None]:
    """Return the ends of those facts with an id in `ids`; None for a value that holds or will hold.

    `facts` are all those of one timeline. Facts that are unsure, held back, denials or about the
    past state no current value and are left out, as are values without a known end.
    """
    observations = [each for each in _parse_observations(facts, at, predicate) if each.is_sure]
    histories = _build_histories(observations, at)
    ends: dict[str, FactEnd | None] = {}
    for each in observations:
        if each.memory.id not in ids or each.is_denial or each.is_past or each.is_held_back:
            continue
        history = histories[each.aspect]
        if each.value in history.current or each.value in history.upcoming:
            ends[each.memory.id] = None
        elif end := _find_end(each, history, observations):
            ends[each.memory.id] = end
    return ends


def _find_end(
    observation: Observation, history: FactHistory, observations: Iterable[Observation]
) -> FactEnd | None:
    """Return the end of a value that no longer holds, or of a plan that was replaced."""
    if known := history.past.get(observation.value):
        end = known[1]
        if end.ended_at is not None or end.ended_by.id != end.memory.id:
            return FactEnd(end.ended_at or end.ended_by.at, end.ended_by)
        return None
    later = [
        other
        for other in observations
        if other.aspect == observation.aspect
        and other.memory.at > observation.memory.at
        and (other.value != observation.value or other.is_denial or other.is_past)
        and other.can_end(observation)
        and not other.is_held_back
    ]
    if not later:
        return None
    by = min(later, key=lambda other: (other.memory.at, other.memory.id))
    is_correction = by.is_correction and observation.memory.id in by.supersedes
    return FactEnd(by.memory.at, by.memory, is_correction)


def _parse_observations(
    facts: Iterable[Memory], at: datetime, predicate: str | None
) -> list[Observation]:
    target = predicate.upper() if predicate else None
    return [Observation.from_memory(memory, target, at=at) for memory in facts]


def _sort_held_values(histories: Iterable[FactHistory]) -> list[HeldValue]:
    """Return the current values, newest first, each value once."""
    values = [held for history in histories for held in history.current.values()]
    if len(values) > 1:
        values.sort(key=lambda held: held.newest.sort_key, reverse=True)
    return values


def _build_histories(observations: Iterable[Observation], at: datetime) -> dict[str, FactHistory]:
    """Return one history per aspect: a favourite color does not replace a favourite food."""
    rows: defaultdict[str, list[Observation]] = defaultdict(list)
    for each in observations:
        rows[each.aspect].append(each)
    return {aspect: FactHistory(at).replay_observations(row) for aspect, row in rows.items()}


def _fact_status(
    observation: Observation, histories: Mapping[str, FactHistory], at: datetime
) -> FactStatus:
    history = histories[observation.aspect]
    if observation.is_past:
        return FactStatus.PAST
    if observation.value in history.upcoming and (
        observation.is_planned or observation.starts_at > at
    ):
        return FactStatus.FUTURE
    is_current = observation.value in history.current
    if observation.is_denial and is_current:
        has_begun = observation.starts_at <= at and not observation.is_planned
        return FactStatus.PAST if has_begun else FactStatus.FUTURE
    return FactStatus.CURRENT if is_current != observation.is_denial else FactStatus.PAST
