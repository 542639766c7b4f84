"""Sure facts: only these are shown as true; unsure ones are found as memories."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pytest
from tests.stories.conftest import Team

from nexusmem.core.records import Draft, Fact, Memory, MemoryKind
from nexusmem.core.records.facts import SURE_CONFIDENCE

UNSURE = 0.85  # the highest confidence of a fact that only a language model read


def derive_fact(team: Team, said: str, confidence: float, **fields: Any) -> Memory:
    """Record a message of Alice and a fact that was read from it."""
    event = team.room.observe("alice", said)
    team.room.flush()
    body = asdict(Fact(**{"subject": "Zed Ltd", "predicate": "HAS_BUDGET", **fields}))
    draft = Draft(
        scope=event.scope,
        kind=MemoryKind.FACT,
        text=f"{body['subject']} {body['predicate']} {body['value'] or body['object']}",
        sources=(event.event_id,),
        slot=f"test {said}",
        confidence=confidence,
        speaker="alice",
        role="user",
        source="test",
        learned=True,
        metadata={"made_by": ["test"]},
        body=body,
    )
    (memory,) = team.room._parts.store.memories.put(team.room.viewer.workspace, [draft])
    return memory


def shown_as_true(team: Team, name: str = "Zed Ltd") -> dict[str, bool]:
    """Return which views show a fact about this name as true, two days later."""
    team.clock.advance(days=2)  # the last messages are no longer shown
    context = team.room.compose(f"What about {name}?")
    dossier = team.room.dossiers.get(name).text
    found = team.room.profile(name)
    return {
        "context": bool(context.section_items("facts")),
        "entity": bool(team.room.entity(name).facts),
        "dossier": "## Current facts" in dossier,
        "profile": bool(found.about or found.preferences or found.expertise),
    }


@pytest.mark.requirement("E19", "B8")
def test_unsure_fact_is_found_but_not_shown_as_true(team: Team) -> None:
    fact = derive_fact(team, "hmm 4000 for Zed Ltd perhaps", UNSURE, value="4000")

    assert not any(shown_as_true(team).values())
    timeline = team.room.fact_timeline("Zed Ltd", "HAS_BUDGET")
    assert timeline.now == timeline.unsure[0] == fact  # with its confidence; nobody said otherwise
    (hit,) = team.room.recall("4000", kind="fact")
    assert (hit.memory.id, hit.memory.speaker, hit.memory.confidence) == (fact.id, "alice", UNSURE)
    assert fact.id in {each.id for each in team.room.facts("Zed Ltd")}
    assert "alice: hmm 4000 for Zed Ltd perhaps" in team.room.dossiers.get("Zed Ltd").text


@pytest.mark.requirement("E19", "B8")
def test_sure_fact_is_shown_as_true(team: Team) -> None:
    derive_fact(team, "for Zed Ltd it is 4000", SURE_CONFIDENCE, value="4000")

    shown = shown_as_true(team)
    assert {view for view, is_shown in shown.items() if not is_shown} == {"profile"}  # no section


@pytest.mark.requirement("E19", "E22")
def test_unsure_fact_replaces_and_denies_nothing(team: Team) -> None:
    sure = derive_fact(team, "for Zed Ltd it is 4000", 0.95, value="4000")
    team.clock.advance(days=1)
    derive_fact(team, "hmm 9000 perhaps", UNSURE, value="9000")
    derive_fact(team, "or nothing at all", UNSURE, value="4000", negated=True)

    timeline = team.room.fact_timeline("Zed Ltd", "HAS_BUDGET")
    assert (timeline.now, timeline.before) == (sure, ())
    assert len(timeline.unsure) == 2
    text = "\n".join(
        item.text for item in team.room.compose("What about Zed Ltd?").section_items("facts")
    )
    assert "HAS_BUDGET 4000" in text
    assert "9000" not in text


@pytest.mark.requirement("E19", "E5")
def test_no_path_of_the_graph_leads_through_an_unsure_fact(team: Team) -> None:
    team.room.add_fact("Globex", "OWNED_BY", "Dana")
    unsure = derive_fact(team, "x", UNSURE, predicate="KNOWS", object="Globex")
    graph = [hit for hit in team.room.recall("Zed Ltd", kind="fact") if "graph" in hit.reasons]
    assert graph == []

    sure = derive_fact(team, "y", 0.95, predicate="KNOWS", object="Globex")
    graph = [hit for hit in team.room.recall("Zed Ltd", kind="fact") if "graph" in hit.reasons]
    assert {hit.memory.id for hit in graph} >= {sure.id}
    assert any("Dana" in hit.text for hit in graph)
    assert unsure.id not in {hit.memory.id for hit in graph}


@pytest.mark.requirement("B8", "E19")
def test_fact_of_a_caller_is_shown_with_any_confidence(team: Team) -> None:
    team.room.add_fact("Zed Ltd", "HAS_BUDGET", value="4000", confidence=0.3)

    assert all(shown_as_true(team).values())
    now = team.room.fact_timeline("Zed Ltd", "HAS_BUDGET").now
    assert now is not None
    assert now.confidence == 0.3


@pytest.mark.requirement("E19", "E26")
@pytest.mark.parametrize(
    ("stated", "weeks", "confidence", "is_true"),
    [(False, 1, 0.9025, True), (False, 2, 0.857375, False), (True, 200, 0.95, True)],
)
def test_confidence_of_inferred_facts_falls_every_week(
    team: Team, stated: bool, weeks: int, confidence: float, is_true: bool
) -> None:
    """Specification 004: weekly decay for inferred facts."""
    fact = derive_fact(team, "for Zed Ltd it is 4000", 0.95, value="4000", stated=stated)
    team.clock.advance(weeks=weeks)

    assert team.room.strength(fact.id).confidence == pytest.approx(confidence)
    assert team.room.get(fact.id).confidence == 0.95  # as it was stored
    assert (team.room.fact_timeline("Zed Ltd", "HAS_BUDGET").unsure == ()) is is_true
    assert shown_as_true(team)["context"] is is_true


@pytest.mark.requirement("E3", "B8")
def test_promoted_fact_of_a_caller_is_shown_like_the_original(team: Team) -> None:
    here, there = team.alices, team.workspace.dm("alice", agent="clerk")
    here.add_fact("alice", "MOORS_AT", "Pier Seven", confidence=0.86)
    for _ in range(5):
        team.clock.advance(days=1)
        here.recall("Which pier does Alice moor at?")

    assert team.workspace.run_job("promote")["user_wide"] == 1
    (copy,) = there.entity("alice").facts
    assert (copy.learned, copy.confidence) == (True, 0.86)


@pytest.mark.requirement("E3", "E19")
def test_inferred_fact_is_not_promoted_after_its_confidence_fell(team: Team) -> None:
    for stated in (True, False):
        team.alices.add_fact("alice", "MOORS_AT", f"Pier {stated}", confidence=0.86, stated=stated)
    team.clock.advance(weeks=1)
    for _ in range(5):
        team.clock.advance(days=1)
        team.alices.recall("Which pier does Alice moor at?")

    assert team.workspace.run_job("promote")["user_wide"] == 1
