"""Episodes for a question about a time: "what did we do last week", "yesterday's meeting".

Those of the time the question names come first, and among them the ones that fit the time and the
question's words best. A question that names no time, or one of which nothing is told, is answered
by words and meaning. Labels of turns are never among them. All is read inside the grant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol

from ..core.access import Grant
from ..core.canonical import text_time
from ..core.clock import day_of
from ..core.derive import span_name
from ..core.errors import InvalidInput
from ..core.ids import WorkspaceId
from ..core.protocols import Floats, Store
from ..core.records import EmbeddingProfile, Hit, Memory, MemoryKind
from ..core.text import query_terms
from .keyword import worded
from .understand import Window, unframed, window_of

PARTS, WHOLES = ("thread", "session"), ("day", "week")
SPANS = PARTS + WHOLES
MOST_READ = 10_000  # episodes of one kind that are looked through
MOST_WHOLE = 300  # days and weeks that are read at first
MOST_RECENT = 100  # sessions and threads that may be part of no day yet
NOT_YET_TOLD = timedelta(days=3)  # so long a day may wait for its last thread to end
TIME, WORDS = 0.5, 0.5  # what fitting the time counts, and what fitting the question
CLOSE = 0.5  # a cosine that tells something where no word does
TOLD_ALREADY = 0.5  # what is left of an episode's score where what it is part of is shown
LENGTHS = {"day": timedelta(days=1), "week": timedelta(weeks=1)}

Pointed = tuple[EmbeddingProfile, Floats]  # a vector, and the space it lies in


class Questions(Protocol):
    """An embedder of questions, as the parts have one."""

    @property
    def profile(self) -> EmbeddingProfile: ...

    def query(self, workspace: WorkspaceId, text: str) -> Floats: ...


def pointed_at(embedder: Questions, workspace: WorkspaceId, question: str) -> Pointed:
    """The question's vector. No transaction may be open: the embedder may be far away."""
    return embedder.profile, embedder.query(workspace, question)


def episodes_for(
    store: Store,
    grant: Grant,
    question: str,
    now: datetime,
    *,
    limit: int = 5,
    window: Window | None = None,
    pointed: Pointed | None = None,
    as_of: datetime | None = None,
) -> list[Hit]:
    """The episodes that answer, best first; `window` is the time meant, if not the question's own.

    Without the question's vector, words must do. With `as_of`, only what rests on what had been
    told by then.
    """
    meant = window or window_of(question, now)
    with store.moment():
        told = _told(_within(store, grant, meant, now), as_of) if meant else []
        known = told or _told(_newest(store, grant), as_of)
        if not known:
            return []
        found = _found(store, grant, question, pointed, [each.id for each in known])
    hits = [_hit(each, meant if told else None, found) for each in known]
    return _best(filter(_answers, hits), limit)


def listed(
    store: Store,
    grant: Grant,
    *,
    span: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int = 100,
) -> list[Memory]:
    """Episodes of one kind or of all, newest first, that reach into a stretch of time."""
    if span is not None and span not in SPANS:
        raise InvalidInput(f"unknown span {span!r:.80}; known are {', '.join(SPANS)}")
    found = _of_spans(store, grant, [span] if span else SPANS, MOST_READ)
    lasting = (
        each
        for each in found
        if (since is None or text_time(each.body["end"]) >= since)
        and (until is None or text_time(each.body["start"]) < until)
    )
    return list(lasting)[:limit]


# -- by time


def _within(store: Store, grant: Grant, window: Window, now: datetime) -> list[Memory]:
    """Those that reach into it: weeks and days, what the days are made of, and what is new."""
    whole = _back_to(store, grant, window.since)
    days = [each for each in whole if each.body["span"] == "day" and _touches(each, window)]
    parts = store.memories.get(grant, [id for day in days for id in day.sources])
    fresh = window.until > now - NOT_YET_TOLD
    recent = _of_spans(store, grant, PARTS, MOST_RECENT) if fresh else []
    every_one = {each.id: each for each in (*whole, *parts, *recent) if _is_whole(each)}
    return [each for each in every_one.values() if _touches(each, window)]


def _back_to(store: Store, grant: Grant, since: datetime) -> list[Memory]:
    """The weeks and days from the newest back to a moment, and some before it."""
    limit = MOST_WHOLE
    while True:
        found = _of_spans(store, grant, WHOLES, limit)
        if len(found) < limit or found[-1].at < since - LENGTHS["week"] or limit >= MOST_READ:
            return found
        limit *= 4


def _newest(store: Store, grant: Grant) -> list[Memory]:
    """Where no time is named: what was told last."""
    return [
        *_of_spans(store, grant, WHOLES, MOST_WHOLE),
        *_of_spans(store, grant, PARTS, MOST_WHOLE),
    ]


def _of_spans(store: Store, grant: Grant, spans: Sequence[str], limit: int) -> list[Memory]:
    names = [span_name(span) for span in spans]
    found = store.memories.named(grant, names, limit=limit, kinds=[MemoryKind.EPISODE])
    return [each for each in found if _is_whole(each)]


def _touches(episode: Memory, window: Window) -> bool:
    since, until = _extent(episode)
    return since < window.until and until > window.since


def _extent(episode: Memory) -> tuple[datetime, datetime]:
    """The time it tells of; of a day and a week, all of it."""
    start, end = (text_time(episode.body[edge]) for edge in ("start", "end"))
    length = LENGTHS.get(episode.body["span"])
    if length is None:
        return start, end + timedelta(seconds=1)
    midnight = day_of(start)
    first = midnight - timedelta(days=midnight.weekday() if length.days > 1 else 0)
    return first, first + length


def _fits(episode: Memory, window: Window) -> float:
    """1 for the very time that is meant; less for a part of it, and for more than it."""
    since, until = _extent(episode)
    shared = min(until, window.until) - max(since, window.since)
    either = max(until, window.until) - min(since, window.since)
    return 0.5 * (shared / (until - since)) + 0.5 * (shared / either)


# -- by words and meaning


@dataclass(frozen=True, slots=True)
class _Found:
    """What each way of searching thinks of episodes."""

    by: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # strategy → id → score

    def reasons(self, id: str) -> dict[str, float]:
        return {name: scores[id] for name, scores in self.by.items() if id in scores}


def _found(
    store: Store, grant: Grant, question: str, pointed: Pointed | None, ids: Sequence[str]
) -> _Found:
    """Only these are looked at: they are few, and a search would read everything else, too."""
    terms = query_terms(unframed(question))
    known = store.memories.describe(grant, ids, terms)
    found = {"keyword": {id: worded(each.keyword) for id, each in known.items() if each.keyword}}
    if pointed is not None and pointed[1].any():
        near = store.vectors.scores(grant, *pointed, ids)
        found["meaning"] = {id: score for id, score in near.items() if score > 0}
    return _Found(found)


# -- choosing


def _told(episodes: Iterable[Memory], as_of: datetime | None) -> list[Memory]:
    """Those that rest on what had been told by then."""
    return [each for each in episodes if as_of is None or each.recorded_at <= as_of]


def _is_whole(memory: Memory) -> bool:
    """Whether it tells of a stretch of time, and of which; a label of a turn does not."""
    return memory.body.get("span") in SPANS and {"start", "end"} <= memory.body.keys()


def _answers(hit: Hit) -> bool:
    """Whether it is of the time that is meant, shares a word, or is close in meaning."""
    by = hit.reasons
    return "timeline" in by or "keyword" in by or by.get("meaning", 0.0) >= CLOSE


def _hit(episode: Memory, window: Window | None, found: _Found) -> Hit:
    reasons = found.reasons(episode.id)
    words = max(reasons.values(), default=0.0)
    if window is None:
        return Hit(memory=episode, score=words, reasons=reasons)
    fits = _fits(episode, window)
    score = TIME * fits + WORDS * words
    return Hit(memory=episode, score=score, reasons={"timeline": fits, **reasons})


def _best(hits: Iterable[Hit], limit: int) -> list[Hit]:
    """The best first; what is part of one that is shown already counts less."""
    left = sorted(hits, key=lambda hit: (-hit.score, -hit.memory.at.timestamp(), hit.memory.id))
    chosen: list[Hit] = []
    while left and len(chosen) < limit:
        best = max(left, key=lambda hit: hit.score * _fresh(hit.memory, chosen))
        left.remove(best)
        chosen.append(best)
    return chosen


def _fresh(episode: Memory, chosen: Sequence[Hit]) -> float:
    told = any(
        episode.id in hit.memory.sources or hit.memory.id in episode.sources for hit in chosen
    )
    return TOLD_ALREADY if told else 1.0
