"""From what people decide about reviews to what holds.

A decision is an event. What holds of a review follows from all decisions about it, the last one
first, so that deriving any of them again, in any order, ends in the same place. Taking a decision
back removes what was derived from it, and leaves nothing else behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ..core.access import administrator_grant
from ..core.decisions import DECISION, REVIEW, Decision, decisions_about
from ..core.protocols import Store
from ..core.records import Draft, Event, Memory, MemoryKind
from .entities import same_as
from .reconcile import settled

COPIED = ("what", "names", "old", "new")  # of a review, so that a decision can be read alone


def decided(store: Store, event: Event) -> list[Draft]:
    """What a decision makes hold, to be kept; what holds no longer is removed at once."""
    everything = administrator_grant(event.workspace)
    found = store.memories.get(everything, [str(event.metadata.get(REVIEW))])
    if not found or found[0].kind is not MemoryKind.REVIEW or found[0].scope != event.scope:
        return []
    review = found[0]
    decisions = decisions_about(store, everything.within([event.scope]), review.id)
    if not decisions:
        return []
    holding = list(_holding(decisions[-1], review))
    kept = {draft.id for draft in holding}
    possible = [draft for each in decisions for draft in _derived(each, review)]
    gone = {draft.id for draft in (*possible, *_automatic(review))} - kept
    store.memories.delete(event.workspace, sorted(gone))
    return holding


def _holding(last: Event, review: Memory) -> Iterator[Draft]:
    """After this decision. With the last one taken back, only what had held by itself."""
    if last.metadata[DECISION] == Decision.UNDO:
        yield from _automatic(review)
    else:
        yield from _derived(last, review)


def _derived(decision: Event, review: Memory) -> Iterator[Draft]:
    """What a decision alone makes hold. It rests on the review, too: its readers are the same."""
    what = decision.metadata[DECISION]
    if what == Decision.UNDO:
        return
    sources = (decision.id, review.id)
    yield _closing(decision, review, sources)
    if what == Decision.ACCEPT and review.body["what"] == "merge":
        yield same_as(decision, _pair(review), sources)
    elif what == Decision.ACCEPT:
        yield settled(review, decision, sources)


def _automatic(review: Memory) -> Iterator[Draft]:
    """What a proven address made hold before anybody was asked."""
    if review.body.get("automatic"):
        yield same_as(review, _pair(review), review.sources)


def _pair(review: Memory) -> tuple[str, str]:
    kept, other = review.body["names"]
    return kept, other


def _closing(decision: Event, review: Memory, sources: Sequence[str]) -> Draft:
    what = decision.metadata[DECISION]
    told = {name: review.body[name] for name in COPIED if name in review.body}
    body: dict[str, Any] = {
        **told,
        "decides": review.id,
        "decision": what,
        "by": decision.speaker,
    }
    return Draft(
        scope=review.scope,
        kind=MemoryKind.REVIEW,
        text=f"{decision.speaker} said {what} to: {review.text}",
        sources=tuple(sources),
        slot="decision",
        indexed_text="",
        speaker=decision.speaker,
        role=decision.role,
        source="review",
        learned=True,
        body=body,
    )
