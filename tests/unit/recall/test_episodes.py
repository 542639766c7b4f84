"""Episode search."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from tests.squeezed import SqueezedEmbedder
from tests.unit.making import ACME, DM, ROOM

from nexusmem.core.access import administrator_grant
from nexusmem.core.canonical import format_time
from nexusmem.core.protocols.embedder import Embedder
from nexusmem.core.records import Draft, Memory, MemoryKind, NewEvent
from nexusmem.core.scope import Scope
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.embedders.wrappers import CachedEmbedder
from nexusmem.learn.episodes.boundaries import start_of_day, week_start
from nexusmem.recall.question_analysis import TimeWindow
from nexusmem.recall.views.episodes import embed_question, find_episodes, list_episodes
from nexusmem.testing.reference_store.store import ReferenceStore

NOW = datetime(2026, 3, 20, 9, 0, tzinfo=UTC)  # a Friday
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
EVERYTHING = administrator_grant(ACME)


class Diary:
    """A store with sessions, days and weeks."""

    def __init__(self) -> None:
        self.store = ReferenceStore()
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
        body: dict[str, Any] = {"span": span, "start": format_time(at), "end": format_time(at)}
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
        """Summarize sessions to days and days to weeks."""
        for span, begins in (("day", start_of_day), ("week", week_start)):
            by_time: dict[datetime, list[Memory]] = {}
            for memory in self.lower:
                by_time.setdefault(begins(memory.at), []).append(memory)
            self.lower = [
                self.put(ROOM, span, [m.id for m in parts], " ".join(m.text for m in parts), start)
                for start, parts in by_time.items()
            ]

    def asked(self, question: str, **more: Any) -> list[str]:
        hits = find_episodes(self.store, EVERYTHING, question, NOW, **more)
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
def test_episode_of_the_named_time_is_first(diary: Diary, question: str, first: str) -> None:
    assert diary.asked(question)[0] == first


@pytest.mark.requirement("A3")
def test_episodes_of_other_times_are_left_out(diary: Diary) -> None:
    assert all("Alice" in each for each in diary.asked("What did we do yesterday?", limit=2))
    assert not any("Alice" in each for each in diary.asked("What did we do last week?", limit=50))


@pytest.mark.requirement("B17")
def test_question_without_time_uses_words(diary: Diary) -> None:
    assert {"session: Bob ordered servers.", "day: Bob ordered servers."} <= set(
        diary.asked("Who ordered the servers?")
    )
    assert diary.asked("zebra quagga") == []


@pytest.mark.requirement("B17")
def test_time_without_episodes_uses_words(diary: Diary) -> None:
    assert "day: Dave planned the launch." in diary.asked("the launch on 3 March 2024")


def test_given_window_overrides_the_question(diary: Diary) -> None:
    window = TimeWindow(NOW - 60 * DAY - HOUR, NOW - 59 * DAY)

    assert all("Dave" in each for each in diary.asked("servers", window=window))


@pytest.mark.requirement("X7")
def test_as_of_excludes_later_episodes(diary: Diary) -> None:
    old = diary.session(3, "Erin fixed the pipeline.", told=3)

    assert diary.asked("What did we do this week?", as_of=NOW - 2 * DAY) == [f"session: {old.text}"]


def test_turn_labels_are_left_out(diary: Diary) -> None:
    (event,) = diary.store.ledger.find(EVERYTHING, limit=1)
    diary.put(ROOM, "turn", [event.id], "Alice: ledger", NOW - DAY)

    assert not any("turn" in each for each in diary.asked("ledger yesterday", limit=50))
    assert "turn" not in {each.body["span"] for each in list_episodes(diary.store, EVERYTHING)}


@pytest.mark.requirement("X1")
def test_episodes_stay_inside_the_grant(diary: Diary) -> None:
    diary.session(1, "Alice asked for a raise.", DM)
    here = EVERYTHING.narrow_to([ROOM])

    hits = find_episodes(diary.store, here, "raise yesterday", NOW, limit=50)
    assert hits
    assert not any("raise" in hit.text for hit in hits)
    assert not any("raise" in each.text for each in list_episodes(diary.store, here))


@pytest.mark.requirement("A4", "B17")
def test_query_vector_adds_vector_scores(diary: Diary) -> None:
    embedder = HashingEmbedder()
    told = list_episodes(diary.store, EVERYTHING)
    rows = embedder.embed([each.text for each in told])
    vectors = {each.id: row for each, row in zip(told, rows, strict=True)}
    diary.store.vectors.put(ACME, embedder.profile, vectors)

    pointed = embed_question(CachedEmbedder(embedder), ACME, "servers")
    hits = find_episodes(diary.store, EVERYTHING, "servers", NOW, query_vector=pointed)
    assert {"keyword", "vector"} <= hits[0].reasons.keys()
    hits = find_episodes(diary.store, EVERYTHING, "servers", NOW)
    assert hits[0].reasons.keys() == {"keyword"}


@pytest.mark.parametrize("embedder", [BuiltinEmbedder(), SqueezedEmbedder()])
def test_episode_without_common_word_needs_a_high_calibrated_cosine(
    diary: Diary, embedder: Embedder
) -> None:
    told = list_episodes(diary.store, EVERYTHING)
    rows = embedder.embed([each.text for each in told])
    vectors = {each.id: row for each, row in zip(told, rows, strict=True)}
    diary.store.vectors.put(ACME, embedder.profile, vectors)

    pointed = embed_question(CachedEmbedder(embedder), ACME, "quantum gravity")

    assert (
        find_episodes(diary.store, EVERYTHING, "quantum gravity", NOW, query_vector=pointed) == []
    )
