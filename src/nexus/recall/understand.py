"""Reading a question by rules: whom it is about, and whose words it asks for."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from ..core.text import WORD, query_terms, terms

# "What did you recommend?", "the list you gave me": words of the assistant, not the user's own.
OF_THE_ASSISTANT = re.compile(
    r"\b(?:did|have|had|were|do|can|could) you\b.*\b(?:say|said|tell|told|recommend|suggest|mention"
    r"|provide|give|given|gave|list|explain|advise|describe|write|wrote|share)"
    r"|\byou (?:said|told|recommended|suggested|mentioned|provided|gave|listed|explained|advised"
    r"|described|wrote|shared|came up)"
    r"|\byour (?:last|previous|earlier|suggestion|recommendation|answer|advice|response|list)"
    r"|\bremind me\b|\bour (?:previous|last|earlier) (?:chat|conversation|discussion)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Understood:
    """What the rules made of a question."""

    terms: tuple[str, ...]
    people: frozenset[str]  # speakers it names
    meaning: str  # the question without their names: names drown a short text's meaning
    asks_the_assistant: bool


def understand(question: str, speakers: Iterable[str | None]) -> Understood:
    """Read a question among people who were heard speaking."""
    said = set(terms(question))
    people = frozenset(name for name in speakers if name and said.issuperset(terms(name)))
    return Understood(
        terms=tuple(query_terms(question)),
        people=people,
        meaning=_without(question, people),
        asks_the_assistant=bool(OF_THE_ASSISTANT.search(question)),
    )


def _without(question: str, people: frozenset[str]) -> str:
    names = {term for name in people for term in terms(name)}
    if not names:
        return question
    kept = WORD.sub(
        lambda word: " " if names.issuperset(terms(word.group())) else word.group(), question
    )
    return kept if terms(kept) else question
