"""Behaviour shared by the models of all providers, through their real clients."""

from __future__ import annotations

import json

import pytest
from tests.loopback import (
    Reply,
    dropped,
    hang,
    is_cut_off,
    page,
    says,
    sends,
    slow,
    status,
    truncated,
)

from nexusmem.core.errors import BadOutput, ConfigError, InvalidInput, ModelUnavailable
from nexusmem.core.protocols.models import Completion, Prompt
from nexusmem.runtime.backoff import RetryPolicy

PROMPT = Prompt(system="Name a drink.", user="It is cold outside.")
DRINK = {
    "type": "object",
    "properties": {"drink": {"type": "string"}, "sugar": {"type": "integer"}},
    "required": ["drink", "sugar"],
    "additionalProperties": False,
}
TEA = '{"drink": "tea", "sugar": 1}'

FAILING = {
    "429": status(429),
    "500": status(500),
    "529": status(529),
    "dropped": dropped(),
    "half a reply": truncated(),
    "page": page(),
    "another document": sends({"hello": "world"}),
    "a list": sends([]),
}
BAD = {
    "prose": (says("Sure! Tea with one sugar."), "not JSON"),
    "only a thought": (says("<think>{}</think>"), "not JSON"),
    "half of it": (says(TEA[:-3]), "not JSON"),
    "cut off": (is_cut_off(TEA[:-3]), "cut off"),
    "brackets without end": (says("[" * 100_000), "not JSON"),
    "half a character": (says('{"drink": "\\ud83d", "sugar": 1}'), "not JSON"),
    "another shape": (says('{"drink": ["tea"], "sugar": 1}'), "wrong shape"),
    "true for one": (says('{"drink": "tea", "sugar": true}'), "wrong shape"),
    "something missing": (says('{"drink": "tea"}'), "wrong shape"),
    "another object": (says('{"food": "bread"}'), "wrong shape"),
    "a sugar of words": (says('{"drink": "tea", "sugar": "some"}'), "wrong shape"),
    "not a number": (says('{"drink": "tea", "sugar": NaN}'), "wrong shape"),
    "nothing": (says(""), "empty"),
    "only spaces": (says(" \n"), "empty"),
    "five megabytes": (says(json.dumps({"drink": "x" * 5_000_000, "sugar": 1})), "too long"),
}


def test_prompt_is_answered_with_text(provider, server):
    completion = provider().complete(PROMPT, max_tokens=99)

    assert completion == Completion(
        text="hello", data=None, input_tokens=11, output_tokens=7, model="model-2026"
    )
    [request] = server.requests
    assert "Name a drink." in str(request.body)
    assert "It is cold outside." in str(request.body)
    assert "99" in str(request.body)


def test_schema_is_sent_and_the_answer_validated(provider, server):
    server.script(says(TEA))

    completion = provider().complete(PROMPT, schema=DRINK)

    assert completion.data == {"drink": "tea", "sugar": 1}
    assert completion.text == TEA
    assert str(DRINK["properties"]) in str(server.requests[0].body)


FORGIVEN = {
    "prose around it": f"Sure! Here it is: {TEA} Enjoy!",
    "a fence around it": f"```json\n{TEA}\n```",
    "a thought before it": f"<think>Tea {{or coffee}}?</think>\n{TEA}",
    "something more": '{"drink": "tea", "sugar": 1, "milk": 2}',
    "a number as a text": '{"drink": "tea", "sugar": "1"}',
    "another case": '{"Drink": "tea", "SUGAR": 1.0}',
}


@pytest.mark.parametrize("text", FORGIVEN.values(), ids=FORGIVEN)
def test_clear_answer_in_another_form_is_accepted(provider, server, text: str):
    server.script(says(text))

    assert provider().complete(PROMPT, schema=DRINK).data == {"drink": "tea", "sugar": 1}
    assert len(server.requests) == 1


@pytest.mark.parametrize(("reply", "problem"), BAD.values(), ids=BAD)
def test_bad_output_names_the_problem_and_is_not_retried(
    provider, server, waits, reply: Reply, problem: str
):
    server.script(reply)

    with pytest.raises(BadOutput) as raised:
        provider().complete(PROMPT, schema=DRINK)

    assert raised.value.problem == problem
    assert reply.said.text.startswith(raised.value.output)
    assert len(raised.value.output) < 5_000
    assert len(server.requests) == 1
    assert waits == []


def test_error_message_has_no_text_of_the_answer(provider, server):
    server.script(says('{"drink": "alice\'s secret"}'), says("alice's secret"))

    for _ in range(2):
        with pytest.raises(BadOutput) as raised:
            provider().complete(PROMPT, schema=DRINK)
        assert "secret" not in str(raised.value)
        assert "secret" in raised.value.output


def test_cut_off_text_is_bad_output(provider, server):
    server.script(is_cut_off("Once upon a ti"))

    with pytest.raises(BadOutput, match="cut off after 7 tokens") as raised:
        provider().complete(PROMPT)

    assert raised.value.output == "Once upon a ti"


@pytest.mark.parametrize("reply", FAILING.values(), ids=FAILING)
def test_transient_failure_is_retried(provider, server, waits, reply: Reply):
    server.script(reply, reply)

    assert provider().complete(PROMPT).text == "hello"
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("reply", FAILING.values(), ids=FAILING)
def test_lasting_failure_raises_model_unavailable(provider, server, waits, reply: Reply):
    server.script(*[reply] * 5)

    with pytest.raises(ModelUnavailable, match="gave up after 5 attempts") as raised:
        provider().complete(PROMPT)

    assert raised.value.__cause__ is not None
    assert waits == [0.5, 1.0, 2.0, 4.0]


def test_retry_after_is_honoured_up_to_a_limit(provider, server, waits):
    server.script(status(429, retry_after="2"), status(429, retry_after="3600"))

    provider().complete(PROMPT)

    assert waits == [2.0, 5.0]


def test_retries_stop_before_the_deadline(provider, server, waits):
    server.script(*[status(503)] * 5)

    with pytest.raises(ModelUnavailable, match="gave up after 3 attempts"):
        provider().complete(PROMPT, timeout=2.0)

    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("code", [400, 401, 403, 404, 422])
def test_rejected_request_is_not_repeated(provider, server, waits, code: int):
    server.script(status(code))

    with pytest.raises(ModelUnavailable) as raised:
        provider().complete(PROMPT)

    assert waits == []
    assert "cold" not in str(raised.value)
    assert "scripted" not in str(raised.value)
    assert raised.value.__cause__ is not None


def test_hanging_provider_raises_model_unavailable(provider, server):
    model = provider(patience=RetryPolicy())
    model.complete(PROMPT)  # imports the SDK
    server.script(hang())

    with pytest.raises(ModelUnavailable):
        model.complete(PROMPT, timeout=0.2)


def test_slow_answer_that_keeps_arriving_is_used(provider, server):
    model = provider(patience=RetryPolicy(), timeout_seconds=1.0)
    model.complete(PROMPT)  # imports the SDK
    server.script(slow("x" * 400, parts=8, pause_seconds=0.2))

    assert model.complete(PROMPT).text == "x" * 400


def test_silence_within_an_answer_ends_it(provider, server):
    model = provider(patience=RetryPolicy(attempts=1), timeout_seconds=0.2)
    model.complete(PROMPT)  # imports the SDK
    server.script(slow("x" * 400, parts=2, pause_seconds=1.0))

    with pytest.raises(ModelUnavailable, match="did not answer"):
        model.complete(PROMPT)


def test_refused_connection_raises_model_unavailable(provider):
    with pytest.raises(ModelUnavailable):
        provider(base_url="http://127.0.0.1:9").complete(PROMPT)


def test_max_tokens_is_capped_by_the_settings(provider, server):
    model = provider(max_output_tokens=50)

    model.complete(PROMPT, max_tokens=1234)
    model.complete(PROMPT)

    for request in server.requests:
        assert "1234" not in str(request.body)
        assert "50" in str(request.body)


def test_lone_surrogate_can_be_sent(provider, server):
    provider().complete(Prompt(system="Repeat.", user="tea \ud83d"))

    assert "tea ?" in str(server.requests[0].body)


def test_unsupported_schema_is_rejected_before_sending(provider, server):
    with pytest.raises(InvalidInput, match="minLength"):
        provider().complete(PROMPT, schema={"type": "string", "minLength": 3})

    assert server.requests == []


@pytest.mark.parametrize("options", [{"timeout_seconds": 0}, {"max_output_tokens": 0}], ids=str)
def test_timeout_must_be_positive(provider, options):
    with pytest.raises(ConfigError, match="timeout_seconds must be above 0"):
        provider(**options)


def test_model_works_after_close(provider):
    model = provider()
    model.complete(PROMPT)

    model.close()
    model.close()

    assert model.complete(PROMPT).text == "hello"
