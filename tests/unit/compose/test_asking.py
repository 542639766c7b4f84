"""What every section is told."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexus.compose.asking import Asking
from nexus.compose.plan import Plan
from nexus.core.access import Viewer
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.stores.inprocess import InProcessStore

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALICE = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))
ASKING = Asking(
    store=InProcessStore(),
    grant=ALICE.grant(),
    viewer=ALICE,
    plan=Plan(wanted={}, question="", steps=()),
    now=NOON,
)
YEARS = timedelta(days=40_000)
MIDDLES = some.integers(-100_000, 100_000).map(lambda each: timedelta(seconds=432 + 864 * each))
A_LITTLE = some.sampled_from([timedelta(microseconds=each) for each in (-1, 0, 1)])


@given(some.timedeltas(-YEARS, YEARS) | MIDDLES, A_LITTLE)
def test_an_age_is_rounded_as_any_number_is(past: timedelta, more: timedelta) -> None:
    """Also in the middle between two hundredths of a day, and beside it."""
    past += more

    assert repr(ASKING.age(NOON - past)) == repr(round(past.total_seconds() / 86_400, 2))


@pytest.mark.parametrize(
    ("past", "days"),
    [
        (timedelta(), 0.0),
        (timedelta(hours=6), 0.25),
        (timedelta(days=365, hours=3), 365.12),
        (timedelta(minutes=7, seconds=12), 0.01),
        (timedelta(hours=-36), -1.5),
    ],
)
def test_an_age_is_told_in_days(past: timedelta, days: float) -> None:
    assert ASKING.age(NOON - past) == days
