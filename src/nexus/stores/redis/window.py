"""The windows of places, in Redis.

Whether something was said in a place lately, and what was erased, is the records' to know: they
are asked for it. While Redis is away everything here is StoreUnavailable, and soon.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from ...core.access import Grant, Label, administrator_grant, check_grant
from ...core.ids import WorkspaceId
from ...core.protocols import Store
from ...core.scope import Scope
from ...core.window import (
    IDLE,
    MOMENT,
    MOST_KEPT,
    NEWS,
    Slot,
    WindowItem,
    gone_since,
    keeps_awake,
    never_silent,
)
from .address import parse_address
from .keys import PUT, TAKE, TIDY, Keys, field_of
from .lying import (
    Lying,
    label_digest,
    mark_of,
    put_into,
    read,
    read_epoch,
    read_places,
    spell,
)
from .server import RedisServer

PATIENCE_SECONDS = 2.0  # for whoever goes through a whole workspace
KEPT = timedelta(days=30)  # after the last time something was put into a place
LONGEST_KEPT = timedelta(days=400)
PLACES_AT_ONCE = 50

Place = tuple[Scope, Label]
Told = str | bytes | int  # to a script


def _microseconds() -> int:
    return time.time_ns() // 1_000


class RedisWindow:
    """A window beside the records of another store: `CombinedStore(records, window=…)`.

    An epoch is the time of the last change, or one more than before: so it does not come back
    when Redis lost what it knew. `clock` is that time, in microseconds. `wait_seconds` is for how
    long somebody waits, if the address is not to say it, `server` a Redis of this address that is
    used already.
    """

    def __init__(
        self,
        url: str,
        records: Store,
        *,
        wait_seconds: float | None = None,
        clock: Callable[[], int] = _microseconds,
        server: RedisServer | None = None,
    ) -> None:
        address = parse_address(url)
        self._server = server or RedisServer(address)
        self._namespace = address.namespace
        self._records = records
        self._wait = address.wait_seconds if wait_seconds is None else wait_seconds
        self._patience = max(self._wait, PATIENCE_SECONDS)
        self._clock = clock

    def put(
        self, workspace: WorkspaceId, items: Sequence[WindowItem], *, idle: timedelta = IDLE
    ) -> None:
        spelt = [spell(workspace, item) for item in items]
        known = [each for each in spelt if not self._erased(workspace, each)]
        if not known:
            return
        keys = self._keys(workspace)
        self._let_go(keys, [each.item for each in known], idle)
        self._run(PUT, *_to_put(keys, known, self._clock()), self._wait)
        # What was erased since was looked for in Redis then, or is found to be erased now.
        late = [each for each in known if self._erased(workspace, each)]
        self._take(keys, late, self._wait)

    def _let_go(self, keys: Keys, items: Sequence[WindowItem], idle: timedelta) -> None:
        """Of what was over in these places by now."""
        times = {(item.scope, item.label): item.at for item in items if keeps_awake(item)}
        scopes = sorted({scope for scope, _ in times})
        lying = self._read(keys, scopes, list(Slot), None, self._wait)
        for place, at in times.items():
            lasting = [each for each in lying if not each.item.expires_at and _place(each) == place]
            alive = set(map(id, self._alive(keys, lasting, at, idle)))
            self._take(keys, (each for each in lasting if id(each) not in alive), self._wait)

    def find(
        self,
        grant: Grant,
        *,
        slots: Sequence[Slot],
        now: datetime,
        key: str | None = None,
        idle: timedelta = IDLE,
    ) -> list[WindowItem]:
        keys, wanted = self._keys(check_grant(grant).workspace), list(dict.fromkeys(slots))
        if grant.everything:
            found = self._all(keys, wanted, key)
        else:
            found = self._read(keys, sorted(grant.scopes), wanted, key, self._wait)
        seen = [each for each in found if grant.allows(each.item.label)]
        return _newest_first(each.item for each in self._alive(keys, seen, now, idle))

    def drop(self, workspace: WorkspaceId, scope: Scope, slot: Slot, key: str | None = None) -> int:
        fields: list[Told] = [] if key is None else [field_of(key), ""]
        return self._taken(self._keys(workspace), scope, slot, fields, self._wait)

    def prune(self, *, now: datetime, idle: timedelta = IDLE) -> int:
        """Of workspaces in which something was said; others let go of it by themselves."""
        return sum(self.prune_in(self._records.workspaces(), now=now, idle=idle))

    def prune_in(
        self, workspaces: Sequence[WorkspaceId], *, now: datetime, idle: timedelta = IDLE
    ) -> list[int]:
        return [self._pruned(self._keys(workspace), now, idle) for workspace in workspaces]

    def _pruned(self, keys: Keys, now: datetime, idle: timedelta) -> int:
        every = self._all(keys, list(Slot))
        alive = set(map(id, self._alive(keys, every, now, idle)))
        over = (each for each in every if id(each) not in alive)
        pruned = self._take(keys, over, self._patience)
        self._tidy(keys)
        return pruned

    def tied_to(self, workspace: WorkspaceId, ids: Sequence[str]) -> list[WindowItem]:
        return _newest_first(each.item for each in self._tied(self._keys(workspace), ids))

    def epoch(self, grant: Grant) -> int:
        keys = self._keys(check_grant(grant).workspace)
        places = [keys.epoch_of(scope) for scope in sorted(grant.scopes)]
        asked = [keys.epoch] if grant.everything else places
        if not asked:
            return 0
        return self._server.ask(lambda client: read_epoch(client, asked), self._wait)

    # Beside the records

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        keys = self._keys(workspace)
        return self._take(keys, self._tied(keys, ids), self._patience)

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        del workspace, pieces  # it lives in the memory of a server
        return {}

    def files(self) -> list[Path]:
        return []

    def close(self) -> None:
        self._server.close()

    # Reading

    def _keys(self, workspace: WorkspaceId) -> Keys:
        return Keys.of(self._namespace, workspace)

    def _read(
        self,
        keys: Keys,
        scopes: Sequence[Scope],
        slots: Sequence[Slot],
        key: str | None,
        seconds: float,
    ) -> list[Lying]:
        if not scopes or not slots:
            return []
        return self._server.ask(lambda client: read(client, keys, scopes, slots, key), seconds)

    def _all(self, keys: Keys, slots: Sequence[Slot], key: str | None = None) -> list[Lying]:
        """Whatever lies anywhere in a workspace."""
        places = self._places(keys)
        portions = (
            places[start : start + PLACES_AT_ONCE]
            for start in range(0, len(places), PLACES_AT_ONCE)
        )
        return [
            each
            for portion in portions
            for each in self._read(keys, portion, slots, key, self._patience)
        ]

    def _places(self, keys: Keys) -> list[Scope]:
        return self._server.ask(lambda client: read_places(client, keys), self._patience)

    def _tied(self, keys: Keys, ids: Sequence[str]) -> list[Lying]:
        """Also the thoughts of a place where one of these was said: they may say it again."""
        gone = set(ids)
        told = self._records.ledger.get(administrator_grant(keys.workspace), list(gone))
        places = {event.scope for event in told}
        return [
            each
            for each in self._all(keys, list(Slot))
            if not gone.isdisjoint(each.item.tied_to)
            or (each.item.slot is Slot.THOUGHT and each.item.scope in places)
        ]

    def _erased(self, workspace: WorkspaceId, lying: Lying) -> bool:
        item = lying.item
        return self._records.eraser.gone(workspace, item.tied_to, since=gone_since(item))

    # What is still alive

    def _alive(
        self, keys: Keys, found: Sequence[Lying], now: datetime, idle: timedelta
    ) -> list[Lying]:
        """Those that have not expired, or lie where there was no silence since."""
        since = now - idle
        seen = (each for each in found if keeps_awake(each.item))
        awake = {_place(each) for each in seen if since < each.item.at <= now}
        busy: dict[Place, bool] = dict.fromkeys(awake, True)

        def alive(each: Lying) -> bool:
            if each.item.expires_at is not None:
                return each.item.expires_at > now
            if each.item.at > since:
                return True
            place = _place(each)
            if place not in busy:
                busy[place] = self._never_silent(keys, place, now, idle)
            return busy[place]

        return list(filter(alive, found))

    def _never_silent(self, keys: Keys, place: Place, now: datetime, idle: timedelta) -> bool:
        scope, label = place
        here = administrator_grant(keys.workspace).within([scope])
        put = self._server.ask(lambda client: put_into(client, keys, scope), self._wait)
        put_at = (at for own, at in put if own == label_digest(label))

        def said(after: datetime, before: datetime) -> datetime | None:
            if label != {scope}:  # there, nothing is ever said
                return None
            found = self._records.ledger.find(here, since=after + MOMENT, until=before, limit=1)
            return found[0].at if found else None

        return never_silent(put_at, said, now=now, idle=idle)

    # Taking out

    def _take(self, keys: Keys, gone: Iterable[Lying], seconds: float) -> int:
        """Those that lie there still as they were found."""
        fields: defaultdict[tuple[Scope, Slot], list[Told]] = defaultdict(list)
        for each in gone:
            fields[each.item.scope, each.item.slot] += [each.field, each.spelt]
        return sum(
            self._taken(keys, scope, slot, named, seconds)
            for (scope, slot), named in fields.items()
        )

    def _taken(
        self, keys: Keys, scope: Scope, slot: Slot, fields: Sequence[Told], seconds: float
    ) -> int:
        names = [keys.items(scope, slot), keys.order(scope, slot), keys.epoch_of(scope), keys.epoch]
        told = [_seconds(KEPT), self._clock(), int(slot in NEWS), *fields]
        return int(self._run(TAKE, names, told, seconds))

    def _tidy(self, keys: Keys) -> None:
        """Forget about places in which nothing lies any more."""
        for scope in self._places(keys):
            names = [keys.places, *(keys.items(scope, slot) for slot in Slot)]
            self._run(TIDY, names, [str(scope)], self._patience)

    def _run(self, script: str, names: Sequence[str], told: Sequence[Told], seconds: float) -> Any:
        return self._server.ask(
            lambda client: client.eval(script, len(names), *names, *told), seconds
        )


def _place(lying: Lying) -> Place:
    return lying.item.scope, lying.item.label


def _to_put(keys: Keys, items: Sequence[Lying], clock: int) -> tuple[list[str], list[Told]]:
    """What `put.lua` is told."""
    scopes = list(dict.fromkeys(each.item.scope for each in items))
    names = [keys.places, keys.epoch, *(name for scope in scopes for name in keys.every(scope))]
    number = {name: place for place, name in enumerate(names, 1)}
    told: list[Told] = [_lasting(items), clock, len(scopes), *map(str, scopes)]
    for each in items:
        item = each.item
        trimmed, news = item.slot in MOST_KEPT, item.slot in NEWS
        told += [
            number[keys.items(item.scope, item.slot)],
            number[keys.order(item.scope, item.slot)] if trimmed else 0,
            number[keys.epoch_of(item.scope)] if news else 0,
            MOST_KEPT.get(item.slot, 0),
            each.field,
            mark_of(item),
            label_digest(item.label),
            each.spelt,
        ]
    return names, told


def _lasting(items: Sequence[Lying]) -> int:
    """For how many seconds a place is to be kept after these were put into it."""
    ends = [each.item.expires_at - each.item.at for each in items if each.item.expires_at]
    return _seconds(min(max([KEPT, *ends]), LONGEST_KEPT))


def _seconds(span: timedelta) -> int:
    return int(span.total_seconds())


def _newest_first(items: Iterable[WindowItem]) -> list[WindowItem]:
    by_key = sorted(items, key=lambda item: (item.slot, item.key))
    return sorted(by_key, key=lambda item: item.at, reverse=True)
