"""`nexus audit`: tail, verify and export."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from threading import Timer

import pytest
from tests.cli.conftest import Run

SETTINGS = "memory: {audit: {level: verbose}, embeddings: {provider: hashing}}\n"


@pytest.fixture
def asked(run: Run, shell: Path) -> None:
    (shell / "nexus.yaml").write_text(SETTINGS)
    run("observe", "alice", "Our database is PostgreSQL.", "--room", "design")
    run("memory", "search", "Which database?", "--room", "design")


@pytest.mark.requirement("E27")
def test_tail_shows_events_and_entries_in_order(run: Run, lines, asked) -> None:
    shown = run("audit", "tail").stdout.splitlines()
    told = lines("audit", "tail")

    assert [line.split("\t")[1] for line in shown] == [each["action"] for each in told]
    assert [each["action"] for each in told if each["action"] != "settings"] == [
        "message",
        "recall",
    ]
    (recall,) = [each for each in told if each["action"] == "recall"]
    assert recall["detail"]["question"] == "Which database?"
    assert recall["place"] == "room:design"
    assert "PostgreSQL" not in str(told)  # texts are only in the ledger


def test_tail_filters(run: Run, lines, asked) -> None:
    assert [each["action"] for each in lines("audit", "tail", "--action", "recall")] == ["recall"]
    assert lines("audit", "tail", "--no-events", "--limit", "1")[0]["number"] == 2
    assert lines("audit", "tail", "--since", "2999-01-01", code=1) == []
    assert lines("audit", "tail", "--workspace", "globex", code=1) == []
    run("audit", "tail", "--since", "yesterday-ish", code=2)


@pytest.mark.slow
def test_tail_follows_after_future_event(run: Run, asked) -> None:
    words = [sys.executable, "-m", "nexusmem", "audit", "tail", "--follow", "--json"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as following:
        assert following.stdout
        patience = Timer(20, following.kill)
        patience.start()
        shown = [json.loads(following.stdout.readline()) for _ in range(3)]
        for words in (["Tea is at four.", "--at", "2999-01-01T16:00Z"], ["Fine."]):
            run("observe", "bob", *words, "--room", "design")
            shown.append(json.loads(following.stdout.readline()))
        patience.cancel()
        following.terminate()

    assert [each["at"][:4] == "2999" for each in shown] == [False] * 3 + [True, False]
    assert [each["actor"] for each in shown[3:]] == ["bob", "bob"]


@pytest.mark.requirement("E27")
def test_verify_detects_changed_entry(run: Run, lines, asked) -> None:
    (report,) = lines("audit", "verify")
    assert (report["entries"], report["problems"]) == (2, [])
    lines("audit", "verify", "--anchor", report["head"])

    with closing(sqlite3.connect("memory.db")) as file, file:
        file.execute("UPDATE audit SET content = replace(content, 'Which', 'Whose')")

    (report,) = lines("audit", "verify", code=1)
    assert report["problems"] == ["entry 2 was changed"]
    assert "entry 2 was changed" in run("audit", "verify", code=1).stderr


def test_export_writes_file(run: Run, lines, asked, shell: Path) -> None:
    (done,) = lines("audit", "export", "trail.jsonl")

    told = [json.loads(line) for line in (shell / "trail.jsonl").read_text().splitlines()]
    assert [each["number"] for each in told] == [1, 2, 3] == [*range(1, done["entries"] + 1)]
    assert told[-1]["detail"]["what"] == "audit"  # the export itself is recorded
    assert len(told[0]["proof"]["hash"]) == 64


def test_failed_export_is_not_recorded(run: Run, lines, asked, shell: Path) -> None:
    (shell / "folder").mkdir()

    for file in ("nowhere/trail.jsonl", "folder/" + "x" * 300):
        refused = run("audit", "export", file, code=2)
        assert "name a file in a folder that you may write to" in refused.stderr

    assert lines("audit", "tail", "--action", "export", code=1) == []


def test_export_writes_to_pipe(run: Run, asked) -> None:
    end, start = os.pipe()
    with os.fdopen(end) as told:
        run("audit", "export", f"/dev/fd/{start}")
        os.close(start)

        assert [json.loads(line)["number"] for line in told] == [1, 2, 3]


@pytest.mark.requirement("E27", "X10")
def test_migration_copies_and_records_audit(
    run: Run, lines, asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("migrate", "memory.db", "new.db")
    before = lines("audit", "tail", "--no-events")
    (head,) = lines("audit", "verify")

    monkeypatch.setenv("NEXUS_STORE", "new.db")

    assert lines("audit", "tail", "--no-events") == before
    assert before[-1]["action"] == "migrate"
    assert lines("audit", "verify") == [head]
