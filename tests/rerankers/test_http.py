"""A reranker behind `/rerank`, in the words of Cohere and Jina and in those of TEI."""

from __future__ import annotations

import pytest
from tests.loopback import (
    Loopback,
    Reply,
    dropped,
    hang,
    page,
    rescored,
    sends,
    status,
    truncated,
)

from nexus.core.errors import ConfigError, ModelUnavailable
from nexus.providers.retry import Patience
from nexus.recall.rerank import rerank
from nexus.rerankers.http import HttpReranker

TEXTS = ["tea", "black coffee", "cake"]


@pytest.fixture
def server():
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def waits() -> list[float]:
    return []


@pytest.fixture(params=["rerank-v5", None], ids=["cohere", "tei"])
def reranker(request, server, waits) -> HttpReranker:
    patience = Patience(sleep=waits.append, clock=lambda: sum(waits))
    return HttpReranker(
        f"{server.url}/rerank", model=request.param, api_key="key", patience=patience
    )


def test_scores_are_put_in_the_order_of_the_texts(reranker):
    assert reranker.scores("hot?", TEXTS) == [0.03, 0.12, 0.04]


def test_cohere_and_jina_are_told_the_model(server):
    url = f"{server.url}/v2/rerank"

    HttpReranker(url, model="rerank-v5", api_key="key").scores("hot?", TEXTS)

    [request] = server.requests
    assert request.path == "/v2/rerank"
    assert request.headers["authorization"] == "Bearer key"
    assert request.body == {"model": "rerank-v5", "query": "hot?", "documents": TEXTS}


def test_tei_has_one_model_and_may_shorten(server):
    HttpReranker(f"{server.url}/rerank").scores("hot?", TEXTS)

    [request] = server.requests
    assert "authorization" not in request.headers
    assert request.body == {"query": "hot?", "texts": TEXTS, "truncate": True}


def test_tei_is_asked_for_thirty_two_at_a_time(server):
    texts = ["x" * n for n in range(70)]

    assert HttpReranker(f"{server.url}/rerank").scores("?", texts) == [n / 100 for n in range(70)]
    assert [len(request.body["texts"]) for request in server.requests] == [32, 32, 6]


def test_others_compare_all_texts_at_once(server):
    HttpReranker(f"{server.url}/rerank", model="m").scores("?", ["x"] * 70)

    assert len(server.requests) == 1


def test_voyage_calls_its_results_data(server):
    rows = [{"index": 1, "relevance_score": 0.5}, {"index": 0, "relevance_score": -2}]
    server.script(sends({"object": "list", "data": rows}))

    assert HttpReranker(f"{server.url}/rerank", model="m").scores("?", ["a", "b"]) == [-2, 0.5]


def test_no_texts_are_not_sent(reranker, server):
    assert reranker.scores("hot?", []) == []
    assert server.requests == []


BROKEN = {
    "429": status(429),
    "500": status(500),
    "dropped": dropped(),
    "truncated": truncated(),
    "page": page(),
    "one too few": rescored(lambda scores: scores[1:]),
    "one too many": rescored(lambda scores: [*scores, 1.0]),
    "not a number": rescored(lambda scores: [float("nan"), *scores[1:]]),
    "no number at all": rescored(lambda scores: ["high", *scores[1:]]),
    "nothing": rescored(lambda scores: [None, *scores[1:]]),
    "the same text twice": sends([{"index": 0, "score": 1}] * 3),
    "rows that are no rows": sends({"results": [1, 2, 3]}),
    "another document": sends({"hello": "world"}),
    "a text": sends("hello"),
}


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_passing_failure_is_not_noticed(reranker, server, waits, reply: Reply):
    server.script(reply, reply)

    assert reranker.scores("hot?", TEXTS) == [0.03, 0.12, 0.04]
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_a_lasting_failure_is_unavailable_with_its_cause(reranker, server, reply: Reply):
    server.script(*[reply] * 5)

    with pytest.raises(ModelUnavailable, match="asked 5 times") as raised:
        reranker.scores("hot?", TEXTS)

    assert raised.value.__cause__ is not None


@pytest.mark.parametrize("code", [400, 401, 404, 422])
def test_a_refusal_is_not_asked_again_and_tells_no_secret(reranker, server, waits, code: int):
    server.script(status(code))

    with pytest.raises(ModelUnavailable, match=f"refused .*{code}") as raised:
        reranker.scores("a secret", ["another secret"])

    assert "secret" not in str(raised.value)
    assert waits == []


@pytest.mark.parametrize("reply", [hang(), status(500), page()], ids=["hang", "500", "page"])
def test_a_search_goes_on_without_it(server, reply: Reply):
    server.script(*[reply] * 5)
    reranker = HttpReranker(f"{server.url}/rerank", patience=Patience(attempts=1))

    reranked = rerank(reranker, "hot?", TEXTS, wait_seconds=0.3)

    assert reranked.places == (0, 1, 2)
    assert len(reranked.degraded) == 1


def test_half_a_character_does_not_stop_the_others(reranker):
    assert reranker.scores("hot \ud83d?", ["tea \ud83d", "tea"]) == [0.05, 0.03]


def test_only_web_addresses_are_opened():
    with pytest.raises(ConfigError, match="http://"):
        HttpReranker("file:///etc/passwd")
