"""Fact reconciliation: corrections, contradictions and their policies."""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any

import pytest

from nexusmem.core.ids import digest
from nexusmem.core.records import Draft, Event, Fact, MemoryKind, Trust
from nexusmem.learn.facts.reconcile import (
    ContradictionPolicy,
    accept_contradiction,
    reconcile_facts,
)
from nexusmem.learn.facts.scope_facts import ScopeFacts
from nexusmem.recall.views.fact_timeline import build_timeline, facts_about
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ADMIN, NOON, ROOM
from nexusmem.testing.samples import make_event as told


class Conversation:
    """Test helper: one room that learns each message; `batch` delays the store."""

    def __init__(self, policy: ContradictionPolicy = ContradictionPolicy.APPEND) -> None:
        self.store = ReferenceStore()
        self.policy = policy
        self.said: list[str] = []

    def event(self, text: str, **more: Any) -> Event:
        at = NOON + timedelta(minutes=len(self.said))
        new = told(str(len(self.said)), text, **{"at": at, **more})
        self.store.ledger.append(ACME, [new], recorded_at=new.at)
        self.said.append(new.id)
        return self.store.ledger.get(ADMIN, [new.id])[0]

    def learn(self, event: Event, *drafts: Draft) -> list[Draft]:
        known = ScopeFacts.from_store(self.store, ACME, ROOM)
        made = reconcile_facts(event, drafts, known, self.policy, recent=self.said[:-1][-10:])
        self.store.memories.put(ACME, made)
        return made

    def says(self, subject: str, predicate: str, object: str | None, **more: Any) -> Draft:
        """Learn one fact and return its reconciled draft."""
        trust = more.pop("trust", Trust.DIRECT)
        speaker = more.pop("speaker", "alice")
        text = more.pop("text", f"{subject} {predicate} {object}.")
        event = self.event(text, trust=trust, speaker=speaker)
        made = self.learn(event, fact(event, subject, predicate, object, **more))
        return next(each for each in made if each.kind is MemoryKind.FACT)

    def corrects(
        self, right: str, wrong: str | None = None, *facts: tuple[str, str, str], **more: Any
    ) -> list[Draft]:
        event = self.event(f"No, {right}.", **more)
        drafts = [fact(event, *each) for each in facts]
        return self.learn(event, correction(event, right, wrong), *drafts)


def fact(event: Event, subject: str, predicate: str, object: str | None, **more: Any) -> Draft:
    valid_from: datetime | None = more.pop("valid_from", None)
    body = asdict(Fact(subject=subject, predicate=predicate, object=object, **more))
    return learned(
        event, MemoryKind.FACT, event.text, body, slot=digest(str(body)), valid_from=valid_from
    )


def correction(event: Event, right: str, wrong: str | None) -> Draft:
    body = {"kind": "correction", "wrong": wrong, "right": right}
    return learned(event, MemoryKind.LANDMARK, event.text, body)


def learned(event: Event, kind: MemoryKind, text: str, body: dict[str, Any], **more: Any) -> Draft:
    return Draft(
        scope=event.scope,
        kind=kind,
        text=text,
        sources=(event.id,),
        speaker=event.speaker,
        learned=True,
        metadata={"made_by": ["rules"]},
        body=body,
        **more,
    )


def of_kind(drafts: list[Draft], kind: MemoryKind) -> list[Draft]:
    return [draft for draft in drafts if draft.kind is kind]


@pytest.mark.requirement("E21")
def test_append_policy_adds_no_mark() -> None:
    room = Conversation()
    room.says("alice", "LIVES_IN", "Munich")

    berlin = room.says("alice", "LIVES_IN", "Berlin")

    assert berlin.metadata == {"made_by": ["rules"]}


@pytest.mark.requirement("E21")
def test_prefer_new_marks_the_superseded_fact() -> None:
    room = Conversation(ContradictionPolicy.PREFER_NEW)
    munich = room.says("Alice", "LIVES_IN", "Munich")

    berlin = room.says("alice", "LIVES_IN", "Berlin")
    again = room.says("alice", "LIVES_IN", "the Berlin")

    assert berlin.metadata["supersedes"] == [munich.id]
    assert "corrects" not in berlin.metadata
    assert "supersedes" not in again.metadata  # equal fact; Munich is superseded already
    assert len(room.store.memories.find(ADMIN)) == 3


@pytest.mark.requirement("E21")
def test_prefer_old_holds_back_the_new_fact() -> None:
    room = Conversation(ContradictionPolicy.PREFER_OLD)
    room.says("alice", "LIVES_IN", "Munich")

    berlin = room.says("alice", "LIVES_IN", "Berlin")
    munich = room.says("alice", "LIVES_IN", "Munich")

    assert berlin.metadata["held_back"] is True
    assert "held_back" not in munich.metadata  # Munich is still valid: no contradiction


@pytest.mark.requirement("E21")
def test_review_policy_adds_a_review_with_evidence() -> None:
    room = Conversation(ContradictionPolicy.REVIEW)
    munich = room.says("alice", "LIVES_IN", "Munich")
    event = room.event("I live in Berlin.")

    berlin, review = room.learn(event, fact(event, "alice", "LIVES_IN", "Berlin"))

    assert berlin.metadata["held_back"] == review.id
    assert review.kind is MemoryKind.REVIEW
    assert review.body["what"] == "contradiction"
    assert (review.body["old"], review.body["new"]) == (munich.id, berlin.id)
    assert review.body["names"] == ["alice", "Berlin", "Munich"]
    assert set(review.sources) == {event.id, *munich.sources}
    assert "Munich" in review.text
    assert "Berlin" in review.text


@pytest.mark.requirement("E21")
def test_accepted_fact_has_the_decision_as_source() -> None:
    room = Conversation(ContradictionPolicy.REVIEW)
    munich = room.says("alice", "LIVES_IN", "Munich")
    berlin = room.says("alice", "LIVES_IN", "Berlin", trust=Trust.EXTERNAL)
    review = room.store.memories.get(ADMIN, [berlin.metadata["held_back"]])[0]
    decision = room.event("accepted")

    draft = accept_contradiction(review, decision, (decision.id, review.id))
    kept = room.store.memories.put(ACME, [draft])[0]

    assert kept.id != berlin.id
    assert kept.metadata == {
        "made_by": ["rules"],
        "supersedes": [munich.id],
        "accepted": Trust.DIRECT,
    }
    assert (kept.body, kept.text, kept.at) == (berlin.body, berlin.text, review.at)


@pytest.mark.parametrize(
    "policy",
    [ContradictionPolicy.PREFER_NEW, ContradictionPolicy.PREFER_OLD, ContradictionPolicy.REVIEW],
)
def test_compatible_facts_are_no_contradiction(policy: ContradictionPolicy) -> None:
    room = Conversation(policy)
    room.says("alice", "LIKES", "tea")
    room.says("alice", "PREFERS", "green", aspect="color")
    room.says("alice", "LIVES_IN", "Rome", tense="past")

    later = [
        room.says("alice", "LIKES", "coffee"),
        room.says("alice", "PREFERS", "Rome", aspect="city"),
        room.says("alice", "LIVES_IN", "Munich"),
        room.says("bob", "LIVES_IN", "Berlin", speaker="bob"),
        room.says("alice", "LIVES_IN", "Paris", tense="future"),
        room.says("alice", "LIVES_IN", "Oslo", valid_from=NOON),  # a start date states a change
        room.says("alice", "DISLIKES", "milk"),
    ]

    assert [draft.metadata for draft in later] == [{"made_by": ["rules"]}] * len(later)


def test_contrary_value_is_a_contradiction() -> None:
    room = Conversation(ContradictionPolicy.PREFER_NEW)
    coffee = room.says("alice", "LIKES", "coffee")
    tea = room.says("alice", "LIKES", "tea")
    mysql = room.says("apollo", "USES", "MySQL for the shop")

    assert room.says("alice", "DISLIKES", "coffee any more").metadata["supersedes"] == [coffee.id]
    assert room.says("alice", "LIKES", "tea", negated=True).metadata["supersedes"] == [tea.id]
    assert room.says("apollo", "USES", "MySQL", negated=True).metadata["supersedes"] == [mysql.id]


@pytest.mark.requirement("E21")
def test_low_trust_never_supersedes_high_trust() -> None:
    room = Conversation(ContradictionPolicy.PREFER_NEW)
    room.says("alice", "LIVES_IN", "Munich")

    imported = room.says("alice", "LIVES_IN", "Berlin", trust=Trust.EXTERNAL)

    assert "supersedes" not in imported.metadata


@pytest.mark.requirement("E22")
@pytest.mark.parametrize("policy", ContradictionPolicy)
def test_correction_supersedes_under_every_policy(policy: ContradictionPolicy) -> None:
    room = Conversation(policy)
    munich = room.says("alice", "LIVES_IN", "Munich")

    made = room.corrects("Berlin", "Munich", ("alice", "LIVES_IN", "Berlin"))

    berlin = of_kind(made, MemoryKind.FACT)[0]
    assert berlin.metadata["supersedes"] == [munich.id]
    assert berlin.metadata["corrects"] is True
    assert not of_kind(made, MemoryKind.REVIEW)


@pytest.mark.requirement("E22")
def test_wrong_value_selects_the_corrected_fact() -> None:
    room = Conversation()
    morning = room.says("Luna", "HAS_SCHEDULE", "medication at 8am")
    room.says("Luna", "HAS_SCHEDULE", "a walk at 7am")

    made = room.corrects("9am", "8am", ("Luna", "HAS_SCHEDULE", "her medication at 9am"))

    assert of_kind(made, MemoryKind.FACT)[0].metadata["supersedes"] == [morning.id]


@pytest.mark.requirement("E22")
def test_correction_without_fact_changes_the_recent_fact() -> None:
    room = Conversation()
    room.says("launch", "SCHEDULED_FOR", "Monday")
    luna = room.says("Luna", "HAS_SCHEDULE", "medication at 8am", text="Luna needs pills at 8am.")

    made = room.corrects("9am")

    meant = of_kind(made, MemoryKind.FACT)[0]
    assert meant.body["object"] == "medication at 9am"
    assert meant.text == "Luna needs pills at 9am."
    assert meant.metadata["supersedes"] == [luna.id]
    assert set(luna.sources) < set(meant.sources)  # erased with the source of the name


@pytest.mark.requirement("E22")
def test_replacement_has_the_same_kind_and_a_new_date() -> None:
    room = Conversation()
    launch = room.says("launch", "SCHEDULED_FOR", "Monday", valid_from=NOON + timedelta(days=4))
    room.says("Luna", "HAS_SCHEDULE", "medication at 8am")
    room.says("alice", "LIVES_IN", "Munich")

    meant = of_kind(room.corrects("Tuesday"), MemoryKind.FACT)[0]

    assert (meant.body["subject"], meant.body["object"]) == ("launch", "Tuesday")
    assert meant.metadata["supersedes"] == [launch.id]
    assert meant.valid_from is not None
    assert meant.valid_from.weekday() == 1
    assert meant.valid_from > NOON


def test_name_replaces_the_recent_name() -> None:
    room = Conversation()
    room.says("alice", "LIVES_IN", "Munich")

    meant = of_kind(room.corrects("Berlin"), MemoryKind.FACT)[0]

    assert (meant.body["predicate"], meant.body["object"]) == ("LIVES_IN", "Berlin")


@pytest.mark.requirement("E22")
def test_wrong_value_is_found_in_old_facts() -> None:
    room = Conversation()
    mysql = room.says("apollo", "USES", "MySQL")
    for number in range(12):
        room.says("bob", "LIKES", f"song {number}", speaker="bob")

    meant = of_kind(room.corrects("PostgreSQL", "MySQL"), MemoryKind.FACT)[0]

    assert meant.body["subject"] == "apollo"
    assert meant.body["object"] == "PostgreSQL"
    assert meant.metadata["supersedes"] == [mysql.id]


def test_all_equal_wrong_facts_are_corrected() -> None:
    room = Conversation()
    first = room.says("apollo", "USES", "MySQL for the backend")
    room.says("zeus", "USES", "MySQL")
    second = room.says("apollo", "USES", "MySQL")

    meant = of_kind(room.corrects("PostgreSQL", "MySQL"), MemoryKind.FACT)

    assert [draft.body["subject"] for draft in meant] == ["apollo"]
    assert set(meant[0].metadata["supersedes"]) == {first.id, second.id}


def test_unnamed_correction_applies_to_the_own_fact_only() -> None:
    room = Conversation()
    room.says("launch", "SCHEDULED_FOR", "Monday", speaker="bob")

    assert not of_kind(room.corrects("Tuesday"), MemoryKind.FACT)
    assert of_kind(room.corrects("Tuesday", "Monday"), MemoryKind.FACT)


def test_correction_without_target_changes_nothing() -> None:
    room = Conversation()
    room.says("alice", "LIVES_IN", "Munich")

    assert not of_kind(room.corrects("9am"), MemoryKind.FACT)
    assert not of_kind(room.corrects("PostgreSQL", "MySQL"), MemoryKind.FACT)


@pytest.mark.requirement("E22", "E21")
def test_less_trusted_correction_needs_a_review() -> None:
    room = Conversation()
    munich = room.says("alice", "LIVES_IN", "Munich")

    made = room.corrects("Berlin", "Munich", ("alice", "LIVES_IN", "Berlin"), trust=Trust.EXTERNAL)

    berlin, review = of_kind(made, MemoryKind.FACT)[0], of_kind(made, MemoryKind.REVIEW)[0]
    assert "supersedes" not in berlin.metadata
    assert berlin.metadata["held_back"] == review.id
    assert review.body["old"] == munich.id


@pytest.mark.requirement("E22")
@pytest.mark.parametrize(
    ("predicate", "text"),
    [
        ("USES", "Apollo decided to use PostgreSQL instead of MySQL."),
        ("CHOSE", "Apollo chose PostgreSQL rather than MySQL for the shop."),
        ("SWITCHED_TO", "Apollo is switching from MySQL to PostgreSQL."),
        ("USES", "Apollo uses PostgreSQL, not MySQL."),
    ],
)
def test_instead_of_supersedes_the_old_value(predicate: str, text: str) -> None:
    room = Conversation()
    redis = room.says("apollo", "USES", "Redis")
    mysql = room.says("apollo", "USES", "MySQL for the backend")
    room.says("zeus", "USES", "SQLite")

    postgres = room.says("apollo", predicate, "PostgreSQL", text=text)

    assert postgres.metadata["supersedes"] == [mysql.id]
    assert "corrects" not in postgres.metadata  # MySQL was correct until then
    assert redis.id not in postgres.metadata["supersedes"]


def test_facts_of_one_batch_see_each_other() -> None:
    room = Conversation(ContradictionPolicy.PREFER_NEW)
    known = ScopeFacts.from_store(room.store, ACME, ROOM)
    first, second = room.event("I live in Munich."), room.event("I live in Berlin.")

    munich = reconcile_facts(first, [fact(first, "a", "LIVES_IN", "Munich")], known, room.policy)[0]
    berlin = reconcile_facts(second, [fact(second, "a", "LIVES_IN", "Berlin")], known, room.policy)[
        0
    ]

    assert berlin.metadata["supersedes"] == [munich.id]


@pytest.mark.parametrize("policy", ContradictionPolicy)
def test_relearning_gives_the_same_marks(policy: ContradictionPolicy) -> None:
    room = Conversation(policy)
    events = [room.event(f"I live in {place}.") for place in ("Munich", "Berlin", "Rome")]
    drafts = [fact(each, "a", "LIVES_IN", each.text.split()[-1]) for each in events]

    once = [room.learn(event, draft) for event, draft in zip(events, drafts, strict=True)]
    again = [room.learn(event, draft) for event, draft in zip(events, drafts, strict=True)]

    assert once == again


def test_facts_of_other_scopes_are_ignored() -> None:
    room = Conversation(ContradictionPolicy.PREFER_NEW)
    elsewhere = Conversation(ContradictionPolicy.PREFER_NEW)
    elsewhere.says("alice", "LIVES_IN", "Munich")
    aside = fact(room.event("x"), "alice", "LIVES_IN", "Oslo")
    secret = told("dm", "I live in Oslo.", scope=ROOM.dm("alice", "scribe"))
    room.store.ledger.append(ACME, [secret], recorded_at=NOON)
    body = dict(aside.body)
    room.store.memories.put(
        ACME,
        [
            Draft(
                scope=secret.scope, kind=MemoryKind.FACT, text="x", sources=(secret.id,), body=body
            )
        ],
    )

    assert "supersedes" not in room.says("alice", "LIVES_IN", "Berlin").metadata


@pytest.mark.requirement("E22")
def test_end_without_a_value_gets_the_only_current_value() -> None:
    room = Conversation()
    room.says("Sarah", "WORKS_AT", "Initech")
    velmora = room.says("Sarah", "WORKS_AT", "Velmora")

    quit = room.says("Sarah", "WORKS_AT", None, tense="past", text="Sarah quit.")

    assert (quit.body["object"], quit.body["tense"], quit.text) == (
        "Velmora",
        "past",
        "Sarah quit.",
    )
    assert set(velmora.sources) < set(quit.sources)  # erased with the source of the value


def test_end_without_a_value_stays_if_none_or_several_fit() -> None:
    room = Conversation()
    ended = room.says("Ann", "OWNS", None, tense="past", text="Ann sold it.")
    room.says("Ann", "OWNS", "Volvo")
    room.says("Ann", "OWNS", "Fiat Panda 4x4")
    either = room.says("Ann", "OWNS", None, tense="past", text="Ann sold it.")
    room.says("Ann", "OWNS", "Fiat Panda", tense="past")

    assert (ended.body["object"], either.body["object"]) == (None, None)
    assert room.says("Ann", "OWNS", None, tense="past").body["object"] == "Volvo"


def test_end_without_a_value_gets_the_plan() -> None:
    room = Conversation()
    room.says("we", "MOVING_TO", "Izmir", tense="future")

    assert room.says("we", "MOVING_TO", None, tense="past").body["object"] == "Izmir"


@pytest.mark.requirement("E22")
def test_correction_replaces_the_holder() -> None:
    room = Conversation()
    simone = room.says("Simone", "RESPONSIBLE_FOR", "Ravenna account")
    room.says("Astrid", "RESPONSIBLE_FOR", "Kestrel")

    made = room.corrects("Astrid", None, ("Astrid", "RESPONSIBLE_FOR", "Ravenna account"))

    astrid, denied = of_kind(made, MemoryKind.FACT)
    assert (astrid.body["subject"], astrid.metadata["supersedes"]) == ("Astrid", [simone.id])
    assert (denied.body["subject"], denied.body["negated"]) == ("Simone", True)
    assert (denied.metadata["supersedes"], denied.metadata["corrects"]) == ([simone.id], True)
    known = facts_about(room.store.memories.find(ADMIN), "Simone", "RESPONSIBLE_FOR")
    timeline = build_timeline(known, NOON + timedelta(days=1), "RESPONSIBLE_FOR")
    assert (len(known), timeline.current, timeline.before) == (2, (), ())


def test_holder_stays_without_a_correction() -> None:
    room = Conversation()
    room.says("Simone", "RESPONSIBLE_FOR", "Ravenna account")
    event = room.event("Astrid is responsible for the Ravenna account.")

    (astrid,) = room.learn(event, fact(event, "Astrid", "RESPONSIBLE_FOR", "Ravenna account"))

    assert "supersedes" not in astrid.metadata


def test_less_trusted_correction_of_the_holder_needs_a_review() -> None:
    room = Conversation()
    room.says("Simone", "OWNS", "Black Pearl")
    pearl = ("Astrid", "OWNS", "Black Pearl")

    made = room.corrects("Astrid", None, pearl, trust=Trust.EXTERNAL)

    assert [each.body["subject"] for each in of_kind(made, MemoryKind.FACT)] == ["Astrid"]
    assert of_kind(made, MemoryKind.REVIEW)
