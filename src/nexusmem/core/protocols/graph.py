"""Protocol of the graph: memories connected by the names they contain.

A fact connects its subject and object, an entity its name and aliases, in both directions. Memories
that the grant hides do not exist here: no path leads through them, and they do not count towards a
limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from ..access import Grant, check_grant
from ..derive import names_in, normalize_name
from ..records import Memory, MemoryKind
from .memories import Memories

MAX_NAMES = 50  # followed per step


class Graph(Protocol):
    """Names and the memories about them."""

    def traverse(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        depth: int,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
    ) -> list[list[Memory]]:
        """Return the memories about these names, then about the names in those, for `depth` steps.

        Each step lists at most `limit` memories, newest first and then by id, as
        `Memories.find_by_name` does. A memory appears again if a new name leads to it. `next_names`
        selects the names of the next step. The traversal ends early without results or new names,
        so no step is empty.
        """
        ...


class MemoryGraph:
    """Graph over a memory store: looks up the names step by step."""

    def __init__(self, memories: Memories) -> None:
        self._memories = memories

    def traverse(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        depth: int,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
    ) -> list[list[Memory]]:
        def lookup(wanted: Sequence[str]) -> list[Memory]:
            return self._memories.find_by_name(
                grant, wanted, limit=limit, kinds=kinds, learned=learned
            )

        return traverse_names(grant, names, lookup, depth=depth)


def traverse_names(
    grant: Grant,
    names: Iterable[str],
    lookup: Callable[[Sequence[str]], list[Memory]],
    *,
    depth: int,
) -> list[list[Memory]]:
    """Traverse as `Graph.traverse` describes, with `lookup` returning memories about names."""
    check_grant(grant)
    steps: list[list[Memory]] = []
    wanted = normalize_names(names)
    visited: set[str] = set()
    while wanted and len(steps) < depth:
        found = lookup(wanted)
        if not found:
            break
        steps.append(found)
        if len(steps) < depth:
            visited.update(wanted)
            wanted = next_names((name for each in found for name in names_in(each)), visited)
    return steps


def normalize_names(names: Iterable[str]) -> list[str]:
    """Return the normalized names, sorted and without duplicates."""
    return sorted({normalize_name(name) for name in names})


def next_names(reached: Iterable[str], visited: set[str]) -> list[str]:
    """Return at most MAX_NAMES new names of the next step, sorted."""
    return sorted(set(reached) - visited)[:MAX_NAMES]
