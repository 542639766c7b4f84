"""Records that are made faster are the same records."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace

import pytest

from nexus.core.quick import quickly


@dataclass(frozen=True, slots=True, kw_only=True)
class Base:
    name: str
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Note(Base):
    score: float = 0.5
    why: dict[str, float] = field(default_factory=dict)


made_note = quickly(Note)


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
