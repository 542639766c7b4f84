"""Memory strength: a pure function of a memory's importance, age and usage.

    importance = base + frequency of use + recency + length     (specification 003)
    strength   = importance, decaying since the last observation or use

There are two decay curves. `ebbinghaus` (specification 003) is `exp(-0.1 · hours)`. Importance and
use stretch its time scale, from half a day to more than a month. `daily` (specification 004) is
`0.95 ^ days` of the importance, raised by the logarithm of the number of uses. For a day or two,
recent use raises it as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from math import exp, log, log1p

from .canonical import EARLIEST, LATEST
from .records import MemoryKind, Tier, Trust
from .records.projections import MemoryState

HOUR_SECONDS = 3_600.0
DAY_HOURS = 24.0

FREQUENCY_WEIGHT = 0.05  # of importance, per e-fold of uses …
MAX_FREQUENCY = 0.2  # … up to this maximum
RECENCY_WEIGHT = 0.1  # of importance, right after an observation or use; a third of it after a week
RECENT_HOURS = 7 * DAY_HOURS
RICHNESS_WEIGHT = 0.1  # of importance, for a text with at least …
RICH_TERMS = 40  # … this number of index terms

IMPORTANCE_PARTS = ("base", "frequency", "recency", "richness")
DIGITS = 6  # decimal places of reported values
DEFAULT_SALIENCE = 0.5  # of content that is neither important nor small talk (learn.importance)
MAX_HOURS = 100 * 365 * DAY_HOURS  # upper bound of the binary search
HALVINGS = 60  # steps of the binary search
KNOWLEDGE_KINDS = (MemoryKind.FACT, MemoryKind.ENTITY, MemoryKind.PROCEDURE)


@dataclass(frozen=True, slots=True, kw_only=True)
class DecayCurve:
    """Parameters of a decay curve; `compute_strength` applies them."""

    per_hour: float  # decrease of the logarithm per hour
    from_importance: bool  # the initial value is the importance, otherwise 1
    stretched_by_importance: float = 0.0  # e-folds of the time scale, for an importance of 1
    stretched_by_use: float = 0.0  # growth of the time scale per e-fold of uses
    raised_by_use: float = 0.0  # relative increase per e-fold of uses
    raised_by_recency: float = 0.0  # added right after an observation or use; decays in days
    knowledge_lasts: float = 1.0  # time scale factor of facts, entities and procedures


CURVES: Mapping[str, DecayCurve] = {
    "ebbinghaus": DecayCurve(
        per_hour=0.1, from_importance=False, stretched_by_importance=4.0, stretched_by_use=1.0
    ),
    "daily": DecayCurve(
        per_hour=-log(0.95) / DAY_HOURS,
        from_importance=True,
        raised_by_use=0.25,
        raised_by_recency=0.1,
        knowledge_lasts=7.0,  # specification 004: facts fade by weeks, not days
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class StrengthSettings:
    """`memory.maintain.strength`: the decay curve and the thresholds of maintenance jobs."""

    decay_curve: str = "daily"
    archive_below: float = 0.3  # weaker memories are archived
    promote_min_importance: float = (
        0.7  # memories of an ended session this important move to tier long
    )
    promote_min_confidence: float = 0.85
    promote_min_uses: int = 5
    promote_min_conversations: int = 2
    archive_after_idle_days: int = (
        90  # a conversation without events or uses for this long is archived
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Strength:
    """The current strength of a memory and the values it was computed from."""

    value: float
    importance: float
    parts: Mapping[str, float]  # terms of the importance: base, frequency, recency, richness
    age_days: float  # since the observation or the last use
    uses: int
    conversations: int
    tier: Tier
    archived: bool
    pinned: bool
    curve: str
    confidence: float  # now: that of an inferred fact falls by 5 % per week
    promoted_to: str | None = None  # user scope that the memory was promoted to


def importance_parts(state: MemoryState, now: datetime) -> dict[str, float]:
    """Return the terms of the importance by name (specification 003)."""
    return dict(
        zip(
            IMPORTANCE_PARTS,
            _importance_terms(state, _idle_hours(state, now), _log_uses(state)),
            strict=True,
        )
    )


def compute_importance(state: MemoryState, now: datetime) -> float:
    """Return the importance of a memory, from 0 to 1."""
    return min(1.0, sum(_importance_terms(state, _idle_hours(state, now), _log_uses(state))))


def compute_strength(state: MemoryState, now: datetime, curve: DecayCurve) -> float:
    """Return the strength from 0 to 1; pinned memories and tier long do not decay."""
    if state.pinned or state.tier is Tier.LONG:
        return 1.0
    hours, used = _idle_hours(state, now), _log_uses(state)
    weight = min(1.0, sum(_importance_terms(state, hours, used)))
    time_scale = exp(curve.stretched_by_importance * weight) * (1 + curve.stretched_by_use * used)
    if state.kind in KNOWLEDGE_KINDS:
        time_scale *= curve.knowledge_lasts
    decayed = exp(-curve.per_hour * hours / time_scale)
    decayed *= weight if curve.from_importance else 1.0
    recency = curve.raised_by_recency * exp(-hours / DAY_HOURS)
    return min(1.0, decayed * (1 + curve.raised_by_use * used) + recency)


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepExclusion:
    """Memories that cannot be weak yet: of at least this salience, and observed since then."""

    salience: float
    since: datetime
    knowledge_since: datetime  # for facts, entities and procedures


NO_EXCLUSION = SweepExclusion(
    salience=2.0, since=LATEST, knowledge_since=LATEST
)  # excludes nothing: salience is at most 1


def sweep_exclusion(now: datetime, settings: StrengthSettings) -> SweepExclusion:
    """Return the memories a sweep may skip because they are above `archive_below`.

    A higher salience, a longer text and more uses only raise the strength.
    """
    curve, below = CURVES[settings.decay_curve], settings.archive_below
    since, knowledge_since = (
        now - timedelta(hours=lasts) if (lasts := hours_until_weak(kind, curve, below)) else LATEST
        for kind in (MemoryKind.PASSAGE, MemoryKind.FACT)
    )
    return SweepExclusion(salience=DEFAULT_SALIENCE, since=since, knowledge_since=knowledge_since)


@lru_cache(maxsize=100)
def hours_until_weak(kind: MemoryKind, curve: DecayCurve, below: float) -> float:
    """Return the hours until a short, unused memory of default salience falls below `below`."""
    weakest = MemoryState(
        position="",
        id="",
        kind=kind,
        at=EARLIEST,
        length=0,
        salience=DEFAULT_SALIENCE,
        confidence=0.0,
        trust=Trust.UNKNOWN,
        tier=Tier.SHORT,
        archived=False,
        pinned=False,
        learned=False,
    )
    strong, weak = 0.0, MAX_HOURS
    for _ in range(HALVINGS):
        middle = (strong + weak) / 2
        if compute_strength(weakest, EARLIEST + timedelta(hours=middle), curve) < below:
            weak = middle
        else:
            strong = middle
    return strong


def explain_strength(state: MemoryState, now: datetime, curve: str) -> Strength:
    """Return the strength of a memory with all values it was computed from."""
    parts = importance_parts(state, now)
    return Strength(
        value=round(compute_strength(state, now, CURVES[curve]), DIGITS),
        importance=round(min(1.0, sum(parts.values())), DIGITS),
        parts={name: round(part, DIGITS) for name, part in parts.items()},
        age_days=round(_idle_hours(state, now) / DAY_HOURS, DIGITS),
        uses=state.usage.count,
        conversations=state.usage.conversations,
        tier=state.tier,
        archived=state.archived,
        pinned=state.pinned,
        curve=curve,
        confidence=round(state.confidence, DIGITS),
    )


def _importance_terms(
    state: MemoryState, hours: float, used: float
) -> tuple[float, float, float, float]:
    """Return the terms of the importance, in the order of `IMPORTANCE_PARTS`."""
    return (
        state.salience,
        min(MAX_FREQUENCY, FREQUENCY_WEIGHT * used),
        RECENCY_WEIGHT * exp(-hours / RECENT_HOURS),
        RICHNESS_WEIGHT * min(1.0, state.length / RICH_TERMS),
    )


def _log_uses(state: MemoryState) -> float:
    """Return the number of uses in e-folds."""
    return log1p(state.usage.count) if state.usage.count else 0.0


def _idle_hours(state: MemoryState, now: datetime) -> float:
    """Return the hours since the observation or last use; at least 0 if the clock was set back."""
    return max(0.0, (now - state.last_active_at).total_seconds() / HOUR_SECONDS)
