"""Reading ahead: whoever asks in a place for the first time finds its pages in memory.

A question reads a hundred pages of a workspace, each when the one before is understood. In a file
larger than what a machine keeps in memory they come from the disk, one after the other. Here a
thread of its own reads them while the question is still being understood. It looks at nothing: what
it reads stays in the system's own cache, and a question reads it again with its own grant.

Where all of it lies in memory already, reading it twice only takes time from the question. So the
thread looks whether the disk had to be waited for, and if not, reads ahead but now and then.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from queue import SimpleQueue

from ...core.errors import StoreUnavailable
from ..sql.labels import Readable
from ..sql.session import Connections

LARGE_BYTES = 256_000_000  # of a file: a smaller one lies in memory anyway
MOST_DOCUMENTS = 5_000  # of what a viewer may read: of more, a question reads but a part
MOST_PLACES = 20_000  # labels that were read lately
RARELY = 15  # one look in so many counts while nothing comes from the disk; a context has two

Place = tuple[int, int]  # workspace and label


def blocks_from_disk() -> int | None:
    """How much this thread has read that did not lie in memory; None where nobody counts that."""
    try:
        from resource import RUSAGE_THREAD, getrusage  # noqa: PLC0415  # Linux alone has it
    except ImportError:
        return None
    return getrusage(RUSAGE_THREAD).ru_inblock


class ReadAhead:
    """Reads what a question will want, once for each label."""

    def __init__(
        self, connections: Connections, blocks: Callable[[], int | None] = blocks_from_disk
    ) -> None:
        self._connections = connections
        self._blocks = blocks
        self._worthwhile = True  # whether the disk was waited for, the last time
        self._passed_over = 0
        self._read: OrderedDict[Place, None] = OrderedDict()
        self._wanted: SimpleQueue[tuple[int, list[int]] | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()

    def look(self, view: Readable) -> None:
        """Somebody is about to ask here; what was told is wanted first."""
        if self._is_in_vain() or sum(state.documents for state in view.labels) > MOST_DOCUMENTS:
            return
        shelves = (*view.told.labels, *view.learned.labels)
        with self._lock:
            new = [
                state.label
                for state in shelves
                if state.documents and (view.workspace, state.label) not in self._read
            ]
            self._read.update({(view.workspace, label): None for label in new})
            while len(self._read) > MOST_PLACES:
                self._read.popitem(last=False)
            if new and self._thread is None:
                self._thread = threading.Thread(target=self._run, name="nexus-ahead", daemon=True)
                self._thread.start()
        if new:
            self._wanted.put((view.workspace, new))

    def _is_in_vain(self) -> bool:
        """Of what lies in memory only one in so many looks is worth the time, to see if it does."""
        self._passed_over = 0 if self._worthwhile else (self._passed_over + 1) % RARELY
        return self._passed_over > 0

    def _run(self) -> None:
        while (wanted := self._wanted.get()) is not None:
            workspace, labels = wanted
            bound = {"workspace": workspace, "labels": json.dumps(labels)}
            before = self._blocks()
            try:
                with self._connections.reading() as session:
                    session.run("read_ahead", bound).fetchone()
            except StoreUnavailable:  # the question itself will say so
                continue
            self._worthwhile = before is None or self._blocks() != before

    def close(self) -> None:
        with self._lock:
            thread = self._thread
        if thread is not None:
            self._wanted.put(None)
            thread.join()
