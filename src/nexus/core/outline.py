"""A fact before it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self


class Outline(NamedTuple):
    """What tells whether a fact is worth reading; hundreds are made for a profile."""

    id: str
    predicate: str  # as it was said
    category: str | None
    exact: bool  # a value that was set, byte for byte
    learned: bool

    @classmethod
    def of(cls, *, id: str, body: Mapping[str, Any], learned: bool, **_: object) -> Self:
        predicate, exact = body.get("predicate") or "", bool(body.get("exact"))
        return cls(id, predicate, body.get("category"), exact, learned)

    @classmethod
    def read(cls, told: dict[str, Any] | list[Any]) -> Self:
        """From a whole content, or from these five fields of one."""
        if isinstance(told, dict):
            return cls.of(**told)
        id, predicate, category, exact, learned = told
        return cls(id, predicate or "", category, bool(exact), learned)
