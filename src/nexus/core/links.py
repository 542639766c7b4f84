"""Links: records that say how other memories belong together.

A link is a memory like any other. It rests on what it links, so whoever reads it may read all of
that, and it goes when some of that goes. No word and no question leads to it: it is looked up by
the ids of its members.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum

from .access import Grant
from .protocols import Store
from .records import Memory, MemoryKind

MOST_LINKS = 10_000  # looked up at once


class Relation(StrEnum):
    """What a link says of its members."""

    SAME_AS = "same_as"  # they say the same: the link stands for all of them
    PROMOTED_FROM = "promoted_from"  # what they say was shared, and with whom
    USER_WIDE = "user_wide"  # it proved itself: the link lies in the scope of a person


def links_of(
    store: Store, grant: Grant, ids: Iterable[str], relation: Relation
) -> dict[str, Memory]:
    """The links of one relation that hold these memories, by the id of the member."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    kinds = [MemoryKind.LINK]
    found = store.memories.named(grant, wanted, kinds=kinds, limit=MOST_LINKS)
    asked = set(wanted)
    return {
        member: link
        for link in found
        if link.body.get("relation") == relation
        for member in link.body["members"]
        if member in asked
    }


def times_said(link: Memory) -> int:
    """How often what a link stands for was said, by people who did not merely repeat it."""
    return int(link.body.get("said", 1))


def once_each(memories: Iterable[Memory], links: Mapping[str, Memory]) -> list[Memory]:
    """These without those that say the same as one before them."""
    first: dict[str, Memory] = {}
    for memory in memories:
        link = links.get(memory.id)
        first.setdefault(link.id if link else memory.id, memory)
    return list(first.values())


def shared_by(links: Iterable[Memory]) -> list[str]:
    """The ids of the events by which these memories were shared: they go when a link goes."""
    return [
        event
        for link in links
        if link.kind is MemoryKind.LINK and link.body.get("relation") == Relation.PROMOTED_FROM
        for event in (link.sources[0], link.body["copy"])
    ]
