"""Which of what was found stands for what is said several times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nexus.core.records import MemoryKind
from nexus.core.scope import Scope
from nexus.core.text import words_alone
from nexus.recall.answer import _Chosen

SCOPES = [Scope.room("here"), Scope.room("there"), Scope.room("elsewhere")]
TEXTS = ["It is late.", "it is LATE", "Early!", "early", "Noon"]

memories = st.builds(
    lambda text, scope, event: SimpleNamespace(
        kind=MemoryKind.PASSAGE, text=text, scope=scope, sources=(event,), thread=None
    ),
    st.sampled_from(TEXTS),
    st.sampled_from(SCOPES),
    st.integers(0, 9).map(str),
)


def word_by_word(found: list[Any]) -> list[Any]:
    """Who says something first stands for it in all places, and each event for its pieces."""
    told: dict[str, Scope] = {}
    best: dict[Any, Any] = {}
    for each in found:
        if told.setdefault(words_alone(each.text), each.scope) == each.scope:
            best.setdefault(each.sources, each)
    return list(best.values())


@given(st.lists(memories, max_size=20))
def test_what_is_said_in_two_places_is_told_once(found) -> None:
    chosen = _Chosen(per_conversation=0)
    for each in found:
        chosen.look_at(each, each)

    assert [memory for _, memory in chosen.best.values()] == word_by_word(found)
