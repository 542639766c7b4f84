"""`nexus jobs`: what waits, why, and how it is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.answers import fact, worded
from tests.loopback import Loopback, says, status

SETTINGS = """
memory:
  embeddings: {{provider: ollama, model: small, ollama_url: "{url}"}}
"""


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


@pytest.fixture
def stuck(run, server: Loopback, shell: Path) -> None:
    """Something was said, and the embedder refuses to read it."""
    (shell / "nexus.yaml").write_text(SETTINGS.format(url=server.url))
    server.script(*[status(400)] * 50)
    run("observe", "alice", "We chose PostgreSQL instead of MySQL.", "--room", "design")


def test_what_waits_says_why_and_until_when(stuck, lines) -> None:
    (job,) = lines("jobs")

    assert job["scope"] == "room:design"
    assert job["attempts"] >= 1
    assert "400" in job["error"]
    assert job["due_at"] > "2026"
    assert set(job) == {"event_id", "scope", "step", "attempts", "due_at", "error"}


def test_a_person_reads_a_table(stuck, run) -> None:
    shown = run("jobs").stdout

    assert "room:design" in shown
    assert "400" in shown
    assert shown.count("\n") == 1


def test_what_failed_is_tried_again_when_asked(stuck, run, lines, server: Loopback) -> None:
    server._script.clear()

    (done,) = lines("jobs", "retry")

    assert done == {"retried": 1, "still_waiting": 0}
    assert lines("jobs") == []
    run("memory", "search", "PostgreSQL", "--room", "design")


def test_only_some_can_be_tried_again(stuck, lines, server: Loopback) -> None:
    (job,) = lines("jobs")

    (nothing,) = lines("jobs", "retry", "--event", "0" * 32)
    (something,) = lines("jobs", "retry", "--event", job["event_id"])

    assert (nothing["retried"], something["retried"]) == (0, 1)


def test_a_model_that_talks_waits_and_is_not_paid_again_until_somebody_asks(
    run, lines, server: Loopback, shell: Path
) -> None:
    llm = f"{{provider: ollama, model: small, base_url: '{server.url}'}}"
    (shell / "nexus.yaml").write_text(f"memory:\n  llm: {llm}\n")
    server.script(*[says("Alice chose PostgreSQL, I think.")] * 2)
    run("observe", "alice", "I chose PostgreSQL for the orders.", "--room", "design")

    (job,) = lines("jobs")
    run("memory", "search", "PostgreSQL", "--room", "design")
    server.script(says(worded()))
    run("observe", "bob", "And I chose Redis for the cache.", "--room", "design")
    paid = len(server.requests)
    server.script(says(worded(facts=[fact()])))
    (done,) = lines("jobs", "retry")

    assert (job["step"], "not JSON" in job["error"]) == ("derived", True)
    assert paid == 3  # twice for the first message, once for the second
    assert done == {"retried": 1, "still_waiting": 0}
    assert len(server.requests) == 4


def test_nothing_waits_where_all_is_well(run, lines) -> None:
    run("remember", "We chose PostgreSQL.")

    assert lines("jobs") == []
    assert "nothing is waiting" in run("jobs").stderr


def test_another_workspace_s_work_is_not_shown(stuck, lines) -> None:
    assert lines("jobs", "--workspace", "other") == []


def test_events_are_named_only_to_be_tried_again(stuck, run) -> None:
    run("jobs", "--event", "x", code=2)
