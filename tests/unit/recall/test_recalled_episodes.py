"""Which episodes answer a question about a time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.unit.making import ACME, DM, ROOM

from nexus.core.access import administrator_grant
from nexus.core.canonical import time_text
from nexus.core.records import Draft, Memory, MemoryKind, NewEvent
from nexus.core.scope import Scope
from nexus.embedders.cached import CachedEmbedder
from nexus.embedders.hashing import HashingEmbedder
from nexus.learn.episodes.splitting import day_of, week_of
from nexus.recall.episodes import episodes_for, listed, pointed_at
from nexus.recall.understand import Window
from nexus.stores.inprocess import InProcessStore

NOW = datetime(2026, 3, 20, 9, 0, tzinfo=UTC)  # a Friday
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
EVERYTHING = administrator_grant(ACME)


class Diary:
    """A store with sessions, days and weeks of one line each."""

    def __init__(self) -> None:
        self.store = InProcessStore()
        self.lower: list[Memory] = []

    def session(self, days_ago: int, text: str, scope: Scope = ROOM, *, told: int = 0) -> Memory:
        at = NOW - days_ago * DAY
        event = NewEvent(scope=scope, speaker="alice", text=text, at=at, key=f"{at}{text}")
        recorded = NOW - told * DAY
        (receipt,) = self.store.ledger.append(ACME, [event], recorded_at=recorded)
        made = self.put(scope, "session", [receipt.event_id], text, at)
        self.lower.append(made)
        return made

    def put(self, scope: Scope, span: str, sources: list[str], text: str, at: datetime) -> Memory:
        body: dict[str, Any] = {"span": span, "start": time_text(at), "end": time_text(at)}
        draft = Draft(
            scope=scope,
            kind=MemoryKind.EPISODE,
            text=text,
            sources=tuple(sources),
            slot=span,
            learned=True,
            body={**body, "entities": [], "participants": ["alice"]},
        )
        (made,) = self.store.memories.put(ACME, [draft])
        return made

    def close(self) -> None:
        """Days of the sessions, and weeks of the days."""
        for span, begins in (("day", day_of), ("week", week_of)):
            by_time: dict[datetime, list[Memory]] = {}
            for memory in self.lower:
                by_time.setdefault(begins(memory.at), []).append(memory)
            self.lower = [
                self.put(ROOM, span, [m.id for m in parts], " ".join(m.text for m in parts), start)
                for start, parts in by_time.items()
            ]

    def asked(self, question: str, **more: Any) -> list[str]:
        hits = episodes_for(self.store, EVERYTHING, question, NOW, **more)
        return [f"{hit.memory.body['span']}: {hit.text}" for hit in hits]


@pytest.fixture
def diary() -> Diary:
    made = Diary()
    made.session(1, "Alice moved the ledger to PostgreSQL.")
    made.session(8, "Bob ordered servers.")
    made.session(9, "Carol met the investors.")
    made.session(60, "Dave planned the launch.")
    made.close()
    return made


@pytest.mark.requirement("A3")
@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("What did we do yesterday?", "day: Alice moved the ledger to PostgreSQL."),
        ("What did we do last week?", "week: Bob ordered servers. Carol met the investors."),
        ("What happened in January?", "week: Dave planned the launch."),
        ("Who met investors last week?", "week: Bob ordered servers. Carol met the investors."),
    ],
)
def test_the_time_that_is_asked_for_comes_first(diary: Diary, question: str, first: str) -> None:
    assert diary.asked(question)[0] == first


@pytest.mark.requirement("A3")
def test_nothing_of_another_time_is_shown(diary: Diary) -> None:
    assert all("Alice" in each for each in diary.asked("What did we do yesterday?", limit=2))
    assert not any("Alice" in each for each in diary.asked("What did we do last week?", limit=50))


@pytest.mark.requirement("B17")
def test_a_question_without_a_time_is_answered_by_words(diary: Diary) -> None:
    assert {"session: Bob ordered servers.", "day: Bob ordered servers."} <= set(
        diary.asked("Who ordered the servers?")
    )
    assert diary.asked("zebra quagga") == []


@pytest.mark.requirement("B17")
def test_a_time_of_which_nothing_is_told_is_answered_by_words(diary: Diary) -> None:
    assert "day: Dave planned the launch." in diary.asked("the launch on 3 March 2024")


def test_a_window_may_be_given(diary: Diary) -> None:
    window = Window(NOW - 60 * DAY - HOUR, NOW - 59 * DAY)

    assert all("Dave" in each for each in diary.asked("servers", window=window))


@pytest.mark.requirement("X7")
def test_as_of_a_moment_only_what_had_been_told(diary: Diary) -> None:
    old = diary.session(3, "Erin fixed the pipeline.", told=3)

    assert diary.asked("What did we do this week?", as_of=NOW - 2 * DAY) == [f"session: {old.text}"]


def test_a_label_of_a_turn_is_never_among_them(diary: Diary) -> None:
    (event,) = diary.store.ledger.find(EVERYTHING, limit=1)
    diary.put(ROOM, "turn", [event.id], "Alice: ledger", NOW - DAY)

    assert not any("turn" in each for each in diary.asked("ledger yesterday", limit=50))
    assert "turn" not in {each.body["span"] for each in listed(diary.store, EVERYTHING)}


@pytest.mark.requirement("X1")
def test_only_what_the_grant_allows_is_seen(diary: Diary) -> None:
    diary.session(1, "Alice asked for a raise.", DM)
    here = EVERYTHING.within([ROOM])

    hits = episodes_for(diary.store, here, "raise yesterday", NOW, limit=50)
    assert hits
    assert not any("raise" in hit.text for hit in hits)
    assert not any("raise" in each.text for each in listed(diary.store, here))


@pytest.mark.requirement("A4", "B17")
def test_meaning_counts_where_the_question_has_a_vector(diary: Diary) -> None:
    embedder = HashingEmbedder()
    told = listed(diary.store, EVERYTHING)
    rows = embedder.embed([each.text for each in told])
    vectors = {each.id: row for each, row in zip(told, rows, strict=True)}
    diary.store.vectors.put(ACME, embedder.profile, vectors)

    pointed = pointed_at(CachedEmbedder(embedder), ACME, "servers")
    hits = episodes_for(diary.store, EVERYTHING, "servers", NOW, pointed=pointed)
    assert {"keyword", "meaning"} <= hits[0].reasons.keys()
    hits = episodes_for(diary.store, EVERYTHING, "servers", NOW)
    assert hits[0].reasons.keys() == {"keyword"}
