"""`nexus quota`, and the exit codes of exceeded quotas."""

from __future__ import annotations

from pathlib import Path


def limit(shell: Path, quotas: str) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  quotas: {{{quotas}}}\n")


def test_quota_shows_limits_and_use(run, lines, shell: Path) -> None:
    limit(shell, "events_per_day: 10")
    run("remember", "We chose PostgreSQL.")

    told = {each["quota"]: each for each in lines("quota")}

    assert (told["events_per_day"]["used"], told["events_per_day"]["limit"]) == (1, 10)
    assert told["events_per_day"]["frees_at"].endswith("T00:00:00+00:00")
    assert (told["max_memories"]["limit"], told["max_memories"]["frees_at"]) == (None, None)
    assert told["reads_per_minute"]["used"] is None  # counted by each process
    shown = run("quota").stdout
    assert "events_per_day\t1\t10\t" in shown
    assert "reads_per_minute\tper process\tnone\t" in shown


def test_exit_codes_of_exceeded_quotas(run, shell: Path) -> None:
    limit(shell, "events_per_day: 1")
    run("remember", "We chose PostgreSQL.")

    refused = run("remember", "And Redis.", code=3)
    assert "may have 1 events per day, and nothing was written; it resets" in refused.stderr

    limit(shell, "max_text_bytes: 10")
    refused = run("remember", "And Redis.", code=2)
    assert "erase records or raise memory.quotas.max_text_bytes" in refused.stderr
