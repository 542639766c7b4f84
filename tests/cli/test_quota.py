"""`nexus quota`, and what a refusal exits with."""

from __future__ import annotations

from pathlib import Path


def limit(shell: Path, quotas: str) -> None:
    (shell / "nexus.yaml").write_text(f"memory:\n  quotas: {{{quotas}}}\n")


def test_quotas_are_shown_with_what_is_used(run, lines, shell: Path) -> None:
    limit(shell, "events_per_day: 10")
    run("remember", "We chose PostgreSQL.")

    told = {each["quota"]: each for each in lines("quota")}

    assert (told["events_per_day"]["used"], told["events_per_day"]["limit"]) == (1, 10)
    assert told["events_per_day"]["frees_at"].endswith("T00:00:00+00:00")
    assert (told["memories"]["limit"], told["memories"]["frees_at"]) == (None, None)
    assert told["recalls_per_minute"]["used"] is None  # of each process, and not of this one
    shown = run("quota").stdout
    assert "events_per_day\t1\t10\t" in shown
    assert "recalls_per_minute\tof each process\tnone\t" in shown


def test_what_frees_by_itself_is_tried_again_and_what_does_not_is_wrong(run, shell: Path) -> None:
    limit(shell, "events_per_day: 1")
    run("remember", "We chose PostgreSQL.")

    refused = run("remember", "And Redis.", code=3)
    assert "may have 1 events a day, and nothing was written; there is room again" in refused.stderr

    limit(shell, "text_bytes: 10")
    refused = run("remember", "And Redis.", code=2)
    assert "forget something, or raise memory.quotas.text_bytes" in refused.stderr
