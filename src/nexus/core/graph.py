"""What names lead to: from a name to what is about it, and from there to the names in that.

A fact stands between its subject and its object, an entity between its name and its aliases;
a walk passes through them in either direction. What a grant hides is not there: no path leads
through it, and it takes nobody's place where only so many are looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from .access import Grant, check_grant
from .derive import known_as, names_in
from .protocols import Memories
from .records import Memory, MemoryKind

MOST_NAMES = 50  # followed from one step to the next


class Graph(Protocol):
    """The names and what is about them."""

    def around(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        depth: int,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
    ) -> list[list[Memory]]:
        """What is about these names, then what is about the names in that, for `depth` steps.

        Each step is a list of at most `limit`, newest first and then by id, as
        `Memories.named` gives them, and holds what an earlier one held if its new names lead
        there as well. `next_names` says where the next step starts. The walk ends early where
        nothing is found or no new name is left: no step is empty.
        """
        ...


class RecordsGraph:
    """The graph a store has anyway: its records, looked up by name, one step after the other."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def around(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        depth: int,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
    ) -> list[list[Memory]]:
        def named(wanted: Sequence[str]) -> list[Memory]:
            return self._memories.named(grant, wanted, limit=limit, kinds=kinds, learned=learned)

        return walk(grant, names, named, depth=depth)


def walk(
    grant: Grant,
    names: Iterable[str],
    named: Callable[[Sequence[str]], list[Memory]],
    *,
    depth: int,
) -> list[list[Memory]]:
    """A walk as `Graph.around` tells it, by something that says what is about some names."""
    check_grant(grant)
    steps: list[list[Memory]] = []
    wanted = as_looked_up(names)
    known: set[str] = set()
    while wanted and len(steps) < depth:
        found = named(wanted)
        if not found:
            break
        steps.append(found)
        if len(steps) < depth:
            known.update(wanted)
            wanted = next_names((name for each in found for name in names_in(each)), known)
    return steps


def as_looked_up(names: Iterable[str]) -> list[str]:
    """Each name once, spelt as it is looked up, in one order."""
    return sorted({known_as(name) for name in names})


def next_names(reached: Iterable[str], known: set[str]) -> list[str]:
    """The names one step leads to the next with: new ones, in their order, and not too many."""
    return sorted(set(reached) - known)[:MOST_NAMES]
