"""From the act of sharing to a link, so that the copy goes when its source does."""

from __future__ import annotations

from ..core.access import administrator_grant
from ..core.protocols import Store
from ..core.records import Draft, Event, Tombstone
from ..core.sharing import SHARE, SHARED_FROM, check_act, link_draft, seal


def shared(store: Store, act: Event) -> list[Draft]:
    """The link, unless the copy is gone, or is not the copy that this act made.

    Where a source was erased before the link was there, the copy is erased now: whoever shared it
    was interrupted.
    """
    told = check_act(act.metadata.get(SHARE))
    everything = administrator_grant(act.workspace)
    copies = store.ledger.get(everything, [told["copy"]])
    if not copies or copies[0].metadata.get(SHARED_FROM) != seal(told["secret"]):
        return []
    wanted = [*told["sources"], told["memory"]]
    if store.eraser.gone(act.workspace, wanted):
        gone = [act.id, told["copy"]]
        stones = [Tombstone(kind="event", digest=id, at=act.recorded_at) for id in gone]
        store.eraser.erase(act.workspace, events=gone, memories=[], tombstones=stones)
        return []
    here = {*store.ledger.keys(everything, wanted)}
    here |= {memory.id for memory in store.memories.get(everything, wanted)}
    return [link_draft(act, tuple(id for id in wanted if id in here))]
