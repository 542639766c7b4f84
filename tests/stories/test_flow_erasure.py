"""Erasing and correcting what flows copied: who may do it, and how far it reaches."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

import pytest
from tests.conftest import Clock, Open

from nexusmem import Forgotten, InvalidInput, Memory, Nexus, NotFound, Place, Workspace
from nexusmem.config.settings import Settings, SharingSettings
from nexusmem.core.records import Draft, Fact, MemoryKind
from nexusmem.core.scope import Scope

FERRY = "The new ferry has 40 seats."
FINNISH = "I am learning Finnish."
HOME = "I live in Porto."


@pytest.fixture
def acme(nexus: Nexus) -> Workspace:
    return nexus.workspace("acme")


@pytest.fixture
def rooms(open_nexus: Open) -> Workspace:
    """A workspace whose rooms are known to their participants in private."""
    return open_nexus(settings=Settings(sharing=SharingSettings(rooms=True))).workspace("acme")


def harbour(workspace: Workspace) -> Place:
    people = ["alice", "bob"]
    return workspace.room("harbour", agent="scribe", participants=people, project="apollo")


def stored(workspace: Workspace) -> list[Memory]:
    return workspace._parts.store.memories.find(workspace.admin_grant)


def texts(place: Place, kind: str | None = None) -> list[str]:
    return sorted(memory.text for memory in place.memories(kind))


def passage(place: Place, text: str) -> Memory:
    return next(each for each in place.memories("passage") if each.text == text)


# -- erasing a user


@pytest.mark.requirement("X6")
def test_erasing_a_user_erases_what_others_said_from_their_profile(rooms: Workspace) -> None:
    harbour(rooms).observe("alice", FERRY)
    bob, alice = rooms.dm("bob", agent="scribe"), rooms.dm("alice", agent="scribe")
    assert bob.recall("ferry")
    assert alice.recall("ferry")

    report = rooms.forget(user="bob")

    assert report.residue == 0
    assert not [each for each in stored(rooms) if each.scope.owner == "bob"]
    assert not [each for each in rooms.audit() if each.entry and "bob" in each.entry.people]
    assert [hit.text for hit in alice.recall("ferry")] == [FERRY]
    assert [hit.text for hit in harbour(rooms).recall("ferry")] == [FERRY]


@pytest.mark.requirement("X6")
@pytest.mark.parametrize("again", ["apply_flows", "rebuild", "flush"])
def test_profile_of_an_erased_user_stays_empty(rooms: Workspace, again: str) -> None:
    harbour(rooms).observe("alice", FERRY)
    rooms.flush()
    rooms.forget(user="bob")

    getattr(rooms, again)()

    assert not [each for each in stored(rooms) if each.scope.owner == "bob"]


@pytest.mark.requirement("X6")
def test_pending_message_gives_no_copy_to_an_erased_user(rooms: Workspace) -> None:
    harbour(rooms).observe("alice", FERRY)  # not learned yet

    rooms.forget(user="bob")
    rooms.flush()

    assert not [each for each in stored(rooms) if each.scope.owner == "bob"]
    assert rooms.dm("alice", agent="scribe").recall("ferry")


def test_erased_user_may_come_back(rooms: Workspace, clock: Clock) -> None:
    harbour(rooms).observe("alice", FERRY)
    rooms.flush()
    rooms.forget(user="bob")
    clock.now += timedelta(days=1)

    harbour(rooms).observe("alice", "The old ferry has 12 seats.")

    hits = rooms.dm("bob", agent="scribe").recall("ferry")
    assert [hit.text for hit in hits] == ["The old ferry has 12 seats."]


@pytest.mark.requirement("X6")
def test_erasing_a_user_keeps_the_profiles_of_others(rooms: Workspace) -> None:
    harbour(rooms).observe("alice", FERRY)
    rooms.flush()
    before = {each.id for each in stored(rooms) if each.scope != Scope.private("bob")}

    rooms.forget(user="bob")

    assert {each.id for each in stored(rooms)} == before


# -- readers of a copy


def test_reader_erases_only_their_own_copy(rooms: Workspace) -> None:
    harbour(rooms).observe("alice", FERRY)
    bob, alice = rooms.dm("bob", agent="scribe"), rooms.dm("alice", agent="scribe")
    other = rooms.room("pier", agent="scribe", participants=["carol"], project="apollo")
    others = {each.id for each in stored(rooms) if each.scope != Scope.private("bob")}

    bob.forget(passage(bob, FERRY).id)

    assert FERRY not in texts(bob)
    for place in (alice, other, harbour(rooms)):
        assert [hit.text for hit in place.recall("ferry cars")] == [FERRY]
    assert others <= {each.id for each in stored(rooms)}


@pytest.mark.parametrize("again", ["apply_flows", "rebuild", "flush"])
def test_erased_copy_does_not_come_back(rooms: Workspace, again: str) -> None:
    harbour(rooms).observe("alice", FERRY)
    bob = rooms.dm("bob", agent="scribe")
    bob.forget(passage(bob, FERRY).id)

    getattr(rooms, again)()

    assert not [text for text in texts(bob) if "ferry" in text]
    assert rooms.dm("alice", agent="scribe").recall("ferry")


def test_reader_who_erases_a_fact_keeps_the_message(rooms: Workspace) -> None:
    harbour(rooms).observe("alice", FERRY)
    bob, alice = rooms.dm("bob", agent="scribe"), rooms.dm("alice", agent="scribe")
    (fact,) = bob.memories("fact")

    bob.forget(fact.id)

    assert texts(bob, "fact") == []
    assert texts(bob, "passage") == [FERRY]
    assert texts(alice, "fact") == [fact.text]


@pytest.mark.parametrize("kind", ["passage", "fact"])
def test_reader_cannot_correct_a_copy(rooms: Workspace, kind: str) -> None:
    harbour(rooms).observe("alice", FERRY)
    bob = rooms.dm("bob", agent="scribe")
    rooms.flush()
    before = {each.id for each in stored(rooms)}

    with pytest.raises(InvalidInput, match="only alice may correct it"):
        bob.correct(bob.memories(kind).items[0].id, "The new ferry has 2 seats.")

    assert {each.id for each in stored(rooms)} == before


def test_author_in_private_erases_all_copies_and_corrects_in_the_room(rooms: Workspace) -> None:
    harbour(rooms).observe("alice", FERRY)
    bob, alice = rooms.dm("bob", agent="scribe"), rooms.dm("alice", agent="scribe")
    copy = passage(alice, FERRY)

    with pytest.raises(InvalidInput, match="what you said in a room") as refused:
        alice.correct(copy.id, "The new ferry has 41 seats.")
    assert "harbour" not in str(refused.value)
    alice.forget(copy.id)

    assert not alice.recall("ferry")
    assert not bob.recall("ferry")
    assert [hit.text for hit in harbour(rooms).recall("ferry")] == [FERRY]


# -- one fact of a message


def test_erasing_one_fact_keeps_the_other_copies(acme: Workspace) -> None:
    coder, chef = acme.dm("alice", agent="coder"), acme.dm("alice", agent="chef")
    coder.observe("alice", "I live in Lisbon. I work at Acme.")
    (work,) = [fact for fact in coder.memories("fact") if "Acme" in fact.text]
    assert len(chef.memories("fact")) == 2

    coder.forget(work.id)

    assert ["Lisbon" in text for text in texts(coder, "fact")] == [True]
    assert ["Lisbon" in text for text in texts(chef, "fact")] == [True]
    assert texts(coder, "passage") == ["I live in Lisbon. I work at Acme."]
    assert texts(chef, "passage") == []  # the copied passage states the fact
    acme.rebuild("knowledge")
    assert not [text for text in texts(chef) if "Acme" in text]


def test_erasing_a_fact_keeps_a_copied_passage_without_it(acme: Workspace) -> None:
    coder, chef = acme.dm("alice", agent="coder"), acme.dm("alice", agent="chef")
    said = "I live in Lisbon. The parser uses Lark. The lexer is slow. The build runs at night."
    coder.observe("alice", said)
    assert texts(chef, "passage") == ["I live in Lisbon."]
    parser = [fact for fact in coder.memories("fact") if "Lark" in fact.text]

    coder.forget(parser[0].id)

    assert texts(chef, "passage") == ["I live in Lisbon."]
    assert ["Lisbon" in text for text in texts(chef, "fact")] == [True]


# -- a passage with what was learned from it


def test_erasing_a_passage_erases_what_was_learned_from_its_message(acme: Workspace) -> None:
    monday = acme.session("monday", user="ola", agent="scribe")
    friday = acme.session("friday", user="ola", agent="scribe")
    chef = acme.dm("ola", agent="chef")
    monday.observe("ola", FINNISH)
    assert "Finnish" in friday.compose("What am I learning?").text

    friday.forget(friday.recall("Finnish")[0].id)

    for place in (friday, chef):
        assert "Finnish" not in place.compose("What am I learning?").text
        assert place.memories().items == ()
    assert [event.text for event in monday.recent()] == [FINNISH]
    acme.rebuild("knowledge")
    acme.apply_flows()
    assert stored(acme) == []


def test_erasing_a_passage_keeps_what_other_messages_say(acme: Workspace) -> None:
    dm = acme.dm("ola", agent="scribe")
    dm.observe("ola", "My colleague Mara Lind lives in Oslo.")
    dm.observe("ola", "Mara Lind works at Acme.")
    acme.flush()
    facts = [text for text in texts(dm, "fact") if "Acme" in text]
    assert facts

    dm.forget(passage(dm, "My colleague Mara Lind lives in Oslo.").id)

    assert not [text for text in texts(dm) if "Oslo" in text]
    assert [text for text in texts(dm, "fact") if "Acme" in text] == facts
    assert dm.entity("Mara Lind").name == "Mara Lind"  # the other message names her, too


def test_erasing_one_passage_of_a_long_message_keeps_the_facts_of_the_others(
    acme: Workspace,
) -> None:
    dm = acme.dm("ola", agent="scribe")
    filler = "\n\n".join(f"Pier {number} was long and quiet." for number in range(50))
    receipt = dm.observe("ola", f"I live in Bergen.\n\n{filler}\n\nI work at Acme.")
    acme.flush()
    learned = [  # as a model would: the rules read no facts in long messages
        Draft(
            scope=receipt.scope,
            kind=MemoryKind.FACT,
            text=f"Ola {predicate.lower()} {object}.",
            sources=(receipt.event_id,),
            slot=object,
            learned=True,
            body=asdict(Fact(subject="ola", predicate=predicate, object=object)),
        )
        for predicate, object in (("LIVES_IN", "Bergen"), ("WORKS_AT", "Acme"))
    ]
    acme._parts.store.memories.put(acme.id, learned)
    first = min(dm.memories("passage"), key=lambda each: each.slot)
    assert "Bergen" in first.text

    dm.forget(first.id)

    assert [fact.fact.object for fact in dm.facts("ola")] == ["Acme"]


def test_episode_of_an_erased_passage_is_not_written_again(acme: Workspace, clock: Clock) -> None:
    dm = acme.dm("ola", agent="scribe")
    for text in (FINNISH, "The boathouse is green.", "The ferry leaves at noon."):
        dm.observe("ola", text)
        clock.now += timedelta(minutes=1)
    acme.flush()
    clock.now += timedelta(days=2)
    acme.run_job("episodes")
    assert [each for each in dm.memories("episode") if "Finnish" in each.text]

    dm.forget(passage(dm, FINNISH).id)
    acme.run_job("episodes")

    assert not [each for each in dm.memories("episode") if "Finnish" in each.text]


# -- withdrawing a share


@pytest.mark.parametrize("where", ["room", "project"])
def test_user_withdraws_what_they_shared(acme: Workspace, where: str) -> None:
    dm = acme.dm("alice", agent="scribe", project="apollo")
    dm.observe("alice", FINNISH)
    shared = passage(dm, FINNISH)
    room = harbour(acme)
    receipt = dm.share(shared.id, to=room if where == "room" else "project")
    room.share(room.recall("Finnish")[0].id, to="workspace")  # from there to the next scope
    pier = acme.room("pier", participants=["carol"])
    assert room.recall("Finnish")
    assert pier.recall("Finnish")

    dm.forget(receipt)

    assert not room.recall("Finnish")
    assert not pier.recall("Finnish")
    assert [hit.text for hit in dm.recall("Finnish")] == [FINNISH]
    with pytest.raises(Forgotten):
        dm.share(shared.id, to=room if where == "room" else "project")


def test_user_withdraws_a_share_from_another_private_place(acme: Workspace) -> None:
    monday = acme.session("monday", user="alice", agent="scribe")
    friday = acme.session("friday", user="alice", agent="scribe")
    monday.observe("alice", FINNISH)
    receipt = friday.share(friday.recall("Finnish")[0].id, to=harbour(acme))

    friday.forget(receipt)

    assert not harbour(acme).recall("Finnish")


def test_only_the_sharer_withdraws(acme: Workspace) -> None:
    dm, bob = acme.dm("alice", agent="scribe"), acme.dm("bob", agent="scribe")
    dm.observe("alice", FINNISH)
    room = harbour(acme)
    receipt = dm.share(passage(dm, FINNISH).id, to=room)

    with pytest.raises(NotFound, match=f"no memory '{receipt.event_id}' here"):
        bob.forget(receipt)
    with pytest.raises(InvalidInput):
        room.forget(receipt)

    assert room.recall("Finnish")


def test_place_withdraws_only_its_own_share(acme: Workspace) -> None:
    room = harbour(acme)
    room.remember(FERRY)
    pier = acme.room("pier", agent="scribe", participants=["carol"])
    kitchen = acme.room("kitchen", agent="scribe")
    receipt = room.share(passage(room, FERRY).id, to=pier)

    with pytest.raises(NotFound):
        kitchen.forget(receipt)
    assert pier.recall("ferry")

    room.forget(receipt)
    assert not pier.recall("ferry")


# -- correcting


def test_correction_in_a_shared_room_needs_no_metadata_of_the_room(rooms: Workspace) -> None:
    room = rooms.room("harbour", agent="scribe", participants=["alice", "bob"], project="apollo")
    room.observe("scribe", FERRY, role="user", metadata={"stars": 5})
    old = passage(room, FERRY)

    new = room.correct(old.id, "The new ferry has 41 seats.")

    assert new.metadata["stars"] == 5
    for person in ("alice", "bob"):
        hits = rooms.dm(person, agent="scribe").recall("ferry")
        assert [hit.text for hit in hits] == [new.text]  # it has the readers of the old message


def test_correction_of_a_confidential_message_is_confidential(acme: Workspace) -> None:
    coder, chef = acme.dm("alice", agent="coder"), acme.dm("alice", agent="chef")
    coder.observe("alice", HOME, confidential=True)

    new = coder.correct(passage(coder, HOME).id, "I live in Faro.")

    assert new.metadata["confidential"] is True
    assert chef.memories().items == ()


@pytest.mark.parametrize("kind", ["passage", "fact"])
def test_correcting_a_copy_corrects_the_original(acme: Workspace, clock: Clock, kind: str) -> None:
    coder, chef = acme.dm("alice", agent="coder"), acme.dm("alice", agent="chef")
    coder.observe("alice", HOME, thread="errands")
    (copy,) = chef.memories(kind)
    clock.now += timedelta(days=1)

    new = chef.correct(copy.id, "I live in Faro.")

    assert (new.text, new.thread, chef.get(new.id)) == ("I live in Faro.", None, new)
    for place in (coder, chef):
        assert [fact.fact.object for fact in place.facts("alice", "LIVES_IN")] == ["Faro"]
    assert texts(chef, "passage") == ["I live in Faro."]
    kept = [] if kind == "passage" else [HOME]  # the message of a fact stays where it was said
    assert texts(coder, "passage") == ["I live in Faro.", *kept]
    acme.rebuild("knowledge")
    assert HOME not in texts(chef)
    assert chef.correct(copy.id, "I live in Faro.") == new
    assert [version.text for version in chef.history(new.id)] == ["I live in Faro."]


def test_erasing_a_copy_in_private_erases_the_original(acme: Workspace) -> None:
    coder, chef = acme.dm("alice", agent="coder"), acme.dm("alice", agent="chef")
    coder.observe("alice", HOME)

    chef.forget(passage(chef, HOME).id)

    assert stored(acme) == []
    assert [event.text for event in coder.recent()] == [HOME]


def test_part_of_a_message_is_corrected_where_it_was_said(acme: Workspace) -> None:
    coder, chef = acme.dm("alice", agent="coder"), acme.dm("alice", agent="chef")
    coder.observe(
        "alice", "I live in Lisbon. The parser uses Lark. The lexer is slow. The build is red."
    )
    copy = passage(chef, "I live in Lisbon.")
    before = {each.id for each in stored(acme)}

    with pytest.raises(InvalidInput, match="where you said it") as refused:
        chef.correct(copy.id, "I live in Faro.")

    assert "coder" not in str(refused.value)
    assert {each.id for each in stored(acme)} == before
