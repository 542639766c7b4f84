"""`nexus jobs`: list, retry and run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import click
import pytest
from tests.answers import fact, worded
from tests.loopback import Loopback, says, status

from nexusmem import Nexus
from nexusmem.embedders.feature_hash import HashingEmbedder

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
    """Record a message that the embedder rejects."""
    (shell / "nexus.yaml").write_text(SETTINGS.format(url=server.url))
    server.script(*[status(400)] * 50)
    run("observe", "alice", "We chose PostgreSQL instead of MySQL.", "--room", "design")


def waiting(lines: Callable[..., list[dict[str, Any]]]) -> list[dict[str, Any]]:
    return [each for each in lines("jobs") if each["kind"] == "event"]


def test_pending_event_shows_error_and_next_try(stuck, lines) -> None:
    (job,) = waiting(lines)

    assert job["scope"] == "room:design"
    assert job["attempts"] >= 1
    assert "400" in job["error"]
    assert job["due_at"] > "2026"
    assert set(job) == {"event_id", "scope", "step", "attempts", "due_at", "error", "dead", "kind"}


def test_table_output(stuck, run) -> None:
    shown = run("jobs").stdout

    assert "room:design" in shown
    assert "400" in shown
    assert "habits" in shown


@pytest.fixture
def narrow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns."""
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")


def test_narrow_terminal_breaks_no_word(stuck, run, lines, narrow) -> None:
    by_rules = ("consolidate", "near_duplicates", "habits", "promote", "session_end", "decay")
    run("jobs", "run", *by_rules, "cleanup")
    told = [each for each in lines("jobs") if each["kind"] == "job" and each["last_run_at"]]
    (event,) = waiting(lines)
    counted = {word for each in told for count in each["last_counts"] for word in count.split("_")}

    shown = click.unstyle(run("jobs").stdout)

    words = {each.strip(",;:()│┃") for each in shown.split()}
    assert len(told) > 5
    assert {each["name"] for each in told} | counted <= words
    assert {event["event_id"], event["scope"], event["step"]} <= words
    assert {each.strip(",;:()") for each in event["error"].split()} <= words
    assert max(map(len, shown.splitlines())) <= 80


def test_retry_learns_failed_events(stuck, run, lines, server: Loopback) -> None:
    server._script.clear()

    (done,) = lines("jobs", "retry")

    assert done == {"retried": 1, "pending": 0}
    assert waiting(lines) == []
    run("memory", "search", "PostgreSQL", "--room", "design")


def test_retry_of_named_events_and_jobs(stuck, lines, server: Loopback) -> None:
    (job,) = waiting(lines)

    (nothing,) = lines("jobs", "retry", "0" * 32)
    (something,) = lines("jobs", "retry", job["event_id"], "habits")

    assert (nothing["retried"], something["retried"]) == (0, 1)
    (recorded,) = lines("audit", "tail", "--action", "retry")
    assert recorded["detail"]["which"] == [job["event_id"], "habits"]


def test_retry_refuses_unknown_job(stuck, run, lines) -> None:
    refused = run("jobs", "retry", "patern", code=2)

    assert "unknown job 'patern'; expected one of" in refused.stderr
    assert lines("audit", "tail", "--action", "retry", code=1) == []


def test_invalid_model_output_is_not_paid_again_until_retry(
    run, lines, server: Loopback, shell: Path
) -> None:
    llm = f"{{provider: ollama, model: small, base_url: '{server.url}'}}"
    (shell / "nexus.yaml").write_text(f"memory:\n  llm: {llm}\n")
    server.script(*[says("Alice chose PostgreSQL, I think.")] * 2)
    run("observe", "alice", "I chose PostgreSQL for the orders.", "--room", "design")

    (job,) = waiting(lines)
    run("memory", "search", "PostgreSQL", "--room", "design")
    server.script(says(worded()))
    run("observe", "bob", "And I chose Redis for the cache.", "--room", "design")
    paid = len(server.requests)
    server.script(says(worded(facts=[fact()])))
    (done,) = lines("jobs", "retry")

    assert (job["step"], "not JSON" in job["error"]) == ("derived", True)
    assert paid == 3  # twice for the first message, once for the second
    assert done == {"retried": 1, "pending": 0}
    assert len(server.requests) == 4


def test_no_pending_events(run, lines) -> None:
    run("remember", "We chose PostgreSQL.")

    assert waiting(lines) == []
    assert "no pending events" in run("jobs").stderr


def test_work_of_other_workspace_is_not_shown(stuck, lines) -> None:
    shown = lines("jobs", "--workspace", "other")

    assert {each["kind"] for each in shown} == {"job"}


@pytest.mark.requirement("E24", "E32")
def test_job_runs_on_request(run, lines) -> None:
    run("observe", "alice", "The heron is blue.", "--room", "design")

    (done,) = lines("jobs", "run", "habits")

    assert done == {"habits": {"changed": 0}}
    (job,) = [each for each in lines("jobs") if each.get("name") == "habits"]
    assert job["last_run_at"] > "2026"
    assert (job["last_counts"], job["dead"], job["running"]) == ({"changed": 0}, False, False)
    run("jobs", "run", "nothing", code=2)
    run("jobs", "run", code=2)


def test_job_cursor_is_not_a_count(run, lines) -> None:
    run("observe", "alice", "We decided to use PostgreSQL.", "--room", "design")

    (first,), (again,) = (lines("jobs", "run", "consolidate") for _ in range(2))

    assert first["consolidate"].keys() == {"looked_at", "put", "dropped"}
    assert (first["consolidate"]["looked_at"] > 0, again["consolidate"]["looked_at"]) == (True, 0)
    assert "up to" not in run("jobs").stdout
    assert "up_to" not in run("metrics").stdout


@pytest.mark.requirement("D25", "E24")
def test_worker_learns_events_of_other_process(run, lines, shell: Path) -> None:
    (shell / "nexus.yaml").write_text("memory: {embeddings: {provider: hashing}}")
    with Nexus.open("memory.db", embedder=HashingEmbedder(), background=False) as nexus:
        nexus.workspace("default").room("design").observe("alice", "The heron is blue.")

    *_, done = lines("worker", "--once", "--jobs", "habits")

    assert set(done) == {"learned", "steps", "failed", "last"}
    assert (done["learned"], done["failed"]) == (1, 0)
    assert waiting(lines) == []
    run("worker", "--once", "--jobs", "nothing", code=2)


@pytest.mark.requirement("E24")
def test_job_without_interval_runs_only_manually(run, lines, shell: Path) -> None:
    run("remember", "We chose PostgreSQL.")
    run("worker", "--once")
    (shell / "nexus.yaml").write_text(
        "memory: {maintain: {interval_minutes: {decay: 0, habits: 0}}}\n"
    )
    run("worker", "--once")

    def decay() -> dict[str, Any]:
        (found,) = [each for each in lines("jobs") if each.get("name") == "decay"]
        return found

    assert (decay()["every_minutes"], decay()["due_at"]) == (None, None)
    (done,) = lines("jobs", "run", "decay")
    assert set(done) == {"decay"}
    assert decay()["last_run_at"]
    assert decay()["due_at"] is None
    assert "only manually" in run("jobs").stdout


@pytest.mark.requirement("E24")
def test_failed_job_prints_one_line(run, lines, monkeypatch) -> None:
    def boom(*_args: object, **_more: object) -> None:
        raise ValueError("boom")

    run("remember", "We chose PostgreSQL.")
    monkeypatch.setattr("nexusmem.maintain.jobs.consolidate.consolidate", boom)

    refused = run("jobs", "run", "consolidate", code=1)
    again = run("jobs", "run", "consolidate", code=1)

    assert "job 'consolidate' failed: ValueError('boom')" in refused.stderr == again.stderr
    assert "Traceback" not in refused.stderr
    (found,) = [each for each in lines("jobs") if each.get("name") == "consolidate"]
    assert (found["running"], found["attempts"], "boom" in found["error"]) == (False, 2, True)


@pytest.mark.requirement("E24")
def test_worker_once_exits_1_after_failure(run, lines, monkeypatch) -> None:
    def boom(*_args: object, **_more: object) -> None:
        raise ValueError("boom")

    run("remember", "We chose PostgreSQL.")
    run("worker", "--once")
    with monkeypatch.context() as patched:
        patched.setattr("nexusmem.maintain.jobs.consolidate.consolidate", boom)
        run("jobs", "run", "consolidate", code=1)
        run("jobs", "retry", "consolidate")
        assert lines("worker", "--once", code=1)[-1]["failed"] == 1

    run("jobs", "retry", "consolidate")
    assert lines("worker", "--once")[-1]["failed"] == 0


@pytest.mark.requirement("E32")
def test_failures_of_all_workspaces_are_listed(run, lines, monkeypatch) -> None:
    def boom(*_args: object, **_more: object) -> None:
        raise ValueError("boom")

    for name in ("acme", "ferries", "harbour"):
        run("remember", "We chose PostgreSQL.", "--workspace", name)
    assert lines("jobs", "--failed") == []
    monkeypatch.setattr("nexusmem.maintain.jobs.consolidate.consolidate", boom)
    for name in ("acme", "harbour"):
        run("jobs", "run", "consolidate", "--workspace", name, code=1)

    found = lines("jobs", "--failed")

    told = [(row["workspace"], row["name"], row["attempts"]) for row in found]
    assert told == [("acme", "consolidate", 1), ("harbour", "consolidate", 1)]
    assert "boom" in run("jobs", "--failed").stdout
    run("jobs", "retry", "--failed", code=2)
