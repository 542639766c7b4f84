"""Fact timelines: current, past and upcoming values, computed from observations.

Observations are never overwritten, so the current value is computed at read time. A single-valued
relation (`text.predicates`) has the value of its newest observation. Any other relation has every
value that was not denied. An observation never replaces one of higher trust.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from enum import StrEnum

from ...core.derive import normalize_name
from ...core.json_codec import fast_constructor
from ...core.records import Fact, Memory, MemoryKind, Metadata
from ...text.predicates import (
    DATED,
    LASTING,
    denies_value,
    is_contrary,
    is_single_valued,
    normalize_aspect,
    normalize_fact_value,
    predicates_about,
)

OWN_STATEMENT_PERIOD = timedelta(
    days=1
)  # for this long a person's own statement outranks statements by others


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
    is_planned: bool  # states that the value will hold, without a date
    starts_at: datetime
    ends_at: datetime | None
    trust: int
    reconcile_marks: Metadata  # metadata set by reconciliation; empty for explicit facts

    @classmethod
    def from_memory(cls, memory: Memory, target_predicate: str | None = None) -> Observation:
        """Build an observation from a fact.

        `target_predicate` is the relation of the timeline if the fact uses a related predicate.
        """
        fact = _new_fact(**memory.body)
        predicate = fact.predicate.upper()
        relation = target_predicate or predicate
        lasting, dated = predicate in LASTING, predicate in DATED
        marks = memory.metadata if memory.learned else {}
        return _new_observation(
            memory=memory,
            fact=fact,
            aspect=normalize_aspect(fact),
            value=normalize_fact_value(fact),
            is_exclusive=is_single_valued(
                fact if relation == predicate else replace(fact, predicate=relation)
            ),
            is_denial=fact.negated != is_contrary(predicate, relation),
            is_past=fact.tense == "past" and not lasting,
            is_planned=fact.tense == "future" and (memory.valid_from is None or dated),
            starts_at=memory.at if dated else memory.valid_from or memory.at,
            ends_at=None if lasting or dated else memory.valid_to,
            trust=marks.get("accepted", memory.trust),  # a person may have accepted it
            reconcile_marks=marks,
        )

    @property
    def is_own_statement(self) -> bool:
        """True if the speaker is the subject of the fact."""
        memory = self.memory
        has_speaker = memory.role == "user" and memory.speaker is not None
        return has_speaker and normalize_name(memory.speaker or "") == normalize_name(
            self.fact.subject
        )

    def is_weaker_claim(self, other: Observation) -> bool:
        """Return whether the other observation is a recent own statement and this one is not."""
        is_recent = abs(self.memory.at - other.memory.at) < OWN_STATEMENT_PERIOD
        return is_recent and other.is_own_statement and not self.is_own_statement

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
        observations = [each.as_of(self.at) for each in observations]
        ignored = {
            id
            for each in observations
            if each.is_correction
            for id in _find_superseded(each, observations)
        }
        ignored |= _find_cancelled_plans(observations)
        self.has_end_dates = any(each.ends_at is not None for each in observations)
        for each in sorted(observations, key=lambda each: each.sort_key):
            if each.memory.id not in ignored:
                self._apply_observation(each, observations)
        self._expire_values(self.at)
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
                and not observation.is_past
                and not observation.is_held_back
            ):
                self._apply_denial(observation)
        elif observation.is_past:
            # Otherwise the observation is not yet in the past at this time.
            if observation.memory.at <= self.at or observation.has_ended(self.at):
                self._apply_past(observation)
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
        rivals = [held for value, held in others if value != observation.value]
        if any(
            held.newest.trust > observation.trust or observation.is_weaker_claim(held.newest)
            for held in rivals
        ):
            return
        for held in rivals:
            self._end_value(held.newest.value, observation.starts_at, observation)
        same_value = self.current.get(observation.value)
        if same_value is None:
            self.current[observation.value] = HeldValue(observation, observation.starts_at)
        elif observation.trust >= same_value.newest.trust:
            same_value.newest = observation
        self.upcoming.pop(observation.value, None)

    def _apply_past(self, observation: Observation) -> None:
        if observation.value in self.current:
            self._end_value(
                observation.value, observation.ends_at or observation.memory.at, observation
            )
        elif observation.value not in self.past:
            end = EndedFact(
                memory=observation.memory, ended_at=observation.ends_at, ended_by=observation.memory
            )
            self.past[observation.value] = (observation, end)

    def _apply_denial(self, observation: Observation) -> None:
        denied = [value for value in self.current if denies_value(observation.fact, value)]
        for value in denied:
            if not observation.is_weaker_claim(self.current[value].newest):
                self._end_value(value, observation.starts_at, observation)

    def _end_value(self, value: str, at: datetime, by: Observation) -> None:
        held = self.current.get(value)
        if held is not None and held.newest.trust <= by.trust:
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


def _find_cancelled_plans(observations: Sequence[Observation]) -> set[str]:
    """Return the ids of plans that were denied or superseded before they took effect."""
    plans = [each for each in observations if each.is_planned or each.starts_at > each.memory.at]
    if not plans:
        return set()
    return {
        plan.memory.id
        for plan in plans
        for other in observations
        if other.memory.at > plan.memory.at
        and (plan.is_planned or other.memory.at < plan.starts_at)
        and other.trust >= plan.trust
        and not other.is_held_back
        and (
            plan.memory.id in other.supersedes
            or (other.is_denial and not other.is_past and denies_value(other.fact, plan.value))
        )
    }


def _find_superseded(observation: Observation, observations: Sequence[Observation]) -> set[str]:
    """Return the ids that this observation supersedes; never those of higher trust."""
    ids = observation.supersedes
    if not ids:
        return set()
    replaceable = (other for other in observations if other.trust <= observation.trust)
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
    observations = _parse_observations(facts, at if as_of is None else as_of, predicate)
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
        observations=tuple(
            each.memory
            for each in sorted(observations, key=lambda each: each.sort_key, reverse=True)
        ),
        current=tuple(each.newest.memory for each in held),
        past=tuple(end for _, end in past),
    )


def current_values(facts: Iterable[Memory], at: datetime, predicate: str) -> list[HeldValue]:
    """Return only the current values of `build_timeline`, newest first; this is faster."""
    observations = _parse_observations(facts, at, predicate)
    if len(observations) == 1 and observations[0].is_current_alone(at):  # the common case
        return [HeldValue(observations[0], observations[0].starts_at)]
    return _sort_held_values(_build_histories(observations, at).values())


def facts_about(
    facts: Iterable[Memory], names: str | Iterable[str], predicate: str
) -> list[Memory]:
    """Return the facts about a subject with this predicate or a related one.

    The subject may have several names; they are compared normalized.
    """
    wanted = {normalize_name(name) for name in ([names] if isinstance(names, str) else names)}
    relations = set(predicates_about(predicate))
    return [
        memory
        for memory in facts
        if memory.kind is MemoryKind.FACT
        and memory.body["predicate"].upper() in relations
        and normalize_name(memory.body["subject"]) in wanted
    ]


def fact_statuses(facts: Sequence[Memory], at: datetime) -> dict[str, FactStatus]:
    """Return the status of each fact at the time `at`, by memory id."""
    groups: defaultdict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in facts:
        if memory.kind is MemoryKind.FACT:
            subject, predicate = memory.body["subject"], memory.body["predicate"]
            groups[normalize_name(subject), predicate.upper()].append(memory)
    statuses: dict[str, FactStatus] = {}
    for (subject, predicate), own in groups.items():
        others = [groups.get((subject, other), ()) for other in predicates_about(predicate)[1:]]
        related = [memory for other in others for memory in other]
        row = {memory.id: Observation.from_memory(memory, predicate) for memory in (*own, *related)}
        histories = _build_histories(row.values(), at)
        statuses |= {memory.id: _fact_status(row[memory.id], histories, at) for memory in own}
    return statuses


def _parse_observations(
    facts: Iterable[Memory], as_of: datetime, predicate: str | None
) -> list[Observation]:
    target = predicate.upper() if predicate else None
    return [
        Observation.from_memory(memory, target) for memory in facts if memory.recorded_at <= as_of
    ]


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
    return FactStatus.CURRENT if is_current != observation.is_denial else FactStatus.PAST
