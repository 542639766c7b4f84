"""What a part must do to be a part. Nothing inherits from these; a suite in
`nexus.testing` checks each contract.

Reads take a `Grant` first: there is no way to ask without saying who asks. A part maps its
driver's errors to `nexus.core.errors` at its own edge. `close` may be called twice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from .sweeps import States

if TYPE_CHECKING:  # importing nexus waits for none of the records that only parts speak of
    import numpy as np
    from numpy.typing import NDArray

    from .access import Grant
    from .accounts import Accounts
    from .audit import Audit, Entry
    from .candidate import Candidate
    from .erasing import Eraser
    from .filters import Filter
    from .graph import Graph
    from .ids import WorkspaceId
    from .jobs import Jobs
    from .layers import Layers
    from .leases import Lease
    from .ledger import Ledger
    from .metrics import CacheUse
    from .outline import Outline
    from .queue import Queue
    from .records import Draft, EmbeddingProfile, Memory, MemoryKind, Tombstone
    from .uses import Uses
    from .window import Window

    Floats = NDArray[np.float32]
else:
    Floats = Any  # importing nexus must not wait for numpy


class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def profile(self) -> EmbeddingProfile:
        """The space the vectors live in. May ask the provider once for its dimension."""
        ...

    @property
    def local(self) -> bool:
        """Whether it answers in this process, fast enough to be called while somebody waits."""
        ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """One row per text, of unit length; a row of zeros where a text has no meaning to it.

        Splits into the provider's batches itself. Raises EmbedderUnavailable when the provider
        does not answer after retries.
        """
        ...


def is_static(embedder: Embedder) -> bool:
    """Whether each word has one vector wherever it stands; an embedder may say so by `static`.

    One that says nothing is taken for a model that reads whole sentences.
    """
    return bool(getattr(embedder, "static", False))


class Scored(NamedTuple):
    """A memory's id and how well it fits, from 0 to 1; hundreds are made a question."""

    id: str
    score: float


class Memories(States, Protocol):
    """The derived records and their keywords.

    What was learned stands on a shelf of its own: searches look among what was told and count
    nothing else, unless `learned` is asked for too. Whoever gives ids or names gets either.
    """

    def put(
        self,
        workspace: WorkspaceId,
        drafts: Sequence[Draft],
        *,
        stones: frozenset[Tombstone] | None = None,
    ) -> list[Memory]:
        """Keep these, replacing any with the same id; all or none.

        The store computes id, label (the scope's and every source's) and trust (the lowest of
        the sources'). A draft without sources is InvalidInput; one whose sources are gone is
        left out, because they were erased while it was being made. So is one whose label names a
        drawer that was: if `stones` are given, which are those that were there when it was begun,
        there must be no other now.
        """
        ...

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Memory]:
        """Those that exist and may be seen, in the order asked."""
        ...

    def find(
        self, grant: Grant, *, where: Filter | None = None, limit: int | None = None
    ) -> list[Memory]:
        """Newest first, by time and then id."""
        ...

    def matching(
        self,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[Scored]:
        """BM25, best first and ties by id, as a share of the best score these terms could reach.

        Term and document counts come from what the grant lets through on the shelves that are
        searched, and from nothing else.
        """
        ...

    def holding(self, grant: Grant, terms: Sequence[str], *, learned: bool = False) -> int:
        """How many hold at least one of the terms: what `matching` would find without a limit."""
        ...

    def describe(
        self, grant: Grant, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        """What ranking wants to know of those that may be seen.

        `keyword` is the score `matching` would give, for what was learned with `learned`;
        `thread_keyword` is the same for the whole conversation, as if each were one text.
        """
        ...

    def texts(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        """Only the texts of those that may be seen."""
        ...

    def between(
        self, grant: Grant, since: datetime, until: datetime, *, limit: int, learned: bool = False
    ) -> list[str]:
        """The ids of those from a stretch of time, newest first; `until` is not included."""
        ...

    def named(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
    ) -> list[Memory]:
        """Those of these kinds about any of these names, newest first; else facts and entities.

        `core.derive.names_in` says what a memory is about; capitals do not matter. Both shelves
        are looked at, unless `learned` is False: then only what was told.
        """
        ...

    def outlines(self, grant: Grant, names: Sequence[str], *, limit: int) -> list[Outline]:
        """What kinds of facts there are about any of these names, newest first.

        The same facts as `named` gives, for who reads only some of them.
        """
        ...

    def latest(
        self, grant: Grant, subjects: Sequence[str], *, limit: int | None = None
    ) -> list[Memory]:
        """Of what was told of these subjects, the newest fact of each predicate; newest first.

        A subject is meant as it was spelt, such as a scope whose keys have exact values. However
        often a key was set, it takes one place.
        """
        ...

    def neighbours(
        self, grant: Grant, ids: Sequence[str], *, reach: int
    ) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """What stands before and after each, nearest first, in the same conversation.

        A conversation is a thread of a label, or a day where no thread was named, of one shelf.
        """
        ...

    def written(
        self, workspace: WorkspaceId, kinds: Sequence[MemoryKind], *, after: int, limit: int
    ) -> list[tuple[int, Memory]]:
        """The next of these kinds in the order they were written, each with its number in it.

        What is put again, and is not the same, is written again. For the program's own work: a
        number tells how much others write, so none may reach an answer.
        """
        ...

    def delete(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Remove these with their keywords, links and vectors. Sources stay."""
        ...


class Vectors(Protocol):
    """The embeddings, exact inside a grant."""

    def put(
        self, workspace: WorkspaceId, profile: EmbeddingProfile, vectors: Mapping[str, Floats]
    ) -> int:
        """Keep one unit vector per memory id; returns how many.

        Wrong dimensions, NaN and zeros are InvalidInput. Memories that are gone are left out.
        """
        ...

    def get(self, grant: Grant, profile: EmbeddingProfile, ids: Sequence[str]) -> dict[str, Floats]:
        """The vectors of those that may be seen."""
        ...

    def nearest(
        self,
        grant: Grant,
        profile: EmbeddingProfile,
        vector: Floats,
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[Scored]:
        """The closest by cosine, best first and ties by id; negative cosines count as 0."""
        ...

    def scores(
        self, grant: Grant, profile: EmbeddingProfile, vector: Floats, ids: Sequence[str]
    ) -> dict[str, float]:
        """The scores `nearest` would give these, for those that may be seen and have a vector."""
        ...

    def missing(
        self, grant: Grant, profile: EmbeddingProfile, *, limit: int, after: str = ""
    ) -> list[Memory]:
        """Memories that have no vector of this profile yet, but for those indexed as nothing.

        In the order of their ids, those after this one: whoever makes vectors passes over texts
        that mean nothing to an embedder, and goes on behind them.
        """
        ...

    def coverage(self, grant: Grant, profile: EmbeddingProfile) -> dict[str, int]:
        """How many memories with words have a vector of this profile, and how many are `missing`.

        Only what the grant may see is counted.
        """
        ...

    def profiles(self) -> list[EmbeddingProfile]:
        """Every profile vectors were kept for, in any workspace; in the order of their names."""
        ...

    def in_use(self, workspace: WorkspaceId) -> EmbeddingProfile | None:
        """The profile questions are asked with here: that of its first vectors, until `use`."""
        ...

    def use(self, workspace: WorkspaceId, profile: EmbeddingProfile) -> None:
        """From now on ask with this one here. Vectors of others stay."""
        ...

    def drop(self, workspace: WorkspaceId, profile: EmbeddingProfile, *, limit: int) -> int:
        """Remove so many vectors of a profile that is not in use here; how many went."""
        ...


class Store(Protocol):
    """Keeps everything. `inprocess` is the specification; the others agree with it."""

    @property
    def ledger(self) -> Ledger: ...

    @property
    def queue(self) -> Queue: ...

    @property
    def jobs(self) -> Jobs: ...

    @property
    def memories(self) -> Memories: ...

    @property
    def vectors(self) -> Vectors: ...

    @property
    def eraser(self) -> Eraser: ...

    @property
    def accounts(self) -> Accounts: ...

    @property
    def uses(self) -> Uses: ...

    @property
    def audit(self) -> Audit: ...

    @property
    def window(self) -> Window: ...

    @property
    def graph(self) -> Graph: ...

    @property
    def layers(self) -> Layers: ...

    def moment(self) -> AbstractContextManager[object]:
        """Whatever this thread reads inside is of one moment, and costs one transaction.

        Keep it short: nothing slow, and no embedder or model, is called inside.
        """
        ...

    def recording(
        self, workspace: WorkspaceId, entry: Entry, *, outcome: str | None = None
    ) -> AbstractContextManager[None]:
        """The next thing this thread writes inside is recorded in the trail with it, all or none.

        If nothing is written, nothing is recorded; nor if `Audit.configure` said so. What the write
        returns is told under `outcome`, if that is given; if it is 0, nothing was done.
        """
        ...

    def recording_in(self, entries: Mapping[WorkspaceId, Entry]) -> AbstractContextManager[None]:
        """The same of something that is written in several workspaces at once."""
        ...

    def holding(self, leases: Sequence[Lease]) -> AbstractContextManager[None]:
        """Whatever this thread writes inside is written only while these leases are ours.

        It is checked in the transaction of each write. If one is lost, nothing of it is written,
        and LeaseLost is raised. What was finished, or put off, need not be held any longer.
        """
        ...

    def workspaces(self) -> list[WorkspaceId]:
        """Every workspace that was written to."""
        ...

    def count(self, grant: Grant) -> dict[str, int]:
        """How many events, memories (by kind) and vectors may be seen."""
        ...

    def kinds(self, grant: Grant) -> dict[str, int]:
        """How many memories of each kind may be seen."""
        ...

    def epoch(self, grant: Grant) -> int:
        """A number that grows with every write, or erasure, of what the grant may see.

        While it stands still, whatever was read stays true; it grows in the transaction of the
        write itself, and with nothing that the grant may not see. Receipts of contexts, injected
        digests and the rolling summary are no news: they are made of what was there. A window
        that lies elsewhere has an epoch of its own, which may not be there to be asked for.
        """
        ...

    def files(self) -> list[Path]:
        """The files it lives in; none for a store in memory."""
        ...

    def caches(self) -> dict[str, CacheUse]:
        """How often each of its caches knew what it was asked for, in this process."""
        ...

    def follow(self) -> bool:
        """Let what is kept beside the records catch up a little; whether there is more to do.

        Nothing waits for it: what has not been followed yet is read from the records.
        """
        ...

    def optimize(self) -> None:
        """Give back space and tidy indexes."""
        ...

    def close(self) -> None: ...
