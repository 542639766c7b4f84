"""Model costs and the daily budget."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from nexusmem.core.errors import BadOutput, BudgetSpent, ModelUnavailable
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.models import Completion, LanguageModel, Prompt, TokenUsage
from nexusmem.learn.model_budget import (
    LEARN_PURPOSE,
    RECALL_PURPOSE,
    Budget,
    ModelBudget,
    Price,
    find_price,
)
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, NOON

PROMPT = Prompt(system="s", user="u")
MIDNIGHT = NOON.replace(hour=0) + timedelta(days=1)


class Answers:
    """Returns a fixed answer, or raises a given error."""

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


def spending(clock: Clock | None = None, **settings: Any) -> ModelBudget:
    accounts = ReferenceStore().model_costs
    return ModelBudget(costs=accounts, clock=clock or Clock(), **settings)


def accounted(
    model: Answers, kept: ModelBudget, workspace: WorkspaceId = ACME, purpose: str = LEARN_PURPOSE
) -> LanguageModel:
    return kept.make_model_factory(model, "small", purpose)(workspace)


def test_tokens_are_counted_and_priced() -> None:
    kept = spending(prices={"small": Price(input=1.0, output=10.0)})

    accounted(Answers(), kept).complete(PROMPT)
    accounted(Answers(), kept).complete(PROMPT)

    usage = kept.get_usage(ACME)
    (spent,) = usage.spent
    assert (spent.purpose, spent.model, spent.calls) == ("learn", "small-2026-05", 2)
    assert (spent.input_tokens, spent.output_tokens) == (1200, 800)
    assert spent.cost == pytest.approx(2 * (600 * 1 + 400 * 10) / 1_000_000)
    assert usage.unpriced == ()


def test_model_without_price_costs_nothing_and_is_listed() -> None:
    kept = spending(prices={"large": Price(input=5, output=5)})

    accounted(Answers(), kept).complete(PROMPT)

    usage = kept.get_usage(ACME)
    assert (usage.cost_today, usage.tokens_today) == (0, 1000)
    assert usage.unpriced == ("small-2026-05",)


def test_free_model_is_not_unpriced() -> None:
    kept = spending(prices={"small": Price()})

    accounted(Answers(), kept).complete(PROMPT)

    assert kept.get_usage(ACME).unpriced == ()


def test_longest_matching_name_has_the_price() -> None:
    prices = {"small": Price(input=1), "small-2026": Price(input=2), "sma": Price(input=9)}

    assert find_price("small", prices) == Price(input=1)
    assert find_price("small-2026-05", prices) == Price(input=2)
    assert find_price("smaller", prices) is None


def test_bad_answer_is_charged() -> None:
    used = TokenUsage(input_tokens=70, output_tokens=7, model="small")
    kept = spending()

    with pytest.raises(BadOutput):
        accounted(Answers(BadOutput("prose", used=used)), kept).complete(PROMPT)

    assert kept.get_usage(ACME).tokens_today == 77


def test_unanswered_request_is_not_charged() -> None:
    kept = spending()

    with pytest.raises(ModelUnavailable):
        accounted(Answers(ModelUnavailable("away")), kept).complete(PROMPT)

    assert kept.get_usage(ACME).spent == ()


@pytest.mark.parametrize(
    "budget", [Budget(tokens_per_day=1500), Budget(cost_per_day=0.0015)], ids=["tokens", "money"]
)
def test_budget_applies_to_one_day(budget: Budget) -> None:
    clock, model = Clock(), Answers()
    kept = spending(clock, budget=budget, prices={"small": Price(input=1.0, output=1.0)})
    ours = accounted(model, kept)

    ours.complete(PROMPT)
    ours.complete(PROMPT)
    with pytest.raises(BudgetSpent, match="2026-01-01 is spent") as raised:
        ours.complete(PROMPT)

    assert model.asked == 2
    assert raised.value.until == MIDNIGHT
    assert kept.get_usage(ACME).is_exhausted
    clock.now = MIDNIGHT
    ours.complete(PROMPT)
    assert not kept.get_usage(ACME).is_exhausted


def test_rest_of_the_budget_is_never_negative() -> None:
    kept = spending(budget=Budget(cost_per_day=1.0, tokens_per_day=1500))
    assert (kept.get_usage(ACME).money_left, kept.get_usage(ACME).tokens_left) == (1.0, 1500)

    for left in (500, 0):
        accounted(Answers(), kept).complete(PROMPT)
        assert kept.get_usage(ACME).tokens_left == left


def test_no_budget_is_unlimited() -> None:
    kept = spending()

    for _ in range(5):
        accounted(Answers(), kept).complete(PROMPT)

    usage = kept.get_usage(ACME)
    assert (usage.money_left, usage.tokens_left, usage.is_exhausted) == (None, None, False)


def test_purposes_are_separate_and_share_the_budget() -> None:
    kept = spending(budget=Budget(tokens_per_day=1000))

    accounted(Answers(), kept, purpose=RECALL_PURPOSE).complete(PROMPT)

    with pytest.raises(BudgetSpent):
        accounted(Answers(), kept, purpose=LEARN_PURPOSE).complete(PROMPT)
    assert [each.purpose for each in kept.get_usage(ACME).spent] == ["recall"]


def test_each_workspace_has_its_own_budget() -> None:
    kept = spending(budget=Budget(tokens_per_day=1000))

    accounted(Answers(), kept).complete(PROMPT)

    accounted(Answers(), kept, WorkspaceId("other")).complete(PROMPT)


def test_usage_can_start_at_a_day() -> None:
    clock = Clock()
    kept = spending(clock)
    for _ in range(3):
        accounted(Answers(), kept).complete(PROMPT)
        clock.now += timedelta(days=1)
    clock.now -= timedelta(days=1)

    usage = kept.get_usage(ACME, since=clock.now - timedelta(days=1))

    assert len(usage.spent) == 2
    assert usage.tokens_today == 1000
    assert kept.get_usage(ACME, since=clock.now + timedelta(days=9)).tokens_today == 1000


def test_close_closes_the_model() -> None:
    model = Answers()

    accounted(model, spending()).close()

    assert model.closed
