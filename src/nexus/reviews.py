"""Changes proposed to a person: who may be the same, and what contradicts what.

Whoever may read a review may decide about it. A decision is an event in the ledger, so it is
known who decided and when; taking it back is one, too.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from .core.access import Grant, Viewer
from .core.decisions import DECISION, NUMBER, REVIEW, Decision, decisions_about
from .core.errors import Conflict, Forgotten, InvalidInput, NotFound
from .core.filters import Condition, Op
from .core.ids import check_name, str_only
from .core.records import Event, EventKind, Memory, MemoryKind, NewEvent, Trust
from .core.scope import Scope
from .reading import audited
from .recall.query import check_limit
from .wiring import Parts

MOST_LISTED = 100_000


class Status(StrEnum):
    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


CLOSED = {Decision.ACCEPT.value: Status.ACCEPTED, Decision.REJECT.value: Status.REJECTED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A change proposed to a person, with why, and what became of it."""

    id: str
    what: str  # merge or contradiction
    text: str
    names: tuple[str, ...]
    confidence: float
    status: Status
    because: str | None
    automatic: bool  # holds by itself, because a channel proved it
    decided_by: str | None
    scope: Scope
    at: datetime
    sources: tuple[str, ...]
    old: str | None = None  # of a contradiction: the fact that was known,
    new: str | None = None  # and the one that was said later


Listed = list[Review]  # inside the class, `list` is its method
Said = list[Event]


class Reviews:
    """What is proposed to those who may see it, and their decisions."""

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

    @audited
    def list(
        self, status: str | None = "open", *, what: str | None = None, limit: int = 100
    ) -> Listed:
        """Those of one status (None: of any), the likeliest first."""
        most = check_limit(limit, MOST_LISTED)
        wanted = None if status is None else _status(status)
        found = [
            review
            for review in self._all()
            if wanted in (None, review.status) and what in (None, review.what)
        ]
        return sorted(found, key=lambda review: (-review.confidence, review.id))[:most]

    @audited
    def get(self, id: str) -> Review:
        """One review by its id."""
        return self._get(id)

    def _get(self, id: str) -> Review:
        str_only(id, "an id")
        found = [review for review in self._all() if review.id == id]
        if not found:
            raise NotFound(f"no review {id!r} here")
        return found[0]

    @audited
    def evidence(self, id: str) -> Said:
        """The events a review rests on: what was said."""
        return self._parts.store.ledger.get(self._grant, self._get(id).sources)

    def accept(self, id: str, *, by: str | None = None) -> Review:
        """It is so: two are one, or what was said later holds. `by` is who says so."""
        return self._decide(id, Decision.ACCEPT, by)

    def reject(self, id: str, *, by: str | None = None) -> Review:
        """It is not so. It is not proposed again."""
        return self._decide(id, Decision.REJECT, by)

    def undo(self, id: str, *, by: str | None = None) -> Review:
        """Take the last decision back: everything is again as it was before.

        A merge that held by itself has no decision to take back; undoing it is rejecting it.
        """
        review = self._get(id)
        if review.status is Status.OPEN:
            raise Conflict(f"nothing was decided about {id!r}")
        merged_by_itself = review.automatic and review.decided_by is None
        return self._decide(id, Decision.REJECT if merged_by_itself else Decision.UNDO, by)

    def _decide(self, id: str, decision: Decision, by: str | None) -> Review:
        review = self._get(id)
        if by is not None:
            check_name(by, "who decides")
        if decision is not Decision.UNDO and review.decided_by is not None:
            raise Conflict(f"{id!r} is {review.status.value} already; undo that first")
        self._write(review, decision, by)
        self._parts.learner.flush(self._grant.within([review.scope]))
        return self._get(id)

    def _write(self, review: Review, decision: Decision, by: str | None) -> None:
        """Its key counts the decisions, so that of two who decide at once only one does."""
        here = self._grant.within([review.scope])
        earlier = decisions_about(self._parts.store, here, review.id)
        number = 1 + max((int(each.metadata[NUMBER]) for each in earlier), default=-1)
        now = self._parts.now()
        while True:
            event = self._event(review, decision, by, (now, number))
            try:
                with self._recorded(review, decision, event.speaker):
                    self._parts.store.ledger.append(self._grant.workspace, [event], recorded_at=now)
            except Forgotten:  # a decision of somebody who was: its number is not used again
                number += 1
            else:
                return

    def _recorded(
        self, review: Review, decision: Decision, by: str
    ) -> AbstractContextManager[None]:
        """In the transaction of the decision, with how likely the proposal was."""
        return self._parts.audit.writing(
            self._grant.workspace,
            "review",
            by=by,
            people=[by],
            decision=decision.value,
            review=review.id,
            what=review.what,
            confidence=review.confidence,
        )

    def _event(
        self, review: Review, decision: Decision, by: str | None, made: tuple[datetime, int]
    ) -> NewEvent:
        """It tells no name: the place it lies in may have more readers than the review has."""
        now, number = made
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

    def _all(self) -> Listed:
        self._parts.learner.catch_up(self._grant)
        kind = Condition("kind", Op.EQ, MemoryKind.REVIEW)
        return reviews_of(self._parts.store.memories.find(self._grant, where=kind))


def reviews_of(memories: Iterable[Memory]) -> list[Review]:
    """Proposals among these with what was decided about them."""
    proposals: list[Memory] = []
    closed: dict[str, Memory] = {}
    for memory in memories:
        if "decides" in memory.body:
            closed[memory.body["decides"]] = memory
        else:
            proposals.append(memory)
    return [_review(memory, closed.get(memory.id)) for memory in proposals]


def _review(memory: Memory, closed: Memory | None) -> Review:
    body = memory.body
    automatic = bool(body.get("automatic"))
    untouched = Status.ACCEPTED if automatic else Status.OPEN
    return Review(
        id=memory.id,
        what=body["what"],
        text=memory.text,
        names=tuple(body.get("names", ())),
        confidence=body.get("confidence", memory.confidence),
        status=CLOSED[closed.body["decision"]] if closed else untouched,
        because=body.get("because"),
        automatic=automatic,
        decided_by=closed.body["by"] if closed else None,
        scope=memory.scope,
        at=memory.at,
        sources=memory.sources,
        old=body.get("old"),
        new=body.get("new"),
    )


def _status(name: str) -> Status:
    try:
        return Status(name)
    except ValueError:
        known = ", ".join(status.value for status in Status)
        raise InvalidInput(f"unknown status {name!r:.80}; known are {known}") from None
