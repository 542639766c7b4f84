"""What was put before a model in a place lately, kept in its window as digests."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from ..core.access import administrator_grant
from ..core.errors import Unavailable
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.scope import Scope
from ..core.window import IDLE, Slot, WindowItem
from .immune import NOTHING_INJECTED, Injected, digests_of


def injected_item(
    scope: Scope,
    id: str,
    text: str,
    *,
    rests_on: Iterable[str],
    people: Iterable[str] = (),
    now: datetime,
) -> WindowItem:
    """A context's text as digests. They go when one of those it rests on is forgotten.

    Another viewer of the place may reach less than this one: nobody is shown them.
    """
    return WindowItem(
        scope=scope,
        slot=Slot.INJECTED,
        key=id,
        value=[*sorted(digests_of(text))],
        at=now,
        expires_at=now + IDLE,
        rests_on=tuple(dict.fromkeys(rests_on)),
        people=tuple(people),
        beside=(Scope.worker(),),
    )


def injected_in(store: Store, workspace: WorkspaceId, scope: Scope, *, now: datetime) -> Injected:
    """What was injected in this one place; nothing is known of it while the window is away.

    Learning does not wait for that: fenced blocks, and what repeats the messages before it, are
    recognised without it.
    """
    grant = administrator_grant(workspace).within([scope, Scope.worker()])
    try:
        found = store.window.find(grant, slots=[Slot.INJECTED], now=now)
    except Unavailable:
        return NOTHING_INJECTED
    contexts = [frozenset(map(str, item.value)) for item in found if isinstance(item.value, list)]
    return Injected(tuple(reversed(contexts)))
