"""Merging of the drafts of rules and model."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.making import NOON, ROOM, memory

from nexusmem.core.records import Draft, Fact, MemoryKind
from nexusmem.core.scope import Scope
from nexusmem.learn.model_pass.merge import (
    draft_from_memory,
    draft_makers,
    mark_maker,
    merge_drafts,
)

MODEL = "one_pass@1:abc"


def fact(maker: str = "rules", confidence: float = 0.85, **more: Any) -> Draft:
    told = {"subject": "alice", "predicate": "LIVES_IN", "object": "Rome"}
    parts = {"sources", "scope", "text", "valid_from", "valid_to"}
    rest = {name: more.pop(name) for name in parts & more.keys()}
    said = Fact(**{**told, **more})
    body = {name: getattr(said, name) for name in Fact.__slots__}
    return draft(MemoryKind.FACT, maker, slot=str(body), body=body, confidence=confidence, **rest)


def landmark(text: str, maker: str = "rules", kind: str = "decision", **more: Any) -> Draft:
    body = {"kind": kind, "owner": None}
    return draft(MemoryKind.LANDMARK, maker, text=text, slot=text, body=body, **more)


def label(text: str, maker: str = "rules", **more: Any) -> Draft:
    return draft(MemoryKind.EPISODE, maker, text=text, slot="turn", body={"label": text}, **more)


def draft(kind: MemoryKind, maker: str, **more: Any) -> Draft:
    told = {"scope": ROOM, "text": "So.", "sources": ("e1",), "metadata": {"made_by": [maker]}}
    return Draft(kind=kind, learned=True, **{**told, **more})


def test_equal_facts_have_both_makers_and_the_higher_confidence() -> None:
    said = fact(text="Alice lives in Rome.")

    (both,) = merge_drafts(
        [said], [fact(MODEL, 0.95, subject="Alice", object="rome", text="In Rome.")]
    )

    assert draft_makers(both) == ["rules", MODEL]
    assert both.confidence == 0.95
    assert (both.id, both.text, both.body) == (said.id, said.text, said.body)


def test_lower_confidence_of_the_model_is_ignored() -> None:
    (both,) = merge_drafts([fact(confidence=0.95)], [fact(MODEL, 0.5)])

    assert both.confidence == 0.95


@pytest.mark.parametrize(
    "other",
    [
        {"object": "Paris"},
        {"subject": "bob"},
        {"predicate": "VISITED"},
        {"aspect": "color"},
        {"negated": True},
        {"sources": ("e2",)},
        {"scope": Scope.room("garden")},
    ],
    ids=str,
)
def test_different_facts_are_both_stored(other: dict[str, Any]) -> None:
    rules, model = fact(), fact(MODEL, **other)

    assert merge_drafts([rules], [model]) == [rules, model]


def test_value_and_object_with_equal_text_are_equal() -> None:
    assert len(merge_drafts([fact()], [fact(MODEL, object=None, value="Rome")])) == 1


def test_shared_source_is_enough_to_join() -> None:
    (both,) = merge_drafts([fact()], [fact(MODEL, sources=("e2", "e1"))])

    assert both.sources == ("e1",)


def test_validity_of_the_model_fills_a_gap() -> None:
    later = NOON + timedelta(days=1)

    (dated,) = merge_drafts([fact()], [fact(MODEL, valid_from=NOON)])
    (kept,) = merge_drafts([fact(valid_from=later)], [fact(MODEL, valid_from=NOON, valid_to=later)])

    assert (dated.valid_from, kept.valid_from, kept.valid_to) == (NOON, later, None)


def test_landmarks_join_by_kind_and_words() -> None:
    rules = landmark("We decided to use PostgreSQL.")
    same = landmark("Alice decided on PostgreSQL.", MODEL)
    another = landmark("Bob decided to leave early.", MODEL)
    task = landmark("We decided to use PostgreSQL.", MODEL, kind="action_item")

    both, *beside = merge_drafts([rules], [same, another, task])

    assert (both.id, draft_makers(both)) == (rules.id, ["rules", MODEL])
    assert beside == [another, task]


def test_label_gets_the_text_of_the_model_and_both_makers() -> None:
    rules = label("Alice said: “Postgres”")
    model = label("Alice chose PostgreSQL.", MODEL, sources=("e1", "e0"))

    (both,) = merge_drafts([rules], [model])

    assert (both.text, both.body) == (model.text, model.body)
    assert draft_makers(both) == ["rules", MODEL]
    assert both.sources == ("e1", "e0")


@pytest.mark.parametrize("turned", [False, True])
def test_second_label_of_a_turn_is_dropped(turned: bool) -> None:
    """A crash between writing the new label and deleting the old one leaves two labels."""
    old, new = label("Alice said so."), label("Alice agreed.", MODEL, sources=("e1", "e0"))
    kept = [new, old] if turned else [old, new]

    (both,) = merge_drafts(kept, [label("Alice agreed.", MODEL, sources=("e1", "e0"))])

    assert both.text == "Alice agreed."
    assert both.id == new.id


def test_labels_of_two_turns_stay_two() -> None:
    rules, model = label("one"), label("two", MODEL, sources=("e2", "e1"))

    assert merge_drafts([rules], [model]) == [rules, model]


def test_other_kinds_are_unchanged() -> None:
    name = draft(MemoryKind.ENTITY, "rules", body={"name": "alice"})

    assert merge_drafts([name], []) == [name]
    assert merge_drafts([], [fact(MODEL)]) == [fact(MODEL)]


def test_second_model_joins_the_first() -> None:
    (both,) = merge_drafts([fact()], [fact(MODEL), fact("two@1:x")])

    assert draft_makers(both) == ["rules", MODEL, "two@1:x"]


def test_memory_converts_back_to_its_draft() -> None:
    kept = memory(kind=MemoryKind.FACT, metadata={"made_by": ["rules"]}, learned=True)

    drafted = draft_from_memory(kept)

    assert (drafted.id, drafted.at, draft_makers(drafted)) == (kept.id, kept.at, ["rules"])


def test_drafts_can_be_marked_with_a_maker() -> None:
    assert [draft_makers(each) for each in mark_maker([fact()], MODEL)] == [[MODEL]]
