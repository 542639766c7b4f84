"""Which query finds what a filter insists on."""

from __future__ import annotations

from typing import TypeGuard

from ...core.filters import Condition, Every, Filter, Op

FEW_LABELS = 16  # a viewer's places; an administrator's are many


def asked_about(where: Filter | None) -> tuple[str, dict[str, str | None]]:
    """The query for what a filter insists on: a subject (and predicate), a kind, or nothing."""
    parts = where.parts if isinstance(where, Every) else (where,)
    wanted = {
        part.field: part.value
        for part in parts
        if isinstance(part, Condition) and part.op is Op.EQ and isinstance(part.value, str)
    }
    if "subject" in wanted:
        told = {"subject": wanted["subject"], "predicate": wanted.get("predicate")}
        return "memories_by_fact", told
    if "kind" in wanted:
        return "memories_by_kind", {"kind": str(wanted["kind"])}
    return "memories_by_time", {}


def only_a_kind(where: Filter | None) -> TypeGuard[Condition]:
    return (
        isinstance(where, Condition)
        and (where.field, where.op) == ("kind", Op.EQ)
        and isinstance(where.value, str)
    )
