"""The same thing said again: what is alike, who stands for it, and that nothing else changes."""

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

from nexus import Nexus
from nexus.core.access import administrator_grant
from nexus.core.jobs import Done, Recurring
from nexus.core.links import Relation, links_of
from nexus.core.records import Draft, Fact, Memory, MemoryKind, Trust
from nexus.core.sharing import SHARED_FROM
from nexus.embedders.hashing import HashingEmbedder
from nexus.maintain import consolidate as job
from nexus.maintain.alike import same_in
from nexus.maintain.consolidate import look_on
from nexus.maintain.forget import choose_target, forget
from nexus.stores.inprocess import InProcessStore

ADMIN = administrator_grant(ACME)
MINUTE = timedelta(minutes=1)
PAIRS = Path(__file__).parents[3] / "bench" / "consolidate" / "pairs.json"
FACT = Fact(subject="Sarah", predicate="LIKES", object="tea")


def told(store: InProcessStore, key: str, text: str, **more: Any) -> str:
    said = event(text, key=key, at=NOON + len(key) * MINUTE, **more)
    return store.ledger.append(ACME, [said], recorded_at=said.at)[0].event_id


def keep(store: InProcessStore, key: str, text: str, fact: Fact = FACT, **more: Any) -> Memory:
    """A fact that was learned from a message with these words."""
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


def decide(store: InProcessStore, key: str, text: str, **body: Any) -> Memory:
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


def everything(store: InProcessStore) -> None:
    after = 0
    while True:
        after, counts = look_on(store, ACME, after=after, limit=3)
        if not counts["looked_at"]:
            return


def links(store: InProcessStore) -> list[Memory]:
    return [each for each in store.memories.find(ADMIN) if each.kind is MemoryKind.LINK]


def groups(store: InProcessStore) -> set[frozenset[str]]:
    return {frozenset(link.body["members"]) for link in links(store)}


@pytest.fixture
def store() -> InProcessStore:
    return InProcessStore()


@pytest.mark.requirement("D11", "D26", "E25")
def test_what_is_said_again_has_one_representative_and_stays(store: InProcessStore) -> None:
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
def test_what_differs_is_not_the_same(store: InProcessStore, what: str) -> None:
    keep(store, "1", "Sarah likes tea.")
    keep(store, "22", "Sarah likes tea!", Fact(**{**asdict(FACT), **DIFFERENT[what]}))
    everything(store)

    assert groups(store) == set()


@pytest.mark.parametrize("text", IN_THE_TEXT)
def test_what_only_the_words_say_is_not_lost(store: InProcessStore, text: str) -> None:
    keep(store, "1", "Sarah likes tea.")
    keep(store, "22", text)
    keep(store, "333", "Sarah likes tea.", valid_from=NOON)
    everything(store)

    assert groups(store) == set()


@pytest.mark.parametrize("text", IN_THE_TEXT)
def test_no_vector_joins_what_the_words_tell_apart(store: InProcessStore, text: str) -> None:
    facts = [keep(store, "1", "Sarah likes tea."), keep(store, "22", text)]

    assert same_in(facts, {fact.id: np.array([1.0, 0.0]) for fact in facts}) == []


@pytest.mark.requirement("X1")
def test_places_are_told_apart(store: InProcessStore) -> None:
    facts = [
        keep(store, "1", "Sarah likes tea."),
        keep(store, "22", "Sarah likes tea!", scope=DM),
    ]
    everything(store)

    assert groups(store) == set()
    assert same_in(facts, {}) == []


@pytest.mark.parametrize(
    ("speaker", "more", "times"),
    [
        ("bob", {}, 2),
        ("sarah", {}, 1),  # the same words of the same person, under another key
        ("scribe", {"role": "assistant", "trust": Trust.INFERRED}, 1),  # who may have read it
        ("bob", {"metadata": {SHARED_FROM: "0" * 32}}, 1),
    ],
)
def test_one_origin_counts_once(
    store: InProcessStore, speaker: str, more: dict[str, Any], times: int
) -> None:
    keep(store, "1", "Sarah likes tea.", speaker="sarah")
    keep(store, "22", "Sarah likes tea.", speaker=speaker, **more)
    everything(store)

    (link,) = links(store)
    assert link.body["said"] == times
    assert link.trust is more.get("trust", Trust.DIRECT)


def test_it_is_told_in_the_words_of_the_most_trusted(store: InProcessStore) -> None:
    keep(store, "1", "Sarah likes tea.", speaker="sarah")
    guess: dict[str, Any] = {"role": "assistant", "trust": Trust.INFERRED}
    keep(store, "22", "Sarah really likes tea.", speaker="scribe", **guess)
    everything(store)

    (link,) = links(store)
    assert (link.text, link.trust) == ("Sarah likes tea.", Trust.INFERRED)


def test_a_decision_in_other_words_is_the_same_if_its_vector_says_so(store: InProcessStore) -> None:
    one = decide(store, "1", "We decided to use Redis for the cache.")
    two = decide(store, "22", "We agreed to use Redis for the cache.")
    decide(store, "333", "We decided to use Redis for the queue.")
    decide(store, "4444", "We decided not to use Redis for the cache.")
    decide(store, "55555", "We agreed to use Redis for the cache.", owner="bob")
    everything(store)

    assert groups(store) == {frozenset({one.id, two.id})}
    assert same_in([one, two], {}) == []
    far = {one.id: np.array([1, 0]), two.id: np.array([0, 1])}
    assert same_in([one, two], far) == []


PROMISE = {"kind": "action_item", "owner": "sarah", "due": "2026-01-09"}


@pytest.mark.parametrize("other", [{"owner": "bob"}, {"owner": "sarah and bob"}, {"due": None}])
def test_a_promise_is_the_same_if_it_is_somebodys_for_the_same_day(
    store: InProcessStore, other: dict[str, Any]
) -> None:
    text = "Send the report to the bank."
    one = decide(store, "1", text, **PROMISE)
    two = decide(store, "22", text, **PROMISE)
    decide(store, "333", text, **{**PROMISE, **other})
    everything(store)

    assert groups(store) == {frozenset({one.id, two.id})}


def test_what_is_held_back_or_exact_stands_for_itself(store: InProcessStore) -> None:
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
def test_neither_order_nor_repetition_matters(texts: list[str], draw: random.Random) -> None:
    def filled(order: list[int], *, at_once: bool) -> InProcessStore:
        store = InProcessStore()
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


def test_when_one_of_them_is_forgotten_the_rest_has_its_own(store: InProcessStore) -> None:
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


def test_what_was_learned_otherwise_since_is_put_right(store: InProcessStore) -> None:
    one, two, three = (keep(store, "k" * n, "Sarah likes tea.", speaker=str(n)) for n in (1, 2, 3))
    everything(store)
    store.memories.delete(ACME, [two.id])

    everything(store)

    assert groups(store) == {frozenset({one.id, three.id})}
    assert links_of(store, ADMIN, [two.id], Relation.SAME_AS) == {}


def test_the_job_goes_on_where_it_was(
    store: InProcessStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(job, "AT_ONCE", 2)
    one = keep(store, "1", "Sarah likes tea.", speaker="a")
    store.jobs.plant([RECURRING], now=NOON)
    keep(store, "22", "Sarah likes cake.", Fact(subject="S", predicate="LIKES", object="cake"))
    keep(store, "333", "Sarah runs.", Fact(subject="S", predicate="DOES", object="run"))
    assert run_to_the_end(store) == [2, 1]

    four = keep(store, "4444", "Sarah likes tea!", speaker="b")
    assert run_to_the_end(store)[0] == 1  # the others were looked at before
    assert groups(store) == {frozenset({one.id, four.id})}


RECURRING = Recurring(name=job.CONSOLIDATE, every=15 * MINUTE)


def run_to_the_end(store: InProcessStore) -> list[int]:
    """How many were looked at in each step."""
    looked = []
    while True:
        (taken,) = filter(None, [store.jobs.take(ACME, job.CONSOLIDATE, now=NOON)])
        step = job.consolidate(store, ACME, now=NOON, cursor=taken.cursor)
        store.jobs.finish([Done(job=taken, step=step)], now=NOON)
        looked.append(step.counts["looked_at"])
        if step.cursor is None:
            return looked


@pytest.mark.slow
@pytest.mark.parametrize("name", ["open", "kept_aside"])
def test_of_what_is_found_to_be_the_same_nothing_is_not(name: str) -> None:
    """Pairs of messages, by rules and the embedder that comes along: see bench/consolidate.py."""
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
            after, counts = look_on(store, workspace.id, after=after)
        told = store.memories.find(workspace.administrator)
    same = [set(link.sources) for link in told if link.kind is MemoryKind.LINK]

    merged = [any(both <= link for link in same) for both in found]
    assert [p for p, m in zip(pairs, merged, strict=True) if m and not p["same"]] == []
    assert sum(merged) >= 0.75 * sum(pair["same"] for pair in pairs)
