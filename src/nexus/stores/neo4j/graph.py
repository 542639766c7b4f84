"""Neo4j as the graph beside the records of an SQL store.

The graph is a mirror: it says which memories are about a name, and the records say what those
are, to whom they may be shown, and what has happened since. So a walk finds the same with Neo4j
and without it, while it catches up, after somebody emptied it, and when it is away; then the
records are walked alone.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from ...core.access import Grant, administrator_grant
from ...core.derive import NAMED, looked_up_by
from ...core.errors import StoreUnavailable
from ...core.graph import walk
from ...core.ids import WorkspaceId
from ...core.records import Memory, MemoryKind
from ..sql.feed import named_since
from ..sql.labels import Readable, readable
from ..sql.session import Session
from ..sql.store import SqlStore
from .follower import Follower
from .mirror import About, Mirror, Overtaken
from .rows import stored

MOST_BEHIND = 1_000  # numbers that a walk makes up for; where it is more, it does without
AWAY = "neo4j (away)"
MOST_LABELS = 200  # an administrator's are many: the records are faster then

log = logging.getLogger(__name__)


class Behind(StoreUnavailable):
    """The graph is too far behind the records, or ahead of the moment they are read at."""


class Neo4jGraph:
    """The records' graph, looked up in Neo4j."""

    def __init__(self, url: str, records: SqlStore) -> None:
        self._memories = records.memories
        self._feed = records.feed
        self._mirror = Mirror(url)
        self._follower = Follower(records.feed, self._mirror)
        self._owed: dict[WorkspaceId, int] = {}  # what could not be erased yet
        self._away = False

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
        asked = NAMED if kinds is None else tuple(kinds)

        def named(wanted: Sequence[str]) -> list[Memory]:
            try:
                return self._named(grant, wanted, asked, limit=limit, learned=learned)
            except StoreUnavailable as error:
                log.debug("a walk does without its graph: %s", error)
                return self._memories.named(
                    grant, wanted, limit=limit, kinds=asked, learned=learned
                )

        return walk(grant, names, named, depth=depth)

    def _named(
        self,
        grant: Grant,
        names: Sequence[str],
        kinds: Sequence[MemoryKind],
        *,
        limit: int,
        learned: bool,
    ) -> list[Memory]:
        """As `Memories.named`: what the graph found, put right by the records."""
        with self._feed.connections.reading() as session:
            labels = _with_names(readable(session, grant).searched(learned=learned))
        if not labels or not kinds:
            return []
        if len(labels) > MOST_LABELS:
            raise Behind
        home = self._follower.home(grant.workspace)
        wanted = sorted(map(stored, names))
        about = self._mirror.about(home, labels, wanted, sorted(kinds), limit)
        with self._feed.connections.reading() as session:
            view = readable(session, grant).searched(learned=learned)
            if _with_names(view) != labels:
                raise Behind("somebody wrote in a new place meanwhile")
            new = self._since(session, grant, view, about)
            found = self._memories.get(grant, [id for id in about.ids if id not in new])
        if len(found) < len(about.ids) == limit:
            raise Behind("what has left the records took the place of something else")
        fitting = (
            memory
            for memory in new.values()
            if memory.kind in kinds and not looked_up_by(memory).isdisjoint(names)
        )
        return _newest_first([*found, *fitting])[:limit]

    def _since(
        self, session: Session, grant: Grant, view: Readable, about: About
    ) -> dict[str, Memory]:
        """What may be seen and is newer than the graph."""
        named = [state for state in view.labels if state.names or state.label in about.generations]
        latest = max((state.latest for state in named), default=0)
        if any(about.generations.get(state.label, 0) != state.generation for state in named):
            self._follower.want(grant.workspace)
        if any(about.generations.get(state.label, 0) > state.generation for state in named):
            raise Behind("the graph is ahead of this moment")
        if about.reached > self._feed.counter(grant.workspace):
            raise Behind("the graph is ahead of this moment")
        if latest - about.reached > MOST_BEHIND:
            raise Behind
        if latest <= about.reached:
            return {}
        fresh = named_since(session, view, grant, about.reached)
        return {memory.id: memory for memory in fresh}

    def follow(self) -> bool:
        """Follow the records a little; whether there is more to follow."""
        try:
            if self._away:
                self._mirror.greet()
            more = self._follower.step()
        except StoreUnavailable as error:
            if not self._away:
                log.warning("the graph beside the records is tried again and again: %s", error)
            self._away = True
            return False
        self._away = False
        if not more:
            self._owed.clear()
        return more

    def rebuild(self) -> None:
        """Drop the whole graph of these records, to be filled in again by `follow`."""
        self._follower.rebuild()

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Take out what the records have erased; how many of these memories that was.

        If it is away, that is done as soon as it is back. Nobody is shown any of it meanwhile:
        the records are asked for whatever the graph finds.
        """
        try:
            gone = self._follower.erase(workspace)
        except (StoreUnavailable, Overtaken) as error:
            log.warning("the graph will forget when it is back: %s", error)
            self._follower.want(workspace)
            still_there = self._memories.get(administrator_grant(workspace), ids)
            self._owed[workspace] = self._owed.get(workspace, 0) + len(still_there)
            return 0
        self._owed.pop(workspace, None)
        return len(gone.intersection(ids))

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """How many memories are in the graph that are not in the records, and names of nothing.

        While it is away, whatever was to be erased counts: it may still be there.
        """
        del pieces  # it holds no texts
        if workspace in self._owed:
            return {AWAY: self._owed[workspace]}
        home = self._follower.home(workspace)
        try:
            there = self._mirror.ids(home)
            ends = self._mirror.loose_ends(home)
        except StoreUnavailable:
            return {AWAY: 1}
        labels = self._feed.labels(workspace).labels
        kept = set().union(*(self._feed.named_in(workspace, state.label) for state in labels))
        return {"neo4j": len(there - kept) + ends}

    def files(self) -> list[Path]:
        return []

    def close(self) -> None:
        self._mirror.close()


def _with_names(view: Readable) -> list[int]:
    return sorted(state.label for state in view.labels if state.names)


def _newest_first(memories: Iterable[Memory]) -> list[Memory]:
    by_id = sorted(memories, key=lambda memory: memory.id)
    return sorted(by_id, key=lambda memory: memory.at, reverse=True)
