"""Every read of a store takes a Grant first, and no other read exists."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pytest
from tests.servers.redis_store import with_redis

from nexusmem.audit.records import AuditLog
from nexusmem.core.access import Grant, Viewer, administrator_grant
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.protocols.context_cache import CacheLookup, SharedContextCache
from nexusmem.core.protocols.eraser import Eraser
from nexusmem.core.protocols.graph import Graph
from nexusmem.core.protocols.index_repair import DerivedIndexes
from nexusmem.core.protocols.jobs import Jobs
from nexusmem.core.protocols.ledger import Ledger
from nexusmem.core.protocols.memories import Memories
from nexusmem.core.protocols.models import ModelCosts
from nexusmem.core.protocols.queue import Queue
from nexusmem.core.protocols.store import Store
from nexusmem.core.protocols.usage_counts import UsageCounts
from nexusmem.core.protocols.vectors import Vectors
from nexusmem.core.records import EmbeddingProfile, MemoryKind
from nexusmem.core.records.window import Window, WindowSlot
from nexusmem.stores.external.composite_store import CompositeStore, ExternalPart
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore

PARTS = {
    "ledger": Ledger,
    "queue": Queue,
    "jobs": Jobs,
    "memories": Memories,
    "vectors": Vectors,
    "eraser": Eraser,
    "model_costs": ModelCosts,
    "usage_counts": UsageCounts,
    "audit": AuditLog,
    "window": Window,
    "graph": Graph,
    "indexes": DerivedIndexes,
    "contexts": SharedContextCache,  # only of stores with a shared cache
    "": Store,
}
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SPACE = EmbeddingProfile(provider="test", model="m", dimension=2)
NEAR = np.array([1.0, 0.0], dtype=np.float32)

# Every method of every part is in one of these two lists.
READS: dict[str, dict[str, Any]] = {
    "ledger.get": {"ids": ["x"]},
    "ledger.find": {},
    "ledger.list_scopes": {"limit": 1},
    "ledger.load_keys": {"ids": ["x"]},
    "ledger.load_progress": {"ids": ["x"]},
    "queue.count_pending": {},
    "queue.backlog": {},
    "queue.claim": {"now": NOON, "limit": 1},
    "queue.list_pending": {"limit": 1},
    "memories.get": {"ids": ["x"]},
    "memories.find": {},
    "memories.search_keywords": {"terms": ["x"], "limit": 1},
    "memories.count_matching": {"terms": ["x"]},
    "memories.load_candidates": {"ids": ["x"], "terms": ["x"]},
    "memories.load_texts": {"ids": ["x"]},
    "memories.ids_between": {"since": NOON, "until": NOON, "limit": 1},
    "memories.find_by_name": {"names": ["x"], "limit": 1},
    "memories.find_by_source": {"sources": ["x"], "kinds": [MemoryKind.FACT]},
    "memories.fact_outlines": {"names": ["x"], "limit": 1},
    "memories.latest_facts": {"subjects": ["x"]},
    "memories.find_neighbours": {"ids": ["x"], "reach": 1},
    "graph.traverse": {"names": ["x"], "depth": 2, "limit": 1},
    "vectors.score_ids": {"profile": SPACE, "vector": NEAR, "ids": ["x"]},
    "vectors.get": {"profile": SPACE, "ids": ["x"]},
    "vectors.find_nearest": {"profile": SPACE, "vector": NEAR, "limit": 1},
    "vectors.list_missing": {"profile": SPACE, "limit": 1},
    "vectors.coverage": {"profile": SPACE},
    "usage_counts.load_usage": {"ids": ["x"]},
    "window.epoch": {},
    "window.find": {"slots": [WindowSlot.NOTE], "now": NOON},
    "audit.find": {"limit": 1},
    "contexts.get": {"key": "x"},
    "count_records": {},
    "count_by_kind": {},
    "count_by_tier": {},
    "epoch": {},
}
NOT_READS = {
    "ledger.append": "writes",
    "ledger.measure_usage": "the administrator's: numbers",
    "ledger.verify": "the administrator's: tells numbers and no content",
    "ledger.events_since": "the administrator's: in the order of writing; another grant is refused",
    "queue.notify": "says that there is work, and not whose",
    "queue.wait_for_work": "hears that there is work, and not whose",
    "queue.renew": "writes, for the worker",
    "queue.finish": "writes, for the worker",
    "queue.fail": "writes, for the worker",
    "queue.reset_events": "writes, for the worker",
    "queue.retry": "writes, for the operator; tells a number",
    "jobs.ensure_recurring": "writes, for the worker; tells a number",
    "jobs.schedule": "writes; tells a number",
    "jobs.claim": "writes, for the worker: names of jobs and of workspaces",
    "jobs.claim_one": "writes, for the administrator",
    "jobs.renew": "writes, for the worker",
    "jobs.finish": "writes, for the worker",
    "jobs.fail": "writes, for the worker",
    "jobs.list_jobs": "the administrator's, whose grant it takes: names, times and numbers",
    "with_leases": "reads nothing itself",
    "memories.put": "writes; what it returns is what it was given",
    "memories.changes_since": "the program's own: what was written, in the order it was",
    "memories.delete": "writes",
    "memories.set_state": "writes",
    "memories.set_state_many": "writes, for the worker; tells numbers",
    "memories.list_states": "the administrator's: no content; another grant is refused",
    "memories.oldest_active_times": "the administrator's: a time; another grant is refused",
    "memories.list_states_many": "the administrator's: no content; another grant is refused",
    "vectors.put": "writes",
    "vectors.list_profiles": "names of embedders, of no workspace",
    "vectors.active_profile": "the name of an embedder",
    "vectors.activate_profile": "writes",
    "indexes.find_damage": "the operator's: tells numbers and no content",
    "indexes.repair": "writes; tells numbers",
    "vectors.delete_profile": "writes; tells a number",
    "eraser.list_derived": "the administrator's: what has to go",
    "eraser.erase": "writes",
    "eraser.list_tombstones": "the administrator's: digests",
    "eraser.scope_tombstones": "the administrator's: digests of some drawers",
    "eraser.any_erased": "the administrator's: yes or no",
    "eraser.find_residue": "the administrator's: numbers",
    "model_costs.add": "writes",
    "model_costs.list_costs": "the administrator's: numbers",
    "usage_counts.add": "writes",
    "usage_counts.delete_orphans": "writes; tells numbers",
    "audit.configure": "a setting",
    "audit.append": "writes",
    "audit.verify": "the administrator's: tells numbers and no content",
    "audit.find_mentions": "the administrator's: what has to go",
    "audit.erase_contents": "writes",
    "audit.apply_retention": "writes, for the worker; tells a number",
    "audit.prepare_days": "writes, for the worker; tells numbers",
    "window.put": "writes",
    "window.delete": "writes; tells a number",
    "window.prune": "writes, for the worker; tells a number",
    "window.prune_many": "writes, for the worker; tells numbers",
    "window.find_dependents": "the administrator's: what has to go",
    "contexts.put": "writes",
    "snapshot": "reads nothing itself",
    "with_audit_entry": "writes with the next write",
    "with_audit_entries": "writes with the next write",
    "list_workspaces": "the operator's: names of workspaces",
    "list_files": "the operator's: names of files",
    "cache_stats": "the operator's: numbers of this process",
    "catch_up_replicas": "writes, for the worker; tells whether there is more",
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
    """An empty store; no test writes to it."""
    folder = tmp_path_factory.mktemp("store")
    in_memory = request.param == "inprocess"
    store: Any = ReferenceStore() if in_memory else SqliteStore(folder / "m.db")
    if request.param == "sqlite+redis":
        server = request.getfixturevalue("redis_server")
        store = with_redis(store, server.url, f"{folder} {os.getpid()}")
    yield store
    store.close()


def bound(store: Any, name: str) -> Callable[..., Any]:
    part, _, method = name.rpartition(".")
    if part == "contexts" and not hasattr(store, part):
        pytest.skip("each process keeps its own contexts")
    return getattr(getattr(store, part) if part else store, method)  # type: ignore[no-any-return]


@pytest.mark.requirement("A12", "C4")
def test_every_store_method_is_classified() -> None:
    every = {
        f"{part}.{name}".lstrip(".")
        for part, protocol in PARTS.items()
        for name in methods(protocol)
    }

    assert every == READS.keys() | NOT_READS.keys()
    assert not READS.keys() & NOT_READS.keys()


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("name", READS)
def test_read_takes_grant_as_first_parameter(name: str) -> None:
    part, _, method = name.rpartition(".")

    _, first, *_ = inspect.signature(methods(PARTS[part])[method]).parameters.values()

    assert first.name == "grant"
    assert first.annotation == ("Grant | None" if name == "queue.claim" else "Grant")
    assert first.default is inspect.Parameter.empty


@pytest.mark.requirement("A12", "C4")
@pytest.mark.parametrize("name", [*READS, *NOT_READS])
def test_store_method_matches_protocol_signature(store: Any, name: str) -> None:
    part, _, method = name.rpartition(".")
    _, *promised = inspect.signature(methods(PARTS[part])[method]).parameters.values()

    given = inspect.signature(bound(store, name)).parameters.values()

    assert [(p.name, p.kind, p.default) for p in given] == [
        (p.name, p.kind, p.default) for p in promised
    ]


@pytest.mark.requirement("A12", "C4")
def test_store_has_no_other_public_methods(store: Any) -> None:
    """A public method outside the protocols could bypass the grant check."""
    for part, protocol in PARTS.items():
        held = getattr(store, part, None) if part else store
        extra = {
            name
            for name, value in inspect.getmembers(held)
            if callable(value) and not name.startswith("_")
        }
        beside = methods(ExternalPart) if part and isinstance(store, CompositeStore) else {}
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
def test_read_rejects_anything_but_a_minted_grant(store: Any, name: str, given: Any) -> None:
    if name == "queue.claim" and given is None:
        return  # a worker claims from all workspaces
    with pytest.raises(TypeError):
        bound(store, name)(given, **READS[name])


@pytest.mark.requirement("A12")
@pytest.mark.parametrize("name", READS)
def test_read_requires_a_grant(store: Any, name: str) -> None:
    with pytest.raises(TypeError):
        bound(store, name)(**READS[name])


@pytest.mark.parametrize("name", READS)
def test_empty_grant_reads_nothing(store: Any, name: str) -> None:
    nothing = administrator_grant(ACME).narrow_to([])

    answer = bound(store, name)(nothing, **READS[name])

    if isinstance(answer, CacheLookup):
        answer = answer.cached
    assert not answer or set(answer.values()) == {0}
