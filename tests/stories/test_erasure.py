"""Erasure: derived memories, proof by file search, and no return."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import timedelta
from io import StringIO
from pathlib import Path

import pytest
from tests.conftest import MONDAY, Clock, Open
from tests.servers.postgres import Database
from tests.stories.conftest import Team, keys, make_team

from nexusmem import Forgotten, Nexus, NotFound, Place
from nexusmem.core.records import Draft, MemoryKind
from nexusmem.core.records.window import WindowItem, WindowSlot
from nexusmem.embedders.feature_hash import HashingEmbedder

MARK = "zqxmark"  # a prefix that no stemmer changes


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def on_disk(folder: Path) -> Callable[[str], int]:
    """Return the number of occurrences of a text in all files of the store, in any case."""

    def on_disk(text: str) -> int:
        files = sorted(folder.glob("memory.db*"))
        assert files
        return sum(file.read_bytes().lower().count(text.lower().encode()) for file in files)

    return on_disk


@pytest.fixture
def team(folder: Path, open_nexus: Open, clock: Clock) -> Team:
    return make_team(open_nexus(folder / "memory.db"), clock)


def fill(place: Place, speaker: str, mark: str) -> None:
    """Put the mark into every field."""
    place.observe(
        speaker,
        f"{mark}text is what I say. " + "And more of it. " * 200,
        key=f"{mark}key",
        thread=f"{mark}thread",
        tags=[f"{mark}tag"],
        metadata={f"{mark}name": {"deep": [f"{mark}value"]}},
        attachments=[{"name": f"{mark}file.pdf", "url": f"https://example.com/{mark}url"}],
    )
    place.observe(speaker, f"Short {mark}.", key=f"{mark}short")


def fill_alone(place: Place, mark: str) -> None:
    """Events in a scope that the user owns belong to the user."""
    place.remember(f"{mark}note to keep.", scope="user")
    place.set_value("user", f"{mark}fact", {"value": f"{mark}json"})
    place.add_fact(f"{mark}subject", "KNOWS", f"{mark}object")
    place.add_document(f"# {mark}heading\n{mark}paragraph.\n" + "Lorem ipsum. " * 500)


@pytest.mark.requirement("X6")
def test_user_is_erased_from_every_file(team: Team, on_disk) -> None:
    fill(team.room, "alice", f"{MARK}room")
    fill(team.alices, "alice", f"{MARK}dm")
    fill_alone(team.alices, f"{MARK}own")
    team.bobs.observe("bob", "Bob's own message stays here.", key="bobs")
    team.room.observe("bob", "Bob stays in the room, too.", key="stays")
    team.workspace.flush()
    assert on_disk(MARK) > 20

    report = team.workspace.forget(user="alice")

    assert report.residue == 0
    assert report.erased.events == 8
    assert report.erased.memories > 8
    assert report.erased.vectors > 8
    assert report.erased.keywords > 20
    assert set(report.files_searched) == {"memory.db", "memory.db-wal"}
    assert on_disk(MARK) == 0
    assert keys(team.bobs.recall("bob message")) == ["bobs"]
    assert keys(team.room.recall("bob room")) == ["stays"]
    assert team.alices.recent() == []
    assert team.workspace.verify().is_intact
    assert team.workspace.verify().erased == 8


@pytest.mark.slow
@pytest.mark.requirement("X6")
def test_user_is_erased_from_every_row(
    made_postgres: Database, open_nexus: Open, clock: Clock
) -> None:
    """Search with a superuser, independently of the residue search."""
    tables = made_postgres.run(
        "SELECT relname FROM pg_class WHERE relnamespace = 'nexus'::regnamespace"
        " AND relkind IN ('r', 'p') AND NOT relispartition"
    )

    def in_rows(text: str) -> int:
        counts = [
            made_postgres.run(
                f'SELECT count(*) FROM nexus."{table}" AS row WHERE row::text ILIKE %s', f"%{text}%"
            )
            for (table,) in tables
        ]
        return sum(count for ((count,),) in counts)

    team = make_team(open_nexus(made_postgres.url), clock)
    fill(team.room, "alice", f"{MARK}room")
    fill(team.alices, "alice", f"{MARK}dm")
    fill_alone(team.alices, f"{MARK}own")
    team.room.observe("bob", "Bob stays in the room.", key="stays")
    team.workspace.flush()
    team.room.compose(f"{MARK}roomtext")
    archive = StringIO()
    team.workspace.export(archive)
    assert in_rows(MARK) > 20

    report = team.workspace.forget(user="alice")

    assert (report.residue, in_rows(MARK)) == (0, 0)
    assert {"events", "memories", "postings", "vectors", "audit"} <= set(report.files_searched)
    assert keys(team.room.recall("bob room")) == ["stays"]
    assert team.workspace.verify().is_intact
    team.workspace.import_(StringIO(archive.getvalue()))
    team.workspace.flush()
    assert in_rows(MARK) == 0


@pytest.mark.requirement("X6")
def test_name_of_an_erased_user_is_erased(folder, open_nexus: Open, on_disk) -> None:
    acme = open_nexus(folder / "memory.db").workspace("acme")
    name = f"{MARK}person"
    for place in (acme.dm(name, agent="scribe"), acme.session("s", user=name)):
        fill(place, name, MARK)
        fill_alone(place, MARK)
    acme.room("design", participants=[name]).observe(name, "I was here.", key="here")
    acme.flush()

    acme.forget(user=name)

    assert on_disk(MARK) == 0


@pytest.mark.requirement("X6")
def test_vectors_of_an_erased_user_are_erased(team: Team, folder: Path) -> None:
    text = "A sentence whose numbers nobody else has: quixotic zephyr."
    team.room.observe("alice", text, key="k")
    team.room.flush()
    vector = HashingEmbedder().embed([text])[0].astype("<f4").tobytes()
    assert any(vector in each.read_bytes() for each in folder.glob("memory.db*"))

    team.workspace.forget(user="alice")

    assert not any(vector in each.read_bytes() for each in folder.glob("memory.db*"))


@pytest.mark.requirement("X6")
def test_ids_in_summaries_are_no_residue(team: Team) -> None:
    """A summary has event ids, which stay in the hash chain."""
    for number in range(12):
        team.room.observe("bob", f"We decided to paint wall {number} yellow.")
    team.workspace.flush()
    team.room.compose("What did we decide?")

    assert team.workspace.forget(user="bob").residue == 0


@pytest.mark.requirement("X6")
def test_room_is_erased_alone(team: Team, on_disk) -> None:
    fill(team.room, "alice", f"{MARK}room")
    fill(team.room, "bob", f"{MARK}other")
    team.alices.observe("alice", "Alice keeps her own words.", key="kept")
    team.workspace.flush()

    report = team.workspace.forget(room="design")

    assert (report.residue, report.what) == (0, "room:design")
    assert on_disk(MARK) == 0
    assert team.room.recent() == []
    assert keys(team.alices.recall("alice words")) == ["kept"]


@pytest.mark.requirement("X6")
def test_single_event_is_erased(team: Team, on_disk) -> None:
    receipt = team.room.observe("alice", f"Forget {MARK} please.", key="gone")
    team.room.observe("alice", "Keep this one please.", key="kept")
    team.room.flush()

    report = team.workspace.forget(event=receipt)

    assert (report.erased.events, report.erased.memories, report.residue) == (1, 1, 0)
    assert on_disk(MARK) == 0
    assert keys(team.room.recall("please")) == ["kept"]
    with pytest.raises(NotFound):
        team.room.progress(receipt)
    with pytest.raises(NotFound):
        team.workspace.forget(event=receipt)


@pytest.mark.requirement("X6")
def test_erased_memory_is_not_derived_again(team: Team) -> None:
    team.room.observe("alice", "We decided to use PostgreSQL.", key="choice")
    (hit,) = team.room.recall("postgresql")

    report = team.workspace.forget(memory=hit.memory.id)
    team.workspace.flush()

    # the passage, what was learned from it, and the project's passage, fact and landmark
    assert (report.erased.events, report.erased.memories, report.residue) == (0, 9, 0)
    for place in (team.room, team.alices, team.bobs):
        assert list(place.recall("postgresql")) == []
    assert [event.key for event in team.room.recent()] == ["choice"]


@pytest.mark.requirement("X6")
def test_note_is_erased_with_its_event(team: Team, on_disk) -> None:
    """Both have one text, so erasing the note erases its event."""
    team.room.remember(f"The staging server is called {MARK}.")
    team.room.observe("bob", "Lunch is at noon.", key="lunch")
    (hit,) = team.room.recall(f"staging {MARK}", limit=1)

    report = team.workspace.forget(memory=hit.memory.id)

    assert (report.erased.events, report.residue) == (1, 0)
    assert [event.key for event in team.room.recent()] == ["lunch"]
    assert on_disk(MARK) == 0
    assert team.workspace.verify().is_intact


@pytest.mark.requirement("X6", "X1")
def test_derived_memories_are_erased_and_other_sources_relearned(team: Team, on_disk) -> None:
    """An episode has sources of Alice and Bob, and a summary has the episode as source."""
    alices = team.room.observe("alice", f"Alice said {MARK} on Monday.", key="a")
    bobs = team.room.observe("bob", "Bob said hello on Monday.", key="b")
    team.room.flush()
    memories = team.room._parts.store.memories
    scope = team.room.viewer.home
    (episode,) = memories.put(
        team.workspace.id,
        [
            Draft(
                scope=scope,
                kind=MemoryKind.EPISODE,
                text=f"They spoke of {MARK}.",
                sources=(alices.event_id, bobs.event_id),
            )
        ],
    )
    memories.put(
        team.workspace.id,
        [
            Draft(
                scope=scope,
                kind=MemoryKind.EPISODE,
                text=f"A week of {MARK}.",
                sources=(episode.id,),
                slot="week",
            )
        ],
    )

    every = len(memories.find(team.room.grant))
    report = team.workspace.forget(user="alice")

    assert report.erased.memories >= 3
    assert len(memories.find(team.room.grant)) < every
    assert report.derived_again == 1
    assert report.residue == 0
    assert on_disk(MARK) == 0
    assert keys(team.room.recall("monday hello")) == ["b"]
    left = team.room.recall("monday", kind=["episode"])
    assert not [hit for hit in left if MARK in hit.text]


@pytest.mark.requirement("X6")
def test_shared_statement_stays_for_the_other_speaker(team: Team) -> None:
    text = "The launch code is exactly the same sentence."
    team.room.observe("alice", text, key="a")
    team.room.observe("bob", text, key="b")
    team.room.flush()

    report = team.workspace.forget(user="alice")

    assert report.residue == 0
    assert keys(team.room.recall("launch code")) == ["b"]


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("whom", [{"user": "alice"}, {"room": "design"}], ids=str)
def test_erased_event_does_not_return_from_an_archive(team: Team, on_disk, whom) -> None:
    fill(team.room, "alice", MARK)
    team.room.observe("bob", "Bob stays, or goes with the room.", key="b")
    archive = StringIO()
    team.workspace.export(archive, vectors=True)
    team.clock.advance(days=1)
    team.workspace.forget(**whom)

    imported = team.workspace.import_(StringIO(archive.getvalue()))

    assert imported.forgotten == (2 if "user" in whom else 3)
    assert imported.events == imported.conflicting == 0
    assert on_disk(MARK) == 0
    renamed = archive.getvalue().replace(f"{MARK}key", "another-key")
    team.workspace.import_(StringIO(renamed))
    assert on_disk(MARK) == 0


@pytest.mark.requirement("X6")
def test_erased_future_event_does_not_return(team: Team, on_disk) -> None:
    later = MONDAY + timedelta(days=900)
    receipt = team.room.observe("alice", f"From the future {MARK}.", at=later, key="future")
    archive = StringIO()
    team.workspace.export(archive)
    team.workspace.forget(event=receipt)

    imported = team.workspace.import_(StringIO(archive.getvalue()))

    assert imported.forgotten == 1
    assert on_disk(MARK) == 0


@pytest.mark.requirement("X6")
def test_erased_key_cannot_be_observed_again(team: Team) -> None:
    receipt = team.room.observe("alice", "Something to be forgotten.", key="k")
    team.workspace.forget(event=receipt)

    with pytest.raises(Forgotten) as raised:
        team.room.observe("alice", "Something to be forgotten.", key="k")

    home = team.room.scope(None)
    why = f"the event with key 'k' in {home} was erased by forget; use another key"
    assert str(raised.value) == why


@pytest.mark.requirement("X6")
def test_erased_user_may_return(team: Team) -> None:
    team.alices.observe("alice", "Before I was forgotten.", key="before")
    team.workspace.forget(user="alice")
    team.clock.advance(days=1)

    team.alices.observe("alice", "After I was forgotten.", key="after")

    assert keys(team.alices.recall("forgotten")) == ["after"]


@pytest.mark.requirement("X6")
def test_store_in_memory_is_erased_as_well(open_nexus: Open, clock: Clock) -> None:
    team = make_team(open_nexus(), clock)
    team.tell_the_week()
    team.workspace.flush()

    report = team.workspace.forget(user="alice")

    assert (report.erased.events, report.residue, report.files_searched) == (2, 0, (":memory:",))
    assert "choice" not in keys(team.room.recall("postgresql ledger"))


def test_erasure_stays_inside_its_workspace(folder, open_nexus: Open, clock: Clock) -> None:
    nexus = open_nexus(folder / "memory.db")
    acme, globex = make_team(nexus, clock), make_team(nexus, clock, "globex")
    acme.room.observe("alice", "Acme's own message.", key="k")
    globex.room.observe("alice", "Globex's own message.", key="k")

    acme.workspace.forget(user="alice")

    assert acme.room.recent() == []
    assert keys(globex.room.recall("message")) == ["k"]


def test_erased_scope_can_be_used_again(team: Team) -> None:
    team.room.observe("alice", "Before it was forgotten.", key="before")
    team.room.flush()
    assert keys(team.room.recall("forgotten")) == ["before"]
    team.workspace.forget(room="design")
    team.clock.advance(days=1)

    team.room.observe("bob", "After it was forgotten.", key="after")

    assert keys(team.room.recall("forgotten")) == ["after"]
    assert team.workspace.stats() == {"events": 1, "passage": 1, "vectors": 1}


@pytest.mark.slow
@pytest.mark.requirement("X6")
def test_copies_in_split_pages_are_erased(tmp_path: Path) -> None:
    """Regression: this order of writes left a copy of a moved row in the file."""
    file = tmp_path / "memory.db"
    chance = random.Random("6-0")
    forgotten, told = [], []
    with Nexus.open(file, embedder=HashingEmbedder(), background=False) as nexus:
        workspace = nexus.workspace("acme")
        room = workspace.room("design", participants=["alice"])
        for number in range(80):
            key = f"6-0-{number}"
            text = f"message {key} about tea and herons"
            if chance.random() < 0.3:
                receipt = room.remember(text, key=key)
            else:
                receipt = room.observe("alice", text, key=key)
            told.append((receipt, text))
            what = chance.random()
            if what < 0.05:
                room.flush()
            elif what < 0.15:
                receipt, text = told.pop(chance.randrange(len(told)))
                assert workspace.forget(event=receipt).residue == 0
                forgotten.append(text.encode())
    content = file.read_bytes()

    assert forgotten
    assert not [text for text in forgotten if text in content]


def _lying(team: Team) -> list[WindowItem]:
    """Return all window items."""
    store, now = team.workspace._parts.store, team.workspace._parts.now()
    return store.window.find(team.workspace.admin_grant, slots=list(WindowSlot), now=now)


@pytest.mark.requirement("X6")
def test_recent_question_is_erased(open_nexus: Open, clock: Clock) -> None:
    """The worker stores its receipt later."""
    team = make_team(open_nexus(background=True), clock)
    team.workspace._parts.worker.wake = lambda: None  # the worker is busy
    team.alices.compose("What do I like?")

    report = team.workspace.forget(user="alice")

    team.workspace._parts.worker.drain()
    assert report.erased.window == 2
    assert _lying(team) == []


@pytest.mark.requirement("X6")
def test_question_of_another_process_is_erased(
    team: Team, folder: Path, open_nexus: Open, clock: Clock
) -> None:
    elsewhere = make_team(open_nexus(folder / "memory.db", background=True), clock)
    worker = elsewhere.workspace._parts.worker
    worker.wake = lambda: None
    elsewhere.alices.compose("What do I like?")
    elsewhere.room.compose("What does the room like?")
    clock.advance(seconds=1)

    team.workspace.forget(user="alice")
    team.workspace.forget(room="design")

    worker.drain()
    assert _lying(team) == []
    clock.advance(seconds=1)
    elsewhere.alices.compose("What do I like now?")
    worker.drain()
    assert {str(each.scope) for each in _lying(team)} == {"dm:alice:scribe"}
