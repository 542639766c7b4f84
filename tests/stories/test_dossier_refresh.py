"""Background refresh of dossiers and of answers to standing questions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from tests.conftest import Clock
from tests.loopback import Loopback, dropped, says
from tests.stories.conftest import Team, make_team

from nexusmem import NotFound, Place
from nexusmem.config.settings import LlmSettings, Settings
from nexusmem.core.errors import EmbedderUnavailable
from nexusmem.core.records import EventKind, Memory, MemoryKind
from nexusmem.embedders.feature_hash import HashingEmbedder
from nexusmem.learn.model_budget import Budget
from nexusmem.learn.settings import LearnSettings
from nexusmem.maintain.dossier_builder import DossierBuilder, subject_of
from nexusmem.maintain.jobs import refresh_dossiers

pytestmark = pytest.mark.requirement("B19", "E24")

QUESTION = "Which colour has the wharf gate?"
NOTHING = {"looked_at": 0, "made": 0, "dropped": 0}


def work(team: Team, **span: float) -> dict[str, int]:
    """Learn all events, advance the clock and run the job; return its counts."""
    team.workspace.flush()
    team.clock.advance(**(span or {"minutes": 15}))
    return team.workspace.run_job("dossiers")


def made(team: Team) -> list[Memory]:
    found = team.workspace._parts.store.memories.find(team.workspace.admin_grant)
    return [each for each in found if each.kind is MemoryKind.DOSSIER and "mark" in each.body]


def texts(place: Place) -> str:
    return "\n".join(each.text for each in place.dossiers.list())


@pytest.fixture
def told(team: Team) -> Team:
    team.room.observe("alice", "Sarah Chen works at Globex.", key="work")
    team.room.dossiers.get("Sarah Chen")
    return team


def test_stale_dossier_is_refreshed_by_the_job(told: Team) -> None:
    assert work(told) == {"looked_at": 1, "made": 0, "dropped": 0}
    told.room.observe("bob", "Sarah Chen lives in Porto.")

    assert work(told) == {"looked_at": 1, "made": 1, "dropped": 0}

    (memory,) = made(told)
    assert "Porto" in memory.text
    assert memory.label == told.room.grant.scopes
    assert [each.stale for each in told.room.dossiers.list()] == [False]
    assert told.room.dossiers.get("Sarah Chen").id == memory.id


def test_job_is_due_after_news_and_skips_unchanged_dossiers(told: Team) -> None:
    (job,) = [each for each in told.workspace.jobs() if each.name == "dossiers"]
    assert (job.every, job.on_news) == (timedelta(minutes=15), True)
    work(told)
    (before,) = made(told)
    told.bobs.observe("bob", "Sarah Chen sings.")  # not readable in the room

    assert work(told) == NOTHING

    assert made(told) == [before]


def test_question_is_answered_when_material_appears(team: Team) -> None:
    dossiers = team.room.dossiers
    assert dossiers.add_question(QUESTION) is None
    assert (work(team)["made"], dossiers.list()) == (0, [])
    team.room.observe("alice", "The wharf gate has the colour blue.")

    assert work(team)["made"] == 1
    (answer,) = made(team)
    assert "blue" in answer.text
    team.room.observe("bob", "Now the wharf gate has the colour green.")
    assert work(team)["made"] == 1
    (answer,) = made(team)
    assert "green" in answer.text
    assert [each.id for each in dossiers.list()] == [answer.id]


@pytest.mark.requirement("X6")
def test_answer_is_rebuilt_without_an_erased_source(team: Team) -> None:
    team.room.observe("alice", "The wharf gate has the colour blue.")
    secret = team.room.observe("bob", "The wharf gate has the colour of blood.")
    team.room.dossiers.add_question(QUESTION)
    team.workspace.forget(event=secret)
    assert made(team) == []

    assert work(team)["made"] == 1

    (answer,) = made(team)
    assert ("blue" in answer.text, "blood" in answer.text) == (True, False)


def test_removed_question_is_removed_for_all_readers(team: Team) -> None:
    other = team.workspace.room("design", agent="scribe", participants=["alice"])
    team.room.observe("alice", "The wharf gate has the colour blue.")
    for place in (team.room, other):
        place.dossiers.add_question(QUESTION)
    assert len(made(team)) == 2

    team.room.dossiers.remove_question(QUESTION)

    assert (len(made(team)), other.dossiers.list()) == (1, [])
    assert work(team)["dropped"] == 2  # the answer and its watch
    assert made(team) == []
    assert work(team) == NOTHING


@pytest.mark.requirement("X1", "X2")
def test_each_reader_gets_only_permitted_material(team: Team) -> None:
    alone = team.workspace.room("design", agent="scribe", participants=["alice"], project="apollo")
    team.room.remember("Sarah Chen likes tea.", scope="project")
    for place in (team.room, alone, team.alices, team.bobs):
        place.dossiers.get("Sarah Chen")
    team.bobs.remember("Sarah Chen is my cousin.", scope="user:bob")
    team.alices.observe("alice", "Sarah Chen has a surgery on Friday.")

    assert work(team)["made"] == 3

    read = {name: texts(place) for name, place in vars(team).items() if isinstance(place, Place)}
    told = {name: ("cousin" in text, "surgery" in text) for name, text in read.items()}
    assert told == {"room": (True, False), "alices": (False, True), "bobs": (True, False)}
    assert "cousin" not in texts(alone), "bob has left that room"
    assert len(made(team)) == 4


@pytest.mark.requirement("X1")
def test_dossier_requires_the_full_grant_of_its_maker(told: Team) -> None:
    alone = told.workspace.room("design", agent="scribe", participants=["alice"], project="apollo")
    (memory,) = made(told)
    assert memory.label == told.room.grant.scopes

    assert alone.dossiers.list() == []
    with pytest.raises(NotFound):
        alone.get(memory.id)
    assert alone.dossiers.get("Sarah Chen").id != memory.id
    assert len(made(told)) == 2, "and neither takes the other's away"


@pytest.mark.requirement("X6")
def test_erased_user_takes_their_dossiers(told: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    eraser = type(told.workspace._parts.store.eraser)
    erase, gone = eraser.erase, []
    monkeypatch.setattr(eraser, "erase", lambda *a, **more: gone.append(more) or erase(*a, **more))
    told.room.dossiers.add_question("Where does Sarah Chen work?")
    told.bobs.observe("bob", "Sarah Chen sings.")
    told.bobs.remember("I like tea.", scope="user:bob")

    report = told.workspace.forget(user="bob")

    assert report.residue == 0
    assert len(gone) == 1, "all of it in one transaction"
    assert made(told) == []
    assert work(told) == NOTHING
    assert told.room.dossiers.questions() == ["Where does Sarah Chen work?"]
    assert "Globex" in told.room.dossiers.get("Sarah Chen").text


@pytest.mark.requirement("X6")
def test_question_text_is_erased_with_the_question(team: Team) -> None:
    team.room.observe("alice", "The wharf gate has the colour blue.")
    team.room.dossiers.add_question("What colour has the wharf gate of my dear friend?")
    assert len(made(team)) == 1
    told = team.workspace._parts.store.ledger.find(team.workspace.admin_grant)
    (asked,) = [each for each in told if each.kind is EventKind.QUESTION]

    assert team.workspace.forget(event=asked.id).residue == 0

    assert made(team) == []
    assert team.room.dossiers.questions() == []


@pytest.mark.requirement("X6")
def test_private_question_is_erased_with_its_user(team: Team) -> None:
    team.alices.remember("The wharf gate has the colour blue.", scope="project")
    carols = team.workspace.dm("carol", agent="scribe", project="apollo")
    carols.dossiers.add_question("What colour has the wharf gate of my dear friend?")
    carols.dossiers.get("wharf gate")
    assert len(made(team)) == 2

    assert team.workspace.forget(user="carol").residue == 0

    assert made(team) == []


@pytest.mark.requirement("X6")
def test_user_erased_during_a_build_is_in_no_dossier(told: Team) -> None:
    told.bobs.remember("I like tea.", scope="user:bob")
    told.room.observe("alice", "Sarah Chen lives in Porto.")
    told.workspace.flush()
    (before,) = made(told)
    parts = told.workspace._parts

    def narrate(_name: str, _memories: Sequence[Memory]) -> None:
        told.workspace.forget(user="bob")

    weaver = DossierBuilder(
        store=parts.store,
        ranking=parts.ranking,
        grant=told.room.grant,
        home=before.scope,
        narrate=narrate,
        required_memory=before.id,
    )

    now = told.clock.now
    order = weaver.make_request(subject_of(before), looked_at=now)
    assert weaver.build(order, now=now).memory is None
    assert made(told) == []


@pytest.mark.requirement("X6")
def test_dossier_built_during_an_erasure_is_erased(
    told: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    told.bobs.remember("I like tea.", scope="user:bob")
    eraser = type(told.workspace._parts.store.eraser)
    erase = eraser.erase

    def erase_and_make(self: Any, *args: Any, **more: Any) -> Any:
        erased = erase(self, *args, **more)
        if more["events"]:
            told.room.dossiers.get("Sarah Chen")
        return erased

    monkeypatch.setattr(eraser, "erase", erase_and_make)

    assert told.workspace.forget(user="bob").residue == 0
    assert made(told) == []


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("who", ["a worker", "somebody who asks"])
def test_user_erased_before_the_write_is_in_no_dossier(
    told: Team, monkeypatch: pytest.MonkeyPatch, who: str
) -> None:
    told.bobs.remember("I like tea.", scope="user:bob")
    told.room.observe("alice", "Sarah Chen lives in Porto.")
    told.workspace.flush()
    memories = type(told.workspace._parts.store.memories)
    put = memories.put

    def forget_and_put(self: Any, *args: Any, **more: Any) -> list[Memory]:
        monkeypatch.setattr(memories, "put", put)
        assert told.workspace.forget(user="bob").residue == 0
        return put(self, *args, **more)

    monkeypatch.setattr(memories, "put", forget_and_put)

    if who == "a worker":
        assert work(told)["made"] == 0
    else:
        with pytest.raises(NotFound):
            told.room.dossiers.get("Sarah Chen")

    assert memories.put is put, "somebody was forgotten in between"
    assert made(told) == []
    assert "Porto" in told.room.dossiers.get("Sarah Chen").text  # requested after the erasure


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("again", [False, True], ids=["first", "again"])
def test_user_erased_before_the_watch_is_in_no_dossier(
    team: Team, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    if again:  # erased before, and returned
        team.bobs.remember("I like tea.", scope="user:bob")
        team.workspace.forget(user="bob")
        team.clock.advance(days=1)
    team.bobs.remember("I like coffee.", scope="user:bob")
    team.room.observe("alice", "The wharf gate has the colour blue.")
    team.room.flush()
    weaver = DossierBuilder.ensure_watch

    def forget_and_watch(self: DossierBuilder, *args: Any, **more: Any) -> str | None:
        team.workspace.forget(user="bob")
        return weaver(self, *args, **more)

    monkeypatch.setattr(DossierBuilder, "ensure_watch", forget_and_watch)

    assert team.room.dossiers.add_question(QUESTION) is None

    found = team.workspace._parts.store.memories.find(team.workspace.admin_grant)
    assert not [each for each in found if "user:bob" in map(str, each.label)]


@pytest.mark.requirement("X6")
def test_erased_readers_dossier_does_not_return_from_an_archive(told: Team) -> None:
    told.bobs.remember("I like tea.", scope="user:bob")
    archive = StringIO()
    told.workspace.export(archive)
    told.clock.advance(days=1)
    told.workspace.forget(user="bob")

    told.workspace.import_(StringIO(archive.getvalue()))

    assert made(told) == []


@pytest.mark.requirement("X6")
def test_name_is_erased_with_its_speaker(team: Team) -> None:
    named = team.room.observe("alice", "My name is Zebrafinch.", key="name")
    for number in range(30):  # more than a dossier quotes
        team.room.observe("bob", f"Carol met alice, and alice gave alice's parcel {number} to her.")
    told = team.room.dossiers.get("alice")
    cited = {key for each in told.citations for key in each.event_keys}
    assert ("Zebrafinch" in told.text, "name" in cited) == (True, False)

    team.workspace.forget(event=named)

    assert made(team) == []
    known = team.room.dossiers.get("alice")
    assert ("parcel" in known.text, "Zebrafinch" in known.text) == (True, False)


def test_dossier_without_recent_readers_is_not_refreshed(told: Team) -> None:
    told.room.observe("bob", "Sarah Chen lives in Porto.")
    assert work(told, days=60)["made"] == 1
    told.room.dossiers.get("Sarah Chen")  # restarts the idle period
    told.room.observe("bob", "Sarah Chen lives in Faro.")
    assert work(told, days=60)["made"] == 1

    told.room.observe("bob", "Sarah Chen lives in Braga.")

    assert work(told, days=60) == NOTHING
    assert [each.stale for each in told.room.dossiers.list()] == [True]
    assert "Braga" in told.room.dossiers.get("Sarah Chen").text


def test_many_dossiers_are_refreshed_in_steps(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refresh_dossiers, "BATCH_SIZE", 3)
    names = [f"Person{number}" for number in range(8)]
    for name in names:
        team.room.observe("alice", f"{name} works at Globex.")
        team.room.dossiers.get(name)
    for name in names:
        team.room.observe("alice", f"{name} lives in Lisbon.")
    team.workspace.flush()
    step, job, sizes = None, planned(team), []
    while step is None or step.cursor is not None:
        step = job(team.workspace.id, team.clock.advance(seconds=1), step and step.cursor)
        sizes.append(step.counts["made"])

    assert sizes == [3, 3, 2]
    assert all("Lisbon" in memory.text for memory in made(team))
    assert len(made(team)) == 8


@pytest.mark.parametrize("limit", ["BATCH_SIZE", "PAGE_SIZE"])
def test_dossiers_of_one_time_are_all_refreshed(
    limit: str, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(refresh_dossiers, limit, 2)
    names = [f"Person{number}" for number in range(5)]
    for name in names:
        team.room.observe("alice", f"{name} works at Globex.")
        team.room.dossiers.get(name)
    for city in ("Lisbon", "Porto", "Faro"):
        for name in names:
            team.room.observe("alice", f"{name} lives in {city}.")
        team.workspace.flush()
        step, moment = None, team.clock.advance(days=1)
        while step is None or step.cursor is not None:  # all have this time
            step = planned(team)(team.workspace.id, moment, step and step.cursor)
        assert [city in memory.text for memory in made(team)] == [True] * 5
    first = planned(team)(team.workspace.id, moment, None)
    second = planned(team)(team.workspace.id, moment, first.cursor)
    third = planned(team)(team.workspace.id, moment, second.cursor)
    assert [each.counts["looked_at"] for each in (first, second, third)] == [2, 2, 1]
    assert third.cursor is None


def test_killed_refresh_leaves_no_duplicates(told: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    store = told.workspace._parts.store
    told.room.observe("bob", "Sarah Chen lives in Porto.")

    def killed(*_: Any) -> int:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(type(store.memories), "delete", killed)
        with pytest.raises(KeyboardInterrupt):
            work(told)
    assert len(made(told)) == 2

    told.clock.advance(minutes=5)
    work(told)

    (memory,) = made(told)
    assert "Porto" in memory.text


class Away(HashingEmbedder):
    """An embedder that does not answer."""

    def embed(self, texts: Sequence[str]) -> Any:
        raise EmbedderUnavailable("away")


def test_incomplete_search_builds_no_dossier(open_nexus: Any, clock: Clock, tmp_path: Path) -> None:
    team = make_team(open_nexus(tmp_path / "memory.db"), clock)
    team.room.observe("alice", "Sarah Chen works at Globex.")
    team.room.dossiers.get("Sarah Chen")
    team.room.observe("bob", "Sarah Chen lives in Porto.")
    team.workspace.flush()
    before = made(team)

    other = make_team(open_nexus(tmp_path / "memory.db", embedder=Away()), clock)
    assert other.workspace.run_job("dossiers") == NOTHING
    (job,) = [each for each in other.workspace.jobs() if each.name == "dossiers"]
    assert job.due_at is not None
    assert job.due_at - clock.now < timedelta(minutes=16)

    assert made(team) == before
    assert work(team)["made"] == 1


def test_erased_dossier_is_rebuilt_only_from_new_material(told: Team) -> None:
    (memory,) = made(told)
    told.workspace.forget(memory=memory.id)

    with pytest.raises(NotFound):
        told.room.dossiers.get("Sarah Chen")
    told.room.observe("bob", "Sarah Chen lives in Porto.")
    assert "Porto" in told.room.dossiers.get("Sarah Chen").text


@pytest.mark.requirement("A14")
def test_archive_preserves_the_readers(told: Team, open_nexus: Any, tmp_path: Path) -> None:
    told.room.dossiers.add_question("Where does Sarah Chen work?")
    told.workspace.export(tmp_path / "archive.jsonl")
    there = open_nexus(":memory:").workspace("acme")

    there.import_(tmp_path / "archive.jsonl")

    for place in (there, told.workspace):
        found = place._parts.store.memories.find(place.admin_grant)
        labels = [each.label for each in found if each.kind is MemoryKind.DOSSIER]
        assert sorted(map(len, labels)) == [1, *[len(told.room.grant.scopes)] * 3]


def planned(team: Team) -> Any:
    return team.workspace._parts.job_runner._schedule["dossiers"].run


# -- written by a model


TOLD = "Sarah Chen works at Globex, and lives in Porto."


def with_model(server: Loopback, open_nexus: Any, clock: Clock, **more: Any) -> Team:
    llm = LlmSettings(
        provider="ollama",
        model="any",
        base_url=server.url,
        timeout_seconds=2,
        extract_facts=False,
        **more,
    )
    settings = Settings(llm=llm, learning=LearnSettings(episodes="model"))
    team = make_team(open_nexus(settings=settings), clock)
    server.script(says(json.dumps({"sentences": ["Sarah Chen works at Globex."]})))
    team.room.observe("alice", "Sarah Chen works at Globex.")
    assert "Sarah Chen works at Globex.\n" in team.room.dossiers.get("Sarah Chen").text
    team.room.observe("bob", "Sarah Chen lives in Porto.")
    return team


@pytest.fixture
def server() -> Iterator[Loopback]:
    with Loopback() as loopback:
        yield loopback


def test_model_cost_is_charged_to_the_workspace(
    server: Loopback, open_nexus: Any, clock: Clock
) -> None:
    team = with_model(server, open_nexus, clock)
    server.script(says(json.dumps({"sentences": [TOLD]})))

    assert work(team)["made"] == 1

    (memory,) = made(team)
    assert TOLD in memory.text
    assert memory.metadata["made_by"] == ["model"]
    assert sum(each.calls for each in team.workspace.usage().spent) == 2


@pytest.mark.parametrize("why", ["no money", "no answer", "invented"])
def test_refused_model_text_falls_back_to_the_template(
    why: str, server: Loopback, open_nexus: Any, clock: Clock
) -> None:
    budget = Budget(tokens_per_day=1) if why == "no money" else Budget()
    team = with_model(server, open_nexus, clock, budget=budget)
    invented = says(json.dumps({"sentences": ["Sarah Chen was born in 1971."]}))
    server.script(*[dropped() if why == "no answer" else invented] * 9)

    assert work(team)["made"] == 1

    (memory,) = made(team)
    assert ("Porto" in memory.text, "1971" in memory.text) == (True, False)
    assert memory.metadata["made_by"] == ["template"]
    asked = len(server.requests)
    assert asked == 1 if why == "no money" else asked > 1
