"""Every answer is paid for, and a budget ends the day."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from nexus.core.errors import BadOutput, BudgetSpent, ModelUnavailable
from nexus.core.ids import WorkspaceId
from nexus.core.models import Completion, LanguageModel, Prompt, Tokens
from nexus.learn.spending import (
    LEARN,
    RECALL,
    Budget,
    Price,
    Spending,
    price_of,
)
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, NOON

PROMPT = Prompt(system="s", user="u")
MIDNIGHT = NOON.replace(hour=0) + timedelta(days=1)


class Answers:
    """Answers everything, or raises what it is told to."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error
        self.asked = 0
        self.closed = False

    def complete(self, prompt: Prompt, **_: Any) -> Completion:
        self.asked += 1
        if self.error:
            raise self.error
        return Completion(
            text="", data=None, input_tokens=600, output_tokens=400, model="small-2026-05"
        )

    def close(self) -> None:
        self.closed = True


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        return self.now


def spending(clock: Clock | None = None, **settings: Any) -> Spending:
    accounts = InProcessStore().accounts
    return Spending(accounts=accounts, clock=clock or Clock(), **settings)


def accounted(
    model: Answers, kept: Spending, workspace: WorkspaceId = ACME, purpose: str = LEARN
) -> LanguageModel:
    return kept.on_account(model, "small", purpose)(workspace)


def test_tokens_are_counted_and_priced() -> None:
    kept = spending(prices={"small": Price(input=1.0, output=10.0)})

    accounted(Answers(), kept).complete(PROMPT)
    accounted(Answers(), kept).complete(PROMPT)

    usage = kept.usage(ACME)
    (spent,) = usage.spent
    assert (spent.purpose, spent.model, spent.calls) == ("learn", "small-2026-05", 2)
    assert (spent.input_tokens, spent.output_tokens) == (1200, 800)
    assert spent.cost == pytest.approx(2 * (600 * 1 + 400 * 10) / 1_000_000)
    assert usage.unpriced == ()


def test_a_model_without_a_price_costs_nothing_and_is_named() -> None:
    kept = spending(prices={"large": Price(input=5, output=5)})

    accounted(Answers(), kept).complete(PROMPT)

    usage = kept.usage(ACME)
    assert (usage.cost_today, usage.tokens_today) == (0, 1000)
    assert usage.unpriced == ("small-2026-05",)


def test_a_model_that_is_free_is_not_unpriced() -> None:
    kept = spending(prices={"small": Price()})

    accounted(Answers(), kept).complete(PROMPT)

    assert kept.usage(ACME).unpriced == ()


def test_the_longest_name_that_fits_has_the_price() -> None:
    prices = {"small": Price(input=1), "small-2026": Price(input=2), "sma": Price(input=9)}

    assert price_of("small", prices) == Price(input=1)
    assert price_of("small-2026-05", prices) == Price(input=2)
    assert price_of("smaller", prices) is None


def test_a_bad_answer_is_paid_for_as_well() -> None:
    used = Tokens(input_tokens=70, output_tokens=7, model="small")
    kept = spending()

    with pytest.raises(BadOutput):
        accounted(Answers(BadOutput("prose", used=used)), kept).complete(PROMPT)

    assert kept.usage(ACME).tokens_today == 77


def test_what_was_never_answered_is_not_on_the_account() -> None:
    kept = spending()

    with pytest.raises(ModelUnavailable):
        accounted(Answers(ModelUnavailable("away")), kept).complete(PROMPT)

    assert kept.usage(ACME).spent == ()


@pytest.mark.parametrize(
    "budget", [Budget(tokens_per_day=1500), Budget(per_day=0.0015)], ids=["tokens", "money"]
)
def test_a_budget_ends_the_day_and_not_the_next(budget: Budget) -> None:
    clock, model = Clock(), Answers()
    kept = spending(clock, budget=budget, prices={"small": Price(input=1.0, output=1.0)})
    ours = accounted(model, kept)

    ours.complete(PROMPT)
    ours.complete(PROMPT)
    with pytest.raises(BudgetSpent, match="2026-01-01 is spent") as raised:
        ours.complete(PROMPT)

    assert model.asked == 2
    assert raised.value.until == MIDNIGHT
    assert kept.usage(ACME).exhausted
    clock.now = MIDNIGHT
    ours.complete(PROMPT)
    assert not kept.usage(ACME).exhausted


def test_what_is_left_is_never_less_than_nothing() -> None:
    kept = spending(budget=Budget(per_day=1.0, tokens_per_day=1500))
    assert (kept.usage(ACME).money_left, kept.usage(ACME).tokens_left) == (1.0, 1500)

    for left in (500, 0):
        accounted(Answers(), kept).complete(PROMPT)
        assert kept.usage(ACME).tokens_left == left


def test_without_a_budget_nothing_ends() -> None:
    kept = spending()

    for _ in range(5):
        accounted(Answers(), kept).complete(PROMPT)

    usage = kept.usage(ACME)
    assert (usage.money_left, usage.tokens_left, usage.exhausted) == (None, None, False)


def test_purposes_are_kept_apart_and_share_the_budget() -> None:
    kept = spending(budget=Budget(tokens_per_day=1000))

    accounted(Answers(), kept, purpose=RECALL).complete(PROMPT)

    with pytest.raises(BudgetSpent):
        accounted(Answers(), kept, purpose=LEARN).complete(PROMPT)
    assert [each.purpose for each in kept.usage(ACME).spent] == ["recall"]


def test_another_workspace_has_its_own_budget() -> None:
    kept = spending(budget=Budget(tokens_per_day=1000))

    accounted(Answers(), kept).complete(PROMPT)

    accounted(Answers(), kept, WorkspaceId("other")).complete(PROMPT)


def test_usage_can_begin_with_a_day() -> None:
    clock = Clock()
    kept = spending(clock)
    for _ in range(3):
        accounted(Answers(), kept).complete(PROMPT)
        clock.now += timedelta(days=1)
    clock.now -= timedelta(days=1)

    usage = kept.usage(ACME, since=clock.now - timedelta(days=1))

    assert len(usage.spent) == 2
    assert usage.tokens_today == 1000
    assert kept.usage(ACME, since=clock.now + timedelta(days=9)).tokens_today == 1000


def test_closing_closes_the_model() -> None:
    model = Answers()

    accounted(model, spending()).close()

    assert model.closed
