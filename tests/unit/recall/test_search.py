"""Selection of hits: duplicates across scopes are folded."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from nexusmem.core.records import MemoryKind
from nexusmem.core.scope import Scope
from nexusmem.recall.search import _HitSelection
from nexusmem.text.terms import normalize_words

SCOPES = [Scope.room("here"), Scope.room("there"), Scope.room("other")]
TEXTS = ["It is late.", "it is LATE", "Early!", "early", "Noon"]

memories = st.builds(
    lambda text, scope, event: SimpleNamespace(
        kind=MemoryKind.PASSAGE,
        text=text,
        scope=scope,
        label=frozenset({scope}),
        slot="",
        sources=(event,),
        thread=None,
    ),
    st.sampled_from(TEXTS),
    st.sampled_from(SCOPES),
    st.integers(0, 9).map(str),
)


def select_naively(ranked: list[Any]) -> list[Any]:
    """Reference: the first scope of a text wins, and the first passage of an event."""
    scope_by_text: dict[str, Scope] = {}
    best: dict[Any, Any] = {}
    for each in ranked:
        if scope_by_text.setdefault(normalize_words(each.text), each.scope) == each.scope:
            best.setdefault(each.sources, each)
    return list(best.values())


@given(st.lists(memories, max_size=20))
def test_duplicate_texts_of_several_scopes_are_selected_once(ranked) -> None:
    chosen = _HitSelection(per_conversation=0)
    for each in ranked:
        chosen.try_add(each, each)

    assert [memory for _, memory in chosen.hits_by_source.values()] == select_naively(ranked)
