"""Session search and outdated facts."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nexusmem.core.access import Viewer
from nexusmem.core.ids import AgentId, UserId
from nexusmem.core.records import Draft, Memory, MemoryKind
from nexusmem.core.scope import Scope
from nexusmem.recall.views.sessions import Session, find_outdated_facts, find_sessions
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ADMIN, ALICE, ALICE_DM, BOB_DM, IN_ROOM, ROOM, make_event

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
STORAGE = Session(scope=ROOM, thread="storage")
LUNCH = Session(scope=ROOM, thread="lunch")


class Conversations:
    """A store with several conversations, one message per hour."""

    def __init__(self) -> None:
        self.store = ReferenceStore()
        self.now = MONDAY
        self.told = 0

    def turn(self, session: Session, *names: str) -> Memory:
        """Store a turn that mentions these names."""
        body = {"span": "turn", "label": "a turn", "topics": [], "entities": list(names)}
        return self._keep(session, MemoryKind.EPISODE, body, slot="turn", indexed_text="")

    def fact(
        self, session: Session, subject: str, predicate: str, object: str, **more: Any
    ) -> Memory:
        """Store a fact."""
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
        told = make_event(f"{self.told}", at=self.now, **where)
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
        return [
            str(each.session)
            for each in find_sessions(self.store, grant, asked, now=self.now, **more)
        ]

    def stale(self, session: Session, grant: Any = ADMIN) -> list[tuple[str, str | None]]:
        """Return the outdated values and their replacements."""
        return [
            (
                str(each.old_fact.fact.object),
                each.current_fact.fact.object if each.current_fact else None,
            )
            for each in find_outdated_facts(self.store, grant, session, now=self.now)
        ]


@pytest.fixture
def talk() -> Conversations:
    return Conversations()


@pytest.mark.requirement("B25")
def test_session_with_most_mentions_is_first(talk: Conversations) -> None:
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
def test_recent_mentions_count_more(talk: Conversations) -> None:
    talk.turn(STORAGE, "Tyler")
    talk.turn(STORAGE, "Tyler")
    talk.now += timedelta(days=90)
    talk.turn(LUNCH, "Tyler")

    assert talk.best(["Tyler"]) == [str(LUNCH), str(STORAGE)]


@pytest.mark.requirement("B25")
def test_session_without_outdated_facts_is_first(talk: Conversations) -> None:
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    for _ in range(2):
        talk.turn(STORAGE, "Tyler")
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")

    first, second = find_sessions(talk.store, ADMIN, ["Tyler"], now=talk.now)
    assert (first.session, first.outdated_names) == (LUNCH, ())
    assert (second.session, second.outdated_names) == (STORAGE, ("tyler",))
    assert second.mention_counts == {"tyler": 3}


def test_session_with_more_names_is_first(talk: Conversations) -> None:
    talk.turn(STORAGE, "Tyler")
    talk.turn(STORAGE, "Tyler")
    talk.turn(LUNCH, "Tyler", "Sarah")

    assert talk.best(["Tyler", "Sarah"])[0] == str(LUNCH)
    assert talk.best(["Tyler", "Sarah", "Nobody"])[0] == str(LUNCH)


def test_session_search_resolves_aliases(talk: Conversations) -> None:
    talk.alias(LUNCH, "Robert", "Bob")
    talk.turn(STORAGE, "Robert")

    assert talk.best(["bob"]) == [str(STORAGE)]


def test_score_is_between_0_and_1(talk: Conversations) -> None:
    for _ in range(50):
        talk.turn(STORAGE, "Tyler")
    (only,) = find_sessions(talk.store, ADMIN, ["Tyler"], now=talk.now)
    assert 0.9 < only.score <= 1
    assert len(only.labels) == 3
    assert only.last_mention_at == only.labels[0].at == talk.now


def test_limit_returns_the_best(talk: Conversations) -> None:
    talk.turn(LUNCH, "Tyler")
    for _ in range(3):
        talk.turn(STORAGE, "Tyler")
    assert talk.best(["Tyler"], limit=1) == [str(STORAGE)]


def test_session_of_scope_thread_and_day(talk: Conversations) -> None:
    run = Session(scope=Scope.session("alice", "scribe", "run-1"))
    talk.turn(Session(scope=run.scope, thread="whatever"), "Tyler")
    talk.turn(Session(scope=ROOM), "Tyler")
    talk.turn(STORAGE, "Tyler")

    day = Session(scope=ROOM, day=MONDAY.date())
    assert set(talk.best(["Tyler"])) == {str(run), str(day), str(STORAGE)}
    assert str(day) == "room:design, 2026-03-02"


@pytest.mark.requirement("B25")
def test_sessions_stay_inside_the_grant(talk: Conversations) -> None:
    private = Session(scope=ALICE_DM, thread="salary")
    talk.turn(STORAGE, "Tyler")
    before = find_sessions(
        talk.store, IN_ROOM.grant(), ["Tyler"], now=talk.now + timedelta(hours=5)
    )
    talk.fact(private, "Tyler", "WORKS_AT", "Anthropic")
    talk.turn(Session(scope=BOB_DM), "Tyler")
    after = find_sessions(talk.store, IN_ROOM.grant(), ["Tyler"], now=before[0].last_mention_at)

    assert [each.session for each in after] == [STORAGE]
    assert before[0].mention_counts == after[0].mention_counts
    assert talk.best(["Tyler"], ALICE.grant()) == [str(private)]


def test_hidden_change_makes_nothing_outdated(talk: Conversations) -> None:
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    talk.fact(Session(scope=ALICE_DM), "Tyler", "WORKS_AT", "Anthropic")

    assert talk.stale(STORAGE, IN_ROOM.grant()) == []
    assert talk.stale(STORAGE) == [("Google", "Anthropic")]


@pytest.mark.requirement("B25")
def test_session_is_outdated_after_a_change(talk: Conversations) -> None:
    knew = talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    assert talk.stale(STORAGE) == []
    now = talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")

    (found,) = find_outdated_facts(talk.store, ADMIN, STORAGE, now=talk.now)
    assert (found.entity, found.predicate) == ("Tyler", "WORKS_AT")
    assert (found.old_fact.id, found.current_fact and found.current_fact.id) == (knew.id, now.id)
    assert found.since == found.learned_at == now.at
    assert talk.stale(LUNCH) == []


def test_session_with_the_change_is_current(talk: Conversations) -> None:
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Anthropic")

    assert talk.stale(STORAGE) == []


def test_mentioned_names_count_with_visible_facts(talk: Conversations) -> None:
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Google")
    talk.turn(STORAGE, "Tyler")
    assert talk.stale(STORAGE) == []
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")

    assert talk.stale(STORAGE) == [("Google", "Anthropic")]


def test_new_facts_and_other_names_are_no_change(talk: Conversations) -> None:
    talk.turn(STORAGE, "Tyler")
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")
    talk.fact(LUNCH, "Sarah", "LIVES_IN", "Rome")
    talk.fact(LUNCH, "Sarah", "LIVES_IN", "Oslo")

    assert talk.stale(STORAGE) == []


def test_expired_fact_is_outdated(talk: Conversations) -> None:
    ends = MONDAY + timedelta(days=3)
    talk.fact(STORAGE, "Tyler", "LIVES_IN", "Oslo", valid_to=ends)
    talk.now += timedelta(days=10)

    (found,) = find_outdated_facts(talk.store, ADMIN, STORAGE, now=talk.now)
    assert (found.current_fact, found.since) == (None, ends)


def test_denied_fact_is_outdated(talk: Conversations) -> None:
    talk.fact(STORAGE, "Sarah", "LIKES", "coffee")
    talk.fact(LUNCH, "Sarah", "LIKES", "tea")
    assert talk.stale(STORAGE) == []
    taken_back = talk.fact(LUNCH, "Sarah", "DISLIKES", "coffee")

    (found,) = find_outdated_facts(talk.store, ADMIN, STORAGE, now=talk.now)
    assert (found.current_fact, found.changed_by.id) == (None, taken_back.id)


def test_unknown_session_has_no_outdated_facts(talk: Conversations) -> None:
    assert talk.stale(Session(scope=ROOM, thread="silence")) == []


def test_newest_change_is_first(talk: Conversations) -> None:
    talk.fact(STORAGE, "Tyler", "WORKS_AT", "Google")
    talk.fact(STORAGE, "Sarah", "LIVES_IN", "Oslo")
    talk.fact(LUNCH, "Sarah", "LIVES_IN", "Rome")
    talk.fact(LUNCH, "Tyler", "WORKS_AT", "Anthropic")

    assert talk.stale(STORAGE) == [("Google", "Anthropic"), ("Oslo", "Rome")]


def test_session_reads_only_its_scope() -> None:
    talk = Conversations()
    run = Session(scope=Scope.session("alice", "scribe", "run-1"))
    talk.fact(run, "Tyler", "WORKS_AT", "Google")
    talk.fact(Session(scope=Scope.user("alice")), "Tyler", "WORKS_AT", "Anthropic")
    inside = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("alice"), session="run-1")

    assert talk.stale(run, inside.grant()) == [("Google", "Anthropic")]
    assert talk.stale(run, IN_ROOM.grant()) == []
