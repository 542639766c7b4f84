"""Consolidation of duplicates: similarity, representatives, nothing else changes."""

from __future__ import annotations

import json
import random
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from tests.unit.making import ACME, DM, NOON, ROOM, event

from nexusmem import Nexus
from nexusmem.core.access import administrator_grant
from nexusmem.core.protocols.jobs import FinishedStep, RecurringJob
from nexusmem.core.records import Draft, EmbeddingProfile, Fact, Memory, MemoryKind, Trust
from nexusmem.core.records.links import SHARED_FROM, LinkRelation, find_links
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.maintain.forget import choose_target, forget
from nexusmem.maintain.jobs import consolidate as job
from nexusmem.maintain.jobs.consolidate import consolidate_next
from nexusmem.maintain.jobs.similarity import group_same
from nexusmem.testing.reference_store.store import ReferenceStore

ADMIN = administrator_grant(ACME)
MINUTE = timedelta(minutes=1)
PAIRS = Path(__file__).parents[3] / "bench" / "consolidate" / "pairs.json"
FACT = Fact(subject="Sarah", predicate="LIKES", object="tea")


def told(store: ReferenceStore, key: str, text: str, **more: Any) -> str:
    said = event(text, key=key, at=NOON + len(key) * MINUTE, **more)
    return store.ledger.append(ACME, [said], recorded_at=said.at)[0].event_id


def keep(store: ReferenceStore, key: str, text: str, fact: Fact = FACT, **more: Any) -> Memory:
    """Store a fact derived from a message with this text."""
    valid = {name: more.pop(name) for name in ("valid_from", "valid_to") if name in more}
    source = told(store, key, text, **more)
    draft = Draft(
        scope=more.get("scope", ROOM),
        kind=MemoryKind.FACT,
        text=text,
        sources=(source,),
        slot="fact",
        learned=True,
        body=asdict(fact),
        **valid,
    )
    return store.memories.put(ACME, [draft])[0]


def decide(store: ReferenceStore, key: str, text: str, **body: Any) -> Memory:
    source = told(store, key, text)
    draft = Draft(
        scope=ROOM,
        kind=MemoryKind.LANDMARK,
        text=text,
        sources=(source,),
        slot="landmark",
        learned=True,
        body={"kind": "decision", "owner": "sarah", **body},
    )
    (memory,) = store.memories.put(ACME, [draft])
    embedder = HashingEmbedder()
    store.vectors.put(ACME, embedder.profile, {memory.id: embedder.embed([text])[0]})
    return memory


def everything(store: ReferenceStore) -> None:
    after = 0
    while True:
        after, counts = consolidate_next(store, ACME, after=after, limit=3)
        if not counts["looked_at"]:
            return


def links(store: ReferenceStore) -> list[Memory]:
    return [each for each in store.memories.find(ADMIN) if each.kind is MemoryKind.LINK]


def groups(store: ReferenceStore) -> set[frozenset[str]]:
    return {frozenset(link.body["members"]) for link in links(store)}


@pytest.fixture
def store() -> ReferenceStore:
    return ReferenceStore()


@pytest.mark.requirement("D11", "D26", "E25")
def test_duplicates_have_one_representative_and_stay(store: ReferenceStore) -> None:
    one = keep(store, "1", "Sarah likes tea.", speaker="sarah")
    two = keep(store, "22", "Sarah really likes tea.", speaker="bob")
    keep(store, "333", "Sarah likes cake.", Fact(subject="Sarah", predicate="LIKES", object="cake"))

    everything(store)

    (link,) = links(store)
    assert link.text == "Sarah really likes tea."
    assert (link.body["members"], link.body["said"]) == ([one.id, two.id], 2)
    assert set(link.sources) == {one.id, two.id, *one.sources, *two.sources}
    assert (link.label, link.learned, link.indexed_text) == (one.label, True, "")
    assert len([m for m in store.memories.find(ADMIN) if m.kind is MemoryKind.FACT]) == 3


DIFFERENT = {
    "value": {"object": "cake"},
    "polarity": {"negated": True},
    "tense": {"tense": "past"},
    "subject": {"subject": "Sarah Kim"},
    "relation": {"predicate": "DISLIKES"},
    "aspect": {"aspect": "hot"},
    "inferred": {"stated": False},
}
IN_THE_TEXT = ["Sarah likes 2 teas.", "Sarah likes tea with Bob.", "Sarah never likes tea."]


@pytest.mark.parametrize("what", DIFFERENT)
def test_different_memories_are_not_linked(store: ReferenceStore, what: str) -> None:
    keep(store, "1", "Sarah likes tea.")
    keep(store, "22", "Sarah likes tea!", Fact(**{**asdict(FACT), **DIFFERENT[what]}))
    everything(store)

    assert groups(store) == set()


@pytest.mark.parametrize("text", IN_THE_TEXT)
def test_facts_with_different_texts_are_not_joined(store: ReferenceStore, text: str) -> None:
    keep(store, "1", "Sarah likes tea.")
    keep(store, "22", text)
    keep(store, "333", "Sarah likes tea.", valid_from=NOON)
    everything(store)

    assert groups(store) == set()


@pytest.mark.parametrize("text", IN_THE_TEXT)
def test_vectors_never_join_texts_that_differ(store: ReferenceStore, text: str) -> None:
    facts = [keep(store, "1", "Sarah likes tea."), keep(store, "22", text)]

    assert group_same(facts, {fact.id: np.array([1.0, 0.0]) for fact in facts}) == []


@pytest.mark.requirement("X1")
def test_scopes_are_separate(store: ReferenceStore) -> None:
    facts = [
        keep(store, "1", "Sarah likes tea."),
        keep(store, "22", "Sarah likes tea!", scope=DM),
    ]
    everything(store)

    assert groups(store) == set()
    assert group_same(facts, {}) == []


@pytest.mark.parametrize(
    ("speaker", "more", "times"),
    [
        ("bob", {}, 2),
        ("sarah", {}, 1),  # equal text of one person under another key
        ("scribe", {"role": "assistant", "trust": Trust.INFERRED}, 1),  # an agent may have read it
        ("bob", {"metadata": {SHARED_FROM: "0" * 32}}, 1),
    ],
)
def test_one_origin_counts_once(
    store: ReferenceStore, speaker: str, more: dict[str, Any], times: int
) -> None:
    keep(store, "1", "Sarah likes tea.", speaker="sarah")
    keep(store, "22", "Sarah likes tea.", speaker=speaker, **more)
    everything(store)

    (link,) = links(store)
    assert link.body["said"] == times
    assert link.trust is more.get("trust", Trust.DIRECT)


def test_representative_has_the_text_of_the_most_trusted(store: ReferenceStore) -> None:
    keep(store, "1", "Sarah likes tea.", speaker="sarah")
    guess: dict[str, Any] = {"role": "assistant", "trust": Trust.INFERRED}
    keep(store, "22", "Sarah really likes tea.", speaker="scribe", **guess)
    everything(store)

    (link,) = links(store)
    assert (link.text, link.trust) == ("Sarah likes tea.", Trust.INFERRED)


def test_paraphrased_decision_joins_by_vector(store: ReferenceStore) -> None:
    one = decide(store, "1", "We decided to use Redis for the cache.")
    two = decide(store, "22", "We agreed to use Redis for the cache.")
    decide(store, "333", "We decided to use Redis for the queue.")
    decide(store, "4444", "We decided not to use Redis for the cache.")
    decide(store, "55555", "We agreed to use Redis for the cache.", owner="bob")
    everything(store)

    assert groups(store) == {frozenset({one.id, two.id})}
    assert group_same([one, two], {}) == []
    far = {one.id: np.array([1, 0]), two.id: np.array([0, 1])}
    assert group_same([one, two], far) == []


def test_cosines_of_duplicates_are_calibrated(store: ReferenceStore) -> None:
    one = decide(store, "1", "We decided to use Redis for the cache.")
    two = decide(store, "22", "We agreed to use Redis for the cache.")
    vectors = {one.id: np.array([1.0, 0.0]), two.id: np.array([0.8, 0.6])}  # cosine 0.8

    plain, squeezed = (
        EmbeddingProfile(provider="p", model="m", dimension=2, revision=revision)
        for revision in ("1", "1;cosine=0.7..1")
    )

    assert group_same([one, two], vectors, plain) == [[one, two]]
    assert group_same([one, two], vectors, squeezed) == []


def test_duplicates_are_compared_with_the_range_of_their_vectors(store: ReferenceStore) -> None:
    one = decide(store, "1", "We decided to use Redis for the cache.")
    two = decide(store, "22", "We agreed to use Redis for the cache.")
    squeezed = EmbeddingProfile(provider="p", model="m", dimension=2, revision="1;cosine=0.7..1")
    rows = {one.id: np.array([1, 0], np.float32), two.id: np.array([0.8, 0.6], np.float32)}
    store.vectors.put(ACME, squeezed, rows)
    store.vectors.activate_profile(ACME, squeezed)

    everything(store)

    assert groups(store) == set()


PROMISE = {"kind": "action_item", "owner": "sarah", "due": "2026-01-09"}


@pytest.mark.parametrize("other", [{"owner": "bob"}, {"owner": "sarah and bob"}, {"due": None}])
def test_commitments_join_by_owner_and_day(store: ReferenceStore, other: dict[str, Any]) -> None:
    text = "Send the report to the bank."
    one = decide(store, "1", text, **PROMISE)
    two = decide(store, "22", text, **PROMISE)
    decide(store, "333", text, **{**PROMISE, **other})
    everything(store)

    assert groups(store) == {frozenset({one.id, two.id})}


def test_held_back_and_exact_facts_are_not_linked(store: ReferenceStore) -> None:
    exact = Fact(subject="Sarah", predicate="LIKES", value="tea", exact=True)
    for key in ("1", "22"):
        source = told(store, key, "Sarah likes tea.")
        for slot, fact, metadata in [("held", FACT, {"held_back": "why"}), ("exact", exact, {})]:
            draft = Draft(
                scope=ROOM,
                kind=MemoryKind.FACT,
                text="Sarah likes tea.",
                sources=(source,),
                slot=slot,
                learned=True,
                body=asdict(fact),
                metadata=metadata,
            )
            store.memories.put(ACME, [draft])
    everything(store)

    assert groups(store) == set()


TEXTS = ("Sarah likes tea.", "Sarah really likes tea.", "Sarah likes tea, Bob.", "Sarah likes cake")


@settings(max_examples=40)
@given(some.lists(some.sampled_from(TEXTS), min_size=2, max_size=7), some.randoms())
def test_order_and_repetition_do_not_matter(texts: list[str], draw: random.Random) -> None:
    def filled(order: list[int], *, at_once: bool) -> ReferenceStore:
        store = ReferenceStore()
        for place in order:
            keep(store, "k" * (place + 1), texts[place])
            if not at_once:
                everything(store)
        everything(store)
        return store

    order = list(range(len(texts)))
    shuffled = draw.sample(order, len(order))
    first, second = filled(order, at_once=True), filled(shuffled, at_once=False)
    assert links(first) == links(second)

    epoch = second.epoch(ADMIN)
    everything(second)
    assert second.epoch(ADMIN) == epoch


def test_remaining_members_get_a_new_representative(store: ReferenceStore) -> None:
    facts = [
        keep(store, key, text, speaker=who)
        for key, text, who in [
            ("1", "Sarah likes tea.", "ann"),
            ("22", "Sarah really likes tea.", "bob"),
            ("333", "Sarah likes tea!", "cleo"),
        ]
    ]
    everything(store)

    for count, gone in [(2, facts[1]), (None, facts[2])]:
        target = choose_target(store, ACME, {"event": gone.sources[0]})
        report = forget(store, ACME, target, now=NOON)
        assert report.derived_again == 0
        found = links(store)
        assert [link.body["said"] for link in found] == ([count] if count else [])
        assert not any(gone.id in link.sources for link in found)
    assert store.memories.get(ADMIN, [facts[0].id]) == [facts[0]]


def test_outdated_representative_is_repaired(store: ReferenceStore) -> None:
    one, two, three = (keep(store, "k" * n, "Sarah likes tea.", speaker=str(n)) for n in (1, 2, 3))
    everything(store)
    store.memories.delete(ACME, [two.id])

    everything(store)

    assert groups(store) == {frozenset({one.id, three.id})}
    assert find_links(store, ADMIN, [two.id], LinkRelation.SAME_AS) == {}


def test_job_continues_at_its_cursor(
    store: ReferenceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "BATCH_SIZE", 2)
    one = keep(store, "1", "Sarah likes tea.", speaker="a")
    store.jobs.ensure_recurring([RECURRING], now=NOON)
    keep(store, "22", "Sarah likes cake.", Fact(subject="S", predicate="LIKES", object="cake"))
    keep(store, "333", "Sarah runs.", Fact(subject="S", predicate="DOES", object="run"))
    assert run_to_the_end(store) == [2, 1]

    four = keep(store, "4444", "Sarah likes tea!", speaker="b")
    assert run_to_the_end(store)[0] == 1  # the others were processed before
    assert groups(store) == {frozenset({one.id, four.id})}


RECURRING = RecurringJob(name=job.CONSOLIDATE, every=15 * MINUTE)


def run_to_the_end(store: ReferenceStore) -> list[int]:
    """Return the number of processed memories of each step."""
    looked = []
    while True:
        (taken,) = filter(None, [store.jobs.claim_one(ACME, job.CONSOLIDATE, now=NOON)])
        step = job.consolidate(store, ACME, now=NOON, cursor=taken.cursor)
        store.jobs.finish([FinishedStep(job=taken, step=step)], now=NOON)
        looked.append(step.counts["looked_at"])
        if step.cursor is None:
            return looked


@pytest.mark.slow
@pytest.mark.parametrize("name", ["open", "kept_aside"])
def test_labelled_pairs_are_joined_without_false_positives(name: str) -> None:
    """Labelled pairs of messages with the built-in embedder: see bench/consolidate.py."""
    pairs = json.loads(PAIRS.read_text(encoding="utf-8"))["sets"][name]
    with Nexus.open(":memory:", background=False) as nexus:
        workspace, found = nexus.workspace("w"), []
        for number, pair in enumerate(pairs):
            room = workspace.room(f"r{number}", participants=["alice", "bob"])
            first = room.observe("alice", pair["one"])
            found.append({first.event_id, room.observe(pair["by"], pair["other"]).event_id})
        workspace.flush()
        store = nexus._parts.store
        after, counts = 0, {"looked_at": 1}
        while counts["looked_at"]:
            after, counts = consolidate_next(store, workspace.id, after=after)
        told = store.memories.find(workspace.admin_grant)
    same = [set(link.sources) for link in told if link.kind is MemoryKind.LINK]

    merged = [any(both <= link for link in same) for both in found]
    assert [p for p, m in zip(pairs, merged, strict=True) if m and not p["same"]] == []
    assert sum(merged) >= 0.75 * sum(pair["same"] for pair in pairs)
