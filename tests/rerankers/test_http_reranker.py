"""HTTP reranker with the protocols of Cohere, Jina, Voyage and TEI."""

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

from nexusmem.core.errors import ConfigError, ModelUnavailable
from nexusmem.recall.ranking.rerank import rerank_texts
from nexusmem.rerankers.http import HttpReranker
from nexusmem.runtime.backoff import RetryPolicy

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
    patience = RetryPolicy(sleep=waits.append, clock=lambda: sum(waits))
    return HttpReranker(
        f"{server.url}/rerank", model=request.param, api_key="key", patience=patience
    )


def test_scores_have_the_order_of_the_texts(reranker):
    assert reranker.score("hot?", TEXTS) == [0.03, 0.12, 0.04]


def test_cohere_and_jina_receive_the_model(server):
    url = f"{server.url}/v2/rerank"

    HttpReranker(url, model="rerank-v5", api_key="key").score("hot?", TEXTS)

    [request] = server.requests
    assert request.path == "/v2/rerank"
    assert request.headers["authorization"] == "Bearer key"
    assert request.body == {"model": "rerank-v5", "query": "hot?", "documents": TEXTS}


def test_tei_truncates_and_has_no_model(server):
    HttpReranker(f"{server.url}/rerank").score("hot?", TEXTS)

    [request] = server.requests
    assert "authorization" not in request.headers
    assert request.body == {"query": "hot?", "texts": TEXTS, "truncate": True}


def test_tei_batches_have_32_texts(server):
    texts = ["x" * n for n in range(70)]

    assert HttpReranker(f"{server.url}/rerank").score("?", texts) == [n / 100 for n in range(70)]
    assert [len(request.body["texts"]) for request in server.requests] == [32, 32, 6]


def test_other_servers_receive_all_texts(server):
    HttpReranker(f"{server.url}/rerank", model="m").score("?", ["x"] * 70)

    assert len(server.requests) == 1


def test_voyage_results_are_in_data(server):
    rows = [{"index": 1, "relevance_score": 0.5}, {"index": 0, "relevance_score": -2}]
    server.script(sends({"object": "list", "data": rows}))

    assert HttpReranker(f"{server.url}/rerank", model="m").score("?", ["a", "b"]) == [-2, 0.5]


def test_no_texts_send_no_request(reranker, server):
    assert reranker.score("hot?", []) == []
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
def test_transient_failure_is_retried(reranker, server, waits, reply: Reply):
    server.script(reply, reply)

    assert reranker.score("hot?", TEXTS) == [0.03, 0.12, 0.04]
    assert waits == [0.5, 1.0]


@pytest.mark.parametrize("reply", BROKEN.values(), ids=BROKEN)
def test_permanent_failure_is_model_unavailable(reranker, server, reply: Reply):
    server.script(*[reply] * 5)

    with pytest.raises(ModelUnavailable, match="gave up after 5 attempts") as raised:
        reranker.score("hot?", TEXTS)

    assert raised.value.__cause__ is not None


@pytest.mark.parametrize("code", [400, 401, 404, 422])
def test_refusal_is_not_retried_and_hides_the_key(reranker, server, waits, code: int):
    server.script(status(code))

    with pytest.raises(ModelUnavailable, match=f"refused .*{code}") as raised:
        reranker.score("a secret", ["another secret"])

    assert "secret" not in str(raised.value)
    assert waits == []


@pytest.mark.parametrize("reply", [hang(), status(500), page()], ids=["hang", "500", "page"])
def test_recall_continues_without_the_reranker(server, reply: Reply):
    server.script(*[reply] * 5)
    reranker = HttpReranker(f"{server.url}/rerank", patience=RetryPolicy(attempts=1))

    reranked = rerank_texts(reranker, "hot?", TEXTS, wait_seconds=0.3)

    assert reranked.positions == (0, 1, 2)
    assert len(reranked.degraded) == 1


def test_lone_surrogate_is_replaced(reranker):
    assert reranker.score("hot \ud83d?", ["tea \ud83d", "tea"]) == [0.05, 0.03]


def test_only_http_urls_are_accepted():
    with pytest.raises(ConfigError, match="http://"):
        HttpReranker("file:///etc/passwd")
