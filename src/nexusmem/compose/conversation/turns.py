"""Turns before a question: the last messages of the caller, else those of the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

from ...observe.chat_messages import list_event_ids
from ...text.terms import normalize_words

if TYPE_CHECKING:
    from ...core.access import Viewer
    from ...core.records import Event
    from ..request import ContextRequest

TURN_ROLES = ("user", "assistant")
MAX_TURNS = 4  # turns before the question that are read


@dataclass(frozen=True, slots=True)
class Turn:
    """A message before the question."""

    text: str
    is_user: bool = True
    load_ids: Callable[[], tuple[str, ...]] = tuple  # ids of the events that may hold it


def list_turns(request: ContextRequest, viewer: Viewer, events: Sequence[Event]) -> list[Turn]:
    """Return the last turns before the question: of the caller's messages, else of the window."""
    messages = request.messages
    asked = max((at for at, each in enumerate(messages) if each.role == "user"), default=0)
    before = [at for at in range(asked) if messages[at].role in TURN_ROLES][-MAX_TURNS:]
    if before:
        ids = cache(lambda: list_event_ids(messages, viewer, request.thread))
        return [
            Turn(
                messages[at].text,
                messages[at].role == "user",
                partial(_find_event_ids, messages[at].text, events, ids, at),
            )
            for at in before
        ]
    recent = [
        event
        for event in events
        if event.role in TURN_ROLES
        and event.text != request.question
        and request.thread in (None, event.thread)
    ]
    return [
        Turn(event.text, event.role == "user", partial(_as_tuple, event.id))
        for event in recent[-MAX_TURNS:]
    ]


def _find_event_ids(
    text: str, events: Sequence[Event], load_ids: Callable[[], list[str]], at: int
) -> tuple[str, ...]:
    """Return the id of a recorded message, and those of the events of the window that say it."""
    words = normalize_words(text)
    same = (event.id for event in events if normalize_words(event.text) == words)
    return tuple(dict.fromkeys([load_ids()[at], *same]))


def _as_tuple(id: str) -> tuple[str, ...]:
    return (id,)
