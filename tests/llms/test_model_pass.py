"""Model pass through the real clients: results, costs and failures."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from tests.answers import answer, fact, landmark, named, worded
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

from nexusmem.core.errors import BadOutput, BudgetSpent, ModelUnavailable
from nexusmem.core.protocols.models import LanguageModel
from nexusmem.core.records import MemoryKind
from nexusmem.learn.model_budget import Budget, ModelBudget, Price
from nexusmem.learn.model_pass.reader import ModelReader, ModelReadLimits
from nexusmem.prompts import load_prompt
from nexusmem.testing.reference_store.store import ReferenceStore

CHOICE = event("I chose PostgreSQL last Tuesday.")
GOOD = says(worded(facts=[fact()], landmarks=[landmark()], names=[named()]))
FORGIVEN = {
    "a fence": says(f"```json\n{worded(facts=[fact()])}\n```"),
    "a thought": says(f"<think>Hm, {{}}.</think>{worded(facts=[fact()])}"),
    "no empty lists": says(json.dumps({"facts": [fact()]})),
    "no empty keys": says(
        json.dumps({"facts": [{"subject": "alice", "predicate": "chose", "object": "PostgreSQL"}]})
    ),
    "more keys": says(worded(facts=[fact(sentence="Alice chose it.", value=None)], notes=["x"])),
    "words for nothing": says(worded(facts=[fact(by="none", when="null")], landmarks="None")),
    "a number for a list": says(worded(facts=[fact(turns=1)])),
    "another spelling": says(worded(facts=[fact(predicate="chose", status="Past")])),
    "a bad item beside it": says(worded(facts=[{"subject": "bob"}, fact()])),
    "a wrong turn": says(worded(facts=[fact(turns=[4])])),
}
BAD = {
    "prose": says("Sure! Alice chose PostgreSQL."),
    "half of it": says(worded(facts=[fact()])[:-20]),
    "cut off": is_cut_off(worded(facts=[fact()])[:-20]),
    "nothing": says(""),
    "another shape": says(json.dumps({"hello": []})),
    "another certainty": says(worded(facts=[fact(certainty="0.99")])),
    "a list for a name": says(worded(facts=[fact(subject=["alice"])])),
    "a list": says("[]"),
    "five megabytes": says(worded(facts=[fact("x" * 5_000_000)])),
    "a million brackets": says("[" * 900_000),
    "half a character": says(worded(facts=[fact("\ud83d")])),
    "only pronouns": says(worded(facts=[fact(subject="She")])),
    "a refusal": refuses("I cannot help with that."),
}
AWAY = {
    "401": (status(401), "check api_key"),
    "404": (status(404), "check api_key"),
    "429": (status(429), "429"),
    "500": (status(500), "500"),
    "dropped": (dropped(), "did not answer"),
    "half a reply": (truncated(), "did not answer"),
    "page": (page(), "did not answer"),
    "another document": (sends({"hello": 1}), "did not answer"),
}


@pytest.fixture
def reading() -> Callable[..., ModelReader]:
    def reading(model: LanguageModel, budget: Budget | None = None) -> ModelReader:
        spending = ModelBudget(
            costs=ReferenceStore().model_costs,
            clock=lambda: NOON,
            prices={"model": Price(input=1_000, output=10_000)},
            budget=budget or Budget(),
        )
        return ModelReader(model, "model", load_prompt("one_pass"), ModelReadLimits(), spending)

    return reading


def test_every_provider_returns_items_and_usage(provider, server, reading) -> None:
    server.script(GOOD)
    reader = reading(provider())

    found = reader.read_turns([CHOICE])

    kinds = [draft.kind for draft in found.drafts]
    assert kinds == [MemoryKind.FACT, MemoryKind.LANDMARK]
    (spent,) = reader.model_budget.get_usage(ACME).spent
    assert (spent.model, spent.calls) == ("model-2026", 1)
    assert (spent.input_tokens, spent.output_tokens) == (11, 7)
    assert spent.cost == pytest.approx((11 * 1_000 + 7 * 10_000) / 1_000_000)


def test_one_call_reads_all_turns(provider, server, reading) -> None:
    server.script(GOOD)

    reading(provider()).read_turns([CHOICE, event("We start on Monday.", key="2")])

    (request,) = server.requests
    sent = json.dumps(request.body)
    assert "I chose PostgreSQL last Tuesday." in sent
    assert "We start on Monday." in sent
    assert "landmarks" in sent


@pytest.mark.parametrize("reply", FORGIVEN.values(), ids=FORGIVEN)
def test_clear_answer_in_another_form_needs_no_second_call(
    make, server, reading, reply: Reply
) -> None:
    server.script(reply)

    (draft,) = reading(make("openai")).read_turns([CHOICE]).drafts

    assert (draft.body["predicate"], draft.body["object"]) == ("CHOSE", "PostgreSQL")
    assert len(server.requests) == 1


def test_nothing_to_learn_is_an_easy_answer(make, server, reading) -> None:
    server.script(says("{}"))

    assert reading(make("openai")).read_turns([CHOICE]).drafts == ()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (says(worded(facts=[fact(certainty="0.99")])), "facts[0].certainty"),
        (says(worded(facts=[fact(subject="She")])), "name is a pronoun"),
        (says("Sure!"), "not JSON"),
    ],
    ids=["certainty", "pronoun", "prose"],
)
def test_correction_names_the_fault(make, server, reading, bad: Reply, fault: str) -> None:
    server.script(bad, GOOD)

    reading(make("openai")).read_turns([CHOICE])

    assert fault in server.requests[1].body["messages"][1]["content"]


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_bad_output_is_corrected_once(make, server, reading, bad: Reply) -> None:
    server.script(bad, GOOD)
    reader = reading(make("openai"))

    assert len(reader.read_turns([CHOICE]).drafts) == 2

    first, second = (request.body["messages"][1]["content"] for request in server.requests)
    assert second.startswith(first)
    assert ("could not be used" in second) != bad.said.cut_off
    assert len(second) < len(first) + 1_000
    assert reader.model_budget.get_usage(ACME).spent[0].calls == 2


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_second_bad_output_raises_and_is_charged(make, server, reading, bad: Reply) -> None:
    server.script(bad, bad, GOOD)
    reader = reading(make("openai"))

    with pytest.raises(BadOutput) as raised:
        reader.read_turns([CHOICE])

    assert len(server.requests) == 2
    assert len(str(raised.value)) < 300
    assert reader.model_budget.get_usage(ACME).tokens_today >= 2 * (11 + 7)


@pytest.mark.parametrize(("reply", "why"), AWAY.values(), ids=AWAY)
def test_unavailable_provider_costs_nothing(make, server, reading, reply: Reply, why: str) -> None:
    server.script(*[reply] * 10)
    reader = reading(make("openai"))

    with pytest.raises(ModelUnavailable, match=why):
        reader.read_turns([CHOICE])

    assert reader.model_budget.get_usage(ACME).spent == ()


def test_slow_provider_times_out(make, server, reading, waits) -> None:
    server.script(*[status(503, retry_after="5")] * 10)

    with pytest.raises(ModelUnavailable):
        reading(make("openai", timeout_seconds=9)).read_turns([CHOICE])

    assert sum(waits) < 9


def test_transient_failure_is_retried(make, server, reading) -> None:
    server.script(status(429), dropped(), GOOD)

    assert len(reading(make("openai")).read_turns([CHOICE]).drafts) == 2


def test_spent_budget_sends_nothing(make, server, reading) -> None:
    server.script(GOOD, GOOD)
    reader = reading(make("openai"), Budget(tokens_per_day=18))
    reader.read_turns([CHOICE])

    with pytest.raises(BudgetSpent):
        reader.read_turns([event("I chose Rust.", key="2")])

    assert len(server.requests) == 1


def test_correction_needs_budget(make, server, reading) -> None:
    server.script(BAD["prose"], GOOD)

    with pytest.raises(BudgetSpent):
        reading(make("openai"), Budget(tokens_per_day=18)).read_turns([CHOICE])

    assert len(server.requests) == 1


def test_empty_answer_is_valid(provider, server, reading) -> None:
    server.script(says(json.dumps(answer())))

    assert reading(provider()).read_turns([CHOICE]).drafts == ()


def test_cached_input_counts_as_input(make, server, reading) -> None:
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

    reader.read_turns([CHOICE])

    (spent,) = reader.model_budget.get_usage(ACME).spent
    assert (spent.input_tokens, spent.output_tokens) == (125, 3)
