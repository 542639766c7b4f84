"""Recall with rewriters and rerankers, and without them."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.loopback import Loopback, Reply, dropped, says

from nexusmem import Nexus, Place
from nexusmem.config.settings import LlmSettings, Settings
from nexusmem.learn.model_budget import Budget, Price
from nexusmem.recall.query import SearchSettings

RANKINGS = ["contextual", "fused"]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


def fill_room(search: SearchSettings, server: Loopback) -> Place:
    llm = LlmSettings(provider="ollama", model="any", base_url=server.url, extract_facts=False)
    nexus = Nexus.open(":memory:", settings=Settings(search=search, llm=llm), background=False)
    room = nexus.workspace("acme").room("design", participants=["alice", "bob"])
    room.observe("alice", "We went with PostgreSQL instead of MySQL.", key="choice")
    room.observe("bob", "The cafeteria serves soup on Mondays.", key="soup")
    room.observe("bob", "Nobody has watered the plants since May.", key="plants")
    room.flush()
    return room


def text(said: str) -> Reply:
    return says(json.dumps({"text": said}))


def keys(room: Place, question: str, **more: object) -> list[str]:
    return [hit.event_keys[0] for hit in room.recall(question, **more)]


@pytest.mark.requirement("E15", "E16")
@pytest.mark.parametrize("ranking", RANKINGS)
@pytest.mark.parametrize("rewriter", ["statement", "hyde"])
def test_rewritten_question_finds_other_words(
    server: Loopback, ranking: str, rewriter: str
) -> None:
    room = fill_room(SearchSettings(ranking=ranking, query_rewrites=(rewriter,)), server)
    server.script(text("The cafeteria serves soup."))

    found = room.recall("What is for lunch?")

    assert found[0].event_keys == ("soup",)
    assert found.degraded == ()


@pytest.mark.requirement("E17")
@pytest.mark.parametrize("ranking", RANKINGS)
def test_self_query_filters_hits(server: Loopback, ranking: str) -> None:
    room = fill_room(SearchSettings(ranking=ranking, query_rewrites=("self_query",)), server)
    plain = {"kinds": [], "since": "", "until": "", "text": ""}
    server.script(says(json.dumps({**plain, "speaker": "bob"})))

    found = keys(room, "What did Bob say about PostgreSQL, soup or plants?")

    assert found
    assert "choice" not in found


@pytest.mark.slow
@pytest.mark.requirement("E15", "E16", "E17")
@pytest.mark.parametrize("ranking", RANKINGS)
def test_unavailable_model_changes_no_hits(server: Loopback, ranking: str) -> None:
    without = fill_room(SearchSettings(ranking=ranking), server)
    room = fill_room(
        SearchSettings(ranking=ranking, query_rewrites=("statement", "hyde", "self_query")), server
    )
    server.script(*[dropped()] * 30)

    found = room.recall("Which database did we choose?")

    assert [hit.text for hit in found] == [
        hit.text for hit in without.recall("Which database did we choose?")
    ]
    remarks = {remark.split(":")[0] for remark in found.degraded}
    assert remarks == {"statement", "hyde", "self_query"}


def test_recall_uses_the_budget_of_the_workspace(
    server: Loopback,
) -> None:
    llm = LlmSettings(
        provider="ollama",
        model="any",
        base_url=server.url,
        prices={"any": Price(input=1_000_000, output=0)},
        budget=Budget(cost_per_day=20),
    )
    settings = Settings(search=SearchSettings(query_rewrites=("hyde",)), llm=llm)
    nexus = Nexus.open(":memory:", settings=settings, background=False)
    acme, other = nexus.workspace("acme"), nexus.workspace("other")
    server.script(*[text("We went with PostgreSQL.")] * 3)

    for remarks in ((), (), ("hyde: the budget of",)):
        found = acme.room("design").recall("Which database?")
        assert tuple(remark[: len("hyde: the budget of")] for remark in found.degraded) == remarks
    other.room("design").recall("Which database?")

    assert [(each.purpose, each.calls, each.cost) for each in acme.usage().spent] == [
        ("recall", 2, 22)
    ]
    assert acme.usage().is_exhausted
    assert not other.usage().is_exhausted
    assert len(server.requests) == 3


@pytest.mark.parametrize("ranking", RANKINGS)
def test_reranker_orders_the_hits(server: Loopback, ranking: str) -> None:
    search = SearchSettings(ranking=ranking, reranker="http", reranker_url=f"{server.url}/rerank")
    room = fill_room(search, server)
    question = "soup, plants and PostgreSQL"
    before = keys(fill_room(SearchSettings(ranking=ranking), server), question)
    server.script(Reply(scores=lambda scores: [float(index) for index in range(len(scores))]))

    found = room.recall(question)

    assert [hit.event_keys[0] for hit in found] == before[::-1]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("ranking", RANKINGS)
def test_unavailable_reranker_keeps_the_order(server: Loopback, ranking: str) -> None:
    search = SearchSettings(ranking=ranking, reranker="http", reranker_url=f"{server.url}/rerank")
    room = fill_room(search, server)
    server.script(*[dropped()] * 10)

    found = room.recall("soup, plants and PostgreSQL")

    assert [hit.event_keys[0] for hit in found] == keys(
        fill_room(SearchSettings(ranking=ranking), server), "soup, plants and PostgreSQL"
    )
    assert found.degraded[0].startswith("rerank: ")
