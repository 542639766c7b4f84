"""Decay, promotion and cleanup of memories."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from nexusmem.core.access import Grant
from nexusmem.core.flows import FLOW_SCOPES, NO_SHARING, FlowRule, Sharing
from nexusmem.core.ids import AgentId, UserId
from nexusmem.core.protocols.jobs import JobStep, WorkspaceTurn
from nexusmem.core.protocols.store import Store
from nexusmem.core.protocols.usage_counts import NewUsage
from nexusmem.core.records import Memory, MemoryKind, Tier, Tombstone, Trust
from nexusmem.core.records.event import CONFIDENTIAL_KEY
from nexusmem.core.records.memory import is_copy
from nexusmem.core.scope import Scope
from nexusmem.core.strength import StrengthSettings
from nexusmem.maintain.jobs.cleanup import cleanup
from nexusmem.maintain.jobs.decay import decay
from nexusmem.maintain.jobs.promote import FlowTools, promote, promote_after_session
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    ALICE_PROFILE,
    BOB,
    IN_ROOM,
    NOON,
    PROJECT,
    ROOM,
    add_memory,
    append_events,
    make_draft,
    make_event,
)

DAY = timedelta(days=1)
USUAL = StrengthSettings()
FACT = {"subject": "tea", "predicate": "IS", "value": "hot"}
OWN = {"subject": "alice", "predicate": "LIKES", "object": "tea"}
MONDAY = Scope.session("alice", "scribe", "monday")
SHARED_PROFILE = FLOW_SCOPES[FlowRule.PROFILE]


@pytest.fixture(params=["inprocess", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    store = ReferenceStore() if request.param == "inprocess" else SqliteStore(tmp_path / "m.db")
    yield store
    store.close()


def use(store: Store, *ids: str, times: int = 1, days: int = 0, place: Scope = ROOM) -> None:
    """Record `times` uses on one day after noon."""
    at = NOON + days * DAY
    shown = NewUsage(scope=place, conversation=str(days), ids=ids, at=at)
    store.usage_counts.add(ACME, [shown] * times)


def state(store: Store, memory: Memory) -> tuple[Tier, bool]:
    (now,) = store.memories.get(ADMIN, [memory.id])
    return now.tier, now.archived


def run(job: Any, store: Store, *, after: timedelta, **more: Any) -> dict[str, int]:
    """Run a job to its end in steps of two rows and return the counts."""
    told: dict[str, Any] = {"settings": USUAL, **more}
    counts: dict[str, int] = {}
    cursor, steps = None, 0
    while steps == 0 or cursor is not None:
        step: JobStep
        (step,) = job(store, [WorkspaceTurn(ACME, cursor)], now=NOON + after, batch=2, **told)
        for name, count in step.counts.items():
            counts[name] = counts.get(name, 0) + count
        cursor, steps = step.cursor, steps + 1
        assert steps < 50
    return counts


@pytest.mark.requirement("D8", "E26")
def test_unused_memory_is_archived_and_not_deleted(store: Store) -> None:
    said = add_memory(store, "1")
    fact = add_memory(store, "2", kind=MemoryKind.FACT, body=FACT)
    spared = [
        add_memory(store, "3", kind=MemoryKind.LANDMARK),
        add_memory(store, "4", kind=MemoryKind.FACT, body={**FACT, "exact": True}),
        add_memory(store, "5", kind=MemoryKind.GOAL, body={}),
        add_memory(store, "6", tier=Tier.LONG),
        add_memory(store, "7", kind=MemoryKind.REVIEW),
        add_memory(store, "8", kind=MemoryKind.DOSSIER),
    ]
    kept = store.count_records(ADMIN)

    early = run(decay, store, after=5 * DAY)
    late = run(decay, store, after=20 * DAY)
    again = run(decay, store, after=20 * DAY)
    much_later = run(decay, store, after=200 * DAY)

    assert [each["archived"] for each in (early, late, again, much_later)] == [0, 1, 0, 1]
    assert state(store, said) == state(store, fact) == (Tier.SHORT, True)
    assert not any(state(store, memory)[1] for memory in spared)
    assert store.count_records(ADMIN) == kept
    assert store.memories.search_keywords(ADMIN, ["tea"], limit=9)


@pytest.mark.requirement("D8", "E23")
def test_used_memory_is_restored(store: Store) -> None:
    said, other = add_memory(store, "1"), add_memory(store, "2")
    run(decay, store, after=20 * DAY)
    use(store, said.id, days=21)

    counts = run(decay, store, after=22 * DAY)

    assert counts["revived"] == 1
    assert (state(store, said)[1], state(store, other)[1]) == (False, True)
    assert run(decay, store, after=80 * DAY)["archived"] == 1


@pytest.mark.requirement("E23")
def test_one_context_counts_a_memory_once(store: Store) -> None:
    said = add_memory(store, "1")
    use(store, said.id, said.id)

    assert store.usage_counts.load_usage(ADMIN, [said.id])[said.id].count == 1


@pytest.mark.requirement("X2", "D8")
def test_use_that_not_all_readers_may_see_changes_nothing(store: Store) -> None:
    shared = add_memory(store, "1", scope=PROJECT)
    for day in range(6):
        use(store, shared.id, days=day, place=ALICE_DM)

    assert run(promote, store, after=6 * DAY)["promoted"] == 0
    assert run(decay, store, after=13 * DAY)["archived"] == 1
    use(store, shared.id, days=14, place=ALICE_DM)
    assert run(decay, store, after=14 * DAY).get("revived") == 0


@pytest.mark.requirement("D9", "E3", "E25")
def test_certain_and_often_used_memory_is_promoted(
    store: Store,
) -> None:
    store.audit.configure(writes=True)
    ripe, unsure, once, seldom = (
        add_memory(store, str(number), confidence=sure)
        for number, sure in enumerate((0.85, 0.8, 0.95, 0.95))
    )
    use(store, ripe.id, unsure.id, times=4)
    use(store, ripe.id, unsure.id, seldom.id, days=1)
    use(store, once.id, times=9)

    counts = run(promote, store, after=3 * DAY)

    assert counts["promoted"] == 1
    assert state(store, ripe) == (Tier.LONG, False)
    assert {state(store, memory)[0] for memory in (unsure, once, seldom)} == {Tier.SHORT}
    assert run(promote, store, after=3 * DAY)["promoted"] == 0
    (recorded,) = store.audit.find(ADMIN, action="promote", limit=9)
    assert recorded.entry is not None
    (grounds,) = recorded.entry.detail["promoted"]  # type: ignore[misc,union-attr]
    assert grounds["memory"] == ripe.id  # type: ignore[index,call-overload]
    assert (grounds["uses"], grounds["conversations"]) == (5, 2)  # type: ignore[index,call-overload]
    thresholds = recorded.entry.detail["thresholds"]
    assert thresholds["promote_min_confidence"] == 0.85  # type: ignore[index,call-overload]
    assert thresholds["promote_min_uses"] == 5  # type: ignore[index,call-overload]


@pytest.mark.requirement("E3", "X1")
def test_unvouched_memory_is_never_promoted(store: Store) -> None:
    (source,) = append_events(store, make_event("1", trust=Trust.EXTERNAL))
    (foreign,) = store.memories.put(ACME, [make_draft(source)])
    ours = add_memory(store, "2")
    for day in range(6):
        use(store, foreign.id, ours.id, days=day)

    run(promote, store, after=6 * DAY)
    run(
        promote_after_session,
        store,
        after=6 * DAY,
        settings=StrengthSettings(promote_min_importance=0.1),
    )

    assert state(store, foreign) == (Tier.SHORT, False)
    assert state(store, ours) == (Tier.LONG, False)
    assert store.memories.get(ADMIN, [ours.id])[0].label == ours.label
    assert len(store.memories.find(ADMIN)) == 2


def copies(store: Store, grant: Grant = ADMIN) -> list[Memory]:
    """Return the facts that promotion copied to a profile."""
    facts = [each for each in store.memories.find(grant) if each.kind is MemoryKind.FACT]
    return [each for each in facts if is_copy(each)]


def original(copy: Memory) -> str:
    """Return the id of the fact that was promoted."""
    return copy.sources[-1]


def proven(store: Store, key: str, *, place: Scope = ROOM, **more: Any) -> Memory:
    """Store a fact with five uses in two conversations."""
    told = {"kind": MemoryKind.FACT, "body": OWN, "speaker": "alice", "role": "user", **more}
    fact = add_memory(store, key, **{"scope": place, **told})
    use(store, fact.id, times=4, place=place)
    use(store, fact.id, days=1, place=place)
    return fact


@pytest.mark.requirement("E3", "X1")
def test_proven_fact_is_copied_to_the_profile_of_its_speaker(store: Store) -> None:
    store.audit.configure(writes=True)
    fact = proven(store, "1")
    long_before = proven(store, "2", tier=Tier.LONG)
    proven(store, "3", confidence=0.8)
    proven(store, "4", kind=MemoryKind.PASSAGE, body={})
    proven(store, "5", place=ALICE_PROFILE)  # a user fact already

    counts = run(promote, store, after=3 * DAY)
    again = run(promote, store, after=3 * DAY)

    assert (counts["user_wide"], again["user_wide"]) == (2, 0)
    found = {original(each): each for each in copies(store)}
    assert found.keys() == {fact.id, long_before.id}
    copy = found[fact.id]
    assert (copy.scope, copy.label) == (ALICE_PROFILE, {ALICE_PROFILE, SHARED_PROFILE})
    assert (copy.text, copy.body, copy.trust) == (fact.text, fact.body, fact.trust)
    assert copy.sources == (*fact.sources, fact.id)
    passages = [each for each in store.memories.find(ADMIN) if each.kind is MemoryKind.PASSAGE]
    shown = [each for each in passages if is_copy(each)]  # the sentence of each, for search
    assert [(each.text, each.label) for each in shown] == [(fact.text, copy.label)] * 2
    recorded = [each.entry for each in store.audit.find(ADMIN, action="promote", limit=9)]
    detail = [each.detail for each in recorded if each and each.people == ("alice",)]
    grounds = [row for each in detail for row in each["promoted"]]  # type: ignore[union-attr]
    assert {(row["memory"], row["to"]) for row in grounds} == {  # type: ignore[index,call-overload]
        (id, "user:alice") for id in found
    }
    assert all(each["thresholds"]["promote_min_confidence"] == 0.85 for each in detail)  # type: ignore[index,call-overload]


@pytest.mark.requirement("E3", "X1", "X2")
def test_promoted_fact_is_read_where_the_profile_is_read(store: Store) -> None:
    openly = proven(store, "1")
    said_in_private = proven(store, "2", place=ALICE_DM)
    in_session = proven(store, "3", place=MONDAY)
    proven(store, "4", place=ALICE_DM, body=FACT)  # about tea, not about alice
    run(promote, store, after=3 * DAY)

    other_room = replace(IN_ROOM, room="kitchen", project=None)
    without_alice = replace(other_room, participants=(UserId("bob"),))
    other_agent = replace(ALICE, agent=AgentId("critic"), project=None)
    viewers = (ALICE, other_agent, IN_ROOM, other_room, BOB, without_alice)
    alice, elsewhere, in_room, kitchen, bob, strangers = (
        {original(each) for each in copies(store, viewer.grant())} for viewer in viewers
    )

    assert alice == elsewhere
    assert alice == {openly.id, said_in_private.id, in_session.id}
    assert in_room == kitchen == {openly.id}
    assert bob == strangers == set()
    assert {each.scope for each in copies(store)} == {ALICE_PROFILE, Scope.private("alice")}


@pytest.mark.requirement("E3", "X2")
@pytest.mark.parametrize(
    "told",
    [
        {"body": FACT},
        {"speaker": "bob"},
        {"speaker": None},
        {"role": "assistant"},
        {"place": PROJECT},
        {"place": Scope.agent("scribe")},
        {"place": Scope.session("alice", "scribe", "monday", private=True)},
        {"text": "alice has diabetes", "place": ALICE_DM},
        {"text": "alice likes tea, but keep that between us", "place": ALICE_DM},
    ],
    ids=str,
)
def test_fact_that_no_flow_lets_out_is_not_promoted(store: Store, told: dict[str, Any]) -> None:
    proven(store, "1", **told)

    assert run(promote, store, after=3 * DAY)["user_wide"] == 0
    assert copies(store) == []


@pytest.mark.requirement("E3", "X2")
@pytest.mark.parametrize(
    "event",
    [
        {"metadata": {CONFIDENTIAL_KEY: True}},
        {"text": "This is between us: I like tea."},
        {"text": "I like tea since my depression."},
    ],
    ids=["marked", "confidential", "sensitive"],
)
def test_fact_of_a_discreet_message_is_not_promoted(store: Store, event: dict[str, Any]) -> None:
    (source,) = append_events(store, make_event("1", scope=ALICE_DM, **event))
    fact = make_draft(source, scope=ALICE_DM, kind=MemoryKind.FACT, body=OWN, role="user")
    (kept,) = store.memories.put(ACME, [replace(fact, speaker="alice", text="alice likes tea")])
    use(store, kept.id, times=4, place=ALICE_DM)
    use(store, kept.id, days=1, place=ALICE_DM)

    assert run(promote, store, after=3 * DAY)["user_wide"] == 0
    assert copies(store) == []


@pytest.mark.requirement("E3", "X2")
@pytest.mark.parametrize(
    ("sharing", "expected"),
    [
        (Sharing(agents="none"), {"user:alice"}),
        (Sharing(profile=False), {"private:alice"}),
        (NO_SHARING, set()),
    ],
    ids=["agents", "profile", "all"],
)
def test_flow_that_is_off_promotes_nothing(
    store: Store, sharing: Sharing, expected: set[str]
) -> None:
    proven(store, "1")
    proven(store, "2", place=ALICE_DM)

    counts = run(promote, store, after=3 * DAY, flows=FlowTools(lambda _: sharing))

    assert counts["user_wide"] == len(expected)
    assert {str(each.scope) for each in copies(store)} == expected


@pytest.mark.requirement("E3", "X2")
def test_use_that_not_all_readers_may_see_promotes_nothing(store: Store) -> None:
    secretly_used = add_memory(
        store, "1", kind=MemoryKind.FACT, body=OWN, speaker="alice", role="user"
    )
    for day in (0, 1):
        use(store, secretly_used.id, times=4, days=day, place=ALICE_DM)

    assert run(promote, store, after=3 * DAY)["user_wide"] == 0


@pytest.mark.requirement("E3", "X6")
def test_erased_fact_loses_its_copies(store: Store) -> None:
    one, two, three = (proven(store, str(number)) for number in range(3))
    run(promote, store, after=3 * DAY)
    found = {original(each): each.id for each in copies(store)}

    store.eraser.erase(ACME, events=[], memories=[one.id], tombstones=[])
    forgotten = Tombstone(kind="memory", digest=found[two.id], at=NOON)
    store.eraser.erase(ACME, events=[], memories=[found[two.id]], tombstones=[forgotten])

    assert {original(each) for each in copies(store)} == {three.id}
    left = [each for each in store.memories.find(ADMIN) if one.id in each.sources]
    assert left == []  # the passage is erased, too
    assert run(promote, store, after=3 * DAY)["user_wide"] == 0  # it is not promoted again


@pytest.mark.requirement("E3", "X1")
def test_conclusion_of_an_agent_may_be_promoted(store: Store) -> None:
    (source,) = append_events(store, make_event("1", role="assistant", trust=Trust.INFERRED))
    (concluded,) = store.memories.put(ACME, [make_draft(source)])
    for day in range(6):
        use(store, concluded.id, days=day)

    assert run(promote, store, after=6 * DAY)["promoted"] == 1


@pytest.mark.requirement("D9", "E3")
def test_important_memory_needs_uses_in_several_conversations(
    store: Store,
) -> None:
    twice, once, chatter = (
        add_memory(store, str(n), salience=s) for n, s in enumerate((0.9, 0.9, 0.3))
    )
    use(store, once.id, times=9)
    use(store, twice.id, chatter.id)
    use(store, twice.id, chatter.id, days=1)

    assert run(promote, store, after=DAY)["promoted"] == 1
    assert state(store, twice)[0] is Tier.LONG
    assert state(store, once)[0] is state(store, chatter)[0] is Tier.SHORT


@pytest.mark.requirement("D5")
def test_important_memory_is_promoted_after_its_session(store: Store) -> None:
    matters = add_memory(store, "1", salience=0.7, thread="one")
    chatter = add_memory(store, "2", salience=0.3, thread="one")
    going_on = add_memory(store, "3", salience=0.7, thread="two", at=NOON + timedelta(minutes=30))

    assert run(promote_after_session, store, after=timedelta(minutes=59))["promoted"] == 0
    assert run(promote_after_session, store, after=timedelta(minutes=61))["promoted"] == 1

    assert state(store, matters) == (Tier.LONG, False)
    assert state(store, chatter) == state(store, going_on) == (Tier.SHORT, False)


@pytest.mark.requirement("E26")
def test_idle_conversation_is_archived(store: Store) -> None:
    slow = StrengthSettings(archive_below=0.0)
    old, used = (add_memory(store, str(n), thread="old") for n in (1, 2))
    going_on = add_memory(store, "3", thread="new")
    add_memory(store, "4", thread="new", at=NOON + 80 * DAY)
    fact = add_memory(store, "5", kind=MemoryKind.FACT, body=FACT, thread="old")
    note = add_memory(store, "6", tier=Tier.LONG, thread="old")
    use(store, used.id, days=60)
    over = {"idle": DAY, "idle_days": 90}

    def tidy(days: int) -> dict[str, int]:
        return run(
            lambda *given, **told: cleanup(
                *given, **{k: v for k, v in told.items() if k != "settings"}
            ),
            store,
            after=days * DAY,
            **over,
        )

    assert tidy(89)["archived"] == 0
    assert tidy(91)["archived"] == 1
    assert state(store, old) == (Tier.SHORT, True)
    for spared in (used, going_on, fact, note):
        assert state(store, spared)[1] is False
    assert run(decay, store, after=91 * DAY, settings=slow).get("revived", 0) == 0
    assert tidy(151)["archived"] == 1


@pytest.mark.requirement("X2")
def test_private_use_restores_nothing_for_others(store: Store) -> None:
    memory = add_memory(store, "1", scope=PROJECT)
    store.memories.set_state(ACME, [memory.id], archived=True)

    use(store, memory.id, place=ALICE_DM)
    assert run(decay, store, after=timedelta(hours=1))["revived"] == 0
    assert state(store, memory)[1]

    use(store, memory.id, place=PROJECT)
    assert run(decay, store, after=timedelta(hours=1))["revived"] == 1
    assert not state(store, memory)[1]


@pytest.mark.requirement("E26")
def test_usage_of_deleted_memories_stays_a_month(store: Store) -> None:
    """A memory that is derived again has its earlier usage counts."""
    gone, there = add_memory(store, "1"), add_memory(store, "2")
    use(store, gone.id, there.id)
    store.memories.delete(ACME, [gone.id])

    def tidied(days: int) -> int:
        now = NOON + days * DAY
        (step,) = cleanup(store, [WorkspaceTurn(ACME)], now=now, idle=DAY, idle_days=90)
        return step.counts["uses"]

    assert [tidied(29), tidied(31), tidied(99)] == [0, 1, 0]
    assert store.usage_counts.load_usage(ADMIN, [there.id])[there.id].count == 1
