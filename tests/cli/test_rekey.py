"""Encrypted stores: NEXUS_KEY, `nexus rekey`, and migration into an encrypted store."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.cli.conftest import Run

pytest.importorskip("sqlcipher3", reason="the extra encryption is not installed")

OLD, NEW = "0123456789abcdef" * 4, "fedcba9876543210" * 4
SECRET = "The otter is called Ferdinand."


@pytest.fixture
def told(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEXUS_KEY", OLD)
    run("observe", "alice", SECRET, "--room", "design")


def search(run: Run, code: int = 0) -> str:
    return run("memory", "search", "Ferdinand otter", "--room", "design", code=code).output


@pytest.mark.requirement("E33")
def test_key_variable_encrypts_file(run: Run, told: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert SECRET in search(run)
    assert b"Ferdinand" not in Path("memory.db").read_bytes()

    monkeypatch.setenv("NEXUS_KEY", NEW)
    assert "cannot be read with this key" in search(run, code=2)
    monkeypatch.delenv("NEXUS_KEY")
    assert "set NEXUS_KEY or memory.store.key_command" in search(run, code=1)


@pytest.mark.requirement("E33")
def test_rekey_changes_the_key(run: Run, told: None, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "no new key" in run("rekey", code=2).output
    monkeypatch.setenv("NEXUS_NEW_KEY", NEW)

    said = run("rekey").output

    assert "memory.db has the new key" in said
    assert NEW not in said
    assert "cannot be read with this key" in search(run, code=2)
    monkeypatch.setenv("NEXUS_KEY", NEW)
    assert SECRET in search(run)


def test_rekey_takes_the_new_key_from_a_command(
    run: Run, told: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    run("rekey", "--new-key-command", f"echo {NEW}")

    monkeypatch.setenv("NEXUS_KEY", NEW)
    assert SECRET in search(run)


def test_rekey_needs_an_encrypted_file(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("observe", "alice", SECRET, "--room", "design")
    monkeypatch.setenv("NEXUS_NEW_KEY", NEW)
    assert "no key is configured" in run("rekey", code=2).output

    monkeypatch.setenv("NEXUS_KEY", OLD)
    assert "is not encrypted" in run("rekey", code=2).output
    refused = run("rekey", "--store", "postgresql://host/db", code=2)
    assert "only an encrypted SQLite file" in refused.output
    assert "does not exist" in run("rekey", "--store", "nowhere.db", code=3).output


@pytest.mark.requirement("E33")
def test_migrate_into_encrypted_store(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    run("observe", "alice", SECRET, "--room", "design")
    Path("plain.yaml").write_text("memory:\n  store:\n    url: memory.db\n")
    Path("sealed.yaml").write_text(
        f"memory:\n  store:\n    url: sealed.db\n    key_command: echo {OLD}\n"
    )

    run("migrate", "plain.yaml", "sealed.yaml")

    assert b"Ferdinand" not in Path("sealed.db").read_bytes()
    monkeypatch.delenv("NEXUS_STORE")
    found = run(
        "memory", "search", "Ferdinand", "--room", "design", "--config", "sealed.yaml"
    ).output
    assert SECRET in found


def test_doctor_opens_encrypted_file(run, lines, monkeypatch) -> None:
    monkeypatch.setenv("NEXUS_KEY", "correct horse battery staple")
    run("remember", "The otter is called Ferdinand.")

    checks = {check["name"]: check for check in lines("doctor")}
    monkeypatch.delenv("NEXUS_KEY")
    without = [check for check in lines("doctor", code=1) if check["name"] == "file"]

    assert checks["encrypted"]["detail"] == "complete file, with SQLCipher"
    assert checks["pages"]["state"] == checks["schema"]["state"] == "ok"
    assert "set NEXUS_KEY" in without[0]["detail"]
