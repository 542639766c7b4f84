"""`nexus entity`, and `nexus episodes list --about`."""

from __future__ import annotations

import pytest

ROOM = ("--room", "design")


@pytest.fixture
def told(run) -> None:
    run("observe", "alice", "Hello everybody.", *ROOM)
    run(
        *("entity", "add", "Sarah Chen", "--type", "person", "--alias", "Sally"),
        *("--description", "The vet in Delft.", "--property", "rooms=2", *ROOM),
    )
    run("observe", "alice", "Sarah Chen works at Globex.", *ROOM)
    run("observe", "alice", "Tom Baker works at Globex.", *ROOM)


@pytest.mark.requirement("B9")
def test_stated_entity_is_shown_by_a_part_of_its_name(told: None, run, lines) -> None:
    (shown,) = lines("entity", "show", "Sarah", *ROOM)

    assert (shown["name"], shown["aliases"], shown["types"]) == (
        "Sarah Chen",
        ["Sally"],
        ["person"],
    )
    assert (shown["description"], shown["properties"]) == ("The vet in Delft.", {"rooms": 2})
    assert "rooms: 2" in run("entity", "show", "Sally", *ROOM).output
    assert (
        "WORKS_AT\tGlobex\tSarah Chen works at Globex."
        in run("entity", "show", "Sally", *ROOM).stdout
    )
    assert "key=value" in run("entity", "add", "X", "--property", "rooms", *ROOM, code=2).output


@pytest.mark.requirement("B9")
def test_entities_are_searched(told: None, run, lines) -> None:
    best = lines("entity", "search", "the vet", *ROOM)[0]

    assert best["name"] == "Sarah Chen"
    assert "vet" in best["evidence"][0]["text"]
    assert "Sarah Chen" in run("entity", "search", "vet", *ROOM).output
    run("entity", "search", "vet", "--type", "company", *ROOM, code=1)


@pytest.mark.requirement("E5")
def test_neighbours_are_a_tree(told: None, run, lines) -> None:
    (found,) = lines("entity", "neighbours", "Sally", "--depth", "2", *ROOM)

    assert (found["center"], found["complete"]) == ("Sarah Chen", True)
    assert [(each["name"], each["distance"]) for each in found["neighbours"]] == [
        ("Globex", 1),
        ("Tom Baker", 2),
    ]
    shown = run("entity", "neighbours", "Sarah", *ROOM).output
    assert "1\tSarah Chen\tWORKS_AT → Globex" in shown
    assert "2\tGlobex\t← WORKS_AT Tom Baker" in shown
    run("entity", "neighbours", "Nobody", *ROOM, code=2)
    run("entity", "neighbours", "Sarah", "--depth", "9", *ROOM, code=2)


@pytest.mark.requirement("B15")
def test_episodes_about_an_entity(told: None, run, lines) -> None:
    found = lines("episodes", "list", "--about", "Nobody", *ROOM, code=1)

    assert found == []


@pytest.mark.requirement("B19")
def test_dossier_history_and_notebook_file(told: None, run, lines) -> None:
    run("dossier", "show", "Sarah Chen", *ROOM)
    run("observe", "bob", "Sarah Chen lives in Lisbon.", *ROOM)
    run("dossier", "show", "Sarah Chen", *ROOM)

    assert [each["version"] for each in lines("dossier", "history", "Sally", *ROOM)] == [1, 2]
    first = run("dossier", "history", "Sarah", "--version", "1", *ROOM).output
    assert ("Globex" in first, "Lisbon" in first) == (True, False)
    run("dossier", "history", "Sarah", "--version", "7", *ROOM, code=2)
    assert "Lisbon" in run("notebook", "read", "dossiers/Sarah Chen.md", *ROOM).output
