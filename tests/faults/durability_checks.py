"""Checks that acknowledged writes of killed programs are durable."""

from __future__ import annotations

import io
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.access import Grant, administrator_grant
from nexusmem.core.errors import Forgotten
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.store import Store
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.testing.reference_store.store import ReferenceStore


@dataclass
class Acknowledged:
    """The acknowledged writes of a killed program."""

    told: list[str] = field(default_factory=list)
    forgetting: set[str] = field(default_factory=set)  # unacknowledged: both outcomes are correct
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


def opened(store: Store) -> Nexus:
    return Nexus.open(store, settings=Settings(), embedder=HashingEmbedder(), background=False)


def check_promises(store: Store, promised: Acknowledged) -> None:
    """Check that acknowledged events exist once, and acknowledged erasures hold."""
    nexus = opened(store)
    everything = administrator_grant(WorkspaceId("acme"))
    check_nothing_is_lost(store, everything, promised)
    assert nexus.workspace("acme").flush() == 0
    check_everything_is_learned(store, everything)
    check_sending_again(nexus, promised)
    check_nothing_forgotten_is_left(store, everything, promised)


def check_nothing_is_lost(store: Store, everything: Grant, promised: Acknowledged) -> None:
    report = store.ledger.verify(everything.workspace)
    keys = Counter(event.key for event in store.ledger.find(everything))

    assert report.problems == ()
    assert promised.kept <= keys.keys()
    assert not promised.forgot & keys.keys()
    assert set(keys.values()) <= {1}
    assert all(event.text == text_of(event.key) for event in store.ledger.find(everything))


def check_everything_is_learned(store: Store, everything: Grant) -> None:
    """Check that each event has a memory with terms and a vector, as in the reference store."""
    events, memories = store.ledger.find(everything), store.memories.find(everything)
    assert store.queue.count_pending(everything) == 0
    told = [memory for memory in memories if not memory.learned]
    assert sorted(m.sources for m in told) == sorted((e.id,) for e in events)
    assert store.vectors.list_missing(everything, HashingEmbedder().profile, limit=1) == []

    archive, reference = io.StringIO(), ReferenceStore()
    opened(store).workspace("acme").export(archive, vectors=True)
    opened(reference).workspace("acme").import_(io.StringIO(archive.getvalue()))
    for words in (["heron"], ["messag", "tea"]):
        for learned in (False, True):
            search = {"limit": 9_999, "learned": learned}
            here = store.memories.search_keywords(everything, words, **search)
            assert here == reference.memories.search_keywords(everything, words, **search)


def check_sending_again(nexus: Nexus, promised: Acknowledged) -> None:
    room = nexus.workspace("acme").room("design", participants=["alice"])
    before = nexus.workspace("acme").stats()
    known = {event.key: event for event in room.recent(100_000)}

    for key in promised.kept:
        told = room.remember if known[key].kind == "note" else room.observe
        speaker = () if known[key].kind == "note" else ("alice",)
        assert told(*speaker, text_of(key), key=key).duplicate
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
    for file in store.list_files():
        content = file.read_bytes()
        assert not [key for key in promised.forgot if f"message {key} about".encode() in content]
