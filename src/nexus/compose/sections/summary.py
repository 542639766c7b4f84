"""This session so far, in its own sentences: what the window no longer shows."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.context import Item, made_item
from ...core.window import Line
from ..asking import Asking, falling


def summary(asking: Asking) -> list[Item]:
    """Decisions and action items are worth most; then the newest sentences. Oldest first."""
    told = asking.view.summary
    pinned = [*told.decisions, *told.action_items]
    items = {
        item.id: item
        for item in (
            *_items(asking, told.lines, 0.8),
            *_items(asking, told.decisions, 1.0, "decision"),
            *_items(asking, told.action_items, 1.0, "action item"),
        )
    }
    when = {_id(line): (line.at, line.event, line.place) for line in (*told.lines, *pinned)}
    return sorted(items.values(), key=lambda item: when[item.id])


def _items(
    asking: Asking, lines: tuple[Line, ...], worth: float, kind: str | None = None
) -> Iterator[Item]:
    named = {"kind": kind} if kind else {}
    for place, line in enumerate(reversed(lines)):
        yield made_item(
            text=line.text,
            id=_id(line),
            at=line.at,
            speaker=line.speaker,
            trust=line.trust,
            events=(line.event,),
            worth=worth * falling(place, 0.97),
            why={"strategy": "summary", "age_days": asking.age(line.at), **named},
        )


def _id(line: Line) -> str:
    """A sentence of an event: told apart by where it stands in it."""
    return f"{line.event}:{line.place}"
