"""Memory strength: decay curves, use, importance and sweep exclusions."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.core.protocols.usage_counts import UsageCount
from nexusmem.core.records import MemoryKind, Tier, Trust
from nexusmem.core.records.projections import MemoryState
from nexusmem.core.strength import (
    CURVES,
    KNOWLEDGE_KINDS,
    StrengthSettings,
    compute_importance,
    compute_strength,
    explain_strength,
    importance_parts,
    sweep_exclusion,
)

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAILY, EBBINGHAUS = CURVES["daily"], CURVES["ebbinghaus"]


def state(**more: Any) -> MemoryState:
    plain: dict[str, Any] = {
        "position": "1",
        "id": "0" * 32,
        "kind": MemoryKind.PASSAGE,
        "at": NOON,
        "length": 0,
        "salience": 0.5,
        "confidence": 1.0,
        "trust": Trust.DIRECT,
        "tier": Tier.SHORT,
        "archived": False,
        "pinned": False,
        "learned": False,
    }
    return MemoryState(**{**plain, **more})


def after(days: float) -> datetime:
    return NOON + timedelta(days=days)


@pytest.mark.requirement("D7")
def test_importance_is_the_sum_of_four_parts() -> None:
    often = state(length=40, usage=UsageCount(10, 3, NOON))

    parts = importance_parts(often, after(7))

    assert parts["base"] == 0.5
    assert parts["frequency"] == pytest.approx(0.12, abs=0.001)
    assert parts["recency"] == pytest.approx(0.1 / exp(1))
    assert parts["richness"] == 0.1
    assert compute_importance(often, after(7)) == pytest.approx(sum(parts.values()))
    assert compute_importance(state(salience=1.0, length=400), NOON) == 1.0


@pytest.mark.requirement("D6")
def test_ebbinghaus_curve_lasts_half_a_day_to_a_month() -> None:
    """Seed 003: exp(-0.1 * hours), boosted by importance and access count; 7 to 30 days."""

    def days_until_weak(salience: float, uses: int = 0) -> float:
        told = state(salience=salience, usage=UsageCount(uses, 1, NOON) if uses else UsageCount())
        return next(
            d / 4 for d in range(1, 2_000) if compute_strength(told, after(d / 4), EBBINGHAUS) < 0.3
        )

    assert days_until_weak(0.0) <= 1
    assert 6 < days_until_weak(0.65) < 9
    assert 25 < days_until_weak(1.0) < 35
    assert days_until_weak(0.65, uses=5) > 2 * days_until_weak(0.65)


@pytest.mark.requirement("D6")
def test_daily_curve_loses_five_percent_per_day() -> None:
    """Seed 004: initial value * 0.95 ^ days since the last access, half of it after 14 days."""
    told = state()
    early, late = compute_strength(told, after(60), DAILY), compute_strength(told, after(61), DAILY)

    assert late / early == pytest.approx(0.95, abs=0.001)
    assert compute_strength(told, after(74), DAILY) / early == pytest.approx(0.95**14, abs=0.003)
    assert 10 < next(d for d in range(99) if compute_strength(told, after(d), DAILY) < 0.3) < 14


@pytest.mark.requirement("D6", "E23")
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_use_raises_strength_and_resets_age(curve: Any) -> None:
    told = state()
    used = state(usage=UsageCount(3, 2, after(20)))

    assert compute_strength(used, after(21), curve) > compute_strength(told, after(21), curve)
    assert compute_strength(used, after(21), curve) > 0.3 or curve is EBBINGHAUS


@pytest.mark.parametrize("name", CURVES)
def test_knowledge_and_tier_long_last_longer(name: str) -> None:
    curve, much_later = CURVES[name], after(365)

    assert compute_strength(state(tier=Tier.LONG), much_later, curve) == 1.0
    assert compute_strength(state(pinned=True), much_later, curve) == 1.0
    fact, passage = state(kind=MemoryKind.FACT), state()
    assert compute_strength(fact, after(30), curve) >= compute_strength(passage, after(30), curve)
    assert compute_strength(fact, after(30), DAILY) > 0.3


@given(
    salience=some.floats(0, 1),
    uses=some.integers(0, 10_000),
    length=some.integers(0, 500),
    days=some.floats(0, 3_000),
    more=some.floats(0, 100),
    curve=some.sampled_from(sorted(CURVES)),
    kind=some.sampled_from([*MemoryKind]),
)
def test_strength_is_between_0_and_1_and_never_grows_with_time(
    *,
    salience: float,
    uses: int,
    length: int,
    days: float,
    more: float,
    curve: str,
    kind: MemoryKind,
) -> None:
    use = UsageCount(uses, 1, NOON) if uses else UsageCount()
    one = state(salience=salience, length=length, kind=kind, usage=use)

    now, later = (compute_strength(one, after(d), CURVES[curve]) for d in (days, days + more))
    stronger = compute_strength(
        one._replace(usage=replace(use, count=uses + 1)), after(days), CURVES[curve]
    )

    assert 0 <= later <= now <= 1
    assert stronger >= now


def test_clock_set_back_does_not_change_strength() -> None:
    assert compute_strength(state(), NOON - timedelta(days=9), DAILY) == compute_strength(
        state(), NOON, DAILY
    )


def test_strength_can_be_explained() -> None:
    told = explain_strength(
        state(usage=UsageCount(2, 1, after(1)), archived=True), after(2), "daily"
    )

    assert told.value == pytest.approx(
        compute_strength(state(usage=UsageCount(2, 1, after(1))), after(2), DAILY)
    )
    assert (told.age_days, told.uses, told.conversations) == (1.0, 2, 1)
    assert (told.tier, told.archived, told.curve) == (Tier.SHORT, True, "daily")


@given(
    told=some.builds(
        state,
        kind=some.sampled_from(sorted(MemoryKind)),
        salience=some.floats(0.5, 1.0),
        length=some.integers(0, 200),
        usage=some.just(UsageCount())
        | some.builds(
            UsageCount, some.integers(1, 50), some.just(1), some.floats(0, 400).map(after)
        ),
    ),
    curve=some.sampled_from(sorted(CURVES)),
    below=some.floats(0.0, 1.0),
    days=some.floats(-5, 400),
)
def test_excluded_memories_are_not_weak(
    told: MemoryState, curve: str, below: float, days: float
) -> None:
    left_out = sweep_exclusion(
        after(days), StrengthSettings(decay_curve=curve, archive_below=below)
    )

    since = left_out.knowledge_since if told.kind in KNOWLEDGE_KINDS else left_out.since
    if told.salience >= left_out.salience and told.at >= since:
        assert compute_strength(told, after(days), CURVES[curve]) >= below - 1e-9


def test_exclusion_ends_exactly_at_the_threshold() -> None:
    for curve in CURVES:
        for kind in (MemoryKind.PASSAGE, MemoryKind.FACT):
            left_out = sweep_exclusion(NOON, StrengthSettings(decay_curve=curve))
            since = left_out.knowledge_since if kind in KNOWLEDGE_KINDS else left_out.since
            late = timedelta(seconds=1)
            assert compute_strength(state(kind=kind, at=since), NOON, CURVES[curve]) >= 0.3
            assert compute_strength(state(kind=kind, at=since - late), NOON, CURVES[curve]) < 0.3
    nothing = sweep_exclusion(NOON, StrengthSettings(archive_below=1.0))
    assert nothing.since > NOON + timedelta(days=1000)
