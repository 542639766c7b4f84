"""Event ledger of the reference store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime

from ...core.access import Grant
from ...core.errors import Conflict, Forgotten
from ...core.filters import Filter, matches_filter
from ...core.hash_chain import (
    GENESIS,
    chain_hash,
    event_content,
    has_same_content,
    make_commitment,
    new_salt,
)
from ...core.ids import WorkspaceId
from ...core.protocols.bulk_copy import check_administrator
from ...core.records import Event, LedgerReport, NewEvent, Progress, Receipt, Stage
from ...core.scope import Scope
from ...runtime.quotas import Quota, WorkspaceUsage, check_stored_limits
from ...stores.validation import to_event
from .state import (
    LedgerEntry,
    StoredTask,
    StorePart,
    WorkspaceData,
    as_write,
    sort_newest_first,
    with_lock,
)


def _utc_day(at: datetime) -> date:
    return at.astimezone(UTC).date()


def _content_bytes(event: Event) -> int:
    return len(event_content(event).encode())


class ReferenceLedger(StorePart):
    """Reference implementation of the protocol `Ledger`."""

    @as_write
    def append(
        self,
        workspace: WorkspaceId,
        events: Sequence[NewEvent],
        *,
        recorded_at: datetime,
        quota: Quota | None = None,
    ) -> list[Receipt]:
        home = self._state.get_workspace(workspace)
        fresh: dict[str, NewEvent] = {}
        receipts = []
        for event in events:
            duplicate = self._is_duplicate(home, fresh, event)
            if not duplicate:
                fresh[event.id] = event
            receipts.append(
                Receipt(
                    workspace=workspace,
                    scope=event.scope,
                    event_id=event.id,
                    key=event.key,
                    duplicate=duplicate,
                )
            )
        new = [to_event(workspace, event, recorded_at) for event in fresh.values()]
        if quota and new:
            check_stored_limits(quota, self._usage_with(home, new, recorded_at), recorded_at)
        for event in new:
            self._append_event(home, event, recorded_at)
            home.work[event.id].priority = int(isinstance(events[0], Event))
        return receipts

    def _usage_with(
        self, home: WorkspaceData, new: Sequence[Event], now: datetime
    ) -> WorkspaceUsage:
        """Return the usage of the workspace after appending `new`."""
        usage = self.measure_usage(home.id, now=now)
        return WorkspaceUsage(
            events_today=usage.events_today + len(new),
            memories=usage.memories,
            text_bytes=usage.text_bytes + sum(map(_content_bytes, new)),
        )

    @with_lock
    def measure_usage(self, workspace: WorkspaceId, *, now: datetime) -> WorkspaceUsage:
        home = self._state.get_workspace(workspace)
        return WorkspaceUsage(
            events_today=home.events_that_day if home.last_write_day >= _utc_day(now) else 0,
            memories=len(home.memories),
            text_bytes=sum(map(_content_bytes, home.iter_events())),
        )

    def _is_duplicate(
        self, home: WorkspaceData, fresh: Mapping[str, NewEvent], event: NewEvent
    ) -> bool:
        entry = home.by_id.get(event.id)
        if entry and not entry.event:
            raise Forgotten(
                f"the event with key {event.key!r} in {event.scope} was erased by forget;"
                " use another key"
            )
        existing = entry.event if entry else fresh.get(event.id)
        if existing and not has_same_content(existing, event):
            raise Conflict(f"the key {event.key!r} was used before with other content")
        return existing is not None

    def _append_event(self, home: WorkspaceData, event: Event, now: datetime) -> None:
        salt = new_salt()
        commitment = make_commitment(salt, event_content(event))
        entry = LedgerEntry(
            event.id, event, salt, commitment, chain_hash(home.chain_head, commitment)
        )
        home.entries.append(entry)
        home.by_id[event.id] = entry
        home.epochs[frozenset({event.scope})] += 1
        home.work[event.id] = StoredTask(event.id, Stage.INDEXED, now)
        home.events_that_day = (
            home.events_that_day + 1 if home.last_write_day >= _utc_day(now) else 1
        )
        home.last_write_day = max(home.last_write_day, _utc_day(now))

    @with_lock
    def get(self, grant: Grant, ids: Sequence[str]) -> list[Event]:
        visible = {event.id: event for event in self._state.visible_events(grant)}
        return [visible[id] for id in ids if id in visible]

    @with_lock
    def find(
        self,
        grant: Grant,
        *,
        where: Filter | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int | None = None,
    ) -> list[Event]:
        matches = [
            event
            for event in self._state.visible_events(grant)
            if (since is None or event.at >= since)
            and (until is None or event.at < until)
            and matches_filter(where, event)
        ]
        return sort_newest_first(matches)[:limit]

    @with_lock
    def events_since(
        self, grant: Grant, *, after: int | None = None, limit: int
    ) -> tuple[list[Event], int]:
        entries = self._state.get_workspace(check_administrator(grant)).entries
        start = len(entries) if after is None else after
        page = entries[start : start + limit]
        return [entry.event for entry in page if entry.event], start + len(page)

    @with_lock
    def list_scopes(self, grant: Grant, *, after: int = 0, limit: int) -> list[tuple[int, Scope]]:
        visible = {event.scope for event in self._state.visible_events(grant)}
        first: dict[Scope, int] = {}
        for number, entry in enumerate(self._state.workspace_for(grant).entries, start=1):
            if entry.event and entry.event.scope in visible:
                first.setdefault(entry.event.scope, number)
        return [(number, scope) for scope, number in first.items() if number > after][:limit]

    @with_lock
    def load_keys(self, grant: Grant, ids: Sequence[str]) -> dict[str, str]:
        wanted = set(ids)
        return {e.id: e.key for e in self._state.visible_events(grant) if e.id in wanted}

    @with_lock
    def load_progress(self, grant: Grant, ids: Sequence[str]) -> dict[str, Progress]:
        home = self._state.workspace_for(grant)
        visible = {event.id for event in self._state.visible_events(grant)}
        return {id: _to_progress(home.work.get(id)) for id in ids if id in visible}

    @with_lock
    def verify(self, workspace: WorkspaceId) -> LedgerReport:
        home = self._state.get_workspace(workspace)
        problems = []
        previous = GENESIS
        forgotten = {tombstone.digest for tombstone in home.tombstones if tombstone.kind == "event"}
        for number, entry in enumerate(home.entries, start=1):
            if chain_hash(previous, entry.commitment) != entry.hash:
                problems.append(f"event {number} does not follow the one before it")
            if (
                entry.event
                and make_commitment(entry.salt, event_content(entry.event)) != entry.commitment
            ):
                problems.append(f"event {number} was changed")
            if not entry.event and entry.id not in forgotten:
                problems.append(f"event {number} is empty but has no tombstone")
            previous = entry.hash
        erased = sum(entry.event is None for entry in home.entries)
        return LedgerReport(
            workspace=workspace,
            events=len(home.entries),
            erased=erased,
            problems=tuple(problems),
        )


def _to_progress(work: StoredTask | None) -> Progress:
    if not work:
        return Progress(stage=Stage.DERIVED)
    reached = Stage.DURABLE if work.step is Stage.INDEXED else Stage.INDEXED
    return Progress(stage=reached, error=work.error, attempts=work.attempts)
