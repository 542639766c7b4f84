"""How strong a memory is for somebody who asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from ..core.access import Grant
from ..core.derive import keyword_text
from ..core.links import Relation, links_of
from ..core.protocols import Store
from ..core.records import Memory
from ..core.states import state_of
from ..core.strength import Strength, explained
from ..core.text import terms
from ..core.uses import UNUSED


def strength_of(
    store: Store, grant: Grant, memory: Memory, *, now: datetime, curve: str
) -> Strength:
    """With the uses this viewer may know of: those in places that can be read from here."""
    use = store.uses.of(grant, [memory.id]).get(memory.id, UNUSED)
    link = links_of(store, grant, [memory.id], Relation.USER_WIDE).get(memory.id)
    state = state_of(memory, len(terms(keyword_text(memory))), use)
    return replace(explained(state, now, curve), promoted_to=str(link.scope) if link else None)
