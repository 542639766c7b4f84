"""Search results: hits with their scores and explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import overload

from ...text.terms import find_highlights
from .event import Metadata
from .memory import Memory, MemoryKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """How the score of a hit was computed."""

    found_by: Mapping[str, int]  # strategy → rank in its results, starting at 1
    parts: Mapping[str, float]  # signal → its contribution to the total
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyReport:
    """Work of one search strategy, or of a helper step such as rewrite or rerank."""

    name: str
    seconds: float
    found: int  # results; for a helper step, the candidates it read or texts it wrote
    shown: int  # number of hits that this strategy found


class HitStatus(StrEnum):
    """What is known about the validity of a hit."""

    FORMER = "former"  # what it states was superseded, corrected or ended
    PARTLY_FORMER = "partly former"  # that is true of a part of it
    EARLIER = "earlier"  # a later hit tells of a change in the same matter


@dataclass(frozen=True, slots=True, kw_only=True)
class Validity:
    """Since when a statement no longer holds, and the message that says so."""

    status: HitStatus
    since: datetime  # for "earlier": the time of the later statement
    by: str  # id of the event that says so; the own event if the statement names its end itself
    is_corrected: bool = False  # it never held

    @property
    def mark(self) -> str:
        """The mark of a context line, such as "until 2026-03-02"."""
        day = f"{self.since:%Y-%m-%d}"
        if self.status is HitStatus.EARLIER:
            return f"earlier, see {day}"
        verb = "corrected" if self.is_corrected else "until"
        return f"{verb} {day}" if self.status is HitStatus.FORMER else f"partly {verb} {day}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """A memory that matches a query, with its score."""

    memory: Memory
    score: float
    reasons: Mapping[str, float] = field(default_factory=dict)  # strategy → its own score
    event_keys: tuple[str, ...] = ()
    explanation: Explanation | None = None  # only if the query requests it
    query_terms: tuple[str, ...] = ()
    validity: Validity | None = None  # None: nothing newer is known
    relevance: float | None = None  # probability that it helps to answer, if it was estimated

    @property
    def status(self) -> HitStatus | None:
        """The status if a newer statement is known, else None."""
        return self.validity.status if self.validity else None

    @property
    def superseded_by(self) -> str | None:
        """The id of the newer event, which is among the `sources` of its memories; or None."""
        return self.validity.by if self.validity else None

    @property
    def id(self) -> str:
        return self.memory.id

    @property
    def kind(self) -> MemoryKind:
        return self.memory.kind

    @property
    def text(self) -> str:
        return self.memory.text

    @property
    def at(self) -> datetime:
        return self.memory.at

    @property
    def metadata(self) -> Metadata:
        return self.memory.metadata

    @property
    def highlights(self) -> tuple[str, ...]:
        """The sentences that contain terms of the query; computed on access."""
        return find_highlights(self.memory.text, self.query_terms)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hits(Sequence[Hit]):
    """Search results, best first, as a sequence of hits.

    `total` counts all memories that contain a term of the query. With a filter or a threshold it
    counts those of the examined memories that passed.
    """

    hits: tuple[Hit, ...]
    total: int
    seconds: float
    degraded: tuple[str, ...] = ()  # parts that were unavailable, and why
    strategies: tuple[StrategyReport, ...] = ()
    withheld: int = 0  # hits that are not likely to help to answer
    empty_period: str | None = None  # the period that was asked about, if nothing is known of it

    @overload
    def __getitem__(self, index: int) -> Hit: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Hit, ...]: ...
    def __getitem__(self, index: int | slice) -> Hit | tuple[Hit, ...]:
        return self.hits[index]

    def __len__(self) -> int:
        return len(self.hits)
