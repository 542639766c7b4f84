"""JSON over HTTP: responses, errors, redirects and proxies."""

from __future__ import annotations

import pytest
from tests.loopback import Loopback, Reply, dropped, page, sends, status, truncated

from nexusmem.core.errors import ConfigError
from nexusmem.runtime import provider_sdk
from nexusmem.runtime.backoff import TransientError
from nexusmem.runtime.provider_sdk import JsonEndpoint, RequestRefused


@pytest.fixture
def server():
    with Loopback() as loopback:
        yield loopback


def endpoint(server: Loopback, **options) -> JsonEndpoint:
    return JsonEndpoint("Tea", f"{server.url}/rerank", **options)


def post(server: Loopback, **options):
    body = {"query": "tea?", "texts": ["tea"]}
    return endpoint(server, **options).post(body, timeout_seconds=5)


def test_response_is_parsed(server):
    server.script(sends([1, {"a": None}]))

    assert post(server) == [1, {"a": None}]


@pytest.mark.parametrize("key", [None, "secret"])
def test_api_key_is_sent(server, key):
    post(server, api_key=key)

    assert server.requests[0].headers.get("authorization") == (key and f"Bearer {key}")


@pytest.mark.parametrize(
    "reply",
    [dropped(), truncated(), page(), status(500), status(429)],
    ids=["dropped", "truncated", "page", "500", "429"],
)
def test_retryable_failure_is_transient(server, reply: Reply):
    server.script(reply)

    with pytest.raises(TransientError, match="Tea"):
        post(server)


def test_retry_after_is_passed_on(server):
    server.script(status(503, retry_after="7"))

    with pytest.raises(TransientError) as raised:
        post(server)

    assert raised.value.retry_after == "7"


@pytest.mark.parametrize("code", [400, 401, 404, 422])
def test_permanent_failure_has_the_response_body(server, code: int):
    server.script(status(code))

    with pytest.raises(RequestRefused) as raised:
        post(server)

    assert raised.value.status == code
    assert "scripted" in raised.value.body


def test_response_size_is_limited(server, monkeypatch):
    monkeypatch.setattr(provider_sdk, "MAX_RESPONSE_BYTES", 10)
    server.script(sends("x" * 100))

    with pytest.raises(TransientError):
        post(server)


@pytest.mark.parametrize("code", [301, 302, 303])
def test_api_key_does_not_follow_redirects(server, code: int):
    """The other server receives a GET request, which it does not support."""
    with Loopback() as elsewhere:
        server.script(status(code, location=f"{elsewhere.url}/rerank"))

        with pytest.raises(RequestRefused):
            post(server, api_key="secret")

        assert elsewhere.gets
        assert "secret" not in str(elsewhere.gets)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a", "localhost:80", ""])
def test_only_http_urls_are_accepted(url: str):
    with pytest.raises(ConfigError, match="http://"):
        JsonEndpoint("Tea", url)


def test_proxy_can_be_disabled(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")

    post(server, use_proxy=False)
    with pytest.raises(TransientError):
        post(server)
