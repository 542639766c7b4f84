"""A model may help to find things; nothing depends on it."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from tests.loopback import Loopback, Reply, dropped, says

from nexus import Nexus, Place
from nexus.config import LlmSettings, Settings
from nexus.learn.spending import Budget, Price
from nexus.recall.query import Search

RANKINGS = ["contextual", "fused"]


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


def told(search: Search, server: Loopback) -> Place:
    llm = LlmSettings(provider="ollama", model="any", base_url=server.url, learn=False)
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
@pytest.mark.parametrize("way", ["statement", "hyde"])
def test_other_words_find_what_the_question_did_not_name(
    server: Loopback, ranking: str, way: str
) -> None:
    room = told(Search(ranking=ranking, rewrite=(way,)), server)
    server.script(text("The cafeteria serves soup."))

    found = room.recall("What is for lunch?")

    assert found[0].event_keys == ("soup",)
    assert found.degraded == ()


@pytest.mark.requirement("E17")
@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_filter_in_the_question_narrows_the_answer(server: Loopback, ranking: str) -> None:
    room = told(Search(ranking=ranking, rewrite=("self_query",)), server)
    plain = {"kinds": [], "since": "", "until": "", "text": ""}
    server.script(says(json.dumps({**plain, "speaker": "bob"})))

    found = keys(room, "What did Bob say about PostgreSQL, soup or plants?")

    assert found
    assert "choice" not in found


@pytest.mark.slow
@pytest.mark.requirement("E15", "E16", "E17")
@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_model_that_is_away_changes_nothing_but_a_remark(server: Loopback, ranking: str) -> None:
    without = told(Search(ranking=ranking), server)
    room = told(Search(ranking=ranking, rewrite=("statement", "hyde", "self_query")), server)
    server.script(*[dropped()] * 30)

    found = room.recall("Which database did we choose?")

    assert [hit.text for hit in found] == [
        hit.text for hit in without.recall("Which database did we choose?")
    ]
    remarks = {remark.split(":")[0] for remark in found.degraded}
    assert remarks == {"statement", "hyde", "self_query"}


def test_a_question_is_on_the_account_of_its_workspace_until_the_budget_is_spent(
    server: Loopback,
) -> None:
    llm = LlmSettings(
        provider="ollama",
        model="any",
        base_url=server.url,
        prices={"any": Price(input=1_000_000, output=0)},
        budget=Budget(per_day=20),
    )
    settings = Settings(search=Search(rewrite=("hyde",)), llm=llm)
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
    assert acme.usage().exhausted
    assert not other.usage().exhausted
    assert len(server.requests) == 3


@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_reranker_has_the_last_word(server: Loopback, ranking: str) -> None:
    search = Search(ranking=ranking, reranker="http", reranker_url=f"{server.url}/rerank")
    room = told(search, server)
    question = "soup, plants and PostgreSQL"
    before = keys(told(Search(ranking=ranking), server), question)
    server.script(Reply(scores=lambda scores: [float(place) for place in range(len(scores))]))

    found = room.recall(question)

    assert [hit.event_keys[0] for hit in found] == before[::-1]
    assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)


@pytest.mark.slow
@pytest.mark.parametrize("ranking", RANKINGS)
def test_a_reranker_that_is_away_leaves_the_order(server: Loopback, ranking: str) -> None:
    search = Search(ranking=ranking, reranker="http", reranker_url=f"{server.url}/rerank")
    room = told(search, server)
    server.script(*[dropped()] * 10)

    found = room.recall("soup, plants and PostgreSQL")

    assert [hit.event_keys[0] for hit in found] == keys(
        told(Search(ranking=ranking), server), "soup, plants and PostgreSQL"
    )
    assert found.degraded[0].startswith("rerank: ")
