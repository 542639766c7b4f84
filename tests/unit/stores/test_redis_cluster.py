"""Window and context cache with Redis Cluster and Sentinel."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import pytest
from tests.architecture.sources import ROOT
from tests.servers.fixtures import start_or_skip
from tests.servers.process import free_port
from tests.servers.redis import Redis, find_program
from tests.servers.redis_store import with_redis

from nexusmem.core.access import administrator_grant
from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.ids import WorkspaceId
from nexusmem.core.protocols.context_cache import SharedContextCache
from nexusmem.core.protocols.store import Store
from nexusmem.core.records.window import WindowItem, WindowSlot
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ALICE, NOON, ROOM, append_events, make_event
from nexusmem.testing.suites.window import KEY, ContextCacheSuite, WindowSuite

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexusmem.stores.external.redis import RedisContextCache, RedisWindow  # noqa: E402
from nexusmem.stores.external.redis.item_encoding import RedisKeys  # noqa: E402

pytestmark = pytest.mark.slow

NODES = 3
SLOTS = 16_384
WAIT_SECONDS = 30.0  # until the servers have found each other


def wait_until(condition: Callable[[], object]) -> None:
    """Poll the condition; raise AssertionError after WAIT_SECONDS."""
    end = time.monotonic() + WAIT_SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.05)


class Node(Redis):
    """A cluster node; its bus port is its port plus 10,000."""

    name = "redis-node"

    def __init__(self) -> None:
        super().__init__(
            **{
                "cluster-enabled": "yes",
                "cluster-config-file": "nodes.conf",
                "cluster-node-timeout": "2000",
                "cluster-require-full-coverage": "no",
            }
        )

    def start(self) -> Self:
        while not self._ever_started and self.port >= 55_000:
            self.port = free_port()
        return super().start()


class SentinelServer(Redis):
    """A Sentinel server that monitors one service."""

    name = "redis-sentinel"

    def __init__(self, service: str, port: int) -> None:
        self._watched = (
            f"sentinel monitor {service} 127.0.0.1 {port} 1\n"
            f"sentinel down-after-milliseconds {service} 300\n"
            f"sentinel failover-timeout {service} 3000\n"
        )
        super().__init__()

    def command(self) -> list[Any]:
        file: Path = self.folder / "sentinel.conf"
        where = f"port {self.port}\nbind 127.0.0.1\npidfile {self.pid_file}\n"
        file.write_text(where + self._watched)
        return [find_program(), file, "--sentinel"]


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[Node]]:
    with ExitStack() as stack:
        nodes = [stack.enter_context(start_or_skip(Node)) for _ in range(NODES)]
        share = -(-SLOTS // NODES)
        for number, node in enumerate(nodes):
            with redis.Redis(port=node.port, protocol=2) as client:
                own = range(number * share, min((number + 1) * share, SLOTS))
                client.execute_command("CLUSTER ADDSLOTS", *own)
                client.execute_command("CLUSTER MEET", "127.0.0.1", nodes[0].port)
        for node in nodes:
            wait_until(lambda: knows_all(node))  # noqa: B023
        yield nodes


def knows_all(node: Node) -> bool:
    with redis.Redis(port=node.port, protocol=2, decode_responses=True) as client:
        told = client.execute_command("CLUSTER INFO")
    return (told["cluster_state"], told["cluster_slots_ok"]) == ("ok", str(SLOTS))


def cluster_url(nodes: list[Node]) -> str:
    hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
    return f"redis+cluster://{hosts}"


def note(value: str) -> WindowItem:
    return WindowItem(scope=ROOM, slot=WindowSlot.NOTE, key="k", value=value, at=NOON)


def notes(store: Store, workspace: WorkspaceId) -> list[Any]:
    grant = administrator_grant(workspace).narrow_to([ROOM])
    return [each.value for each in store.window.find(grant, slots=[WindowSlot.NOTE], now=NOON)]


@pytest.mark.requirement("A2", "C4")
class TestWindowOnACluster(WindowSuite):
    @pytest.fixture
    def store(self, nodes: list[Node]) -> Iterator[Store]:
        store = with_redis(ReferenceStore(), cluster_url(nodes), secrets.token_hex(8))
        yield store
        store.close()


@pytest.mark.requirement("A2", "D23")
class TestContextsOnACluster(ContextCacheSuite):
    @pytest.fixture
    def store(self, nodes: list[Node], tmp_path: Path) -> Iterator[Store]:
        records = SqliteStore(tmp_path / "memory.db")
        store = with_redis(records, cluster_url(nodes), secrets.token_hex(8))
        yield store
        store.close()


@pytest.mark.requirement("A2", "D24")
def test_lost_node_affects_only_its_workspaces(nodes: list[Node]) -> None:
    records = ReferenceStore()
    window = RedisWindow(cluster_url(nodes), records, wait_seconds=2.0)
    store = CompositeStore(records, window=window)
    homes: dict[int, WorkspaceId] = {}  # one per node
    for number in range(99):
        workspace = WorkspaceId(f"workspace {number}")
        slot = redis.cluster.key_slot(RedisKeys.for_workspace("", workspace).scopes.encode())
        homes.setdefault(slot * NODES // SLOTS, workspace)
    for workspace in homes.values():
        store.window.put(workspace, [note("tea")])
    assert len(homes) == NODES

    nodes[1].freeze()
    try:
        with pytest.raises(StoreUnavailable):
            notes(store, homes[1])
        window._server._breaker.clock = lambda: time.monotonic() + 1_000
        assert notes(store, homes[0]) == ["tea"]
        assert notes(store, homes[2]) == ["tea"]
    finally:
        nodes[1].thaw()
    wait_until(lambda: answers(store, homes[1]))
    store.close()


def test_documented_acl_is_sufficient_for_cluster(nodes: list[Node], tmp_path: Path) -> None:
    page = (ROOT / "docs" / "reference" / "redis.md").read_text()
    found = re.search(
        r"ACL SETUSER nexus on >password ([^`]*)`; on a\s+cluster\s+also\s+`(.*?)` and `(.*?)`",
        page,
    )
    more = re.search(r"for the context cache also `([^`]*)`", page)
    assert found
    assert more
    rights = " ".join([*found.groups(), more[1]]).split()
    for node in nodes:
        with redis.Redis(port=node.port, protocol=2) as client:
            client.execute_command("ACL SETUSER nexus reset on", ">password", *rights)
    url = cluster_url(nodes).replace("//", "//nexus:password@")
    records = SqliteStore(tmp_path / "memory.db")
    store = with_redis(records, url, secrets.token_hex(8))
    workspace = WorkspaceId("acme")
    ContextCacheSuite._put_context(store, ALICE.grant())

    store.window.put(workspace, [note("tea")])

    assert notes(store, workspace) == ["tea"]
    assert store.window.find_dependents(workspace, ["nothing"]) == []
    assert store.contexts
    assert store.contexts.get(ALICE.grant(), KEY).cached
    store.close()


def answers(store: Any, workspace: WorkspaceId) -> bool:
    try:
        return notes(store, workspace) == ["tea"]
    except StoreUnavailable:
        return False


@pytest.mark.requirement("A2", "D24")
def test_window_follows_sentinel_failover() -> None:
    with ExitStack() as stack:
        primary, replica = (stack.enter_context(start_or_skip(Redis)) for _ in range(2))
        assert replica.execute("REPLICAOF", "127.0.0.1", str(primary.port)) == "+OK"
        sentinel = stack.enter_context(start_or_skip(SentinelServer, "main", primary.port))
        records = ReferenceStore()
        url = f"redis+sentinel://127.0.0.1:{sentinel.port}/main"
        store = CompositeStore(records, window=RedisWindow(url, records, wait_seconds=1.0))
        home = WorkspaceId("acme")
        store.window.put(home, [note("tea")])
        wait_until(lambda: replica.execute("DBSIZE") == primary.execute("DBSIZE"))
        wait_until(lambda: knows_replica(sentinel))

        primary.kill()

        with pytest.raises(StoreUnavailable):
            store.window.put(home, [note("coffee")])
        wait_until(lambda: answers(store, home))
        store.window.put(home, [note("coffee")])
        assert notes(store, home) == ["coffee"]
        store.close()


@pytest.mark.requirement("A2", "D24", "X6")
def test_contexts_follow_sentinel_failover(tmp_path: Path) -> None:
    with ExitStack() as stack:
        primary, replica = (stack.enter_context(start_or_skip(Redis)) for _ in range(2))
        assert replica.execute("REPLICAOF", "127.0.0.1", str(primary.port)) == "+OK"
        sentinel = stack.enter_context(start_or_skip(SentinelServer, "main", primary.port))
        url = f"redis+sentinel://127.0.0.1:{sentinel.port}/main?wait=1"
        records = SqliteStore(tmp_path / "memory.db")
        store = CompositeStore(records, contexts=RedisContextCache(url, records))
        keeper, grant = contexts_of(store), ALICE.grant()
        kept = ContextCacheSuite._put_context(store, grant)
        wait_until(lambda: replica.execute("DBSIZE") == primary.execute("DBSIZE"))
        wait_until(lambda: knows_replica(sentinel))

        primary.kill()

        assert keeper.get(grant, KEY).cached is None  # does not raise
        wait_until(lambda: keeper.get(grant, KEY).cached == kept)
        assert (
            ContextCacheSuite._put_context(store, grant, "again") == keeper.get(grant, KEY).cached
        )
        (id,) = append_events(store, make_event("1", scope=ALICE.home))
        assert store.eraser.erase(ALICE.workspace, events=[id], memories=[], tombstones=[]).contexts
        assert keeper.get(grant, KEY).cached is None
        store.close()


def contexts_of(store: CompositeStore) -> SharedContextCache:
    assert store.contexts
    return store.contexts


def knows_replica(sentinel: SentinelServer) -> bool:
    with redis.Redis(port=sentinel.port, protocol=2) as client:
        return bool(client.sentinel_slaves("main"))
