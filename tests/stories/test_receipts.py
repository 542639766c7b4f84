"""A receipt goes from durable to derived, and says what holds it up."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team, keys, make_team

from nexus import EmbedderUnavailable, Nexus, NotFound, Stage
from nexus.core.heartbeat import Heartbeat
from nexus.core.leases import LEASE
from nexus.core.protocols import Floats
from nexus.core.records import EmbeddingProfile
from nexus.embedders.hashing import HashingEmbedder
from nexus.learn import learner as module
from nexus.learn.learner import MOST_ATTEMPTS, WAITS


class FarAway:
    """An embedder in another building, whose line can be cut."""

    local = False

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
def test_a_receipt_is_durable_at_once_and_derived_after_waiting(nexus: Nexus, team: Team) -> None:
    receipt = team.room.observe("alice", "We chose PostgreSQL.", key="k")

    assert receipt.stage is Stage.DURABLE
    assert nexus.progress(receipt).stage is Stage.DURABLE
    assert nexus.wait(receipt).stage is Stage.DERIVED
    assert team.room.progress(receipt).stuck is None


@pytest.mark.requirement("X3")
def test_what_was_never_written_has_no_progress(nexus: Nexus, team: Team, open_nexus: Open) -> None:
    elsewhere = make_team(open_nexus(), Clock()).room.observe("alice", "Somewhere else.", key="x")

    with pytest.raises(NotFound):
        nexus.progress(elsewhere)


@pytest.mark.requirement("X3")
def test_while_the_embedder_is_away_words_are_found_and_vectors_follow(
    nexus: Nexus, team: Team, embedder: FarAway
) -> None:
    embedder.down = True
    receipt = team.room.observe("alice", "We chose PostgreSQL for the ledger.", key="k")

    found = team.room.recall("ledger")
    assert keys(found) == ["k"]
    assert set(found[0].reasons) == {"keyword"}
    assert found.degraded == ("meaning: the line is cut",)

    assert team.room.flush() == 1
    stuck = nexus.progress(receipt)
    assert (stuck.stage, stuck.stuck, stuck.attempts) == (Stage.DURABLE, "the line is cut", 1)
    assert team.workspace.stats()["vectors"] == 0
    assert keys(team.room.recall("ledger")) == ["k"]

    embedder.down = False
    assert nexus.wait(receipt).stage is Stage.DERIVED
    assert team.workspace.stats()["vectors"] > 0
    found = team.room.recall("ledger")
    assert {"keyword", "meaning"} <= set(found[0].reasons)
    assert not found.degraded


@pytest.mark.requirement("X3")
def test_a_question_does_not_wait_for_an_embedder_far_away(team: Team, embedder: FarAway) -> None:
    for number in range(3):
        team.room.observe("alice", f"Message {number} about the ledger.", key=str(number))

    found = team.room.recall("ledger")

    assert embedder.asked == 1  # for the question alone
    assert len(found) == 3


@pytest.mark.requirement("X3")
def test_what_failed_is_tried_again_later_and_not_at_once(
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
def test_each_try_waits_twice_as_long_as_the_one_before_up_to_a_point(
    nexus: Nexus, team: Team, embedder: FarAway, clock: Clock
) -> None:
    embedder.down = True
    team.room.observe("alice", "We chose PostgreSQL.", key="k")
    waits = []
    for _ in range(12):
        nexus._parts.learner.run_once()
        (waiting,) = nexus._parts.store.queue.waiting(team.workspace.administrator, limit=9)
        waits.append((waiting.due_at - clock.now).total_seconds())
        clock.now = waiting.due_at

    first, last = WAITS.first.total_seconds(), WAITS.longest.total_seconds()
    assert waits[:4] == pytest.approx([first, 2 * first, 4 * first, 8 * first], rel=1e-3)
    assert waits[-2:] == pytest.approx([last, last], rel=1e-3)  # it is waited for


@pytest.mark.requirement("X3", "D25")
def test_what_cannot_be_learned_is_given_up_and_waits_for_somebody(
    nexus: Nexus, team: Team, embedder: FarAway, clock: Clock
) -> None:
    """Poison is tried a few times, and then not before somebody says so."""

    def fail() -> None:
        raise ValueError("poison")

    embedder.meanwhile = fail
    receipt = team.room.observe("alice", "We chose PostgreSQL.", key="k")
    for _ in range(MOST_ATTEMPTS):
        assert nexus._parts.learner.run_once() == 1
        clock.advance(hours=1)

    assert nexus._parts.learner.run_once() == 0
    (waiting,) = nexus._parts.store.queue.waiting(team.workspace.administrator, limit=9)
    assert (waiting.dead, waiting.attempts) == (True, MOST_ATTEMPTS)
    assert "poison" in (waiting.error or "")
    embedder.meanwhile = lambda: None
    team.workspace.retry()
    assert nexus._parts.learner.run_once() == 1
    assert nexus.progress(receipt).stage is Stage.DERIVED


@pytest.mark.requirement("X3", "D25")
def test_what_seems_to_end_whoever_learns_it_is_given_up(
    nexus: Nexus, team: Team, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_LOST", 3)
    queue = nexus._parts.store.queue
    team.room.observe("alice", "We chose PostgreSQL.", key="k")
    for _ in range(4):  # taken, and never ended
        assert len(queue.claim(None, now=clock.advance(minutes=1), limit=9)) == 1
    clock.advance(minutes=1)

    assert nexus._parts.learner.run_once() == 1
    clock.advance(days=1)

    assert nexus._parts.learner.run_once() == 0
    assert [each.dead for each in queue.waiting(team.workspace.administrator, limit=9)] == [True]
    assert team.workspace.stats()["vectors"] == 0


@pytest.mark.requirement("X3")
def test_who_thinks_longer_than_the_lease_leaves_the_work_to_another(
    nexus: Nexus, team: Team, embedder: FarAway, clock: Clock
) -> None:
    queue, taken = nexus._parts.store.queue, []

    def takes_it() -> None:
        taken.extend(queue.claim(None, now=clock.advance(seconds=LEASE.seconds + 1), limit=9))

    def somebody_else_takes_it() -> None:  # a thread's own writes depend on what it holds
        other = threading.Thread(target=takes_it)
        other.start()
        other.join()

    embedder.meanwhile = somebody_else_takes_it
    team.room.observe("alice", "We chose PostgreSQL.", key="k")
    assert nexus._parts.learner.run_once() == 1

    assert team.workspace.stats()["vectors"] == 0
    assert queue.renew(taken, now=clock.now) == taken != []


@pytest.mark.requirement("X3")
def test_a_lease_is_renewed_while_somebody_far_away_thinks(
    nexus: Nexus,
    team: Team,
    embedder: FarAway,
    clock: Clock,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "HEARTBEAT", Heartbeat(seconds=0.01))
    queue, renewed, started = nexus._parts.store.queue, threading.Event(), clock.now
    renew = queue.renew

    def renewing(*given: Any, **told: Any) -> Any:
        held = renew(*given, **told)
        renewed.set()
        return held

    def think() -> None:
        clock.now += LEASE / 2
        renewed.clear()
        assert renewed.wait(10)
        assert queue.claim(None, now=started + LEASE, limit=9) == []

    monkeypatch.setattr(queue, "renew", renewing)
    embedder.meanwhile = think
    receipt = team.room.observe("alice", "We chose PostgreSQL.", key="k")
    assert nexus._parts.learner.run_once() == 1

    assert nexus.progress(receipt).stage is Stage.DERIVED


@pytest.mark.requirement("X3")
def test_one_file_opened_again_goes_on_where_it_was(
    open_nexus: Open, tmp_path, clock: Clock
) -> None:
    embedder = FarAway()
    embedder.down = True
    first = open_nexus(tmp_path / "memory.db", embedder=embedder)
    receipt = make_team(first, clock).room.observe("alice", "We chose PostgreSQL.", key="k")
    first.close()

    embedder.down = False
    second = open_nexus(tmp_path / "memory.db", embedder=embedder)

    assert second.progress(receipt).stage is Stage.DURABLE
    assert second.wait(receipt).stage is Stage.DERIVED


def test_the_background_learns_by_itself(open_nexus: Open, url: str, clock: Clock) -> None:
    nexus = open_nexus(url, background=True)
    team = make_team(nexus, clock)

    receipts = [team.room.observe("alice", f"Message number {n}.", key=str(n)) for n in range(20)]
    nexus._parts.worker.stop()  # finishes what it has begun
    for receipt in receipts:
        nexus.wait(receipt)

    assert team.workspace.stats()["vectors"] == 20


@pytest.mark.requirement("X3")
def test_the_ledger_is_a_chain_that_can_be_walked(team: Team) -> None:
    told = team.tell_the_week()

    report = team.workspace.verify()

    assert report.sound
    assert (report.events, report.erased) == (len(told), 0)
