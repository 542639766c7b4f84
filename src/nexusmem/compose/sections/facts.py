"""Section "facts": exact values, and current facts about the names in the question."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.access import Grant
from ...core.canonical import canonical_json
from ...core.derive import normalize_name
from ...core.filters import Condition, Op, combine_filters
from ...core.protocols.store import Store
from ...core.records import Memory, MemoryKind
from ...core.records.context import ContextItem
from ...core.records.links import drop_duplicates
from ...core.records.memory import drop_copies
from ...observe.chat_messages import fence_safe_json
from ...recall.views.fact_timeline import current_values, facts_about
from ..question import capitalized_names
from ..request import EXACT_KIND, SectionInput, mention_reason, rank_worth
from ..section import QuestionText, Section

IS_FACT = Condition("kind", Op.EQ, MemoryKind.FACT)


def load_exact_values(
    store: Store, grant: Grant, *, limit: int | None = None, as_of: datetime | None = None
) -> list[Memory]:
    """Return the exact values, newest key first; with `as_of`, those recorded by then."""
    scopes = sorted(map(str, grant.scopes))
    if as_of is not None:
        facts = [each for scope in scopes for each in _facts_until(store, grant, scope, as_of)]
        newest_first = sorted(facts, key=lambda each: (-each.at.timestamp(), each.id))
        return _newest_per_key(newest_first)[:limit]
    latest = store.memories.latest_facts(grant, scopes, limit=limit)
    return _newest_per_key(each for fact in latest for each in _same_key_facts(store, grant, fact))


def _same_key_facts(store: Store, grant: Grant, fact: Memory) -> Iterator[Memory]:
    """Yield the fact; if it is not exact, also yield all facts with its subject and predicate.

    A fact of `add_fact` may be newer than an exact value with the same key.
    """
    yield fact
    if not fact.body.get("exact"):
        subject, predicate = fact.body["subject"], fact.body["predicate"]
        same_key = (Condition("subject", Op.EQ, subject), Condition("predicate", Op.EQ, predicate))
        yield from store.memories.find(grant, where=combine_filters((IS_FACT, *same_key)))


def _facts_until(store: Store, grant: Grant, scope: str, as_of: datetime) -> list[Memory]:
    recorded = Condition("recorded_at", Op.LTE, as_of)
    where = combine_filters((IS_FACT, Condition("subject", Op.EQ, scope), recorded))
    return store.memories.find(grant, where=where)


def _newest_per_key(facts: Iterable[Memory]) -> list[Memory]:
    """Return the first exact value of each key; values that were learned do not count."""
    newest: dict[tuple[str, str], Memory] = {}
    for memory in facts:
        if memory.body.get("exact") and not memory.learned:
            newest.setdefault((memory.body["subject"], memory.body["predicate"]), memory)
    return list(newest.values())


MAX_EXACT = 100  # keys, newest first
MAX_NAMED = 60  # facts read for the names in the question
MAX_RELATIONS = 20
FACT_KINDS = (MemoryKind.FACT,)
FIRST_PERSON = re.compile(r"\b(?:i|i'm|my|me|mine)\b", re.IGNORECASE)


def may_name_someone(question: QuestionText) -> str:
    """Return why facts are shown: a name in the question, or the exact values."""
    names = capitalized_names(question.text)
    return f"it may name {names[-1]}" if names else "always: exact values"


def fact_items(inputs: SectionInput) -> list[ContextItem]:
    """Return exact values, newest first, then current facts about the names in the question."""
    exact = _exact_memories(inputs)
    shown = {memory.id for memory in exact}
    items = [_exact_item(inputs, memory, rank) for rank, memory in enumerate(exact)]
    return items + [each for each in _current_items(inputs) if each.id not in shown]


def _exact_item(inputs: SectionInput, memory: Memory, rank: int) -> ContextItem:
    """Return an exact value as JSON, escaped so that the fence does not change it."""
    item = inputs.make_item(
        memory, 0.8 * rank_worth(rank, 0.95), strategy=EXACT_KIND, kind=EXACT_KIND
    )
    subject, key, value = (memory.body.get(name) for name in ("subject", "predicate", "value"))
    return replace(item, text=f"{subject} {key} = {fence_safe_json(canonical_json(value))}")


def _exact_memories(inputs: SectionInput) -> list[Memory]:
    """Return the newest value of each key in every scope that the viewer may read."""
    as_of = inputs.now if inputs.is_replay else None
    return load_exact_values(inputs.store, inputs.grant, limit=MAX_EXACT, as_of=as_of)


def _current_items(inputs: SectionInput) -> Iterator[ContextItem]:
    names = _question_names(inputs)
    if not names:
        return
    named = inputs.filter_recorded(
        inputs.store.memories.find_by_name(inputs.grant, names, limit=MAX_NAMED, kinds=FACT_KINDS)
    )
    facts = [each for each in drop_copies(named) if not each.body.get("exact")]
    since: dict[str, datetime | None] = {}
    current: list[Memory] = []
    for subject, predicate in _subject_predicates(facts, frozenset(names)):
        values = current_values(facts_about(facts, subject, predicate), inputs.now, predicate)
        for position, value in enumerate(values):
            memory = value.newest.memory
            since[memory.id] = value.since if position == 0 else memory.valid_from
            current.append(memory)
    links = inputs.same_as_links(current)
    for rank, memory in enumerate(drop_duplicates(current, links)):
        worth, mentions = rank_worth(rank, 0.95), mention_reason(links.get(memory.id))
        yield _make_item(inputs, memory, since[memory.id], worth, mentions)


def _question_names(inputs: SectionInput) -> list[str]:
    names = list(inputs.plan.names)
    people = inputs.viewer.people
    if len(people) == 1 and FIRST_PERSON.search(inputs.plan.question):
        names.append(normalize_name(people[0].value))
    return names


def _subject_predicates(memories: Sequence[Memory], names: frozenset[str]) -> list[tuple[str, str]]:
    """Return the (subject, predicate) pairs of these facts; subjects in `names` come first."""
    pairs = dict.fromkeys(
        (normalize_name(each.body["subject"]), each.body["predicate"].upper()) for each in memories
    )
    return sorted(pairs, key=lambda pair: pair[0] not in names)[:MAX_RELATIONS]


def _make_item(
    inputs: SectionInput,
    memory: Memory,
    since: datetime | None,
    worth: float,
    mentions: Mapping[str, float],
) -> ContextItem:
    confidence = memory.confidence
    item = inputs.make_item(
        memory,
        worth * confidence,
        strategy="interpret",
        kind="holds now",
        confidence=confidence,
        **mentions,
    )
    if since and since.date() != memory.at.date():
        return replace(item, text=f"{memory.text} (since {since:%Y-%m-%d})")
    return item


FACTS = Section(
    name="facts",
    heading="Facts",
    description="Exact values, and current facts about the names in the question.",
    priority=5,
    cap=400,
    when=may_name_someone,
    source=fact_items,
)
