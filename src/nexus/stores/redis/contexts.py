"""Composed contexts, in Redis: what one process composed, another one need not compose again.

A context is found by everything it depends on, and by the epoch of what its viewer may see: one
that no longer holds is found by nobody. Erasing takes it out nevertheless, for it holds texts; and
leaves alone what holds, lest somebody notice what others forgot.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from ...core.access import Grant, Label, administrator_grant, check_grant
from ...core.canonical import canonical_json
from ...core.context_codec import FORMAT, Unspelt, bytes_context, context_bytes, unpacked
from ...core.errors import StoreUnavailable, Unavailable
from ...core.ids import WorkspaceId, digest
from ...core.keeping import KeptContext, Looked
from ...core.metrics import CacheUse
from ...core.scope import Scope, parse_scope
from ...core.window import Window
from .address import parse_address
from .keys import KEEP, Keys
from .server import Client, RedisServer, answers
from .window import PATIENCE_SECONDS

if TYPE_CHECKING:
    from ..sql.store import SqlStore

HEAD, BODY = "head", "body"
LONGER_SECONDS = 3_600  # than a context itself its ticket and the list of contexts are kept
MOST_BYTES = 1_000_000  # of one context, packed
AT_ONCE = 200  # contexts that are looked at
SEARCHED, AWAY = "redis: contexts", "redis: contexts (away)"
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class Head:
    """For whom a context is, and what it was made of: all that erasing has to know."""

    name: str
    workspace: str
    scopes: frozenset[Scope]
    epoch: int
    at: datetime
    body: str  # its digest

    @property
    def spelt(self) -> str:
        scopes = sorted(map(str, self.scopes))
        told = [self.name, self.workspace, scopes, self.epoch, self.at.isoformat(), self.body]
        return canonical_json(told)

    @classmethod
    def read(cls, spelt: bytes) -> Head:
        name, workspace, scopes, epoch, at, body = json.loads(spelt)
        read = frozenset(map(parse_scope, scopes))
        return cls(name, workspace, read, int(epoch), datetime.fromisoformat(at), body)


class RedisContexts:
    """A cache beside the records of another store: `CombinedStore(records, contexts=…)`.

    `window` is where the windows of these records lie, if not with them. `server` is a Redis of
    this address that is used already.
    """

    def __init__(
        self,
        url: str,
        records: SqlStore,
        *,
        window: Window | None = None,
        wait_seconds: float | None = None,
        server: RedisServer | None = None,
    ) -> None:
        address = parse_address(url)
        self._server = server or RedisServer(address)
        self._namespace = address.namespace
        self._records = records
        self._window = window or records.window
        self._wait = address.wait_seconds if wait_seconds is None else wait_seconds
        self._patience = max(self._wait, PATIENCE_SECONDS)
        self._uses: Counter[bool] = Counter()
        self._lock = Lock()

    @property
    def use(self) -> CacheUse:
        with self._lock:
            return CacheUse(hits=self._uses[True], misses=self._uses[False])

    def get(self, grant: Grant, key: str) -> Looked:
        check_grant(grant)
        try:
            place = self._place(grant, key)
            looked = self._server.ask(lambda client: self._looked(client, place), self._wait)
        except Unavailable:
            looked = Looked()
        with self._lock:
            self._uses[looked.kept is not None] += 1
        return looked

    def put(self, grant: Grant, key: str, kept: KeptContext, *, ticket: str, seconds: int) -> None:
        check_grant(grant)
        with suppress(Unavailable, Unspelt):  # nothing depends on it
            place, body = self._place(grant, key), context_bytes(kept.context)
            if len(body) <= MOST_BYTES:
                self._keep(place, place.head(kept, body), body, ticket, seconds)

    def _keep(self, place: Place, head: Head, body: bytes, ticket: str, seconds: int) -> None:
        names = [place.ticket, place.contexts, place.context]
        told = [ticket, seconds, LONGER_SECONDS, place.name, head.spelt, body]
        self._server.ask(lambda client: client.eval(KEEP, len(names), *names, *told), self._wait)

    # Beside the records

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Take out what does not hold any more, and what could show any of these.

        From the first moment on nothing is kept that was begun before, however late it arrives.
        """
        keys = self._keys(workspace)
        self._ask(lambda client: client.delete(keys.ticket(self._memory)))
        holds, labels = self._judge(workspace), cache(lambda: self._labels(workspace, ids))

        def shows(head: Head | None) -> bool:
            if head is None or not holds(head):
                return True
            return any(label <= head.scopes for label in labels())

        return sum(
            self._taken(keys, [name for name, head in heads if shows(head)])
            for heads in self._heads(keys)
        )

    def residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """How often these are in contexts that do not hold any more: there should be none."""
        keys, holds = self._keys(workspace), self._judge(workspace)
        try:
            left = [
                name
                for heads in self._heads(keys)
                for name, head in heads
                if head is None or not holds(head)
            ]
            return {SEARCHED: sum(self._count(keys, name, pieces) for name in left)}
        except StoreUnavailable:
            return {AWAY: 1}

    def files(self) -> list[Path]:
        return []

    def close(self) -> None:
        self._server.close()

    # One context

    def _place(self, grant: Grant, key: str) -> Place:
        """Whoever may read anything else has other contexts, also with the same key."""
        whose = ("everything",) if grant.everything else sorted(map(str, grant.scopes))
        name = digest("context", str(FORMAT), self._memory, key, *whose)
        keys = self._keys(grant.workspace)
        return Place(
            name=name,
            workspace=grant.workspace,
            scopes=grant.scopes,
            context=keys.context(name),
            contexts=keys.contexts(self._memory),
            ticket=keys.ticket(self._memory),
        )

    def _looked(self, client: Client, place: Place) -> Looked:
        asked = client.pipeline(transaction=False)
        asked.hmget(place.context, [HEAD, BODY])
        asked.get(place.ticket)
        lying, ticket = answers(asked)
        kept = place.kept(*lying) if lying and all(lying) else None
        if kept is None and ticket is None:
            made = secrets.token_hex(8)
            client.set(place.ticket, made, nx=True, ex=LONGER_SECONDS)
            ticket = client.get(place.ticket)
        return Looked(kept=kept, ticket=ticket.decode() if ticket else None)

    # All of a workspace

    def _heads(self, keys: Keys) -> Iterator[list[tuple[str, Head | None]]]:
        """Some at a time, each with its name; those that cannot be read are nobody's."""
        index = keys.contexts(self._memory)
        names = [each.decode() for each in self._ask(lambda client: client.zrange(index, 0, -1))]
        for start in range(0, len(names), AT_ONCE):
            yield self._read(keys, names[start : start + AT_ONCE])

    def _read(self, keys: Keys, names: Sequence[str]) -> list[tuple[str, Head | None]]:
        def ask(client: Client) -> list[Any]:
            asked = client.pipeline(transaction=False)
            for name in names:
                asked.hget(keys.context(name), HEAD)
            return answers(asked)

        return list(zip(names, map(_head, self._ask(ask)), strict=True))

    def _taken(self, keys: Keys, names: Sequence[str]) -> int:
        """How many of these were there; what had ended by itself is no longer listed, either."""
        if not names:
            return 0

        def take(client: Client) -> int:
            asked = client.pipeline(transaction=False)
            for name in names:  # a cluster takes one at a time
                asked.delete(keys.context(name))
            asked.zrem(keys.contexts(self._memory), *names)
            return sum(asked.execute()[:-1])

        return int(self._ask(take))

    def _count(self, keys: Keys, name: str, pieces: Sequence[bytes]) -> int:
        body = self._ask(lambda client: client.hget(keys.context(name), BODY))
        try:
            told = unpacked(body or b"")
        except Unspelt:
            told = body or b""
        return sum(told.count(piece) for piece in pieces)

    def _judge(self, workspace: WorkspaceId) -> Callable[[Head], bool]:
        """Tells whether a context is still what its viewer would be given."""
        everything = administrator_grant(workspace)

        @cache
        def epoch(scopes: frozenset[Scope]) -> int:
            grant = everything.within(scopes)
            return self._records.epoch(grant) + self._window.epoch(grant)

        return lambda head: head.workspace == workspace.value and epoch(head.scopes) == head.epoch

    def _labels(self, workspace: WorkspaceId, ids: Sequence[str]) -> set[Label]:
        """Where these lie, as long as they do: whoever reads there may have been shown them."""
        everything = administrator_grant(workspace)
        events = self._records.ledger.get(everything, ids)
        memories = self._records.memories.get(everything, ids)
        return {*(frozenset([event.scope]) for event in events), *(m.label for m in memories)}

    def _keys(self, workspace: WorkspaceId) -> Keys:
        return Keys.of(self._namespace, workspace)

    @cached_property
    def _memory(self) -> str:
        """Which records these are: two memories may have workspaces of the same name."""
        return digest("memory", self._records.feed.made_at())

    def _ask(self, work: Callable[[Client], Any]) -> Any:
        return self._server.ask(work, self._patience)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a context lies, and for whom."""

    name: str
    workspace: WorkspaceId
    scopes: frozenset[Scope]
    context: str
    contexts: str
    ticket: str

    def head(self, kept: KeptContext, body: bytes) -> Head:
        return Head(
            name=self.name,
            workspace=self.workspace.value,
            scopes=self.scopes,
            epoch=kept.epoch,
            at=kept.at,
            body=_digest(body),
        )

    def kept(self, spelt: bytes, body: bytes) -> KeptContext | None:
        """What lies there, if it is what Nexus put there, for this one and whole."""
        head = _head(spelt)
        whose = (self.name, self.workspace.value, self.scopes, _digest(body))
        if head is None or whose != (head.name, head.workspace, head.scopes, head.body):
            return None
        try:
            return KeptContext(context=bytes_context(body), at=head.at, epoch=head.epoch)
        except Unspelt:
            return None


def _head(spelt: Any) -> Head | None:
    """None as well for what Redis said instead of one."""
    try:
        return Head.read(spelt)
    except UNREADABLE:
        return None


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()
