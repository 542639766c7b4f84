"""What people decide about reviews, as events of the ledger."""

from __future__ import annotations

from enum import StrEnum

from .access import Grant
from .filters import Condition, Every, Op
from .protocols import Store
from .records import Event, EventKind, Trust

REVIEW = "review"  # metadata of a decision: the id of what it is about,
DECISION = "decision"  # what was decided,
NUMBER = "number"  # and how many decisions there were before


class Decision(StrEnum):
    ACCEPT = "accept"
    REJECT = "reject"
    UNDO = "undo"


def decisions_about(store: Store, grant: Grant, review: str) -> list[Event]:
    """Every decision about a review, oldest first. One from a file nobody vouches for is none."""
    about = (
        Condition("kind", Op.EQ, EventKind.REVIEW),
        Condition(f"metadata.{REVIEW}", Op.EQ, review),
    )
    found = store.ledger.find(grant, where=Every(about))
    trusted = [event for event in found if event.trust > Trust.EXTERNAL]
    return sorted(trusted, key=lambda event: (int(event.metadata[NUMBER]), event.id))
