"""`nexus usage`, with a language model on this machine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from tests.answers import fact, worded
from tests.loopback import Loopback, says

SETTINGS = """
memory:
  search: {{query_rewrites: statement}}
  llm:
    provider: ollama
    model: small
    base_url: {url}
    extract_facts: {learn}
{more}
"""
PRICED = "    prices: {small: {input: 1000, output: 10000}}\n"
TODAY = {"cost_today", "tokens_today", "spent", "resets_at", "kind"}


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def asked(run, server: Loopback, shell: Path):
    """Write settings and a message, and search with the model."""

    def asked(more: str = "", times: int = 1) -> None:
        written = SETTINGS.format(url=server.url, more=more, learn="false")
        (shell / "nexus.yaml").write_text(written)
        run("remember", "We chose PostgreSQL.")
        for _ in range(times):
            server.script(says(json.dumps({"text": "We chose a database."})))
            run("memory", "search", "Which database?")

    return asked


def test_costs_by_day_purpose_and_model(asked, lines) -> None:
    asked(PRICED, times=2)

    spent, today = lines("usage")

    tomorrow = datetime.fromisoformat(today["resets_at"])
    assert spent.pop("day") == f"{tomorrow - timedelta(days=1):%Y-%m-%d}"
    assert spent.pop("cost") == pytest.approx(2 * (11 * 1_000 + 7 * 10_000) / 1_000_000)
    assert spent == {
        "kind": "spent",
        "purpose": "recall",
        "model": "small-2026",
        "calls": 2,
        "input_tokens": 22,
        "output_tokens": 14,
    }
    assert today["tokens_today"] == 36
    assert today.keys() == TODAY


def test_table_output(asked, run) -> None:
    asked(PRICED)

    shown = run("usage").stdout

    assert "recall\tsmall-2026\t1\t11\t7\t0.0810" in shown
    assert "tokens today\t18" in shown


def test_extraction_is_accounted_as_learning(run, lines, server, shell: Path) -> None:
    settings = SETTINGS.format(url=server.url, more=PRICED, learn="true")
    (shell / "nexus.yaml").write_text(settings)
    server.script(says(worded(facts=[fact()])))

    run("observe", "alice", "I chose PostgreSQL for the orders.", "--room", "design")

    spent, today = lines("usage")
    assert (spent["purpose"], spent["calls"], today["tokens_today"]) == ("learn", 1, 18)


def test_missing_price_is_reported(asked, run) -> None:
    asked()

    shown = run("usage")

    assert "0.0000" in shown.stdout
    assert "no price is set for small-2026" in shown.stderr


def test_budget_shows_remainder_and_exhaustion(asked, run, lines, server) -> None:
    asked("    budget: {tokens_per_day: 20, cost_per_day: 5}\n")

    assert lines("usage")[-1]["tokens_left"] == 2
    asked("    budget: {tokens_per_day: 20, cost_per_day: 5}\n")
    requests = len(server.requests)
    run("memory", "search", "Which database?")

    today = lines("usage")[-1]
    assert (today["tokens_left"], today["cost_left"], today["spent"]) == (0, 5, True)
    assert len(server.requests) == requests
    assert "until tomorrow only the rules extract facts" in run("usage").stderr


def test_no_costs_without_model(run, lines) -> None:
    run("remember", "We chose PostgreSQL.")

    (today,) = lines("usage")

    assert (today["tokens_today"], today["cost_today"], today["spent"]) == (0, 0, False)


def test_costs_are_separate_per_workspace(asked, lines, run) -> None:
    asked()
    run("remember", "We chose PostgreSQL.", "--workspace", "other")

    assert len(lines("usage", "--workspace", "other")) == 1
