"""A memory on its way through ranking."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from .records import MemoryKind


class Candidate(NamedTuple):
    """What ranking wants to know of a memory without reading it; hundreds are made a question."""

    id: str
    kind: MemoryKind
    speaker: str | None
    role: str | None
    thread: str  # which conversation it is part of; means nothing elsewhere
    at: datetime
    length: int  # in terms
    asks: bool
    directs: bool  # says how things shall be done from now on
    keyword: float
    thread_keyword: float
