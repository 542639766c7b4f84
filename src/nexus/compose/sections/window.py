"""The last messages, as they were said."""

from __future__ import annotations

from ...core.context import Item
from ...core.filters import Condition, Op, every
from ...core.records import Event, EventKind
from ..asking import Asking, falling

SPOKEN = (EventKind.MESSAGE.value, EventKind.TOOL.value)


def last_events(asking: Asking, limit: int) -> tuple[Event, ...]:
    """The last messages of this place, oldest first."""
    here = asking.grant.within([asking.viewer.home])
    where = every([Condition("kind", Op.IN, SPOKEN), asking.until_then])
    return tuple(reversed(asking.store.ledger.find(here, where=where, limit=limit)))


def window(asking: Asking) -> list[Item]:
    """Those that the caller does not show already, oldest first."""
    events = [event for event in asking.events if event.id not in asking.shown]
    return [_item(asking, event, len(events) - 1 - place) for place, event in enumerate(events)]


def _item(asking: Asking, event: Event, from_the_end: int) -> Item:
    return Item(
        text=event.text,
        id=event.id,
        at=event.at,
        speaker=event.speaker,
        trust=event.trust,
        events=(event.id,),
        worth=falling(from_the_end, 0.97),
        why={"strategy": "window", "age_days": asking.age(event.at)},
    )
