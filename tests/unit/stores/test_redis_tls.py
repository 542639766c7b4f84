"""Redis over TLS: verification of certificates."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.certificates import Authority
from tests.servers.proxy import Proxy
from tests.servers.redis import Redis

from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.records.window import WindowItem, WindowSlot
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ADMIN, NOON, ROOM

pytest.importorskip("redis", reason="the extra redis is not installed")

from nexusmem.stores.external.redis import RedisWindow

NOTE = WindowItem(key="k", value="v", scope=ROOM, slot=WindowSlot.NOTE, at=NOON, by="scribe")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def wire(redis_server: Redis, redis_url: str, authority: Authority) -> Iterator[Proxy]:
    """Return a TLS proxy in front of the empty shared Redis."""
    with Proxy(redis_server.port, tls=authority.context()) as wire:
        yield wire


def kept(address: str) -> list[WindowItem]:
    window = RedisWindow(address, ReferenceStore(), wait_seconds=10.0)
    try:
        window.put(ACME, [NOTE])
        return window.find(ADMIN, slots=[WindowSlot.NOTE], now=NOON)
    finally:
        window.close()


@pytest.mark.requirement("A2")
def test_window_over_tls(wire: Proxy, authority: Authority) -> None:
    assert kept(f"rediss://127.0.0.1:{wire.port}/0?ssl_ca_certs={authority.file}") == [NOTE]
    assert wire.accepted


def test_ssl_cert_reqs_none_skips_verification(wire: Proxy) -> None:
    assert kept(f"rediss://127.0.0.1:{wire.port}/0?ssl_cert_reqs=none") == [NOTE]


@pytest.mark.parametrize(
    "address",
    [
        "rediss://127.0.0.1:{port}/0",
        "rediss://127.0.0.1:{port}/0?ssl_ca_certs={stranger}",
        "rediss://localhost:{port}/0?ssl_ca_certs={known}",  # a certificate for another name
        "redis://127.0.0.1:{port}/0",
    ],
)
def test_unknown_certificate_is_rejected(
    wire: Proxy, authority: Authority, redis_server: Redis, tmp_path: Path, address: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    stranger = Authority(tmp_path / "elsewhere")
    before = redis_server.execute("DBSIZE")

    with pytest.raises(StoreUnavailable, match="Redis does not answer"):
        kept(address.format(port=wire.port, known=authority.file, stranger=stranger.file))

    assert redis_server.execute("DBSIZE") == before
