"""Reading ahead: every label once, and never in anybody's way."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from nexus import Nexus
from nexus.core.errors import StoreUnavailable
from nexus.stores.sql.labels import LabelState, Readable
from nexus.stores.sqlite import ahead
from nexus.stores.sqlite.ahead import ReadAhead, blocks_from_disk


class Sessions:
    """Notes what is read; fails as often as it is told to."""

    def __init__(self, failures: int = 0) -> None:
        self.read: list[tuple[str, dict[str, object]]] = []
        self.failures = failures
        self.holding: Any = None

    @contextmanager
    def reading(self) -> Iterator[Any]:
        if self.failures:
            self.failures -= 1
            raise StoreUnavailable("away")
        yield self

    def run(self, name: str, values: Any) -> Any:
        self.read.append((name, dict(values)))
        return self

    def fetchone(self) -> None:
        return None

    def write(self, work: Any, *, lazily: bool = False) -> Any:
        raise AssertionError("nothing is written here")


def uncounted() -> None:
    """As on a system that does not count what is read from the disk."""


def state(label: int, documents: int = 5, *, learned: bool = False) -> LabelState:
    return LabelState(label, 1, 0, documents, 9, 1, 0, int(learned), 1)


def view(*labels: LabelState, workspace: int = 1) -> Readable:
    return Readable(workspace, labels)


def test_a_label_is_read_once_and_what_was_told_comes_first() -> None:
    sessions = Sessions()
    reader = ReadAhead(sessions, blocks=uncounted)

    reader.look(view(state(2, learned=True), state(1)))
    reader.look(view(state(1), state(2, learned=True)))
    reader.look(view(state(1), state(3), state(4, documents=0)))
    reader.close()

    first, then = ({"workspace": 1, "labels": labels} for labels in ("[1, 2]", "[3]"))
    assert sessions.read == [("read_ahead", first), ("read_ahead", then)]


def test_much_is_not_read_ahead() -> None:
    sessions = Sessions()
    reader = ReadAhead(sessions, blocks=uncounted)

    reader.look(view(state(1, documents=ahead.MOST_DOCUMENTS), state(2, documents=1)))
    reader.close()

    assert sessions.read == []


def test_a_file_that_is_away_ends_nothing() -> None:
    sessions = Sessions(failures=1)
    reader = ReadAhead(sessions, blocks=uncounted)

    reader.look(view(state(1)))
    reader.look(view(state(2)))
    reader.close()

    assert sessions.read == [("read_ahead", {"workspace": 1, "labels": "[2]"})]


def test_what_lies_in_memory_is_read_ahead_but_now_and_then() -> None:
    sessions, disk = Sessions(), iter([0, 0, 0, 8, 8, 16])
    reader = ReadAhead(sessions, blocks=lambda: next(disk))

    def ask(labels: range, *, worthwhile: bool) -> list[object]:
        """What is read for these, and whether that turns out to be worthwhile."""
        sessions.read.clear()
        for label in labels:
            reader.look(view(state(label)))
        deadline = time.monotonic() + 10
        while reader._worthwhile is not worthwhile and time.monotonic() < deadline:
            time.sleep(0.001)
        assert reader._worthwhile is worthwhile
        return [bound["labels"] for _, bound in sessions.read]

    assert ask(range(1), worthwhile=False) == ["[0]"]  # nothing came from the disk
    assert ask(range(1, ahead.RARELY), worthwhile=False) == []
    again = range(ahead.RARELY, ahead.RARELY + 1)
    assert ask(again, worthwhile=True) == [f"[{ahead.RARELY}]"]  # now something does
    reader.look(view(state(99)))
    reader.close()
    assert sessions.read[-1] == ("read_ahead", {"workspace": 1, "labels": "[99]"})


def test_a_thread_knows_what_it_read_from_the_disk(tmp_path: Path) -> None:
    file = tmp_path / "some"
    file.write_bytes(os.urandom(1_000_000))

    def read() -> int:
        before = blocks_from_disk() or 0
        file.read_bytes()
        return (blocks_from_disk() or 0) - before

    assert read() == 0  # it was written a moment ago


def test_labels_of_long_ago_may_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "MOST_PLACES", 1)
    sessions = Sessions()
    reader = ReadAhead(sessions, blocks=uncounted)

    for label in (1, 2, 1):
        reader.look(view(state(label)))
    reader.close()

    assert [bound["labels"] for _, bound in sessions.read] == ["[1]", "[2]", "[1]"]


def test_a_large_file_is_read_ahead_and_answers_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "memory.db"
    with Nexus.open(path, background=False) as nexus:
        room = nexus.workspace("acme").room("talk", participants=["ada"])
        room.observe("ada", "The harbour opens at nine.", key="1")
        room.flush()
        told = [hit.memory.id for hit in room.recall("When does the harbour open?").hits]
    read: list[str] = []
    real = ReadAhead.look

    def look(self: ReadAhead, view: Readable) -> None:
        read.append("looked")
        real(self, view)

    monkeypatch.setattr(ReadAhead, "look", look)
    monkeypatch.setattr("nexus.stores.sqlite.store.LARGE_BYTES", 1)
    with Nexus.open(path, background=False) as nexus:
        room = nexus.workspace("acme").room("talk", participants=["ada"])
        context = room.compose("When does the harbour open?")
        again = [hit.memory.id for hit in room.recall("When does the harbour open?").hits]

    assert read
    assert "harbour" in context.text
    assert again == told
    with closing(sqlite3.connect(path)) as connection:  # nobody holds it any more
        connection.execute("BEGIN EXCLUSIVE")
