"""Records that are made faster are the same records."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any

import pytest

from nexus.core.context import Item, made_item
from nexus.core.quick import open_for, quickly
from nexus.core.records import Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    name: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Base):
    score: float = 0.5
    why: dict[str, float] = field(default_factory=dict)


made_note = quickly(Note)
open_note = open_for(Note)


def test_it_is_the_record_it_would_be_otherwise() -> None:
    made, usual = made_note(name="a", score=0.1), Note(name="a", score=0.1)

    assert type(made) is Note
    assert (made, hash(made.tags), repr(made)) == (usual, hash(usual.tags), repr(usual))
    assert replace(made, name="b") == Note(name="b", score=0.1)
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == usual


@pytest.mark.parametrize("name", ["name", "score", "other"])
def test_it_does_not_change(name: str) -> None:
    made = made_note(name="a")

    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        setattr(made, name, "b")
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        delattr(made, name)
    assert made == Note(name="a")


def test_each_has_defaults_of_its_own() -> None:
    assert made_note(name="a").why is not made_note(name="a").why


def test_it_wants_what_the_record_wants() -> None:
    with pytest.raises(TypeError, match="name"):
        made_note(score=0.1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="other"):
        made_note(name="a", other=1)  # type: ignore[call-arg]


def test_one_that_is_set_by_hand_changes_until_it_is_whole() -> None:
    made = open_note()
    made.name, made.tags, made.score, made.why = "a", (), 0.1, {}
    made.name = "b"
    made.__class__ = Note

    assert (made, repr(made)) == (Note(name="b", score=0.1), repr(Note(name="b", score=0.1)))
    with pytest.raises(FrozenInstanceError):
        made.name = "c"
    with pytest.raises(FrozenInstanceError):
        del made.name


def test_an_item_is_the_one_it_would_be_otherwise() -> None:
    told: dict[str, Any] = {"text": "Tea.", "id": "1", "at": None, "speaker": "ada"}
    told |= {"trust": Trust.DIRECT, "events": ("e",), "worth": 0.5, "why": {"kind": "x"}}
    rest = {"scope": "user:ada", "tokens": 3, "line": "- Tea.", "words": "tea"}

    for each in (told, told | rest):
        made, usual = made_item(**each), Item(**each)
        assert type(made) is Item
        assert made == usual
        assert (made.line, made.words) == (usual.line, usual.words)  # which are not compared
