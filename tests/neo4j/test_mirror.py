"""Content of the Neo4j mirror, replication and removal."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.servers.neo4j import Neo4j

from nexusmem.core.errors import StoreUnavailable
from nexusmem.core.records import MemoryKind
from nexusmem.stores.external.composite_store import CompositeStore
from nexusmem.stores.external.neo4j import graph as graph_module
from nexusmem.stores.external.neo4j import mirror
from nexusmem.stores.external.neo4j import mirror as replicator
from nexusmem.stores.external.neo4j.graph import Neo4jGraph
from nexusmem.stores.external.neo4j.mirror import MirrorConflict
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.samples import (
    ACME,
    ADMIN,
    ALICE_DM,
    NOON,
    OTHER,
    add_memory,
    append_events,
    make_draft,
    make_event,
)
from nexusmem.testing.suites.graph import MINUTE, ROOM_GRANT, add_entity, add_fact


def followed(graph: Neo4jGraph) -> Neo4jGraph:
    while graph.catch_up():
        pass
    return graph


def exported(graph: Neo4jGraph, workspace: Any = ACME) -> list[dict[str, Any]]:
    home = graph._replicator.graph_key(workspace)
    assert graph._mirror.count_orphans(home) == 0
    return graph._mirror.export_memories(home)


def many_facts(store: Any, count: int, *, start: int = 0) -> list[str]:
    """Write this many facts in one call and return their ids."""
    numbers = range(start, start + count)
    sources = append_events(store, *(make_event(f"many {n}") for n in numbers))
    drafts = [
        make_draft(
            source,
            kind=MemoryKind.FACT,
            text=f"n{n}",
            at=NOON + n % 7 * MINUTE,
            body={"subject": f"n{n % 50}", "predicate": "KNOWS", "object": f"n{n % 77}"},
        )
        for n, source in zip(numbers, sources, strict=True)
    ]
    return [memory.id for memory in store.memories.put(ACME, drafts)]


@pytest.mark.requirement("E29")
def test_mirror_contains_names_and_sources_but_no_text(
    neo4j_server: Neo4j, graph: Neo4jGraph, composite: CompositeStore
) -> None:
    told = add_fact(composite, "1", "Ada Lovelace", "Charles")
    known = add_entity(composite, "2", "Ada Lovelace", "Countess")
    add_memory(composite, "3", "A passage has no names.")
    (summed_up,) = composite.memories.put(
        ACME,
        [
            make_draft(
                told.id, kind=MemoryKind.EPISODE, text="a day", body={"entities": ["Charles"]}
            )
        ],
    )

    by_id = {row["id"]: row for row in exported(followed(graph))}

    assert by_id.keys() == {told.id, known.id, summed_up.id}
    assert by_id[told.id] == {
        "id": told.id,
        "label": by_id[known.id]["label"],
        "kind": "fact",
        "at": "2026-01-01T12:00:00.000000Z",
        "predicate": "KNOWS",
        "names": ["ada lovelace", "charles"],
        "parts": ["~ada"],  # the first name of a full name
        "sources": list(told.sources),
    }
    assert by_id[known.id]["parts"] == ["~ada", "~lovelace"]
    assert by_id[summed_up.id]["sources"] == [told.id]
    every = neo4j_server.execute("MATCH (n) RETURN properties(n) AS told")
    assert not any("knows" in str(row) or "passage" in str(row) for row in every)
    (linked,) = neo4j_server.execute(
        "MATCH (:NexusMemory {kind: 'episode'})-[:DERIVED_FROM]->(m:NexusMemory) RETURN m.id AS id"
    )
    assert linked == {"id": told.id}


@pytest.mark.requirement("E29", "X3")
def test_rebuilt_mirror_is_equal(
    graph: Neo4jGraph, composite: CompositeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicator, "BATCH", 7)
    ids = many_facts(composite, 40)
    followed(graph)
    for n, gone in enumerate(ids[::3]):
        add_entity(composite, f"e{n}", f"n{n}", f"Name {n}", learned=bool(n % 2))
        composite.memories.delete(ACME, [gone])
        if n % 4 == 0:
            followed(graph)
    changed = composite.memories.get(ADMIN, [ids[1]])[0]
    body = {"subject": "somebody", "predicate": "IS", "object": "n3"}
    again = make_draft(*changed.sources, kind=MemoryKind.FACT, body=body, text="changed")
    composite.memories.put(ACME, [again])
    add_fact(composite, "elsewhere", "Ada", "n1", scope=ALICE_DM)
    before = exported(followed(graph))

    graph.rebuild()
    assert exported(graph) == []
    assert exported(followed(graph)) == before

    assert (
        len(before)
        == composite.count_records(ADMIN)["fact"] + composite.count_records(ADMIN)["entity"]
    )


@pytest.mark.requirement("E29", "X6")
def test_erasure_removes_memory_before_report(
    neo4j_server: Neo4j, graph: Neo4jGraph, composite: CompositeStore
) -> None:
    secret = add_fact(composite, "1", "Zanzibar", "Charles")
    stays = add_fact(composite, "2", "Ada", "Charles", minute=1)
    followed(graph)
    assert neo4j_server.execute("MATCH (n:NexusName {name: 'zanzibar'}) RETURN n.label AS label")

    erased = composite.eraser.erase(ACME, events=secret.sources, memories=[], tombstones=[])

    assert (erased.memories, erased.graph) == (1, 1)
    assert composite.eraser.find_residue(ACME, [])["neo4j"] == 0
    assert [row["id"] for row in exported(graph)] == [stays.id]
    left = neo4j_server.execute("MATCH (n) RETURN properties(n) AS told")
    told = str(left)
    assert "zanzibar" not in told
    assert secret.id not in told
    assert secret.sources[0] not in told


@pytest.mark.requirement("E29", "X6")
def test_residue_counts_memories_only_in_mirror(
    neo4j_server: Neo4j, graph: Neo4jGraph, composite: CompositeStore
) -> None:
    add_fact(composite, "1", "Ada", "Charles")
    followed(graph)
    home = graph._replicator.graph_key(ACME)
    neo4j_server.execute(
        "CREATE (:NexusRecord:NexusMemory {home: $home, id: 'left over'})", home=home
    )
    neo4j_server.execute("CREATE (:NexusName {home: $home, label: 1, name: 'nobody'})", home=home)

    assert composite.eraser.find_residue(ACME, [])["neo4j"] == 2


def test_removed_memory_stays_as_source_of_others(
    graph: Neo4jGraph, composite: CompositeStore
) -> None:
    told = add_fact(composite, "1", "Ada", "Charles")
    body = {"subject": "Ada", "predicate": "IS", "object": "kind"}
    (rests,) = composite.memories.put(ACME, [make_draft(told.id, kind=MemoryKind.FACT, body=body)])
    followed(graph)

    composite.memories.delete(ACME, [told.id])
    graph._replicator.schedule_workspace(ACME)

    (row,) = exported(followed(graph))
    assert (row["id"], row["sources"]) == (rests.id, [told.id])
    composite.memories.delete(ACME, [rests.id])
    graph._replicator.schedule_workspace(ACME)
    assert exported(followed(graph)) == []


def test_traversal_schedules_cleanup_after_deletion(
    graph: Neo4jGraph, composite: CompositeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "READ_TIMEOUT_SECONDS", 30.0)
    gone, stays = (
        add_fact(composite, "1", "Ada", "Mary", minute=1),
        add_fact(composite, "2", "Ada", "Charles"),
    )
    followed(graph)
    composite.memories.delete(ACME, [gone.id])

    ((found,),) = graph.traverse(ROOM_GRANT, ["ada"], depth=1, limit=1)

    assert found.id == stays.id
    assert len(exported(graph)) == 2
    assert [row["id"] for row in exported(followed(graph))] == [stays.id]


def test_two_files_have_separate_graphs(
    neo4j_url: str, graph: Neo4jGraph, composite: CompositeStore, tmp_path: Path
) -> None:
    add_fact(composite, "1", "Ada", "Charles")
    followed(graph)
    other_records = SqliteStore(tmp_path / "other.db")
    other = Neo4jGraph(neo4j_url, other_records)
    add_fact(other_records, "1", "Ada", "Mary")
    add_fact(other_records, "2", "Ada", "Grace", minute=1)

    assert len(exported(followed(other))) == 2
    assert len(exported(followed(graph))) == 1
    assert exported(graph, OTHER) == []
    other.close()
    other_records.close()


@pytest.mark.requirement("E29", "X3")
def test_incomplete_or_newer_mirror_is_rebuilt(
    neo4j_server: Neo4j, graph: Neo4jGraph, composite: CompositeStore, records: SqliteStore
) -> None:
    many_facts(composite, 20)
    before = exported(followed(graph))
    home = graph._replicator.graph_key(ACME)

    neo4j_server.execute("MATCH (m:NexusMemory) WITH m LIMIT 3 DETACH DELETE m")
    opened_again = Neo4jGraph(neo4j_server.url, records)
    assert exported(followed(opened_again)) == before

    neo4j_server.execute("MATCH (h:NexusHome {home: $home}) SET h.reached = 999999", home=home)
    add_fact(composite, "1", "Ada", "Charles")
    assert [
        [m.text for m in step]
        for step in opened_again.traverse(ROOM_GRANT, ["ada"], depth=1, limit=9)
    ]
    assert len(exported(followed(opened_again))) == 21
    opened_again.close()


@pytest.mark.requirement("E29")
def test_concurrent_replicators_make_one_graph(
    neo4j_url: str,
    graph: Neo4jGraph,
    records: SqliteStore,
    composite: CompositeStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replicator, "BATCH", 5)
    followers = [Neo4jGraph(neo4j_url, records) for _ in range(3)]
    ids = many_facts(composite, 60)
    threads = [Thread(target=followed, args=[each]) for each in followers]
    for thread in threads:
        thread.start()
    for n, gone in enumerate(ids[::2]):
        composite.memories.delete(ACME, [gone])
        add_fact(composite, str(n), f"n{n}", "Ada")
    for thread in threads:
        thread.join()
    graph._replicator.schedule_workspace(ACME)

    rows = exported(followed(graph))

    assert {row["id"] for row in rows} == {
        memory.id for memory in composite.memories.find(ADMIN) if memory.kind is MemoryKind.FACT
    }
    graph.rebuild()
    assert exported(followed(graph)) == rows
    for each in followers:
        each.close()


def test_stale_version_is_rejected(graph: Neo4jGraph) -> None:
    home = graph._replicator.graph_key(ACME)
    graph._mirror.add_memories(home, [], version=0, reached=5)

    with pytest.raises(MirrorConflict):
        graph._mirror.add_memories(home, [], version=0, reached=7)
    with pytest.raises(MirrorConflict):
        graph._mirror.remove_from_label(home, 1, [], version=0, generation=3)

    assert graph._mirror.load_progress(home).reached == 5


def test_long_name_is_found(
    graph: Neo4jGraph, composite: CompositeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "READ_TIMEOUT_SECONDS", 30.0)
    long = "x" * 40_000
    told = add_fact(composite, "1", long, "Charles")
    followed(graph)

    ((found,),) = graph.traverse(ROOM_GRANT, [long.upper()], depth=1, limit=9)

    assert found.id == told.id


@pytest.mark.requirement("E29", "X2")
def test_mirror_far_behind_falls_back_to_records(
    graph: Neo4jGraph, composite: CompositeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "READ_TIMEOUT_SECONDS", 30.0)
    monkeypatch.setattr(graph_module, "MAX_LAG", 3)
    for n in range(9):
        add_fact(composite, str(n), "Ada", f"n{n}", minute=n)

    (found,) = graph.traverse(ROOM_GRANT, ["ada"], depth=1, limit=4)

    assert [memory.text for memory in found] == [f"Ada knows n{n}" for n in (8, 7, 6, 5)]


def test_closed_graph_falls_back_to_records(graph: Neo4jGraph, composite: CompositeStore) -> None:
    add_fact(composite, "1", "Ada", "Charles")
    graph.close()
    graph.close()

    assert len(graph.traverse(ROOM_GRANT, ["ada"], depth=1, limit=9)[0]) == 1
    with pytest.raises(StoreUnavailable):
        graph.rebuild()
