"""Validated search queries, and the search settings that give their defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import isfinite
from typing import Any, NamedTuple

from ..core.canonical import clean_list, clean_text, clean_time
from ..core.errors import InvalidInput
from ..core.filters import And, Condition, Filter, Not, Op, Or, combine_filters, parse_filter
from ..core.records import MemoryKind

MAX_HITS = 1_000
MAX_QUESTION_CHARS = 20_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class KindWeights(NamedTuple):
    """Shares of the hits by kind of memory (specification 004), for questions about names."""

    episodic: float = 0.3  # messages
    facts: float = 0.25
    entities: float = 0.2
    procedures: float = 0.15
    recency: float = 0.1  # of the order of facts; the rest is whether they still hold

    def shares(self) -> dict[str, float]:
        """Return the share of each kind; recency is no kind."""
        return {name: share for name, share in self._asdict().items() if name != "recency"}


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """The section `memory.search`: defaults of a query, and how it is answered.

    The default threshold is 0: a cosine that is high for one embedder is low for another, so no
    other value fits all of them.
    """

    default_limit: int = 10
    default_threshold: float = 0.0
    default_scope: str = "session"
    max_per_conversation: int = 0  # maximum hits of one conversation; 0: no cap
    min_relevance: float = 0.0  # probability of helping below which hits are withheld; 0: none
    ranking: str = "contextual"  # contextual: better recall | fused: faster
    strategies: tuple[str, ...] = ("vector", "keyword", "timeline", "graph")
    weight_episodic: float = KindWeights().episodic
    weight_facts: float = KindWeights().facts
    weight_entities: float = KindWeights().entities
    weight_procedures: float = KindWeights().procedures
    weight_recency: float = KindWeights().recency
    query_rewrites: tuple[str, ...] = ()  # none | statement | hyde | self_query; uses memory.llm
    reranker: str = "none"  # none | http | name of a plug-in
    reranker_url: str | None = None
    reranker_model: str | None = None
    reranker_api_key: str | None = field(default=None, repr=False)
    model_timeout_seconds: float = 3.0  # maximum wait for a model during recall

    @property
    def kind_weights(self) -> KindWeights:
        return KindWeights(
            self.weight_episodic,
            self.weight_facts,
            self.weight_entities,
            self.weight_procedures,
            self.weight_recency,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """A validated question with its limits and one combined filter."""

    question: str
    limit: int = 10
    threshold: float = 0.0
    where: Filter | None = None
    max_per_conversation: int = 0  # 0: no cap
    people: tuple[str, ...] = ()  # names of participants, which the question may contain
    now: datetime = EPOCH  # reference time of words such as "yesterday"
    explain: bool = False
    min_relevance: float = 0.0  # hits below it are withheld; 0: relevance is not estimated

    @property
    def includes_learned(self) -> bool:
        """True if the query filters by kind: then derived memories are searched, too."""
        return _filters_by("kind", self.where)


def _filters_by(field: str, filter: Filter | None) -> bool:
    match filter:
        case None:
            return False
        case Condition(name, _, _):
            return name == field
        case Not(part):
            return _filters_by(field, part)
        case And(parts) | Or(parts):
            return any(_filters_by(field, part) for part in parts)


def make_query(
    question: str,
    *,
    limit: int,
    threshold: float,
    where: Mapping[str, Any] | Filter | None = None,
    kind: str | MemoryKind | Sequence[str | MemoryKind] | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    max_per_conversation: int = 0,
    people: Sequence[str] = (),
    now: datetime = EPOCH,
    as_of: datetime | None = None,
    explain: bool = False,
    min_relevance: float = 0.0,
) -> Query:
    """Validate the arguments of a recall and combine its conditions into one filter.

    Raise InvalidInput if an argument is out of range or a kind is unknown.
    """
    return Query(
        question=clean_text(question, "the question")[:MAX_QUESTION_CHARS],
        limit=check_limit(limit),
        threshold=_check_share("threshold", threshold),
        where=combine_filters(
            [
                parse_filter(where),
                *_time_conditions(since, until),
                *kind_conditions(kind),
                *_as_of_conditions(as_of),
            ]
        ),
        max_per_conversation=_check_cap(max_per_conversation),
        people=tuple(people),
        now=now if as_of is None else clean_time(as_of, "as_of"),
        explain=explain,
        min_relevance=_check_share("min_relevance", min_relevance),
    )


def check_limit(limit: int, maximum: int = MAX_HITS) -> int:
    """Return `limit`, or raise InvalidInput unless it is an integer from 1 to `maximum`."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= maximum:
        raise InvalidInput(f"limit must be between 1 and {maximum}, got {limit!r:.80}")
    return limit


def _check_cap(cap: int) -> int:
    if isinstance(cap, bool) or not isinstance(cap, int) or cap < 0:
        raise InvalidInput(f"max_per_conversation must be an integer >= 0, got {cap!r:.80}")
    return cap


def _check_share(name: str, value: float) -> float:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not isfinite(value) or not 0 <= value <= 1:
        raise InvalidInput(f"{name} must be between 0 and 1, got {value!r:.80}")
    return float(value)


def _time_conditions(since: datetime | None, until: datetime | None) -> list[Filter]:
    edges = ((Op.GTE, since, "since"), (Op.LT, until, "until"))
    return [
        Condition("at", op, clean_time(edge, name)) for op, edge, name in edges if edge is not None
    ]


def _as_of_conditions(as_of: datetime | None) -> list[Filter]:
    """Return the condition for memories recorded by `as_of`, independent of when they happened."""
    if as_of is None:
        return []
    return [Condition("recorded_at", Op.LTE, clean_time(as_of, "as_of"))]


def kind_conditions(
    kind: str | MemoryKind | Sequence[str | MemoryKind] | None,
) -> list[Filter]:
    """Return the condition on one kind or several; raise InvalidInput if a kind is unknown."""
    if kind is None:
        return []
    accepted = [each.value for each in MemoryKind]
    names = [kind] if isinstance(kind, str) else clean_list(kind, "kind")
    for name in names:
        if name not in accepted:
            raise InvalidInput(f"unknown kind {name!r}; accepted: {', '.join(accepted)}")
    return [Condition("kind", Op.IN, tuple(names))]
