"""Place.memories, get, correct, forget, history, landmarks and Nexus.user."""

from __future__ import annotations

from datetime import timedelta

import pytest
from tests.conftest import Clock, Open

from nexusmem import AsyncNexus, Conflict, InvalidInput, Nexus, NotFound, Place
from nexusmem.config.settings import AuditSettings, QuotaSettings, Settings
from nexusmem.core.errors import QuotaExceeded
from nexusmem.embedders.feature_hash import HashingEmbedder


def texts(found) -> list[str]:
    return [each.text for each in found]


# The place of a user


def test_user_returns_the_private_place_of_the_default_workspace(nexus: Nexus) -> None:
    alice = nexus.user("alice")

    alice.observe("alice", "My sister is called Mara.")
    alice.observe("alice", "The server is called kestrel.")

    assert alice.viewer.home == nexus.workspace("default").dm("alice").viewer.home
    assert texts(alice.recall("sister")) == ["My sister is called Mara."]
    assert texts(nexus.user("bob").recall("sister")) == []
    assert texts(nexus.user("alice", workspace="other").recall("sister")) == []
    other_agent = nexus.user("alice", agent="other")
    assert texts(other_agent.recall("sister")) == ["My sister is called Mara."]  # about herself
    assert texts(other_agent.recall("server kestrel")) == []


def test_repr_names_the_place(nexus: Nexus) -> None:
    acme = nexus.workspace("acme")

    assert repr(acme.room("design", agent="scribe", participants=["alice"])) == (
        "Place(workspace='acme', room='design', agent='scribe')"
    )
    assert repr(acme.session("run-1", user="alice", agent="coder")) == (
        "Place(workspace='acme', user='alice', session='run-1', agent='coder')"
    )
    assert repr(nexus.user("alice", session="monday", project="apollo")) == (
        "Place(workspace='default', user='alice', session='monday', agent='assistant',"
        " project='apollo')"
    )
    with Nexus.open(":memory:") as opened:
        assert repr(opened) == "Nexus(':memory:')"


def test_sessions_of_a_user_share_memories_and_keep_messages_apart(nexus: Nexus) -> None:
    monday, friday = nexus.user("alice", session="mon"), nexus.user("alice", session="fri")

    monday.observe("alice", "My sister is called Mara.", key="m")
    friday.record([{"role": "user", "content": "My brother is called Tom."}])
    friday.observe_many([{"speaker": "alice", "text": "Tea, please.", "thread": "own"}])

    assert texts(friday.recall("sister", limit=1)) == ["My sister is called Mara."]
    assert texts(monday.recall("brother", limit=1)) == ["My brother is called Tom."]
    assert monday.viewer.home != friday.viewer.home
    assert {event.text: event.thread for event in monday.recent()} == {
        "My sister is called Mara.": None
    }
    assert {event.text: event.thread for event in friday.recent()} == {
        "My brother is called Tom.": None,
        "Tea, please.": "own",
    }


def test_a_session_keeps_recording_the_same_conversation_once(nexus: Nexus) -> None:
    place = nexus.user("alice", session="mon")
    messages = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi!"}]

    place.record(messages)
    repeated = place.record([*messages, {"role": "user", "content": "How are you?"}])

    assert [receipt.duplicate for receipt in repeated] == [True, True, False]
    assert len(place.recent()) == 3
    assert "Hello" in place.context_for([{"role": "user", "content": "Hello again"}]).text


@pytest.mark.parametrize("session", ["", 5, "a" * 10_000])
def test_invalid_session_name_is_refused(nexus: Nexus, session) -> None:
    with pytest.raises(InvalidInput):
        nexus.user("alice", session=session)


# Listing


@pytest.fixture
def room(nexus: Nexus) -> Place:
    return nexus.workspace("acme").room("design", agent="scribe", participants=["alice", "bob"])


@pytest.fixture
def alice(nexus: Nexus) -> Place:
    return nexus.workspace("acme").dm("alice", agent="scribe")


@pytest.fixture
def bob(nexus: Nexus) -> Place:
    return nexus.workspace("acme").dm("bob", agent="scribe")


def test_memories_are_listed_newest_first_in_pages(alice: Place, clock: Clock) -> None:
    for number in range(5):
        alice.remember(f"Note {number}.", key=f"n{number}")
        if number % 2:
            clock.advance(hours=1)

    pages = [alice.memories("passage", limit=2)]
    while pages[-1].cursor:
        pages.append(alice.memories("passage", limit=2, cursor=pages[-1].cursor))

    listed = [memory for page in pages for memory in page]
    assert [len(page) for page in pages] == [2, 2, 1]
    assert listed == sorted(listed, key=lambda m: (-m.at.timestamp(), m.id))
    assert sorted(texts(listed)) == [f"Note {number}." for number in range(5)]
    assert tuple(listed) == alice.memories("passage").items


def test_memories_are_filtered_by_kind_filter_and_scope(alice: Place) -> None:
    alice.observe("alice", "I live in Berlin.", tags=["home"])
    alice.remember("Tea is in the kitchen.", scope="user")

    assert texts(alice.memories("fact")) == ["I live in Berlin."]
    assert {m.kind.value for m in alice.memories(["fact", "passage"])} == {"fact", "passage"}
    assert texts(alice.memories(scope="user", kind="passage")) == ["Tea is in the kitchen."]
    assert texts(alice.memories("passage", where={"tags": {"contains": "home"}})) == [
        "I live in Berlin."
    ]
    assert alice.memories(where={"text": "never said"}).items == ()


@pytest.mark.parametrize(
    "wrong",
    [
        {"kind": "passages"},
        {"limit": 0},
        {"cursor": "next"},
        {"cursor": "2026-01-01"},
        {"cursor": "nonsense x"},
        {"where": {"colour": "red"}},
    ],
)
def test_invalid_listing_is_refused(alice: Place, wrong) -> None:
    with pytest.raises(InvalidInput):
        alice.memories(**wrong)


def test_listing_shows_only_what_the_viewer_may_see(alice: Place, bob: Place, room: Place) -> None:
    alice.observe("alice", "Privately: I want to resign.")
    room.observe("alice", "Good morning.")

    assert texts(bob.memories()) == []
    assert "resign" not in str(room.memories(limit=1000))
    with pytest.raises(NotFound):
        bob.memories(scope="dm:alice:scribe")


def test_hit_has_the_fields_of_its_memory(alice: Place) -> None:
    alice.remember("The server is called heron.", metadata={"stars": 5})

    hit = alice.recall("heron")[0]

    assert (hit.id, hit.text, hit.at) == (hit.memory.id, hit.memory.text, hit.memory.at)
    assert (hit.kind, hit.metadata) == ("passage", {"stars": 5})
    assert 0 < hit.score <= 1


# Corrections and versions


def only(place: Place, question: str) -> str:
    return place.recall(question, limit=1)[0].id


def test_correction_replaces_the_old_text(alice: Place, clock: Clock) -> None:
    alice.remember("The server is called heron.", tags=["ops"], metadata={"stars": 5})
    old = only(alice, "server")
    clock.advance(days=1)

    new = alice.correct(old, "The server is called kestrel.")

    assert texts(alice.recall("server heron")) == ["The server is called kestrel."]
    assert (new.tags, new.metadata["stars"], new.kind) == (("ops",), 5, "passage")
    context = alice.compose("What is the server called?")
    assert "kestrel" in context.text
    assert old not in {each.id for each in context.receipt.shown}
    with pytest.raises(NotFound):
        alice.get(old)


def test_history_shows_every_version_with_its_time(alice: Place, clock: Clock) -> None:
    start = clock.now
    alice.remember("The server is called heron.")
    first = only(alice, "server")
    second = alice.correct(first, _at(clock, "The server is called kestrel."))
    third = alice.correct(second.id, _at(clock, "The server is called osprey."))

    versions = alice.history(third.id)

    assert [version.text for version in versions] == [
        "The server is called heron.",
        "The server is called kestrel.",
        "The server is called osprey.",
    ]
    assert [(version.at - start).days for version in versions] == [0, 1, 2]
    assert [version.until for version in versions] == [*(v.at for v in versions[1:]), None]
    assert [version.current for version in versions] == [False, False, True]
    assert alice.history(first) == alice.history(second.id) == versions


def _at(clock: Clock, text: str) -> str:
    clock.advance(days=1)
    return text


def test_correction_replaces_the_facts_learned_from_the_old_text(
    alice: Place, nexus: Nexus, clock: Clock
) -> None:
    alice.observe("alice", "I live in Berlin.")
    clock.advance(days=1)

    alice.correct(only(alice, "Where do I live?"), "I live in Bonn.")

    assert texts(alice.memories("fact")) == ["I live in Bonn."]
    assert texts(alice.recent()) == ["I live in Bonn.", "I live in Berlin."]  # the log stays
    (fact,) = alice.memories("fact")
    assert [version.text for version in alice.history(fact.id)] == [
        "I live in Berlin.",
        "I live in Bonn.",
    ]
    assert nexus.workspace("acme").rebuild()["knowledge"]["changed"] == 0
    assert texts(alice.memories("fact")) == ["I live in Bonn."]


def test_correcting_a_fact_keeps_the_message(alice: Place) -> None:
    alice.observe("alice", "I live in Berlin and my sister is Mara.")
    (fact,) = alice.facts("alice", "LIVES_IN")

    alice.correct(fact.id, "I live in Bonn.")

    assert texts(alice.facts("alice", "LIVES_IN")) == ["I live in Bonn."]
    assert "I live in Berlin and my sister is Mara." in texts(alice.memories("passage"))


def test_repeated_correction_returns_the_same_memory(alice: Place) -> None:
    alice.remember("The server is called heron.")
    old = only(alice, "server")

    new = alice.correct(old, "The server is called kestrel.")

    assert alice.correct(old, "The server is called kestrel.").id == new.id
    with pytest.raises(Conflict, match=new.id):
        alice.correct(old, "The server is called osprey.")
    assert len(alice.memories("passage")) == 1


def test_interrupted_correction_is_completed_by_repeating_it(
    alice: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice.remember("The server is called heron.")
    old = only(alice, "server")

    def fail(*_args: object, **_options: object) -> None:
        raise RuntimeError("killed")

    with monkeypatch.context() as patch:
        patch.setattr("nexusmem.maintain.forget.erase_replaced", fail)
        with pytest.raises(RuntimeError):
            alice.correct(old, "The server is called kestrel.")
    alice.correct(old, "The server is called kestrel.")

    assert texts(alice.memories("passage")) == ["The server is called kestrel."]


def test_replaced_version_is_erased_with_its_event(alice: Place, nexus: Nexus) -> None:
    receipt = alice.observe("alice", "The server is called heron.")
    new = alice.correct(only(alice, "server"), "The server is called kestrel.")

    report = nexus.workspace("acme").forget(event=receipt)

    assert report.residue == 0
    assert [version.text for version in alice.history(new.id)] == ["The server is called kestrel."]


def test_history_of_a_value_shows_every_value(alice: Place, clock: Clock) -> None:
    alice.set_value("user", "color", "red")
    clock.advance(days=1)
    alice.set_value("user", "color", "blue")

    newest = alice.facts(exact=True)[0]
    red, blue = alice.history(newest.id)

    assert ("red" in red.text, red.until, red.current) == (True, blue.at, False)
    assert ("blue" in blue.text, blue.until, blue.current) == (True, None, True)


def test_history_of_a_fact_shows_when_values_ended(alice: Place, clock: Clock) -> None:
    alice.add_fact("Tyler", "WORKS_AT", "Google")
    clock.advance(days=30)
    alice.add_fact("Tyler", "WORKS_AT", "Anthropic")

    now = alice.fact_timeline("Tyler", "WORKS_AT").now
    assert now
    google, anthropic = alice.history(now.id)

    assert (google.current, anthropic.current) == (False, True)
    assert google.until == anthropic.at
    assert alice.history(google.id) == [google, anthropic]


@pytest.mark.parametrize("text", ["", "  ", None, 5])
def test_empty_correction_is_refused(alice: Place, text) -> None:
    alice.remember("The server is called heron.")

    with pytest.raises(InvalidInput):
        alice.correct(only(alice, "server"), text)

    assert texts(alice.memories("passage")) == ["The server is called heron."]


def test_values_and_documents_are_not_corrected(alice: Place) -> None:
    alice.set_value("user", "color", "red")
    alice.add_document("# Guide\n\nStart heron.")
    alice.goals.add("Ship it")
    alice.flush()

    for kind in ("fact", "passage", "goal"):
        for memory in alice.memories(kind):
            with pytest.raises(InvalidInput):
                alice.correct(memory.id, "Something else.")


# Who may change what


def test_another_viewer_cannot_correct_forget_or_read_the_history(
    alice: Place, bob: Place, room: Place
) -> None:
    receipt = alice.observe("alice", "I live in Berlin.")
    passage, fact = only(alice, "Where do I live?"), alice.memories("fact").items[0].id

    for place in (bob, room):
        for id in (passage, fact, receipt.event_id):
            with pytest.raises(NotFound):
                place.correct(id, "I live in Rome.")
            with pytest.raises(NotFound):
                place.forget(id)
            with pytest.raises(NotFound):
                place.history(id)
        with pytest.raises(NotFound):
            place.forget(receipt)

    assert "I live in Berlin." in texts(alice.memories("passage"))


def test_replaced_version_is_hidden_from_other_viewers(alice: Place, bob: Place) -> None:
    alice.remember("The server is called heron.")
    old = only(alice, "server")
    alice.correct(old, "The server is called kestrel.")

    with pytest.raises(NotFound):
        bob.history(old)
    with pytest.raises(NotFound):
        bob.correct(old, "The server is called kestrel.")


def test_a_room_may_change_only_what_its_agent_wrote(room: Place) -> None:
    room.observe("alice", "We use MySQL.")
    room.remember("The retro is on Friday.")
    said, noted = only(room, "MySQL"), only(room, "retro")

    with pytest.raises(InvalidInput, match=f"memory {said} was not written by .*; only its author"):
        room.correct(said, "We use PostgreSQL.")
    with pytest.raises(InvalidInput, match="author"):
        room.forget(said)

    room.correct(noted, "The retro is on Monday.")
    assert sorted(texts(room.memories("passage"))) == ["The retro is on Monday.", "We use MySQL."]


def test_a_user_may_change_their_own_shared_notes_and_not_those_of_others(
    alice: Place, bob: Place
) -> None:
    alice.remember("The wifi is called heron.", scope="workspace")
    shared = only(bob, "wifi")

    with pytest.raises(InvalidInput, match="author"):
        bob.correct(shared, "The wifi is called kestrel.")
    with pytest.raises(InvalidInput, match="author"):
        bob.forget(shared)
    alice.correct(shared, "The wifi is called osprey.")

    assert texts(bob.recall("wifi")) == ["The wifi is called osprey."]


def test_correction_removes_shared_copies_of_the_old_text(alice: Place, room: Place) -> None:
    alice.remember("The launch is on Monday.")
    memory = only(alice, "launch")
    alice.share(memory, to="user")
    assert "Monday" in str(room.memories())

    alice.correct(memory, "The launch is on Friday.")

    assert texts(alice.memories("passage")) == ["The launch is on Friday."]
    assert "Monday" not in str(room.memories())


# Erasure


def test_forgotten_note_is_gone_with_everything_derived(alice: Place) -> None:
    alice.remember("I live in Berlin.")

    assert alice.forget(only(alice, "Where do I live?")) is None

    assert alice.memories().items == ()
    assert alice.recent() == []


def test_forgotten_message_is_gone_with_its_facts(alice: Place, nexus: Nexus) -> None:
    receipt = alice.observe("alice", "I live in Berlin.")
    alice.observe("alice", "Tea, please.")

    alice.forget(receipt)

    assert texts(alice.recent()) == ["Tea, please."]
    assert texts(alice.memories("fact")) == []
    with pytest.raises(NotFound):
        alice.forget(receipt)


def test_forgotten_memory_leaves_its_message(alice: Place) -> None:
    alice.observe("alice", "I live in Berlin.")
    (fact,) = alice.memories("fact")

    alice.forget(fact.id)

    assert texts(alice.memories("fact")) == []
    assert texts(alice.recent()) == ["I live in Berlin."]


def test_corrections_and_erasures_are_in_the_audit_log(open_nexus: Open) -> None:
    nexus = open_nexus(settings=Settings(audit=AuditSettings(level="reads")))
    alice = nexus.workspace("acme").dm("alice", agent="scribe")
    alice.remember("The server is called heron.")
    new = alice.correct(only(alice, "server"), "The server is called kestrel.")
    alice.history(new.id)
    alice.memories()
    alice.landmarks()
    alice.forget(new.id)

    entries = nexus.workspace("acme").audit(limit=100)

    recorded = {each.action: each.entry for each in entries}
    assert {"correct", "history", "memories", "landmarks", "forget"} <= recorded.keys()
    for action in ("correct", "forget", "memories"):
        assert recorded[action].actor == "scribe"
        assert recorded[action].place == "dm:alice:scribe"


def test_new_reads_count_towards_the_quota(open_nexus: Open) -> None:
    settings = Settings(quotas=QuotaSettings(reads_per_minute=1))
    alice = open_nexus(settings=settings).user("alice")
    alice.remember("The server is called heron.")

    alice.memories()
    for read in (alice.memories, alice.landmarks, lambda: alice.history("x")):
        with pytest.raises(QuotaExceeded):
            read()


# Landmarks


def test_landmarks_are_listed_by_kind_owner_due_date_and_status(alice: Place, clock: Clock) -> None:
    alice.observe("alice", "We decided to use MySQL for the ledger.")
    clock.advance(hours=1)
    alice.observe("alice", "I will send the report by Friday.")
    clock.advance(days=1)
    alice.observe("alice", "We decided to use PostgreSQL instead of MySQL for the ledger.")

    decisions = alice.landmarks("decision")
    assert ["PostgreSQL" in each.text for each in decisions] == [True, False]
    (task,) = alice.landmarks(due_before=clock.now + timedelta(days=10))
    assert "report" in task.text
    assert task in alice.landmarks(owner="ALICE")
    assert alice.landmarks(due_before=clock.now) == alice.landmarks(owner="bob") == []
    assert decisions[0] in alice.landmarks(open=True)
    assert alice.landmarks("decision", open=False) == [decisions[1]]
    assert len(alice.landmarks(limit=1)) == 1


def test_unknown_landmark_kind_is_refused(alice: Place) -> None:
    with pytest.raises(InvalidInput, match=r"landmark kind must be one of decision, .*'bogus'"):
        alice.landmarks("bogus")


def test_constructor_names_the_call_that_opens_a_file() -> None:
    with pytest.raises(InvalidInput, match=r"Nexus\.open\('memory\.db'\)"):
        Nexus("memory.db")  # type: ignore[arg-type]


def test_landmarks_of_other_places_are_not_listed(alice: Place, bob: Place, room: Place) -> None:
    alice.observe("alice", "We decided to use MySQL for the ledger.")

    assert alice.landmarks()
    assert bob.landmarks() == room.landmarks() == []


# Asynchronous


async def test_async_place_has_the_same_calls(clock: Clock) -> None:
    options = {"embedder": HashingEmbedder(), "clock": clock, "background": False}
    async with await AsyncNexus.open(":memory:", settings=Settings(), **options) as nexus:
        alice = nexus.user("alice", session="mon")
        await alice.remember("The server is called heron.")
        (memory,) = await alice.memories("passage")
        new = await alice.correct(memory.id, "The server is called kestrel.")
        assert len(await alice.history(new.id)) == 2
        assert await alice.landmarks() == []
        await alice.forget(new.id)
        assert (await alice.memories("passage")).items == ()
        assert await alice.goals.list() == []
        assert await alice.notebook.in_scope("user").list() == []
