"""`nexus jobs`: what waits, why, and how it is tried again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.loopback import Loopback, status

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


def test_nothing_waits_where_all_is_well(run, lines) -> None:
    run("remember", "We chose PostgreSQL.")

    assert lines("jobs") == []
    assert "nothing is waiting" in run("jobs").stderr


def test_another_workspace_s_work_is_not_shown(stuck, lines) -> None:
    assert lines("jobs", "--workspace", "other") == []


def test_events_are_named_only_to_be_tried_again(stuck, run) -> None:
    run("jobs", "--event", "x", code=2)
