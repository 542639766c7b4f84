"""Helpers for the tests of the rules."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from nexusmem.learn.rules import ExtractionResult, MessageContext, SourceMessage, extract
from nexusmem.learn.rules.results import Statement

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
ROOM = MessageContext(participants=("Alice", "Bob"), project="Apollo")
TWO = MessageContext(participants=("Alice", "Bob"))


def said(
    text: str, speaker: str = "Alice", context: MessageContext = ROOM, **given: Any
) -> ExtractionResult:
    return extract(SourceMessage(speaker=speaker, text=text, at=MONDAY, **given), context)


def relations(found: ExtractionResult) -> list[tuple[str, str, str | None]]:
    """Return (subject, predicate, object) of facts that are not negated."""
    return [_relation(fact) for fact in found.facts if not fact.negated]


def _relation(fact: Statement) -> tuple[str, str, str | None]:
    return fact.subject, fact.predicate, fact.object or fact.value
