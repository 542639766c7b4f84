"""JSON over HTTP: what counts as an answer, and what a key is not sent to."""

from __future__ import annotations

import pytest
from tests.loopback import Loopback, Reply, dropped, page, sends, status, truncated

from nexus.core.errors import ConfigError
from nexus.providers import web
from nexus.providers.retry import Transient
from nexus.providers.web import Endpoint, Refused


@pytest.fixture
def server():
    with Loopback() as loopback:
        yield loopback


def endpoint(server: Loopback, **options) -> Endpoint:
    return Endpoint("Tea", f"{server.url}/rerank", **options)


def post(server: Loopback, **options):
    body = {"query": "tea?", "texts": ["tea"]}
    return endpoint(server, **options).post(body, timeout_seconds=5)


def test_an_answer_is_parsed(server):
    server.script(sends([1, {"a": None}]))

    assert post(server) == [1, {"a": None}]


@pytest.mark.parametrize("key", [None, "secret"])
def test_a_key_is_sent_if_there_is_one(server, key):
    post(server, api_key=key)

    assert server.requests[0].headers.get("authorization") == (key and f"Bearer {key}")


@pytest.mark.parametrize(
    "reply",
    [dropped(), truncated(), page(), status(500), status(429)],
    ids=["dropped", "truncated", "page", "500", "429"],
)
def test_what_may_work_next_time_is_transient(server, reply: Reply):
    server.script(reply)

    with pytest.raises(Transient, match="Tea"):
        post(server)


def test_retry_after_is_passed_on(server):
    server.script(status(503, retry_after="7"))

    with pytest.raises(Transient) as raised:
        post(server)

    assert raised.value.retry_after == "7"


@pytest.mark.parametrize("code", [400, 401, 404, 422])
def test_what_will_not_work_is_refused_with_the_servers_words(server, code: int):
    server.script(status(code))

    with pytest.raises(Refused) as raised:
        post(server)

    assert raised.value.status == code
    assert "scripted" in raised.value.said


def test_an_answer_without_end_is_not_read_to_its_end(server, monkeypatch):
    monkeypatch.setattr(web, "LARGEST_ANSWER", 10)
    server.script(sends("x" * 100))

    with pytest.raises(Transient):
        post(server)


@pytest.mark.parametrize("code", [301, 302, 303])
def test_a_key_is_not_carried_to_where_a_server_points(server, code: int):
    """The other server sees a GET, which it does not know."""
    with Loopback() as elsewhere:
        server.script(status(code, location=f"{elsewhere.url}/rerank"))

        with pytest.raises(Refused):
            post(server, api_key="secret")

        assert elsewhere.gets
        assert "secret" not in str(elsewhere.gets)


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a", "localhost:80", ""])
def test_only_web_addresses_are_opened(url: str):
    with pytest.raises(ConfigError, match="http://"):
        Endpoint("Tea", url)


def test_a_proxy_is_used_only_where_it_is_wanted(server, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("no_proxy", "")

    post(server, proxied=False)
    with pytest.raises(Transient):
        post(server)
