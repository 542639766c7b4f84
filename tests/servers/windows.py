"""Records with their windows and contexts in Redis, for tests."""

from __future__ import annotations

from urllib.parse import quote

from nexus.core.protocols import Store
from nexus.stores.beside import CombinedStore
from nexus.stores.sql.store import SqlStore

PATIENT = 10.0  # seconds: these tests are not about a Redis that does not answer


def beside_redis(records: Store, url: str, namespace: str) -> CombinedStore:
    """A window of its own on a Redis that others use, too; contexts, if the records can have them.

    Its epochs are counted and not taken from a clock, so that two stores can be compared.
    """
    from nexus.stores.redis import RedisContexts, RedisWindow  # an extra

    address = f"{url}?namespace={quote(namespace)}"
    window = RedisWindow(address, records, wait_seconds=PATIENT, clock=lambda: 0)
    if not isinstance(records, SqlStore):
        return CombinedStore(records, window=window)
    contexts = RedisContexts(address, records, window=window, wait_seconds=PATIENT)
    return CombinedStore(records, window=window, contexts=contexts)
