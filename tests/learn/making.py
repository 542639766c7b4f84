"""Short ways to say something in these tests."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from nexus.learn.rules import Context, Extracted, Message, extract
from nexus.learn.rules.extracted import Statement

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
ROOM = Context(participants=("Alice", "Bob"), project="Apollo")
TWO = Context(participants=("Alice", "Bob"))


def said(text: str, speaker: str = "Alice", context: Context = ROOM, **given: Any) -> Extracted:
    return extract(Message(speaker=speaker, text=text, at=MONDAY, **given), context)


def relations(found: Extracted) -> list[tuple[str, str, str | None]]:
    """Subject, predicate, object of what is asserted: a negated fact says the opposite."""
    return [_relation(fact) for fact in found.facts if not fact.negated]


def _relation(fact: Statement) -> tuple[str, str, str | None]:
    return fact.subject, fact.predicate, fact.object or fact.value
