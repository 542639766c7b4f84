"""Rebuild: every derived layer can be lost and rebuilt with the same results."""

from __future__ import annotations

import io
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import MONDAY, Clock
from tests.stories.conftest import Team, make_team

from nexusmem import Nexus
from nexusmem.config.settings import Settings
from nexusmem.core.derive import is_span_episode
from nexusmem.core.protocols.index_repair import DerivedLayer
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import Draft
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.learn.extract.fact_drafts import RULES
from nexusmem.recall.query import SearchSettings
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.wiring.providers import make_embedder

QUESTIONS = ("Which database is the ledger in?", "What does bob like?", "Friday", "Anthropic")


@contextmanager
def opened(store: Store, ranking: str = "contextual") -> Iterator[Team]:
    clock = Clock(MONDAY)
    settings = Settings(search=replace(SearchSettings(), ranking=ranking))
    options: dict[str, Any] = {"settings": settings, "embedder": HashingEmbedder(), "clock": clock}
    with Nexus.open(store, background=False, **options) as nexus:
        clock.advance(weeks=3)
        yield make_team(nexus, clock)


def fill(team: Team) -> None:
    """Write records from which every derived kind is made."""
    team.clock.now = MONDAY
    team.tell_the_week()
    team.room.add_fact("Tyler", "WORKS_AT", "Anthropic", confidence=0.9)
    team.room.set_value("user:alice", "expiry", {"minutes": 30})
    team.room.remember("The staging server is called heron.", scope="project")
    team.room.add_document(
        "# Guide\nStart heron.\n\n# End\nStop heron.", scope="project", key="guide"
    )
    for number in range(12):
        said = f"Carla Diaz likes tea number {number}. Helen lives in Austin. Is it Friday?"
        at = MONDAY + timedelta(days=number % 4, minutes=number)
        team.room.observe("bob", said, at=at, key=f"tea {number}", thread=f"t{number % 3}")
    team.clock.advance(weeks=3)
    team.workspace.flush()
    own = team.alices.remember("Helen is my aunt.")
    team.workspace.flush()
    (note,) = [
        hit.memory
        for hit in team.alices.recall("Helen aunt")
        if hit.memory.sources == (own.event_id,)
    ]
    team.alices.share(note.id, to=team.room)
    team.workspace.flush()
    assert team.workspace.refresh_episodes() > 0


def shown(team: Team) -> dict[str, Any]:
    """Return what viewers read, and the complete archive with vectors."""
    places = {"room": team.room, "alice": team.alices, "bob": team.bobs}
    seen: dict[str, Any] = {}
    for name, place in places.items():
        for question in QUESTIONS:
            found = place.recall(question, explain=True)
            hits = [(hit.memory, hit.score, hit.reasons, hit.explanation) for hit in found]
            seen[f"{name}: {question}"] = (hits, found.total, found.degraded)
        seen[f"{name}: facts"] = place.recall("tea", kind=["fact", "episode", "landmark"]).hits
        seen[f"{name}: entities"] = place.entities()
        seen[f"{name}: episodes"] = place.episodes()
        walk = place._parts.store.graph.traverse(place.grant, ["Carla Diaz"], depth=2, limit=50)
        seen[f"{name}: around"] = [[memory.id for memory in step] for step in walk]
    archive = io.StringIO()
    team.workspace.export(archive, vectors=True)
    return {**seen, "archive": archive.getvalue(), "stats": team.workspace.stats()}


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("ranking", ["contextual", "fused"])
def test_full_rebuild_changes_no_result(store: Store, ranking: str) -> None:
    with opened(store, ranking) as team:
        fill(team)
        before = shown(team)

        made = team.workspace.rebuild()

        assert list(made) == [layer.value for layer in DerivedLayer]
        assert all(counts["looked"] > 0 for counts in made.values())
        assert {name: counts["changed"] for name, counts in made.items()} == dict.fromkeys(made, 0)
        assert shown(team) == before
        assert team.workspace.check_indexes() == []
        assert team.workspace.verify().is_intact


NOTHING_TO_IT = ("数据库选择了什么呢朋友们好", "🎉🎉🎉", "เราตัดสินใจแล้ว", "x" * 120)


@pytest.mark.requirement("X3")
def test_text_without_vector_is_no_damage(store: Store) -> None:
    builtin = make_embedder(Settings().embeddings)
    with Nexus.open(store, background=False, settings=Settings(), embedder=builtin) as nexus:
        workspace = nexus.workspace("acme")
        for text in ("Lunch is at noon.", *NOTHING_TO_IT):
            workspace.room("design").observe("alice", text)
        workspace.flush()
        here, profile = workspace.admin_grant, builtin.profile
        vectors = nexus._parts.store.vectors
        without = {memory.text for memory in vectors.list_missing(here, profile, limit=99)}
        assert without
        assert without <= set(NOTHING_TO_IT)

        assert workspace.check_indexes() == []
        assert workspace.rebuild("vectors")["vectors"]["changed"] == 0
        assert workspace.check_indexes() == []


@pytest.mark.requirement("X3")
def test_rebuild_after_embedder_switch(folder: Path) -> None:
    path = folder / "memory.db"
    for size in (64, 32):
        options: dict[str, Any] = {"settings": Settings(), "embedder": HashingEmbedder(size)}
        with Nexus.open(path, background=False, **options) as nexus:
            workspace = nexus.workspace("acme")
            workspace.room("design").observe("alice", f"Heron {size} drinks tea.")
            workspace.flush()
            assert workspace.check_indexes() == []  # also during the switch
            nexus.reembed()
            assert workspace.check_indexes() == []
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM vectors WHERE length(data) = 4 * 32 AND memory = 1")

    with Nexus.open(path, background=False, **options) as nexus:
        (damage,) = nexus.workspace("acme").check_indexes()
        assert (damage.layer, damage.problem) == (
            DerivedLayer.VECTORS,
            "memories without a vector: 1",
        )
        assert nexus.workspace("acme").rebuild("vectors")["vectors"]["changed"] == 1
        assert nexus.workspace("acme").check_indexes() == []


Break = Callable[[sqlite3.Connection], object]


def sql(*statements: str) -> Break:
    def change(file: sqlite3.Connection) -> None:
        for statement in statements:
            assert file.execute(statement).rowcount > 0, statement

    return change


VECTOR = "(SELECT min(rowid) FROM vectors)"
DAMAGES: dict[str, tuple[str, Break]] = {
    "all postings are gone": ("keywords", sql("DELETE FROM postings")),
    "some postings are gone": ("keywords", sql("DELETE FROM postings WHERE memory % 3 = 0")),
    "a frequency is another": (
        "keywords",
        sql("UPDATE postings SET frequency = 9 WHERE term = 'ledger'"),
    ),
    "a posting of nothing": (
        "keywords",
        sql("INSERT INTO postings SELECT workspace, label, 'xyz', memory, 1, 9, 1 FROM memories"),
    ),
    "postings of a memory that is not there": (
        "keywords",
        sql("INSERT INTO postings SELECT workspace, label, 'tea', 9999, 1, 9, 1 FROM labels"),
    ),
    "the counts are others": (
        "keywords",
        sql("UPDATE labels SET document_count = 7, term_count = 1"),
    ),
    "the threads are gone": ("keywords", sql("DELETE FROM conversations")),
    "the threads are longer": (
        "keywords",
        sql("UPDATE conversations SET term_count = term_count + 5"),
    ),
    "all names are gone": ("graph", sql("DELETE FROM names")),
    "names of nothing": (
        "graph",
        sql("INSERT INTO names SELECT workspace, label, 'nobody', kind, at, id FROM memories"),
    ),
    "all links are gone": ("graph", sql("DELETE FROM links")),
    "links of nothing": (
        "graph",
        sql("INSERT INTO links SELECT 1, 'nobody', 'derived_from', id FROM events"),
    ),
    "all vectors are gone": ("vectors", sql("DELETE FROM vectors")),
    "a vector is gone": ("vectors", sql(f"DELETE FROM vectors WHERE rowid = {VECTOR}")),
    "a vector is cut": (
        "vectors",
        sql(f"UPDATE vectors SET data = substr(data, 1, 8) WHERE rowid = {VECTOR}"),
    ),
    "a vector is nothing": (
        "vectors",
        sql(f"UPDATE vectors SET data = zeroblob(length(data)) WHERE rowid = {VECTOR}"),
    ),
    "vectors of memories that are not there": (
        "vectors",
        sql(
            "INSERT INTO vectors SELECT workspace, label, profile, 9000 + number, 9000 + memory,"
            " data FROM vectors"
        ),
    ),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, dict[str, Any]]:
    """A file, and the results read from it."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with opened(SqliteStore(path)) as team:
        fill(team)
        seen = shown(team)
        team.workspace._parts.store.optimize()
    return path.read_bytes(), seen


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_detected_and_repaired(
    damage: str, whole: tuple[bytes, dict[str, Any]], folder: Path
) -> None:
    layer, change = DAMAGES[damage]
    path = folder / "memory.db"
    path.write_bytes(whole[0])
    with closing(sqlite3.connect(path)) as file, file:
        change(file)

    with opened(SqliteStore(path)) as team:
        assert {each.layer.value for each in team.workspace.check_indexes()} == {layer}
        assert all(place.recall("ledger") is not None for place in (team.room, team.bobs))

        made = team.workspace.rebuild(layer)

        assert made[layer]["changed"] > 0
        assert team.workspace.check_indexes() == []
        assert shown(team) == whole[1]
        assert team.workspace.rebuild(layer)[layer]["changed"] == 0


@pytest.mark.requirement("X3")
def test_derived_memories_are_relearned_and_obsolete_ones_deleted(
    whole: tuple[bytes, dict[str, Any]], folder: Path
) -> None:
    path = folder / "memory.db"
    path.write_bytes(whole[0])
    with opened(SqliteStore(path)) as team:
        store, admin = team.workspace._parts.store, team.workspace.admin_grant
        every = [each for each in store.memories.find(admin) if each.speaker != "scribe"]
        learned = [memory.id for memory in every if memory.learned]
        passages = [memory.id for memory in every if not memory.learned]
        store.memories.delete(team.workspace.id, [*learned[::2], *passages[::3]])
        (kept,) = [each for each in every if each.text == "Carla Diaz likes tea number 3."]
        today = {"scope": kept.scope, "kind": kept.kind, "body": kept.body, "learned": True}
        other = Draft(text="Carla likes tea.", sources=kept.sources, slot="other", **today)
        made = replace(other, metadata={"made_by": [RULES]})
        assert store.memories.put(team.workspace.id, [made])

        team.workspace.rebuild("knowledge")
        team.workspace.rebuild("episodes")

        assert shown(team) == whole[1]


@pytest.mark.requirement("X3")
def test_rebuilt_episodes_are_complete(whole: tuple[bytes, dict[str, Any]], folder: Path) -> None:
    path = folder / "memory.db"
    path.write_bytes(whole[0])
    with opened(SqliteStore(path)) as team:
        store, admin = team.workspace._parts.store, team.workspace.admin_grant
        told = [each.id for each in store.memories.find(admin) if is_span_episode(each)]
        store.memories.delete(team.workspace.id, told)

        team.workspace.rebuild("episodes", rewrite_episodes=True)

        assert {each.id for each in store.memories.get(admin, told)} == set(told) != set()


@pytest.mark.requirement("X3")
def test_rebuild_and_jobs_delete_no_source(whole: tuple[bytes, Any], folder: Path) -> None:
    path = folder / "memory.db"
    path.write_bytes(whole[0])
    with opened(SqliteStore(path)) as team:
        store, admin = team.workspace._parts.store, team.workspace.admin_grant
        before = store.ledger.find(admin)

        team.workspace.rebuild(rewrite_episodes=True)
        team.clock.advance(days=2_000)
        for job in team.workspace.jobs():
            team.workspace.run_job(job.name)

        assert store.ledger.find(admin) == before
        report = team.workspace.verify()
        assert report.is_intact
        assert (report.events, report.erased) == (len(before), 0)


@pytest.mark.requirement("X3")
def test_duplicate_links_are_rebuilt(store: Store) -> None:
    with opened(store) as team:
        fill(team)
        admin = team.workspace.admin_grant

        def links() -> set[str]:
            every = store.memories.find(admin)
            return {each.id for each in every if each.body.get("relation") == "same_as"}

        assert team.workspace.rebuild("knowledge")["knowledge"]["changed"] == 0
        assert not links()  # the job has not run yet
        team.workspace.run_job("consolidate")
        found = links()
        store.memories.delete(team.workspace.id, sorted(found))

        assert team.workspace.rebuild("knowledge")["knowledge"]["changed"] == len(found) > 0
        assert links() == found
