"""Graph traversal with a Neo4j mirror of an SQL store.

The mirror returns the ids of memories about a name. The records supply their content, check the
grant and add newer memories. So a traversal returns the same with and without Neo4j, during
replication and after a loss of its data. While Neo4j is unreachable, only the records are used.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path

from ....core.access import Grant, administrator_grant
from ....core.derive import DEFAULT_NAMED_KINDS, lookup_names
from ....core.errors import StoreUnavailable
from ....core.ids import WorkspaceId
from ....core.protocols.graph import traverse_names
from ....core.records import Memory, MemoryKind
from ...sql.readable_labels import ReadableLabels, compile_grant
from ...sql.store import SqlStore
from ...sql.transactions import Transaction
from ..change_feed import read_named_since
from .mirror import GraphReplicator, MirrorConflict, NameMatches, Neo4jMirror, to_index_name

MAX_LAG = 1_000  # a traversal reads up to this many newer writes from the records
AWAY = "neo4j (away)"
MAX_LABELS = 200  # above this (administrators), the records are faster

log = logging.getLogger(__name__)


class MirrorBehind(StoreUnavailable):
    """The mirror is too far behind the records, or newer than the snapshot of the caller."""


class Neo4jGraph:
    """Graph of the records, with name lookups in Neo4j."""

    def __init__(self, url: str, records: SqlStore) -> None:
        self._memories = records.memories
        self._feed = records.change_feed
        self._mirror = Neo4jMirror(url)
        self._replicator = GraphReplicator(records.change_feed, self._mirror)
        self._pending_erasures: dict[WorkspaceId, int] = {}  # memories not erased in Neo4j yet
        self._is_unreachable = False

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
        wanted_kinds = DEFAULT_NAMED_KINDS if kinds is None else tuple(kinds)

        def find_named(wanted: Sequence[str]) -> list[Memory]:
            try:
                return self._find_by_name(grant, wanted, wanted_kinds, limit=limit, learned=learned)
            except StoreUnavailable as error:
                log.debug("traversing the records instead of Neo4j: %s", error)
                return self._memories.find_by_name(
                    grant, wanted, limit=limit, kinds=wanted_kinds, learned=learned
                )

        return traverse_names(grant, names, find_named, depth=depth)

    def _find_by_name(
        self,
        grant: Grant,
        names: Sequence[str],
        kinds: Sequence[MemoryKind],
        *,
        limit: int,
        learned: bool,
    ) -> list[Memory]:
        """Return the same as `Memories.find_by_name`, with the ids of the mirror."""
        with self._feed.connections.read_transaction() as session:
            labels = _labels_with_names(compile_grant(session, grant).for_search(learned=learned))
        if not labels or not kinds:
            return []
        if len(labels) > MAX_LABELS:
            raise MirrorBehind
        graph_key = self._replicator.graph_key(grant.workspace)
        index_names = sorted(map(to_index_name, names))
        matches = self._mirror.find_by_names(graph_key, labels, index_names, sorted(kinds), limit)
        with self._feed.connections.read_transaction() as session:
            view = compile_grant(session, grant).for_search(learned=learned)
            if _labels_with_names(view) != labels:
                raise MirrorBehind("a label was added meanwhile")
            new = self._load_newer(session, grant, view, matches)
            memories = self._memories.get(grant, [id for id in matches.ids if id not in new])
        if len(memories) < len(matches.ids) == limit:
            raise MirrorBehind("removed memories filled the limit")
        newer = (
            memory
            for memory in new.values()
            if memory.kind in kinds and not lookup_names(memory).isdisjoint(names)
        )
        return _sort_newest_first([*memories, *newer])[:limit]

    def _load_newer(
        self, session: Transaction, grant: Grant, view: ReadableLabels, matches: NameMatches
    ) -> dict[str, Memory]:
        """Return the visible memories that are newer than the mirror.

        Raise MirrorBehind if the mirror is too old, or newer than this snapshot.
        """
        named = [
            state for state in view.labels if state.names or state.label in matches.generations
        ]
        latest = max((state.latest for state in named), default=0)
        if any(matches.generations.get(state.label, 0) != state.generation for state in named):
            self._replicator.schedule_workspace(grant.workspace)
        if any(matches.generations.get(state.label, 0) > state.generation for state in named):
            raise MirrorBehind("the mirror is newer than this snapshot")
        if matches.reached > self._feed.workspace_counter(grant.workspace):
            raise MirrorBehind("the mirror is newer than this snapshot")
        if latest - matches.reached > MAX_LAG:
            raise MirrorBehind
        if latest <= matches.reached:
            return {}
        fresh = read_named_since(session, view, grant, matches.reached)
        return {memory.id: memory for memory in fresh}

    def catch_up(self) -> bool:
        """Replicate one batch; return whether more is pending."""
        try:
            if self._is_unreachable:
                self._mirror.check_connection()
            more = self._replicator.run_step()
        except StoreUnavailable as error:
            if not self._is_unreachable:
                log.warning("replication to Neo4j failed, will retry: %s", error)
            self._is_unreachable = True
            return False
        self._is_unreachable = False
        if not more:
            self._pending_erasures.clear()
        return more

    def rebuild(self) -> None:
        """Drop the mirror of these records; `catch_up` fills it again."""
        self._replicator.rebuild()

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Delete erased memories from the mirror; return how many of `ids` that were.

        If Neo4j is unreachable, replication deletes them later. Until then no caller sees them,
        because every id of the mirror is looked up in the records.
        """
        try:
            removed = self._replicator.remove_erased(workspace)
        except (StoreUnavailable, MirrorConflict) as error:
            log.warning("erasure in Neo4j is postponed: %s", error)
            self._replicator.schedule_workspace(workspace)
            still_there = self._memories.get(administrator_grant(workspace), ids)
            self._pending_erasures[workspace] = self._pending_erasures.get(workspace, 0) + len(
                still_there
            )
            return 0
        self._pending_erasures.pop(workspace, None)
        return len(removed.intersection(ids))

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """Count memories that only the mirror has, and orphaned names.

        While Neo4j is unreachable, count the pending erasures.
        """
        del pieces  # the mirror stores no texts
        if workspace in self._pending_erasures:
            return {AWAY: self._pending_erasures[workspace]}
        graph_key = self._replicator.graph_key(workspace)
        try:
            mirrored = self._mirror.all_ids(graph_key)
            orphans = self._mirror.count_orphans(graph_key)
        except StoreUnavailable:
            return {AWAY: 1}
        labels = self._feed.all_labels(workspace).labels
        existing = set().union(
            *(self._feed.ids_with_names(workspace, state.label) for state in labels)
        )
        return {"neo4j": len(mirrored - existing) + orphans}

    def list_files(self) -> list[Path]:
        return []

    def close(self) -> None:
        self._mirror.close()


def _labels_with_names(view: ReadableLabels) -> list[int]:
    return sorted(state.label for state in view.labels if state.names)


def _sort_newest_first(memories: Iterable[Memory]) -> list[Memory]:
    by_id = sorted(memories, key=lambda memory: memory.id)
    return sorted(by_id, key=lambda memory: memory.at, reverse=True)
