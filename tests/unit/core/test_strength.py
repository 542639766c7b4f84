"""How memories fade: the curves of the seeds, and what use and importance do to them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.core.records import MemoryKind, Tier, Trust
from nexus.core.states import State
from nexus.core.strength import (
    CURVES,
    KNOWLEDGE,
    Strengthening,
    explained,
    importance,
    importance_parts,
    spared,
    strength,
)
from nexus.core.uses import Use

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
DAILY, EBBINGHAUS = CURVES["daily"], CURVES["ebbinghaus"]


def state(**more: Any) -> State:
    plain: dict[str, Any] = {
        "place": "1",
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
    return State(**{**plain, **more})


def after(days: float) -> datetime:
    return NOON + timedelta(days=days)


@pytest.mark.requirement("D7")
def test_importance_is_the_sum_of_four_parts() -> None:
    often = state(length=40, use=Use(10, 3, NOON))

    parts = importance_parts(often, after(7))

    assert parts["base"] == 0.5
    assert parts["frequency"] == pytest.approx(0.12, abs=0.001)
    assert parts["recency"] == pytest.approx(0.1 / exp(1))
    assert parts["richness"] == 0.1
    assert importance(often, after(7)) == pytest.approx(sum(parts.values()))
    assert importance(state(salience=1.0, length=400), NOON) == 1.0


@pytest.mark.requirement("D6")
def test_the_hourly_curve_lasts_from_half_a_day_to_a_month() -> None:
    """Seed 003: exp(-0.1 * hours), boosted by importance and access count; 7 to 30 days."""

    def days_until_weak(salience: float, uses: int = 0) -> float:
        told = state(salience=salience, use=Use(uses, 1, NOON) if uses else Use())
        return next(
            d / 4 for d in range(1, 2_000) if strength(told, after(d / 4), EBBINGHAUS) < 0.3
        )

    assert days_until_weak(0.0) <= 1
    assert 6 < days_until_weak(0.65) < 9
    assert 25 < days_until_weak(1.0) < 35
    assert days_until_weak(0.65, uses=5) > 2 * days_until_weak(0.65)


@pytest.mark.requirement("D6")
def test_the_daily_curve_loses_a_twentieth_a_day() -> None:
    """Seed 004: initial value * 0.95 ^ days since the last access, half of it after 14 days."""
    told = state()
    early, late = strength(told, after(60), DAILY), strength(told, after(61), DAILY)

    assert late / early == pytest.approx(0.95, abs=0.001)
    assert strength(told, after(74), DAILY) / early == pytest.approx(0.95**14, abs=0.003)
    assert 10 < next(d for d in range(99) if strength(told, after(d), DAILY) < 0.3) < 14


@pytest.mark.requirement("D6", "E23")
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_use_makes_stronger_and_younger(curve: Any) -> None:
    told = state()
    used = state(use=Use(3, 2, after(20)))

    assert strength(used, after(21), curve) > strength(told, after(21), curve)
    assert strength(used, after(21), curve) > 0.3 or curve is EBBINGHAUS


@pytest.mark.parametrize("name", CURVES)
def test_knowledge_and_what_is_kept_for_long_last(name: str) -> None:
    curve, much_later = CURVES[name], after(365)

    assert strength(state(tier=Tier.LONG), much_later, curve) == 1.0
    assert strength(state(pinned=True), much_later, curve) == 1.0
    fact, passage = state(kind=MemoryKind.FACT), state()
    assert strength(fact, after(30), curve) >= strength(passage, after(30), curve)
    assert strength(fact, after(30), DAILY) > 0.3


@given(
    salience=some.floats(0, 1),
    uses=some.integers(0, 10_000),
    length=some.integers(0, 500),
    days=some.floats(0, 3_000),
    more=some.floats(0, 100),
    curve=some.sampled_from(sorted(CURVES)),
    kind=some.sampled_from([*MemoryKind]),
)
def test_strength_is_a_share_that_only_falls_with_time(
    *,
    salience: float,
    uses: int,
    length: int,
    days: float,
    more: float,
    curve: str,
    kind: MemoryKind,
) -> None:
    use = Use(uses, 1, NOON) if uses else Use()
    one = state(salience=salience, length=length, kind=kind, use=use)

    now, later = (strength(one, after(d), CURVES[curve]) for d in (days, days + more))
    stronger = strength(one._replace(use=replace(use, count=uses + 1)), after(days), CURVES[curve])

    assert 0 <= later <= now <= 1
    assert stronger >= now


def test_a_clock_that_was_set_back_does_no_harm() -> None:
    assert strength(state(), NOON - timedelta(days=9), DAILY) == strength(state(), NOON, DAILY)


def test_it_can_be_said_why() -> None:
    told = explained(state(use=Use(2, 1, after(1)), archived=True), after(2), "daily")

    assert told.value == pytest.approx(strength(state(use=Use(2, 1, after(1))), after(2), DAILY))
    assert (told.age_days, told.uses, told.conversations) == (1.0, 2, 1)
    assert (told.tier, told.archived, told.curve) == (Tier.SHORT, True, "daily")


@given(
    told=some.builds(
        state,
        kind=some.sampled_from(sorted(MemoryKind)),
        salience=some.floats(0.5, 1.0),
        length=some.integers(0, 200),
        use=some.just(Use())
        | some.builds(Use, some.integers(1, 50), some.just(1), some.floats(0, 400).map(after)),
    ),
    curve=some.sampled_from(sorted(CURVES)),
    below=some.floats(0.0, 1.0),
    days=some.floats(-5, 400),
)
def test_what_a_sweep_is_spared_is_not_weak(
    told: State, curve: str, below: float, days: float
) -> None:
    left_out = spared(after(days), Strengthening(curve=curve, archive_below=below))

    since = left_out.knowledge_since if told.kind in KNOWLEDGE else left_out.since
    if told.salience >= left_out.salience and told.at >= since:
        assert strength(told, after(days), CURVES[curve]) >= below - 1e-9


def test_a_sweep_is_spared_nearly_all_that_is_not_weak() -> None:
    for curve in CURVES:
        for kind in (MemoryKind.PASSAGE, MemoryKind.FACT):
            left_out = spared(NOON, Strengthening(curve=curve))
            since = left_out.knowledge_since if kind in KNOWLEDGE else left_out.since
            late = timedelta(seconds=1)
            assert strength(state(kind=kind, at=since), NOON, CURVES[curve]) >= 0.3
            assert strength(state(kind=kind, at=since - late), NOON, CURVES[curve]) < 0.3
    nothing = spared(NOON, Strengthening(archive_below=1.0))
    assert nothing.since > NOON + timedelta(days=1000)
