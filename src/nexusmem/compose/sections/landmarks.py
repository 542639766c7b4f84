"""Section "landmarks": decisions, commitments, action items and stated preferences, pinned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from ...core.records import Memory
from ...core.records.context import ContextItem
from ...core.records.landmarks import display_name
from ...core.records.links import drop_duplicates
from ...text.terms import STOP_WORDS, extract_terms, query_terms
from ..request import SectionInput, mention_reason, rank_worth
from ..section import Section, always

MAX_COMPARED = 40  # newest landmarks that are compared with each other to find replaced ones
CORRECTION_KIND = "correction"
CHANGE_PATTERN = re.compile(
    r"\b(?:instead|no longer|any ?more|rather than|chang(?:e|ed|ing)|switch(?:ed|ing)?"
    r"|revert(?:ed)?|cancel(?:led|ed)?|scrap(?:ped)?|drop(?:ped)?|withdr[ae]wn?|call(?:ed)? off)\b",
    re.IGNORECASE,
)
CHANGE_HINTS = (  # every match of CHANGE_PATTERN contains one of these
    *("instead", "no longer", "any more", "anymore", "rather than"),
    *("chang", "switch", "revert", "cancel", "scrap", "drop", "withdr", "call"),
)
CLOSED_STATUSES = frozenset({"done", "closed", "cancelled", "superseded"})
DECISION_WORDS = (
    "we decided decide decision agreed agree chose choose picked settled use using go going with"
    " switch switched change changed instead longer rather anymore let's team"
)


def landmark_items(inputs: SectionInput) -> list[ContextItem]:
    """Return landmarks oldest first, so that a new one leaves the lines before it in place.

    The newest and most salient are worth most; closed and replaced ones are worth least.
    """
    every = inputs.landmarks
    links = inputs.same_as_links(every)
    distinct = drop_duplicates(every, links)  # the newest of those that say the same
    closed = find_closed(distinct, inputs.now)
    ranked = sorted(distinct, key=lambda each: (each.id in closed, -each.salience))
    items = [
        _make_item(
            inputs,
            memory,
            rank_worth(rank, 0.97),
            links.get(memory.id),
            is_closed=memory.id in closed,
        )
        for rank, memory in enumerate(ranked)
    ]
    return sorted(items, key=lambda item: (item.at, item.id))


def _make_item(
    inputs: SectionInput, memory: Memory, worth: float, link: Memory | None, *, is_closed: bool
) -> ContextItem:
    landmark = str(memory.body.get("kind") or "landmark")
    kind = display_name(landmark) + (", replaced" if is_closed else "")
    salience, mentions = memory.salience, mention_reason(link)
    return inputs.make_item(
        memory, worth, kind=kind, strategy="pinned", salience=salience, **mentions
    )


def find_closed(newest_first: Sequence[Memory], now: datetime) -> set[str]:
    """Return the ids of the landmarks that are over, closed or replaced by a later one."""
    ended = {each.id for each in newest_first if _is_over(each, now)}
    return ended | _find_replaced(newest_first)


def _is_over(memory: Memory, now: datetime) -> bool:
    ended = memory.valid_to is not None and memory.valid_to <= now
    return ended or memory.body.get("status") in CLOSED_STATUSES


def _find_replaced(newest_first: Sequence[Memory]) -> set[str]:
    """Return the ids of landmarks that a later one replaces.

    The later one mentions a change and shares a topic term with the earlier one.
    """
    replaced: set[str] = set()
    compared = newest_first[:MAX_COMPARED]
    changes = [
        (position, later, later.body.get("wrong"))
        for position, later in enumerate(compared)
        if later.body.get("wrong") or _mentions_change(later.text)
    ]
    topical = compared[changes[0][0] :] if changes else ()
    topics = {each.id: _topic_terms(each.text) for each in topical}
    for position, later, wrong in changes:
        topic = _topic_terms(str(wrong)) if wrong else topics[later.id]
        replaced |= {
            each.id
            for each in compared[position + 1 :]
            if not topic.isdisjoint(topics[each.id])  # rarely true, so it is tested first
            and each.at < later.at
            and each.body.get("kind") != CORRECTION_KIND
        }
    return replaced


def _mentions_change(text: str) -> bool:
    """Return True if CHANGE_PATTERN matches; most texts are ruled out without the pattern."""
    if text.isascii():
        lowered = text.lower()
        if not any(hint in lowered for hint in CHANGE_HINTS):
            return False
    return CHANGE_PATTERN.search(text) is not None


def _topic_terms(text: str) -> frozenset[str]:
    """Return the terms of a decision without those that any decision has."""
    specific = frozenset(extract_terms(text)) - _common_and_stop_terms()
    return specific or frozenset(query_terms(text)) - _common_terms()


@lru_cache(maxsize=1)  # the stemmer is loaded on first use
def _common_terms() -> frozenset[str]:
    return frozenset(query_terms(DECISION_WORDS))


@lru_cache(maxsize=1)
def _common_and_stop_terms() -> frozenset[str]:
    return _common_terms().union(*map(extract_terms, STOP_WORDS))


LANDMARKS = Section(
    name="landmarks",
    heading="Decisions, commitments and requests (pinned)",
    description="Decisions, commitments, action items and stated preferences; always.",
    priority=1,
    cap=500,
    floor=250,
    when=always("what was decided is pinned"),
    stable=True,
    grows_with_budget=True,
    source=landmark_items,
)
