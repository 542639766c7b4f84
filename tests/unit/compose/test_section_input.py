"""Section input: ages of items."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as some

from nexusmem.compose.request import SectionInput
from nexusmem.compose.router import ContextPlan
from nexusmem.core.access import Viewer
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.testing.reference_store.store import ReferenceStore

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
ALICE = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))
ASKING = SectionInput(
    store=ReferenceStore(),
    grant=ALICE.grant(),
    viewer=ALICE,
    plan=ContextPlan(sections={}, question="", steps=()),
    now=NOON,
)
YEARS = timedelta(days=40_000)
MIDDLES = some.integers(-100_000, 100_000).map(lambda each: timedelta(seconds=432 + 864 * each))
A_LITTLE = some.sampled_from([timedelta(microseconds=each) for each in (-1, 0, 1)])


@given(some.timedeltas(-YEARS, YEARS) | MIDDLES, A_LITTLE)
def test_age_is_rounded_like_round(past: timedelta, more: timedelta) -> None:
    """Includes exact halves of a hundredth of a day and their neighbours."""
    past += more

    assert repr(ASKING.age_days(NOON - past)) == repr(round(past.total_seconds() / 86_400, 2))


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
def test_age_is_in_days(past: timedelta, days: float) -> None:
    assert ASKING.age_days(NOON - past) == days
