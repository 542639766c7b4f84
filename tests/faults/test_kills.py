"""A program is killed while it writes: what was acknowledged is there, once, and what was
forgotten is not."""

from __future__ import annotations

import io
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nexus import Nexus
from nexus.config import Settings
from nexus.core.access import Grant, administrator_grant
from nexus.core.errors import Forgotten
from nexus.core.ids import WorkspaceId
from nexus.core.protocols import Store
from nexus.embedders.hashing import HashingEmbedder
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore

WRITER = Path(__file__).with_name("writer.py")
LONGEST_LIFE = 0.4  # seconds, from its first write on


@dataclass
class Acknowledged:
    """What a program that was killed had been promised."""

    told: list[str] = field(default_factory=list)
    forgetting: set[str] = field(default_factory=set)  # under way: either way is right
    forgot: set[str] = field(default_factory=set)

    @classmethod
    def read(cls, path: Path) -> Acknowledged:
        known = cls()
        for line in path.read_text().splitlines() if path.exists() else ():
            what, key = line.split()
            if what == "told":
                known.told.append(key)
            else:
                getattr(known, what).add(key)
        known.forgetting -= known.forgot
        return known

    @property
    def kept(self) -> set[str]:
        return set(self.told) - self.forgetting - self.forgot


def text_of(key: str) -> str:
    return f"message {key} about tea and herons"


def write_and_be_killed(folder: Path, threads: int, run: int) -> Acknowledged:
    acknowledged = folder / "acknowledged"
    command = [WRITER, folder / "memory.db", acknowledged, threads, run]
    with subprocess.Popen(
        [sys.executable, *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as writer:
        assert writer.stdout
        assert writer.stderr
        assert writer.stdout.readline() == b"ready\n", writer.stderr.read().decode()
        try:
            writer.wait(timeout=random.Random(run).uniform(0, LONGEST_LIFE))
            pytest.fail(f"the writer ended by itself: {writer.stderr.read().decode()}")
        except subprocess.TimeoutExpired:
            writer.kill()
    return Acknowledged.read(acknowledged)


def opened(store: Store) -> Nexus:
    return Nexus.open(store, settings=Settings(), embedder=HashingEmbedder(), background=False)


def check(folder: Path, promised: Acknowledged) -> None:
    path = folder / "memory.db"
    store = SqliteStore(path)
    nexus = opened(store)
    everything = administrator_grant(WorkspaceId("acme"))

    check_nothing_is_lost(store, everything, promised)
    assert nexus.workspace("acme").flush() == 0
    check_everything_is_learned(store, everything)
    check_sending_again(nexus, promised)
    check_nothing_forgotten_is_left(store, everything, promised)
    nexus.close()
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def check_nothing_is_lost(store: Store, everything: Grant, promised: Acknowledged) -> None:
    report = store.ledger.verify(everything.workspace)
    keys = Counter(event.key for event in store.ledger.find(everything))

    assert report.problems == ()
    assert promised.kept <= keys.keys()
    assert not promised.forgot & keys.keys()
    assert set(keys.values()) <= {1}
    assert all(event.text == text_of(event.key) for event in store.ledger.find(everything))


def check_everything_is_learned(store: Store, everything: Grant) -> None:
    """Every event is a memory, with words and a vector; the reference finds the same."""
    events, memories = store.ledger.find(everything), store.memories.find(everything)
    assert store.queue.pending(everything) == 0
    told = [memory for memory in memories if not memory.learned]
    assert sorted(m.sources for m in told) == sorted((e.id,) for e in events)
    assert store.vectors.missing(everything, HashingEmbedder().profile, limit=1) == []

    archive, reference = io.StringIO(), InProcessStore()
    opened(store).workspace("acme").export(archive, vectors=True)
    opened(reference).workspace("acme").import_(io.StringIO(archive.getvalue()))
    for words in (["heron"], ["messag", "tea"]):
        for learned in (False, True):
            search = {"limit": 9_999, "learned": learned}
            here = store.memories.matching(everything, words, **search)
            assert here == reference.memories.matching(everything, words, **search)


def check_sending_again(nexus: Nexus, promised: Acknowledged) -> None:
    room = nexus.workspace("acme").room("design", participants=["alice"])
    before = nexus.workspace("acme").stats()
    known = {event.key: event for event in room.recent(100_000)}

    for key in promised.kept:
        told = room.remember if known[key].kind == "note" else room.observe
        speaker = () if known[key].kind == "note" else ("alice",)
        assert told(*speaker, text_of(key), key=key).repeated
    for key in promised.forgot:
        with pytest.raises(Forgotten):
            room.observe("alice", text_of(key), key=key)

    assert nexus.workspace("acme").flush() == 0
    assert nexus.workspace("acme").stats() == before


def check_nothing_forgotten_is_left(
    store: Store, everything: Grant, promised: Acknowledged
) -> None:
    for memory in store.memories.find(everything):
        assert memory.text.split()[1] not in promised.forgot
    for file in store.files():
        content = file.read_bytes()
        assert not [key for key in promised.forgot if f"message {key} about".encode() in content]


@pytest.mark.requirement("X3", "X6")
def test_a_kill_loses_nothing_that_was_acknowledged(kill: int, tmp_path: Path) -> None:
    promised = write_and_be_killed(tmp_path, threads=8 if kill % 2 else 1, run=kill)

    check(tmp_path, promised)


@pytest.mark.requirement("X3")
def test_kill_after_kill_on_one_file_loses_nothing(tmp_path: Path) -> None:
    for run in range(100, 103):
        promised = write_and_be_killed(tmp_path, threads=4, run=run)

    assert len(promised.told) > 3
    check(tmp_path, promised)
