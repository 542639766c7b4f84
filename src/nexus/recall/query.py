"""A question, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any

from ..core.canonical import clean_list, clean_text, clean_time
from ..core.errors import InvalidInput
from ..core.filters import Condition, Either, Every, Filter, Not, Op, every, parse_filter
from ..core.records import MemoryKind

MOST_HITS = 1_000
LONGEST_QUESTION = 20_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Search:
    """What a question is asked with when it says nothing else (seed 002).

    The seed's threshold of 0.7 was meant for one provider's cosines; scores of other embedders
    lie elsewhere, so nothing is cut off unless asked for.
    """

    default_limit: int = 10
    default_threshold: float = 0.0
    default_scope: str = "session"
    per_conversation: int = 0  # hits of one conversation at most; 0: as many as belong there
    ranking: str = "contextual"  # contextual: finds more | fused: faster
    strategies: tuple[str, ...] = ("meaning", "keyword", "timeline", "graph")
    rewrite: tuple[str, ...] = ()  # none | statement | hyde | self_query, by memory.llm
    reranker: str = "none"  # none | http
    reranker_url: str | None = None
    reranker_model: str | None = None
    reranker_api_key: str | None = field(default=None, repr=False)
    model_wait_seconds: float = 3.0  # for a model, while somebody waits for hits


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    question: str
    limit: int = 10
    threshold: float = 0.0
    where: Filter | None = None
    per_conversation: int = 0  # 0: no cap
    people: tuple[str, ...] = ()  # who is here: names that may stand in the question
    now: datetime = EPOCH  # what "yesterday" is counted from
    explain: bool = False

    @property
    def learned(self) -> bool:
        """Whether what was learned is searched beside what was told: when kinds are asked for."""
        return _speaks_of("kind", self.where)


def _speaks_of(field: str, filter: Filter | None) -> bool:
    match filter:
        case None:
            return False
        case Condition(name, _, _):
            return name == field
        case Not(part):
            return _speaks_of(field, part)
        case Every(parts) | Either(parts):
            return any(_speaks_of(field, part) for part in parts)


def make_query(
    question: str,
    *,
    limit: int,
    threshold: float,
    where: Mapping[str, Any] | Filter | None = None,
    kinds: Sequence[str | MemoryKind] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    per_conversation: int = 0,
    people: Sequence[str] = (),
    now: datetime = EPOCH,
    as_of: datetime | None = None,
    explain: bool = False,
) -> Query:
    """Everything a caller may ask for, as one filter and a few checked numbers."""
    return Query(
        question=clean_text(question, "the question")[:LONGEST_QUESTION],
        limit=check_limit(limit),
        threshold=_checked_threshold(threshold),
        where=every([parse_filter(where), *_window(since, until), *_kinds(kinds), *_known(as_of)]),
        per_conversation=_checked_cap(per_conversation),
        people=tuple(people),
        now=now if as_of is None else clean_time(as_of, "as_of"),
        explain=explain,
    )


def check_limit(limit: int, most: int = MOST_HITS) -> int:
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= most:
        raise InvalidInput(f"limit lies between 1 and {most}, not {limit!r:.80}")
    return limit


def _checked_cap(cap: int) -> int:
    if isinstance(cap, bool) or not isinstance(cap, int) or cap < 0:
        raise InvalidInput(f"per_conversation is 0 (no cap) or a number of hits, not {cap!r:.80}")
    return cap


def _checked_threshold(threshold: float) -> float:
    number = isinstance(threshold, int | float) and not isinstance(threshold, bool)
    if not number or not isfinite(threshold) or not 0 <= threshold <= 1:
        raise InvalidInput(f"threshold lies between 0 and 1, not {threshold!r}")
    return float(threshold)


def _window(since: datetime | None, until: datetime | None) -> list[Filter]:
    edges = ((Op.GTE, since, "since"), (Op.LT, until, "until"))
    return [
        Condition("at", op, clean_time(edge, name)) for op, edge, name in edges if edge is not None
    ]


def _known(as_of: datetime | None) -> list[Filter]:
    """What had been told by then, whenever it happened."""
    if as_of is None:
        return []
    return [Condition("recorded_at", Op.LTE, clean_time(as_of, "as_of"))]


def _kinds(kinds: Sequence[str | MemoryKind] | None) -> list[Filter]:
    if kinds is None:
        return []
    known = [kind.value for kind in MemoryKind]
    wanted = clean_list(kinds, "kinds")
    for kind in wanted:
        if kind not in known:
            raise InvalidInput(f"unknown kind {kind!r}; known are {', '.join(known)}")
    return [Condition("kind", Op.IN, tuple(wanted))]
