"""Section "procedures": how something is done, for questions that ask how to do it."""

from __future__ import annotations

import re
from dataclasses import replace

from ...core.records import Memory, MemoryKind
from ...core.records.context import ContextItem
from ...core.records.procedures import Strategy, build_strategies
from ...text.terms import extract_terms, query_terms
from ..question import match_text
from ..request import SectionInput
from ..section import QuestionText, Section

MAX_RECORDS = 1_000  # records that are read
MIN_SUCCESS_RATE = 0.5
HOW_TO_PATTERN = re.compile(
    r"\bhow (?:do|does|did|can|could|should|would|to|must)\b(?! (?:you|they|we|i) (?:feel|know)\b)"
    r"|\bsteps? (?:to|for)\b|\bprocedure|\brunbook\b|\bwalk me through\b"
    r"|\binstructions? (?:to|for)\b"
    r"|\bwhat(?:'s| is) the (?:way|process|best way) (?:to|for|of)\b"
    r"|^\W*(?:please\s+)?(?:deploy|install|set up|configure|release|roll back|restart|build|migrate"
    r"|onboard)\b",
    re.IGNORECASE,
)


def asks_how_to(question: QuestionText) -> str | None:
    """Return why the question asks how to do something, or None."""
    match = HOW_TO_PATTERN.search(question.text)
    return f"it asks how to: “{match_text(match)}”" if match else None


def procedure_items(inputs: SectionInput) -> list[ContextItem]:
    """Return strategies and written procedures that share terms with the question, best first.

    Strategies that fail more often than they succeed are left out.
    """
    question_terms = set(query_terms(inputs.plan.question))
    records = {
        memory.id: memory
        for memory in inputs.memories_of_kind(MemoryKind.PROCEDURE, limit=MAX_RECORDS)
    }
    strategies = build_strategies(records.values())
    practised = {id for each in strategies for id in each.memories}
    active = {memory.id for memory in inputs.filter_active(records.values())}
    items = [
        _strategy_item(inputs, each, records[each.memories[0]], question_terms)
        for each in strategies
        if each.success_rate.estimate >= MIN_SUCCESS_RATE
        and not active.isdisjoint(each.memories)  # one active record keeps a strategy shown
    ]
    written = [records[id] for id in records if id in active and id not in practised]
    items += [
        _make_item(inputs, memory, _term_overlap(memory.text, question_terms)) for memory in written
    ]
    relevant = [item for item in items if item.worth > 0]
    return sorted(relevant, key=lambda item: (-item.worth, item.id))


def _strategy_item(
    inputs: SectionInput, strategy: Strategy, newest: Memory, question_terms: set[str]
) -> ContextItem:
    overlap = _term_overlap(f"{strategy.task} {strategy.task_type or ''}", question_terms)
    item = _make_item(inputs, newest, overlap * strategy.success_rate.estimate)
    why = {**item.why, "worked": strategy.success_rate.successes, "of": strategy.success_rate.total}
    return replace(item, text=strategy.summary, why=why)


def _make_item(inputs: SectionInput, memory: Memory, worth: float) -> ContextItem:
    return inputs.make_item(
        memory, worth, strategy="how-to", kind="procedure", words=round(worth, 3)
    )


def _term_overlap(text: str, question_terms: set[str]) -> float:
    """Return the share of the question's terms that the text has, from 0 to 1."""
    return len(question_terms & set(extract_terms(text))) / max(1, len(question_terms))


PROCEDURES = Section(
    name="procedures",
    heading="Procedures",
    description="Steps that worked, for how-to questions.",
    priority=8,
    cap=300,
    when=asks_how_to,
    source=procedure_items,
)
