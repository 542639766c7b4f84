"""How strong a memory is for somebody who asks."""

from __future__ import annotations

from datetime import datetime

from ..core.access import Grant
from ..core.derive import keyword_text
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
    return explained(state_of(memory, len(terms(keyword_text(memory))), use), now, curve)
