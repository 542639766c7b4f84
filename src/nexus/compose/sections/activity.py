"""What happened today: what was talked about, and what came of it."""

from __future__ import annotations

from dataclasses import replace

from ...core.context import Item
from ...core.records import Memory, MemoryKind
from ..asking import Asking, falling

MOST = 200
SHOWN = 40
KINDS = (MemoryKind.EPISODE, MemoryKind.LANDMARK)


def activity(asking: Asking) -> list[Item]:
    """Today's headlines and landmarks, in order; the newest are worth most."""
    day = asking.now.replace(hour=0, minute=0, second=0, microsecond=0)
    ids = asking.store.memories.between(asking.grant, day, asking.now, limit=MOST, learned=True)
    memories = asking.brought_up(asking.store.memories.get(asking.grant, ids))
    newest = [each for each in memories if each.kind in KINDS][:SHOWN]
    return [_item(asking, memory, place) for place, memory in enumerate(newest)][::-1]


def _item(asking: Asking, memory: Memory, place: int) -> Item:
    kind = str(memory.body.get("kind") or memory.body.get("span") or memory.kind.value)
    made = asking.item(memory, 0.6 * falling(place, 0.97), strategy="today", kind=kind)
    label = memory.body.get("label")
    return replace(made, text=label) if isinstance(label, str) and label else made
