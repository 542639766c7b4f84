"""Dossiers: content, citations, staleness and access."""

from __future__ import annotations

import pytest

from nexusmem import NotFound

pytestmark = pytest.mark.requirement("B19")


@pytest.fixture
def told(team):
    team.room.observe("alice", "Sarah Chen works at Globex.", key="work")
    team.room.observe("bob", "Sarah Chen lives in Lisbon.", key="home")
    team.room.observe("alice", "We decided to hire Sarah Chen as a designer.", key="hire")
    return team


def test_dossier_has_facts_with_citations(told) -> None:
    found = told.room.dossiers.get("Sarah Chen")
    assert found.text.startswith("# Sarah Chen")
    assert "Globex" in found.text
    assert "Lisbon" in found.text
    assert "## Decisions and commitments" in found.text
    assert not found.stale
    keys = {key for each in found.citations for key in each.event_keys}
    assert keys == {"work", "home", "hire"}
    assert all(f"[{each.number}]" in found.text for each in found.citations)
    assert told.room.dossiers.get("sarah chen").id == found.id


def test_dossier_includes_episodes(told) -> None:
    told.clock.advance(days=2)
    assert told.workspace.refresh_episodes() > 0
    found = told.room.dossiers.get("Sarah Chen")
    episodes = {each.id for each in told.room.episodes()}
    assert "## Episodes" in found.text
    assert episodes & {each.memory for each in found.citations}


def test_changed_material_makes_the_dossier_stale(told) -> None:
    dossiers = told.room.dossiers
    first = dossiers.get("Sarah Chen")
    assert dossiers.get("Sarah Chen") == first
    told.room.observe("bob", "Sarah Chen lives in Porto.", key="moved")
    (listed,) = dossiers.list()
    assert (listed.id, listed.stale) == (first.id, True)
    assert dossiers.refresh() == 1
    (fresh,) = dossiers.list()
    assert (fresh.stale, "Porto" in fresh.text) == (False, True)
    assert dossiers.refresh() == 0


@pytest.mark.requirement("X1", "X2")
def test_private_messages_are_in_no_other_dossier(told) -> None:
    told.alices.observe("alice", "Sarah Chen has a surgery in Lisbon on Friday.")
    mine = told.alices.dossiers.get("Sarah Chen")
    assert "surgery" in mine.text
    for other in (told.room, told.bobs):
        assert "surgery" not in "".join(each.text for each in other.dossiers.list())
        try:
            assert "surgery" not in other.dossiers.get("Sarah Chen").text
        except NotFound:
            continue


@pytest.mark.requirement("X6")
def test_erased_message_leaves_the_dossier(told) -> None:
    dossiers = told.room.dossiers
    dossiers.get("Sarah Chen")
    told.workspace.forget(user="bob")
    assert "Lisbon" not in "".join(each.text for each in dossiers.list())
    assert "Lisbon" not in dossiers.get("Sarah Chen").text


def test_dossier_without_material_raises_not_found(team) -> None:
    with pytest.raises(NotFound, match="no memories of"):
        team.room.dossiers.get("Nobody")
    assert team.room.dossiers.list() == []


def test_topic_dossier_quotes_messages(team) -> None:
    team.room.observe("alice", "The wharf needs new planks before winter.", key="planks")
    found = team.room.dossiers.get("wharf")
    assert "The wharf needs new planks before winter. [1]" in found.text
    assert found.citations[0].event_keys == ("planks",)


def test_standing_question_is_answered_and_refreshed(team) -> None:
    dossiers = team.room.dossiers
    assert dossiers.add_question("Which colour has the wharf gate?") is None
    team.room.observe("alice", "The wharf gate has the colour blue.", key="blue")
    (found,) = dossiers.answers().values()
    assert "alice: The wharf gate has the colour blue. [1]" in found.text
    team.room.observe("bob", "Now the wharf gate has the colour green.", key="green")
    assert [each.stale for each in dossiers.list()] == [True]
    assert dossiers.refresh() == 1
    assert "green" in dossiers.list()[0].text

    assert team.bobs.dossiers.questions() == []
    dossiers.remove_question("Which colour has the wharf gate?")
    assert (dossiers.questions(), dossiers.list()) == ([], [])
    with pytest.raises(NotFound):
        dossiers.remove_question("Which colour has the wharf gate?")


def test_name_inside_another_word_does_not_match(team) -> None:
    team.room.observe("alice", "Ann likes herring.", key="ann")
    team.room.observe("bob", "We decided to postpone the annual planning meeting.", key="annual")
    team.room.observe("bob", "The cannery opens at nine.", key="cannery")
    team.room.observe("bob", "I met Ann's brother at the pier.", key="brother")

    found = team.room.dossiers.get("Ann")

    keys = {key for each in found.citations for key in each.event_keys}
    assert keys == {"ann", "brother"}


def test_mom_means_the_mother_of_the_viewer(team) -> None:
    team.alices.observe("alice", "My mom lives in Oslo. Mom likes herring.", key="mom")

    found = team.alices.dossiers.get("mom")

    assert "## Current facts" in found.text
    assert "Oslo" in found.text
    assert team.alices.dossiers.get("Alice's mom").id == found.id
    assert [each.fact.object for each in team.alices.entity("mom").facts if each.fact.object] == [
        "Oslo"
    ]


def test_mom_of_two_speakers_is_ambiguous(team) -> None:
    team.room.observe("alice", "My mom lives in Oslo.")
    team.room.observe("bob", "My mom lives in Rome.")

    with pytest.raises(NotFound):
        team.room.entity("mom")
    assert "## Current facts" not in team.room.dossiers.get("mom").text
