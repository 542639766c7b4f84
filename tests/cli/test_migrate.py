"""`nexus migrate`: from one file into another."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

SECRET = "The otter is called Ferdinand and lives behind the mill."


@pytest.fixture
def told(run) -> None:
    run("observe", "alice", SECRET, "--room", "design", "--workspace", "acme")
    run("observe", "bob", "The wheel turns on Monday.", "--room", "design", "--workspace", "other")


@pytest.mark.requirement("E31", "X10")
def test_migrate_copies_store(run, lines, told, monkeypatch) -> None:
    before = run("memory", "export", "--as-admin", "-w", "acme").stdout

    reports = lines("migrate", "memory.db", "sqlite:///new.db")

    assert [report["workspace"] for report in reports] == ["acme", "other"]
    assert reports[0]["records"]["events"] == 1
    assert reports[0]["written"] == sum(reports[0]["records"].values())
    assert len(reports[0]["digests"]["events"]) == 64
    monkeypatch.setenv("NEXUS_STORE", "new.db")
    assert run("memory", "export", "--as-admin", "-w", "acme").stdout == before
    assert lines("memory", "search", "otter", "--room", "design", "-w", "acme")
    run("verify")


def test_repeated_migration_writes_nothing(run, lines, told) -> None:
    lines("migrate", "memory.db", "new.db")

    again = lines("migrate", "memory.db", "new.db")

    assert [report["written"] for report in again] == [0, 0]
    assert "acme\t1\t" in run("migrate", "memory.db", "new.db").stdout


def test_migrate_into_store_with_other_workspaces(run, lines, told) -> None:
    lines("migrate", "memory.db", "new.db", "--workspace", "acme")

    refused = run("migrate", "memory.db", "new.db", "--workspace", "other", code=2)
    (report,) = lines(
        "migrate", "memory.db", "new.db", "--workspace", "other", "--allow-other-workspaces"
    )

    assert "other workspaces (acme" in refused.stderr
    assert "--allow-other-workspaces" in refused.stderr
    assert report["workspace"] == "other"


def test_workspace_of_same_name_is_refused(run, told, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_STORE", "new.db")
    run("observe", "eve", "Something else.", "--workspace", "acme")

    refused = run("migrate", "memory.db", "new.db", "--allow-other-workspaces", code=2)

    assert "event 1 already exists with other content" in refused.stderr
    assert "Something else" in run("memory", "export", "--as-admin", "-w", "acme").stdout


def test_broken_hash_chain_is_reported(run, told) -> None:
    with closing(sqlite3.connect("memory.db")) as connection, connection:
        connection.execute("UPDATE events SET content = replace(content, 'otter', 'beaver')")

    result = run("migrate", "memory.db", "new.db", code=1)

    assert "acme: event 1 was changed" in result.stderr


def test_missing_source_is_not_created(run) -> None:
    assert "no store at nowhere.db" in run("migrate", "nowhere.db", "new.db", code=2).stderr
    assert not Path("nowhere.db").exists()
    assert not Path("new.db").exists()


def test_settings_files_as_source_and_target(lines, told, shell, monkeypatch) -> None:
    (shell / "old.yaml").write_text("memory:\n  store: {url: memory.db}\n")
    (shell / "new.yaml").write_text("memory:\n  store: {url: '${WHERE}'}\n")
    monkeypatch.setenv("NEXUS_STORE", "elsewhere.db")
    monkeypatch.setenv("WHERE", "new.db")

    assert len(lines("migrate", "old.yaml", "new.yaml")) == 2
    assert (shell / "new.db").exists()
    assert not (shell / "elsewhere.db").exists()
