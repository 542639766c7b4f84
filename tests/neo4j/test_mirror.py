"""What is in the graph, how it gets there, and how it leaves."""

from __future__ import annotations

from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from tests.servers.neo4j import Neo4j

from nexus.core.errors import StoreUnavailable
from nexus.core.records import MemoryKind
from nexus.stores.beside import CombinedStore
from nexus.stores.neo4j import follower, mirror
from nexus.stores.neo4j import graph as graph_module
from nexus.stores.neo4j.graph import Neo4jGraph
from nexus.stores.neo4j.mirror import Overtaken
from nexus.stores.sqlite.store import SqliteStore
from nexus.testing.samples import ACME, ADMIN, ALICE_DM, NOON, OTHER, draft, event, keep, tell
from nexus.testing.suites.graph import HERE, entity
from nexus.testing.suites.names import MINUTE, fact


def followed(graph: Neo4jGraph) -> Neo4jGraph:
    while graph.follow():
        pass
    return graph


def exported(graph: Neo4jGraph, workspace: Any = ACME) -> list[dict[str, Any]]:
    home = graph._follower.home(workspace)
    assert graph._mirror.loose_ends(home) == 0
    return graph._mirror.exported(home)


def many_facts(store: Any, count: int, *, start: int = 0) -> list[str]:
    """The ids of this many facts, written in one go."""
    numbers = range(start, start + count)
    sources = tell(store, *(event(f"many {n}") for n in numbers))
    drafts = [
        draft(
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
def test_the_graph_holds_names_kinds_times_and_sources_and_no_text(
    neo4j_server: Neo4j, graph: Neo4jGraph, beside: CombinedStore
) -> None:
    told = fact(beside, "1", "Ada Lovelace", "Charles")
    known = entity(beside, "2", "Ada Lovelace", "Countess")
    keep(beside, "3", "A passage has no names.")
    (summed_up,) = beside.memories.put(
        ACME,
        [draft(told.id, kind=MemoryKind.EPISODE, text="a day", body={"entities": ["Charles"]})],
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
        "parts": [],
        "sources": list(told.sources),
    }
    assert by_id[known.id]["parts"] == ["~ada", "~lovelace"]
    assert by_id[summed_up.id]["sources"] == [told.id]
    every = neo4j_server.ask("MATCH (n) RETURN properties(n) AS told")
    assert not any("knows" in str(row) or "passage" in str(row) for row in every)
    (linked,) = neo4j_server.ask(
        "MATCH (:NexusMemory {kind: 'episode'})-[:DERIVED_FROM]->(m:NexusMemory) RETURN m.id AS id"
    )
    assert linked == {"id": told.id}


@pytest.mark.requirement("E29", "X3")
def test_a_graph_made_anew_is_the_same_graph(
    graph: Neo4jGraph, beside: CombinedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(follower, "BATCH", 7)
    ids = many_facts(beside, 40)
    followed(graph)
    for n, gone in enumerate(ids[::3]):
        entity(beside, f"e{n}", f"n{n}", f"Name {n}", learned=bool(n % 2))
        beside.memories.delete(ACME, [gone])
        if n % 4 == 0:
            followed(graph)
    changed = beside.memories.get(ADMIN, [ids[1]])[0]
    body = {"subject": "somebody", "predicate": "IS", "object": "n3"}
    again = draft(*changed.sources, kind=MemoryKind.FACT, body=body, text="changed")
    beside.memories.put(ACME, [again])
    fact(beside, "elsewhere", "Ada", "n1", scope=ALICE_DM)
    before = exported(followed(graph))

    graph.rebuild()
    assert exported(graph) == []
    assert exported(followed(graph)) == before

    assert len(before) == beside.count(ADMIN)["fact"] + beside.count(ADMIN)["entity"]


@pytest.mark.requirement("E29", "X6")
def test_what_is_erased_is_out_of_the_graph_before_the_report(
    neo4j_server: Neo4j, graph: Neo4jGraph, beside: CombinedStore
) -> None:
    secret = fact(beside, "1", "Zanzibar", "Charles")
    stays = fact(beside, "2", "Ada", "Charles", minute=1)
    followed(graph)
    assert neo4j_server.ask("MATCH (n:NexusName {name: 'zanzibar'}) RETURN n.label AS label")

    erased = beside.eraser.erase(ACME, events=secret.sources, memories=[], tombstones=[])

    assert (erased.memories, erased.graph) == (1, 1)
    assert beside.eraser.residue(ACME, [])["neo4j"] == 0
    assert [row["id"] for row in exported(graph)] == [stays.id]
    left = neo4j_server.ask("MATCH (n) RETURN properties(n) AS told")
    told = str(left)
    assert "zanzibar" not in told
    assert secret.id not in told
    assert secret.sources[0] not in told


@pytest.mark.requirement("E29", "X6")
def test_residue_counts_what_only_the_graph_holds(
    neo4j_server: Neo4j, graph: Neo4jGraph, beside: CombinedStore
) -> None:
    fact(beside, "1", "Ada", "Charles")
    followed(graph)
    home = graph._follower.home(ACME)
    neo4j_server.ask("CREATE (:NexusRecord:NexusMemory {home: $home, id: 'left over'})", home=home)
    neo4j_server.ask("CREATE (:NexusName {home: $home, label: 1, name: 'nobody'})", home=home)

    assert beside.eraser.residue(ACME, [])["neo4j"] == 2


def test_what_others_rest_on_stays_a_source(graph: Neo4jGraph, beside: CombinedStore) -> None:
    told = fact(beside, "1", "Ada", "Charles")
    body = {"subject": "Ada", "predicate": "IS", "object": "kind"}
    (rests,) = beside.memories.put(ACME, [draft(told.id, kind=MemoryKind.FACT, body=body)])
    followed(graph)

    beside.memories.delete(ACME, [told.id])
    graph._follower.want(ACME)

    (row,) = exported(followed(graph))
    assert (row["id"], row["sources"]) == (rests.id, [told.id])
    beside.memories.delete(ACME, [rests.id])
    graph._follower.want(ACME)
    assert exported(followed(graph)) == []


def test_a_deletion_is_noticed_by_whoever_walks_there(
    graph: Neo4jGraph, beside: CombinedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "ASKING_SECONDS", 30.0)
    gone, stays = fact(beside, "1", "Ada", "Mary", minute=1), fact(beside, "2", "Ada", "Charles")
    followed(graph)
    beside.memories.delete(ACME, [gone.id])

    ((found,),) = graph.around(HERE, ["ada"], depth=1, limit=1)

    assert found.id == stays.id
    assert len(exported(graph)) == 2
    assert [row["id"] for row in exported(followed(graph))] == [stays.id]


def test_records_of_another_file_have_another_graph(
    neo4j_url: str, graph: Neo4jGraph, beside: CombinedStore, tmp_path: Path
) -> None:
    fact(beside, "1", "Ada", "Charles")
    followed(graph)
    other_records = SqliteStore(tmp_path / "other.db")
    other = Neo4jGraph(neo4j_url, other_records)
    fact(other_records, "1", "Ada", "Mary")
    fact(other_records, "2", "Ada", "Grace", minute=1)

    assert len(exported(followed(other))) == 2
    assert len(exported(followed(graph))) == 1
    assert exported(graph, OTHER) == []
    other.close()
    other_records.close()


@pytest.mark.requirement("E29", "X3")
def test_a_graph_that_lost_something_or_is_ahead_is_made_anew(
    neo4j_server: Neo4j, graph: Neo4jGraph, beside: CombinedStore, records: SqliteStore
) -> None:
    many_facts(beside, 20)
    before = exported(followed(graph))
    home = graph._follower.home(ACME)

    neo4j_server.ask("MATCH (m:NexusMemory) WITH m LIMIT 3 DETACH DELETE m")
    opened_again = Neo4jGraph(neo4j_server.url, records)
    assert exported(followed(opened_again)) == before

    neo4j_server.ask("MATCH (h:NexusHome {home: $home}) SET h.reached = 999999", home=home)
    fact(beside, "1", "Ada", "Charles")
    assert [[m.text for m in step] for step in opened_again.around(HERE, ["ada"], depth=1, limit=9)]
    assert len(exported(followed(opened_again))) == 21
    opened_again.close()


@pytest.mark.requirement("E29")
def test_many_follow_at_once_and_make_one_graph(
    neo4j_url: str,
    graph: Neo4jGraph,
    records: SqliteStore,
    beside: CombinedStore,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follower, "BATCH", 5)
    followers = [Neo4jGraph(neo4j_url, records) for _ in range(3)]
    ids = many_facts(beside, 60)
    threads = [Thread(target=followed, args=[each]) for each in followers]
    for thread in threads:
        thread.start()
    for n, gone in enumerate(ids[::2]):
        beside.memories.delete(ACME, [gone])
        fact(beside, str(n), f"n{n}", "Ada")
    for thread in threads:
        thread.join()
    graph._follower.want(ACME)

    rows = exported(followed(graph))

    assert {row["id"] for row in rows} == {
        memory.id for memory in beside.memories.find(ADMIN) if memory.kind is MemoryKind.FACT
    }
    graph.rebuild()
    assert exported(followed(graph)) == rows
    for each in followers:
        each.close()


def test_nobody_writes_what_he_read_before_another_wrote(graph: Neo4jGraph) -> None:
    home = graph._follower.home(ACME)
    graph._mirror.add(home, [], version=0, reached=5)

    with pytest.raises(Overtaken):
        graph._mirror.add(home, [], version=0, reached=7)
    with pytest.raises(Overtaken):
        graph._mirror.clean(home, 1, [], version=0, generation=3)

    assert graph._mirror.followed(home).reached == 5


def test_a_name_of_any_length_is_only_a_name(
    graph: Neo4jGraph, beside: CombinedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "ASKING_SECONDS", 30.0)
    long = "x" * 40_000
    told = fact(beside, "1", long, "Charles")
    followed(graph)

    ((found,),) = graph.around(HERE, [long.upper()], depth=1, limit=9)

    assert found.id == told.id


@pytest.mark.requirement("E29", "X2")
def test_where_the_graph_is_far_behind_the_records_are_walked(
    graph: Neo4jGraph, beside: CombinedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mirror, "ASKING_SECONDS", 30.0)
    monkeypatch.setattr(graph_module, "MOST_BEHIND", 3)
    for n in range(9):
        fact(beside, str(n), "Ada", f"n{n}", minute=n)

    (found,) = graph.around(HERE, ["ada"], depth=1, limit=4)

    assert [memory.text for memory in found] == [f"Ada knows n{n}" for n in (8, 7, 6, 5)]


def test_a_closed_graph_leaves_the_walk_to_the_records(
    graph: Neo4jGraph, beside: CombinedStore
) -> None:
    fact(beside, "1", "Ada", "Charles")
    graph.close()
    graph.close()

    assert len(graph.around(HERE, ["ada"], depth=1, limit=9)[0]) == 1
    with pytest.raises(StoreUnavailable):
        graph.rebuild()
