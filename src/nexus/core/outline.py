"""A fact before it is read."""

from __future__ import annotations

from typing import NamedTuple, Self

from .records import Memory


class Outline(NamedTuple):
    """What tells whether a fact is worth reading; hundreds are made for a profile."""

    id: str
    predicate: str  # as it was said
    category: str | None
    exact: bool  # a value that was set, byte for byte
    learned: bool

    @classmethod
    def of(cls, fact: Memory) -> Self:
        told = fact.body
        predicate, exact = told.get("predicate") or "", bool(told.get("exact"))
        return cls(fact.id, predicate, told.get("category"), exact, fact.learned)
