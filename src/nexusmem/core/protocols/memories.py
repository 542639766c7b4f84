"""Protocols of the memory store: derived records, their keywords and their state."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from ..strength import NO_EXCLUSION, SweepExclusion

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from ..access import Grant
    from ..filters import Filter
    from ..ids import WorkspaceId
    from ..records import Draft, Memory, MemoryKind, Tier, Tombstone
    from ..records.projections import Candidate, FactOutline, MemoryState


class MemoryStates(Protocol):
    """The changeable state of memories: tier and archive flag."""

    def set_state(
        self,
        workspace: WorkspaceId,
        ids: Sequence[str],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> int:
        """Change tier or archive flag of these memories; return the number of changed ones.

        Keywords and vectors stay. The state survives when a memory is derived again; a draft can
        raise the tier to `long` but never lower it. The epochs of their labels grow.
        """
        ...

    def set_state_many(
        self,
        ids: Mapping[WorkspaceId, Sequence[str]],
        *,
        tier: Tier | None = None,
        archived: bool | None = None,
    ) -> dict[WorkspaceId, int]:
        """Do the same for several workspaces in one transaction; return the changes of each."""
        ...

    def list_states(
        self,
        grant: Grant,
        *,
        after: str | None = None,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        exclude: SweepExclusion = NO_EXCLUSION,
    ) -> list[MemoryState]:
        """Return memory states for sweeps, in the store's own order; for administrators.

        By default these are decaying memories: tier short, neither pinned nor archived, and not in
        `exclude`. `idle_since` limits them to memories from before then, in conversations without
        an event since. `used_since` selects memories used since then in any state, or only the
        `archived` ones. Usage counts cover the scopes in the memory's label, which all its readers
        may read.
        """
        ...

    def list_states_many(
        self,
        positions: Sequence[tuple[Grant, str | None]],
        *,
        limit: int,
        used_since: datetime | None = None,
        idle_since: datetime | None = None,
        archived: bool = False,
        exclude: SweepExclusion = NO_EXCLUSION,
    ) -> list[list[MemoryState]]:
        """Do the same for several workspaces in one snapshot, up to `limit` states of each."""
        ...

    def oldest_active_times(
        self, grants: Sequence[Grant], *, since: datetime
    ) -> list[datetime | None]:
        """Return, per workspace, the last event time of the conversation that becomes idle next.

        None if there is none. Only conversations with decaying memories and an event since `since`
        count. For administrators only.
        """
        ...


class ScoredId(NamedTuple):
    """Id and score (0 to 1) of a memory; one search creates hundreds."""

    id: str
    score: float


class Memories(MemoryStates, Protocol):
    """Derived records and their keyword index.

    Searches cover observed memories only, also in their term statistics. With `learned`, they cover
    memories that were derived by learning, too. Lookups by id or name return both.
    """

    def put(
        self,
        workspace: WorkspaceId,
        drafts: Sequence[Draft],
        *,
        tombstones: frozenset[Tombstone] | None = None,
    ) -> list[Memory]:
        """Store the memories of these drafts in one transaction, replacing those with the same id.

        The store computes id, label (of the scope and all sources) and trust (the lowest of the
        sources). A draft without sources raises InvalidInput. A draft whose sources were erased
        meanwhile is skipped. With `tombstones`, which the caller read before it began, a draft is
        also skipped if its label names a scope with a newer tombstone.
        """
        ...

    def get(self, grant: Grant, ids: Sequence[str]) -> list[Memory]:
        """Return the existing visible memories, in the order of `ids`."""
        ...

    def find(
        self, grant: Grant, *, where: Filter | None = None, limit: int | None = None
    ) -> list[Memory]:
        """Return the matching memories, newest first, by time and then id."""
        ...

    def search_keywords(
        self,
        grant: Grant,
        terms: Sequence[str],
        *,
        where: Filter | None = None,
        limit: int,
        learned: bool = False,
    ) -> list[ScoredId]:
        """Return BM25 results, best first and ties by id, relative to the best possible score.

        Term and document statistics cover visible memories of the searched partitions only.
        """
        ...

    def count_matching(self, grant: Grant, terms: Sequence[str], *, learned: bool = False) -> int:
        """Return the number of memories that contain at least one of the terms."""
        ...

    def load_candidates(
        self, grant: Grant, ids: Sequence[str], terms: Sequence[str]
    ) -> dict[str, Candidate]:
        """Return the ranking fields of the visible memories.

        `keyword` is the score of `search_keywords`, with `learned` for learned memories.
        `thread_keyword` is the same score for the complete conversation, taken as one text.
        """
        ...

    def load_texts(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        """Return the texts of the visible memories, without other fields."""
        ...

    def ids_between(
        self, grant: Grant, since: datetime, until: datetime, *, limit: int, learned: bool = False
    ) -> list[str]:
        """Return ids of memories in a time range, newest first; `until` is exclusive."""
        ...

    def find_by_name(
        self,
        grant: Grant,
        names: Sequence[str],
        *,
        limit: int,
        kinds: Sequence[MemoryKind] | None = None,
        learned: bool = True,
        oldest_first: bool = False,
    ) -> list[Memory]:
        """Return memories of these kinds about any of the names, newest first by default.

        `kinds=None` means facts and entities. `core.derive.lookup_names` defines the names of a
        memory; case is ignored. Learned memories are included unless `learned` is False. `limit`
        keeps those that come first, so `oldest_first` with a limit returns the oldest.
        """
        ...

    def find_by_source(
        self, grant: Grant, sources: Sequence[str], *, kinds: Sequence[MemoryKind]
    ) -> list[Memory]:
        """Return memories of these kinds with one of these sources, newest first and then by id.

        A source is the id of an event or memory that they were derived from directly.
        """
        ...

    def fact_outlines(self, grant: Grant, names: Sequence[str], *, limit: int) -> list[FactOutline]:
        """Return outlines of the facts about these names, newest first.

        They belong to the same facts that `find_by_name` returns, for callers that read only some.
        """
        ...

    def latest_facts(
        self, grant: Grant, subjects: Sequence[str], *, limit: int | None = None
    ) -> list[Memory]:
        """Return the newest observed fact per predicate of these subjects; newest first.

        A subject matches exactly as written, such as a scope with exact values. A key that was set
        several times yields one fact.
        """
        ...

    def find_neighbours(
        self, grant: Grant, ids: Sequence[str], *, reach: int
    ) -> dict[str, tuple[tuple[str, ...], tuple[str, ...]]]:
        """Return the memories before and after each one in its conversation, nearest first.

        A conversation is a thread of a label, or a day where no thread is given. Observed and
        learned memories form separate conversations.
        """
        ...

    def changes_since(
        self, workspace: WorkspaceId, kinds: Sequence[MemoryKind], *, after: int, limit: int
    ) -> list[tuple[int, Memory]]:
        """Return the next memories of these kinds in write order, each with its sequence number.

        A memory that is stored again with a change gets a new number. Only for internal work: a
        number reveals how much others write, so it must not reach a viewer.
        """
        ...

    def delete(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Delete these memories with their keywords, links and vectors; sources stay."""
        ...
