"""Lance tables in a folder: one table for each label and profile, with a progress file.

One table per label means that a search does not depend on other labels and needs no filter.
Erasure drops the table: LanceDB leaves deleted rows in its files, even after most compactions.

LanceDB does not call fsync, so this module does. Afterwards it replaces the progress file, which
names the version of the table that is safe to read. That file contains only numbers.
"""

from __future__ import annotations

import json
import logging
import os
import re
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import timedelta
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np

from ....core.errors import MissingExtra, NexusError, StoreUnavailable
from ....core.ids import WorkspaceId
from ....core.protocols.embedder import Floats
from ...sql.readable_labels import LabelState, ReadableLabels
from ...sql.vectors.vector_codes import Ints
from ..change_feed import ChangeFeed, VectorBatch

TABLE_NAME = re.compile(r"w(\d+)_l(\d+)_p(\d+)")
METRIC: Final = "dot"  # distance = 1 - score, without normalization
LOCK_TIMEOUT_SECONDS = 60.0  # covers a batch of another process


class IndexFailed(StoreUnavailable):
    """A Lance table could not be read or written; the records are still usable."""


@dataclass(frozen=True, slots=True, order=True)
class TableId:
    """The workspace, label and profile of a table."""

    workspace: int
    label: int
    profile: int

    def __str__(self) -> str:
        return f"w{self.workspace:d}_l{self.label:d}_p{self.profile:d}"


@dataclass(frozen=True, slots=True)
class TableProgress:
    """Replication progress of a table, and the table version it describes."""

    version: int
    number: int  # all vectors of the label up to this number are in the table
    generation: int  # of the label at the last comparison with the records
    rows: int
    appended: int = 0  # appends since the last compaction
    indexed: bool = False


class LanceTables:
    """All tables of a folder. Writers must hold `exclusive_lock`."""

    def __init__(self, folder: Path) -> None:
        if find_spec("lancedb") is None:
            raise MissingExtra("LanceDB", "lancedb")
        self.folder = folder.absolute()  # independent of a later chdir
        self._database: Any = None
        self._progress_cache: dict[TableId, tuple[tuple[int, int], TableProgress]] = {}
        self._open_tables: dict[TableId, tuple[TableProgress, Any]] = {}
        self._write_lock = threading.Lock()

    def list_tables(self) -> list[TableId]:
        """Return all tables, including incomplete ones."""
        files = self.folder.iterdir() if self.folder.is_dir() else ()
        matches = (TABLE_NAME.fullmatch(file.stem) for file in files)
        return sorted({TableId(*map(int, match.groups())) for match in matches if match})

    def load_progress(self, table_id: TableId) -> TableProgress | None:
        """Return the progress of a table, or None if there is no complete table."""
        file = self._progress_file(table_id)
        try:
            stat = file.stat()
            stamp = (stat.st_mtime_ns, stat.st_ino)
            cached = self._progress_cache.get(table_id)
            if cached is None or cached[0] != stamp:
                cached = stamp, TableProgress(**json.loads(file.read_bytes()))
                self._progress_cache[table_id] = cached
        except (OSError, ValueError, TypeError):
            return None
        return cached[1]

    def find_neighbours(
        self,
        table_id: TableId,
        progress: TableProgress,
        query_vector: Floats,
        limit: int,
        *,
        effort: int | None,
    ) -> tuple[Ints, Floats]:
        """Return numbers and distances of the nearest vectors, nearest first.

        `effort` is ef_search of the index; None compares all vectors.
        """
        with self._map_errors(table_id):
            search = self._open_table(table_id, progress).search(
                query_vector, vector_column_name="vector"
            )
            search = search.distance_type(METRIC).limit(limit).select(["number", "_distance"])
            search = search.bypass_vector_index() if effort is None else search.ef(effort)
            rows = search.to_arrow()
            return rows["number"].to_numpy(), rows["_distance"].to_numpy()

    def load_numbers(self, table_id: TableId, progress: TableProgress) -> Ints:
        """Return the numbers of all vectors of the table."""
        with self._map_errors(table_id):
            table = self._open_table(table_id, progress)
            numbers: Ints = table.search().select(["number"]).to_arrow()["number"].to_numpy()
            return numbers

    def newest_vector(self, table_id: TableId, progress: TableProgress) -> Floats:
        """Return the last replicated vector."""
        with self._map_errors(table_id):
            # The only filter in this package; its value is an integer of the store.
            newest = (
                self._open_table(table_id, progress).search().where(f"number = {progress.number:d}")
            )
            vector: Floats = np.array(newest.to_arrow()["vector"].to_pylist(), dtype=np.float32)
            return vector.reshape(-1)

    def append(
        self,
        table_id: TableId,
        progress: TableProgress | None,
        vectors: VectorBatch,
        generation: int,
    ) -> None:
        with self._map_errors(table_id):
            rows = _to_arrow(vectors)
            if progress is None:
                self.drop(table_id)
                table = self._connect_database().create_table(str(table_id), rows)
            else:
                table = self._open_for_write(table_id, progress)
                table.add(rows)
            self._save_progress(
                table_id,
                TableProgress(
                    version=table.version,
                    number=int(vectors.numbers[-1]),
                    generation=generation,
                    rows=table.count_rows(),
                    appended=progress.appended + 1 if progress else 0,
                    indexed=progress.indexed if progress else False,
                ),
            )

    def mark_compared(self, table_id: TableId, progress: TableProgress, generation: int) -> None:
        """Save that the table had no removed vectors at this generation."""
        fields = {**asdict(progress), "generation": generation}
        self._save_progress(table_id, TableProgress(**fields))

    def compact(self, table_id: TableId, progress: TableProgress) -> None:
        """Merge the files of a table and delete its old versions."""
        with self._map_errors(table_id), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a failing reader falls back to the records
            table = self._open_for_write(table_id, progress)
            table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)
            table.checkout_latest()
            fields = {**asdict(progress), "version": table.version, "appended": 0}
            self._save_progress(table_id, TableProgress(**fields))

    def build_index(self, table_id: TableId, progress: TableProgress) -> None:
        """Build the approximate index; takes about a millisecond for each vector."""
        with self._map_errors(table_id):
            from lancedb.index import HnswSq  # needs the extra lancedb

            table = self._open_for_write(table_id, progress)
            # One partition: neighbours in partitions that are not searched would be lost.
            table.create_index("vector", config=HnswSq(distance_type=METRIC, num_partitions=1))
            table.checkout_latest()
            fields = {**asdict(progress), "version": table.version, "indexed": True}
            self._save_progress(table_id, TableProgress(**fields))

    def drop(self, table_id: TableId) -> None:
        """Delete the table with all of its versions."""
        self._progress_file(table_id).unlink(missing_ok=True)
        self.close_table(table_id)
        folder = self.folder / f"{table_id}.lance"
        with self._map_errors(table_id):
            if folder.exists():
                shutil.rmtree(folder)

    def close_table(self, table_id: TableId) -> None:
        """Close the table; the next call opens it again."""
        self._progress_cache.pop(table_id, None)
        self._open_tables.pop(table_id, None)

    def list_files(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(file for file in self.folder.rglob("*") if file.is_file())

    def workspace_files(self, workspace: int) -> list[Path]:
        """Return the files of all tables of a workspace."""
        folders = [
            f"{table_id}.lance"
            for table_id in self.list_tables()
            if table_id.workspace == workspace
        ]
        return [
            file for file in self.list_files() if file.relative_to(self.folder).parts[0] in folders
        ]

    def close(self) -> None:
        self._open_tables.clear()
        self._database = None

    @contextmanager
    def exclusive_lock(self, *, timeout_seconds: float = 0.0) -> Iterator[bool]:
        """Lock the folder against other threads and processes; yield whether it succeeded."""
        deadline = time.monotonic() + timeout_seconds
        if not self._write_lock.acquire(timeout=max(timeout_seconds, 0.001)):
            yield False
            return
        try:
            with self._lock_file(deadline) as locked:
                yield locked
        finally:
            self._write_lock.release()

    @contextmanager
    def _lock_file(self, deadline: float) -> Iterator[bool]:
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with (self.folder / "lock").open("ab") as file:
            while not _try_lock(file.fileno()):
                if time.monotonic() >= deadline:
                    yield False
                    return
                time.sleep(0.01)
            yield True  # closing the file unlocks it

    def _connect_database(self) -> Any:
        if self._database is None:
            import lancedb  # takes seconds to import

            self._database = lancedb.connect(self.folder)
        return self._database

    def _open_table(self, table_id: TableId, progress: TableProgress) -> Any:
        """Return the table at the version of `progress`; raise IndexFailed if rows are missing."""
        opened = self._open_tables.get(table_id)
        if opened is None or opened[0] != progress:
            table = self._connect_database().open_table(str(table_id))
            table.checkout(progress.version)
            if table.count_rows() != progress.rows:
                raise IndexFailed(f"{self.folder}: {table_id} has lost rows")
            opened = progress, table
            self._open_tables[table_id] = opened
        return opened[1]

    def _open_for_write(self, table_id: TableId, progress: TableProgress) -> Any:
        table = self._connect_database().open_table(str(table_id))
        if table.version != progress.version:  # a writer was killed before it saved its progress
            table.checkout(progress.version)
            table.restore()
        return table

    def _save_progress(self, table_id: TableId, progress: TableProgress) -> None:
        """Write the table and then the progress file to disk."""
        folder = self.folder / f"{table_id}.lance"
        for path in (*folder.rglob("*"), folder):
            _fsync_path(path)
        file = self._progress_file(table_id)
        new = file.with_suffix(".new")
        new.write_text(json.dumps(asdict(progress)))
        _fsync_path(new)
        new.replace(file)
        _fsync_path(self.folder)

    def _progress_file(self, table_id: TableId) -> Path:
        return self.folder / f"{table_id}.json"

    @contextmanager
    def _map_errors(self, table_id: TableId) -> Iterator[None]:
        """Raise IndexFailed for every error of LanceDB, which has no common base class."""
        try:
            yield
        except IndexFailed:
            self.close_table(table_id)
            raise
        except Exception as error:
            self.close_table(table_id)
            raise IndexFailed(f"{self.folder}: {table_id}: {error}") from error


def _to_arrow(vectors: VectorBatch) -> Any:
    import pyarrow as pa  # comes with lancedb

    dimension = vectors.table.shape[1]
    flat = pa.array(np.ascontiguousarray(vectors.table, dtype=np.float32).reshape(-1))
    columns = [pa.array(vectors.numbers), pa.FixedSizeListArray.from_arrays(flat, dimension)]
    return pa.Table.from_arrays(columns, names=["number", "vector"])


def _try_lock(descriptor: int) -> bool:
    if sys.platform == "win32":
        return True  # rows that two processes append are deduplicated by the search
    import fcntl  # not on Windows

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _fsync_path(path: Path) -> None:
    if path.is_file():
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    elif os.name != "nt":  # Windows cannot fsync folders
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


BATCH = 10_000  # vectors per step
APPEND_DIVISOR = 100  # append at least 1 % of the table, which limits the number of files
COMPACT_AFTER_APPENDS = 20
RESCAN_SECONDS = 30.0  # between scans for changes of other processes
MAX_REMOVED_SHARE = 0.1  # rewrite a table with more removed vectors
MAX_REMOVED_SECONDS = 3_600.0  # rewrite a table with removed vectors after this time

log = logging.getLogger(__name__)


class VectorReader(Protocol):
    """Reads the next vectors of a label and profile."""

    def __call__(self, *, after: int, limit: int) -> VectorBatch: ...


class TableReplicator:
    """Replicates labels with at least `min_documents` memories."""

    def __init__(
        self, feed: ChangeFeed, tables: LanceTables, *, min_documents: int, approximate: bool
    ) -> None:
        self._feed = feed
        self._tables = tables
        self._min_documents = min_documents
        self._approximate = approximate
        self._scheduled: set[WorkspaceId] = set()
        self._trusted: set[TableId] = set()
        self._next_rescan = 0.0
        self._removed_since: dict[TableId, float] = {}
        self._builder: threading.Thread | None = None

    def schedule_workspace(self, workspace: WorkspaceId) -> None:
        """Check this workspace in the next step."""
        self._scheduled.add(workspace)

    def mark_untrusted(self, table_id: TableId) -> None:
        """Compare this table with the records before it is used again."""
        self._trusted.discard(table_id)

    def run_step(self) -> bool:
        """Replicate one batch; return whether more may be pending.

        Raise IndexFailed if the folder cannot be read or written.
        """
        if not self._scheduled and time.monotonic() < self._next_rescan:
            return False
        try:
            with self._tables.exclusive_lock() as locked:
                return locked and self._sync_next()
        except OSError as error:
            raise IndexFailed(f"{self._tables.folder}: {error}") from error

    def _sync_next(self) -> bool:
        for workspace in self._due_workspaces():
            self._scheduled.discard(workspace)  # before reading, because of concurrent writes
            view = self._feed.all_labels(workspace)
            if any(self._sync_or_drop(workspace, *table) for table in self._iter_tables(view)):
                self._scheduled.add(workspace)
                return True
        return False

    def _due_workspaces(self) -> Iterator[WorkspaceId]:
        """Yield scheduled workspaces, and at intervals all workspaces with a table."""
        yield from sorted(self._scheduled)
        if time.monotonic() < self._next_rescan:
            return
        self._next_rescan = time.monotonic() + RESCAN_SECONDS
        names = self._feed.workspace_ids()
        for table_id in self._tables.list_tables():
            if table_id.workspace not in names:
                self._drop_table(table_id)
        numbers = {table_id.workspace for table_id in self._tables.list_tables()}
        self._scheduled.update(names[number] for number in numbers)
        yield from sorted(self._scheduled)

    def _iter_tables(self, view: ReadableLabels) -> Iterator[tuple[TableId, LabelState]]:
        tables = set(self._tables.list_tables())
        for profile in self._feed.profile_dimensions():
            for state in view.labels:
                table_id = TableId(view.workspace, state.label, profile)
                if state.documents >= self._min_documents or table_id in tables:
                    yield table_id, state

    def _sync_or_drop(self, workspace: WorkspaceId, table_id: TableId, state: LabelState) -> bool:
        """Sync a table; drop it after an error, so that the next step rebuilds it."""
        try:
            return self._sync_table(workspace, table_id, state)
        except IndexFailed as error:
            log.warning("dropped a Lance table to rebuild it: %s", error)
            self._drop_table(table_id)
            self._scheduled.add(workspace)
            return False

    def _sync_table(self, workspace: WorkspaceId, table_id: TableId, state: LabelState) -> bool:
        progress = self._tables.load_progress(table_id)
        if progress is None and state.documents < self._min_documents:
            self._drop_table(table_id)  # its first append was never completed
            return False
        if progress and not self._is_worth_keeping(workspace, table_id, state, progress):
            self._drop_table(table_id)
            return True
        progress = self._tables.load_progress(table_id)
        after = progress.number if progress else 0
        vectors = self._feed.read_vectors(
            workspace, table_id.label, table_id.profile, after=after, limit=BATCH
        )
        if progress and len(vectors) <= progress.rows // APPEND_DIVISOR:
            return self._compact_or_index(table_id, progress)
        if not len(vectors):
            return False
        self._tables.append(table_id, progress, vectors, state.generation)
        self._trusted.add(table_id)
        return True

    def _is_worth_keeping(
        self, workspace: WorkspaceId, table_id: TableId, state: LabelState, progress: TableProgress
    ) -> bool:
        read = partial(self._feed.read_vectors, workspace, table_id.label, table_id.profile)
        if 2 * state.documents < self._min_documents or not self.is_trusted(
            table_id, state, progress, read
        ):
            return False
        removed = self._count_removed(workspace, table_id, state, progress)
        if not removed:
            self._removed_since.pop(table_id, None)
            return True
        since = self._removed_since.setdefault(table_id, time.monotonic())
        return (
            removed < MAX_REMOVED_SHARE * progress.rows
            and time.monotonic() - since < MAX_REMOVED_SECONDS
        )

    def _count_removed(
        self, workspace: WorkspaceId, table_id: TableId, state: LabelState, progress: TableProgress
    ) -> int:
        """Return how many vectors of the table were removed from the records."""
        if state.generation == progress.generation:
            return 0
        existing = self._feed.vector_numbers(
            workspace, table_id.label, table_id.profile, progress.number
        )
        removed = np.setdiff1d(self._tables.load_numbers(table_id, progress), existing)
        if not len(removed):
            self._tables.mark_compared(table_id, progress, state.generation)
        return len(removed)

    def is_trusted(
        self, table_id: TableId, state: LabelState, progress: TableProgress, read: VectorReader
    ) -> bool:
        """Return whether the table was made from these records.

        It was not if the folder belongs to another store, or the records were restored from a
        backup that is older than the table.
        """
        if state.latest < progress.number or state.generation < progress.generation:
            return False
        if table_id not in self._trusted:
            newest = read(after=progress.number - 1, limit=1)
            if len(newest) and newest.numbers[0] == progress.number:
                same = np.array_equal(
                    newest.table[0], self._tables.newest_vector(table_id, progress)
                )
            else:  # the last replicated vector was removed
                same = state.generation > progress.generation
            if not same:
                return False
            self._trusted.add(table_id)
        return True

    def _compact_or_index(self, table_id: TableId, progress: TableProgress) -> bool:
        if progress.appended >= COMPACT_AFTER_APPENDS:
            self._tables.compact(table_id, progress)
            return True
        if self._approximate and not progress.indexed and progress.rows >= self._min_documents:
            self._start_index_build(table_id)
        return False

    def _start_index_build(self, table_id: TableId) -> None:
        """Build the index in a thread: it takes minutes, and replication must not wait."""
        if self._builder is None or not self._builder.is_alive():
            self._builder = threading.Thread(
                target=self._build_index, args=(table_id,), name="nexus-lancedb", daemon=True
            )
            self._builder.start()

    def _build_index(self, table_id: TableId) -> None:
        try:
            with self._tables.exclusive_lock(timeout_seconds=LOCK_TIMEOUT_SECONDS) as locked:
                progress = self._tables.load_progress(table_id)
                if locked and progress and not progress.indexed:
                    self._tables.build_index(table_id, progress)
        except (NexusError, OSError) as error:
            log.warning("building an approximate index failed: %s", error)

    def drop_erased(self, workspace: WorkspaceId) -> int:
        """Drop the tables with vectors that were removed from the records; return their number."""
        dropped = 0
        with self._tables.exclusive_lock(timeout_seconds=LOCK_TIMEOUT_SECONDS) as locked:
            if not locked:
                raise StoreUnavailable(f"{self._tables.folder} is locked by another writer")
            for table_id, state in self._iter_tables(self._feed.all_labels(workspace)):
                if self._has_removed(workspace, table_id, state):
                    self._drop_table(table_id)
                    dropped += 1
            self.schedule_workspace(workspace)
        return dropped

    def _has_removed(self, workspace: WorkspaceId, table_id: TableId, state: LabelState) -> bool:
        progress = self._tables.load_progress(table_id)
        try:
            return progress is None or bool(
                self._count_removed(workspace, table_id, state, progress)
            )
        except IndexFailed:
            return True

    def pieces_in_records(
        self, workspace: WorkspaceId, number: int, pieces: set[bytes]
    ) -> set[bytes]:
        """Return the pieces that remaining vectors also contain: two vectors may be equal."""
        remaining: set[bytes] = set()
        for table_id in self._tables.list_tables():
            after = 0
            while table_id.workspace == number and remaining != pieces:
                batch = self._feed.read_vectors(
                    workspace, table_id.label, table_id.profile, after=after, limit=BATCH
                )
                if not len(batch):
                    break
                data = batch.table.astype("<f4").tobytes()
                remaining |= {piece for piece in pieces if piece in data}
                after = int(batch.numbers[-1])
        return remaining

    def rebuild(self) -> None:
        """Drop every table; the next steps fill them from the records."""
        with self._tables.exclusive_lock(timeout_seconds=LOCK_TIMEOUT_SECONDS) as locked:
            if not locked:
                raise StoreUnavailable(f"{self._tables.folder} is locked by another writer")
            self._scheduled.update(self._feed.workspace_ids().values())
            for table_id in self._tables.list_tables():
                self._drop_table(table_id)

    def _drop_table(self, table_id: TableId) -> None:
        self._trusted.discard(table_id)
        self._removed_since.pop(table_id, None)
        self._tables.drop(table_id)
