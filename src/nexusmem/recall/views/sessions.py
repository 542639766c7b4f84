"""Session search: conversations that mention given names, and their outdated facts.

A session is a `session:` scope or a thread of another scope. Messages without a thread form one
session per day. The labels of turns list the names that a session mentions. All reads are inside
the grant: sessions outside it are not counted and do not influence scores.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from typing import NamedTuple

from ...core.access import Grant
from ...core.derive import names_in, normalize_name
from ...core.filters import And, Condition, Filter, Op
from ...core.flows import memory_scopes
from ...core.protocols.store import Store
from ...core.records import Event, Memory, MemoryKind
from ...core.records.memory import drop_copies
from ...core.scope import SESSION_KINDS, Scope
from ...text.predicates import (
    is_single_valued,
    normalize_aspect,
    normalize_fact_value,
    predicates_about,
)
from ..strategies.graph import possible_names
from .entities import find_spellings
from .fact_timeline import EndedFact, FactStatus, build_timeline, fact_statuses, facts_about

MAX_LABELS = 5_000
MAX_FACTS = 2_000
EXTRA_SESSIONS = 10  # sessions beyond the limit that are checked for outdated facts
MAX_EVIDENCE_LABELS = 3
HALF_LIFE = timedelta(days=30)  # a mention this much older than the newest counts half
MIN_MENTION_WEIGHT = 0.1  # weight of the oldest mentions
OUTDATED_WEIGHT = 0.4  # score factor of a name with outdated facts

NameSet = frozenset[str]  # spellings of one name


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A conversation: a scope, one of its threads, or a day of its messages without a thread."""

    scope: Scope
    thread: str | None = None
    day: date | None = None

    def __str__(self) -> str:
        if self.thread is not None:
            return f"{self.scope}, thread {self.thread}"
        return str(self.scope) if self.day is None else f"{self.scope}, {self.day.isoformat()}"

    def contains(self, record: Memory | Event) -> bool:
        """Return whether the record belongs to this session."""
        if record.scope != self.scope:
            return False
        if self.thread is not None:
            return record.thread == self.thread
        return self.day is None or (record.thread is None and record.at.date() == self.day)

    @classmethod
    def from_record(cls, record: Memory | Event) -> Session:
        """Return the session that a memory or event belongs to."""
        if record.scope.kind in SESSION_KINDS:
            return cls(scope=record.scope)
        if record.thread:
            return cls(scope=record.scope, thread=record.thread)
        return cls(scope=record.scope, day=record.at.date())


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionScore:
    """How well a session matches the searched names."""

    session: Session
    score: float  # 0 to 1: mean of the name scores
    name_scores: Mapping[str, float]  # name → 0 to 1, by frequency, recency and outdated facts
    mention_counts: Mapping[str, int]  # name → number of turns that mention it
    last_mention_at: datetime  # of any of the names
    outdated_names: tuple[str, ...]  # names with outdated facts in this session
    labels: tuple[Memory, ...]  # the newest turns that mention them


@dataclass(frozen=True, slots=True, kw_only=True)
class OutdatedFact:
    """A fact that was current at the end of a session and has changed since."""

    entity: str
    predicate: str
    old_fact: Memory  # the fact as of the session
    current_fact: Memory | None  # the fact that replaced it, if any
    changed_by: Memory  # the observation that ended it
    since: datetime  # when it ended
    learned_at: datetime  # when the change was recorded


def find_sessions(
    store: Store, grant: Grant, about: str | Sequence[str], *, now: datetime, limit: int = 5
) -> list[SessionScore]:
    """Return the sessions that mention these names most, best first.

    If `about` is a question, every possible name in it is used.
    """
    with store.snapshot():
        spellings = _load_spellings(store, grant, list(_parse_names(about)))
        labels = _load_turn_labels(store, grant, frozenset[str]().union(*spellings.values()))
        facts = _load_facts(store, grant, frozenset[str]().union(*spellings.values()))
    turns: defaultdict[Session, list[_Turn]] = defaultdict(list)
    mentioned: set[str] = set()
    for label in labels:
        turn = _Turn(label, _label_names(label))
        turns[Session.from_record(label)].append(turn)
        mentioned |= turn.names
    used = {name: variants for name, variants in spellings.items() if variants & mentioned}
    newest = labels[0].at if labels else now
    scores = [_score_session(session, own, used, newest) for session, own in turns.items()]
    finder = _OutdatedFactFinder(facts, now)
    best = sorted(scores, key=_rank_key)[: limit + EXTRA_SESSIONS]
    checked = [_penalize_outdated(each, turns[each.session], used, finder) for each in best]
    return sorted(checked, key=_rank_key)[:limit]


def find_own_conversations(
    store: Store, grant: Grant, about: str | Sequence[str], user: str
) -> frozenset[Scope]:
    """Return the scopes of a user's own sessions and DMs that mention these names.

    The scope of the user's profile is always included.
    """
    names = list(_parse_names(about))
    spellings = frozenset[str]().union(*_load_spellings(store, grant, names).values())
    scopes = {label.scope for label in _load_turn_labels(store, grant, spellings)}
    own = (scope for scope in scopes if scope.owner == user)
    return frozenset({Scope.user(user), *(each for scope in own for each in memory_scopes(scope))})


def find_outdated_facts(
    store: Store, grant: Grant, session: Session, *, now: datetime
) -> list[OutdatedFact]:
    """Return facts that were current at the session's last event and no longer are.

    The facts of the session itself count. For other names it mentions, the facts visible at that
    time count. The newest change comes first.
    """
    with store.snapshot():
        last = _load_last_event(store, grant, session)
        if last is None:
            return []
        names = frozenset[str]().union(
            *map(_label_names, _load_session_labels(store, grant, session))
        )
        facts = _load_facts(store, grant, names)
    outdated = _OutdatedFactFinder(facts, now).find_outdated(session, last.recorded_at)
    return sorted(outdated, key=lambda each: (each.learned_at, each.old_fact.id), reverse=True)


class _Turn(NamedTuple):
    label: Memory
    names: NameSet


def _score_session(
    session: Session, turns: Sequence[_Turn], spellings: Mapping[str, NameSet], newest: datetime
) -> SessionScore:
    mentions: dict[str, int] = {}
    depths: dict[str, float] = {}
    for name, variants in spellings.items():
        times = [turn.label.at for turn in turns if variants & turn.names]
        depth = sum(max(MIN_MENTION_WEIGHT, 0.5 ** ((newest - at) / HALF_LIFE)) for at in times)
        depths[name] = depth / (depth + 1)
        if times:
            mentions[name] = len(times)
    labels = sorted((turn.label for turn in turns), key=_newest_key)
    return SessionScore(
        session=session,
        score=round(sum(depths.values()) / len(spellings), 6),
        name_scores=depths,
        mention_counts=mentions,
        last_mention_at=labels[0].at,
        outdated_names=(),
        labels=tuple(labels[:MAX_EVIDENCE_LABELS]),
    )


def _penalize_outdated(
    score: SessionScore,
    turns: Sequence[_Turn],
    spellings: Mapping[str, NameSet],
    finder: _OutdatedFactFinder,
) -> SessionScore:
    """Return the score, reduced for names with outdated facts."""
    last = max(turn.label.recorded_at for turn in turns)
    outdated = {normalize_name(each.entity) for each in finder.find_outdated(score.session, last)}
    names = tuple(name for name in score.mention_counts if spellings[name] & outdated)
    depths = {
        name: score.name_scores[name] * (OUTDATED_WEIGHT if name in names else 1)
        for name in spellings
    }
    return replace(
        score,
        score=round(sum(depths.values()) / len(spellings), 6),
        name_scores=depths,
        outdated_names=names,
    )


def _rank_key(score: SessionScore) -> tuple[float, float, str]:
    return -score.score, -score.last_mention_at.timestamp(), str(score.session)


class _ComparableFact(NamedTuple):
    """A fact with its normalized subject, aspect and value."""

    fact: Memory
    subject: str
    aspect: str
    value: str
    relations: tuple[str, ...]  # its own predicate and related ones

    @classmethod
    def from_memory(cls, memory: Memory) -> _ComparableFact:
        fact = memory.fact
        relations = predicates_about(fact.predicate)
        return cls(
            memory,
            normalize_name(fact.subject),
            normalize_aspect(fact),
            normalize_fact_value(fact),
            relations,
        )

    @property
    def topics(self) -> set[tuple[str, str, str]]:
        return {(self.subject, self.aspect, relation) for relation in self.relations}


class _OutdatedFactFinder:
    """Finds facts that were current at an earlier time and are past now."""

    def __init__(self, facts: Sequence[Memory], now: datetime) -> None:
        self.now = now
        self.current_statuses = fact_statuses(facts, now)
        ordered = [_ComparableFact.from_memory(fact) for fact in sorted(facts, key=_newest_key)]
        past = [each for each in ordered if self.current_statuses[each.fact.id] is FactStatus.PAST]
        changed = {topic for each in past for topic in each.topics}
        self.changed_facts = [each for each in ordered if changed & each.topics]

    def find_outdated(self, session: Session, last: datetime) -> list[OutdatedFact]:
        """Return the outdated facts of a session that ended at `last`, each once."""
        own = [each for each in self.changed_facts if session.contains(each.fact)]
        own_topics = {topic for each in own for topic in each.topics}
        later = {
            topic
            for each in self.changed_facts
            if self._is_later_change(each, last)
            for topic in each.topics
        }
        visible = [
            each
            for each in self.changed_facts
            if each.fact.recorded_at <= last
            and later & each.topics
            and not own_topics & each.topics
        ]
        earlier_statuses = fact_statuses([each.fact for each in (*own, *visible)], last)
        outdated: dict[str, OutdatedFact] = {}
        for fact, *key in (*own, *visible):
            is_outdated = (
                earlier_statuses[fact.id] is FactStatus.CURRENT
                and self.current_statuses[fact.id] is FactStatus.PAST
            )
            if is_outdated and str(key) not in outdated:
                outdated[str(key)] = self._describe_change(fact)
        return list(outdated.values())

    def _is_later_change(self, each: _ComparableFact, last: datetime) -> bool:
        """Return whether the fact was recorded, began or ended after `last`."""
        fact = each.fact
        times = (fact.recorded_at, fact.valid_from, fact.valid_to)
        return any(at is not None and last < at <= self.now for at in times)

    def _describe_change(self, fact: Memory) -> OutdatedFact:
        content = fact.fact
        facts = [each.fact for each in self.changed_facts]
        timeline = build_timeline(
            facts_about(facts, [content.subject], content.predicate), self.now, content.predicate
        )
        ends = (
            end
            for end in timeline.past
            if normalize_fact_value(end.memory.fact) == normalize_fact_value(content)
        )
        end = next(ends, EndedFact(memory=fact, ended_at=None, ended_by=fact))
        same_aspect = (
            each
            for each in timeline.current
            if normalize_aspect(each.fact) == normalize_aspect(content)
        )
        since = end.ended_at or fact.valid_to or end.ended_by.at
        return OutdatedFact(
            entity=content.subject,
            predicate=content.predicate,
            old_fact=fact,
            current_fact=next(same_aspect, None) if is_single_valued(content) else None,
            changed_by=end.ended_by,
            since=since,
            learned_at=end.ended_by.recorded_at if end.ended_by.id != fact.id else since,
        )


def _newest_key(memory: Memory) -> tuple[float, str]:
    return -memory.at.timestamp(), memory.id


def _label_names(label: Memory) -> NameSet:
    names = label.body.get("entities", ())
    return frozenset(normalize_name(name) for name in names if isinstance(name, str))


# -- reads


def _parse_names(about: str | Sequence[str]) -> Iterable[str]:
    """Return the normalized names without duplicates; for a question, all possible names."""
    names = possible_names(about) if isinstance(about, str) else map(normalize_name, about)
    return dict.fromkeys(names)


def _load_spellings(store: Store, grant: Grant, names: Sequence[str]) -> dict[str, NameSet]:
    """Return all spellings of each name, itself included."""
    kinds = [MemoryKind.ENTITY]
    found = store.memories.find_by_name(grant, names, limit=MAX_FACTS, kinds=kinds) if names else []
    has_record = {each for memory in found for each in names_in(memory)}
    return {
        name: frozenset({name})
        | (find_spellings(store, grant, name) if name in has_record else set())
        for name in names
    }


def _load_turn_labels(store: Store, grant: Grant, names: NameSet) -> list[Memory]:
    """Return the labels of turns that mention any of these names."""
    if not names:
        return []
    kinds = [MemoryKind.EPISODE]
    episodes = store.memories.find_by_name(grant, sorted(names), limit=MAX_LABELS, kinds=kinds)
    return [label for label in episodes if _is_turn_label(label)]


def _load_facts(store: Store, grant: Grant, names: NameSet) -> list[Memory]:
    """Return the facts with any of these names as subject."""
    if not names:
        return []
    kinds = [MemoryKind.FACT]
    facts = store.memories.find_by_name(grant, sorted(names), limit=MAX_FACTS, kinds=kinds)
    return [fact for fact in drop_copies(facts) if normalize_name(fact.body["subject"]) in names]


def _load_session_labels(store: Store, grant: Grant, session: Session) -> Iterable[Memory]:
    kind = Condition("kind", Op.EQ, MemoryKind.EPISODE)
    where = And((kind, *_thread_conditions(session)))
    here = grant.narrow_to(memory_scopes(session.scope))
    episodes = store.memories.find(here, where=where, limit=MAX_LABELS)
    return [label for label in episodes if _is_turn_label(label) and session.contains(label)]


def _load_last_event(store: Store, grant: Grant, session: Session) -> Event | None:
    since = until = None
    if session.day is not None:
        since = datetime.combine(session.day, time.min, UTC)
        until = since + timedelta(days=1)
    conditions = _thread_conditions(session)
    where = And(conditions) if conditions else None
    here = grant.narrow_to([session.scope])
    newest = store.ledger.find(here, where=where, since=since, until=until, limit=1)
    return newest[0] if newest else None


def _thread_conditions(session: Session) -> tuple[Filter, ...]:
    if session.thread is None and session.day is None:
        return ()
    return (Condition("thread", Op.EQ, session.thread),)


def _is_turn_label(memory: Memory) -> bool:
    return memory.body.get("span") == "turn"
