"""Shared cache of composed contexts in Redis: one process composes, the others reuse.

The key contains everything a context depends on, with the epoch of the viewer's data, so an
outdated context is never returned. Erasure still deletes outdated contexts, because they contain
texts. It keeps valid ones: a missing context would reveal what others erased.
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

from ....core.access import Grant, Label, administrator_grant, check_grant
from ....core.canonical import canonical_json
from ....core.errors import StoreUnavailable, Unavailable
from ....core.ids import WorkspaceId, digest
from ....core.protocols.context_cache import CachedContext, CacheLookup
from ....core.records.context import (
    ENCODING_VERSION,
    InvalidContextBytes,
    decode_context,
    decompress_json,
    encode_context,
)
from ....core.records.window import Window
from ....core.scope import Scope, parse_scope
from ....telemetry.metrics import CacheStats
from .item_encoding import STORE_CONTEXT_SCRIPT, RedisKeys
from .server import Client, RedisServer, execute_pipeline, parse_address
from .window import SCAN_TIMEOUT_SECONDS

if TYPE_CHECKING:
    from ...sql.store import SqlStore

HEADER_FIELD, BODY_FIELD = "head", "body"
EXTRA_TTL_SECONDS = 3_600  # ticket and index of contexts outlive a context by this time
MAX_CONTEXT_BYTES = 1_000_000  # of one compressed context
READ_BATCH = 200  # headers per pipeline
RESIDUE_KEY, RESIDUE_KEY_AWAY = "redis: contexts", "redis: contexts (away)"
UNREADABLE = (LookupError, TypeError, ValueError, AttributeError, RecursionError)


@dataclass(frozen=True, slots=True)
class ContextHeader:
    """Metadata of a cached context: its viewer and epoch, for the erasure."""

    name: str
    workspace: str
    scopes: frozenset[Scope]
    epoch: int
    at: datetime
    body_digest: str

    @property
    def json_text(self) -> str:
        scopes = sorted(map(str, self.scopes))
        fields = [
            self.name,
            self.workspace,
            scopes,
            self.epoch,
            self.at.isoformat(),
            self.body_digest,
        ]
        return canonical_json(fields)

    @classmethod
    def from_json(cls, data: bytes) -> ContextHeader:
        name, workspace, scopes, epoch, at, body = json.loads(data)
        parsed_scopes = frozenset(map(parse_scope, scopes))
        return cls(name, workspace, parsed_scopes, int(epoch), datetime.fromisoformat(at), body)


class RedisContextCache:
    """Cache for the records of another store: `CompositeStore(records, contexts=…)`.

    `window` is the external window of these records, if there is one. `server` is an existing
    connection to the same URL.
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
        self._wait_seconds = address.wait_seconds if wait_seconds is None else wait_seconds
        self._scan_timeout = max(self._wait_seconds, SCAN_TIMEOUT_SECONDS)
        self._uses: Counter[bool] = Counter()
        self._lock = Lock()

    @property
    def stats(self) -> CacheStats:
        with self._lock:
            return CacheStats(hits=self._uses[True], misses=self._uses[False])

    def get(self, grant: Grant, key: str) -> CacheLookup:
        check_grant(grant)
        try:
            location = self._locate_context(grant, key)
            lookup = self._server.call(
                lambda client: self._look_up(client, location), self._wait_seconds
            )
        except Unavailable:
            lookup = CacheLookup()
        with self._lock:
            self._uses[lookup.cached is not None] += 1
        return lookup

    def put(
        self, grant: Grant, key: str, cached: CachedContext, *, ticket: str, seconds: int
    ) -> None:
        check_grant(grant)
        with suppress(Unavailable, InvalidContextBytes):  # a cache may lose entries
            location, body = self._locate_context(grant, key), encode_context(cached.context)
            if len(body) <= MAX_CONTEXT_BYTES:
                self._store_context(
                    location, location.make_header(cached, body), body, ticket, seconds
                )

    def _store_context(
        self,
        location: ContextLocation,
        header: ContextHeader,
        body: bytes,
        ticket: str,
        seconds: int,
    ) -> None:
        names = [location.ticket_key, location.index_key, location.context_key]
        arguments = [ticket, seconds, EXTRA_TTL_SECONDS, location.name, header.json_text, body]
        self._server.call(
            lambda client: client.eval(STORE_CONTEXT_SCRIPT, len(names), *names, *arguments),
            self._wait_seconds,
        )

    # Methods of ExternalPart

    def erase(self, workspace: WorkspaceId, ids: Sequence[str]) -> int:
        """Delete outdated contexts, and contexts that could contain one of these records.

        The ticket is deleted first: `put` then rejects contexts with an older ticket.
        """
        keys = self._workspace_keys(workspace)
        self._call_redis(lambda client: client.delete(keys.ticket(self._memory_id)))
        is_current, labels = (
            self._make_validity_check(workspace),
            cache(lambda: self._find_labels(workspace, ids)),
        )

        def is_affected(header: ContextHeader | None) -> bool:
            if header is None or not is_current(header):
                return True
            return any(label <= header.scopes for label in labels())

        return sum(
            self._delete_contexts(keys, [name for name, header in headers if is_affected(header)])
            for headers in self._iter_headers(keys)
        )

    def find_residue(self, workspace: WorkspaceId, pieces: Sequence[bytes]) -> dict[str, int]:
        """Count the pieces in outdated contexts; there should be none."""
        keys, is_current = self._workspace_keys(workspace), self._make_validity_check(workspace)
        try:
            outdated = [
                name
                for headers in self._iter_headers(keys)
                for name, header in headers
                if header is None or not is_current(header)
            ]
            return {RESIDUE_KEY: sum(self._count_pieces(keys, name, pieces) for name in outdated)}
        except StoreUnavailable:
            return {RESIDUE_KEY_AWAY: 1}

    def list_files(self) -> list[Path]:
        return []

    def close(self) -> None:
        self._server.close()

    # One context

    def _locate_context(self, grant: Grant, key: str) -> ContextLocation:
        """Return where the context of this key is stored, separate for each set of scopes."""
        viewer = ("everything",) if grant.everything else sorted(map(str, grant.scopes))
        name = digest("context", str(ENCODING_VERSION), self._memory_id, key, *viewer)
        keys = self._workspace_keys(grant.workspace)
        return ContextLocation(
            name=name,
            workspace=grant.workspace,
            scopes=grant.scopes,
            context_key=keys.context(name),
            index_key=keys.context_index(self._memory_id),
            ticket_key=keys.ticket(self._memory_id),
        )

    def _look_up(self, client: Client, location: ContextLocation) -> CacheLookup:
        pipeline = client.pipeline(transaction=False)
        pipeline.hmget(location.context_key, [HEADER_FIELD, BODY_FIELD])
        pipeline.get(location.ticket_key)
        stored, ticket = execute_pipeline(pipeline)
        cached = location.read_context(*stored) if stored and all(stored) else None
        if cached is None and ticket is None:
            new_ticket = secrets.token_hex(8)
            client.set(location.ticket_key, new_ticket, nx=True, ex=EXTRA_TTL_SECONDS)
            ticket = client.get(location.ticket_key)
        return CacheLookup(cached=cached, ticket=ticket.decode() if ticket else None)

    # All of a workspace

    def _iter_headers(self, keys: RedisKeys) -> Iterator[list[tuple[str, ContextHeader | None]]]:
        """Yield batches of (name, header); the header is None if it is unreadable."""
        index = keys.context_index(self._memory_id)
        names = [
            each.decode() for each in self._call_redis(lambda client: client.zrange(index, 0, -1))
        ]
        for start in range(0, len(names), READ_BATCH):
            yield self._read_headers(keys, names[start : start + READ_BATCH])

    def _read_headers(
        self, keys: RedisKeys, names: Sequence[str]
    ) -> list[tuple[str, ContextHeader | None]]:
        def fetch_headers(client: Client) -> list[Any]:
            pipeline = client.pipeline(transaction=False)
            for name in names:
                pipeline.hget(keys.context(name), HEADER_FIELD)
            return execute_pipeline(pipeline)

        return list(zip(names, map(_parse_header, self._call_redis(fetch_headers)), strict=True))

    def _delete_contexts(self, keys: RedisKeys, names: Sequence[str]) -> int:
        """Delete these contexts and their index entries; return how many existed."""
        if not names:
            return 0

        def delete_keys(client: Client) -> int:
            pipeline = client.pipeline(transaction=False)
            for name in names:  # a cluster allows one key per DEL
                pipeline.delete(keys.context(name))
            pipeline.zrem(keys.context_index(self._memory_id), *names)
            return sum(pipeline.execute()[:-1])

        return int(self._call_redis(delete_keys))

    def _count_pieces(self, keys: RedisKeys, name: str, pieces: Sequence[bytes]) -> int:
        body = self._call_redis(lambda client: client.hget(keys.context(name), BODY_FIELD))
        try:
            text = decompress_json(body or b"")
        except InvalidContextBytes:
            text = body or b""
        return sum(text.count(piece) for piece in pieces)

    def _make_validity_check(self, workspace: WorkspaceId) -> Callable[[ContextHeader], bool]:
        """Return a predicate: is this context still current for its viewer?"""
        everything = administrator_grant(workspace)

        @cache
        def current_epoch(scopes: frozenset[Scope]) -> int:
            grant = everything.narrow_to(scopes)
            return self._records.epoch(grant) + self._window.epoch(grant)

        return lambda header: (
            header.workspace == workspace.value and current_epoch(header.scopes) == header.epoch
        )

    def _find_labels(self, workspace: WorkspaceId, ids: Sequence[str]) -> set[Label]:
        """Return the labels of these records: their readers may have cached contexts with them."""
        everything = administrator_grant(workspace)
        events = self._records.ledger.get(everything, ids)
        memories = self._records.memories.get(everything, ids)
        return {*(frozenset([event.scope]) for event in events), *(m.label for m in memories)}

    def _workspace_keys(self, workspace: WorkspaceId) -> RedisKeys:
        return RedisKeys.for_workspace(self._namespace, workspace)

    @cached_property
    def _memory_id(self) -> str:
        """Digest that identifies the store: two stores may have workspaces of the same name."""
        return digest("memory", self._records.change_feed.store_created_at())

    def _call_redis(self, work: Callable[[Client], Any]) -> Any:
        return self._server.call(work, self._scan_timeout)


@dataclass(frozen=True, slots=True)
class ContextLocation:
    """Redis keys of a context, and the scopes of its viewer."""

    name: str
    workspace: WorkspaceId
    scopes: frozenset[Scope]
    context_key: str
    index_key: str
    ticket_key: str

    def make_header(self, cached: CachedContext, body: bytes) -> ContextHeader:
        return ContextHeader(
            name=self.name,
            workspace=self.workspace.value,
            scopes=self.scopes,
            epoch=cached.epoch,
            at=cached.at,
            body_digest=_body_digest(body),
        )

    def read_context(self, header_data: bytes, body: bytes) -> CachedContext | None:
        """Decode a context; return None if it is damaged or belongs to another viewer."""
        header = _parse_header(header_data)
        identity = (self.name, self.workspace.value, self.scopes, _body_digest(body))
        if header is None or identity != (
            header.name,
            header.workspace,
            header.scopes,
            header.body_digest,
        ):
            return None
        try:
            return CachedContext(context=decode_context(body), at=header.at, epoch=header.epoch)
        except InvalidContextBytes:
            return None


def _parse_header(data: Any) -> ContextHeader | None:
    """Return the header, or None if `data` is not a header."""
    try:
        return ContextHeader.from_json(data)
    except UNREADABLE:
        return None


def _body_digest(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=16).hexdigest()
