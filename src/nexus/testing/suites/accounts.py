"""What accounts promise."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from ...core.errors import InvalidInput
from ...core.protocols import Store
from ...core.records import Spent
from ..samples import ACME, NOON, OTHER

MIDNIGHT = NOON.replace(hour=0)
DAY = timedelta(days=1)


def bill(at: datetime = NOON, **more: Any) -> Spent:
    """One call of a model."""
    one = Spent(
        at=at,
        purpose="extract",
        model="small",
        calls=1,
        input_tokens=100,
        output_tokens=10,
        cost=0.25,
    )
    return replace(one, **more)


class AccountsSuite:
    """Needs a fixture `store`: an empty one."""

    def test_a_day_is_added_up(self, store: Store) -> None:
        store.accounts.add(ACME, bill())
        store.accounts.add(ACME, bill(NOON + timedelta(hours=3), calls=2, cost=0.5))

        (day,) = store.accounts.spent(ACME)

        assert day == Spent(
            at=MIDNIGHT,
            purpose="extract",
            model="small",
            calls=3,
            input_tokens=200,
            output_tokens=20,
            cost=0.75,
        )

    def test_days_purposes_and_models_are_kept_apart_and_in_order(self, store: Store) -> None:
        for purpose, model in (("extract", "small"), ("answer", "small"), ("answer", "large")):
            for at in (NOON + DAY, NOON):
                store.accounts.add(ACME, bill(at, purpose=purpose, model=model))

        told = [(each.at, each.purpose, each.model) for each in store.accounts.spent(ACME)]

        kinds = [("answer", "large"), ("answer", "small"), ("extract", "small")]
        assert told == [(at, *kind) for at in (MIDNIGHT, MIDNIGHT + DAY) for kind in kinds]

    def test_since_begins_with_its_whole_day(self, store: Store) -> None:
        for day in range(3):
            store.accounts.add(ACME, bill(NOON + day * DAY))

        last = store.accounts.spent(ACME, since=NOON + DAY + timedelta(hours=11))

        assert [each.at for each in last] == [MIDNIGHT + DAY, MIDNIGHT + 2 * DAY]
        assert store.accounts.spent(ACME, since=NOON + 3 * DAY) == []

    def test_a_day_is_one_of_utc(self, store: Store) -> None:
        west = timezone(timedelta(hours=-5))
        evening = datetime(2026, 1, 1, 22, tzinfo=west)  # it is the 2nd in UTC

        store.accounts.add(ACME, bill(evening))

        assert [each.at for each in store.accounts.spent(ACME)] == [MIDNIGHT + DAY]
        assert store.accounts.spent(ACME, since=evening)

    def test_every_workspace_has_its_own(self, store: Store) -> None:
        store.accounts.add(ACME, bill())

        assert store.accounts.spent(OTHER) == []
        assert store.workspaces() == []  # nothing was told yet

    @pytest.mark.parametrize("what", ["calls", "input_tokens", "output_tokens", "cost"])
    def test_nothing_costs_less_than_nothing(self, store: Store, what: str) -> None:
        with pytest.raises(InvalidInput):
            store.accounts.add(ACME, bill(NOON, **{what: -1}))

        assert store.accounts.spent(ACME) == []

    def test_nothing_is_lost_when_many_add_at_once(self, store: Store) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda _: store.accounts.add(ACME, bill()), range(80)))

        (day,) = store.accounts.spent(ACME)

        assert (day.calls, day.input_tokens, day.cost) == (80, 8_000, 20.0)
