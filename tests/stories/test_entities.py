"""Entities: names, search, neighbourhoods and stated entities."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from tests.conftest import MONDAY
from tests.stories.conftest import Team

from nexusmem import AsyncNexus, InvalidInput, NotFound
from nexusmem.config.settings import Settings
from nexusmem.embedders.builtin import BuiltinEmbedder
from nexusmem.embedders.feature_hash import HashingEmbedder


def names(found: Any) -> list[str]:
    return [each.entity.name for each in found]


# -- names


@pytest.mark.requirement("B9")
@pytest.mark.parametrize("part", ["Joost", "joost", "van Dijk", "Dijk"])
def test_part_of_a_name_means_the_only_person_with_it(team: Team, part: str) -> None:
    team.room.add_fact("Joost van Dijk", "WORKS_AT", "Philips")

    found = team.room.entity(part)

    assert found.name == "Joost van Dijk"
    assert [fact.fact.object for fact in found.facts] == ["Philips"]
    assert team.room.fact_timeline(part, "WORKS_AT").now.fact.object == "Philips"
    assert [each.text for each in team.room.profile(part).about] == [
        "Joost van Dijk works at Philips"
    ]


@pytest.mark.requirement("B9", "B11")
def test_part_of_two_names_lists_both_people(team: Team) -> None:
    team.room.add_fact("Joost van Dijk", "WORKS_AT", "Philips")
    team.room.add_fact("Joost Bakker", "WORKS_AT", "ASML")

    with pytest.raises(NotFound, match="it may mean Joost Bakker or Joost van Dijk"):
        team.room.entity("Joost")
    assert team.room.entity("Bakker").name == "Joost Bakker"


@pytest.mark.requirement("B9", "X1")
def test_hidden_person_makes_no_name_ambiguous(team: Team) -> None:
    team.room.add_fact("Joost van Dijk", "WORKS_AT", "Philips")
    team.alices.add_fact("Joost Bakker", "WORKS_AT", "ASML")

    assert team.room.entity("Joost").name == "Joost van Dijk"
    assert team.alices.entity("Joost").name == "Joost Bakker"
    with pytest.raises(NotFound) as refused:
        team.bobs.entity("Joost")
    assert "Bakker" not in str(refused.value)


@pytest.mark.requirement("B9")
def test_part_of_a_company_name_means_no_person(team: Team) -> None:
    team.room.upsert_entity("Hale Brothers", type="company")

    with pytest.raises(NotFound):
        team.room.entity("Hale")


@pytest.mark.requirement("B9", "B10", "B12")
@pytest.mark.parametrize("asked", ["sarahc", "SarahC", "@sarahc", "sarah@example.com", "schen"])
def test_username_and_proven_address_mean_the_person(team: Team, asked: str) -> None:
    proven = {"identity": {"email": "sarah@example.com", "username": "SarahC"}}
    team.room.observe("schen", "I live in Lisbon.", metadata=proven)

    found = team.room.entity(asked)

    assert found.name == "schen"
    assert [fact.fact.object for fact in found.facts] == ["Lisbon"]
    assert {(each.kind, each.proven) for each in found.identifiers} == {
        ("email", True),
        ("username", True),
    }


@pytest.mark.requirement("B11")
def test_nickname_is_reviewed_and_never_merged(team: Team) -> None:
    team.room.observe("alice", "Robert Hale lives in Leeds.")
    team.room.observe("alice", "Bob Hale likes tea.")

    (review,) = team.room.reviews.list(kind="merge")
    assert review.names == ("Robert Hale", "Bob Hale")
    assert (review.automatic, review.status.value) == (False, "open")
    assert team.room.entity("Bob Hale").same_as == ()
    assert "Leeds" not in "".join(each.text for each in team.room.entity("Bob Hale").facts)

    team.room.reviews.accept(review.id, by="alice")
    assert team.room.entity("Bob Hale").name == "Robert Hale"


@pytest.mark.requirement("B11")
def test_unknown_nickname_is_suggested_only(team: Team) -> None:
    team.room.add_fact("Robert Hale", "LIVES_IN", "Leeds")

    with pytest.raises(NotFound, match="it may mean Robert Hale"):
        team.room.entity("Bob")


# -- stated entities


@pytest.mark.requirement("B4", "B9")
def test_newest_description_and_properties_win(team: Team) -> None:
    team.room.upsert_entity(
        "Dr. Brandt",
        type="person",
        aliases=["Brandy", "brandt@vets.example"],
        description="Vet in Delft.",
        properties={"opens": "8:00", "rooms": 2},
    )
    team.clock.advance(days=1)
    team.room.upsert_entity(
        "dr. brandt", description="Vet in Gouda.", properties={"opens": "9:00", "rooms": None}
    )

    found = team.room.entity("Brandy")

    assert (found.name, found.types, found.aliases) == ("Dr. Brandt", ("person",), ("Brandy",))
    assert [(each.value, each.proven) for each in found.identifiers] == [
        ("brandt@vets.example", False)
    ]
    assert (found.description, found.properties) == ("Vet in Gouda.", {"opens": "9:00"})
    assert team.room.entity("brandt@vets.example").name == "Dr. Brandt"
    newest = next(each for each in found.records if each.source == "entity")
    old, new = team.room.history(newest.id)
    assert ("Delft" in old.text, old.until, old.current) == (
        True,
        MONDAY + timedelta(days=1),
        False,
    )
    assert ("Gouda" in new.text, new.until, new.current) == (True, None, True)


@pytest.mark.requirement("B11")
def test_stated_alias_takes_over_no_name(team: Team) -> None:
    team.room.upsert_entity("Sarah Chen", type="person", description="Designer.")
    team.room.upsert_entity("Mallory", type="person", aliases=["Sarah Chen"])

    assert team.room.entity("Sarah Chen").description == "Designer."
    (review,) = team.room.reviews.list(kind="merge")
    assert set(review.names) == {"Sarah Chen", "Mallory"}


@pytest.mark.requirement("X6", "X1")
def test_stated_entity_stays_in_its_place_and_is_forgotten(team: Team) -> None:
    told = team.alices.upsert_entity("Dr. Brandt", aliases=["Brandy"], description="Vet.")
    assert team.alices.entity("Brandy").description == "Vet."
    for place in (team.room, team.bobs):
        with pytest.raises(NotFound):
            place.entity("Dr. Brandt")

    assert team.workspace.forget(event=told).residue == 0

    with pytest.raises(NotFound):
        team.alices.entity("Brandy")


@pytest.mark.requirement("A14")
def test_stated_entity_survives_an_archive(team: Team, open_nexus: Any) -> None:
    team.room.upsert_entity("Dr. Brandt", description="Vet.", properties={"rooms": 2})
    archive = StringIO()
    team.workspace.export(archive)
    there = open_nexus(":memory:").workspace("acme")
    there.import_(StringIO(archive.getvalue()))

    found = there.room("design", agent="scribe", participants=["alice", "bob"]).entity("Brandt")

    assert (found.description, found.properties) == ("Vet.", {"rooms": 2})


@pytest.mark.parametrize(
    ("stated", "error"),
    [
        ({"type": "Some Person"}, "type must be a word"),
        ({"aliases": "Brandy"}, "aliases must be a list"),
        ({"aliases": [" "]}, "an alias must not be empty"),
        ({"description": 7}, "the description"),
        ({"properties": ["a"]}, "properties must be a mapping"),
        ({"properties": {"a": object()}}, "the properties"),
    ],
)
def test_invalid_entity_is_refused(team: Team, stated: dict[str, Any], error: str) -> None:
    with pytest.raises(InvalidInput, match=error):
        team.room.upsert_entity("Dr. Brandt", **stated)
    assert team.room.entities() == []


# -- search


@pytest.mark.requirement("E14", "B9")
def test_entities_are_found_by_name_type_description_and_fact(team: Team) -> None:
    team.room.upsert_entity("Dr. Brandt", type="person", description="The vet in Delft.")
    team.room.upsert_entity("Globex", type="company", aliases=["The Firm"])
    team.room.add_fact("Sarah Chen", "PLAYS", value="the cello in an orchestra")

    assert names(team.room.find_entities("the vet"))[:1] == ["Dr. Brandt"]
    assert names(team.room.find_entities("firm"))[:1] == ["Globex"]
    assert names(team.room.find_entities("company"))[:1] == ["Globex"]
    (best, *_) = team.room.find_entities("who plays in an orchestra?")
    assert best.entity.name == "Sarah Chen"
    assert "cello" in best.evidence[0].text
    assert names(team.room.find_entities("the vet", type="company")) == []
    assert team.room.find_entities("zebra quagga") == []
    assert team.bobs.find_entities("the vet") == []


@pytest.mark.requirement("E14", "B9")
def test_entity_is_found_by_meaning(open_nexus: Any) -> None:
    """The built-in embedder finds a vet for a question without a common word."""
    nexus = open_nexus(embedder=BuiltinEmbedder())
    room = nexus.workspace("acme").room("design", agent="scribe", participants=["alice"])
    room.add_fact("Dr. Brandt", "WORKS_AS", value="veterinarian for cats and dogs")
    room.add_fact("Sarah Chen", "WORKS_AS", value="graphic designer")

    assert names(room.find_entities("animal doctor"))[:1] == ["Dr. Brandt"]


# -- neighbourhood


def tell_of_globex(team: Team) -> None:
    team.room.upsert_entity("Sarah Chen", type="person", aliases=["Sally"])
    team.room.add_fact("Sally", "WORKS_AT", "Globex")
    team.room.add_fact("Tom Baker", "WORKS_AT", "Globex")
    team.room.add_fact("Tom Baker", "SIBLING_OF", "Ann Baker")
    team.room.add_fact("Ann Baker", "LIVES_IN", "Oslo")
    team.room.add_fact("Globex", "LOCATED_IN", "Springfield", negated=True)


@pytest.mark.requirement("B3", "E5")
def test_neighbourhood_has_rings_of_entities(team: Team) -> None:
    tell_of_globex(team)

    found = team.room.neighbourhood("Sarah", depth=3)

    assert found.center.name == "Sarah Chen"
    assert [(each.name, each.distance) for each in found.neighbours] == [
        ("Globex", 1),
        ("Tom Baker", 2),
        ("Ann Baker", 3),
    ]
    relations = [(each.subject, each.predicate, each.object) for each in found.relations]
    assert relations[0] == ("Sarah Chen", "WORKS_AT", "Globex")
    assert len(relations) == 3
    assert found.is_complete
    near = team.room.neighbourhood("Sarah Chen", depth=1)
    assert [each.name for each in near.neighbours] == ["Globex"]


@pytest.mark.requirement("E5")
def test_neighbourhood_is_bounded(team: Team) -> None:
    for number in range(8):
        team.room.add_fact(f"Person{number}", "WORKS_AT", "Globex")

    found = team.room.neighbourhood("Globex", limit=5)

    assert (len(found.neighbours), found.is_complete) == (5, False)
    for depth in (0, 5, True, "2"):
        with pytest.raises(InvalidInput, match="depth must be between 1 and 4"):
            team.room.neighbourhood("Globex", depth=depth)
    with pytest.raises(NotFound):
        team.room.neighbourhood("Initech")


@pytest.mark.requirement("X1")
def test_private_fact_connects_nothing_elsewhere(team: Team) -> None:
    tell_of_globex(team)
    team.alices.add_fact("Globex", "OWNED_BY", "Mallory")

    everywhere = [each.name for each in team.room.neighbourhood("Sally", depth=4).neighbours]

    assert "Mallory" not in everywhere
    assert [each.name for each in team.alices.neighbourhood("Globex").neighbours] == ["Mallory"]


@pytest.mark.requirement("E5")
def test_ended_relation_is_marked_as_past(team: Team) -> None:
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Globex")
    team.clock.advance(days=1)
    team.room.add_fact("Sarah Chen", "WORKS_AT", "Initech")
    team.clock.advance(days=1)

    found = team.room.neighbourhood("Sarah Chen", depth=1)

    assert {each.object: each.is_past for each in found.relations} == {
        "Globex": True,
        "Initech": False,
    }


# -- episodes


@pytest.mark.requirement("B15", "B17")
def test_episodes_of_an_entity(team: Team) -> None:
    team.room.upsert_entity("Sarah Chen", type="person", aliases=["Sally"])
    team.room.observe("alice", "Sarah Chen works at Globex.", thread="hiring")
    team.clock.advance(hours=5)
    team.room.observe("bob", "Tom Baker moved to Oslo.", thread="retro")
    team.clock.advance(days=10)
    team.workspace.refresh_episodes()

    found = team.room.episodes("thread", about="Sally")

    assert [each.thread for each in found] == ["hiring"]
    assert {each.thread for each in team.room.episodes("thread")} == {"hiring", "retro"}
    assert {each.body["span"] for each in team.room.episodes(about="Sarah")} >= {"thread", "day"}
    assert team.room.episodes(about="Nobody") == []
    assert team.bobs.episodes(about="Sarah Chen") == []


def test_async_place_has_the_same_calls() -> None:
    async def run() -> None:
        options = {"settings": Settings(), "embedder": HashingEmbedder(), "background": False}
        async with await AsyncNexus.open(":memory:", **options) as nexus:
            room = nexus.workspace("acme").room("design", agent="scribe", participants=["alice"])
            await room.upsert_entity("Dr. Brandt", description="The vet.")
            await room.add_fact("Dr. Brandt", "LIVES_IN", "Delft")
            assert names(await room.find_entities("vet")) == ["Dr. Brandt"]
            assert (await room.neighbourhood("Brandt")).neighbours[0].name == "Delft"

    asyncio.run(run())


# -- merge candidates in the context


@pytest.mark.requirement("B11")
def test_context_asks_whether_two_names_are_one_person(team: Team) -> None:
    team.room.observe("alice", "Robert Hale lives in Leeds.")
    team.room.observe("alice", "Bob Hale likes tea.")
    (review,) = team.room.reviews.list(kind="merge")
    line = "Is Bob Hale the same as Robert Hale? When a user answers, call reviews.accept(id)"

    told = team.room.compose("What does Bob Hale like?").text

    assert told.count(line) == 1
    assert review.id in told
    assert line not in team.room.compose("When is the retro?").text
    assert line not in team.bobs.compose("What does Bob Hale like?").text
    team.room.reviews.reject(review.id, by="alice")
    assert line not in team.room.compose("What does Bob Hale like?").text


@pytest.mark.requirement("B11", "X1")
def test_context_names_no_hidden_person(team: Team) -> None:
    team.alices.observe("alice", "Robert Hale lives in Leeds.")
    team.room.observe("bob", "Bob Hale likes tea.")
    team.alices.observe("alice", "Bob Hale sings.")

    assert "Robert" not in team.room.compose("What does Bob Hale like?").text
    assert "same as Robert Hale?" in team.alices.compose("Who is Bob Hale?").text
