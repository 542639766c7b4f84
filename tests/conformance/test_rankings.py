"""Both rankings return the same results from every store, within the grant."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from nexusmem import Nexus, Place
from nexusmem.config.settings import Settings
from nexusmem.core.errors import ConfigError
from nexusmem.recall.query import SearchSettings

WORDS = [f"word{number}" for number in range(40)]
QUESTIONS = ["word1 word2", "what did alice say about word3?", "word4 word5 word6", "nothing known"]


def opened(where: Path | str, ranking: str) -> Nexus:
    settings = Settings(search=SearchSettings(ranking=ranking))
    return Nexus.open(where, settings=settings, background=False)


def told(nexus: Nexus, *, secrets: bool = False) -> Place:
    chance = random.Random(5)
    acme = nexus.workspace("acme")
    room = acme.room("design", participants=["alice", "bob"], project="apollo")
    dm = acme.dm("alice", project="apollo")
    for number in range(60):
        text = " ".join(chance.choices(WORDS, k=8)) + chance.choice([".", "?"])
        thread = chance.choice([None, "one", "two"])
        room.observe(chance.choice(["alice", "bob"]), text, key=str(number), thread=thread)
        if secrets:
            dm.observe("alice", text + " secret", key=str(number))
    return room


def answers(room: Place) -> list[list[tuple[str, float]]]:
    found = (room.recall(question, limit=20) for question in QUESTIONS)
    return [[(hit.event_keys[0], hit.score) for hit in hits] for hits in found]


@pytest.mark.requirement("X10")
@pytest.mark.parametrize("ranking", ["fused", "contextual"])
def test_ranking_is_equal_on_every_store(tmp_path: Path, ranking: str) -> None:
    with opened(":memory:", ranking) as memory, opened(tmp_path / "memory.db", ranking) as file:
        reference = answers(told(memory))

        assert answers(told(file)) == reference
        assert any(reference)


@pytest.mark.requirement("X2")
@pytest.mark.parametrize("where", ["memory", "file"])
@pytest.mark.parametrize("ranking", ["fused", "contextual"])
def test_unreadable_text_does_not_change_ranking(tmp_path: Path, ranking: str, where: str) -> None:
    places = (":memory:", ":memory:") if where == "memory" else (tmp_path / "a", tmp_path / "b")
    with opened(places[0], ranking) as plain, opened(places[1], ranking) as full:
        assert answers(told(plain)) == answers(told(full, secrets=True))


def test_unknown_ranking_is_rejected() -> None:
    with pytest.raises(ConfigError, match="accepted: contextual, fused"):
        opened(":memory:", "best")


@pytest.mark.requirement("C8")
def test_long_message_is_one_hit_with_its_best_chunk() -> None:
    with opened(":memory:", "contextual") as nexus:
        room = nexus.workspace("acme").room("design", participants=["alice"])
        filler = "Some words about the weather and the garden, as every day. " * 40
        room.observe("alice", filler + "\n\nThe zebra key is 4711.\n\n" + filler, key="long")
        room.observe("alice", "Something short about tea.", key="short")

        found = room.recall("what is the zebra key?")

    assert [hit.event_keys for hit in found].count(("long",)) == 1
    assert "4711" in found[0].text
