"""A store that fails in the middle of a question: what was found by then is still an answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import pytest

from nexus import Nexus
from nexus.core.errors import StoreUnavailable
from nexus.stores.inprocess import InProcessMemories


@pytest.mark.requirement("X3")
def test_texts_that_cannot_be_read_are_missed_and_nothing_more(
    open_nexus: Callable[..., Nexus], monkeypatch: pytest.MonkeyPatch
) -> None:
    room = open_nexus().workspace("acme").room("design", participants=["alice"])
    room.observe("alice", "herons drink tea")

    def away(*_: Any) -> NoReturn:
        raise StoreUnavailable("gone in the middle of it")

    monkeypatch.setattr(InProcessMemories, "texts", away)
    found = room.recall("who drinks tea?")

    assert [hit.memory.text for hit in found.hits] == ["herons drink tea"]
    assert found.degraded == ("wording: gone in the middle of it",)
