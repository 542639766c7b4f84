"""Episode search: summaries of sessions, threads, days and weeks that answer a question.

If the question names a time ("last week", "yesterday's meeting"), episodes of that time are ranked
by their fit to the time and to the question. Otherwise, or without episodes of that time, they are
ranked by words and vectors. Labels of single turns are left out. All reads are inside the grant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from ...core.access import Grant
from ...core.canonical import parse_time
from ...core.derive import span_key
from ...core.errors import InvalidInput
from ...core.ids import WorkspaceId
from ...core.protocols.embedder import Floats
from ...core.protocols.store import Store
from ...core.records import EmbeddingProfile, Hit, Memory, MemoryKind
from ...runtime.clock import start_of_day
from ...text.terms import query_terms
from ..question_analysis import TimeWindow, find_time_window, strip_boilerplate
from ..strategies.keyword import keyword_coverage

CONVERSATION_SPANS, CALENDAR_SPANS = ("thread", "session"), ("day", "week")
SPANS = CONVERSATION_SPANS + CALENDAR_SPANS
MAX_EPISODES = 10_000  # episodes read at most
MAX_CALENDAR_EPISODES = 300  # days and weeks read first
MAX_RECENT_EPISODES = 100  # newest sessions and threads, which may lack a day summary
MAX_SUMMARY_DELAY = timedelta(days=3)  # a day summary may wait this long for open threads
TIME_WEIGHT, TEXT_WEIGHT = 0.5, 0.5  # weights of the fit to the time and to the question
MIN_COSINE = 0.5  # minimum calibrated cosine of a hit without a matching word
OVERLAP_FACTOR = 0.5  # score factor if a selected episode contains this one or is part of it
SPAN_LENGTHS = {"day": timedelta(days=1), "week": timedelta(weeks=1)}

QueryVector = tuple[EmbeddingProfile, Floats]  # embedding profile and vector


class QueryEmbedder(Protocol):
    """The part of CachedEmbedder that embeds questions."""

    @property
    def profile(self) -> EmbeddingProfile: ...

    def embed_query(self, workspace: WorkspaceId, text: str) -> Floats: ...


def embed_question(embedder: QueryEmbedder, workspace: WorkspaceId, question: str) -> QueryVector:
    """Embed the question. The caller must not hold a transaction: the embedder may be remote."""
    return embedder.profile, embedder.embed_query(workspace, question)


def find_episodes(
    store: Store,
    grant: Grant,
    question: str,
    now: datetime,
    *,
    limit: int = 5,
    window: TimeWindow | None = None,
    query_vector: QueryVector | None = None,
    as_of: datetime | None = None,
) -> list[Hit]:
    """Return the episodes that answer the question, best first.

    `window` overrides the time that the question names. Without `query_vector`, only words are
    compared. With `as_of`, only episodes recorded by that time are returned.
    """
    window = window or find_time_window(question, now)
    with store.snapshot():
        inside = _filter_as_of(_load_in_window(store, grant, window, now), as_of) if window else []
        episodes = inside or _filter_as_of(_load_newest(store, grant), as_of)
        if not episodes:
            return []
        ids = [each.id for each in episodes]
        scores = _score_episodes(store, grant, question, query_vector, ids)
    hits = [_build_hit(each, window if inside else None, scores) for each in episodes]
    return _select_best(filter(_is_relevant, hits), limit)


def list_episodes(
    store: Store,
    grant: Grant,
    *,
    span: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    about: Sequence[str] | None = None,
    limit: int = 100,
) -> list[Memory]:
    """Return episodes of one span or of all, newest first, that overlap [since, until).

    `about` are the spellings of one entity; only episodes that mention it are returned. Raise
    InvalidInput if the span is unknown.
    """
    if span is not None and span not in SPANS:
        raise InvalidInput(f"unknown span {span!r:.80}; accepted: {', '.join(SPANS)}")
    spans = (span,) if span else SPANS
    if about is None:
        episodes = _load_spans(store, grant, spans, MAX_EPISODES)
    else:
        episodes = [each for each in _load_about(store, grant, about) if each.body["span"] in spans]
    overlapping = (
        each
        for each in episodes
        if (since is None or parse_time(each.body["end"]) >= since)
        and (until is None or parse_time(each.body["start"]) < until)
    )
    return list(overlapping)[:limit]


# -- by time


def _load_in_window(store: Store, grant: Grant, window: TimeWindow, now: datetime) -> list[Memory]:
    """Return the episodes that overlap the window.

    These are weeks, days, the sources of the days, and recent sessions and threads.
    """
    calendar = _load_back_to(store, grant, window.since)
    days = [
        each for each in calendar if each.body["span"] == "day" and _overlaps_window(each, window)
    ]
    parts = store.memories.get(grant, [id for day in days for id in day.sources])
    is_recent = window.until > now - MAX_SUMMARY_DELAY
    recent = _load_spans(store, grant, CONVERSATION_SPANS, MAX_RECENT_EPISODES) if is_recent else []
    by_id = {each.id: each for each in (*calendar, *parts, *recent) if _is_span_episode(each)}
    return [each for each in by_id.values() if _overlaps_window(each, window)]


def _load_back_to(store: Store, grant: Grant, since: datetime) -> list[Memory]:
    """Return weeks and days from the newest back to `since`, and possibly earlier ones."""
    limit = MAX_CALENDAR_EPISODES
    while True:
        episodes = _load_spans(store, grant, CALENDAR_SPANS, limit)
        if (
            len(episodes) < limit
            or episodes[-1].at < since - SPAN_LENGTHS["week"]
            or limit >= MAX_EPISODES
        ):
            return episodes
        limit *= 4


def _load_newest(store: Store, grant: Grant) -> list[Memory]:
    """Return the newest episodes of every span."""
    return [
        *_load_spans(store, grant, CALENDAR_SPANS, MAX_CALENDAR_EPISODES),
        *_load_spans(store, grant, CONVERSATION_SPANS, MAX_CALENDAR_EPISODES),
    ]


def _load_spans(store: Store, grant: Grant, spans: Sequence[str], limit: int) -> list[Memory]:
    names = [span_key(span) for span in spans]
    episodes = store.memories.find_by_name(grant, names, limit=limit, kinds=[MemoryKind.EPISODE])
    return [each for each in episodes if _is_span_episode(each)]


def _load_about(store: Store, grant: Grant, names: Sequence[str]) -> list[Memory]:
    """Return the episodes that mention one of these names, without labels of single turns."""
    kinds = [MemoryKind.EPISODE]
    episodes = store.memories.find_by_name(grant, names, limit=MAX_EPISODES, kinds=kinds)
    return [each for each in episodes if _is_span_episode(each)]


def _overlaps_window(episode: Memory, window: TimeWindow) -> bool:
    since, until = _episode_interval(episode)
    return since < window.until and until > window.since


def _episode_interval(episode: Memory) -> tuple[datetime, datetime]:
    """Return start and end of an episode; a day or week counts from its first midnight."""
    start, end = (parse_time(episode.body[edge]) for edge in ("start", "end"))
    length = SPAN_LENGTHS.get(episode.body["span"])
    if length is None:
        return start, end + timedelta(seconds=1)
    midnight = start_of_day(start)
    first = midnight - timedelta(days=midnight.weekday() if length.days > 1 else 0)
    return first, first + length


def _time_fit(episode: Memory, window: TimeWindow) -> float:
    """Return 1 if the episode covers exactly the window, less for a part of it or for more."""
    since, until = _episode_interval(episode)
    shared = min(until, window.until) - max(since, window.since)
    either = max(until, window.until) - min(since, window.since)
    return 0.5 * (shared / (until - since)) + 0.5 * (shared / either)


# -- by words and vectors


@dataclass(frozen=True, slots=True)
class _EpisodeScores:
    """The scores of episodes by strategy."""

    by_strategy: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict
    )  # name → id → score

    def strategy_scores(self, id: str) -> dict[str, float]:
        return {name: scores[id] for name, scores in self.by_strategy.items() if id in scores}


def _score_episodes(
    store: Store, grant: Grant, question: str, query_vector: QueryVector | None, ids: Sequence[str]
) -> _EpisodeScores:
    """Score only these few ids: a search would read all other memories too."""
    terms = query_terms(strip_boilerplate(question))
    candidates = store.memories.load_candidates(grant, ids, terms)
    scores = {
        "keyword": {
            id: keyword_coverage(each.keyword) for id, each in candidates.items() if each.keyword
        }
    }
    if query_vector is not None and query_vector[1].any():
        cosines = store.vectors.score_ids(grant, *query_vector, ids)
        calibrated = ((id, query_vector[0].calibrate(cosine)) for id, cosine in cosines.items())
        scores["vector"] = {id: score for id, score in calibrated if score > 0}
    return _EpisodeScores(scores)


# -- selection


def _filter_as_of(episodes: Iterable[Memory], as_of: datetime | None) -> list[Memory]:
    """Return the episodes recorded by `as_of`."""
    return [each for each in episodes if as_of is None or each.recorded_at <= as_of]


def _is_span_episode(memory: Memory) -> bool:
    """Return whether the memory has a span, a start and an end; turn labels have none."""
    return memory.body.get("span") in SPANS and {"start", "end"} <= memory.body.keys()


def _is_relevant(hit: Hit) -> bool:
    """Return whether the hit is inside the time window, shares a word or has a high cosine."""
    reasons = hit.reasons
    return "timeline" in reasons or "keyword" in reasons or reasons.get("vector", 0.0) >= MIN_COSINE


def _build_hit(episode: Memory, window: TimeWindow | None, scores: _EpisodeScores) -> Hit:
    reasons = scores.strategy_scores(episode.id)
    text_fit = max(reasons.values(), default=0.0)
    if window is None:
        return Hit(memory=episode, score=text_fit, reasons=reasons)
    time_fit = _time_fit(episode, window)
    score = TIME_WEIGHT * time_fit + TEXT_WEIGHT * text_fit
    return Hit(memory=episode, score=score, reasons={"timeline": time_fit, **reasons})


def _select_best(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """Select the best hits; an episode that overlaps a selected one loses score."""
    remaining = sorted(
        hits, key=lambda hit: (-hit.score, -hit.memory.at.timestamp(), hit.memory.id)
    )
    chosen: list[Hit] = []
    while remaining and len(chosen) < limit:
        best = max(remaining, key=lambda hit: hit.score * _overlap_factor(hit.memory, chosen))
        remaining.remove(best)
        chosen.append(best)
    return chosen


def _overlap_factor(episode: Memory, chosen: Sequence[Hit]) -> float:
    overlaps = any(
        episode.id in hit.memory.sources or hit.memory.id in episode.sources for hit in chosen
    )
    return OVERLAP_FACTOR if overlaps else 1.0
