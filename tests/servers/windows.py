"""Records with their windows in Redis, for tests."""

from __future__ import annotations

from urllib.parse import quote

from nexus.core.protocols import Store
from nexus.stores.beside import CombinedStore

PATIENT = 10.0  # seconds: these tests are not about a Redis that does not answer


def beside_redis(records: Store, url: str, namespace: str) -> CombinedStore:
    """A window of its own on a Redis that others use, too.

    Its epochs are counted and not taken from a clock, so that two stores can be compared.
    """
    from nexus.stores.redis import RedisWindow  # an extra

    address = f"{url}?namespace={quote(namespace)}"
    window = RedisWindow(address, records, wait_seconds=PATIENT, clock=lambda: 0)
    return CombinedStore(records, window=window)
