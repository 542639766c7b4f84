"""Place.share: readers, idempotency, audit, and erasure of copies."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from threading import Barrier, Thread

import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team, make_team

from nexusmem import Conflict, Forgotten, InvalidInput, Memory, NotFound, Place
from nexusmem.core.records import EventKind, MemoryKind, Trust
from nexusmem.core.records.links import share_key

SECRET = "I am allergic to peanuts."


def told(place: Place, text: str = SECRET, *, speaker: str = "alice", **more: object) -> Memory:
    """Record a message and return its passage."""
    receipt = place.observe(speaker, text, **more)
    place.flush()
    found = place.recall(text, limit=20)
    return next(hit.memory for hit in found if receipt.event_id in hit.memory.sources)


def texts(place: Place) -> list[str]:
    return [hit.text for hit in place.recall("peanuts")]


@pytest.mark.requirement("X1", "E3")
def test_shared_memory_is_readable_in_target(team: Team) -> None:
    memory = told(team.alices)
    assert SECRET not in texts(team.room)

    receipt = team.alices.share(memory.id, to=team.room)
    team.room.flush()

    (copy,) = [hit.memory for hit in team.room.recall("peanuts") if hit.text == SECRET]
    assert (copy.text, copy.speaker, copy.sources) == (SECRET, "alice", (receipt.event_id,))
    assert copy.label == {team.room.viewer.home}
    assert SECRET not in texts(team.bobs)


def test_copy_reveals_only_text_and_sharer(team: Team) -> None:
    memory = told(team.alices, key="where-it-was-said", thread="a private thread")
    team.alices.share(memory.id, to=team.room)
    team.workspace.flush()

    out = StringIO()
    team.workspace.export(out, grant=team.room.grant, vectors=True)
    seen = out.getvalue() + repr(team.room.recent()) + repr(team.room.recall("peanuts"))

    hidden = [memory.id, *memory.sources, "where-it-was-said", "a private thread", "dm:"]
    assert [each for each in hidden if each in seen] == []
    assert EventKind.SHARE not in {event.kind for event in team.room.recent()}


def test_repeated_share_is_idempotent(team: Team) -> None:
    memory = told(team.alices)
    first = team.alices.share(memory.id, to="project", key="k")
    again = team.alices.share(memory.id, to="project")
    elsewhere = team.alices.share(memory.id, to="user")

    assert (again.event_id, again.key, again.duplicate) == (first.event_id, "k", True)
    assert elsewhere.event_id != first.event_id
    assert not elsewhere.duplicate
    assert texts(team.bobs) == [SECRET]


def test_concurrent_shares_make_one_copy(team: Team) -> None:
    memory = told(team.alices)
    start, receipts = Barrier(4), []

    def share() -> None:
        start.wait()
        receipts.append(team.alices.share(memory.id, to="project"))

    threads = [Thread(target=share) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]

    assert len(receipts) == 4
    assert len({receipt.event_id for receipt in receipts}) == 1
    assert texts(team.bobs) == [SECRET]


def test_shared_fact_is_a_fact_in_target(team: Team) -> None:
    """Ruling 4: facts learned in a DM stay there until they are shared."""
    told(team.alices)
    (fact,) = team.alices.facts("alice", "ALLERGIC_TO")
    assert not team.room.facts("alice", "ALLERGIC_TO")

    team.alices.share(fact.id, to="user")

    (shown,) = team.room.facts("alice", "ALLERGIC_TO")
    assert (shown.text, shown.fact) == (fact.text, fact.fact)
    assert [entry.text for entry in team.room.profile("alice").about] == [fact.text]


def test_shared_decision_is_a_landmark_in_target(team: Team) -> None:
    team.room.observe("bob", "We decided to use Redis for the cache.")
    team.room.flush()
    (decision,) = [hit.memory for hit in team.room.recall("Redis", kind=["landmark"])]
    team.room.share(decision.id, to="project")

    assert decision.text in team.alices.compose("what is there to do?").text


def test_no_facts_are_extracted_from_shared_copy(team: Team) -> None:
    memory = told(team.room, "I love peanuts.", speaker="bob")
    team.workspace.dm("alice", agent="scribe", project="apollo")
    here = team.workspace.room("lab", agent="scribe", participants=["alice", "bob"])
    receipt = team.room.share(memory.id, to=here)
    here.flush()

    assert "I love peanuts." in texts(here)
    assert here.facts("scribe") == [] == here.facts("alice")
    assert receipt.scope == here.viewer.home


def test_share_does_not_raise_trust(team: Team) -> None:
    receipt = team.alices.add_document("The report says that peanuts are cheap.")
    team.alices.flush()
    (memory,) = [
        m for m in team.alices.recall("peanuts report") if m.memory.sources == (receipt.event_id,)
    ]
    team.alices.share(memory.memory.id, to="project")

    (copy,) = [hit.memory for hit in team.bobs.recall("peanuts") if hit.memory.speaker == "alice"]
    assert copy.trust is Trust.EXTERNAL


def test_share_requires_reading_and_membership(team: Team) -> None:
    memory = told(team.alices)
    theirs = told(team.bobs, "Between us, I hate peanuts.", speaker="bob")
    elsewhere = team.workspace.room("board", agent="scribe", participants=["bob"])

    for id, to in [(theirs.id, "project"), (memory.id, "room:design"), (memory.id, elsewhere)]:
        with pytest.raises(NotFound):
            team.alices.share(id, to=to)
    with pytest.raises(InvalidInput, match="already"):
        team.alices.share(memory.id, to="dm:alice:scribe")
    team.alices.remember("something else", scope="project", key="taken")
    with pytest.raises(Conflict):
        team.alices.share(memory.id, to="project", key="taken")
    assert SECRET not in texts(team.bobs)


def test_share_is_audited(team: Team) -> None:
    memory = told(team.alices)
    receipt = team.alices.share(memory.id, to=team.room)
    team.alices.share(memory.id, to=team.room)

    trail = team.workspace._parts.store.audit
    (found,) = trail.find(team.workspace.admin_grant, action="share", limit=9)

    assert (found.entry.place, found.entry.detail["to"]) == ("dm:alice:scribe", "room:design")
    assert found.entry.detail["memory"] == memory.id
    assert found.entry.detail["event"] == receipt.event_id
    assert found.entry.detail["readable_in"] == ["dm:alice:scribe"]


def test_share_audit_names_the_speaker(team: Team) -> None:
    memory = told(team.room, "I love peanuts.", speaker="carol")
    team.room.share(memory.id, to="project")

    trail = team.workspace._parts.store.audit
    (found,) = trail.find(team.workspace.admin_grant, action="share", limit=9)

    assert found.entry.people == ("alice", "bob", "carol")


FORGET = {
    "its source": lambda team, event: team.workspace.forget(event=event),
    "the memory": lambda team, event: team.workspace.forget(
        memory=next(
            hit.memory.id
            for hit in team.alices.recall("peanuts", scope="dm")  # without a copy
            if event in hit.memory.sources
        )
    ),
    "who shared it": lambda team, event: team.workspace.forget(user="alice"),
}


@pytest.mark.parametrize("what", FORGET)
def test_copy_is_erased_with_its_source(
    what: str, open_nexus: Open, clock: Clock, tmp_path: Path
) -> None:
    team = make_team(open_nexus(tmp_path / "memory.db"), clock)
    memory = told(team.alices)
    team.alices.share(memory.id, to=team.room)
    (copy,) = [hit.memory for hit in team.room.recall("peanuts") if hit.text == SECRET]
    team.room.share(copy.id, to="project")  # and from there to the next place
    team.room.compose("who is allergic to peanuts?")
    assert SECRET in texts(team.bobs)

    report = FORGET[what](team, memory.sources[0])

    assert report.residue == 0
    assert SECRET not in texts(team.room) + texts(team.bobs)
    kept = (tmp_path / "memory.db").read_bytes().count(b"allergic to peanuts")
    assert (kept == 0) == (what != "the memory")  # the source stays
    with pytest.raises(NotFound):
        team.room.get(copy.id)


def test_forgotten_copy_is_not_shared_again(team: Team) -> None:
    memory = told(team.alices)
    receipt = team.alices.share(memory.id, to="project")
    team.workspace.forget(event=receipt)

    with pytest.raises(Forgotten):
        team.alices.share(memory.id, to="project")
    assert SECRET in texts(team.alices)


def test_interrupted_share_leaves_no_copy_of_erased_source(team: Team) -> None:
    """The share and its copy are one transaction; a missing link is made later."""
    memory = told(team.alices)
    team.alices.share(memory.id, to="project")
    store, admin = team.workspace._parts.store, team.workspace.admin_grant
    links = [each for each in store.memories.find(admin) if each.kind is MemoryKind.LINK]
    store.memories.delete(team.workspace.id, [link.id for link in links])
    acts = [each for each in store.ledger.find(admin) if each.kind is EventKind.SHARE]
    store.eraser.erase(team.workspace.id, events=list(memory.sources), memories=[], tombstones=[])

    store.queue.reset_events(team.workspace.id, [act.id for act in acts], now=team.clock.now)
    team.workspace.flush()

    assert SECRET not in texts(team.bobs)


def test_share_cannot_link_a_foreign_event(team: Team) -> None:
    """A forged share in an archive that names a foreign event erases nothing."""
    memory = told(team.alices)
    team.alices.share(memory.id, to="project")
    victim = team.bobs.observe("bob", "Mine, and nobody's copy.", key="mine")
    out = StringIO()
    team.workspace.export(out, grant=team.alices.grant)
    forged = out.getvalue().replace(
        next(
            e.metadata["share"]["copy"]
            for e in team.workspace._parts.store.ledger.find(team.alices.grant)
            if e.kind is EventKind.SHARE
        ),
        victim.event_id,
    )
    other = team.workspace.dm("alice", agent="other")
    team.workspace.import_(StringIO(forged), grant=other.grant, scope=other.viewer.home)
    team.workspace.forget(event=memory.sources[0])
    team.workspace.forget(user="alice")

    assert [event.text for event in team.bobs.recent()] == ["Mine, and nobody's copy."]


def test_share_key_used_by_other_event_is_conflict(team: Team) -> None:
    memory = told(team.alices)
    home = team.room.viewer.home
    key = share_key(memory, str(home), "alice")
    team.alices.observe("alice", "Just a message.", key=key)

    with pytest.raises(Conflict, match="share key"):
        team.alices.share(memory.id, to=team.room)
    assert SECRET not in texts(team.room)


def test_metadata_cannot_forge_a_copy(team: Team) -> None:
    with pytest.raises(InvalidInput, match="only share"):
        team.room.observe("bob", "Alice said so.", metadata={"shared_from": "a seal"})
    assert team.room.recent() == []


@pytest.mark.parametrize("wrong", [{"due": "soon"}, {"owner": 7}, {"more": "x"}])
def test_incomplete_shared_landmark_is_refused(
    wrong: dict[str, object], open_nexus: Open, clock: Clock
) -> None:
    team = make_team(open_nexus(), clock)
    team.room.observe("bob", "We decided to use Redis for the cache.")
    team.room.flush()
    (decision,) = [hit.memory for hit in team.room.recall("Redis", kind=["landmark"])]
    team.room.share(decision.id, to="project")
    out = StringIO()
    team.workspace.export(out)
    records = [json.loads(line) for line in out.getvalue().splitlines()]
    events = [each for each in records if each.get("type") == "event"]
    (copy,) = [each for each in events if "landmark" in each["metadata"]]
    copy["metadata"]["landmark"] |= wrong
    forged = "\n".join(map(json.dumps, records))

    other = make_team(open_nexus(), clock)
    with pytest.raises(InvalidInput, match=r"a shared landmark needs|of a shared landmark must be"):
        other.workspace.import_(StringIO(forged))


def test_archive_contains_copy_and_link(open_nexus: Open, clock: Clock) -> None:
    team = make_team(open_nexus(), clock)
    memory = told(team.alices)
    team.alices.share(memory.id, to="project")
    first = StringIO()
    team.workspace.export(first, vectors=True)

    other = make_team(open_nexus(), clock)
    other.workspace.import_(StringIO(first.getvalue()))
    second = StringIO()
    other.workspace.export(second, vectors=True)
    assert second.getvalue() == first.getvalue()

    other.workspace.forget(event=memory.sources[0])
    assert SECRET not in texts(other.bobs)
