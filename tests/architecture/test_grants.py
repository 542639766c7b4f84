"""There is no way to read without saying who asks."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from tests.servers.windows import beside_redis

from nexus.core import protocols
from nexus.core.access import Grant, Viewer, administrator_grant
from nexus.core.accounts import Accounts
from nexus.core.audit import Audit
from nexus.core.erasing import Eraser
from nexus.core.graph import Graph
from nexus.core.ids import AgentId, UserId, WorkspaceId
from nexus.core.jobs import Jobs
from nexus.core.keeping import ContextKeeper, Looked
from nexus.core.layers import Layers
from nexus.core.ledger import Ledger
from nexus.core.queue import Queue
from nexus.core.records import EmbeddingProfile
from nexus.core.uses import Uses
from nexus.core.window import Slot, Window
from nexus.stores.beside import CombinedStore, Elsewhere
from nexus.stores.inprocess import InProcessStore
from nexus.stores.sqlite.store import SqliteStore

PARTS = {
    "ledger": Ledger,
    "queue": Queue,
    "jobs": Jobs,
    "memories": protocols.Memories,
    "vectors": protocols.Vectors,
    "eraser": Eraser,
    "accounts": Accounts,
    "uses": Uses,
    "audit": Audit,
    "window": Window,
    "graph": Graph,
    "layers": Layers,
    "contexts": ContextKeeper,  # of a store that has some
    "": protocols.Store,
}
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SPACE = EmbeddingProfile(provider="test", model="m", dimension=2)
NEAR = np.array([1.0, 0.0], dtype=np.float32)

# Every method of every part is one or the other. Adding one to the second list is a decision.
READS: dict[str, dict[str, Any]] = {
    "ledger.get": {"ids": ["x"]},
    "ledger.find": {},
    "ledger.scopes": {"limit": 1},
    "ledger.keys": {"ids": ["x"]},
    "ledger.progress": {"ids": ["x"]},
    "queue.pending": {},
    "queue.backlog": {},
    "queue.claim": {"now": NOON, "limit": 1},
    "queue.waiting": {"limit": 1},
    "memories.get": {"ids": ["x"]},
    "memories.find": {},
    "memories.matching": {"terms": ["x"], "limit": 1},
    "memories.holding": {"terms": ["x"]},
    "memories.describe": {"ids": ["x"], "terms": ["x"]},
    "memories.texts": {"ids": ["x"]},
    "memories.between": {"since": NOON, "until": NOON, "limit": 1},
    "memories.named": {"names": ["x"], "limit": 1},
    "memories.outlines": {"names": ["x"], "limit": 1},
    "memories.latest": {"subjects": ["x"]},
    "memories.neighbours": {"ids": ["x"], "reach": 1},
    "graph.around": {"names": ["x"], "depth": 2, "limit": 1},
    "vectors.scores": {"profile": SPACE, "vector": NEAR, "ids": ["x"]},
    "vectors.get": {"profile": SPACE, "ids": ["x"]},
    "vectors.nearest": {"profile": SPACE, "vector": NEAR, "limit": 1},
    "vectors.missing": {"profile": SPACE, "limit": 1},
    "vectors.coverage": {"profile": SPACE},
    "uses.of": {"ids": ["x"]},
    "window.epoch": {},
    "window.find": {"slots": [Slot.NOTE], "now": NOON},
    "audit.find": {"limit": 1},
    "contexts.get": {"key": "x"},
    "count": {},
    "kinds": {},
    "epoch": {},
}
NOT_READS = {
    "ledger.append": "writes",
    "ledger.used": "the administrator's: numbers",
    "ledger.verify": "the administrator's: tells numbers and no content",
    "ledger.written": "the administrator's: in the order of writing; another grant is refused",
    "queue.announce": "says that there is work, and not whose",
    "queue.listen": "hears that there is work, and not whose",
    "queue.renew": "writes, for the worker",
    "queue.finish": "writes, for the worker",
    "queue.fail": "writes, for the worker",
    "queue.requeue": "writes, for the worker",
    "queue.retry": "writes, for the operator; tells a number",
    "jobs.plant": "writes, for the worker; tells a number",
    "jobs.schedule": "writes; tells a number",
    "jobs.claim": "writes, for the worker: names of jobs and of workspaces",
    "jobs.take": "writes, for the administrator",
    "jobs.keep": "writes, for the worker",
    "jobs.finish": "writes, for the worker",
    "jobs.fail": "writes, for the worker",
    "jobs.listed": "the administrator's, whose grant it takes: names, times and numbers",
    "holding": "reads nothing itself",
    "memories.put": "writes; what it returns is what it was given",
    "memories.written": "the program's own: what was written, in the order it was",
    "memories.delete": "writes",
    "memories.mark": "writes",
    "memories.mark_in": "writes, for the worker; tells numbers",
    "memories.states": "the administrator's: no content; another grant is refused",
    "memories.going_on_in": "the administrator's: a time; another grant is refused",
    "memories.states_in": "the administrator's: no content; another grant is refused",
    "vectors.put": "writes",
    "vectors.profiles": "names of embedders, of no workspace",
    "vectors.in_use": "the name of an embedder",
    "vectors.use": "writes",
    "layers.damage": "the operator's: tells numbers and no content",
    "layers.mend": "writes; tells numbers",
    "vectors.drop": "writes; tells a number",
    "eraser.derived": "the administrator's: what has to go",
    "eraser.erase": "writes",
    "eraser.tombstones": "the administrator's: digests",
    "eraser.stones": "the administrator's: digests of some drawers",
    "eraser.gone": "the administrator's: yes or no",
    "eraser.residue": "the administrator's: numbers",
    "accounts.add": "writes",
    "accounts.spent": "the administrator's: numbers",
    "uses.add": "writes",
    "uses.tidy": "writes; tells numbers",
    "audit.configure": "a setting",
    "audit.append": "writes",
    "audit.verify": "the administrator's: tells numbers and no content",
    "audit.naming": "the administrator's: what has to go",
    "audit.blank": "writes",
    "audit.retain": "writes, for the worker; tells a number",
    "audit.prepare": "writes, for the worker; tells numbers",
    "window.put": "writes",
    "window.drop": "writes; tells a number",
    "window.prune": "writes, for the worker; tells a number",
    "window.prune_in": "writes, for the worker; tells numbers",
    "window.tied_to": "the administrator's: what has to go",
    "contexts.put": "writes",
    "moment": "reads nothing itself",
    "recording": "writes with the next write",
    "recording_in": "writes with the next write",
    "workspaces": "the operator's: names of workspaces",
    "files": "the operator's: names of files",
    "caches": "the operator's: numbers of this process",
    "follow": "writes, for the worker; tells whether there is more",
    "optimize": "writes",
    "close": "ends",
}


def methods(protocol: type) -> dict[str, Callable[..., Any]]:
    return {
        name: method
        for base in protocol.__mro__
        for name, method in vars(base).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


@pytest.fixture(scope="module", params=["inprocess", "sqlite", "sqlite+redis"])
def store(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Any]:
    """Empty, and it stays so: nothing is written here."""
    folder = tmp_path_factory.mktemp("store")
    in_memory = request.param == "inprocess"
    store: Any = InProcessStore() if in_memory else SqliteStore(folder / "m.db")
    if request.param == "sqlite+redis":
        server = request.getfixturevalue("redis_server")
        store = beside_redis(store, server.url, f"{folder} {os.getpid()}")
    yield store
    store.close()


def bound(store: Any, name: str) -> Callable[..., Any]:
    part, _, method = name.rpartition(".")
    if part == "contexts" and not hasattr(store, part):
        pytest.skip("each process keeps its own contexts")
    return getattr(getattr(store, part) if part else store, method)  # type: ignore[no-any-return]


@pytest.mark.requirement("A12", "C4")
def test_every_method_of_every_part_is_known_to_read_or_not() -> None:
    every = {
        f"{part}.{name}".lstrip(".")
        for part, protocol in PARTS.items()
        for name in methods(protocol)
    }

    assert every == READS.keys() | NOT_READS.keys()
    assert not READS.keys() & NOT_READS.keys()


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("name", READS)
def test_a_read_takes_a_grant_first(name: str) -> None:
    part, _, method = name.rpartition(".")

    _, first, *_ = inspect.signature(methods(PARTS[part])[method]).parameters.values()

    assert first.name == "grant"
    assert first.annotation == ("Grant | None" if name == "queue.claim" else "Grant")
    assert first.default is inspect.Parameter.empty


@pytest.mark.requirement("A12", "C4")
@pytest.mark.parametrize("name", [*READS, *NOT_READS])
def test_a_store_takes_what_its_contract_says(store: Any, name: str) -> None:
    part, _, method = name.rpartition(".")
    _, *promised = inspect.signature(methods(PARTS[part])[method]).parameters.values()

    given = inspect.signature(bound(store, name)).parameters.values()

    assert [(p.name, p.kind, p.default) for p in given] == [
        (p.name, p.kind, p.default) for p in promised
    ]


@pytest.mark.requirement("A12", "C4")
def test_a_store_reads_in_no_other_way(store: Any) -> None:
    """A public method that no contract names would be a way around the grant."""
    for part, protocol in PARTS.items():
        held = getattr(store, part, None) if part else store
        extra = {
            name
            for name, value in inspect.getmembers(held)
            if callable(value) and not name.startswith("_")
        }
        beside = methods(Elsewhere) if part and isinstance(store, CombinedStore) else {}
        assert extra <= methods(protocol).keys() | beside.keys(), part


ACME = WorkspaceId("acme")
VIEWER = Viewer(workspace=ACME, agent=AgentId("scribe"), user=UserId("alice"))


def forged() -> Grant:
    grant = object.__new__(Grant)
    for name, value in (("workspace", ACME), ("scopes", frozenset()), ("everything", True)):
        object.__setattr__(grant, name, value)
    object.__setattr__(grant, "_seal", bytes(16))
    return grant


NO_GRANT = {
    "none": None,
    "viewer": VIEWER,
    "workspace": ACME,
    "text": "acme",
    "true": True,
    "forged": forged(),
}


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("given", NO_GRANT.values(), ids=NO_GRANT)
@pytest.mark.parametrize("name", READS)
def test_a_read_without_a_real_grant_is_refused(store: Any, name: str, given: Any) -> None:
    if name == "queue.claim" and given is None:
        return  # the worker's own call
    with pytest.raises(TypeError):
        bound(store, name)(given, **READS[name])


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("name", READS)
def test_a_read_cannot_be_asked_without_saying_who(store: Any, name: str) -> None:
    with pytest.raises(TypeError):
        bound(store, name)(**READS[name])


@pytest.mark.parametrize("name", READS)
def test_an_empty_grant_reads_nothing(store: Any, name: str) -> None:
    nothing = administrator_grant(ACME).within([])

    answer = bound(store, name)(nothing, **READS[name])

    if isinstance(answer, Looked):
        answer = answer.kept
    assert not answer or set(answer.values()) == {0}
