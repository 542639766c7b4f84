"""All grammar rules, in the order of application."""

from __future__ import annotations

from . import calendar, ranges, relative, times

RULES = [
    *times.EARLY_RULES,
    *times.DURATION_RULES,
    *calendar.RULES,
    *times.RECURRENCE_RULES,
    *relative.RULES,
    *relative.OFFSET_RULES,
    *relative.NESTED_RULES,
    *times.LATE_RULES,
    *relative.END_RULES,
    *relative.ANAPHORA_RULES,
    *ranges.RANGE_RULES,
    *ranges.RELATION_RULES,
]
