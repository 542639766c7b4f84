"""Section "facts": exact values, and current facts about the names in the question."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.derive import normalize_name
from ...core.records import Memory, MemoryKind
from ...core.records.context import ContextItem
from ...core.records.facts import current_confidence
from ...core.records.links import drop_duplicates
from ...core.records.memory import drop_copies
from ...recall.views.connection import find_asked_connection
from ...recall.views.exact_values import load_exact_values
from ...recall.views.fact_timeline import current_values, facts_about
from ..question import capitalized_names
from ..request import EXACT_KIND, SectionInput, mention_reason, rank_worth, sure_reason
from ..section import QuestionText, Section

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
    """Return exact values, newest first, then sure current facts about named people and things."""
    exact = _exact_memories(inputs)
    shown = {memory.id for memory in exact}
    path = list(_connection_items(inputs))
    shown |= {each.id for each in path}
    items = [_exact_item(inputs, memory, rank) for rank, memory in enumerate(exact)]
    if inputs.is_unanswered:
        return path + items
    return path + items + [each for each in _current_items(inputs) if each.id not in shown]


def _connection_items(inputs: SectionInput) -> Iterator[ContextItem]:
    """Yield the facts that connect the two names of the question, in order."""
    people = [each.value for each in inputs.viewer.people]
    question = inputs.plan.question
    path = find_asked_connection(inputs.store, inputs.grant, question, people, now=inputs.now)
    if len(inputs.filter_recorded(path)) < len(path):  # a path with a hole connects nothing
        return
    for step, memory in enumerate(path, start=1):
        yield inputs.make_item(memory, 1.0, strategy="connection", kind=f"step {step}")


def _exact_item(inputs: SectionInput, memory: Memory, rank: int) -> ContextItem:
    return inputs.make_item(memory, 0.8 * rank_worth(rank, 0.95), strategy=EXACT_KIND)


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
    confidence = current_confidence(memory, inputs.now)
    item = inputs.make_item(
        memory,
        worth * confidence,
        strategy="interpret",
        kind="holds now",
        confidence=confidence,
        **mentions,
        **sure_reason(memory, confidence),
    )
    if since and since.date() != memory.at.date():
        return replace(item, text=f"{item.text} (since {since:%Y-%m-%d})")
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
