"""Embedder switch on every store, also with an external vector index."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import MONDAY, Clock

from nexusmem import Nexus, Workspace
from nexusmem.config.settings import Settings
from nexusmem.core.protocols.store import Store
from nexusmem.embedders import switchover
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.maintain.jobs import re_embed

QUESTION = "where do herons drink tea"
OLD, NEW = HashingEmbedder(64), HashingEmbedder(96)


def opened(store: Store, embedder: HashingEmbedder) -> Nexus:
    clock: Any = Clock(MONDAY)
    options = {"settings": Settings(), "clock": clock, "background": False}
    return Nexus.open(store, embedder=embedder, **options)


def by_meaning(workspace: Workspace) -> dict[str, float]:
    found = workspace.room("design").recall(QUESTION, limit=20)
    return {hit.memory.text: hit.reasons["vector"] for hit in found if "vector" in hit.reasons}


@pytest.mark.requirement("X9")
def test_queries_use_new_vectors_after_the_switch(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(switchover, "CHECK_INTERVAL_SECONDS", -1.0)
    old = opened(store, OLD).workspace("acme")
    for number in range(40):
        old.room("design").observe("alice", f"Heron {number} drinks tea at pond {number % 7}.")
    old.flush()
    before = by_meaning(old)
    new = opened(store, NEW).workspace("acme")
    assert before
    assert by_meaning(new) == {}

    made = new.run_job("reembed")

    assert made["embedded"] >= 40
    assert made["switched"] == 1
    (entry,) = [each.entry for each in new.audit() if each.action == "reembed"]
    assert entry.detail == {"profile": NEW.profile.name, "switched": 1}
    after = by_meaning(new)
    assert after.keys() == before.keys()
    assert after != before
    assert by_meaning(old) == before  # while the old vectors exist
    assert new.run_job("reembed")["dropped"] == made["embedded"]
    assert by_meaning(old) == {}
    assert by_meaning(new) == after
    assert new.check_indexes() == []


@pytest.mark.requirement("X9", "E24")
@pytest.mark.parametrize("asks", [False, True], ids=["nobody asks", "somebody asks"])
def test_worker_switches_the_embedder(
    store: Store, monkeypatch: pytest.MonkeyPatch, asks: bool
) -> None:
    monkeypatch.setattr(switchover, "CHECK_INTERVAL_SECONDS", -1.0)
    old = opened(store, OLD)
    old.workspace("acme").room("design").observe("alice", "Herons drink tea at the pond.")
    old.worker().run(once=True)
    new = opened(store, NEW)
    if asks:
        assert by_meaning(new.workspace("acme")) == {}
        (job,) = [each for each in new.workspace("acme").jobs() if each.name == "reembed"]
        assert job.lag(MONDAY + timedelta(minutes=1)) > timedelta(seconds=30)

    worked = new.worker().run(once=True)

    assert worked.steps >= 1
    assert by_meaning(new.workspace("acme"))
    assert "reembed" in worked.last
    again = old.worker().run(once=True)
    assert again.steps == 0, "who has the former embedder never changes it back"
    assert not [each for each in threading.enumerate() if each.name == "nexus-worker"]


@pytest.mark.requirement("X9")
def test_concurrent_switches_are_safe(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(re_embed, "BATCH", 10)  # many steps, so that both overlap
    with_old = opened(store, OLD)
    for number in range(80):
        with_old.workspace("acme").room("design").observe("alice", f"Heron {number} drinks tea.")
    with_old.workspace("acme").flush()
    processes = [opened(store, NEW) for _ in range(2)]

    threads = [threading.Thread(target=each.reembed) for each in processes]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    workspace = processes[0].workspace("acme")
    coverage = store.vectors.coverage(workspace.admin_grant, NEW.profile)
    assert coverage["missing"] == 0
    assert store.vectors.active_profile(workspace.id) == NEW.profile
    assert store.count_records(workspace.admin_grant)["vectors"] == 2 * coverage["embedded"]
    assert by_meaning(workspace)
