"""The last messages, as they were said."""

from __future__ import annotations

from ...core.context import Item, made_item
from ...core.fence import unfenced
from ...core.records import Event
from ..asking import Asking, falling


def window(asking: Asking) -> list[Item]:
    """Those that the caller does not show already, oldest first."""
    events = [(event.id, event) for event in asking.view.events]
    if asking.shown:
        events = [(id, event) for id, event in events if id not in asking.shown]
    last = len(events) - 1
    items = [_item(asking, *each, last - place) for place, each in enumerate(events)]
    return [item for item in items if item.text]


def _item(asking: Asking, id: str, event: Event, from_the_end: int) -> Item:
    return made_item(
        text=unfenced(event.text),
        id=id,
        at=event.at,
        speaker=event.speaker,
        trust=event.trust,
        events=(id,),
        worth=falling(from_the_end, 0.97),
        why={"strategy": "window", "age_days": asking.age(event.at)},
    )
