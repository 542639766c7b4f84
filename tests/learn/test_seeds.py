"""Examples of the seed documents."""

from __future__ import annotations

import pytest
from tests.learn.making import ROOM, TWO, relations, said

from nexusmem.learn.rules.results import Category, Certainty, LandmarkKind, StatementTense


def test_tyler_works_at_anthropic_and_used_to_work_at_google() -> None:
    now = said("Tyler works at Anthropic.")
    before = said("Tyler used to work at Google.")
    building = said("Tyler is building Nexus at Anthropic.")

    assert relations(now) == [("Tyler", "WORKS_AT", "Anthropic")]
    assert relations(before) == [("Tyler", "WORKS_AT", "Google")]
    assert relations(building)[0] == ("Tyler", "WORKING_ON", "Nexus")
    assert now.facts[0].temporal is StatementTense.CURRENT
    assert before.facts[0].temporal is StatementTense.PAST


def test_moms_birthday_is_a_literal_about_the_speakers_mother() -> None:
    (fact,) = said("Mom's birthday is May 15").facts

    assert (fact.subject, fact.predicate, fact.value) == ("Alice's mom", "BORN_ON", "--05-15")
    assert fact.object is None
    assert fact.sentence == "Mom's birthday is May 15"


def test_a_favourite_colour_is_a_preference_with_an_aspect() -> None:
    (fact,) = said("Tyler's favorite color is purple.").facts

    assert (fact.subject, fact.predicate, fact.value) == ("Tyler", "PREFERS", "purple")
    assert fact.aspect == "color"


def test_what_mom_usually_does_is_inferred_behaviour() -> None:
    (fact,) = said("Mom usually texts at 9pm").facts

    assert (fact.subject, fact.predicate) == ("Alice's mom", "TYPICALLY_CONTACTS_AT")
    assert fact.category is Category.BEHAVIOURAL
    assert fact.certainty is Certainty.INFERRED


def test_tyler_and_sarah_know_each_other() -> None:
    assert relations(said("Tyler and Sarah know each other.")) == [("Tyler", "KNOWS", "Sarah")]


def test_a_decision_teaches_what_the_project_uses() -> None:
    found = said("We decided to use PostgreSQL instead of MySQL.")

    (decision,) = found.landmarks
    assert [(fact.object, fact.temporal) for fact in found.facts] == [
        ("PostgreSQL", StatementTense.CURRENT),
        ("MySQL", StatementTense.PAST),
    ]
    assert {(fact.subject, fact.predicate) for fact in found.facts} == {("Apollo", "USES")}
    assert decision.kind is LandmarkKind.DECISION
    assert decision.owner == "Apollo"
    assert decision.text == "We decided to use PostgreSQL instead of MySQL."


def test_luna_needs_her_medication_at_eight() -> None:
    (fact,) = said("Luna needs medication at 8am").facts

    assert (fact.subject, fact.predicate) == ("Luna", "HAS_SCHEDULE")
    assert fact.value == "medication at 8am"


def test_sarah_is_moving_as_she_said_herself() -> None:
    (fact,) = said("Sarah mentioned she's moving to NYC").facts

    assert (fact.subject, fact.predicate, fact.object) == ("Sarah", "MOVING_TO", "NYC")
    assert fact.temporal is StatementTense.FUTURE
    assert fact.certainty is Certainty.IMPLIED


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("We decided to use PostgreSQL", LandmarkKind.DECISION),
        ("I'll send the report by Friday", LandmarkKind.ACTION_ITEM),
        ("Let's meet at 3pm tomorrow", LandmarkKind.COMMITMENT),
        ("I prefer dark mode", LandmarkKind.PREFERENCE_STATED),
        ("Actually, it's not 40, it's 400", LandmarkKind.CORRECTION),
    ],
)
@pytest.mark.parametrize("context", [ROOM, TWO], ids=["project", "two"])
def test_every_kind_of_landmark(text: str, kind: LandmarkKind, context) -> None:
    assert [each.kind for each in said(text, context=context).landmarks] == [kind]


def test_an_action_item_has_an_owner_and_a_date() -> None:
    (item,) = said("I'll send the report by Friday", speaker="Bob").landmarks

    assert item.owner == "Bob"
    assert item.due is not None
    assert item.due.isoformat() == "2026-03-07T00:00:00+00:00"


def test_a_correction_says_what_becomes_what() -> None:
    (mended,) = said("Actually, it's not 40 users, it's 400.").landmarks

    assert (mended.wrong, mended.right) == ("40 users", "400")


def test_what_was_decided_is_not_due_before_it_was_said() -> None:
    (decided,) = said("We decided to ship the release on 16 March.").landmarks
    (planned,) = said("I'll ship the release on 16 March.").landmarks

    assert decided.kind is LandmarkKind.DECISION
    assert decided.due is None
    assert planned.due is not None
    assert planned.due.isoformat() == "2026-03-17T00:00:00+00:00"
