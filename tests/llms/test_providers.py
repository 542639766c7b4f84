"""What only one provider does, or needs."""

from __future__ import annotations

import sys
from importlib import import_module

import pytest
from tests.loopback import refuses, sends, status

from nexus.core.errors import BadOutput, ConfigError, MissingExtra, ModelUnavailable
from nexus.core.models import Prompt
from nexus.llms.anthropic import AnthropicModel
from nexus.llms.gemini import GeminiModel
from nexus.llms.ollama import OllamaModel
from nexus.llms.openai import OpenAIModel
from nexus.providers.extras import UNREADABLE

PROMPT = Prompt(system="Name a drink.", user="It is cold outside.")
SCHEMA = {"type": "string"}
KEYED = {
    "openai": (OpenAIModel, ["OPENAI_API_KEY"]),
    "anthropic": (AnthropicModel, ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN"]),
    "gemini": (GeminiModel, ["GEMINI_API_KEY", "GOOGLE_API_KEY"]),
}


@pytest.fixture
def nobody(monkeypatch, tmp_path) -> None:
    """An environment that knows no keys and no profiles."""
    for _, names in KEYED.values():
        for name in names:
            monkeypatch.delenv(name, raising=False)
    for name in ("ANTHROPIC_PROFILE", "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("GOOGLE_GENAI_USE_VERTEXAI", raising=False)
    monkeypatch.delenv("ANTHROPIC_CONFIG_DIR", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.mark.parametrize("name", KEYED)
def test_no_key_at_all_is_a_configuration_error(nobody, name: str):
    kind, variables = KEYED[name]

    with pytest.raises(ConfigError, match=f"needs an api_key, or {variables[0]}"):
        kind("model").complete(PROMPT)


def test_a_profile_that_is_not_there_is_no_key(nobody, monkeypatch, tmp_path):
    monkeypatch.setenv("ANTHROPIC_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("ANTHROPIC_PROFILE", "nobody")

    with pytest.raises(ConfigError, match="needs an api_key"):
        AnthropicModel("model").complete(PROMPT)


@pytest.mark.parametrize("name", KEYED)
def test_a_key_from_the_environment_is_not_sent_to_another_server(
    nobody, make, server, monkeypatch, name: str
):
    for variable in KEYED[name][1]:
        monkeypatch.setenv(variable, "secret")

    make(name, api_key=None).complete(PROMPT)

    assert "secret" not in str(server.requests[0].headers)


@pytest.mark.parametrize("name", KEYED)
def test_a_refused_key_is_not_repeated_in_the_message(make, server, name: str):
    server.script(status(401))

    with pytest.raises(ModelUnavailable, match=r"refused .*401.*api_key") as raised:
        make(name, api_key="secret").complete(PROMPT)

    assert "secret" not in str(raised.value)


@pytest.mark.parametrize(
    ("package", "name"),
    [("openai", "openai"), ("anthropic", "anthropic"), ("google.genai", "gemini")],
)
def test_without_the_package_the_pip_line_is_named(monkeypatch, package: str, name: str):
    monkeypatch.setitem(sys.modules, package, None)

    with pytest.raises(MissingExtra, match=rf"nexus-memory\[{name}\]"):
        KEYED[name][0]("model", api_key="key")


@pytest.mark.parametrize("name", KEYED)
@pytest.mark.parametrize("words", ["", "I cannot help with that."], ids=["silent", "worded"])
def test_a_refusal_is_bad_output(make, server, waits, name: str, words: str):
    server.script(refuses(words))

    with pytest.raises(BadOutput, match="refused to answer") as raised:
        make(name).complete(PROMPT)

    assert raised.value.problem == "refused"
    assert raised.value.output in (words, "")
    assert waits == []


@pytest.mark.parametrize(
    ("sdk", "root"), [("openai", "OpenAIError"), ("anthropic", "AnthropicError")]
)
def test_every_error_of_an_sdk_is_mapped(sdk, root):
    sdk = import_module(sdk)
    root = getattr(sdk, root)
    kinds = [kind for kind in vars(sdk._exceptions).values() if isinstance(kind, type)]
    errors = [kind for kind in kinds if issubclass(kind, Exception)]

    assert len(errors) > 10
    assert all(issubclass(kind, (root, *UNREADABLE)) for kind in errors)


def test_openai_is_held_to_the_schema(make, server):
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
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": SCHEMA},
        },
    }


def test_a_server_that_knows_only_the_new_name_of_the_limit_is_asked_by_it(make, server, waits):
    server.wants = "max_completion_tokens"
    model = make("openai")

    model.complete(PROMPT, max_tokens=9)
    model.complete(PROMPT, max_tokens=9)

    asked = [
        sorted(request.body.keys() & {"max_tokens", server.wants}) for request in server.requests
    ]
    assert asked == [["max_tokens"], [server.wants], [server.wants]]
    assert waits == [0]


def test_openai_itself_is_asked_by_the_new_name(make, server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", f"{server.url}/v1")

    make("openai", base_url=None).complete(PROMPT, max_tokens=9)

    assert server.requests[0].body["max_completion_tokens"] == 9


def test_anthropic_is_held_to_the_schema(make, server):
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
        "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}},
    }


def test_gemini_is_held_to_the_schema(make, server):
    with pytest.raises(BadOutput):
        make("gemini").complete(PROMPT, schema=SCHEMA, max_tokens=9)

    [request] = server.requests
    assert request.path.endswith("/models/model:generateContent")
    assert request.headers["x-goog-api-key"] == "key"
    assert request.body["systemInstruction"]["parts"] == [{"text": "Name a drink."}]
    assert request.body["contents"][0]["parts"] == [{"text": "It is cold outside."}]
    assert request.body["generationConfig"] == {
        "maxOutputTokens": 9,
        "responseMimeType": "application/json",
        "responseJsonSchema": SCHEMA,
    }


@pytest.mark.parametrize(("seconds", "told"), [(1.5, "10"), (30.5, "31")])
def test_gemini_is_never_given_a_deadline_it_refuses(make, server, seconds: float, told: str):
    make("gemini").complete(PROMPT, timeout=seconds)

    assert server.requests[0].headers["x-server-timeout"] == told


def test_ollama_is_held_to_the_schema_and_may_drop_nothing_in_silence(make, server):
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
        "stream": False,
        "truncate": False,
        "shift": False,
        "options": {"num_predict": 9, "temperature": 0},
        "format": SCHEMA,
        "think": False,
    }


def test_ollama_says_how_to_get_a_model_that_is_not_there(make, server):
    server.script(status(404))

    with pytest.raises(ModelUnavailable, match="ollama pull model"):
        make("ollama").complete(PROMPT)


def test_only_web_addresses_are_opened():
    with pytest.raises(ConfigError, match="http://"):
        OllamaModel("model", base_url="file:///etc")


@pytest.mark.parametrize("name", ["openai", "ollama"])
def test_where_a_server_does_not_count_its_tokens_they_are_guessed(make, server, name: str):
    choice = {"index": 0, "message": {"role": "assistant", "content": "x" * 40}}
    said = {
        "openai": {"id": "1", "object": "chat.completion", "created": 1, "choices": [choice]},
        "ollama": {"message": {"content": "x" * 40}, "done": True},
    }
    server.script(sends({"model": "model", **said[name]}))

    completion = make(name).complete(PROMPT)

    assert completion.output_tokens == 10
    assert completion.input_tokens == (len(PROMPT.system + PROMPT.user) + 3) // 4
