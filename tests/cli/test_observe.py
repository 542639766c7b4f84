"""`nexus observe` and `nexus remember`."""

from __future__ import annotations

import pytest

from nexusmem.cli.options import DEFAULT_NAME
from nexusmem.runtime.backoff import RetryPolicy


def test_same_key_is_stored_once(lines, run) -> None:
    told = ("observe", "alice", "We decided to use PostgreSQL.", "--key", "msg-17")

    first, second = lines(*told)[0], lines(*told)[0]

    assert (first["duplicate"], second["duplicate"]) == (False, True)
    assert first["event"] == second["event"]
    refused = run("observe", "alice", "We decided otherwise.", "--key", "msg-17", code=2)
    assert "was used before" in refused.stderr


def test_dash_reads_standard_input(lines) -> None:
    lines("observe", "alice", "-", said="The grüne kettle\nis on the stove.")

    (hit,) = lines("memory", "search", "kettle")

    assert hit["text"] == "The grüne kettle\nis on the stove."


def test_binary_standard_input_is_refused(run) -> None:
    result = run("observe", "alice", "-", said=b"\xff\xfe kettle", code=2)

    assert "not UTF-8" in result.stderr


def test_time_and_thread_are_stored(lines) -> None:
    lines(
        *("observe", "alice", "The kettle is on the stove."),
        *("--at", "2025-05-06T07:08:09+02:00", "--thread", "kitchen", "--role", "user"),
    )

    (hit,) = lines("memory", "search", "kettle")

    assert hit["at"] == "2025-05-06T05:08:09.000000Z"
    assert hit["thread"] == "kitchen"


@pytest.mark.parametrize(
    "words",
    [
        ("observe", "alice", ""),
        ("observe", "", "text"),
        ("observe", "alice", "text", "--role", "king"),
        ("observe", "alice", "text", "--at", "yesterday"),
        ("observe", "alice", "text", "--key", ""),
        ("observe", "alice"),
        ("remember", "text", "--workspace", " "),
    ],
)
def test_invalid_input_exits_2(run, words) -> None:
    result = run(*words, code=2)

    assert "rror: " in result.stderr
    assert result.stdout == ""


def test_unavailable_store_exits_3(run, shell) -> None:
    (shell / "folder").mkdir()

    result = run("remember", "text", "--store", "folder", code=3)

    assert "folder is a folder; give a file" in result.stderr


def test_unavailable_embedder_is_only_a_warning(
    run, lines, shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(RetryPolicy, "wait_seconds", lambda *_: 0.0)
    unreachable = "{provider: ollama, model: m, dimension: 8, ollama_url: http://127.0.0.1:9}"
    (shell / "nexus.yaml").write_text(f"memory:\n  embeddings: {unreachable}\n")

    result = run("remember", "The kettle is on the stove.")

    assert "warning: stored; a step of learning failed" in result.stderr
    found = run("memory", "search", "kettle")
    assert "kettle is on the stove" in found.stdout
    assert "warning: vector: " in found.stderr
    (waiting,) = [check for check in lines("doctor", code=1) if check["name"] == "outbox"]
    assert waiting["state"] == "problem"
    assert f"1 events of {DEFAULT_NAME} failed" in waiting["detail"]
