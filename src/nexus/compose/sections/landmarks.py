"""Decisions, commitments, action items and stated preferences: pinned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from ...core.context import Item
from ...core.links import once_each
from ...core.records import Memory
from ...core.text import STOP_WORDS, query_terms, terms
from ..asking import Asking, falling, said

COMPARED = 40  # with each other, to see which take the place of earlier ones
CORRECTION = "correction"
CHANGES = re.compile(
    r"\b(?:instead|no longer|any ?more|rather than|chang(?:e|ed|ing)|switch(?:ed|ing)?"
    r"|revert(?:ed)?|cancel(?:led|ed)?|scrap(?:ped)?|drop(?:ped)?|withdr[ae]wn?|call(?:ed)? off)\b",
    re.IGNORECASE,
)
CHANGING = (  # what stands in all of those
    *("instead", "no longer", "any more", "anymore", "rather than"),
    *("chang", "switch", "revert", "cancel", "scrap", "drop", "withdr", "call"),
)
DONE = frozenset({"done", "closed", "cancelled", "superseded"})
OF_ANY_DECISION = (
    "we decided decide decision agreed agree chose choose picked settled use using go going with"
    " switch switched change changed instead longer rather anymore let's team"
)
NAMES = {"preference_stated": "preference", "action_item": "action item"}


def landmarks(asking: Asking) -> list[Item]:
    """Oldest first, so that a new one comes last and all before it stay where they are.

    The newest and most salient are worth most; what is over or was replaced is worth least.
    """
    every = asking.landmarks
    links = asking.standing_in(every)
    found = once_each(every, links)  # the newest of those that say the same
    over = _replaced(found) | {each.id for each in found if _is_over(each, asking)}
    ranked = sorted(found, key=lambda each: (each.id in over, -each.salience))  # newest first
    items = [
        _item(asking, memory, falling(place, 0.97), links.get(memory.id), over=memory.id in over)
        for place, memory in enumerate(ranked)
    ]
    return sorted(items, key=lambda item: (item.at, item.id))


def _item(asking: Asking, memory: Memory, worth: float, link: Memory | None, *, over: bool) -> Item:
    told = str(memory.body.get("kind") or "landmark")
    kind = NAMES.get(told, told) + (", replaced" if over else "")
    salience, times = memory.salience, said(link)
    return asking.item(memory, worth, kind=kind, strategy="pinned", salience=salience, **times)


def _is_over(memory: Memory, asking: Asking) -> bool:
    ended = memory.valid_to is not None and memory.valid_to <= asking.now
    return ended or memory.body.get("status") in DONE


def _replaced(newest_first: Sequence[Memory]) -> set[str]:
    """Those a later one says to be otherwise: it speaks of a change, and of the same thing."""
    gone: set[str] = set()
    looked_at = newest_first[:COMPARED]
    changing = [
        (place, later, later.body.get("wrong"))
        for place, later in enumerate(looked_at)
        if later.body.get("wrong") or _speaks_of_change(later.text)
    ]
    compared = looked_at[changing[0][0] :] if changing else ()
    matters = {each.id: _matter(each.text) for each in compared}
    for place, later, wrong in changing:
        matter = _matter(str(wrong)) if wrong else matters[later.id]
        gone |= {
            each.id
            for each in looked_at[place + 1 :]
            if not matter.isdisjoint(matters[each.id])  # seldom so, and thus first
            and each.at < later.at
            and each.body.get("kind") != CORRECTION
        }
    return gone


def _speaks_of_change(text: str) -> bool:
    """Most texts hold none of these letters, which is soon seen."""
    if text.isascii():
        small = text.lower()
        if not any(part in small for part in CHANGING):
            return False
    return CHANGES.search(text) is not None


def _matter(text: str) -> frozenset[str]:
    """What a decision is about, without the words that any decision has."""
    telling = frozenset(terms(text)) - _usual_anywhere()
    return telling or frozenset(query_terms(text)) - _usual()


@lru_cache(maxsize=1)  # stems load with the first word
def _usual() -> frozenset[str]:
    return frozenset(query_terms(OF_ANY_DECISION))


@lru_cache(maxsize=1)
def _usual_anywhere() -> frozenset[str]:
    """And without the words that any text has: left out in one step, unless nothing is left."""
    return _usual().union(*map(terms, STOP_WORDS))
