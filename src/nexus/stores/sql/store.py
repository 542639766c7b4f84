"""What the SQL stores hand out: the parts of one database."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager

from ...core.access import Grant
from ...core.audit import Entry
from ...core.erasing import Eraser
from ...core.graph import Graph, RecordsGraph
from ...core.ids import WorkspaceId
from ...core.layers import Layers
from ...core.leases import Lease
from ...core.metrics import CacheUse
from ...core.moving import Mover
from ...core.protocols import Vectors
from .accompanied import Accompanied
from .accounts import SqlAccounts
from .audit import SqlAudit
from .feed import Feed
from .jobs import SqlJobs
from .keywords import Keywords
from .labels import readable
from .ledger import SqlLedger
from .memories import SqlMemories
from .naming import NameBox
from .queue import SqlQueue
from .uses import SqlUses
from .window import SqlWindow


class SqlStore:
    """The parts whose rows are the same in every SQL product; a product adds its own."""

    encrypted = False  # whether nothing of it may lie about in plain text

    def __init__(
        self, connections: Accompanied, keywords: Keywords, names: NameBox | None = None
    ) -> None:
        self._sessions = connections
        self._keywords = keywords
        self.feed = Feed(connections)
        self.ledger: SqlLedger = SqlLedger(connections)
        self.queue: SqlQueue = SqlQueue(connections)
        self.jobs = SqlJobs(connections)
        self.memories = SqlMemories(connections, keywords, names)
        self.accounts = SqlAccounts(connections)
        self.uses = SqlUses(connections)
        self.audit = SqlAudit(connections)
        self.window = SqlWindow(connections)
        self.graph: Graph = RecordsGraph(self.memories)
        self.vectors: Vectors
        self.eraser: Eraser

    @property
    def layers(self) -> Layers:
        from .layers import SqlLayers  # noqa: PLC0415  # seldom needed

        return SqlLayers(self._sessions)

    @property
    def mover(self) -> Mover:
        from .mover import SqlMover  # noqa: PLC0415  # seldom needed

        return SqlMover(self._sessions)

    def moment(self) -> AbstractContextManager[object]:
        return self._sessions.reading()

    def recording(
        self, workspace: WorkspaceId, entry: Entry, *, outcome: str | None = None
    ) -> AbstractContextManager[None]:
        audit = self.audit
        return audit._recording(workspace, entry, outcome)  # noqa: SLF001  # no contract of the part

    def recording_in(self, entries: Mapping[WorkspaceId, Entry]) -> AbstractContextManager[None]:
        return self.audit._recording_in(entries)  # noqa: SLF001  # no contract of the part

    def holding(self, leases: Sequence[Lease]) -> AbstractContextManager[None]:
        return self._sessions.holding.hold(leases)

    def workspaces(self) -> list[WorkspaceId]:
        with self._sessions.reading() as session:
            return [WorkspaceId(name) for (name,) in session.run("workspaces")]

    def count(self, grant: Grant) -> dict[str, int]:
        with self._sessions.reading() as session:
            bound = readable(session, grant).parameters
            (events,) = session.run("count_events", bound).fetchone()
            (vectors,) = session.run("count_vectors", bound).fetchone()
            return {"events": events, **self.kinds(grant), "vectors": vectors}

    def kinds(self, grant: Grant) -> dict[str, int]:
        with self._sessions.reading() as session:
            bound = readable(session, grant).filled.parameters
            return dict(session.run("count_memories", bound).fetchall())

    def epoch(self, grant: Grant) -> int:
        with self._sessions.reading() as session:
            return readable(session, grant).epoch

    def caches(self) -> dict[str, CacheUse]:
        from .vectors import SqlVectors  # noqa: PLC0415  # it is loaded by whoever has some

        caches = self._keywords.caches()
        if isinstance(self.vectors, SqlVectors):
            caches["vectors"] = self.vectors.cache_use
        return caches

    def follow(self) -> bool:
        return False  # nothing is kept beside the records
