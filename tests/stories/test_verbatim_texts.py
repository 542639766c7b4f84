"""Texts of facts and landmarks are the speaker's words; derived names stand in brackets."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from tests.conftest import Clock

from nexusmem import Nexus

pytestmark = pytest.mark.requirement("B2", "B16")


def test_pronoun_stays_in_the_text_and_the_name_is_shown_in_brackets(nexus: Nexus) -> None:
    dm = nexus.workspace("acme").dm("alice")
    dm.observe("alice", "My boss is Priya. She works at Google.")
    dm.flush()

    (fact,) = dm.facts("Priya", "WORKS_AT")

    assert fact.text == "She works at Google."
    assert fact.body["object"] == "Google"
    assert "She works at Google. [Priya]" in [each.text for each in dm.profile("Priya").about]


def test_keyword_search_finds_a_fact_by_its_derived_name(nexus: Nexus) -> None:
    dm = nexus.workspace("acme").dm("alice")
    dm.observe("alice", "My boss is Priya.")
    dm.observe("alice", "She works at Google.")
    dm.flush()

    texts = [hit.text for hit in dm.recall("Priya", kind="fact", threshold=0.0)]

    assert "She works at Google." in texts


def test_due_date_of_a_task_is_shown_in_brackets(nexus: Nexus, clock: Clock) -> None:
    clock.now = datetime(2026, 3, 2, 9, tzinfo=UTC)
    dm = nexus.workspace("acme").dm("alice")
    dm.observe("alice", "I'll send the report by Friday.", at=clock.now)
    dm.flush()

    (task,) = dm.landmarks("action_item")

    assert task.text == "I'll send the report by Friday."
    assert task.due_day is not None
    assert task.due_day.isoformat() == "2026-03-06"
