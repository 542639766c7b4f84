"""The grammar: every rule, in the order they are tried."""

from __future__ import annotations

from . import away, calendar, clock, quantity, relation, step

RULES = [
    *clock.EARLY,
    *quantity.LENGTHS,
    *calendar.RULES,
    *quantity.RECURRING,
    *step.RULES,
    *away.AWAY,
    *away.NARROWED,
    *clock.LATE,
    *away.ANAPHORA,
    *relation.RANGES,
    *relation.RELATIONS,
]
