"""ReadAhead: each label is read once, and never blocks a recall."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from nexusmem import Nexus
from nexusmem.core.errors import StoreUnavailable
from nexusmem.stores.sql.readable_labels import LabelState, ReadableLabels
from nexusmem.stores.sqlite import read_ahead
from nexusmem.stores.sqlite.read_ahead import ReadAhead, count_disk_blocks


class Sessions:
    """Records the queries; fails `failures` times first."""

    def __init__(self, failures: int = 0) -> None:
        self.read: list[tuple[str, dict[str, object]]] = []
        self.failures = failures
        self.held_leases: Any = None

    @contextmanager
    def read_transaction(self) -> Iterator[Any]:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("away")
        yield self

    def execute_query(self, name: str, values: Any) -> Any:
        self.read.append((name, dict(values)))
        return self

    def fetchone(self) -> None:
        return None

    def write(self, work: Any, *, lazily: bool = False) -> Any:
        raise AssertionError("nothing is written here")


def uncounted() -> None:
    """Block counter of a system without one."""


def state(label: int, documents: int = 5, *, learned: bool = False) -> LabelState:
    return LabelState(label, 1, 0, documents, 9, 1, 0, int(learned), 1)


def view(*labels: LabelState, workspace: int = 1) -> ReadableLabels:
    return ReadableLabels(workspace, labels)


def test_label_is_read_once_source_memories_first() -> None:
    sessions = Sessions()
    reader = ReadAhead(sessions, blocks=uncounted)

    reader.prefetch_labels(view(state(2, learned=True), state(1)))
    reader.prefetch_labels(view(state(1), state(2, learned=True)))
    reader.prefetch_labels(view(state(1), state(3), state(4, documents=0)))
    reader.close()

    first, then = ({"workspace": 1, "labels": labels} for labels in ("[1, 2]", "[3]"))
    assert sessions.read == [("read_ahead", first), ("read_ahead", then)]


def test_large_view_is_not_read_ahead() -> None:
    sessions = Sessions()
    reader = ReadAhead(sessions, blocks=uncounted)

    reader.prefetch_labels(
        view(state(1, documents=read_ahead.MAX_DOCUMENTS), state(2, documents=1))
    )
    reader.close()

    assert sessions.read == []


def test_unavailable_file_does_not_stop_the_thread() -> None:
    sessions = Sessions(failures=1)
    reader = ReadAhead(sessions, blocks=uncounted)

    reader.prefetch_labels(view(state(1)))
    reader.prefetch_labels(view(state(2)))
    reader.close()

    assert sessions.read == [("read_ahead", {"workspace": 1, "labels": "[2]"})]


def test_cached_pages_are_sampled_only() -> None:
    sessions, disk = Sessions(), iter([0, 0, 0, 8, 8, 16])
    reader = ReadAhead(sessions, blocks=lambda: next(disk))

    def ask(labels: range, *, worthwhile: bool) -> list[object]:
        """Return the labels that were read, after `_is_useful` has the expected value."""
        sessions.read.clear()
        for label in labels:
            reader.prefetch_labels(view(state(label)))
        deadline = time.monotonic() + 10
        while reader._is_useful is not worthwhile and time.monotonic() < deadline:
            time.sleep(0.001)
        assert reader._is_useful is worthwhile
        return [bound["labels"] for _, bound in sessions.read]

    assert ask(range(1), worthwhile=False) == ["[0]"]  # all pages were cached
    assert ask(range(1, read_ahead.SAMPLE_EVERY), worthwhile=False) == []
    again = range(read_ahead.SAMPLE_EVERY, read_ahead.SAMPLE_EVERY + 1)
    assert ask(again, worthwhile=True) == [f"[{read_ahead.SAMPLE_EVERY}]"]  # now a disk access
    reader.prefetch_labels(view(state(99)))
    reader.close()
    assert sessions.read[-1] == ("read_ahead", {"workspace": 1, "labels": "[99]"})


def test_disk_blocks_of_cached_file_are_zero(tmp_path: Path) -> None:
    file = tmp_path / "some"
    file.write_bytes(os.urandom(1_000_000))

    def read() -> int:
        before = count_disk_blocks() or 0
        file.read_bytes()
        return (count_disk_blocks() or 0) - before

    assert read() == 0  # the file is in the page cache


def test_evicted_label_is_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(read_ahead, "MAX_REMEMBERED_LABELS", 1)
    sessions = Sessions()
    reader = ReadAhead(sessions, blocks=uncounted)

    for label in (1, 2, 1):
        reader.prefetch_labels(view(state(label)))
    reader.close()

    assert [bound["labels"] for _, bound in sessions.read] == ["[1]", "[2]", "[1]"]


def test_read_ahead_does_not_change_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with Nexus.open(path, background=False) as nexus:
        room = nexus.workspace("acme").room("talk", participants=["ada"])
        room.observe("ada", "The harbour opens at nine.", key="1")
        room.flush()
        told = [hit.memory.id for hit in room.recall("When does the harbour open?").hits]
    read: list[str] = []
    real = ReadAhead.prefetch_labels

    def look(self: ReadAhead, view: ReadableLabels) -> None:
        read.append("looked")
        real(self, view)

    monkeypatch.setattr(ReadAhead, "prefetch_labels", look)
    monkeypatch.setattr("nexusmem.stores.sqlite.store.LARGE_BYTES", 1)
    with Nexus.open(path, background=False) as nexus:
        room = nexus.workspace("acme").room("talk", participants=["ada"])
        context = room.compose("When does the harbour open?")
        again = [hit.memory.id for hit in room.recall("When does the harbour open?").hits]

    assert read
    assert "harbour" in context.text
    assert again == told
    with closing(sqlite3.connect(path)) as connection:  # no lock is left
        connection.execute("BEGIN EXCLUSIVE")
