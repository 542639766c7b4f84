"""Windows and contexts in a Redis of several servers: a cluster, and what a sentinel watches."""

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
from tests.servers.fixtures import started
from tests.servers.process import free_port
from tests.servers.redis import Redis, program
from tests.servers.windows import beside_redis

from nexus.core.access import administrator_grant
from nexus.core.errors import StoreUnavailable
from nexus.core.ids import WorkspaceId
from nexus.core.keeping import ContextKeeper
from nexus.core.protocols import Store
from nexus.core.window import Slot, WindowItem
from nexus.stores.beside import CombinedStore
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ALICE, NOON, ROOM, event, tell
from nexus.testing.suites.contexts import KEY, ContextsSuite
from nexus.testing.suites.window import WindowSuite

redis = pytest.importorskip("redis", reason="the extra redis is not installed")

from nexus.stores.redis import RedisContexts, RedisWindow  # noqa: E402
from nexus.stores.redis.keys import Keys  # noqa: E402

pytestmark = pytest.mark.slow

NODES = 3
SLOTS = 16_384
PATIENCE = 30.0  # seconds, for servers to find one another


def until(true: Callable[[], object]) -> None:
    """Wait until it is."""
    end = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


class Node(Redis):
    """A member of a cluster: it talks with the others on a port 10,000 above its own."""

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
    """Watches one service, and makes a replica its primary when that is gone."""

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
        return [program(), file, "--sentinel"]


@pytest.fixture(scope="module")
def nodes() -> Iterator[list[Node]]:
    with ExitStack() as stack:
        nodes = [stack.enter_context(started(Node)) for _ in range(NODES)]
        share = -(-SLOTS // NODES)
        for number, node in enumerate(nodes):
            with redis.Redis(port=node.port, protocol=2) as client:
                own = range(number * share, min((number + 1) * share, SLOTS))
                client.execute_command("CLUSTER ADDSLOTS", *own)
                client.execute_command("CLUSTER MEET", "127.0.0.1", nodes[0].port)
        for node in nodes:
            until(lambda: knows_all(node))  # noqa: B023
        yield nodes


def knows_all(node: Node) -> bool:
    with redis.Redis(port=node.port, protocol=2, decode_responses=True) as client:
        told = client.execute_command("CLUSTER INFO")
    return (told["cluster_state"], told["cluster_slots_ok"]) == ("ok", str(SLOTS))


def cluster_url(nodes: list[Node]) -> str:
    hosts = ",".join(f"127.0.0.1:{node.port}" for node in nodes)
    return f"redis+cluster://{hosts}"


def note(value: str) -> WindowItem:
    return WindowItem(scope=ROOM, slot=Slot.NOTE, key="k", value=value, at=NOON)


def notes(store: Store, workspace: WorkspaceId) -> list[Any]:
    grant = administrator_grant(workspace).within([ROOM])
    return [each.value for each in store.window.find(grant, slots=[Slot.NOTE], now=NOON)]


@pytest.mark.requirement("A2", "C4")
class TestWindowOnACluster(WindowSuite):
    @pytest.fixture
    def store(self, nodes: list[Node]) -> Iterator[Store]:
        store = beside_redis(InProcessStore(), cluster_url(nodes), secrets.token_hex(8))
        yield store
        store.close()


@pytest.mark.requirement("A2", "D23")
class TestContextsOnACluster(ContextsSuite):
    @pytest.fixture
    def store(self, nodes: list[Node], tmp_path: Path) -> Iterator[Store]:
        records = SqliteStore(tmp_path / "memory.db")
        store = beside_redis(records, cluster_url(nodes), secrets.token_hex(8))
        yield store
        store.close()


@pytest.mark.requirement("A2", "D24")
def test_a_node_that_is_gone_is_missed_by_its_own_workspaces_only(nodes: list[Node]) -> None:
    records = InProcessStore()
    window = RedisWindow(cluster_url(nodes), records, wait_seconds=2.0)
    store = CombinedStore(records, window=window)
    homes: dict[int, WorkspaceId] = {}  # one for each node
    for number in range(99):
        workspace = WorkspaceId(f"workspace {number}")
        slot = redis.cluster.key_slot(Keys.of("", workspace).places.encode())
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
    until(lambda: answers(store, homes[1]))
    store.close()


def test_a_user_of_a_cluster_needs_no_more_than_the_page_says(
    nodes: list[Node], tmp_path: Path
) -> None:
    page = (ROOT / "docs" / "stores.md").read_text()
    found = re.search(r"ACL SETUSER nexus on >password ([^`]*)`.* `(.*)`\s+and `(.*)`\.", page)
    more = re.search(r"for contexts also `([^`]*)`", page)
    assert found
    assert more
    rights = " ".join([*found.groups(), more[1]]).split()
    for node in nodes:
        with redis.Redis(port=node.port, protocol=2) as client:
            client.execute_command("ACL SETUSER nexus reset on", ">password", *rights)
    url = cluster_url(nodes).replace("//", "//nexus:password@")
    records = SqliteStore(tmp_path / "memory.db")
    store = beside_redis(records, url, secrets.token_hex(8))
    workspace = WorkspaceId("acme")
    ContextsSuite._put(store, ALICE.grant())

    store.window.put(workspace, [note("tea")])

    assert notes(store, workspace) == ["tea"]
    assert store.window.tied_to(workspace, ["nothing"]) == []
    assert store.contexts
    assert store.contexts.get(ALICE.grant(), KEY).kept
    store.close()


def answers(store: Any, workspace: WorkspaceId) -> bool:
    try:
        return notes(store, workspace) == ["tea"]
    except StoreUnavailable:
        return False


@pytest.mark.requirement("A2", "D24")
def test_sentinels_say_who_the_primary_is_now() -> None:
    with ExitStack() as stack:
        primary, replica = (stack.enter_context(started(Redis)) for _ in range(2))
        assert replica.ask("REPLICAOF", "127.0.0.1", str(primary.port)) == "+OK"
        sentinel = stack.enter_context(started(lambda: SentinelServer("main", primary.port)))
        records = InProcessStore()
        url = f"redis+sentinel://127.0.0.1:{sentinel.port}/main"
        store = CombinedStore(records, window=RedisWindow(url, records, wait_seconds=1.0))
        home = WorkspaceId("acme")
        store.window.put(home, [note("tea")])
        until(lambda: replica.ask("DBSIZE") == primary.ask("DBSIZE"))
        until(lambda: knows_replica(sentinel))

        primary.kill()

        with pytest.raises(StoreUnavailable):
            store.window.put(home, [note("coffee")])
        until(lambda: answers(store, home))
        store.window.put(home, [note("coffee")])
        assert notes(store, home) == ["coffee"]
        store.close()


@pytest.mark.requirement("A2", "D24", "X6")
def test_contexts_follow_the_primary(tmp_path: Path) -> None:
    with ExitStack() as stack:
        primary, replica = (stack.enter_context(started(Redis)) for _ in range(2))
        assert replica.ask("REPLICAOF", "127.0.0.1", str(primary.port)) == "+OK"
        sentinel = stack.enter_context(started(lambda: SentinelServer("main", primary.port)))
        url = f"redis+sentinel://127.0.0.1:{sentinel.port}/main?wait=1"
        records = SqliteStore(tmp_path / "memory.db")
        store = CombinedStore(records, contexts=RedisContexts(url, records))
        keeper, grant = contexts_of(store), ALICE.grant()
        kept = ContextsSuite._put(store, grant)
        until(lambda: replica.ask("DBSIZE") == primary.ask("DBSIZE"))
        until(lambda: knows_replica(sentinel))

        primary.kill()

        assert keeper.get(grant, KEY).kept is None  # nothing is raised
        until(lambda: keeper.get(grant, KEY).kept == kept)
        assert ContextsSuite._put(store, grant, "again") == keeper.get(grant, KEY).kept
        (id,) = tell(store, event("1", scope=ALICE.home))
        assert store.eraser.erase(ALICE.workspace, events=[id], memories=[], tombstones=[]).contexts
        assert keeper.get(grant, KEY).kept is None
        store.close()


def contexts_of(store: CombinedStore) -> ContextKeeper:
    assert store.contexts
    return store.contexts


def knows_replica(sentinel: SentinelServer) -> bool:
    with redis.Redis(port=sentinel.port, protocol=2) as client:
        return bool(client.sentinel_slaves("main"))
