"""Who is here: what they prefer, know and do, as far as one may know in this place."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.context import Item
from ...core.records import Memory, Trust
from ...recall.profile import Entry, Profile, profiles
from ..asking import MOST_PINNED, Asking, falling, said

MOST_PEOPLE = 4
MOST_OFFERED = 8  # of a part of somebody's profile: more would never fit
ENOUGH = 15  # messages, for how somebody writes: of fewer, each new one could tell otherwise
PARTS = {"preferences": 1.0, "expertise": 0.8, "about": 0.8, "patterns": 0.5}


def people(asking: Asking) -> list[Item]:
    """What holds of everybody here, preferences first.

    How they write is counted in the last messages, which are at hand.
    """
    here = [person.value for person in asking.viewer.people[:MOST_PEOPLE]]
    messages = asking.view.events
    known = profiles(
        asking.store,
        asking.grant,
        here,
        now=asking.now,
        messages=messages,
        landmarks=_landmarks(asking),
        fewest=ENOUGH,
        stated=False,
    )
    return [item for each in known for item in _items(asking, each)]


def _landmarks(asking: Asking) -> list[Memory] | None:
    """All of them; None, if there may be more than were read."""
    return asking.landmarks if len(asking.landmarks) < MOST_PINNED else None


def _items(asking: Asking, known: Profile) -> Iterator[Item]:
    for part, worth in PARTS.items():
        entries = [entry for entry in getattr(known, part) if asking.brought_up([entry.memory])]
        for place, entry in enumerate(entries[:MOST_OFFERED]):
            yield _item(asking, entry, part, worth * falling(place))
    if known.style.messages >= ENOUGH and not asking.replayed:  # counted in messages of today
        yield Item(
            text=f"{known.person} {', '.join(known.style.traits)}.",
            id=f"style:{known.person}",
            trust=Trust.INFERRED,
            worth=0.4,
            why={"strategy": "style"},
        )


def _item(asking: Asking, entry: Entry, part: str, worth: float) -> Item:
    sure = entry.confidence
    times = said(entry.link)
    return asking.item(
        entry.memory, worth * sure, strategy="profile", part=part, confidence=sure, **times
    )
