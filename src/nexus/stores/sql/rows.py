"""The rows by which a memory is found, as they must be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...core.canonical import time_text
from ...core.derive import looked_up_by
from ...core.records import Memory
from .session import Row


def posting_rows(
    workspace: int, label: int, place: int, thread: int, words: Sequence[str]
) -> list[Row]:
    """One row for each word of a memory."""
    end = (len(words), thread)
    return [(workspace, label, term, place, n, *end) for term, n in Counter(words).items()]


def name_rows(number: int, label: int, memory: Memory) -> list[Row]:
    """One row for each name that a memory is looked up by."""
    traits = (memory.kind.value, time_text(memory.at), memory.id)
    return [(number, label, name, *traits) for name in looked_up_by(memory)]
