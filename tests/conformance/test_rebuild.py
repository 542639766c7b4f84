"""Every derived layer can be lost and made again, and then every answer is as before."""

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

from nexus import Nexus
from nexus.config import Settings
from nexus.core.derive import tells_of_time
from nexus.core.layers import Layer
from nexus.core.protocols import Store
from nexus.core.records import Draft
from nexus.embedders.hashing import HashingEmbedder
from nexus.learn.knowledge import RULES
from nexus.products import make_embedder
from nexus.recall.query import Search
from nexus.stores.sqlite.store import SqliteStore

QUESTIONS = ("Which database is the ledger in?", "What does bob like?", "Friday", "Anthropic")


@contextmanager
def opened(store: Store, ranking: str = "contextual") -> Iterator[Team]:
    clock = Clock(MONDAY)
    settings = Settings(search=replace(Search(), ranking=ranking))
    options: dict[str, Any] = {"settings": settings, "embedder": HashingEmbedder(), "clock": clock}
    with Nexus.open(store, background=False, **options) as nexus:
        clock.advance(weeks=3)
        yield make_team(nexus, clock)


def fill(team: Team) -> None:
    """Some of everything that can be derived."""
    team.clock.now = MONDAY
    team.tell_the_week()
    team.room.add_fact("Tyler", "WORKS_AT", "Anthropic", confidence=0.9)
    team.room.set_fact("user:alice", "expiry", {"minutes": 30})
    team.room.remember("The staging server is called heron.", scope="project")
    team.room.index("# Guide\nStart heron.\n\n# End\nStop heron.", scope="project", key="guide")
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
    assert team.workspace.learn_episodes() > 0


def shown(team: Team) -> dict[str, Any]:
    """What people see, and the whole archive with its vectors."""
    places = {"room": team.room, "alice": team.alices, "bob": team.bobs}
    seen: dict[str, Any] = {}
    for name, place in places.items():
        for question in QUESTIONS:
            found = place.recall(question, explain=True)
            hits = [(hit.memory, hit.score, hit.reasons, hit.explanation) for hit in found]
            seen[f"{name}: {question}"] = (hits, found.total, found.degraded)
        seen[f"{name}: facts"] = place.recall("tea", kinds=["fact", "episode", "landmark"]).hits
        seen[f"{name}: entities"] = place.entities()
        seen[f"{name}: episodes"] = place.episodes()
        walk = place._parts.store.graph.around(place.grant, ["Carla Diaz"], depth=2, limit=50)
        seen[f"{name}: around"] = [[memory.id for memory in step] for step in walk]
    archive = io.StringIO()
    team.workspace.export(archive, vectors=True)
    return {**seen, "archive": archive.getvalue(), "stats": team.workspace.stats()}


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("ranking", ["contextual", "fused"])
def test_a_rebuild_of_everything_changes_no_answer(store: Store, ranking: str) -> None:
    with opened(store, ranking) as team:
        fill(team)
        before = shown(team)

        made = team.workspace.rebuild()

        assert list(made) == [layer.value for layer in Layer]
        assert all(counts["looked"] > 0 for counts in made.values())
        assert {name: counts["changed"] for name, counts in made.items()} == dict.fromkeys(made, 0)
        assert shown(team) == before
        assert team.workspace.damage() == []
        assert team.workspace.verify().sound


NOTHING_TO_IT = ("数据库选择了什么呢朋友们好", "🎉🎉🎉", "เราตัดสินใจแล้ว", "x" * 120)


@pytest.mark.requirement("X3")
def test_a_text_that_means_nothing_to_the_embedder_is_no_damage(store: Store) -> None:
    builtin = make_embedder(Settings().embeddings)
    with Nexus.open(store, background=False, settings=Settings(), embedder=builtin) as nexus:
        workspace = nexus.workspace("acme")
        for text in ("Lunch is at noon.", *NOTHING_TO_IT):
            workspace.room("design").observe("alice", text)
        workspace.flush()
        here, profile = workspace.administrator, builtin.profile
        vectors = nexus._parts.store.vectors
        without = {memory.text for memory in vectors.missing(here, profile, limit=99)}
        assert without
        assert without <= set(NOTHING_TO_IT)

        assert workspace.damage() == []
        assert workspace.rebuild("vectors")["vectors"]["changed"] == 0
        assert workspace.damage() == []


@pytest.mark.requirement("X3")
def test_a_memory_that_changed_its_embedder_is_looked_at_like_any_other(folder: Path) -> None:
    path = folder / "memory.db"
    for size in (64, 32):
        options: dict[str, Any] = {"settings": Settings(), "embedder": HashingEmbedder(size)}
        with Nexus.open(path, background=False, **options) as nexus:
            workspace = nexus.workspace("acme")
            workspace.room("design").observe("alice", f"Heron {size} drinks tea.")
            workspace.flush()
            assert workspace.damage() == []  # also while it changes over
            nexus.reembed()
            assert workspace.damage() == []
    with closing(sqlite3.connect(path)) as file, file:
        file.execute("DELETE FROM vectors WHERE length(data) = 4 * 32 AND memory = 1")

    with Nexus.open(path, background=False, **options) as nexus:
        (damage,) = nexus.workspace("acme").damage()
        assert (damage.layer, damage.what) == (Layer.VECTORS, "memories without a vector: 1")
        assert nexus.workspace("acme").rebuild("vectors")["vectors"]["changed"] == 1
        assert nexus.workspace("acme").damage() == []


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
    "the counts are others": ("keywords", sql("UPDATE labels SET documents = 7, terms = 1")),
    "the threads are gone": ("keywords", sql("DELETE FROM threads")),
    "the threads are longer": ("keywords", sql("UPDATE threads SET terms = terms + 5")),
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
    """A file, and what is seen in it."""
    path = tmp_path_factory.mktemp("whole") / "memory.db"
    with opened(SqliteStore(path)) as team:
        fill(team)
        seen = shown(team)
        team.workspace._parts.store.optimize()
    return path.read_bytes(), seen


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_noticed_and_mended(
    damage: str, whole: tuple[bytes, dict[str, Any]], folder: Path
) -> None:
    layer, change = DAMAGES[damage]
    path = folder / "memory.db"
    path.write_bytes(whole[0])
    with closing(sqlite3.connect(path)) as file, file:
        change(file)

    with opened(SqliteStore(path)) as team:
        assert {each.layer.value for each in team.workspace.damage()} == {layer}
        assert all(place.recall("ledger") is not None for place in (team.room, team.bobs))

        made = team.workspace.rebuild(layer)

        assert made[layer]["changed"] > 0
        assert team.workspace.damage() == []
        assert shown(team) == whole[1]
        assert team.workspace.rebuild(layer)[layer]["changed"] == 0


@pytest.mark.requirement("X3")
def test_what_was_learned_is_learned_again_and_what_is_left_over_goes(
    whole: tuple[bytes, dict[str, Any]], folder: Path
) -> None:
    path = folder / "memory.db"
    path.write_bytes(whole[0])
    with opened(SqliteStore(path)) as team:
        store, admin = team.workspace._parts.store, team.workspace.administrator
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
def test_what_is_told_again_is_all_there(whole: tuple[bytes, dict[str, Any]], folder: Path) -> None:
    path = folder / "memory.db"
    path.write_bytes(whole[0])
    with opened(SqliteStore(path)) as team:
        store, admin = team.workspace._parts.store, team.workspace.administrator
        told = [each.id for each in store.memories.find(admin) if tells_of_time(each)]
        store.memories.delete(team.workspace.id, told)

        team.workspace.rebuild("episodes", again=True)

        assert {each.id for each in store.memories.get(admin, told)} == set(told) != set()


@pytest.mark.requirement("X3")
def test_no_rebuild_and_no_job_takes_a_source(whole: tuple[bytes, Any], folder: Path) -> None:
    path = folder / "memory.db"
    path.write_bytes(whole[0])
    with opened(SqliteStore(path)) as team:
        store, admin = team.workspace._parts.store, team.workspace.administrator
        before = store.ledger.find(admin)

        team.workspace.rebuild(again=True)
        team.clock.advance(days=2_000)
        for job in team.workspace.jobs():
            team.workspace.run_job(job.name)

        assert store.ledger.find(admin) == before
        report = team.workspace.verify()
        assert report.sound
        assert (report.events, report.erased) == (len(before), 0)


@pytest.mark.requirement("X3")
def test_what_says_the_same_is_found_again_if_it_was_found_before(store: Store) -> None:
    with opened(store) as team:
        fill(team)
        admin = team.workspace.administrator

        def links() -> set[str]:
            every = store.memories.find(admin)
            return {each.id for each in every if each.body.get("relation") == "same_as"}

        assert team.workspace.rebuild("knowledge")["knowledge"]["changed"] == 0
        assert not links()  # nobody has looked for them yet
        team.workspace.run_job("consolidate")
        found = links()
        store.memories.delete(team.workspace.id, sorted(found))

        assert team.workspace.rebuild("knowledge")["knowledge"]["changed"] == len(found) > 0
        assert links() == found
