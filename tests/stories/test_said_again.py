"""Said again: a person who repeats a sentence later makes a new observation."""

from __future__ import annotations

import pytest
from tests.stories.conftest import Team

from nexusmem import Place

ACME, GLOBEX = "I work at Acme.", "I work at Globex."
REPORT = "I'll send the report by Friday."


def employer(place: Place) -> object:
    now = place.fact_timeline("alice", "WORKS_AT").now
    return now.fact.object if now else None


def work_at(team: Team, *sentences: str) -> None:
    for sentence in sentences:
        team.alices.observe("alice", sentence)
        team.alices.observe("scribe", "Noted, thank you.")
        team.clock.advance(weeks=1)


@pytest.mark.requirement("E21", "X8")
def test_fact_that_is_true_again_is_current_again(team: Team) -> None:
    work_at(team, ACME, GLOBEX)
    assert employer(team.alices) == "Globex"

    work_at(team, ACME)

    timeline = team.alices.fact_timeline("alice", "WORKS_AT")
    assert employer(team.alices) == "Acme"
    assert [each.fact.object for each in timeline.observations] == ["Acme", "Globex", "Acme"]
    assert [each.fact.object for each in timeline.before] == ["Globex"]
    assert timeline.since is not None
    assert f"{timeline.since:%Y-%m-%d}" == "2026-03-16"


@pytest.mark.requirement("E21", "X8")
def test_consolidation_keeps_the_effect_of_the_newer_statement(team: Team) -> None:
    work_at(team, ACME, GLOBEX, ACME)

    team.workspace.flush()
    for job in ("consolidate", "near_duplicates"):
        team.workspace.run_job(job)

    assert employer(team.alices) == "Acme"
    (link,) = [entry.link for entry in team.alices.profile("alice").about if entry.link]
    assert link.body["said"] == 1  # the same words of one person are no second mention


@pytest.mark.requirement("B16", "X8")
def test_promise_of_the_next_week_is_a_new_action_item(team: Team) -> None:
    for _ in range(2):
        team.alices.observe("alice", REPORT)
        team.clock.advance(weeks=1)

    found = team.alices.recall("send the report", kind="landmark", limit=10)
    assert sorted(hit.memory.body["due"][:10] for hit in found) == ["2026-03-07", "2026-03-14"]


@pytest.mark.requirement("X8", "D24")
def test_retry_within_minutes_is_one_observation(team: Team) -> None:
    for _ in range(3):
        team.alices.observe("alice", ACME)
        team.clock.advance(seconds=30)

    assert len(team.alices.fact_timeline("alice", "WORKS_AT").observations) == 1


@pytest.mark.requirement("X11")
def test_context_shows_a_repeated_sentence_once(team: Team) -> None:
    work_at(team, ACME, GLOBEX, ACME)
    for _ in range(2):
        team.alices.observe("alice", REPORT)
        team.clock.advance(weeks=1)
    team.clock.advance(days=1)

    context = team.alices.compose("Where does Alice work, and what about the report?")

    lines = [line for line in context.text.splitlines() if "work at Acme" in line]
    assert [line[:12] for line in lines] == ["- 2026-03-16"]
    pinned = [line for line in context.text.splitlines() if "action item" in line]
    assert [line[:12] for line in pinned] == ["- 2026-03-30"]
    assert "said above" in {cut.why for cut in context.receipt.cut}


@pytest.mark.requirement("X3", "X8")
def test_relearning_keeps_repeated_statements(team: Team) -> None:
    work_at(team, ACME, GLOBEX, ACME)
    before = [each.id for each in team.alices.facts()]

    team.workspace.rebuild("knowledge")

    assert [each.id for each in team.alices.facts()] == before
    assert employer(team.alices) == "Acme"
