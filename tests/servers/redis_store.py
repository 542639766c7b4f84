"""Stores with their window and context cache in Redis, for tests."""

from __future__ import annotations

from urllib.parse import quote

from nexusmem.core.protocols.store import Store
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.sql.store import SqlStore

WAIT_SECONDS = 10.0  # these tests do not simulate a slow Redis


def with_redis(records: Store, url: str, namespace: str) -> CompositeStore:
    """Return a store with its window, and for SQL records the context cache, in Redis.

    Epochs are counted from 0 instead of the clock, so that two stores can be compared.
    """
    from nexusmem.stores.external.redis import RedisContextCache, RedisWindow

    address = f"{url}?namespace={quote(namespace)}"
    window = RedisWindow(address, records, wait_seconds=WAIT_SECONDS, clock=lambda: 0)
    if not isinstance(records, SqlStore):
        return CompositeStore(records, window=window)
    contexts = RedisContextCache(address, records, window=window, wait_seconds=WAIT_SECONDS)
    return CompositeStore(records, window=window, contexts=contexts)
