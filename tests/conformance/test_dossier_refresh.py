"""Dossier refresh: dossiers are updated for their readers, in every store."""

from __future__ import annotations

import pytest
from tests.conftest import MONDAY, Clock
from tests.stories.conftest import Team, make_team

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.protocols.store import Store
from nexusmem.embedders.feature_hash import HashingEmbedder

QUESTION = "Which colour has the wharf gate?"


@pytest.fixture
def team(store: Store) -> Team:
    clock = Clock(MONDAY)
    nexus = Nexus.open(
        store, settings=Settings(), embedder=HashingEmbedder(), clock=clock, background=False
    )
    return make_team(nexus, clock)


def work(team: Team) -> dict[str, int]:
    team.workspace.flush()
    team.clock.advance(minutes=15)
    return team.workspace.run_job("dossiers")


@pytest.mark.requirement("B19", "E24", "X1", "X10")
def test_dossier_is_rebuilt_from_readable_records(team: Team) -> None:
    team.room.remember("Sarah Chen likes tea.", scope="project")
    places = {"room": team.room, "alice": team.alices, "bob": team.bobs}
    for place in places.values():
        place.dossiers.get("Sarah Chen")
        place.dossiers.add_question(QUESTION)
    # New dossiers change the epoch of their readers once.
    assert (work(team)["made"], work(team)) == (0, {"looked_at": 0, "made": 0, "dropped": 0})
    team.alices.observe("alice", "Sarah Chen has a surgery on Friday.")
    team.bobs.remember("The wharf gate has the colour blue.", scope="user:bob")

    assert work(team) == {"looked_at": 6, "made": 3, "dropped": 0}
    assert work(team)["made"] == 0

    told = {
        name: [(each.text, each.stale) for each in place.dossiers.list()]
        for name, place in places.items()
    }
    assert not any(stale for shown in told.values() for _, stale in shown)
    read = {name: "\n".join(text for text, _ in shown) for name, shown in told.items()}
    assert {name for name, text in read.items() if "surgery" in text} == {"alice"}
    assert {name for name, text in read.items() if "blue" in text} == {"room", "bob"}


@pytest.mark.requirement("X6")
def test_erased_user_erases_their_dossiers(team: Team) -> None:
    team.bobs.remember("I like tea.", scope="user:bob")
    team.room.observe("alice", "The wharf gate has the colour blue.")
    team.alices.remember("Sarah Chen likes tea.", scope="project")
    for place in (team.room, team.alices):
        place.dossiers.get("Sarah Chen")
        place.dossiers.add_question(QUESTION)

    assert team.workspace.forget(user="bob").residue == 0

    assert team.workspace.stats()["dossier"] == 5  # two of alice, a watch, and the questions
    assert work(team)["made"] == 0
    assert [each.name for each in team.alices.dossiers.list()] == ["Sarah Chen", QUESTION]
