"""One observation, as it bears on the relation that was asked for, and a row of them in time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from ..core.derive import known_as
from ..core.predicates import DATED, LASTING, aspect_of, contrary, denies, holds_one, value_of
from ..core.quick import quickly
from ..core.records import Fact, Memory, Metadata

NEAR = timedelta(days=1)  # for so long one's own word holds against what others say


@dataclass(frozen=True, slots=True)
class Observed:
    """What a memory of kind fact says about a relation."""

    memory: Memory
    fact: Fact
    aspect: str
    value: str  # as it is compared
    one: bool  # it takes the place of the value before
    denial: bool  # it says that something is not so, or no more
    past: bool  # it says that something was so once
    planned: bool  # it says that something will be so, some day
    begins: datetime
    ends: datetime | None
    trust: int
    marks: Metadata  # what reconciling found; nobody else's metadata says what holds

    @classmethod
    def of(cls, memory: Memory, asked: str | None = None) -> Observed:
        """`asked` is the relation in question, if the fact tells of it by another one."""
        fact = _Fact(**memory.body)
        predicate = fact.predicate.upper()
        relation = asked or predicate
        lasting, dated = predicate in LASTING, predicate in DATED
        marks = memory.metadata if memory.learned else {}
        return _Observed(
            memory=memory,
            fact=fact,
            aspect=aspect_of(fact),
            value=value_of(fact),
            one=holds_one(fact if relation == predicate else replace(fact, predicate=relation)),
            denial=fact.negated != contrary(predicate, relation),
            past=fact.tense == "past" and not lasting,
            planned=fact.tense == "future" and (memory.valid_from is None or dated),
            begins=memory.at if dated else memory.valid_from or memory.at,
            ends=None if lasting or dated else memory.valid_to,
            trust=marks.get("accepted", memory.trust),  # a person's word may have been given
            marks=marks,
        )

    @property
    def own(self) -> bool:
        """Whether somebody says it of themself."""
        memory = self.memory
        told = memory.role == "user" and memory.speaker is not None
        return told and known_as(memory.speaker or "") == known_as(self.fact.subject)

    def only_claims(self, other: Observed) -> bool:
        """Whether it says otherwise of somebody who has just spoken of themself."""
        near = abs(self.memory.at - other.memory.at) < NEAR
        return near and other.own and not self.own

    @property
    def order(self) -> tuple[datetime, datetime, str]:
        """By when it takes effect: what is over, when it ended."""
        effect = self.ends or self.memory.at if self.past else self.begins
        return effect, self.memory.recorded_at, self.memory.id

    def over(self, at: datetime) -> bool:
        return self.ends is not None and self.ends <= at

    def seen_from(self, at: datetime) -> Observed:
        """Itself; but what is said to have been so from one day to another is so in between."""
        began = self.memory.valid_from is not None and self.begins <= at
        lasts = self.past and began and self.ends is not None and not self.over(at)
        return replace(self, past=False) if lasts else self

    def holds_alone(self, at: datetime) -> bool:
        """Whether it holds, if nothing else was observed: it is of now, and without an end."""
        special = self.denial or self.past or self.planned or self.ends is not None
        return not special and self.begins <= at and not self.corrects and not self.held_back

    @property
    def supersedes(self) -> frozenset[str]:
        return frozenset(self.marks.get("supersedes", ()))

    @property
    def corrects(self) -> bool:
        return bool(self.marks.get("corrects"))

    @property
    def held_back(self) -> bool:
        return bool(self.marks.get("held_back"))


_Fact, _Observed = quickly(Fact), quickly(Observed)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """Something that held, until when, and the observation that says so."""

    memory: Memory
    at: datetime | None  # None: nobody said when
    by: Memory


@dataclass(slots=True)
class Standing:
    """A value that holds: its newest observation, and since when."""

    newest: Observed
    since: datetime


@dataclass(slots=True)
class Course:
    """How things of one aspect went, up to a moment: told observation after observation."""

    at: datetime
    holding: dict[str, Standing] = field(default_factory=dict)
    ended: dict[str, tuple[Observed, Ended]] = field(default_factory=dict)
    coming: dict[str, Observed] = field(default_factory=dict)
    waiting: list[Observed] = field(default_factory=list)  # held back by what they contradict
    timed: bool = False  # whether any of them is only for a time

    def run(self, row: Sequence[Observed]) -> Course:
        row = [each.seen_from(self.at) for each in row]
        never = {id for each in row if each.corrects for id in _below(each, row)}
        never |= _called_off(row)
        self.timed = any(each.ends is not None for each in row)
        for each in sorted(row, key=lambda each: each.order):
            if each.memory.id not in never:
                self._next(each, row)
        self._finish(self.at)
        if not self.holding:
            for each in self.waiting:
                if each.one and not each.over(self.at):
                    self.holding = {each.value: Standing(each, each.begins)}
        return self

    def _next(self, each: Observed, row: Sequence[Observed]) -> None:
        if each.denial:
            if each.begins <= self.at and not each.past and not each.held_back:
                self._deny(each)
        elif each.past:
            if each.memory.at <= self.at or each.over(self.at):  # else it is not past yet
                self._was(each)
        elif each.held_back:
            self.waiting += [each] if each.begins <= self.at else []
        elif each.planned or each.begins > self.at:
            self.coming[each.value] = each
        else:
            self._finish(each.begins)
            below = _below(each, row)
            for other in row if below else ():
                if other.memory.id in below and other.value != each.value:
                    self._end(other.value, each.begins, each)
            self._is(each)

    def _is(self, each: Observed) -> None:
        others = self.holding.items() if each.one else ()
        rivals = [held for value, held in others if value != each.value]
        if any(held.newest.trust > each.trust or each.only_claims(held.newest) for held in rivals):
            return
        for held in rivals:
            self._end(held.newest.value, each.begins, each)
        held_already = self.holding.get(each.value)
        if held_already is None:
            self.holding[each.value] = Standing(each, each.begins)
        elif each.trust >= held_already.newest.trust:
            held_already.newest = each
        self.coming.pop(each.value, None)

    def _was(self, each: Observed) -> None:
        if each.value in self.holding:
            self._end(each.value, each.ends or each.memory.at, each)
        elif each.value not in self.ended:
            end = Ended(memory=each.memory, at=each.ends, by=each.memory)
            self.ended[each.value] = (each, end)

    def _deny(self, each: Observed) -> None:
        denied = [value for value in self.holding if denies(each.fact, value)]
        for value in denied:
            if not each.only_claims(self.holding[value].newest):
                self._end(value, each.begins, each)

    def _end(self, value: str, at: datetime, by: Observed) -> None:
        held = self.holding.get(value)
        if held is not None and held.newest.trust <= by.trust:
            del self.holding[value]
            end = Ended(memory=held.newest.memory, at=at, by=by.memory)
            self.ended[value] = (held.newest, end)

    def _finish(self, at: datetime) -> None:
        """What was only for a time ends with it."""
        if not self.timed:
            return
        for value, held in list(self.holding.items()):
            if held.newest.ends is not None and held.newest.over(at):
                self._end(value, held.newest.ends, held.newest)

    def gone(self) -> Iterator[tuple[Observed, Ended]]:
        return ((each, end) for each, end in self.ended.values() if each.value not in self.holding)


def _called_off(row: Sequence[Observed]) -> set[str]:
    """Plans that were denied or replaced before their time came."""
    plans = [each for each in row if each.planned or each.begins > each.memory.at]
    if not plans:
        return set()
    return {
        plan.memory.id
        for plan in plans
        for other in row
        if other.memory.at > plan.memory.at
        and (plan.planned or other.memory.at < plan.begins)
        and other.trust >= plan.trust
        and not other.held_back
        and (
            plan.memory.id in other.supersedes
            or (other.denial and not other.past and denies(other.fact, plan.value))
        )
    }


def _below(each: Observed, row: Sequence[Observed]) -> set[str]:
    """What it supersedes: low trust never supersedes high trust."""
    ids = each.supersedes
    if not ids:
        return set()
    below = (other for other in row if other.trust <= each.trust)
    return {other.memory.id for other in below if other.memory.id in ids}
