"""Reading ahead: every label once, and never in anybody's way."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from nexus import Nexus
from nexus.core.errors import StoreUnavailable
from nexus.stores.sql.labels import LabelState, Readable
from nexus.stores.sqlite import ahead
from nexus.stores.sqlite.ahead import ReadAhead


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


def state(label: int, documents: int = 5, *, learned: bool = False) -> LabelState:
    return LabelState(label, 1, 0, documents, 9, 1, 0, int(learned), 1)


def view(*labels: LabelState, workspace: int = 1) -> Readable:
    return Readable(workspace, labels)


def test_a_label_is_read_once_and_what_was_told_comes_first() -> None:
    sessions = Sessions()
    reader = ReadAhead(sessions)

    reader.look(view(state(2, learned=True), state(1)))
    reader.look(view(state(1), state(2, learned=True)))
    reader.look(view(state(1), state(3), state(4, documents=0)))
    reader.close()

    first, then = ({"workspace": 1, "labels": labels} for labels in ("[1, 2]", "[3]"))
    assert sessions.read == [("read_ahead", first), ("read_ahead", then)]


def test_much_is_not_read_ahead() -> None:
    sessions = Sessions()
    reader = ReadAhead(sessions)

    reader.look(view(state(1, documents=ahead.MOST_DOCUMENTS), state(2, documents=1)))
    reader.close()

    assert sessions.read == []


def test_a_file_that_is_away_ends_nothing() -> None:
    sessions = Sessions(failures=1)
    reader = ReadAhead(sessions)

    reader.look(view(state(1)))
    reader.look(view(state(2)))
    reader.close()

    assert sessions.read == [("read_ahead", {"workspace": 1, "labels": "[2]"})]


def test_labels_of_long_ago_may_be_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead, "MOST_PLACES", 1)
    sessions = Sessions()
    reader = ReadAhead(sessions)

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
