"""The monotonic clock, and parts chosen by the settings."""

from __future__ import annotations

import sys
import threading
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest

from nexusmem.config.settings import EmbeddingSettings, LlmSettings
from nexusmem.core.errors import ConfigError, MissingExtra
from nexusmem.recall.query import SearchSettings
from nexusmem.runtime.clock import MonotonicClock
from nexusmem.wiring.providers import make_embedder, make_llm, make_reranker
from nexusmem.wiring.ranking import make_rewriters

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def test_monotonic_clock_advances_when_clock_stands_still() -> None:
    clock = MonotonicClock(lambda: NOON)

    times = [clock() for _ in range(5)]

    assert times[0] == NOON
    assert all(later - earlier == timedelta(microseconds=1) for earlier, later in pairwise(times))


def test_monotonic_clock_ignores_clock_set_back() -> None:
    told = iter([NOON, NOON - timedelta(days=1), NOON + timedelta(seconds=1)])
    clock = MonotonicClock(lambda: next(told))

    assert clock() == NOON
    assert clock() == NOON + timedelta(microseconds=1)
    assert clock() == NOON + timedelta(seconds=1)


def test_monotonic_clock_is_unique_across_threads() -> None:
    clock = MonotonicClock(lambda: NOON)
    times: list[datetime] = []
    threads = [
        threading.Thread(target=lambda: times.extend(clock() for _ in range(200))) for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(times)) == len(times) == 1600


def test_unknown_embedder_lists_accepted_ones() -> None:
    with pytest.raises(ConfigError, match="hashing"):
        make_embedder(EmbeddingSettings(provider="hash"))


def test_no_model_is_built_by_default() -> None:
    assert make_llm(LlmSettings()) is None
    assert make_rewriters(SearchSettings(), None) is None
    assert make_rewriters(SearchSettings(query_rewrites=("none",)), None) is None
    assert make_reranker(SearchSettings()) is None


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini", "ollama"])
def test_model_name_contains_provider(provider: str) -> None:
    settings = LlmSettings(provider=provider, model="m", api_key="k", base_url="http://localhost")

    model = make_llm(settings)

    assert model is not None
    assert provider in type(model).__module__
    model.close()


def test_provider_without_model_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"memory\.llm\.model must name"):
        make_llm(LlmSettings(provider="ollama"))


def test_unknown_provider_lists_accepted_ones() -> None:
    with pytest.raises(ConfigError, match="none, openai, anthropic, gemini, ollama"):
        make_llm(LlmSettings(provider="claude", model="m"))


def test_unset_variable_of_model_fails_when_used() -> None:
    with pytest.raises(ConfigError, match=r"memory\.llm\.api_key needs .* NO_SUCH_KEY"):
        make_llm(LlmSettings(provider="openai", model="m", api_key="${NO_SUCH_KEY}"))


def test_missing_package_names_pip_command(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)

    with pytest.raises(MissingExtra, match=r"nexusmem\[anthropic\]"):
        make_llm(LlmSettings(provider="anthropic", model="m"))


def test_query_rewrite_needs_model_and_valid_name() -> None:
    model = make_llm(LlmSettings(provider="ollama", model="m"))

    assert make_rewriters(SearchSettings(query_rewrites=("statement", "hyde", "self_query")), model)
    with pytest.raises(ConfigError, match=r"configure memory\.llm"):
        make_rewriters(SearchSettings(query_rewrites=("hyde",)), None)
    with pytest.raises(ConfigError, match="'hide'; accepted: none, statement, hyde, self_query"):
        make_rewriters(SearchSettings(query_rewrites=("hide",)), model)


def test_reranker_needs_url() -> None:
    assert make_reranker(SearchSettings(reranker="http", reranker_url="http://localhost/rerank"))
    with pytest.raises(ConfigError, match="reranker_url"):
        make_reranker(SearchSettings(reranker="http"))
    with pytest.raises(ConfigError, match="accepted: none, http;"):
        make_reranker(SearchSettings(reranker="cohere"))
    with pytest.raises(ConfigError, match=r"reranker_api_key needs .* NO_KEY"):
        make_reranker(
            SearchSettings(
                reranker="http", reranker_url="http://x/rerank", reranker_api_key="${NO_KEY}"
            )
        )


def test_monotonic_clock_is_read_without_a_tick() -> None:
    clock = MonotonicClock(lambda: NOON)

    assert clock() == clock.read() == clock.read() == NOON
    assert clock() > NOON
