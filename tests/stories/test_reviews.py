"""Reviews of merges and contradictions: accept, reject, undo."""

from __future__ import annotations

import io
import json
from datetime import timedelta
from typing import Any

import pytest
from tests.stories.conftest import Team

from nexusmem import Conflict, InvalidInput, NotFound, Place, Workspace
from nexusmem.config.settings import Settings
from nexusmem.core.records import MemoryKind
from nexusmem.learn.settings import LearnSettings
from nexusmem.place.reviews import Review, ReviewStatus

pytestmark = pytest.mark.requirement("B11")

PROVEN = {"identity": {"email": "sarah@example.com"}}


def tell(team: Team) -> None:
    """Observe messages about two people named Sarah and one ambiguous Sarah."""
    day = team.clock.now
    team.room.observe("alice", "Sarah Chen designed the logo.", at=day, key="chen")
    day += timedelta(hours=1)
    team.room.observe("alice", "Sarah Miller works at Globex.", at=day, key="miller")
    day += timedelta(hours=1)
    team.room.observe("bob", "Sarah moved to Lisbon.", at=day, key="sarah")
    team.clock.advance(days=1)


def about(place: Place, *names: str) -> Review:
    (found,) = [each for each in place.reviews.list(None) if set(each.names) == set(names)]
    return found


def exported(workspace: Workspace) -> dict[str, dict[str, Any]]:
    out = io.StringIO()
    workspace.export(out, vectors=True)
    lines = [json.loads(line) for line in out.getvalue().splitlines()]
    return {json.dumps(line, sort_keys=True): line for line in lines if line.get("type") != "head"}


def everything_read(team: Team) -> list[str]:
    """Return everything visible to viewers as text, without durations."""
    room = team.room
    hits = [
        [(hit.memory, hit.score, hit.reasons) for hit in room.recall(question, limit=50)]
        for question in ("Where is Sarah?", "Who designed the logo?", "Sarah Chen Lisbon")
    ]
    facts = [room.recall("Sarah", kind=["fact", "entity"], limit=50).hits, room.facts()]
    names = ("Sarah", "Sarah Chen", "Sarah Miller")
    views = [room.entity(name) for name in names] + room.entities()
    read = [room.fact_timeline(name, "LIVES_IN") for name in names]
    return [repr(each) for each in (hits, facts, views, read, room.reviews.list(None))]


def test_review_has_reason_and_confidence(team: Team) -> None:
    tell(team)

    review = about(team.room, "Sarah", "Sarah Chen")

    assert (review.kind, review.status) == ("merge", ReviewStatus.OPEN)
    assert 0 < review.confidence < 0.9
    said = {event.key for event in team.room.reviews.evidence(review.id)}
    assert said == {"chen", "sarah"}


@pytest.mark.parametrize("then", [[], ["undo"]])
def test_decision_of_an_erased_user_is_open_again(team: Team, then: list[str]) -> None:
    tell(team)
    reviews, id = team.room.reviews, about(team.room, "Sarah", "Sarah Chen").id
    reviews.accept(id, by="carol")
    for decision in then:
        getattr(reviews, decision)(id, by="bob")

    team.workspace.forget(user="carol")

    assert reviews.get(id).status is ReviewStatus.OPEN
    assert reviews.reject(id, by="bob").status is ReviewStatus.REJECTED
    assert reviews.undo(id, by="bob").status is ReviewStatus.OPEN


def test_accepted_merge_joins_two_entities(team: Team) -> None:
    tell(team)
    review = about(team.room, "Sarah", "Sarah Chen")

    decided = team.room.reviews.accept(review.id, by="alice")

    assert (decided.status, decided.decided_by) == (ReviewStatus.ACCEPTED, "alice")
    view = team.room.entity("Sarah")
    assert (view.name, view.same_as) == ("Sarah Chen", ("Sarah",))
    assert view == team.room.entity("sarah chen")
    lisbon = team.room.fact_timeline("Sarah Chen", "LIVES_IN").now
    assert lisbon is not None
    assert lisbon.fact.object == "Lisbon"
    assert team.room.fact_timeline("Sarah Miller", "LIVES_IN").now is None


@pytest.mark.requirement("B12")
def test_undo_restores_the_state_before(team: Team) -> None:
    tell(team)
    reviews = team.room.reviews
    id = about(team.room, "Sarah", "Sarah Chen").id
    before, seen = exported(team.workspace), everything_read(team)

    reviews.accept(id, by="alice")
    between = everything_read(team)
    reviews.undo(id, by="bob")

    after = exported(team.workspace)
    assert between != seen
    assert everything_read(team) == seen
    assert before.keys() <= after.keys()
    more = [after[line] for line in after.keys() - before.keys()]
    told = sorted((line["metadata"]["decision"], line["speaker"]) for line in more)
    assert told == [("accept", "alice"), ("undo", "bob")]
    assert {line["kind"] for line in more} == {"review"}


@pytest.mark.requirement("B12")
def test_undone_merge_stays_undone_after_relearning(team: Team) -> None:
    tell(team)
    id = about(team.room, "Sarah", "Sarah Chen").id
    team.room.reviews.accept(id)
    team.room.reviews.undo(id)
    seen = everything_read(team)
    parts = team.workspace._parts
    events = [event.id for event in parts.store.ledger.find(team.workspace.admin_grant)]

    parts.store.queue.reset_events(team.workspace.id, events, now=parts.now())
    team.workspace.flush()

    assert everything_read(team) == seen


@pytest.mark.requirement("X7")
def test_merge_does_not_apply_as_of_an_earlier_time(team: Team) -> None:
    team.room.observe("bob", "Sarah Chen works at Globex.")
    team.room.observe("bob", "Sarah Miller works at Initech.")
    team.room.observe("bob", "Sarah moved to Lisbon.")
    before = team.clock.advance(hours=1)
    team.clock.advance(hours=1)
    team.room.reviews.accept(about(team.room, "Sarah", "Sarah Chen").id)

    def home(**when: Any) -> str | None:
        now = team.room.fact_timeline("Sarah Chen", "LIVES_IN", **when).now
        return now and now.fact.object

    assert (home(), home(as_of=before), home(at=before)) == ("Lisbon", None, "Lisbon")


def test_rejected_merge_is_not_proposed_again(team: Team) -> None:
    tell(team)
    for review in team.room.reviews.list():
        team.room.reviews.reject(review.id)
    team.room.observe("bob", "Sarah is on holiday.")
    team.room.observe("bob", "Sarah is back.")

    assert team.room.reviews.list() == []
    assert len(team.room.reviews.list("rejected")) == 2
    assert team.room.entity("Sarah").same_as == ()


def test_rejection_can_be_undone(team: Team) -> None:
    tell(team)
    review = about(team.room, "Sarah", "Sarah Chen")

    team.room.reviews.reject(review.id)
    team.room.reviews.undo(review.id)

    assert about(team.room, "Sarah", "Sarah Chen") == review


def test_invalid_decisions_are_rejected(team: Team) -> None:
    tell(team)
    reviews = team.room.reviews
    id = about(team.room, "Sarah", "Sarah Chen").id

    with pytest.raises(Conflict, match="no decision to undo"):
        reviews.undo(id)
    reviews.accept(id)
    with pytest.raises(Conflict, match="already accepted"):
        reviews.reject(id)
    with pytest.raises(NotFound):
        reviews.accept("0" * 32)
    with pytest.raises(InvalidInput, match="accepted: open"):
        reviews.list("maybe")


@pytest.mark.requirement("X1")
def test_viewer_without_access_cannot_decide(team: Team) -> None:
    tell(team)
    id = about(team.room, "Sarah", "Sarah Chen").id
    elsewhere = team.workspace.room("kitchen", participants=["alice", "bob"])

    for place in (elsewhere, team.alices):
        assert place.reviews.list(None) == []
        with pytest.raises(NotFound):
            place.reviews.accept(id)
    assert team.room.reviews.get(id).status is ReviewStatus.OPEN


def test_administrator_can_decide_all_reviews(team: Team) -> None:
    tell(team)
    id = about(team.room, "Sarah", "Sarah Chen").id

    assert id in {each.id for each in team.workspace.reviews.list()}
    decided = team.workspace.reviews.accept(id)

    assert decided.decided_by == "administrator"
    assert team.room.entity("Sarah").name == "Sarah Chen"


def test_imported_decision_has_no_effect(team: Team) -> None:
    tell(team)
    id = about(team.room, "Sarah", "Sarah Chen").id
    forged = team.workspace._parts.store.ledger.find(team.room.grant)[0]
    out = io.StringIO()
    team.workspace.export(out, grant=team.room.grant)
    head = out.getvalue().splitlines()[0]
    line = {
        **json.loads(next(each for each in out.getvalue().splitlines() if forged.id in each)),
        "kind": "review",
        "key": f"review/{id}/0",
        "text": f"accept {id}",
        "metadata": {"review": id, "decision": "accept", "number": 0},
    }
    del line["id"]

    file = io.StringIO(f"{head}\n{json.dumps(line)}\n")
    imported = team.workspace.import_(file, grant=team.room.grant)

    assert imported.events == 1
    assert team.room.reviews.get(id).status is ReviewStatus.OPEN
    assert team.room.entity("Sarah").same_as == ()


def test_erased_source_undoes_the_merge(team: Team) -> None:
    tell(team)
    team.room.reviews.accept(about(team.room, "Sarah", "Sarah Chen").id)
    (chen,) = [event for event in team.room.recent() if event.key == "chen"]

    report = team.workspace.forget(event=chen.id)

    assert report.residue == 0
    assert all("Sarah Chen" not in each.names for each in team.room.reviews.list(None))
    assert team.room.entity("Sarah").same_as == ()
    with pytest.raises(NotFound):
        team.room.entity("Sarah Chen")


@pytest.mark.requirement("B12")
def test_proven_address_merges_automatically_and_can_be_undone(team: Team) -> None:
    room = team.room
    room.observe("sarah", "I live in Lisbon.", metadata=PROVEN)
    room.observe("schen", "I work at Globex.", metadata=PROVEN)
    team.clock.advance(days=1)

    view = room.entity("schen")

    assert (view.name, view.same_as) == ("sarah", ("schen",))
    assert [(each.value, each.proven) for each in view.identifiers] == [("sarah@example.com", True)]
    assert {fact.fact.predicate for fact in view.facts} == {"LIVES_IN", "WORKS_AT"}
    (review,) = room.reviews.list("accepted")
    assert (review.automatic, review.confidence) == (True, 1.0)

    apart = room.reviews.undo(review.id)
    assert apart.status is ReviewStatus.REJECTED
    assert room.entity("schen").same_as == ()
    room.observe("schen", "I like tea a lot.", metadata=PROVEN)
    assert room.entity("schen").same_as == ()

    together = room.reviews.undo(review.id)
    assert together.status is ReviewStatus.ACCEPTED
    assert room.entity("schen").same_as == ("schen",)


def test_message_text_merges_nothing(team: Team) -> None:
    room = team.room
    room.observe("sarah", "I live in Lisbon.", metadata=PROVEN)
    room.observe("mallory", "My email is sarah@example.com.")
    room.observe("mallory", "My name is sarah.")

    assert room.entity("sarah").same_as == ()
    assert room.entity("sarah@example.com").name == "sarah"
    assert {frozenset(each.names) for each in room.reviews.list()} == {
        frozenset({"sarah", "mallory"})
    }


def test_reviews_are_not_search_results(team: Team) -> None:
    tell(team)
    team.room.reviews.accept(about(team.room, "Sarah", "Sarah Chen").id)

    kinds = {hit.memory.kind for hit in team.room.recall("Sarah may be the same as Sarah Chen")}

    assert MemoryKind.REVIEW not in kinds


def test_contradiction_is_accepted_and_undone(open_nexus: Any, url: str, clock: Any) -> None:
    settings = Settings(learning=LearnSettings(on_contradiction="review"))
    room = open_nexus(url, settings=settings).workspace("acme").room("design")
    room.observe("alice", "Tyler works at Google.")
    clock.advance(days=1)
    room.observe("alice", "Tyler works at Anthropic.")
    clock.advance(days=1)

    def employer() -> str | None:
        now = room.fact_timeline("Tyler", "WORKS_AT").now
        return now and now.fact.object

    (review,) = room.reviews.list(kind="contradiction")
    before = employer()
    room.reviews.accept(review.id, by="alice")
    accepted = employer()
    room.reviews.undo(review.id, by="alice")
    undone = employer()
    room.reviews.reject(review.id, by="alice")

    assert (before, accepted, undone, employer()) == ("Google", "Anthropic", "Google", "Google")


def test_relearning_resolves_names_the_same_way(team: Team) -> None:
    for number, text in enumerate(
        (
            "Sarah Chen designed the logo.",
            "Sarah loves climbing.",
            "Sarah Miller works at Globex.",
            "My cousin Sarah lives in Oslo.",
        )
    ):
        team.room.observe("bob", text, at=team.clock.now + timedelta(minutes=number))
        team.room.flush()
    team.clock.advance(days=1)
    before = exported(team.workspace)
    parts = team.workspace._parts
    events = [event.id for event in parts.store.ledger.find(team.workspace.admin_grant)]

    parts.store.queue.reset_events(team.workspace.id, events, now=parts.now())
    team.workspace.flush()

    assert exported(team.workspace) == before
    climbing = [fact for fact in team.room.facts() if "climbing" in fact.text]
    assert [fact.fact.subject for fact in climbing] == ["Sarah Chen"]
