"""Recall about names: overviews, connections, lists of people, and names that are misspelt."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.errors import ConfigError
from nexusmem.core.records import Hits
from nexusmem.place.place import Place
from nexusmem.recall.query import SearchSettings

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
FILLER = [
    "The tide table hangs beside the door.",
    "Nobody is painting in this weather.",
    "The kettle in the office is broken again.",
    "Please lock the slip gate at night.",
    "There is fresh varnish on the shelf.",
    "The radio needs new batteries.",
    "Somebody left a ladder in the yard.",
    "The crane inspection went fine.",
    "Parcels go to the front office.",
    "The heating will be off tomorrow.",
]


@pytest.fixture
def nexus() -> Iterator[Nexus]:
    with Nexus.open(":memory:", clock=lambda: MONDAY) as opened:
        yield opened


@pytest.fixture
def yard(nexus: Nexus) -> Place:
    place = nexus.workspace("acme").room("yard", participants=["Ruth Adeyemi", "Marek"])
    for number, text in enumerate(FILLER):
        say(place, "Ruth Adeyemi", text, f"filler{number}")
    return place


def say(place: Place, speaker: str, text: str, key: str) -> None:
    place.observe(speaker, text, key=key)


def keys(hits: Hits) -> list[str]:
    return [key for hit in hits for key in hit.event_keys]


def test_connection_is_the_shortest_path_in_order(yard: Place) -> None:
    yard.add_fact("Petroc Lanyon", "SPOUSE_OF", "Ines Lanyon")
    yard.add_fact("Ines Lanyon", "WORKS_AT", "Halyard Sails")
    yard.add_fact("Halyard Sails", "LOCATED_IN", "Penryn")
    yard.add_fact("Petroc Lanyon", "LIVES_IN", "Falmouth")

    hits = yard.recall("How are Petroc Lanyon and Penryn connected?")
    back = yard.recall("what links Penryn to petroc lanyon?")

    path = [
        "Petroc Lanyon spouse of Ines Lanyon",
        "Ines Lanyon works at Halyard Sails",
        "Halyard Sails located in Penryn",
    ]
    assert [hit.text for hit in hits[:3]] == path
    assert [hit.text for hit in back[:3]] == path[::-1]
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_connection_stands_in_the_context_in_order(yard: Place) -> None:
    yard.add_fact("Petroc Lanyon", "SPOUSE_OF", "Ines Lanyon")
    yard.add_fact("Ines Lanyon", "WORKS_AT", "Halyard Sails")

    text = yard.compose("How is Petroc Lanyon connected to Halyard Sails?").text

    first, second = text.index("spouse of Ines"), text.index("works at Halyard")
    assert first < second


def test_more_than_three_facts_are_no_connection(yard: Place) -> None:
    for one, two in ("AB", "BC", "CD", "DE"):
        yard.add_fact(f"Node{one}", "KNOWS", f"Node{two}")

    near = yard.recall("How are NodeA and NodeD connected?")
    far = yard.recall("How are NodeA and NodeE connected?")

    assert [hit.text for hit in near[:3]] == [
        "NodeA knows NodeB",
        "NodeB knows NodeC",
        "NodeC knows NodeD",
    ]
    assert all("knowledge" not in hit.reasons for hit in far)


def test_hidden_fact_connects_nobody(nexus: Nexus, yard: Place) -> None:
    yard.add_fact("Petroc", "SPOUSE_OF", "Ines")
    other = nexus.workspace("acme").room("board", participants=["Ruth Adeyemi", "Marek"])
    other.add_fact("Ines", "WORKS_AT", "Halyard Sails")
    other.add_fact("Halyard Sails", "LOCATED_IN", "Penryn")

    assert not any(
        "knowledge" in hit.reasons
        for hit in yard.recall("How are Petroc and Halyard Sails related?")
    )


def test_denied_fact_connects_nobody(yard: Place) -> None:
    yard.add_fact("Petroc", "WORKS_AT", "Halyard Sails", negated=True)

    hits = yard.recall("How are Petroc and Halyard Sails connected?")

    assert not any("knowledge" in hit.reasons for hit in hits)


def test_overview_brings_facts_beside_messages(yard: Place) -> None:
    say(yard, "Marek", "I went kayaking with Petroc on Saturday.", "kayak")
    yard.add_fact("Petroc", "ALLERGIC_TO", "shellfish")
    yard.upsert_entity("Petroc", type="person", description="Shipwright at the yard.")

    hits = yard.recall("Tell me about Petroc", limit=5)

    assert "kayak" in keys(hits)
    assert "Petroc allergic to shellfish" in [hit.text for hit in hits]
    assert any(hit.kind.value == "entity" for hit in hits)


def test_fact_and_its_message_are_one_hit(yard: Place) -> None:
    say(yard, "Marek", "My sister Danuta lives in Penryn.", "sister")
    yard.flush()
    assert any(fact.sources for fact in yard.facts("Danuta"))

    for question in ("Tell me about Danuta", "How are Marek and Penryn connected?"):
        hits = yard.recall(question, limit=20)
        told = [hit.kind.value for hit in hits if "sister" in hit.event_keys]
        assert len([kind for kind in told if kind in ("fact", "passage")]) == 1, question


def test_fact_of_a_long_message_shows_its_sentence(yard: Place) -> None:
    rest = " ".join(FILLER)
    say(yard, "Marek", f"{rest} My sister Danuta lives in Penryn. {rest}", "long")
    yard.flush()

    best = yard.recall("Tell me about Danuta", limit=3)
    told = next(hit for hit in best if "long" in hit.event_keys and hit.kind.value == "fact")

    assert told.text == "My sister Danuta lives in Penryn."


def test_list_finds_values_without_the_word_of_the_question(yard: Place) -> None:
    say(yard, "Marek", "I play squash on Tuesdays so I will miss the launch.", "squash")
    say(yard, "Marek", "I have started climbing at the wall.", "climbing")
    say(yard, "Ruth Adeyemi", "I have started rowing before work.", "rowing")

    found = keys(yard.recall("Which sports does Marek do?", limit=3))

    assert {"squash", "climbing"} <= set(found)
    assert "rowing" not in found[:2]


def test_people_of_a_comparison_are_searched_side_by_side(yard: Place) -> None:
    for number in range(12):
        say(yard, "Ruth Adeyemi", f"I visited city number {number} on a train.", f"ruth{number}")
    say(yard, "Marek", "I visited Gdansk, my favourite city.", "gdansk")

    found = keys(yard.recall("Which cities have both Ruth and Marek visited?", limit=5))

    assert "gdansk" in found
    assert any(key.startswith("ruth") for key in found)


def test_comparison_without_a_topic_lists_what_both_mention(yard: Place) -> None:
    say(yard, "Ruth Adeyemi", "I like jazz and opera.", "jazz")
    say(yard, "Marek", "Last night the jazz in the pub was loud.", "pub")
    say(yard, "Marek", "I like Thai food.", "thai")

    found = keys(yard.recall("What do Ruth and Marek have in common?", limit=2))

    assert set(found) == {"jazz", "pub"}


def test_misspelt_name_is_found_if_nobody_has_it(yard: Place) -> None:
    say(yard, "Marek", "My sister Danuta has two greyhounds.", "dogs")
    yard.flush()

    assert keys(yard.recall("What pets does Danutta have?", limit=1)) == ["dogs"]
    assert keys(yard.recall("Tell me about Dantua", limit=1)) == ["dogs"]

    say(yard, "Marek", "Danutta called about the invoice.", "call")
    yard.flush()
    assert keys(yard.recall("What did Danutta call about?", limit=1)) == ["call"]


def test_hidden_name_corrects_nothing(nexus: Nexus, yard: Place) -> None:
    question = "What pets does Danutta have?"
    before = [hit.text for hit in yard.recall(question)]
    other = nexus.workspace("acme").room("board", participants=["Ruth Adeyemi", "Marek"])
    other.observe("Marek", "My sister Danuta has two greyhounds.")
    other.flush()

    assert [hit.text for hit in yard.recall(question)] == before


def test_nickname_means_the_only_person_it_fits(yard: Place) -> None:
    yard.add_fact("Robert Hale", "WORKS_AT", "Halyard Sails")

    assert (
        yard.recall("Where does Bob work?", limit=1)[0].text == "Robert Hale works at Halyard Sails"
    )

    yard.add_fact("Robert Vane", "WORKS_AT", "Seacrest Marine")
    assert all(hit.query_terms.count("hale") == 0 for hit in yard.recall("Where does Bob work?"))


def test_shares_of_the_kinds_are_settings() -> None:
    def overview(**weights: float) -> list[str]:
        search = SearchSettings(**weights)  # type: ignore[arg-type]
        settings = Settings(search=search)
        with Nexus.open(":memory:", settings=settings, clock=lambda: MONDAY) as nexus:
            place = nexus.workspace("acme").room("yard", participants=["Marek"])
            for number in range(4):
                say(place, "Marek", f"I met Petroc at pier {number}.", f"pier{number}")
                place.add_fact("Petroc", "LIKES", f"boat {number}")
            return [hit.kind.value for hit in place.recall("Tell me about Petroc", limit=4)]

    assert overview().count("fact") == 2
    assert overview(weight_facts=1.0) == ["fact"] * 3 + ["passage"]
    assert overview(weight_facts=0.0) == ["passage"] * 4


def test_weight_outside_of_its_range_is_refused(tmp_path: object) -> None:
    from nexusmem.config.settings import load_settings

    file = tmp_path / "nexus.yaml"  # type: ignore[operator]
    file.write_text("memory: {search: {weight_facts: 2}}")

    with pytest.raises(ConfigError, match="weight_facts"):
        load_settings(file)
