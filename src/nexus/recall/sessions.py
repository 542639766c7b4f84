"""Which conversation knows somebody best, and which one remembers what is no longer so.

A session is a `session:` scope, or a thread of another scope; where nobody named a thread, it is
a day. What it talked about stands in the labels of its turns. Everything is read inside the
grant: conversations that may not be seen are not counted, and change no score.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from ..core.access import Grant
from ..core.derive import known_as, names_in
from ..core.filters import Condition, Every, Filter, Op
from ..core.predicates import aspect_of, bearing_on, holds_one, value_of
from ..core.protocols import Store
from ..core.records import Event, Memory, MemoryKind
from ..core.scope import Kind, Scope
from .entities import names_of
from .graph import possible_names
from .interpret import Tense, about, interpret, tenses
from .observed import Ended

MOST_LABELS = 5_000
MOST_FACTS = 2_000
MORE = 10  # sessions beyond the limit that are looked at closely
MOST_SHOWN = 3  # labels given as evidence
HALF_LIFE = timedelta(days=30)  # so much earlier than the newest, a mention counts half
LEAST = 0.1  # what a mention counts, however old it is
OUTDATED = 0.4  # what knowledge that is no longer true is worth

Names = frozenset[str]  # the spellings one name is known by


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation: a whole scope, one thread of it, or a day on which no thread was named."""

    scope: Scope
    thread: str | None = None
    day: date | None = None

    def __str__(self) -> str:
        if self.thread is not None:
            return f"{self.scope}, thread {self.thread}"
        return str(self.scope) if self.day is None else f"{self.scope}, {self.day.isoformat()}"

    def holds(self, record: Memory | Event) -> bool:
        """Whether this was said in it."""
        if record.scope != self.scope:
            return False
        if self.thread is not None:
            return record.thread == self.thread
        return self.day is None or (record.thread is None and record.at.date() == self.day)

    @classmethod
    def of(cls, record: Memory | Event) -> Session:
        """The conversation something was said in."""
        if record.scope.kind is Kind.SESSION:
            return cls(scope=record.scope)
        if record.thread:
            return cls(scope=record.scope, thread=record.thread)
        return cls(scope=record.scope, day=record.at.date())


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionScore:
    """How well a conversation knows what was asked for."""

    session: Session
    score: float  # 0…1: how much of it, how often, how recently, and whether it is still true
    depths: Mapping[str, float]  # name → the same for each alone
    mentions: Mapping[str, int]  # name → in how many of its turns
    last_at: datetime  # when it last spoke of any of them
    stale: tuple[str, ...]  # those of which it knows something that is no longer so
    labels: tuple[Memory, ...]  # the newest turns about them


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """Something a conversation knew that is no longer so."""

    entity: str
    predicate: str
    knew: Memory  # the fact as the conversation knew it
    now: Memory | None  # the fact that holds instead, if one does
    by: Memory  # the observation that says so
    since: datetime  # when it ceased to be so
    learned_at: datetime  # when that was written down


def route(
    store: Store, grant: Grant, asked: str | Sequence[str], *, now: datetime, limit: int = 5
) -> list[SessionScore]:
    """The conversations that know these names best, best first.

    A question is searched for every name that may be in it.
    """
    with store.moment():
        spellings = _spellings(store, grant, list(_spoken(asked)))
        labels = _labels(store, grant, frozenset[str]().union(*spellings.values()))
        facts = _facts(store, grant, frozenset[str]().union(*spellings.values()))
    turns: defaultdict[Session, list[_Turn]] = defaultdict(list)
    spoken_of: set[str] = set()
    for label in labels:
        turn = _Turn(label, _entities(label))
        turns[Session.of(label)].append(turn)
        spoken_of |= turn.names
    known = {name: spelt for name, spelt in spellings.items() if spelt & spoken_of}
    scores = [_scored(session, said, known, labels[0].at) for session, said in turns.items()]
    changes = _Changes(facts, now)
    best = sorted(scores, key=_rank)[: limit + MORE]
    checked = [_checked(each, turns[each.session], known, changes) for each in best]
    return sorted(checked, key=_rank)[:limit]


def own_conversations(
    store: Store, everything: Grant, asked: str | Sequence[str], user: str
) -> frozenset[Scope]:
    """A user's own sessions and DMs that speak of these names, and their profile."""
    spoken = list(_spoken(asked))
    spelt = frozenset[str]().union(*_spellings(store, everything, spoken).values())
    found = {label.scope for label in _labels(store, everything, spelt)}
    return frozenset({Scope.user(user), *(scope for scope in found if scope.owner == user)})


def stale(store: Store, grant: Grant, session: Session, *, now: datetime) -> list[Stale]:
    """What this conversation knew, at its last event, that is no longer so; newest change first.

    It knew what was said in it. Of what else it talked about it knew what could be seen then.
    """
    with store.moment():
        last = _last_event(store, grant, session)
        if last is None:
            return []
        names = frozenset[str]().union(*map(_entities, _said_in(store, grant, session)))
        facts = _facts(store, grant, names)
    found = _Changes(facts, now).since(session, last.recorded_at)
    return sorted(found, key=lambda each: (each.learned_at, each.knew.id), reverse=True)


class _Turn(NamedTuple):
    label: Memory
    names: Names


def _scored(
    session: Session, turns: Sequence[_Turn], known: Mapping[str, Names], newest: datetime
) -> SessionScore:
    mentions: dict[str, int] = {}
    depths: dict[str, float] = {}
    for name, spelt in known.items():
        times = [turn.label.at for turn in turns if spelt & turn.names]
        depth = sum(max(LEAST, 0.5 ** ((newest - at) / HALF_LIFE)) for at in times)
        depths[name] = depth / (depth + 1)
        if times:
            mentions[name] = len(times)
    labels = sorted((turn.label for turn in turns), key=_newest)
    return SessionScore(
        session=session,
        score=round(sum(depths.values()) / len(known), 6),
        depths=depths,
        mentions=mentions,
        last_at=labels[0].at,
        stale=(),
        labels=tuple(labels[:MOST_SHOWN]),
    )


def _checked(
    found: SessionScore, turns: Sequence[_Turn], known: Mapping[str, Names], changes: _Changes
) -> SessionScore:
    """The same, less what is no longer so."""
    last = max(turn.label.recorded_at for turn in turns)
    outdated = {known_as(each.entity) for each in changes.since(found.session, last)}
    names = tuple(name for name in found.mentions if known[name] & outdated)
    depths = {name: found.depths[name] * (OUTDATED if name in names else 1) for name in known}
    return replace(
        found, score=round(sum(depths.values()) / len(known), 6), depths=depths, stale=names
    )


def _rank(each: SessionScore) -> tuple[float, float, str]:
    return -each.score, -each.last_at.timestamp(), str(each.session)


class _Known(NamedTuple):
    """A fact, and what it is compared by."""

    fact: Memory
    subject: str
    aspect: str
    value: str
    relations: tuple[str, ...]  # its own, and those that tell something about it

    @classmethod
    def of(cls, memory: Memory) -> _Known:
        fact = memory.fact
        relations = bearing_on(fact.predicate)
        return cls(memory, known_as(fact.subject), aspect_of(fact), value_of(fact), relations)

    @property
    def topics(self) -> set[tuple[str, str, str]]:
        return {(self.subject, self.aspect, relation) for relation in self.relations}


class _Changes:
    """What no longer holds of those of whom something changed."""

    def __init__(self, facts: Sequence[Memory], now: datetime) -> None:
        self.now = now
        self.today = tenses(facts, now)
        known = [_Known.of(fact) for fact in sorted(facts, key=_newest)]
        past = [each for each in known if self.today[each.fact.id] is Tense.PAST]
        changed = {topic for each in past for topic in each.topics}
        self.known = [each for each in known if changed & each.topics]

    def since(self, session: Session, last: datetime) -> list[Stale]:
        """What this conversation knew at its last event, each thing once."""
        own = [each for each in self.known if session.holds(each.fact)]
        told = {topic for each in own for topic in each.topics}
        later = {topic for each in self.known if self._bears(each, last) for topic in each.topics}
        seen = [
            each
            for each in self.known
            if each.fact.recorded_at <= last and later & each.topics and not told & each.topics
        ]
        then = tenses([each.fact for each in (*own, *seen)], last)
        found: dict[str, Stale] = {}
        for fact, *key in (*own, *seen):
            held = then[fact.id] is Tense.CURRENT and self.today[fact.id] is Tense.PAST
            if held and str(key) not in found:
                found[str(key)] = self._change(fact)
        return list(found.values())

    def _bears(self, each: _Known, last: datetime) -> bool:
        """Whether it may have changed something since."""
        fact = each.fact
        times = (fact.recorded_at, fact.valid_from, fact.valid_to)
        return any(at is not None and last < at <= self.now for at in times)

    def _change(self, fact: Memory) -> Stale:
        said = fact.fact
        facts = [each.fact for each in self.known]
        reading = interpret(about(facts, [said.subject], said.predicate), self.now, said.predicate)
        ends = (end for end in reading.ended if value_of(end.memory.fact) == value_of(said))
        end = next(ends, Ended(memory=fact, at=None, by=fact))
        alike = (each for each in reading.holding if aspect_of(each.fact) == aspect_of(said))
        since = end.at or fact.valid_to or end.by.at
        return Stale(
            entity=said.subject,
            predicate=said.predicate,
            knew=fact,
            now=next(alike, None) if holds_one(said) else None,
            by=end.by,
            since=since,
            learned_at=end.by.recorded_at if end.by.id != fact.id else since,
        )


def _newest(memory: Memory) -> tuple[float, str]:
    return -memory.at.timestamp(), memory.id


def _entities(label: Memory) -> Names:
    names = label.body.get("entities", ())
    return frozenset(known_as(name) for name in names if isinstance(name, str))


# -- reading


def _spoken(asked: str | Sequence[str]) -> Iterable[str]:
    """The names asked for; of a question, whatever may be one."""
    found = possible_names(asked) if isinstance(asked, str) else map(known_as, asked)
    return dict.fromkeys(found)


def _spellings(store: Store, grant: Grant, names: Sequence[str]) -> dict[str, Names]:
    """Each name with those it is also known by."""
    kinds = [MemoryKind.ENTITY]
    found = store.memories.named(grant, names, limit=MOST_FACTS, kinds=kinds) if names else []
    introduced = {each for memory in found for each in names_in(memory)}
    return {
        name: frozenset({name}) | (names_of(store, grant, name) if name in introduced else set())
        for name in names
    }


def _labels(store: Store, grant: Grant, names: Names) -> list[Memory]:
    """The turns that speak of any of these."""
    if not names:
        return []
    kinds = [MemoryKind.EPISODE]
    found = store.memories.named(grant, sorted(names), limit=MOST_LABELS, kinds=kinds)
    return [label for label in found if _is_turn(label)]


def _facts(store: Store, grant: Grant, names: Names) -> list[Memory]:
    """The facts that say something of any of these."""
    if not names:
        return []
    kinds = [MemoryKind.FACT]
    found = store.memories.named(grant, sorted(names), limit=MOST_FACTS, kinds=kinds)
    return [fact for fact in found if known_as(fact.body["subject"]) in names]


def _said_in(store: Store, grant: Grant, session: Session) -> Iterable[Memory]:
    kind = Condition("kind", Op.EQ, MemoryKind.EPISODE)
    where = Every((kind, *_where(session)))
    here = grant.within([session.scope])
    found = store.memories.find(here, where=where, limit=MOST_LABELS)
    return [label for label in found if _is_turn(label) and session.holds(label)]


def _last_event(store: Store, grant: Grant, session: Session) -> Event | None:
    since = until = None
    if session.day is not None:
        since = datetime.combine(session.day, time.min, UTC)
        until = since + timedelta(days=1)
    conditions = _where(session)
    where = Every(conditions) if conditions else None
    here = grant.within([session.scope])
    newest = store.ledger.find(here, where=where, since=since, until=until, limit=1)
    return newest[0] if newest else None


def _where(session: Session) -> tuple[Filter, ...]:
    if session.thread is None and session.day is None:
        return ()
    return (Condition("thread", Op.EQ, session.thread),)


def _is_turn(memory: Memory) -> bool:
    return memory.body.get("span") == "turn"
