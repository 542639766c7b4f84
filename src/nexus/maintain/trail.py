"""The trail of a workspace beside its ledger: what was done and what was told, by time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime, timedelta

from ..core.access import Grant
from ..core.audit import Entry, Mark, Recorded
from ..core.filters import Condition, Op
from ..core.ids import WorkspaceId
from ..core.jobs import Step
from ..core.protocols import Store
from ..core.records import Event, EventKind, Json

AHEAD = 14  # days that there is room for, so that midnight stops nobody
BATCH = 1_000


def happened(
    store: Store,
    grant: Grant,
    *,
    action: str | None = None,
    since: datetime | None = None,
    until: datetime | None = None,
    limit: int,
) -> list[Recorded]:
    """Entries and events, newest first. An event is told by who, where and its id: no words."""
    found = store.audit.find(grant, action=action, since=since, until=until, limit=limit)
    if grant.everything and _may_be_told(action):
        kind = None if action is None else Condition("kind", Op.EQ, action)
        events = store.ledger.find(grant, where=kind, since=since, until=until, limit=limit)
        found += map(told_by, events)
    return sorted(found, key=_moment, reverse=True)[:limit]


def come(
    store: Store, grant: Grant, after: Mark | None, *, action: str | None = None, events: bool
) -> tuple[list[Recorded], Mark]:
    """What was written since a mark, oldest first, and the next mark: by number, not by time.

    What somebody tells may be of any time, also of one to come. Without a mark it is nothing, and
    the mark of now.
    """
    if after is None:
        newest = store.audit.find(grant, limit=1)
        end = store.ledger.written(grant, limit=0)[1] if events else 0
        return [], Mark(entry=newest[0].number if newest else 0, event=end)
    found = store.audit.find(grant, after=after.entry, action=action, limit=BATCH)
    told, end = store.ledger.written(grant, after=after.event, limit=BATCH) if events else ([], 0)
    mark = Mark(entry=found[-1].number if found else after.entry, event=end)
    found += [each for each in map(told_by, told) if action in (None, each.action)]
    return sorted(found, key=_moment), mark


def _moment(each: Recorded) -> tuple[datetime, int]:
    return each.at, each.number


def _may_be_told(action: str | None) -> bool:
    """Whether it is what somebody does who tells something."""
    return action is None or action in frozenset(EventKind)


def told_by(event: Event) -> Recorded:
    """An event as one of a trail. The ledger is where it stands, and proves it."""
    entry = Entry(
        at=event.at,
        action=event.kind.value,
        actor=event.speaker,
        place=str(event.scope),
        people=(event.speaker,),
        detail={"event": event.id},
    )
    return Recorded(number=0, at=event.at, action=event.kind.value, entry=entry)


def lines(store: Store, grant: Grant) -> Iterator[str]:
    """The whole trail, oldest first, one JSON object a line, with what it is verified by."""
    after = 0
    while some := store.audit.find(grant, after=after, limit=BATCH):
        yield from (json.dumps(recorded_json(each), ensure_ascii=False) for each in some)
        after = some[-1].number


def recorded_json(each: Recorded) -> dict[str, Json]:
    """An entry as it is shown and exported."""
    at = each.at.isoformat()
    told: dict[str, Json] = {"number": each.number, "at": at, "action": each.action}
    if each.entry is None:
        return {**told, "erased": True, "proof": dict(each.proof)}
    entry = asdict(each.entry)
    rest: dict[str, Json] = {name: entry[name] for name in ("actor", "place", "detail")}
    return {**told, **rest, "people": list(each.entry.people), "proof": dict(each.proof)}


def keep_days(
    store: Store,
    workspace: WorkspaceId,
    *,
    now: datetime,
    cursor: Json = None,
    retention_days: int,
) -> Step:
    """Drop the days of a trail that are over, and see to it that those to come have a place."""
    del cursor  # it is one step
    today = now.date()
    before = today - timedelta(days=retention_days) if retention_days else None
    counts = {"dropped": store.audit.retain(workspace, before=before, now=now) if before else 0}
    days = store.audit.prepare(today=today, ahead=AHEAD, before=before)
    return Step(counts={**counts, **{f"days_{name}": n for name, n in days.items()}})
