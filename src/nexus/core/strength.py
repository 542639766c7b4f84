"""How strongly something is remembered: a pure function of what it is, its age and its use.

    importance = base + how often it was used + how lately + how much it says     (seed 003)
    strength   = importance, fading with the time since it was last told or used

Two curves are known. `ebbinghaus` is seed 003's: `exp(-0.1 · hours)`, which importance and use
stretch, from half a day for what matters little to a month and more. `daily` is seed 004's:
`0.95 ^ days` of an initial value, raised by the logarithm of how often it was used and, for a
day or two, by how lately.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from math import exp, log, log1p

from .canonical import EARLIEST, LATEST
from .records import MemoryKind, Tier, Trust
from .states import State

HOUR_SECONDS = 3_600.0
DAY_HOURS = 24.0

FREQUENT = 0.05  # of importance, for each e-fold of uses …
MOST_FREQUENT = 0.2  # … and at most
RECENT = 0.1  # of importance, for what was told or used just now; a third of it after a week
RECENT_HOURS = 7 * DAY_HOURS
RICH = 0.1  # of importance, for what says much …
RICH_TERMS = 40  # … which is so many words that count

PARTS = ("base", "frequency", "recency", "richness")
DIGITS = 6  # of what is shown
USUAL = 0.5  # salience of what nobody called important, or idle talk
LONGEST_HOURS = 100 * 365 * DAY_HOURS  # that anything is looked at for
HALVINGS = 60
KNOWLEDGE = (MemoryKind.FACT, MemoryKind.ENTITY, MemoryKind.PROCEDURE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """How strength fades. See `strength` for what each number does."""

    per_hour: float  # what an hour takes off the logarithm
    from_importance: bool  # begins at its importance; else at 1
    stretched_by_importance: float = 0.0  # e-folds of time, for an importance of 1
    stretched_by_use: float = 0.0  # so many times as long, for each e-fold of uses
    raised_by_use: float = 0.0  # a share of what is left, for each e-fold of uses
    raised_by_recency: float = 0.0  # added just after it was told or used; gone in a few days
    knowledge_lasts: float = 1.0  # so many times as long, for facts, entities and procedures


CURVES: Mapping[str, Curve] = {
    "ebbinghaus": Curve(
        per_hour=0.1, from_importance=False, stretched_by_importance=4.0, stretched_by_use=1.0
    ),
    "daily": Curve(
        per_hour=-log(0.95) / DAY_HOURS,
        from_importance=True,
        raised_by_use=0.25,
        raised_by_recency=0.1,
        knowledge_lasts=7.0,  # seed 004 lets the confidence of facts fade by weeks, not days
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Strengthening:
    """`memory.maintain.strength`: how memories fade, and what follows from it."""

    curve: str = "daily"
    archive_below: float = 0.3  # what is weaker is no longer brought up unasked
    important_from: float = 0.7  # of an ended session, what is as important is kept for long
    promote_confidence: float = 0.85
    promote_uses: int = 5
    promote_conversations: int = 2
    idle_days: int = 90  # without a word or a use: a conversation is archived


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """How strong a memory is now, with what makes it so."""

    value: float
    importance: float
    parts: Mapping[str, float]  # of the importance: base, frequency, recency, richness
    age_days: float  # since it was told, or last used
    uses: int
    conversations: int
    tier: Tier
    archived: bool
    pinned: bool
    curve: str
    promoted_to: str | None = None  # the scope of a person, if it proved itself


def importance_parts(state: State, now: datetime) -> dict[str, float]:
    """Seed 003's sum, part by part."""
    return dict(zip(PARTS, _parts(state, _hours(state, now), _used(state)), strict=True))


def importance(state: State, now: datetime) -> float:
    return min(1.0, sum(_parts(state, _hours(state, now), _used(state))))


def strength(state: State, now: datetime, curve: Curve) -> float:
    """From 0 to 1. What is pinned or kept for long does not fade."""
    if state.pinned or state.tier is Tier.LONG:
        return 1.0
    hours, used = _hours(state, now), _used(state)
    weight = min(1.0, sum(_parts(state, hours, used)))
    lasts = exp(curve.stretched_by_importance * weight) * (1 + curve.stretched_by_use * used)
    if state.kind in KNOWLEDGE:
        lasts *= curve.knowledge_lasts
    left = exp(-curve.per_hour * hours / lasts) * (weight if curve.from_importance else 1.0)
    lately = curve.raised_by_recency * exp(-hours / DAY_HOURS)
    return min(1.0, left * (1 + curve.raised_by_use * used) + lately)


@dataclass(frozen=True, slots=True, kw_only=True)
class Spared:
    """What cannot be weak yet: worth as much as this or more, and told since then."""

    salience: float
    since: datetime
    knowledge_since: datetime  # of facts, entities and procedures


NOTHING_SPARED = Spared(salience=2.0, since=LATEST, knowledge_since=LATEST)  # nothing is worth 2


def spared(now: datetime, settings: Strengthening) -> Spared:
    """What a sweep need not look at: more worth, more words and more uses only make it stronger."""
    curve, below = CURVES[settings.curve], settings.archive_below
    since, knowledge_since = (
        now - timedelta(hours=lasts) if (lasts := hours_until_weak(kind, curve, below)) else LATEST
        for kind in (MemoryKind.PASSAGE, MemoryKind.FACT)
    )
    return Spared(salience=USUAL, since=since, knowledge_since=knowledge_since)


@lru_cache(maxsize=100)
def hours_until_weak(kind: MemoryKind, curve: Curve, below: float) -> float:
    """For how long something of the usual worth is strong, that says little and nobody uses."""
    weakest = State(
        place="",
        id="",
        kind=kind,
        at=EARLIEST,
        length=0,
        salience=USUAL,
        confidence=0.0,
        trust=Trust.UNKNOWN,
        tier=Tier.SHORT,
        archived=False,
        pinned=False,
        learned=False,
    )
    strong, weak = 0.0, LONGEST_HOURS
    for _ in range(HALVINGS):
        middle = (strong + weak) / 2
        if strength(weakest, EARLIEST + timedelta(hours=middle), curve) < below:
            weak = middle
        else:
            strong = middle
    return strong


def explained(state: State, now: datetime, curve: str) -> Strength:
    """The same with everything that makes it so."""
    parts = importance_parts(state, now)
    return Strength(
        value=round(strength(state, now, CURVES[curve]), DIGITS),
        importance=round(min(1.0, sum(parts.values())), DIGITS),
        parts={name: round(part, DIGITS) for name, part in parts.items()},
        age_days=round(_hours(state, now) / DAY_HOURS, DIGITS),
        uses=state.use.count,
        conversations=state.use.conversations,
        tier=state.tier,
        archived=state.archived,
        pinned=state.pinned,
        curve=curve,
    )


def _parts(state: State, hours: float, used: float) -> tuple[float, float, float, float]:
    """What the importance is the sum of, in the order of `PARTS`."""
    return (
        state.salience,
        min(MOST_FREQUENT, FREQUENT * used),
        RECENT * exp(-hours / RECENT_HOURS),
        RICH * min(1.0, state.length / RICH_TERMS),
    )


def _used(state: State) -> float:
    """In e-folds."""
    return log1p(state.use.count) if state.use.count else 0.0


def _hours(state: State, now: datetime) -> float:
    """Since it was told or used; a clock that was set back makes nothing younger than new."""
    return max(0.0, (now - state.last_active_at).total_seconds() / HOUR_SECONDS)
