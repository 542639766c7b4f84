"""Which conversation knows somebody best, and which remembers what is no longer so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nexus.core.access import Viewer
from nexus.core.ids import AgentId, UserId
from nexus.core.records import Draft, Memory, MemoryKind
from nexus.core.scope import Scope
from nexus.recall.sessions import Session, route, stale
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, ADMIN, ALICE, ALICE_DM, BOB_DM, IN_ROOM, ROOM, event

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
STORAGE = Session(scope=ROOM, thread="storage")
LUNCH = Session(scope=ROOM, thread="lunch")


class Talk:
    """What is said in several conversations, an hour after each other."""

    def __init__(self) -> None:
        self.store = InProcessStore()
        self.now = MONDAY
        self.told = 0

    def turn(self, session: Session, *names: str) -> Memory:
        """Somebody speaks of these."""
        body = {"span": "turn", "label": "a turn", "topics": [], "entities": list(names)}
        return self._keep(session, MemoryKind.EPISODE, body, slot="turn", indexed_text="")

    def fact(
        self, session: Session, subject: str, predicate: str, object: str, **more: Any
    ) -> Memory:
        """Somebody says this of somebody."""
        self.turn(session, subject, object)
        body = {"subject": subject, "predicate": predicate, "object": object}
        return self._keep(session, MemoryKind.FACT, body, **more)

    def alias(self, session: Session, name: str, *others: str) -> Memory:
        body = {"name": name, "aliases": list(others), "type": "person"}
        return self._keep(session, MemoryKind.ENTITY, body)

    def _keep(
        self, session: Session, kind: MemoryKind, body: dict[str, Any], **more: Any
    ) -> Memory:
        self.now += timedelta(hours=1)
        self.told += 1
        where: dict[str, Any] = {"scope": session.scope, "thread": session.thread}
        told = event(f"{self.told}", at=self.now, **where)
        (receipt,) = self.store.ledger.append(ACME, [told], recorded_at=self.now)
        draft = Draft(
            kind=kind,
            text=str(body),
            sources=(receipt.event_id,),
            body=body,
            learned=True,
            **where,
            **more,
        )
        return self.store.memories.put(ACME, [draft])[0]

    def best(self, asked: str | list[str], grant: Any = ADMIN, **more: Any) -> list[str]:
        return [str(each.session) for each in route(self.store, grant, asked, now=self.now, **more)]

    def stale(self, session: Session, grant: Any = ADMIN) -> list[tuple[str, str | None]]:
        """What it knew, and what holds instead."""
        return [
            (str(each.knew.fact.object), each.now.fact.object if each.now else None)
            for each in stale(self.store, grant, session, now=self.now)
        ]


@pytest.fixture
def talk() -> Talk:
    return Talk()


@pytest.mark.requirement("B25")
def test_the_conversation_that_spoke_of_somebody_most_knows_them_best(talk: Talk) -> None:
    talk.turn(LUNCH, "Tyler")
    for _ in range(3):
        talk.turn(STORAGE, "Tyler", "PostgreSQL")
    talk.turn(LUNCH, "Sarah")

    assert talk.best(["Tyler"]) == [str(STORAGE), str(LUNCH)]
    assert talk.best("What does tyler say about PostgreSQL?")[0] == str(STORAGE)
    assert talk.best(["Sarah"]) == [str(LUNCH)]
    assert talk.best("Who likes tea?") == []
    assert talk.best([]) == []


@pytest.mark.requirement("B25")
def test_what_was_said_lately_counts_more(talk: Talk) -> None:
    talk.turn(STORAGE, "Tyler")
    talk.turn(STORAGE, "Tyler")
    talk.now += timedelta(days=90)
    talk.turn(LUNCH, "Tyler")

    assert talk.best(["Tyler"]) == [str(LUNCH), str(STORAGE)]


@pytest.mark.requirement("B25")
def test_a_conversation_whose_knowledge_is_current_comes_first(talk: Talk) -> None:
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    for _ in range(2):
        talk.turn(STORAGE, "Tyler")
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")

    first, second = route(talk.store, ADMIN, ["Tyler"], now=talk.now)
    assert (first.session, first.stale) == (LUNCH, ())
    assert (second.session, second.stale) == (STORAGE, ("tyler",))
    assert second.mentions == {"tyler": 3}


def test_more_of_the_names_is_better_than_one(talk: Talk) -> None:
    talk.turn(STORAGE, "Tyler")
    talk.turn(STORAGE, "Tyler")
    talk.turn(LUNCH, "Tyler", "Sarah")

    assert talk.best(["Tyler", "Sarah"])[0] == str(LUNCH)
    assert talk.best(["Tyler", "Sarah", "Nobody"])[0] == str(LUNCH)


def test_names_lead_through_aliases(talk: Talk) -> None:
    talk.alias(LUNCH, "Robert", "Bob")
    talk.turn(STORAGE, "Robert")

    assert talk.best(["bob"]) == [str(STORAGE)]


def test_a_score_lies_between_nothing_and_one(talk: Talk) -> None:
    for _ in range(50):
        talk.turn(STORAGE, "Tyler")
    (only,) = route(talk.store, ADMIN, ["Tyler"], now=talk.now)
    assert 0.9 < only.score <= 1
    assert len(only.labels) == 3
    assert only.last_at == only.labels[0].at == talk.now


def test_a_limit_keeps_the_best(talk: Talk) -> None:
    talk.turn(LUNCH, "Tyler")
    for _ in range(3):
        talk.turn(STORAGE, "Tyler")
    assert talk.best(["Tyler"], limit=1) == [str(STORAGE)]


def test_sessions_are_scopes_threads_and_days(talk: Talk) -> None:
    run = Session(scope=Scope.session("alice", "run-1"))
    talk.turn(Session(scope=run.scope, thread="whatever"), "Tyler")
    talk.turn(Session(scope=ROOM), "Tyler")
    talk.turn(STORAGE, "Tyler")

    day = Session(scope=ROOM, day=MONDAY.date())
    assert set(talk.best(["Tyler"])) == {str(run), str(day), str(STORAGE)}
    assert str(day) == "room:design, 2026-03-02"


@pytest.mark.requirement("B25")
def test_nobody_learns_of_conversations_they_may_not_read(talk: Talk) -> None:
    private = Session(scope=ALICE_DM, thread="salary")
    talk.turn(STORAGE, "Tyler")
    before = route(talk.store, IN_ROOM.grant(), ["Tyler"], now=talk.now + timedelta(hours=5))
    talk.fact(private, "Tyler", "WORKS_AT", "Anthropic")
    talk.turn(Session(scope=BOB_DM), "Tyler")
    after = route(talk.store, IN_ROOM.grant(), ["Tyler"], now=before[0].last_at)

    assert [each.session for each in after] == [STORAGE]
    assert before[0].mentions == after[0].mentions
    assert talk.best(["Tyler"], ALICE.grant()) == [str(private)]


def test_a_change_told_in_a_hidden_place_makes_nothing_stale(talk: Talk) -> None:
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    talk.fact(Session(scope=ALICE_DM), "Tyler", "WORKS_AT", "Anthropic")

    assert talk.stale(STORAGE, IN_ROOM.grant()) == []
    assert talk.stale(STORAGE) == [("Google", "Anthropic")]


@pytest.mark.requirement("B25")
def test_a_session_is_stale_when_something_it_knew_has_changed(talk: Talk) -> None:
    knew = talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    assert talk.stale(STORAGE) == []
    now = talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")

    (found,) = stale(talk.store, ADMIN, STORAGE, now=talk.now)
    assert (found.entity, found.predicate) == ("Tyler", "WORKS_AT")
    assert (found.knew.id, found.now and found.now.id) == (knew.id, now.id)
    assert found.since == found.learned_at == now.at
    assert talk.stale(LUNCH) == []


def test_hearing_the_news_makes_a_session_current_again(talk: Talk) -> None:
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Anthropic")

    assert talk.stale(STORAGE) == []


def test_of_what_it_only_spoke_of_it_knew_what_could_be_seen(talk: Talk) -> None:
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Google")
    talk.turn(STORAGE, "Tyler")
    assert talk.stale(STORAGE) == []
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")

    assert talk.stale(STORAGE) == [("Google", "Anthropic")]


def test_what_is_new_is_no_change_and_who_was_not_spoken_of_does_not_matter(talk: Talk) -> None:
    talk.turn(STORAGE, "Tyler")
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")
    talk.fact(LUNCH, "Sarah", "LIVES_IN", "Rome")
    talk.fact(LUNCH, "Sarah", "LIVES_IN", "Oslo")

    assert talk.stale(STORAGE) == []


def test_what_ended_by_itself_makes_a_session_stale_too(talk: Talk) -> None:
    ends = MONDAY + timedelta(days=3)
    talk.fact(STORAGE, "Tyler", "LIVES_IN", "Oslo", valid_to=ends)
    talk.now += timedelta(days=10)

    (found,) = stale(talk.store, ADMIN, STORAGE, now=talk.now)
    assert (found.now, found.since) == (None, ends)


def test_what_was_taken_back_makes_a_session_stale(talk: Talk) -> None:
    talk.fact(STORAGE, "Sarah", "LIKES", "coffee")
    talk.fact(LUNCH, "Sarah", "LIKES", "tea")
    assert talk.stale(STORAGE) == []
    taken_back = talk.fact(LUNCH, "Sarah", "DISLIKES", "coffee")

    (found,) = stale(talk.store, ADMIN, STORAGE, now=talk.now)
    assert (found.now, found.by.id) == (None, taken_back.id)


def test_a_conversation_nobody_had_is_not_stale(talk: Talk) -> None:
    assert talk.stale(Session(scope=ROOM, thread="silence")) == []


def test_the_newest_change_stands_first(talk: Talk) -> None:
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    talk.fact(STORAGE, "Sarah", "LIVES_IN", "Oslo")
    talk.fact(LUNCH, "Sarah", "LIVES_IN", "Rome")
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")

    assert talk.stale(STORAGE) == [("Google", "Anthropic"), ("Oslo", "Rome")]


def test_a_session_reads_its_own_scope_only() -> None:
    talk = Talk()
    run = Session(scope=Scope.session("alice", "run-1"))
    talk.fact(run, "Tyler", "WORKS_AT", "Google")
    talk.fact(Session(scope=Scope.user("alice")), "Tyler", "WORKS_AT", "Anthropic")
    inside = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("alice"), session="run-1")

    assert talk.stale(run, inside.grant()) == [("Google", "Anthropic")]
    assert talk.stale(run, IN_ROOM.grant()) == []
