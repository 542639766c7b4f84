"""Neo4j mirror: constant Cypher queries, each with a deadline.

The driver would wait forever for a frozen server that keeps its connections open. After the
deadline such a call is abandoned in its thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, LiteralString, TypeVar
from urllib.parse import unquote, urlsplit

from ....core.canonical import format_time
from ....core.derive import lookup_names, names_in
from ....core.errors import ConfigError, MissingExtra, NexusError, StoreUnavailable
from ....core.ids import WorkspaceId, digest
from ....core.records import Memory
from ....runtime.breaker import get_breaker
from ....text.urls import mask_passwords
from ...query_files import load_queries
from ...sql.readable_labels import LabelState
from ..change_feed import ChangeFeed

if TYPE_CHECKING:
    from neo4j import Driver, ManagedTransaction


T = TypeVar("T")
QueryRow = Mapping[str, Any]

CYPHER = load_queries(__package__, "queries.cypher")
SCHEMA = ("one_record", "one_name", "one_label", "one_home", "memories_by_label")

READ_TIMEOUT_SECONDS = 0.3  # the caller waits, and the records can answer as well
WRITE_TIMEOUT_SECONDS = 30.0  # in the background
PING_TIMEOUT_SECONDS = 2.0  # of a server that was unreachable before
MAX_CONNECTIONS = 16
DELETE_BATCH = 1_000  # nodes per transaction


class MirrorConflict(NexusError):
    """Another process has written to the mirror meanwhile."""


@dataclass(frozen=True, slots=True)
class NameMatches:
    """Ids of memories about some names, and the progress of the mirror at that time."""

    ids: tuple[str, ...]
    reached: int  # all memories up to this number are in the mirror
    generations: Mapping[int, int]  # by label: removals up to this generation may be missing


@dataclass(frozen=True, slots=True)
class MirrorProgress:
    """Replication progress of a workspace."""

    version: int  # optimistic lock: grows with each transaction
    reached: int
    cleaned_generations: Mapping[int, int]  # by label: removals up to this one are done


class Neo4jMirror:
    """A Neo4j database. The first call connects and creates the indexes."""

    def __init__(self, url: str) -> None:
        if find_spec("neo4j") is None:
            raise MissingExtra("Neo4j", "neo4j")
        self._address = Neo4jAddress.from_url(url)
        self._breaker = get_breaker("the graph", url)
        self._driver: Driver | None = None
        self._closed = False
        self._lock = Lock()

    def find_by_names(
        self,
        graph_key: str,
        labels: Sequence[int],
        names: Sequence[str],
        kinds: Sequence[str],
        limit: int,
    ) -> NameMatches:
        """Return the newest memories of these labels, names and kinds.

        Raise StoreUnavailable after READ_TIMEOUT_SECONDS.
        """
        parameters = {"labels": labels, "names": names, "kinds": kinds, "limit": limit}
        (row,) = self._run_read(
            "find_by_names", graph_key, parameters, seconds=READ_TIMEOUT_SECONDS
        )
        return NameMatches(
            tuple(row["ids"]), row["reached"] or 0, _pairs_to_dict(row["generations"])
        )

    def check_connection(self) -> None:
        """Raise StoreUnavailable if the server does not answer in PING_TIMEOUT_SECONDS."""
        self._run_read("ping", "", seconds=PING_TIMEOUT_SECONDS)

    def load_progress(self, graph_key: str) -> MirrorProgress:
        (row,) = self._run_read("load_progress", graph_key)
        cleaned = _pairs_to_dict(row["cleaned"])
        return MirrorProgress(row["version"] or 0, row["reached"] or 0, cleaned)

    def all_ids(self, graph_key: str) -> set[str]:
        return {row["id"] for row in self._run_read("all_ids", graph_key)}

    def ids_in_label(self, graph_key: str, label: int) -> set[str]:
        return {row["id"] for row in self._run_read("ids_in_label", graph_key, {"label": label})}

    def count_memories(self, graph_key: str) -> int:
        (row,) = self._run_read("count_memories", graph_key)
        return int(row["number"])

    def count_orphans(self, graph_key: str) -> int:
        (row,) = self._run_read("count_orphans", graph_key)
        return int(row["number"])

    def export_memories(self, graph_key: str) -> list[dict[str, Any]]:
        """Return every memory with its names and sources, for comparisons."""
        return [dict(row) for row in self._run_read("export_memories", graph_key)]

    def add_memories(
        self, graph_key: str, rows: Sequence[QueryRow], *, version: int, reached: int
    ) -> None:
        """Insert or replace these memories and set the progress to `reached`."""

        def write_batch(transaction: ManagedTransaction) -> None:
            _claim_version(transaction, graph_key, version)
            if rows:
                _run_query(
                    transaction, "remove_memories", graph_key, {"ids": [row["id"] for row in rows]}
                )
                _run_query(transaction, "add_memories", graph_key, {"rows": rows})
            _run_query(transaction, "set_reached", graph_key, {"reached": reached})

        self._run_write(write_batch)

    def remove_from_label(
        self, graph_key: str, label: int, ids: Sequence[str], *, version: int, generation: int
    ) -> int:
        """Delete memories removed from the label up to `generation`; return the new version.

        The first batch marks the label incomplete, the last one clears the mark.
        """
        batches = [
            ids[start : start + DELETE_BATCH] for start in range(0, len(ids), DELETE_BATCH)
        ] or [[]]
        mark = {"label": label, "generation": generation}
        for index, batch in enumerate(batches, start=1):
            self._remove_batch(graph_key, batch, version, {**mark, "done": index == len(batches)})
            version += 1
        return version

    def _remove_batch(
        self, graph_key: str, ids: Sequence[str], version: int, mark: QueryRow
    ) -> None:
        def remove_and_mark(transaction: ManagedTransaction) -> None:
            _claim_version(transaction, graph_key, version)
            if ids:
                _run_query(transaction, "remove_memories", graph_key, {"ids": ids})
            _run_query(transaction, "set_cleaned", graph_key, mark)

        self._run_write(remove_and_mark)

    def drop_graphs(self, graph_keys: Sequence[str]) -> None:
        """Delete all nodes of these graphs."""

        def drop_batch(transaction: ManagedTransaction) -> int:
            bound = {"homes": graph_keys, "limit": DELETE_BATCH}
            return int(_run_query(transaction, "drop_graphs", "", bound)[0]["gone"])

        while self._run_write(drop_batch):
            pass

    def close(self) -> None:
        with self._lock:
            self._closed = True
            driver, self._driver = self._driver, None
        if driver:
            driver.close()

    def _run_read(
        self,
        name: str,
        graph_key: str,
        parameters: QueryRow | None = None,
        *,
        seconds: float = WRITE_TIMEOUT_SECONDS,
    ) -> list[Any]:
        def read_rows() -> list[Any]:
            with self._open_driver().session(database=self._address.database) as session:
                return list(
                    session.run(_query_text(name), {"home": graph_key, **(parameters or {})})
                )

        return self._call_with_deadline(read_rows, seconds)

    def _run_write(self, work: Callable[[ManagedTransaction], T]) -> T:
        def write_work() -> T:
            with self._open_driver().session(database=self._address.database) as session:
                return session.execute_write(work)

        return self._call_with_deadline(write_work, WRITE_TIMEOUT_SECONDS)

    def _call_with_deadline(self, call: Callable[[], T], seconds: float) -> T:
        def call_translated() -> T:
            from neo4j.exceptions import DriverError, Neo4jError  # slow to load

            try:
                return call()
            except (DriverError, Neo4jError, OSError) as error:
                what = mask_passwords(str(error))
                raise StoreUnavailable(f"Neo4j at {self._address.safe_uri}: {what}") from error

        return self._breaker.call(call_translated, seconds=seconds, error=StoreUnavailable)

    def _open_driver(self) -> Driver:
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the graph is closed")
            if self._driver is None:
                driver = self._address.make_driver()
                try:
                    with driver.session(database=self._address.database) as session:
                        for name in SCHEMA:
                            session.run(_query_text(name)).consume()
                except BaseException:
                    driver.close()
                    raise
                self._driver = driver
            return self._driver


@dataclass(frozen=True, slots=True)
class Neo4jAddress:
    """A parsed URL: `neo4j://user:password@host:7687/database`."""

    uri: str
    user: str | None
    password: str | None
    database: str | None

    @classmethod
    def from_url(cls, url: str) -> Neo4jAddress:
        """Parse a URL; NEO4J_USERNAME, NEO4J_PASSWORD and NEO4J_DATABASE are the defaults.

        Raise ConfigError if the URL has no host.
        """
        parts = urlsplit(url)
        try:
            host, port = parts.hostname, f":{parts.port}" if parts.port else ""
        except ValueError:
            host = None
        if not host:
            raise ConfigError(
                f"a graph URL must look like neo4j://host:7687, got {mask_passwords(url)!r}"
            )
        host = f"[{host}]" if ":" in host else host
        query = f"?{parts.query}" if parts.query else ""
        return cls(
            f"{parts.scheme}://{host}{port}{query}",
            unquote(parts.username or "") or os.environ.get("NEO4J_USERNAME"),
            unquote(parts.password or "") or os.environ.get("NEO4J_PASSWORD"),
            parts.path.strip("/") or os.environ.get("NEO4J_DATABASE"),
        )

    @property
    def safe_uri(self) -> str:
        return mask_passwords(self.uri)

    def make_driver(self) -> Driver:
        from neo4j import GraphDatabase, NotificationMinimumSeverity  # needs the extra neo4j

        return GraphDatabase.driver(
            self.uri,
            auth=(self.user, self.password or "") if self.user else None,
            connection_timeout=2.0,
            connection_acquisition_timeout=3.0,
            max_transaction_retry_time=3.0,
            max_connection_pool_size=MAX_CONNECTIONS,
            notifications_min_severity=NotificationMinimumSeverity.OFF,
            telemetry_disabled=True,
        )


def _query_text(name: str) -> LiteralString:
    return CYPHER[name]  # constant text from queries.cypher


def _run_query(
    transaction: ManagedTransaction, name: str, graph_key: str, parameters: QueryRow | None = None
) -> list[Any]:
    return list(transaction.run(_query_text(name), {"home": graph_key, **(parameters or {})}))


def _claim_version(transaction: ManagedTransaction, graph_key: str, version: int) -> None:
    if _run_query(transaction, "claim_version", graph_key)[0]["version"] != version + 1:
        raise MirrorConflict


def _pairs_to_dict(pairs: Sequence[tuple[int | None, int | None]]) -> dict[int, int]:
    """Return the pairs as a dict, without the pair of nulls of an OPTIONAL MATCH."""
    return {label: number or 0 for label, number in pairs if label is not None}


MAX_NAME_CHARS = 1_000  # longer names are stored as digests; Neo4j indexes up to 8 KB


def memory_to_row(label: int, memory: Memory) -> dict[str, object]:
    """Return the node properties of a memory: its names, but no text."""
    names = {to_index_name(name) for name in names_in(memory)}
    predicate = memory.body.get("predicate")
    return {
        "id": memory.id,
        "label": label,
        "kind": memory.kind.value,
        "at": format_time(memory.at),
        "predicate": to_index_name(predicate) if isinstance(predicate, str) else None,
        "names": sorted(names),
        "parts": sorted({to_index_name(name) for name in lookup_names(memory)} - names),
        "sources": sorted(set(memory.sources)),
    }


def to_index_name(name: str) -> str:
    """Return the name, or its digest if it is too long for the index."""
    return name if len(name) <= MAX_NAME_CHARS else digest("name", name)


BATCH = 500  # memories per transaction
STEP_SECONDS = 1.0  # duration of one step
MAX_CONFLICTS = 5  # retries after writes of another process


class GraphReplicator:
    """Replicates every workspace of the records."""

    def __init__(self, feed: ChangeFeed, mirror: Neo4jMirror) -> None:
        self._feed = feed
        self._mirror = mirror
        self._counters: dict[WorkspaceId, int] = {}  # last replicated number of each workspace
        self._scheduled: set[WorkspaceId] = set()
        self._rebuilt: set[WorkspaceId] = set()  # by this process, once each
        self._sync_lock = Lock()
        self._made_at: str | None = None

    def graph_key(self, workspace: WorkspaceId) -> str:
        """Return the key of a workspace in the mirror, distinct for each store."""
        self._made_at = self._made_at or self._feed.store_created_at()
        return digest("graph", self._made_at, workspace.value)

    def schedule_workspace(self, workspace: WorkspaceId) -> None:
        """Check this workspace in the next step, because memories may have been removed."""
        self._scheduled.add(workspace)

    def run_step(self) -> bool:
        """Replicate for about STEP_SECONDS; return whether more is pending."""
        with self._sync_lock:
            deadline = time.monotonic() + STEP_SECONDS
            for workspace, counter in self._stale_workspaces().items():
                self._scheduled.discard(workspace)
                try:
                    if not self._sync_workspace(workspace, deadline):
                        self._scheduled.add(workspace)
                        return True
                except BaseException:
                    self._scheduled.add(workspace)
                    raise
                self._counters[workspace] = counter
        return False

    def _stale_workspaces(self) -> dict[WorkspaceId, int]:
        counters = self._feed.workspace_counters()
        return {
            workspace: counter
            for workspace, counter in sorted(counters.items())
            if workspace in self._scheduled or self._counters.get(workspace) != counter
        }

    def _sync_workspace(self, workspace: WorkspaceId, deadline: float) -> bool:
        """Replicate a workspace until `deadline`; return whether it is complete."""
        graph_key = self.graph_key(workspace)
        try:
            progress = self._mirror.load_progress(graph_key)
            while (
                next_progress := self._add_next_batch(workspace, graph_key, progress)
            ) != progress:
                progress = next_progress
                if time.monotonic() > deadline:
                    return False
            self._remove_stale(workspace, graph_key, progress)
        except MirrorConflict:
            return False
        return workspace in self._counters or self._check_complete(workspace, graph_key)

    def _add_next_batch(
        self, workspace: WorkspaceId, graph_key: str, progress: MirrorProgress
    ) -> MirrorProgress:
        """Add the next batch; return the new progress."""
        with self._feed.connections.read_transaction():
            counter = self._feed.workspace_counter(workspace)
            memories = self._feed.read_named_memories(
                workspace, after=progress.reached, limit=BATCH
            )
        if progress.reached > counter:  # the records were restored from an older backup
            self._mirror.drop_graphs([graph_key])
            raise MirrorConflict
        reached = memories[-1][0] if len(memories) == BATCH else counter
        if reached == progress.reached:
            return progress
        rows = [
            memory_to_row(label, memory) for _, label, memory in memories if lookup_names(memory)
        ]
        self._mirror.add_memories(graph_key, rows, version=progress.version, reached=reached)
        return replace(progress, version=progress.version + 1, reached=reached)

    def remove_erased(self, workspace: WorkspaceId) -> set[str]:
        """Delete memories that were removed from the records now; return their ids."""
        graph_key = self.graph_key(workspace)
        with self._sync_lock:
            for _ in range(MAX_CONFLICTS):
                try:
                    return self._remove_stale(
                        workspace, graph_key, self._mirror.load_progress(graph_key)
                    )
                except MirrorConflict:
                    continue
        raise MirrorConflict

    def _remove_stale(
        self, workspace: WorkspaceId, graph_key: str, progress: MirrorProgress
    ) -> set[str]:
        """Delete memories removed from any label since the last check; return their ids."""
        removed: set[str] = set()
        changed = [
            state.label for state in self._label_states(workspace) if _has_removals(state, progress)
        ]
        version = progress.version
        for label in changed:
            mirrored = self._mirror.ids_in_label(graph_key, label)
            with self._feed.connections.read_transaction():
                (now,) = (state for state in self._label_states(workspace) if state.label == label)
                gone = mirrored - self._feed.ids_with_names(workspace, label)
            version = self._mirror.remove_from_label(
                graph_key, label, sorted(gone), version=version, generation=now.generation
            )
            removed |= gone
        return removed

    def _check_complete(self, workspace: WorkspaceId, graph_key: str) -> bool:
        """Return whether the mirror has the expected number of memories; otherwise drop it."""
        size, progress = (
            self._mirror.count_memories(graph_key),
            self._mirror.load_progress(graph_key),
        )
        with self._feed.connections.read_transaction():
            states = self._label_states(workspace)
            expected = sum(len(self._feed.ids_with_names(workspace, each.label)) for each in states)
            has_changed = self._feed.workspace_counter(workspace) != progress.reached
            has_changed = has_changed or any(_has_removals(state, progress) for state in states)
        if has_changed or size == expected or workspace in self._rebuilt:
            return True
        self._rebuilt.add(workspace)
        self._mirror.drop_graphs([graph_key])
        return False

    def _label_states(self, workspace: WorkspaceId) -> Sequence[LabelState]:
        return self._feed.all_labels(workspace).labels

    def rebuild(self) -> None:
        """Drop the mirror of these records; the next steps fill it again."""
        with self._sync_lock:
            graph_keys = [self.graph_key(each) for each in self._feed.workspace_counters()]
            self._mirror.drop_graphs(graph_keys)
            self._counters.clear()


def _has_removals(state: LabelState, progress: MirrorProgress) -> bool:
    """Return whether memories may have been removed from this label since the last check."""
    return state.generation != progress.cleaned_generations.get(state.label, 0)
