"""Fast record constructors create the same records as the dataclasses."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from typing import Any

import pytest

from nexusmem.core.json_codec import fast_constructor, unfrozen_factory
from nexusmem.core.records import Trust
from nexusmem.core.records.context import ContextItem, make_item


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    name: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Base):
    score: float = 0.5
    why: dict[str, float] = field(default_factory=dict)


made_note = fast_constructor(Note)
open_note = unfrozen_factory(Note)


def test_record_equals_the_dataclass_instance() -> None:
    made, usual = made_note(name="a", score=0.1), Note(name="a", score=0.1)

    assert type(made) is Note
    assert (made, hash(made.tags), repr(made)) == (usual, hash(usual.tags), repr(usual))
    assert replace(made, name="b") == Note(name="b", score=0.1)
    assert pickle.loads(pickle.dumps(made)) == copy.copy(made) == usual


@pytest.mark.parametrize("name", ["name", "score", "other"])
def test_record_is_frozen(name: str) -> None:
    made = made_note(name="a")

    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        setattr(made, name, "b")
    with pytest.raises((FrozenInstanceError, AttributeError, TypeError)):
        delattr(made, name)
    assert made == Note(name="a")


def test_default_factories_are_not_shared() -> None:
    assert made_note(name="a").why is not made_note(name="a").why


def test_missing_or_unknown_field_raises() -> None:
    with pytest.raises(TypeError, match="name"):
        made_note(score=0.1)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="other"):
        made_note(name="a", other=1)  # type: ignore[call-arg]


def test_unfrozen_record_is_mutable_until_frozen() -> None:
    made = open_note()
    made.name, made.tags, made.score, made.why = "a", (), 0.1, {}
    made.name = "b"
    made.__class__ = Note

    assert (made, repr(made)) == (Note(name="b", score=0.1), repr(Note(name="b", score=0.1)))
    with pytest.raises(FrozenInstanceError):
        made.name = "c"
    with pytest.raises(FrozenInstanceError):
        del made.name


def test_make_item_equals_the_dataclass_instance() -> None:
    told: dict[str, Any] = {"text": "Tea.", "id": "1", "at": None, "speaker": "ada"}
    told |= {"trust": Trust.DIRECT, "events": ("e",), "worth": 0.5, "why": {"kind": "x"}}
    rest = {"scope": "user:ada", "tokens": 3, "line": "- Tea.", "words": "tea"}

    for each in (told, told | rest):
        made, usual = make_item(**each), ContextItem(**each)
        assert type(made) is ContextItem
        assert made == usual
        assert (made.line, made.words) == (usual.line, usual.words)  # fields without comparison
