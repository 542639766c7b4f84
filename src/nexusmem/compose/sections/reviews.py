"""Section "reviews": one open question whether two names mean the same person."""

from __future__ import annotations

from collections.abc import Iterator

from ...core.derive import normalize_name
from ...core.records import Memory, MemoryKind
from ...core.records.context import ContextItem
from ...recall.views.entities import has_entity
from ..request import SectionInput
from ..section import Section, always

MAX_REVIEWS = 50  # read for the names in the question
MERGE = "merge"


def review_items(inputs: SectionInput) -> list[ContextItem]:
    """Return the most likely open merge about a name in the question or a person in the place.

    Only if the viewer may read the records of both names.
    """
    for review in sorted(_open_merges(inputs), key=lambda each: (-each.confidence, each.id)):
        main, other = review.body["names"]
        if all(has_entity(inputs.store, inputs.grant, name) for name in (main, other)):
            return [_make_item(inputs, review)]
    return []


def _open_merges(inputs: SectionInput) -> Iterator[Memory]:
    people = (normalize_name(person.value) for person in inputs.viewer.people)
    names = sorted({*inputs.plan.asked_names, *people})
    if not names:
        return
    found = inputs.filter_recorded(
        inputs.store.memories.find_by_name(
            inputs.grant, names, kinds=[MemoryKind.REVIEW], limit=MAX_REVIEWS
        )
    )
    decided = {each.body.get("decides") for each in found}
    for each in found:
        is_proposal = each.body.get("what") == MERGE and "decides" not in each.body
        if is_proposal and each.id not in decided and not each.body.get("automatic"):
            yield each


def _make_item(inputs: SectionInput, review: Memory) -> ContextItem:
    main, other = review.body["names"]
    text = (
        f"Is {other} the same as {main}? When a user answers, call reviews.accept(id) or"
        f" reviews.reject(id) with the id {review.id}."
    )
    return ContextItem(
        text=text,
        id=review.id,
        at=review.at,
        trust=review.trust,
        worth=0.5,
        why={
            "strategy": "review",
            "confidence": review.confidence,
            "age_days": inputs.age_days(review.at),
        },
    )


REVIEWS = Section(
    name="reviews",
    heading="Open question about a name",
    description="One proposed merge of two names that the question or a person here concerns.",
    priority=12,
    cap=240,  # an item may use a third of it
    when=always("two names may mean one person"),
    is_bare=True,
    source=review_items,
)
