"""Profiles of people."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from nexusmem.core.access import Grant
from nexusmem.core.filters import Condition, Op
from nexusmem.core.records import Draft, EventKind, Memory, MemoryKind
from nexusmem.core.scope import Scope
from nexusmem.recall.views.profile import Profile, ProfileEntry, get_profile, get_profiles
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import (
    ACME,
    ADMIN,
    ALICE,
    ALICE_DM,
    ALICE_PROFILE,
    BOB,
    IN_ROOM,
    ROOM,
    make_event,
)

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)


class People:
    """A store with messages, facts and landmarks, one hour apart."""

    def __init__(self) -> None:
        self.store = ReferenceStore()
        self.now = MONDAY
        self.told = 0

    def say(self, text: str, scope: Scope = ROOM, **more: Any) -> str:
        self.now += timedelta(hours=1)
        self.told += 1
        told = make_event(f"{self.told}", text, scope=scope, at=self.now, **more)
        return self.store.ledger.append(ACME, [told], recorded_at=self.now)[0].event_id

    def fact(self, subject: str, predicate: str, said: str, **more: Any) -> Memory:
        """Store a derived fact; `body` has its other fields."""
        body = {"subject": subject, "predicate": predicate, "value": said, **more.pop("body", {})}
        return self.keep(MemoryKind.FACT, f"{subject} {predicate} {said}", body, **more)

    def keep(
        self, kind: MemoryKind, text: str, body: dict[str, Any], scope: Scope = ROOM, **more: Any
    ) -> Memory:
        source = more.pop("rests_on", None) or self.say(text, scope, kind=EventKind.FACT)
        draft = Draft(
            scope=scope,
            kind=kind,
            text=text,
            sources=(source,),
            body=body,
            **{"learned": True, **more},
        )
        return self.store.memories.put(ACME, [draft])[0]

    def profile(self, person: str = "alice", grant: Grant = ADMIN) -> Profile:
        return get_profile(self.store, grant, person, now=self.now)


def texts(entries: tuple[ProfileEntry, ...]) -> list[str]:
    return [entry.text for entry in entries]


@pytest.fixture
def people() -> People:
    return People()


@pytest.mark.requirement("E30")
def test_profile_has_all_sections(people: People) -> None:
    people.fact("Alice", "LIKES", "pottery", confidence=0.95)
    people.fact("alice", "SPEAKS", "Italian")
    people.fact("alice", "LIVES_IN", "Oslo")
    people.fact("alice", "READ", "a book")
    behaviour = {"category": "behavioural", "stated": False}
    people.fact("alice", "TYPICALLY_CONTACTS_AT", "09:00-11:00 UTC", body=behaviour)
    people.fact("Bob", "LIKES", "chess")

    found = people.profile()
    assert texts(found.preferences) == ["Alice LIKES pottery"]
    assert texts(found.expertise) == ["alice SPEAKS Italian"]
    assert texts(found.about) == ["alice LIVES_IN Oslo"]
    assert texts(found.patterns) == ["alice TYPICALLY_CONTACTS_AT 09:00-11:00 UTC"]
    (likes,) = found.preferences
    assert likes.confidence == 0.95
    assert people.store.ledger.get(ADMIN, likes.sources)[0].text == "Alice LIKES pottery"
    assert not found.is_empty


@pytest.mark.requirement("E30")
def test_profile_has_current_facts(people: People) -> None:
    people.fact("alice", "LIVES_IN", "Oslo")
    people.fact("alice", "LIVES_IN", "Rome")
    people.fact("alice", "LIKES", "coffee")
    people.fact("alice", "LIKES", "tea")
    people.fact("alice", "DISLIKES", "coffee")

    found = people.profile()
    assert texts(found.about) == ["alice LIVES_IN Rome"]
    assert texts(found.preferences) == ["alice DISLIKES coffee", "alice LIKES tea"]


def test_repeated_fact_is_one_entry_since_the_first(people: People) -> None:
    first = people.fact("alice", "LIVES_IN", "Oslo")
    people.fact("Alice", "LIVES_IN", "oslo")

    (entry,) = people.profile().about
    assert entry.since == first.at


def test_current_denial_is_an_entry(people: People) -> None:
    people.fact("alice", "LIKES", "meat", body={"negated": True})

    assert texts(people.profile().preferences) == ["alice LIKES meat"]
    assert people.profile().preferences[0].memory.fact.negated


def test_explicit_facts_of_any_predicate_are_entries(people: People) -> None:
    people.fact("alice", "GUARDS", "the lighthouse", learned=False)
    exact = {"exact": True}
    people.fact("user:alice", "favourite_editor", "vim", body=exact, learned=False)

    found = people.profile()
    assert texts(found.about) == ["alice GUARDS the lighthouse"]
    assert texts(found.preferences) == ["user:alice favourite_editor vim"]


def test_profile_resolves_aliases(people: People) -> None:
    body = {"name": "Alice", "aliases": ["Ally"], "type": "person"}
    people.keep(MemoryKind.ENTITY, "Alice is also called Ally.", body)
    people.fact("Ally", "LIKES", "pottery")

    found = people.profile("alice")
    assert (found.person, found.aliases) == ("Alice", ("Ally",))
    assert texts(found.preferences) == ["Ally LIKES pottery"]


def preference(people: People, text: str, **more: Any) -> Memory:
    body = {"kind": "preference_stated", "owner": "Alice", **more.pop("body", {})}
    return people.keep(MemoryKind.LANDMARK, text, body, **more)


@pytest.mark.requirement("E30")
def test_ended_preference_is_no_entry(people: People) -> None:
    for color in ("blue", "green"):
        said = people.say(f"My favourite color is {color}.")
        people.fact("Alice", "PREFERS", color, body={"aspect": "color"}, rests_on=said)
        preference(people, f"Alice's favourite color is {color}.", rests_on=said)

    assert texts(people.profile().preferences) == ["Alice PREFERS green"]


@pytest.mark.requirement("E30")
def test_communication_preferences_are_part_of_style(people: People) -> None:
    preference(people, "Alice prefers short answers without small talk.")
    preference(people, "Alice loves the sea.")
    preference(people, "Bob prefers long answers.", body={"owner": "Bob"})
    preference(people, "Alice will call.", body={"kind": "commitment"})

    found = people.profile()
    assert texts(found.style.stated) == ["Alice prefers short answers without small talk."]
    assert set(texts(found.preferences)) == {
        "Alice loves the sea.",
        "Alice prefers short answers without small talk.",
    }


def test_preference_fact_and_landmark_are_one_entry(people: People) -> None:
    fact = people.fact("Alice", "LIKES", "pottery")
    preference(people, "Alice likes pottery.", rests_on=fact.sources[0])

    assert texts(people.profile().preferences) == ["Alice LIKES pottery"]


@pytest.mark.requirement("E30")
def test_given_landmarks_give_the_same_preferences(people: People) -> None:
    preference(people, "Alice prefers tea.")
    preference(people, "Bob prefers rum.", body={"owner": "Bob"})
    preference(people, "Alice prefers tea.")
    preference(people, "Nobody in particular prefers rain.", body={"owner": None})
    preference(people, "Alice decided to walk.", body={"kind": "decision"})
    people.fact("Alice", "LIKES", "cake")

    for grant in (ADMIN, IN_ROOM.grant(), ALICE.grant()):
        kind = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
        read = people.store.memories.find(grant, where=kind)
        found = get_profiles(people.store, grant, ["Alice", "Bob"], now=people.now, landmarks=read)
        assert found == get_profiles(people.store, grant, ["Alice", "Bob"], now=people.now)


@pytest.mark.requirement("E30")
def test_repeated_preference_is_known_at_an_earlier_time(people: People) -> None:
    preference(people, "Alice prefers tea.")
    then = people.now
    preference(people, "Alice prefers tea.")

    for now in (then, people.now):
        (found,) = get_profiles(people.store, ADMIN, ["alice"], now=now)
        assert [entry.memory.at for entry in found.preferences] == [now]


@pytest.mark.requirement("E30")
def test_style_is_measured_on_own_messages(people: People) -> None:
    for _ in range(4):
        people.say("hey, could you look at this? 😀")
        people.say("I think " + "very " * 90 + "much of it.", speaker="bob")
        people.say("yeah, thanks!!", speaker="Alice")
    people.say("An answer.", role="assistant", speaker="alice")

    style = people.profile().style
    assert style.messages == 8
    assert style.words < 10
    assert style.questions == style.emoji == 0.5
    assert style.polite == style.informal == 1.0
    assert style.traits == (
        "writes short messages",
        "asks often",
        "uses emoji",
        "is polite",
        "writes informally",
    )
    assert people.profile("bob").style.messages == 4
    assert people.profile("bob").style.traits == ()


def test_style_ignores_case_and_reads_emoticons(people: People) -> None:
    for _ in range(4):
        people.say("LOL, that is late. Please hurry.")
        people.say("Fine by me :D")

    style = people.profile().style
    assert style.polite == style.emoji == 0.5
    assert style.informal == 1.0


def test_few_messages_have_no_style(people: People) -> None:
    for _ in range(4):
        people.say("ok?")

    assert people.profile().style.messages == 4
    assert people.profile().style.traits == ()


@pytest.mark.requirement("E30", "X1")
def test_profile_stays_inside_the_grant(people: People) -> None:
    people.fact("alice", "LIKES", "chess", scope=ALICE_PROFILE)
    people.fact("alice", "LIKES", "jazz", scope=ALICE_DM)
    preference(people, "Alice prefers short answers.", scope=ALICE_DM)
    for _ in range(6):
        people.say("A private word, please.", scope=ALICE_DM)

    inside = people.profile(grant=ALICE.grant())
    room = people.profile(grant=IN_ROOM.grant())
    bob = people.profile(grant=BOB.grant())
    assert len(inside.preferences) == 3
    assert texts(room.preferences) == ["alice LIKES chess"]
    assert room.style.messages == 0
    assert room.style.stated == ()
    assert bob.is_empty


def test_unknown_person_has_an_empty_profile(people: People) -> None:
    found = people.profile("nobody")
    assert found.is_empty
    assert found.person == "nobody"


def test_sections_have_the_newest_entries(people: People) -> None:
    for number in range(30):
        people.fact("alice", "LIKES", f"song {number}")

    found = people.profile()
    assert len(found.preferences) == 20
    assert found.preferences[0].text == "alice LIKES song 29"


def test_include_stated_false_changes_only_style() -> None:
    people = People()
    people.fact("alice", "PREFERS", "short answers")
    people.fact("alice", "LIKES", "tea")

    whole = people.profile()
    (rest,) = get_profiles(people.store, ADMIN, ["alice"], now=people.now, include_stated=False)

    assert texts(whole.style.stated) == ["alice PREFERS short answers"]
    assert rest == replace(whole, style=replace(whole.style, stated=()))


def test_shared_home_is_in_the_profile_of_the_speaker(people: People) -> None:
    home = people.fact("we", "LIVES_IN", "Ghent", speaker="alice", role="user")
    people.fact("we", "USES", "PostgreSQL", speaker="alice", role="user")

    assert [entry.memory.id for entry in people.profile("alice").about] == [home.id]
    assert people.profile("alice").expertise == ()
    assert people.profile("bob").about == ()


def test_profile_joins_first_and_full_name(people: People) -> None:
    people.fact("Sarah Eklund", "WORKS_AT", "Velmora")
    people.fact("Sarah", "LIVES_IN", "Malmö")

    for name in ("Sarah", "Sarah Eklund"):
        assert [entry.memory.fact.value for entry in people.profile(name).about] == [
            "Malmö",
            "Velmora",
        ]
