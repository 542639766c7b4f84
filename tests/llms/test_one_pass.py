"""A model reads turns, through the real clients: what it finds, what it costs, how it fails."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.answers import answer, fact, label, landmark, worded
from tests.loopback import (
    Reply,
    dropped,
    is_cut_off,
    page,
    refuses,
    says,
    sends,
    status,
    truncated,
)
from tests.unit.making import ACME, NOON, event

from nexus.core.errors import BadOutput, BudgetSpent, ModelUnavailable
from nexus.core.models import LanguageModel
from nexus.core.records import MemoryKind
from nexus.learn.one_pass import Limits, OnePass
from nexus.learn.spending import Budget, Price, Spending
from nexus.prompts import load_prompt
from nexus.stores.inprocess import InProcessStore

CHOICE = event("I chose PostgreSQL last Tuesday.")
GOOD = says(worded(facts=[fact()], landmarks=[landmark()], labels=[label()]))
BAD = {
    "prose": says("Sure! Alice chose PostgreSQL."),
    "prose around it": says(f"Here it is: {worded(facts=[fact()])}"),
    "half of it": says(worded(facts=[fact()])[:-20]),
    "cut off": is_cut_off(worded(facts=[fact()])[:-20]),
    "nothing": says(""),
    "another shape": says(json.dumps({"facts": []})),
    "another certainty": says(worded(facts=[fact(certainty="0.99")])),
    "a number for a name": says(worded(facts=[fact(subject=7)])),
    "a text for turns": says(worded(facts=[fact(turns="1")])),
    "a list": says("[]"),
    "five megabytes": says(worded(facts=[fact(sentence="x" * 5_000_000)])),
    "a million brackets": says("[" * 900_000),
    "half a character": says(worded(facts=[fact(sentence="\ud83d")])),
    "only turns that do not exist": says(worded(facts=[fact(turns=[9])])),
    "a refusal": refuses("I cannot help with that."),
}
AWAY = {
    "401": (status(401), "check api_key"),
    "404": (status(404), "check api_key"),
    "429": (status(429), "429"),
    "500": (status(500), "500"),
    "dropped": (dropped(), "no answer"),
    "half a reply": (truncated(), "no answer"),
    "page": (page(), "no answer"),
    "another document": (sends({"hello": 1}), "no answer"),
}


@pytest.fixture
def reading() -> Callable[..., OnePass]:
    def reading(model: LanguageModel, budget: Budget | None = None) -> OnePass:
        spending = Spending(
            accounts=InProcessStore().accounts,
            clock=lambda: NOON,
            prices={"model": Price(input=1_000, output=10_000)},
            budget=budget or Budget(),
        )
        return OnePass(model, "model", load_prompt("one_pass"), Limits(), spending)

    return reading


def test_every_provider_reads_turns_and_tells_what_it_took(provider, server, reading) -> None:
    server.script(GOOD)
    reader = reading(provider())

    found = reader.read([CHOICE])

    kinds = [draft.kind for draft in found.drafts]
    assert kinds == [MemoryKind.FACT, MemoryKind.LANDMARK, MemoryKind.EPISODE]
    (spent,) = reader.spending.usage(ACME).spent
    assert (spent.model, spent.calls) == ("model-2026", 1)
    assert (spent.input_tokens, spent.output_tokens) == (11, 7)
    assert spent.cost == pytest.approx((11 * 1_000 + 7 * 10_000) / 1_000_000)


def test_every_provider_is_asked_once_for_everything(provider, server, reading) -> None:
    server.script(GOOD)

    reading(provider()).read([CHOICE, event("We start on Monday.", key="2")])

    (request,) = server.requests
    sent = json.dumps(request.body)
    assert "I chose PostgreSQL last Tuesday." in sent
    assert "We start on Monday." in sent
    assert "landmarks" in sent


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_output_is_corrected_once(make, server, reading, bad: Reply) -> None:
    server.script(bad, GOOD)
    reader = reading(make("openai"))

    assert len(reader.read([CHOICE]).drafts) == 3

    first, second = (request.body["messages"][1]["content"] for request in server.requests)
    assert second.startswith(first)
    assert "could not be used" in second
    assert len(second) < len(first) + 1_000
    assert reader.spending.usage(ACME).spent[0].calls == 2


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_output_twice_is_given_up_and_paid_for(make, server, reading, bad: Reply) -> None:
    server.script(bad, bad, GOOD)
    reader = reading(make("openai"))

    with pytest.raises(BadOutput) as raised:
        reader.read([CHOICE])

    assert len(server.requests) == 2
    assert len(str(raised.value)) < 300
    assert reader.spending.usage(ACME).tokens_today == 2 * (11 + 7)


@pytest.mark.parametrize(("reply", "why"), AWAY.values(), ids=AWAY)
def test_a_provider_that_is_away_costs_nothing_and_says_why(
    make, server, reading, reply: Reply, why: str
) -> None:
    server.script(*[reply] * 10)
    reader = reading(make("openai"))

    with pytest.raises(ModelUnavailable, match=why):
        reader.read([CHOICE])

    assert reader.spending.usage(ACME).spent == ()


def test_a_slow_provider_is_waited_for_only_so_long(make, server, reading, waits) -> None:
    server.script(*[status(503, retry_after="5")] * 10)

    with pytest.raises(ModelUnavailable):
        reading(make("openai", timeout_seconds=9)).read([CHOICE])

    assert sum(waits) < 9


def test_a_passing_failure_is_not_noticed(make, server, reading) -> None:
    server.script(status(429), dropped(), GOOD)

    assert len(reading(make("openai")).read([CHOICE]).drafts) == 3


def test_a_spent_budget_sends_nothing(make, server, reading) -> None:
    server.script(GOOD, GOOD)
    reader = reading(make("openai"), Budget(tokens_per_day=18))
    reader.read([CHOICE])

    with pytest.raises(BudgetSpent):
        reader.read([CHOICE])

    assert len(server.requests) == 1


def test_a_correction_is_not_asked_for_without_money(make, server, reading) -> None:
    server.script(BAD["prose"], GOOD)

    with pytest.raises(BudgetSpent):
        reading(make("openai"), Budget(tokens_per_day=18)).read([CHOICE])

    assert len(server.requests) == 1


def test_an_answer_without_anything_to_say_is_fine(provider, server, reading) -> None:
    server.script(says(json.dumps(answer())))

    assert reading(provider()).read([CHOICE]).drafts == ()


def test_input_that_a_cache_held_is_input(make, server, reading) -> None:
    usage = {"input_tokens": 5, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20}
    server.script(
        sends(
            {
                "id": "msg_1",
                "type": "message",
                "role": "assistant",
                "model": "model-2026",
                "content": [{"type": "text", "text": worded()}],
                "stop_reason": "end_turn",
                "stop_sequence": None,
                "usage": {**usage, "output_tokens": 3},
            }
        )
    )
    reader = reading(make("anthropic"))

    reader.read([CHOICE])

    (spent,) = reader.spending.usage(ACME).spent
    assert (spent.input_tokens, spent.output_tokens) == (125, 3)
