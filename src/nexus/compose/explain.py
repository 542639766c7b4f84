"""Why a context was as it was, looked up again by its id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from ..core.access import Grant, Viewer
from ..core.canonical import clean_text
from ..core.context import ContextReceipt
from ..core.errors import NotFound
from ..core.protocols import Store
from ..core.window import MOST_KEPT, Slot
from ..recall.answer import Ranking, answer
from ..recall.query import make_query
from .receipts import receipt_from_json, viewer_from_json
from .sections.awareness import HOW, KEPT, WHERE, lookups
from .sections.goals import ACTIVE_GOAL
from .window import goal, kept_context

MOST = MOST_KEPT[Slot.CONTEXT]
STYLE = "how {0} writes, counted in the last messages"
HITS = 10  # the best of a question, for an administrator to compare


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """A receipt, and the texts it speaks of as far as they may be seen now."""

    receipt: ContextReceipt
    viewer: Viewer  # for whom it was composed
    texts: Mapping[str, str]  # by the id of the memory or the event; gone where it was forgotten
    withheld: int | None = None  # of the best hits, those the viewer may not see; administrators


def explained(store: Store, grant: Grant, id: str, now: datetime) -> Explained:
    """The receipt of a context. Whoever may see less than it was made from finds nothing."""
    told = kept_context(store, grant, clean_text(id, "an id"), now)
    if isinstance(told, dict):
        viewer = viewer_from_json(grant.workspace, told["viewer"])  # type: ignore[arg-type]
        if grant.allows(viewer.grant().scopes):
            receipt = receipt_from_json(told)
            texts = _texts(store, grant, receipt) | _told_now(store, viewer, receipt, now)
            return Explained(receipt=receipt, viewer=viewer, texts=texts)
    raise NotFound(f"no context {id!r:.80} here; the last {MOST} of a place are kept for a day")


def _texts(store: Store, grant: Grant, receipt: ContextReceipt) -> dict[str, str]:
    """A sentence of an event (`event:0`) is looked up as the event."""
    every = [*(each.id for each in receipt.shown), *(each.id for each in receipt.cut)]
    ids = {id: id.partition(":")[0] for id in every}
    wanted = list(dict.fromkeys(ids.values()))
    with store.moment():
        memories = store.memories.texts(grant, wanted)
        events = {event.id: event.text for event in store.ledger.get(grant, wanted)}
    known = {**events, **memories}
    return {id: known[whole] for id, whole in ids.items() if whole in known}


def _told_now(
    store: Store, viewer: Viewer, receipt: ContextReceipt, now: datetime
) -> dict[str, str]:
    """Lines that rest on no record, as they would be told today."""
    grant = viewer.grant()
    ids = {each.id for each in receipt.shown} | {each.id for each in receipt.cut}
    texts = {id: STYLE.format(id.removeprefix("style:")) for id in ids if id.startswith("style:")}
    if ids & {HOW, KEPT, WHERE}:
        texts |= lookups(store, grant)
    if ACTIVE_GOAL in ids and (active := goal(store, grant, viewer.home, now)):
        texts[ACTIVE_GOAL] = active.text
    return {id: text for id, text in texts.items() if id in ids}


def with_withheld(known: Explained, store: Store, ranking: Ranking, everything: Grant) -> Explained:
    """The same for an administrator: how many of the best hits the viewer may not see.

    The question is asked once more as it stood then, among everything.
    """
    receipt = known.receipt
    query = make_query(
        receipt.question or "?", limit=HITS, threshold=0.0, now=receipt.at, as_of=receipt.at
    )
    ids = [hit.memory.id for hit in answer(store, ranking, everything, query)]
    seen = store.memories.texts(known.viewer.grant(), ids)
    return replace(known, withheld=len(ids) - len(seen))
