"""Read-ahead: a background thread loads the pages of a scope into the page cache.

A recall reads about a hundred pages of a workspace, one after the other. In a file larger than
the page cache each one is a disk access. The thread reads these pages while the recall still
analyses the query. It returns nothing: the recall reads the rows again with its own grant.

If all pages are cached, reading them twice only costs time. So the thread counts disk accesses,
and if there were none, it reads ahead only for some recalls.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from queue import SimpleQueue

from ...core.errors import StoreUnavailable
from ..sql.readable_labels import ReadableLabels
from ..sql.transactions import Connections

LARGE_BYTES = 256_000_000  # smaller files are in the page cache anyway
MAX_DOCUMENTS = 5_000  # readable memories; of more, a recall reads only a part
MAX_REMEMBERED_LABELS = 20_000  # labels that are not read again
SAMPLE_EVERY = 15  # epoch reads per read-ahead while all pages are cached

LabelKey = tuple[int, int]  # workspace and label


def count_disk_blocks() -> int | None:
    """Return the blocks that this thread has read from disk; None if the OS does not count them."""
    try:
        from resource import RUSAGE_THREAD, getrusage  # Linux only
    except ImportError:
        return None
    return getrusage(RUSAGE_THREAD).ru_inblock


class ReadAhead:
    """Reads the pages of each label once, in a thread."""

    def __init__(
        self, connections: Connections, blocks: Callable[[], int | None] = count_disk_blocks
    ) -> None:
        self._connections = connections
        self._blocks = blocks
        self._is_useful = True  # whether the last read accessed the disk
        self._skipped = 0
        self._seen_labels: OrderedDict[LabelKey, None] = OrderedDict()
        self._requests: SimpleQueue[tuple[int, list[int]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def prefetch_labels(self, view: ReadableLabels) -> None:
        """Queue the labels of a view that were not read yet, source memories first."""
        if self._should_skip() or sum(state.documents for state in view.labels) > MAX_DOCUMENTS:
            return
        states = (*view.only_source.labels, *view.only_derived.labels)
        with self._lock:
            new = [
                state.label
                for state in states
                if state.documents and (view.workspace, state.label) not in self._seen_labels
            ]
            self._seen_labels.update({(view.workspace, label): None for label in new})
            while len(self._seen_labels) > MAX_REMEMBERED_LABELS:
                self._seen_labels.popitem(last=False)
            if new and self._thread is None:
                self._thread = threading.Thread(
                    target=self._run_thread, name="nexus-ahead", daemon=True
                )
                self._thread.start()
        if new:
            self._requests.put((view.workspace, new))

    def _should_skip(self) -> bool:
        """Return True for all but one in SAMPLE_EVERY calls while the pages are cached."""
        self._skipped = 0 if self._is_useful else (self._skipped + 1) % SAMPLE_EVERY
        return self._skipped > 0

    def _run_thread(self) -> None:
        while (request := self._requests.get()) is not None:
            workspace, labels = request
            bound = {"workspace": workspace, "labels": json.dumps(labels)}
            before = self._blocks()
            try:
                with self._connections.read_transaction() as session:
                    session.execute_query("read_ahead", bound).fetchone()
            except StoreUnavailable:  # the recall itself will report it
                continue
            self._is_useful = before is None or self._blocks() != before

    def close(self) -> None:
        with self._lock:
            thread = self._thread
        if thread is not None:
            self._requests.put(None)
            thread.join()
