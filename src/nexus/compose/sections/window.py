"""The last messages, as they were said."""

from __future__ import annotations

from ...core.context import Item
from ...core.fence import unfenced
from ...core.records import Event
from ..asking import Asking, falling


def window(asking: Asking) -> list[Item]:
    """Those that the caller does not show already, oldest first."""
    events = [event for event in asking.view.events if event.id not in asking.shown]
    items = [_item(asking, event, len(events) - 1 - place) for place, event in enumerate(events)]
    return [item for item in items if item.text]


def _item(asking: Asking, event: Event, from_the_end: int) -> Item:
    return Item(
        text=unfenced(event.text),
        id=event.id,
        at=event.at,
        speaker=event.speaker,
        trust=event.trust,
        events=(event.id,),
        worth=falling(from_the_end, 0.97),
        why={"strategy": "window", "age_days": asking.age(event.at)},
    )
