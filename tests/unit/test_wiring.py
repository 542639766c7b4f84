"""Time that always rises, and parts chosen by name."""

from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from nexus.config import EmbeddingSettings, LlmSettings
from nexus.core.clock import RisingClock
from nexus.core.errors import ConfigError, MissingExtra
from nexus.products import make_embedder, make_llm, make_reranker
from nexus.ranking import make_rewriters
from nexus.recall.query import Search

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_a_clock_that_stands_still_still_rises() -> None:
    clock = RisingClock(lambda: NOON)

    times = [clock() for _ in range(5)]

    assert times[0] == NOON
    assert all(later - earlier == timedelta(microseconds=1) for earlier, later in pairwise(times))


def test_a_clock_set_back_does_not_go_back() -> None:
    told = iter([NOON, NOON - timedelta(days=1), NOON + timedelta(seconds=1)])
    clock = RisingClock(lambda: next(told))

    assert clock() == NOON
    assert clock() == NOON + timedelta(microseconds=1)
    assert clock() == NOON + timedelta(seconds=1)


def test_no_two_threads_get_the_same_time() -> None:
    clock = RisingClock(lambda: NOON)
    times: list[datetime] = []
    threads = [
        threading.Thread(target=lambda: times.extend(clock() for _ in range(200))) for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(times)) == len(times) == 1600


def test_an_unknown_embedder_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="hashing"):
        make_embedder(EmbeddingSettings(provider="hash"))


def test_nothing_of_a_model_is_made_by_default() -> None:
    assert make_llm(LlmSettings()) is None
    assert make_rewriters(Search(), None) is None
    assert make_rewriters(Search(rewrite=("none",)), None) is None
    assert make_reranker(Search()) is None


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
def test_a_model_is_named_by_its_provider(provider: str) -> None:
    settings = LlmSettings(provider=provider, model="m", api_key="k", base_url="http://localhost")

    model = make_llm(settings)

    assert model is not None
    assert provider in type(model).__module__
    model.close()


def test_a_provider_without_a_model_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"memory\.llm\.model must name"):
        make_llm(LlmSettings(provider="ollama"))


def test_an_unknown_provider_is_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="none, openai, anthropic, gemini, ollama"):
        make_llm(LlmSettings(provider="claude", model="m"))


def test_a_variable_of_a_model_matters_when_it_is_used() -> None:
    with pytest.raises(ConfigError, match=r"memory\.llm\.api_key needs .* NO_SUCH_KEY"):
        make_llm(LlmSettings(provider="openai", model="m", api_key="${NO_SUCH_KEY}"))


def test_a_model_whose_package_is_missing_names_the_pip_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)

    with pytest.raises(MissingExtra, match=r"nexus-memory\[anthropic\]"):
        make_llm(LlmSettings(provider="anthropic", model="m"))


def test_rewriting_needs_a_model_and_a_known_way() -> None:
    model = make_llm(LlmSettings(provider="ollama", model="m"))

    assert make_rewriters(Search(rewrite=("statement", "hyde", "self_query")), model)
    with pytest.raises(ConfigError, match=r"configure memory\.llm"):
        make_rewriters(Search(rewrite=("hyde",)), None)
    with pytest.raises(ConfigError, match="'hide'; known are none, statement, hyde, self_query"):
        make_rewriters(Search(rewrite=("hide",)), model)


def test_a_reranker_needs_an_address() -> None:
    assert make_reranker(Search(reranker="http", reranker_url="http://localhost/rerank"))
    with pytest.raises(ConfigError, match="reranker_url"):
        make_reranker(Search(reranker="http"))
    with pytest.raises(ConfigError, match="known are none and http"):
        make_reranker(Search(reranker="cohere"))
    with pytest.raises(ConfigError, match=r"reranker_api_key needs .* NO_KEY"):
        make_reranker(
            Search(reranker="http", reranker_url="http://x/rerank", reranker_api_key="${NO_KEY}")
        )
