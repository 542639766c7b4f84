"""A Redis behind TLS: whoever it is must be known to the authority that the address names."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.certificates import Authority
from tests.servers.proxy import Proxy
from tests.servers.redis import Redis

from nexus.core.errors import StoreUnavailable
from nexus.core.window import Slot, WindowItem
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, ADMIN, NOON, ROOM

pytest.importorskip("redis", reason="the extra redis is not installed")

from nexus.stores.redis import RedisWindow

NOTE = WindowItem(key="k", value="v", scope=ROOM, slot=Slot.NOTE, at=NOON, by="scribe")


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority(tmp_path)


@pytest.fixture
def wire(redis_server: Redis, redis_url: str, authority: Authority) -> Iterator[Proxy]:
    """On the way to the Redis of the run, which is empty; nobody passes without TLS."""
    with Proxy(redis_server.port, tls=authority.context()) as wire:
        yield wire


def kept(address: str) -> list[WindowItem]:
    window = RedisWindow(address, InProcessStore(), wait_seconds=10.0)
    try:
        window.put(ACME, [NOTE])
        return window.find(ADMIN, slots=[Slot.NOTE], now=NOON)
    finally:
        window.close()


@pytest.mark.requirement("A2")
def test_a_window_behind_tls(wire: Proxy, authority: Authority) -> None:
    assert kept(f"rediss://127.0.0.1:{wire.port}/0?ssl_ca_certs={authority.file}") == [NOTE]
    assert wire.accepted


def test_whoever_asks_for_it_need_not_check_who_answers(wire: Proxy) -> None:
    assert kept(f"rediss://127.0.0.1:{wire.port}/0?ssl_cert_reqs=none") == [NOTE]


@pytest.mark.parametrize(
    "address",
    [
        "rediss://127.0.0.1:{port}/0",
        "rediss://127.0.0.1:{port}/0?ssl_ca_certs={stranger}",
        "rediss://localhost:{port}/0?ssl_ca_certs={known}",  # of another name
        "redis://127.0.0.1:{port}/0",
    ],
)
def test_nothing_is_said_to_a_server_that_is_not_known(
    wire: Proxy, authority: Authority, redis_server: Redis, tmp_path: Path, address: str
) -> None:
    (tmp_path / "elsewhere").mkdir()
    stranger = Authority(tmp_path / "elsewhere")
    before = redis_server.ask("DBSIZE")

    with pytest.raises(StoreUnavailable, match="Redis does not answer"):
        kept(address.format(port=wire.port, known=authority.file, stranger=stranger.file))

    assert redis_server.ask("DBSIZE") == before
