"""Behaviour of single providers."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest
from tests.loopback import refuses, says, sends, status

from nexusmem.core.errors import BadOutput, ConfigError, MissingExtra, ModelUnavailable
from nexusmem.core.protocols.models import Prompt
from nexusmem.llms.anthropic import AnthropicModel
from nexusmem.llms.gemini import GeminiModel
from nexusmem.llms.ollama import OllamaModel
from nexusmem.llms.openai import OpenAIModel
from nexusmem.runtime.provider_sdk import INVALID_RESPONSE_ERRORS

PROMPT = Prompt(system="Name a drink.", user="It is cold outside.")
SCHEMA = {"type": "string"}
KEYED = {
    "openai": (OpenAIModel, ["OPENAI_API_KEY"]),
    "anthropic": (AnthropicModel, ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]),
    "gemini": (GeminiModel, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
}


@pytest.fixture
def nobody(monkeypatch, tmp_path) -> None:
    """An environment without API keys and profiles."""
    for _, names in KEYED.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_PROFILE", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("GOOGLE_GENAI_USE_VERTEXAI", raising=False)
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize("name", KEYED)
def test_missing_key_raises_config_error(nobody, name: str):
    kind, variables = KEYED[name]

    with pytest.raises(ConfigError, match=f"needs an api_key, or {variables[0]}"):
        kind("model").complete(PROMPT)


def test_missing_profile_raises_config_error(nobody, monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nobody")

    with pytest.raises(ConfigError, match="needs an api_key"):
        AnthropicModel("model").complete(PROMPT)


@pytest.mark.parametrize("name", KEYED)
def test_environment_key_is_not_sent_to_another_server(
    nobody, make, server, monkeypatch, name: str
):
    for variable in KEYED[name][1]:
        monkeypatch.setenv(variable, "secret")

    make(name, api_key=None).complete(PROMPT)

    assert "secret" not in str(server.requests[0].headers)


@pytest.mark.parametrize("name", KEYED)
def test_rejected_key_is_not_in_the_message(make, server, name: str):
    server.script(status(401))

    with pytest.raises(ModelUnavailable, match=r"refused .*401.*api_key") as raised:
        make(name, api_key="secret").complete(PROMPT)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("package", "name"),
    [("openai", "openai"), ("anthropic", "anthropic"), ("google.genai", "gemini")],
)
def test_missing_package_names_the_pip_command(monkeypatch, package: str, name: str):
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtra, match=rf"nexusmem\[{name}\]"):
        KEYED[name][0]("model", api_key="key")


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("words", ["", "I cannot help with that."], ids=["silent", "worded"])
def test_refusal_is_bad_output(make, server, waits, name: str, words: str):
    server.script(refuses(words))

    with pytest.raises(BadOutput, match="refused to answer") as raised:
        make(name).complete(PROMPT)

    assert raised.value.problem == "refused"
    assert raised.value.output in (words, "")
    assert waits == []


@pytest.mark.parametrize(
    ("sdk", "root"), [("openai", "OpenAIError"), ("anthropic", "AnthropicError")]
)
def test_every_sdk_error_is_mapped(sdk, root):
    sdk = import_module(sdk)
    root = getattr(sdk, root)
    kinds = [kind for kind in vars(sdk._exceptions).values() if isinstance(kind, type)]
    errors = [kind for kind in kinds if issubclass(kind, Exception)]

    assert len(errors) > 10
    assert all(issubclass(kind, (root, *INVALID_RESPONSE_ERRORS)) for kind in errors)


def test_openai_enforces_the_schema(make, server):
    with pytest.raises(BadOutput):
        make("openai").complete(PROMPT, schema=SCHEMA, max_tokens=9)

    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    assert request.headers["authorization"] == "Bearer key"
    assert request.body == {
        "model": "model",
        "messages": [
            {"role": "system", "content": "Name a drink."},
            {"role": "user", "content": "It is cold outside."},
        ],
        "max_tokens": 9,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }


def test_server_with_new_limit_name_is_supported(make, server, waits):
    server.wants = "max_completion_tokens"
    model = make("openai")

    model.complete(PROMPT, max_tokens=9)
    model.complete(PROMPT, max_tokens=9)

    asked = [
        sorted(request.body.keys() & {"max_tokens", server.wants}) for request in server.requests
    ]
    assert asked == [["max_tokens"], [server.wants], [server.wants]]
    assert waits == [0]


def test_openai_uses_the_new_limit_name(make, server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")

    make("openai", base_url=None).complete(PROMPT, max_tokens=9)

    assert server.requests[0].body["max_completion_tokens"] == 9


@pytest.mark.parametrize("refused", ["temperature", "stream_options"])
def test_parameter_that_a_server_refuses_is_left_out(make, server, waits, refused: str):
    server.refuses = refused
    model = make("openai")

    model.complete(PROMPT)
    model.complete(PROMPT)

    assert [refused in request.body for request in server.requests] == [True, False, False]
    assert waits == [0]


def test_anthropic_gets_no_bound_of_lists(make, server):
    server.script(says('{"drinks": ["tea", "milk", "beer"]}'))
    drinks = {"type": "array", "items": {"type": "string"}, "maxItems": 2}
    schema = {
        "type": "object",
        "properties": {"drinks": drinks},
        "required": ["drinks"],
        "additionalProperties": False,
    }

    completion = make("anthropic").complete(PROMPT, schema=schema)

    assert "maxItems" not in str(server.requests[0].body)
    assert completion.data == {"drinks": ["tea", "milk"]}


def test_anthropic_enforces_the_schema(make, server):
    with pytest.raises(BadOutput):
        make("anthropic").complete(PROMPT, schema=SCHEMA, max_tokens=9)

    [request] = server.requests
    assert request.path == "/v1/messages"
    assert "key" in request.headers.get("authorization", request.headers.get("x-api-key"))
    assert request.body == {
        "model": "model",
        "system": "Name a drink.",
        "messages": [{"role": "user", "content": "It is cold outside."}],
        "max_tokens": 9,
        "stream": True,
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }


def test_gemini_enforces_the_schema(make, server):
    with pytest.raises(BadOutput):
        make("gemini").complete(PROMPT, schema=SCHEMA, max_tokens=9)

    [request] = server.requests
    assert request.path.endswith("/models/model:streamGenerateContent?alt=sse")
    assert request.headers["x-goog-api-key"] == "key"
    assert request.body["systemInstruction"]["parts"] == [{"text": "Name a drink."}]
    assert request.body["contents"][0]["parts"] == [{"text": "It is cold outside."}]
    assert request.body["generationConfig"] == {
        "maxOutputTokens": 9,
        "temperature": 0.0,
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
    }


@pytest.mark.parametrize(("seconds", "told"), [(1.5, "10"), (30.5, "31")])
def test_gemini_deadline_is_within_its_limits(make, server, seconds: float, told: str):
    make("gemini").complete(PROMPT, timeout=seconds)

    assert server.requests[0].headers["x-server-timeout"] == told


def test_ollama_enforces_the_schema_and_reports_truncation(make, server):
    with pytest.raises(BadOutput):
        make("ollama").complete(PROMPT, schema=SCHEMA, max_tokens=9)

    [request] = server.requests
    assert request.path == "/api/chat"
    assert request.body == {
        "model": "model",
        "messages": [
            {"role": "system", "content": "Name a drink."},
            {"role": "user", "content": "It is cold outside."},
        ],
        "stream": True,
        "truncate": False,
        "shift": False,
        "options": {"num_predict": 9, "temperature": 0},
        "format": SCHEMA,
        "think": False,
    }


def test_ollama_names_the_command_for_a_missing_model(make, server):
    server.script(status(404))

    with pytest.raises(ModelUnavailable, match="ollama pull model"):
        make("ollama").complete(PROMPT)


def test_only_http_urls_are_opened():
    with pytest.raises(ConfigError, match="http://"):
        OllamaModel("model", base_url="file:///etc")


@pytest.mark.parametrize("name", ["openai", "ollama"])
def test_missing_token_counts_are_estimated(make, server, name: str):
    choice = {"index": 0, "message": {"role": "assistant", "content": "x" * 40}}
    said = {
        "openai": {"id": "1", "object": "chat.completion", "created": 1, "choices": [choice]},
        "ollama": {"message": {"content": "x" * 40}, "done": True},
    }
    server.script(sends({"model": "model", **said[name]}))

    completion = make(name).complete(PROMPT)

    assert completion.output_tokens == 10
    assert completion.input_tokens == (len(PROMPT.system + PROMPT.user) + 3) // 4
