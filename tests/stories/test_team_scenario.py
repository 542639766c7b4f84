"""A team in rooms and DMs: access control, search, deduplication and files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib.util import find_spec

import pytest
from tests.conftest import MONDAY, Clock, Open
from tests.stories.conftest import Team, keys, make_team

from nexusmem import Nexus, NotFound, Place, Viewer
from nexusmem.config.settings import Settings, StoreSettings
from nexusmem.core.ids import AgentId, UserId, WorkspaceId
from nexusmem.core.records import Draft, EventKind, MemoryKind, Trust
from nexusmem.embedders.feature_hash import HashingEmbedder

ALL = "ledger postgresql mysql raise friday surgery thursday retro"


def everything(place: Place) -> set[str]:
    return set(keys(place.recall(ALL, limit=100)))


@pytest.mark.requirement("A10", "A11", "A12")
def test_each_viewer_sees_only_readable_memories(team: Team) -> None:
    team.tell_the_week()

    assert everything(team.room) == {"choice", "doubt", "answer", "retro"}
    assert everything(team.alices) == {"raise"}
    assert everything(team.bobs) == {"illness"}


@pytest.mark.requirement("A10", "A11", "A12")
@pytest.mark.parametrize("secret", ["raise", "illness"])
def test_secret_is_unreachable_from_other_places(team: Team, secret: str) -> None:
    told = team.tell_the_week()
    owner = team.alices if secret == "raise" else team.bobs
    others = [place for place in (team.room, team.alices, team.bobs) if place is not owner]
    others += [
        team.workspace.dm("alice", agent="other"),
        team.workspace.dm("bob", agent="other"),
        team.workspace.session("s", user="carol"),
        team.workspace.room("other", agent="scribe", participants=["alice", "bob"]),
    ]
    (hidden,) = [hit.memory for hit in owner.recall(ALL) if secret in hit.event_keys]

    for place in others:
        assert secret not in keys(place.recall(hidden.text, limit=100))
        assert secret not in {event.key for event in place.recent()}
        assert not [fact for fact in place.facts() if set(fact.sources) & set(hidden.sources)]
        for ask in (place.get, place.source_events):
            with pytest.raises(NotFound) as refusal:
                ask(hidden.id)
            assert str(refusal.value) == f"no memory {hidden.id!r} here"
        with pytest.raises(NotFound):
            place.progress(told[secret])
    assert keys(owner.recall(hidden.text))[0] == secret


@pytest.mark.requirement("A12")
def test_workspaces_are_isolated(nexus: Nexus, team: Team) -> None:
    team.tell_the_week()
    globex = make_team(nexus, team.clock, "globex")

    assert everything(globex.room) == everything(globex.alices) == set()
    assert globex.room.recent() == []
    assert globex.workspace.stats()["events"] == 0
    globex.room.observe("alice", "Another ledger, in another company.", key="choice")
    assert everything(globex.room) == {"choice"}
    assert len(everything(team.room)) == 4


@pytest.mark.requirement("X2")
def test_unreadable_memory_does_not_change_scores(nexus: Nexus, team: Team) -> None:
    """Private messages of Bob and Alice do not change scores in the room."""
    quiet = make_team(nexus, team.clock, "quiet")
    for number in range(20):
        team.alices.observe("alice", f"MySQL MySQL ledger secret {number}", key=f"s{number}")
    for each in (team, quiet):
        each.room.observe("alice", "We use PostgreSQL for the ledger.", at=MONDAY, key="1")
        each.room.observe("bob", "MySQL was the other ledger choice.", at=MONDAY, key="2")

    def seen(place: Place) -> list[object]:
        found = place.recall("mysql ledger")
        return [found.total, *((hit.text, hit.score, hit.reasons, hit.memory.id) for hit in found)]

    assert seen(team.room) == seen(quiet.room)
    assert team.room.recent()[0].id == quiet.room.recent()[0].id


@pytest.mark.requirement("A16")
def test_speakers_in_a_room_keep_their_names(team: Team) -> None:
    team.tell_the_week()

    said = {hit.memory.speaker: hit.text for hit in team.room.recall("ledger")}

    assert said == {
        "alice": "We decided to use PostgreSQL instead of MySQL for the ledger.",
        "bob": "I still like MySQL for the ledger.",
        "scribe": "Noted: the ledger goes to PostgreSQL.",
    }
    assert team.room.recall("what does bob like?")[0].memory.speaker == "bob"
    assert [e.speaker for e in team.room.recent()] == ["bob", "scribe", "bob", "alice"]


@pytest.mark.requirement("A9", "A16")
def test_role_and_trust_follow_from_the_speaker(team: Team) -> None:
    team.tell_the_week()
    team.room.observe("search", "Found three pages about ledgers.", role="tool", key="tool")

    by_key = {event.key: event for event in team.room.recent()}

    assert (by_key["choice"].role, by_key["choice"].trust) == ("user", Trust.DIRECT)
    assert (by_key["answer"].role, by_key["answer"].trust) == ("assistant", Trust.INFERRED)
    assert (by_key["tool"].role, by_key["tool"].trust) == ("tool", Trust.EXTERNAL)


@pytest.mark.requirement("D10", "B15")
def test_raw_messages_are_kept_with_derived_memories(team: Team) -> None:
    receipt = team.tell_the_week()["choice"]
    (hit,) = [hit for hit in team.room.recall("postgresql") if "choice" in hit.event_keys]

    (source,) = team.room.source_events(hit.memory.id)

    assert source.id == receipt.event_id == hit.memory.sources[0]
    assert source.text == hit.text
    assert source.key == "choice"
    assert (source.thread, source.attachments[0].name) == ("storage", "plan.pdf")
    assert hit.memory.thread == "storage"
    assert team.workspace.stats()["events"] == 6


@pytest.mark.requirement("D10")
def test_short_message_is_stored_but_not_indexed(team: Team) -> None:
    team.room.observe("bob", "ok", key="ok")

    assert [event.text for event in team.room.recent()] == ["ok"]
    assert list(team.room.recall("ok")) == []


@pytest.mark.requirement("C7", "C8")
def test_hit_has_score_and_reasons(team: Team) -> None:
    team.tell_the_week()

    found = team.room.recall("Which database did we decide on, PostgreSQL?", limit=2)

    assert len(found) == 2 <= found.total
    assert found.seconds > 0
    assert found[0].event_keys == ("choice",)
    assert found[0].highlights == ("We decided to use PostgreSQL instead of MySQL for the ledger.",)
    assert 1 >= found[0].score >= found[1].score > 0
    assert set(found[0].reasons) == {"vector", "keyword", "graph"}
    strict = team.room.recall("PostgreSQL", threshold=found[0].score)
    assert all(hit.score >= found[0].score for hit in strict)
    assert list(team.room.recall("PostgreSQL and elephants", threshold=1.0)) == []


@pytest.mark.requirement("C8")
def test_total_does_not_depend_on_limit(team: Team) -> None:
    messages = [{"speaker": "alice", "text": f"Ledger entry number {n}."} for n in range(120)]
    room = team.workspace.room("plain", participants=["alice"])  # no project that copies go to
    room.observe_many(messages)

    totals = {room.recall("ledger", limit=limit).total for limit in (1, 10, 100)}

    assert totals == {120}


@pytest.mark.requirement("C6", "C7")
def test_search_is_narrowed_by_filters(team: Team) -> None:
    team.tell_the_week()
    team.room.observe(
        "bob",
        "The ledger costs 40 euros.",
        key="cost",
        metadata={"source": "invoice", "price": {"euros": 40}, "paid": True},
    )

    def found(**where: object) -> set[str]:
        return set(keys(team.room.recall("ledger", where=where, limit=50)))

    assert found(speaker="bob") == {"doubt", "cost"}
    assert found(tags={"contains": "decision"}) == {"choice"}
    assert found(thread="storage") == {"choice"}
    assert found(role="assistant") == {"answer"}
    assert found(source="invoice") == {"cost"}
    assert found(**{"metadata.price.euros": {"gte": 40}}) == {"cost"}
    assert found(**{"metadata.paid": 1}) == set()
    assert found(OR=[{"speaker": "alice"}, {"metadata.paid": True}]) == {"choice", "cost"}


@pytest.mark.requirement("E4")
def test_search_is_narrowed_by_period(team: Team) -> None:
    team.tell_the_week()
    tuesday, wednesday = MONDAY + timedelta(days=1), MONDAY + timedelta(days=2)

    recalled = team.room.recall(ALL, since=tuesday, until=wednesday)
    listed = team.room.recent(since=tuesday, until=wednesday)

    assert set(keys(recalled)) == {"doubt", "answer"}
    assert {event.key for event in listed} == {"doubt", "answer"}
    assert [event.key for event in team.room.recent(1)] == ["retro"]


@pytest.mark.requirement("E4", "X3")
def test_messages_observed_out_of_order_are_sorted_by_time(team: Team) -> None:
    team.tell_the_week()
    last_year = datetime(2025, 6, 1, tzinfo=UTC)

    team.room.observe("alice", "Last year we used MySQL for the ledger.", at=last_year, key="old")

    (oldest,) = [event for event in team.room.recent() if event.key == "old"]
    assert team.room.recent()[-1] == oldest
    assert oldest.at == last_year < oldest.recorded_at
    assert oldest.recorded_at >= MONDAY
    assert keys(team.room.recall("mysql ledger", until=MONDAY)) == ["old"]


@pytest.mark.requirement("X3")
def test_repeated_delivery_is_one_event(team: Team) -> None:
    first = team.room.observe("alice", "Only once, please.", key="msg-17")
    again = [team.room.observe("alice", "Only once, please.", key="msg-17") for _ in range(9)]

    assert not first.duplicate
    assert all(receipt.duplicate and receipt.event_id == first.event_id for receipt in again)
    assert team.workspace.stats()["events"] == 1
    assert team.workspace.verify().events == 1


def test_key_is_unique_per_place(team: Team) -> None:
    """The same key in another scope is another event, and reveals nothing."""
    team.alices.observe("alice", "My own first message.", key="1")

    receipt = team.bobs.observe("bob", "Another first message.", key="1")

    assert not receipt.duplicate


@pytest.mark.requirement("X1")
def test_dm_memories_stay_private_until_shared(team: Team) -> None:
    team.alices.add_fact("Alice", "PLANS", "raise")
    team.alices.remember("Alice likes tea.", scope="user")

    assert [memory.fact.object for memory in team.alices.facts("Alice")] == ["raise"]
    assert team.room.facts("Alice") == []
    assert [hit.text for hit in team.room.recall("tea")] == ["Alice likes tea."]
    assert list(team.bobs.recall("tea")) == []


@pytest.mark.requirement("X1")
def test_memory_of_dm_and_room_needs_access_to_both(team: Team) -> None:
    """This holds even if the derived memory is stored in the room's scope."""
    told = team.tell_the_week()
    store = team.room._parts.store
    (laundered,) = store.memories.put(
        team.workspace.id,
        [
            Draft(
                scope=team.room.viewer.home,
                kind=MemoryKind.EPISODE,
                text="The ledger, and who will ask for a raise.",
                sources=(told["choice"].event_id, told["raise"].event_id),
            )
        ],
    )
    store.vectors.put(
        team.workspace.id,
        HashingEmbedder().profile,
        {laundered.id: HashingEmbedder().embed([laundered.text])[0]},
    )

    for place in (team.room, team.alices, team.bobs):
        assert laundered.id not in {hit.memory.id for hit in place.recall(laundered.text)}
        assert place.recall("raise", kind=["episode"]).total == 0
        with pytest.raises(NotFound):
            place.get(laundered.id)
        assert laundered not in store.memories.find(place.grant)
    assert laundered.trust is Trust.DIRECT
    assert laundered.label == {team.room.viewer.home, team.alices.viewer.home}


@pytest.mark.requirement("A8", "C5", "D20")
def test_every_kind_of_place_works(team: Team) -> None:
    team.room.remember("The staging server is called heron.", scope="project")
    team.room.remember("Alice speaks French.", scope="user:alice")
    team.room.remember("Lunch is at noon.", scope="global")
    team.room.remember("I answer in haiku.", scope="agent")
    session = team.workspace.session("s1", user="alice", agent="scribe", project="apollo")
    session.observe("alice", "The build number is foo.", key="s")
    secret = team.workspace.session("s1", user="alice", agent="scribe", private=True)
    secret.observe("alice", "The door code ends with bar.", key="p")
    stranger = team.workspace.dm("carol", agent="other")

    def known(place: Place) -> set[str]:
        question = "staging heron French lunch noon haiku build foo door bar"
        return {hit.text.split()[-1] for hit in place.recall(question)}

    assert known(team.room) == {"heron.", "French.", "noon.", "haiku."}
    assert known(team.alices) == {"heron.", "French.", "noon.", "haiku.", "foo."}
    assert known(team.bobs) == {"heron.", "noon.", "haiku."}
    assert known(session) == {"heron.", "French.", "noon.", "haiku.", "foo."}
    assert known(secret) == {"French.", "noon.", "haiku.", "foo.", "bar."}
    assert known(stranger) == {"noon."}
    assert {hit.text for hit in team.room.recall("staging heron lunch noon", scope="project")} == {
        "The staging server is called heron."
    }


@pytest.mark.requirement("D20")
def test_place_can_be_made_from_a_viewer(team: Team) -> None:
    team.tell_the_week()
    viewer = Viewer(workspace=WorkspaceId("acme"), agent=AgentId("scribe"), user=UserId("alice"))

    assert everything(team.workspace.place(viewer)) == {"raise"}
    with pytest.raises(ValueError, match="another workspace"):
        team.workspace.place(
            Viewer(workspace=WorkspaceId("globex"), agent=AgentId("scribe"), user=UserId("alice"))
        )


def test_document_is_found_in_passages(team: Team) -> None:
    text = (
        "# Runbook\n\n## Restart\nStop heron, then start it.\n\n## Backup\nCopy the file at night."
    )

    receipt = team.room.add_document(text, scope="project", key="runbook")

    (hit, *_) = team.bobs.recall("how to restart heron?")
    assert hit.text == "Stop heron, then start it."
    assert hit.memory.metadata["heading"] == "Runbook › Restart"
    assert hit.memory.source == "document"
    assert hit.event_keys == ("runbook",)
    (source,) = team.bobs.source_events(hit.memory.id)
    assert (source.id, source.kind, source.text) == (receipt.event_id, EventKind.DOCUMENT, text)
    assert source.trust is Trust.EXTERNAL


PLAIN = Settings()
WITH_INDEX = Settings(store=StoreSettings(vector_index="sqlite-vec"))


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(PLAIN, marks=pytest.mark.requirement("X10"), id="plain"),
        pytest.param(
            WITH_INDEX,
            marks=[
                pytest.mark.requirement("C1", "X10"),
                pytest.mark.skipif(find_spec("sqlite_vec") is None, reason="no sqlite-vec"),
            ],
            id="sqlite-vec",
        ),
    ],
)
def test_sqlite_file_gives_the_same_answers(open_nexus: Open, tmp_path, settings: Settings) -> None:
    places = []
    for where, chosen in ((":memory:", PLAIN), (tmp_path / "memory.db", settings)):
        nexus = open_nexus(where, settings=chosen, clock=Clock())
        team = make_team(nexus, Clock())
        team.tell_the_week()
        team.room.add_fact("Tyler", "WORKS_AT", "Anthropic", key="f")
        team.room.add_document("# A\nPostgreSQL tuning.\n# B\nMySQL tuning.", key="doc")
        places.append((team.room, team.alices, team.bobs))

    for one, other in zip(*places, strict=True):
        for question in (ALL, "postgresql", "tuning mysql", "when is the retro?", "!", "tyler"):
            left, right = one.recall(question), other.recall(question)
            assert left.hits == right.hits
            assert left.total == right.total
        assert one.facts() == other.facts()
        assert [event.id for event in one.recent()] == [event.id for event in other.recent()]


@pytest.mark.requirement("B27")
def test_one_file_is_the_only_file(open_nexus: Open, tmp_path) -> None:
    file = tmp_path / "memory.db"
    nexus = open_nexus(file)
    team = make_team(nexus, Clock())
    told = team.tell_the_week()
    team.room.set_value("project", "budget", {"euros": 40})
    team.room.flush()
    nexus.close()

    assert [each.name for each in tmp_path.iterdir()] == ["memory.db"]
    assert file.stat().st_mode & 0o077 == 0
    reopened = make_team(open_nexus(file), team.clock)
    assert everything(reopened.room) >= {"choice", "doubt", "answer", "retro"}
    assert everything(reopened.alices) & told.keys() == {"raise"}
    assert reopened.room.get_value("project", "budget") == {"euros": 40}
