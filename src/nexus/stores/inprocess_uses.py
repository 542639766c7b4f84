"""How often memories were shown, in dictionaries: the specification of `core.uses.Uses`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ..core.access import Grant
from ..core.canonical import text_time, time_text
from ..core.moving import Used
from ..core.records import Memory
from ..core.uses import (
    NewUse,
    Use,
    UseThere,
    added_up,
    conversation_digest,
    owner_digest,
    place_digest,
)


@dataclass(slots=True)
class UsesThere:
    """The uses of one memory in one place, and whose place it is."""

    there: UseThere = field(default_factory=UseThere)
    owner: str | None = None

    def add(self, use: NewUse) -> None:
        self.there = self.there.and_one(conversation_digest(use), use.at)
        self.owner = owner_digest(use.place)


PlacesOfUse = dict[str, UsesThere]  # by the digest of the place
Every = dict[str, PlacesOfUse]  # by memory id


def common_use(uses: Every, memory: Memory) -> Use:
    """What every reader of the memory may know of: uses in the places of its label."""
    return _within(uses.get(memory.id, {}), set(map(place_digest, memory.label)))


def seen_use(uses: Every, grant: Grant, id: str) -> Use:
    """What may be known of it here."""
    there = uses.get(id, {})
    readable = there.keys() if grant.everything else set(map(place_digest, grant.scopes))
    return _within(there, readable)


def _within(there: Mapping[str, UsesThere], places: Iterable[str]) -> Use:
    return added_up([there[place].there for place in places if place in there])


def used(uses: Every, memory: Memory, since: datetime) -> bool:
    """Whether it was used since then, wherever that was."""
    return any(
        each.there.last_at is not None and each.there.last_at >= since
        for each in uses.get(memory.id, {}).values()
    )


def erase_uses(uses: Every, ids: Sequence[str]) -> int:
    """Those of these memories, and in the places of these tombstones; how many there were."""
    gone = set(ids)
    return _dropped(
        uses, lambda one, place, each: one in gone or place in gone or each.owner in gone
    )


def drop_stray_uses(uses: Every, there: Collection[str], before: datetime) -> int:
    """Those from before then of memories that are not there."""
    return _dropped(
        uses,
        lambda one, _, each: (
            one not in there and each.there.last_at is not None and each.there.last_at < before
        ),
    )


def _dropped(uses: Every, doomed: Callable[[str, str, UsesThere], bool]) -> int:
    every = [(id, place, each) for id, there in uses.items() for place, each in there.items()]
    gone = [(id, place) for id, place, each in every if doomed(id, place, each)]
    for id, place in gone:
        del uses[id][place]
        if not uses[id]:
            del uses[id]
    return len(gone)


def use_lines(uses: Every) -> Iterable[str]:
    for id, there in uses.items():
        for place, each in there.items():
            if each.there.last_at is not None:
                yield Used(
                    memory=id,
                    place=place,
                    owner=each.owner,
                    count=each.there.count,
                    conversations=list(each.there.conversations),
                    last_at=time_text(each.there.last_at),
                ).line


def keep_use(uses: Every, line: str) -> None:
    told = Used.of(line)
    there = UseThere(told.count, tuple(told.conversations), text_time(told.last_at))
    uses.setdefault(told.memory, {})[told.place] = UsesThere(there, told.owner)
