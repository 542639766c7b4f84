"""Reviews: proposed merges of entities and contradictions of facts, decided by people.

A misreading is a fact that a language model rejected; a person may accept it nevertheless.
Every viewer of a review may decide about it. A decision is an event in the ledger, with its
author and time; so is undoing it.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import ClassVar

from ..core.access import Grant, Viewer
from ..core.errors import Conflict, Forgotten, InvalidInput, NotFound
from ..core.filters import Condition, Op
from ..core.flows import memory_scopes
from ..core.ids import check_name, require_str
from ..core.records import Event, EventKind, Memory, MemoryKind, NewEvent, Trust
from ..core.records.links import (
    DECISION,
    MISREADING,
    NUMBER,
    REVIEW,
    ReviewDecision,
    list_decisions,
)
from ..core.scope import Scope
from ..recall.query import check_limit
from ..wiring.parts import Parts
from .base import audit_read

MAX_LISTED = 100_000


class ReviewStatus(StrEnum):
    """State of a review."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


STATUS_BY_DECISION = {
    ReviewDecision.ACCEPT.value: ReviewStatus.ACCEPTED,
    ReviewDecision.REJECT.value: ReviewStatus.REJECTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A proposed change, its reason, and the decision."""

    id: str
    kind: str  # merge, contradiction or misreading
    text: str
    names: tuple[str, ...]
    confidence: float
    status: ReviewStatus
    reason: str | None
    automatic: bool  # accepted without a person, because a channel verified it
    decided_by: str | None
    scope: Scope
    at: datetime
    sources: tuple[str, ...]
    old_fact_id: str | None = None  # of a contradiction: the older fact
    new_fact_id: str | None = None  # the newer fact


ReviewList = list[Review]  # `list` is a method of the class
EventList = list[Event]


class Reviews:
    """The reviews a viewer can see, and decisions about them."""

    _audit_prefix: ClassVar[str] = "reviews_"

    def __init__(
        self,
        parts: Parts,
        grant: Grant,
        by: str,
        *,
        role: str = "user",
        viewer: Viewer | None = None,  # None: the administrator
    ) -> None:
        self._parts = parts
        self._viewer = viewer
        self._grant = grant
        self._by = by
        self._role = role

    @audit_read
    def list(
        self, status: str | None = "open", *, kind: str | None = None, limit: int = 100
    ) -> ReviewList:
        """List reviews, the most likely first.

        `status` is "open", "accepted", "rejected" or None (all); `kind` is "merge",
        "contradiction" or "misreading".
        """
        most = check_limit(limit, MAX_LISTED)
        wanted = None if status is None else _parse_status(status)
        found = [
            review
            for review in self._load_reviews()
            if wanted in (None, review.status) and kind in (None, review.kind)
        ]
        return sorted(found, key=lambda review: (-review.confidence, review.id))[:most]

    @audit_read
    def get(self, id: str) -> Review:
        """Return one review by its id; raise NotFound if the viewer cannot see it."""
        return self._find_review(id)

    def _find_review(self, id: str) -> Review:
        require_str(id, "an id")
        found = [review for review in self._load_reviews() if review.id == id]
        if not found:
            raise NotFound(f"no review {id!r} here")
        return found[0]

    @audit_read
    def evidence(self, id: str) -> EventList:
        """Return the events a review was derived from."""
        return self._parts.store.ledger.get(self._grant, self._find_review(id).sources)

    def accept(self, id: str, *, by: str | None = None) -> Review:
        """Accept: merge the entities, replace the older fact, or restore a fact; `by` decides."""
        return self._apply_decision(id, ReviewDecision.ACCEPT, by)

    def reject(self, id: str, *, by: str | None = None) -> Review:
        """Reject: the change is not made, and not proposed again."""
        return self._apply_decision(id, ReviewDecision.REJECT, by)

    def undo(self, id: str, *, by: str | None = None) -> Review:
        """Undo the last decision.

        Undoing an automatic merge rejects it.
        """
        review = self._find_review(id)
        if review.status is ReviewStatus.OPEN:
            raise Conflict(f"review {id!r} has no decision to undo")
        was_automatic = review.automatic and review.decided_by is None
        return self._apply_decision(
            id, ReviewDecision.REJECT if was_automatic else ReviewDecision.UNDO, by
        )

    def _apply_decision(self, id: str, decision: ReviewDecision, by: str | None) -> Review:
        review = self._find_review(id)
        if by is not None:
            check_name(by, "who decides")
        if decision is not ReviewDecision.UNDO and review.decided_by is not None:
            raise Conflict(f"review {id!r} is already {review.status.value}; undo that first")
        self._write_decision(review, decision, by)
        self._parts.learner.flush(self._grant.narrow_to(memory_scopes(review.scope)))
        return self._find_review(id)

    def _write_decision(self, review: Review, decision: ReviewDecision, by: str | None) -> None:
        """Write a decision; its key has a number, so of two concurrent decisions one fails."""
        here = self._grant.narrow_to(memory_scopes(review.scope))
        earlier = list_decisions(self._parts.store, here, review.id)
        number = 1 + max((int(each.metadata[NUMBER]) for each in earlier), default=-1)
        now = self._parts.now()
        while True:
            event = self._make_event(review, decision, by, (now, number))
            try:
                with self._audit_decision(review, decision, event.speaker):
                    self._parts.store.ledger.append(self._grant.workspace, [event], recorded_at=now)
            except Forgotten:  # the number of a forgotten decision is not used again
                number += 1
            else:
                return

    def _audit_decision(
        self, review: Review, decision: ReviewDecision, by: str
    ) -> AbstractContextManager[None]:
        """Record the decision in the audit log, in the same transaction."""
        return self._parts.audit.record_write(
            self._grant.workspace,
            "review",
            by=by,
            people=[by],
            decision=decision.value,
            review=review.id,
            what=review.kind,
            confidence=review.confidence,
        )

    def _make_event(
        self,
        review: Review,
        decision: ReviewDecision,
        by: str | None,
        time_and_number: tuple[datetime, int],
    ) -> NewEvent:
        """Return the event of a decision, without names: its scope may have more readers."""
        now, number = time_and_number
        role = "user" if by else self._role
        return NewEvent(
            scope=review.scope,
            kind=EventKind.REVIEW,
            speaker=by or self._by,
            role=role,
            trust=Trust.DIRECT if role == "user" else Trust.INTERNAL,
            text=f"{decision.value} {review.id}",
            at=now,
            key=f"review/{review.id}/{number}",
            metadata={REVIEW: review.id, DECISION: decision.value, NUMBER: number},
        )

    def _load_reviews(self) -> ReviewList:
        self._parts.learner.catch_up(self._grant)
        kind = Condition("kind", Op.EQ, MemoryKind.REVIEW)
        return build_reviews(self._parts.store.memories.find(self._grant, where=kind))


def build_reviews(memories: Iterable[Memory]) -> list[Review]:
    """Return the reviews among these memories, with their decisions."""
    proposals: list[Memory] = []
    closed: dict[str, Memory] = {}
    for memory in memories:
        if "decides" in memory.body:
            closed[memory.body["decides"]] = memory
        else:
            proposals.append(memory)
    return [_build_review(memory, closed.get(memory.id)) for memory in proposals]


def _build_review(memory: Memory, closed: Memory | None) -> Review:
    body = memory.body
    automatic = bool(body.get("automatic"))
    untouched = ReviewStatus.ACCEPTED if automatic else ReviewStatus.OPEN
    if body["what"] == MISREADING:  # the model has decided; a person may accept it nevertheless
        untouched = ReviewStatus.REJECTED
    return Review(
        id=memory.id,
        kind=body["what"],
        text=memory.text,
        names=tuple(body.get("names", ())),
        confidence=body.get("confidence", memory.confidence),
        status=STATUS_BY_DECISION[closed.body["decision"]] if closed else untouched,
        reason=body.get("because"),
        automatic=automatic,
        decided_by=closed.body["by"] if closed else None,
        scope=memory.scope,
        at=memory.at,
        sources=memory.sources,
        old_fact_id=body.get("old"),
        new_fact_id=body.get("new"),
    )


def _parse_status(name: str) -> ReviewStatus:
    try:
        return ReviewStatus(name)
    except ValueError:
        known = ", ".join(status.value for status in ReviewStatus)
        raise InvalidInput(f"unknown status {name!r:.80}; accepted: {known}") from None
