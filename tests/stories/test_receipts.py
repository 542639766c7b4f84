"""Progress of events: durable, indexed, derived, retries and leases."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team, keys, make_team

from nexusmem import EmbedderUnavailable, Nexus, NotFound, Stage
from nexusmem.core.protocols.embedder import Floats
from nexusmem.core.records import EmbeddingProfile
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.learn import learner, pipeline
from nexusmem.learn.pipeline import MAX_ATTEMPTS, RETRY_BACKOFF
from nexusmem.runtime.leases import LEASE_DURATION, LeaseHeartbeat


class FarAway:
    """A remote embedder that can be made unavailable."""

    is_local = False

    def __init__(self, *, model: str = "far-1") -> None:
        self.down = False
        self.asked = 0
        self.meanwhile: Callable[[], object] = lambda: None
        self._near = HashingEmbedder(32)
        self.profile = EmbeddingProfile(provider="far", model=model, dimension=32)

    def embed(self, texts: Sequence[str]) -> Floats:
        self.asked += 1
        if self.down:
            raise EmbedderUnavailable("the line is cut")
        self.meanwhile()
        return np.asarray(self._near.embed(texts))


@pytest.fixture
def embedder() -> FarAway:
    return FarAway()


@pytest.fixture
def nexus(url: str, open_nexus: Open, embedder: FarAway) -> Nexus:
    return open_nexus(url, embedder=embedder)


@pytest.mark.requirement("X3")
def test_receipt_is_durable_then_derived(nexus: Nexus, team: Team) -> None:
    receipt = team.room.observe("alice", "We chose PostgreSQL.", key="k")

    assert receipt.stage is Stage.DURABLE
    assert nexus.progress(receipt).stage is Stage.DURABLE
    assert nexus.wait(receipt).stage is Stage.DERIVED
    assert team.room.progress(receipt).error is None


@pytest.mark.requirement("X3")
def test_unknown_event_has_no_progress(nexus: Nexus, team: Team, open_nexus: Open) -> None:
    elsewhere = make_team(open_nexus(), Clock()).room.observe("alice", "Somewhere else.", key="x")

    with pytest.raises(NotFound):
        nexus.progress(elsewhere)


@pytest.mark.requirement("X3")
def test_keywords_work_while_the_embedder_is_unavailable(
    nexus: Nexus, team: Team, embedder: FarAway
) -> None:
    embedder.down = True
    receipt = team.room.observe("alice", "We chose PostgreSQL for the ledger.", key="k")

    found = team.room.recall("ledger")
    assert keys(found) == ["k"]
    assert set(found[0].reasons) == {"keyword"}
    assert found.degraded == ("vector: the line is cut",)

    assert team.room.flush() == 1
    stuck = nexus.progress(receipt)
    assert (stuck.stage, stuck.error, stuck.attempts) == (Stage.DURABLE, "the line is cut", 1)
    assert team.workspace.stats()["vectors"] == 0
    assert keys(team.room.recall("ledger")) == ["k"]

    embedder.down = False
    assert nexus.wait(receipt).stage is Stage.DERIVED
    assert team.workspace.stats()["vectors"] > 0
    found = team.room.recall("ledger")
    assert {"keyword", "vector"} <= set(found[0].reasons)
    assert not found.degraded


@pytest.mark.requirement("X3")
def test_question_does_not_wait_for_a_slow_embedder(team: Team, embedder: FarAway) -> None:
    for number in range(3):
        team.room.observe("alice", f"Message {number} about the ledger.", key=str(number))

    found = team.room.recall("ledger")

    assert embedder.asked == 1  # only for the question
    assert len(found) == 3


@pytest.mark.requirement("X3")
def test_failed_task_is_retried_later(
    nexus: Nexus, team: Team, embedder: FarAway, clock: Clock
) -> None:
    embedder.down = True
    team.room.observe("alice", "We chose PostgreSQL.", key="k")
    learner = nexus._parts.learner

    assert learner.run_once() == 1
    assert learner.run_once() == 0
    clock.advance(seconds=2)
    assert learner.run_once() == 1
    clock.advance(seconds=2)
    assert learner.run_once() == 0
    clock.advance(hours=1)
    embedder.down = False
    assert team.workspace.stats()["vectors"] == 0
    assert learner.run_once() == 1
    assert team.workspace.stats()["vectors"] > 0


@pytest.mark.requirement("X3")
def test_retry_delay_doubles_up_to_a_limit(
    nexus: Nexus, team: Team, embedder: FarAway, clock: Clock
) -> None:
    embedder.down = True
    team.room.observe("alice", "We chose PostgreSQL.", key="k")
    waits = []
    for _ in range(12):
        nexus._parts.learner.run_once()
        (waiting,) = nexus._parts.store.queue.list_pending(team.workspace.admin_grant, limit=9)
        waits.append((waiting.due_at - clock.now).total_seconds())
        clock.now = waiting.due_at

    first, last = RETRY_BACKOFF.first_delay.total_seconds(), RETRY_BACKOFF.max_delay.total_seconds()
    assert waits[:4] == pytest.approx([first, 2 * first, 4 * first, 8 * first], rel=1e-3)
    assert waits[-2:] == pytest.approx([last, last], rel=1e-3)  # the longest delay is repeated


@pytest.mark.requirement("X3", "D25")
def test_permanently_failing_task_becomes_dead(
    nexus: Nexus, team: Team, embedder: FarAway, clock: Clock
) -> None:
    """A poisonous task is retried a few times, then only on request."""

    def fail() -> None:
        raise ValueError("poison")

    embedder.meanwhile = fail
    receipt = team.room.observe("alice", "We chose PostgreSQL.", key="k")
    for _ in range(MAX_ATTEMPTS):
        assert nexus._parts.learner.run_once() == 1
        clock.advance(hours=1)

    assert nexus._parts.learner.run_once() == 0
    (waiting,) = nexus._parts.store.queue.list_pending(team.workspace.admin_grant, limit=9)
    assert (waiting.is_dead, waiting.attempts) == (True, MAX_ATTEMPTS)
    assert "poison" in (waiting.error or "")
    embedder.meanwhile = lambda: None
    team.workspace.retry()
    assert nexus._parts.learner.run_once() == 1
    assert nexus.progress(receipt).stage is Stage.DERIVED


@pytest.mark.requirement("X3", "D25")
def test_task_that_kills_workers_becomes_dead(
    nexus: Nexus, team: Team, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipeline, "MAX_LOST_LEASES", 3)
    queue = nexus._parts.store.queue
    team.room.observe("alice", "We chose PostgreSQL.", key="k")
    for _ in range(4):  # claimed, and never finished
        assert len(queue.claim(None, now=clock.advance(minutes=1), limit=9)) == 1
    clock.advance(minutes=1)

    assert nexus._parts.learner.run_once() == 1
    clock.advance(days=1)

    assert nexus._parts.learner.run_once() == 0
    assert [each.is_dead for each in queue.list_pending(team.workspace.admin_grant, limit=9)] == [
        True
    ]
    assert team.workspace.stats()["vectors"] == 0


@pytest.mark.requirement("X3")
def test_expired_lease_is_claimed_by_another_worker(
    nexus: Nexus, team: Team, embedder: FarAway, clock: Clock
) -> None:
    queue, taken = nexus._parts.store.queue, []

    def takes_it() -> None:
        taken.extend(
            queue.claim(None, now=clock.advance(seconds=LEASE_DURATION.seconds + 1), limit=9)
        )

    def somebody_else_takes_it() -> None:  # in a thread of its own: leases are held per thread
        other = threading.Thread(target=takes_it)
        other.start()
        other.join()

    embedder.meanwhile = somebody_else_takes_it
    team.room.observe("alice", "We chose PostgreSQL.", key="k")
    assert nexus._parts.learner.run_once() == 1

    assert team.workspace.stats()["vectors"] == 0
    assert queue.renew(taken, now=clock.now) == taken != []


@pytest.mark.requirement("X3")
def test_lease_is_renewed_during_a_slow_call(
    nexus: Nexus,
    team: Team,
    embedder: FarAway,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(learner, "HEARTBEAT", LeaseHeartbeat(seconds=0.01))
    queue, renewed, started = nexus._parts.store.queue, threading.Event(), clock.now
    renew = queue.renew

    def renewing(*given: Any, **told: Any) -> Any:
        held = renew(*given, **told)
        renewed.set()
        return held

    def think() -> None:
        clock.now += LEASE_DURATION / 2
        renewed.clear()
        assert renewed.wait(10)
        assert queue.claim(None, now=started + LEASE_DURATION, limit=9) == []

    monkeypatch.setattr(queue, "renew", renewing)
    embedder.meanwhile = think
    receipt = team.room.observe("alice", "We chose PostgreSQL.", key="k")
    assert nexus._parts.learner.run_once() == 1

    assert nexus.progress(receipt).stage is Stage.DERIVED


@pytest.mark.requirement("X3")
def test_reopened_file_continues_learning(open_nexus: Open, tmp_path, clock: Clock) -> None:
    embedder = FarAway()
    embedder.down = True
    first = open_nexus(tmp_path / "memory.db", embedder=embedder)
    receipt = make_team(first, clock).room.observe("alice", "We chose PostgreSQL.", key="k")
    first.close()

    embedder.down = False
    second = open_nexus(tmp_path / "memory.db", embedder=embedder)

    assert second.progress(receipt).stage is Stage.DURABLE
    assert second.wait(receipt).stage is Stage.DERIVED


def test_background_worker_learns(open_nexus: Open, url: str, clock: Clock) -> None:
    nexus = open_nexus(url, background=True)
    team = make_team(nexus, clock)

    room = team.workspace.room("plain", participants=["alice"])  # no project that copies go to
    receipts = [room.observe("alice", f"Message number {n}.", key=str(n)) for n in range(20)]
    nexus._parts.worker.stop()  # finishes the current task
    for receipt in receipts:
        nexus.wait(receipt)

    assert team.workspace.stats()["vectors"] == 20


@pytest.mark.requirement("X3")
def test_ledger_hash_chain_verifies(team: Team) -> None:
    told = team.tell_the_week()

    report = team.workspace.verify()

    assert report.is_intact
    assert (report.events, report.erased) == (len(told), 0)
