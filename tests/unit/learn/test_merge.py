"""What the rules and a model both say is one memory, and keeps both makers."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.making import NOON, ROOM, memory

from nexus.core.records import Draft, Fact, MemoryKind
from nexus.core.scope import Scope
from nexus.learn.one_pass import draft_of, made_by, makers_of, merged

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


def test_what_both_say_is_one_with_both_makers_and_the_higher_confidence() -> None:
    said = fact(text="Alice lives in Rome.")

    (both,) = merged([said], [fact(MODEL, 0.95, subject="Alice", object="rome", text="In Rome.")])

    assert makers_of(both) == ["rules", MODEL]
    assert both.confidence == 0.95
    assert (both.id, both.text, both.body) == (said.id, said.text, said.body)


def test_less_certainty_takes_nothing_away() -> None:
    (both,) = merged([fact(confidence=0.95)], [fact(MODEL, 0.5)])

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
def test_what_only_one_says_stands_beside(other: dict[str, Any]) -> None:
    rules, model = fact(), fact(MODEL, **other)

    assert merged([rules], [model]) == [rules, model]


def test_a_value_and_an_object_of_the_same_words_are_the_same() -> None:
    assert len(merged([fact()], [fact(MODEL, object=None, value="Rome")])) == 1


def test_a_model_that_rests_on_more_turns_joins_what_the_rules_rest_on() -> None:
    (both,) = merged([fact()], [fact(MODEL, sources=("e2", "e1"))])

    assert both.sources == ("e1",)


def test_a_time_only_the_model_has_is_taken() -> None:
    later = NOON + timedelta(days=1)

    (dated,) = merged([fact()], [fact(MODEL, valid_from=NOON)])
    (kept,) = merged([fact(valid_from=later)], [fact(MODEL, valid_from=NOON, valid_to=later)])

    assert (dated.valid_from, kept.valid_from, kept.valid_to) == (NOON, later, None)


def test_landmarks_are_the_same_if_kind_and_words_are() -> None:
    rules = landmark("We decided to use PostgreSQL.")
    same = landmark("Alice decided on PostgreSQL.", MODEL)
    another = landmark("Bob decided to leave early.", MODEL)
    task = landmark("We decided to use PostgreSQL.", MODEL, kind="action_item")

    both, *beside = merged([rules], [same, another, task])

    assert (both.id, makers_of(both)) == (rules.id, ["rules", MODEL])
    assert beside == [another, task]


def test_a_label_gets_the_models_words_and_keeps_both_makers() -> None:
    rules = label("Alice said: “Postgres”")
    model = label("Alice chose PostgreSQL.", MODEL, sources=("e1", "e0"))

    (both,) = merged([rules], [model])

    assert (both.text, both.body) == (model.text, model.body)
    assert makers_of(both) == ["rules", MODEL]
    assert both.sources == ("e1", "e0")


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_labels_of_a_turn_one_is_kept(turned: bool) -> None:
    """As after a kill between writing the new one and deleting the old one, or a second reading."""
    old, new = label("Alice said so."), label("Alice agreed.", MODEL, sources=("e1", "e0"))
    kept = [new, old] if turned else [old, new]

    (both,) = merged(kept, [label("Alice agreed.", MODEL, sources=("e1", "e0"))])

    assert both.text == "Alice agreed."
    assert both.id == new.id


def test_labels_of_two_turns_are_two() -> None:
    rules, model = label("one"), label("two", MODEL, sources=("e2", "e1"))

    assert merged([rules], [model]) == [rules, model]


def test_other_kinds_are_left_as_they_are() -> None:
    name = draft(MemoryKind.ENTITY, "rules", body={"name": "alice"})

    assert merged([name], []) == [name]
    assert merged([], [fact(MODEL)]) == [fact(MODEL)]


def test_a_second_model_joins_the_first() -> None:
    (both,) = merged([fact()], [fact(MODEL), fact("two@1:x")])

    assert makers_of(both) == ["rules", MODEL, "two@1:x"]


def test_a_memory_is_a_draft_again() -> None:
    kept = memory(kind=MemoryKind.FACT, metadata={"made_by": ["rules"]}, learned=True)

    drafted = draft_of(kept)

    assert (drafted.id, drafted.at, makers_of(drafted)) == (kept.id, kept.at, ["rules"])


def test_drafts_can_be_put_under_a_models_name() -> None:
    assert [makers_of(each) for each in made_by([fact()], MODEL)] == [[MODEL]]
