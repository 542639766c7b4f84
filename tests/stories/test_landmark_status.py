"""The life of a landmark: open, done, cancelled or superseded."""

from __future__ import annotations

import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team

from nexusmem import Nexus, Place
from nexusmem.compose.request import MAX_LANDMARKS
from nexusmem.core.records.landmark_status import LandmarkStatus
from nexusmem.recall.views.landmarks import LandmarkView

pytestmark = pytest.mark.requirement("B16")


@pytest.fixture
def room(nexus: Nexus) -> Place:
    people = ["alice", "bob", "carol"]
    return nexus.workspace("acme").room("office", agent="scribe", participants=people)


def tell(place: Place, clock: Clock, *messages: tuple[str, str]) -> None:
    for speaker, text in messages:
        clock.advance(minutes=5)
        place.observe(speaker, text)


def find(place: Place, word: str, **filters) -> LandmarkView:
    (found,) = [each for each in place.landmarks(**filters) if word in each.text]
    return found


def statuses(place: Place, **filters) -> dict[str, str]:
    return {each.text: each.status.value for each in place.landmarks(**filters)}


@pytest.mark.parametrize(
    ("promise", "report", "word"),
    [
        ("I will send the brochure by Friday.", "Done, I mailed it.", "brochure"),
        ("I will send the brochure by Friday.", "brochure sent ✅", "brochure"),
        ("I will pay the electrician tomorrow.", "already paid it", "electrician"),
        ("I will book the ferry.", "[x] book the ferry", "ferry"),
        ("I will fix the leaking tap.", "The tap is fixed.", "tap"),
        ("I will ship the spare parts.", "shipped", "parts"),
        ("I will write the minutes.", "The minutes are in the folder.", "minutes"),
        (
            "I'll do the place cards.",
            "the whole pile of place cards went off this morning",
            "cards",
        ),
        (
            "I will upload the trailer tonight.",
            "trailer's finally up, trailer is online",
            "trailer",
        ),
        ("I will order the gravel.", "the gravel has arrived", "gravel"),
        ("I will return the drill.", "drill is back at the rental place", "drill"),
        ("I will renew the permit.", "permit's good for another two years", "permit"),
        ("I will write the leaflet.", "leaflet is on the share", "leaflet"),
    ],
)
def test_report_of_the_owner_closes_the_task(
    room: Place, clock: Clock, promise: str, report: str, word: str
) -> None:
    tell(room, clock, ("alice", promise), ("bob", "Thanks a lot."), ("alice", report))

    task = find(room, word)

    assert (task.status, task.closed_at, task.is_overdue) == (LandmarkStatus.DONE, clock.now, False)
    assert room.landmarks(owner="alice", open=True) == []
    (message,) = [each for each in room.recent() if each.text == report]
    assert task.closed_by == message.id


@pytest.mark.parametrize(
    "message",
    [
        "The brochure is not done yet.",
        "Have you sent the brochure?",
        "I will have it done tomorrow.",
        "If the brochure is sent, I will celebrate.",
        "The brochure is half done.",
        "I sent the invoice.",
        "I received a brochure from the printer.",
    ],
)
def test_other_messages_leave_the_task_open(room: Place, clock: Clock, message: str) -> None:
    tell(room, clock, ("alice", "I will send the brochure by Friday."), ("alice", message))

    assert find(room, "brochure by").status is LandmarkStatus.OPEN


def test_each_owner_closes_the_own_task(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "I will send the brochure."),
        ("bob", "I will send the invoice."),
        ("carol", "I will send the minutes."),
        ("bob", "Done."),
        ("carol", "Brochure sent."),  # it is alice's task, and carol does not name her
    )

    assert [each.status.value for each in room.landmarks(owner="bob")] == ["done"]
    assert {each.owner for each in room.landmarks(open=True)} == {"alice", "carol"}

    tell(room, clock, ("carol", "Alice has sent the brochure."))
    assert [each.status.value for each in room.landmarks(owner="alice")] == ["done"]


def test_ambiguous_report_closes_nothing(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "I will send the budget report."),
        ("alice", "I will send the travel report."),
        ("alice", "The report is sent."),
    )
    assert set(statuses(room).values()) == {"open"}

    tell(room, clock, ("alice", "The travel report is sent."))
    assert find(room, "travel").status is LandmarkStatus.DONE
    assert find(room, "budget").status is LandmarkStatus.OPEN


def test_request_is_taken_back_by_the_person_who_asked(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "Bob, please book the ferry."), ("alice", "Never mind."))

    assert find(room, "ferry").status is LandmarkStatus.CANCELLED


def test_never_mind_of_another_person_cancels_nothing(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I will book the ferry."), ("bob", "Never mind."))

    assert find(room, "ferry").status is LandmarkStatus.OPEN


def test_request_to_the_agent_is_cancelled_with_its_promise(nexus: Nexus, clock: Clock) -> None:
    dm = nexus.user("alice")
    tell(
        dm,
        clock,
        ("alice", "Please book the ferry."),
        ("assistant", "I will book the ferry."),
        ("alice", "Cancel that."),
    )

    assert set(statuses(dm).values()) == {"cancelled"}


def test_reply_closes_a_request_to_nobody_in_particular(room: Place, clock: Clock) -> None:
    tell(room, clock, ("bob", "Can you send me the contract by Friday?"), ("alice", "Sent."))

    assert find(room, "contract").status is LandmarkStatus.DONE


def test_declined_offer_is_cancelled(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I will bring the drill."), ("bob", "No need, thanks."))

    assert find(room, "drill").status is LandmarkStatus.CANCELLED


def test_task_is_cancelled_by_its_content(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "I will clean the gutter."),
        ("alice", "I will book the ferry."),
        ("alice", "Forget about the gutter, Paul does it."),
    )

    assert find(room, "gutter").status is LandmarkStatus.CANCELLED
    assert find(room, "ferry").status is LandmarkStatus.OPEN


def test_task_to_cancel_something_is_done_when_it_is_cancelled(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I will cancel the gym contract."))
    tell(room, clock, ("alice", "The gym contract is cancelled."))

    assert find(room, "gym").status is LandmarkStatus.DONE


def test_answered_request_is_closed(nexus: Nexus, clock: Clock) -> None:
    dm = nexus.user("alice")
    tell(dm, clock, ("alice", "Please tell me the date of the fair."))
    assert find(dm, "date").status is LandmarkStatus.OPEN

    tell(dm, clock, ("assistant", "The fair is on 3 May."))
    assert find(dm, "date").status is LandmarkStatus.DONE


@pytest.mark.parametrize(
    "reply", ["Sorry, I cannot find it.", "I will look for it tomorrow.", "Which fair do you mean?"]
)
def test_evasive_reply_leaves_the_request_open(nexus: Nexus, clock: Clock, reply: str) -> None:
    dm = nexus.user("alice")
    tell(dm, clock, ("alice", "Please tell me the date of the fair."), ("assistant", reply))

    assert find(dm, "date of the fair").status is LandmarkStatus.OPEN


def test_agent_does_not_close_the_tasks_of_a_person(nexus: Nexus, clock: Clock) -> None:
    dm = nexus.user("alice")
    tell(dm, clock, ("alice", "I will send the brochure."), ("assistant", "The brochure is sent."))

    assert find(dm, "brochure", owner="alice").status is LandmarkStatus.OPEN


def test_yes_closes_the_task_that_was_asked_about(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "I will book the ferry."),
        ("alice", "I will send the brochure."),
        ("bob", "Did you book the ferry yet?"),
        ("alice", "Yes!"),
    )

    assert find(room, "ferry", owner="alice").status is LandmarkStatus.DONE
    assert find(room, "brochure").status is LandmarkStatus.OPEN


def test_repeated_promise_supersedes_the_older_one(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I will send the brochure by Friday."))
    clock.advance(days=8)
    tell(room, clock, ("alice", "I will send the brochure by next Friday."))

    new, old = room.landmarks(owner="alice")

    assert (new.status, old.status) == (LandmarkStatus.OPEN, LandmarkStatus.SUPERSEDED)
    assert old.closed_at == clock.now
    assert new.due is not None
    assert old.due is not None
    assert new.due > old.due
    tell(room, clock, ("alice", "Brochure sent."))
    assert [each.status.value for each in room.landmarks(owner="alice")] == ["done", "superseded"]


@pytest.mark.parametrize(
    "text",
    ["We use PostgreSQL instead of MySQL.", "OK, decided: PostgreSQL replaces MySQL."],
)
def test_choice_between_two_things_supersedes_the_older_one(
    room: Place, clock: Clock, text: str
) -> None:
    tell(room, clock, ("alice", "We decided to use MySQL."))
    clock.advance(days=1)
    tell(room, clock, ("bob", text))

    statuses = {each.text: each.status for each in room.landmarks()}

    assert statuses == {
        text: LandmarkStatus.OPEN,
        "We decided to use MySQL.": LandmarkStatus.SUPERSEDED,
    }


def test_what_is_called_off_is_cancelled_and_nothing_else(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "We decided to go with slate for the terrace."))
    tell(room, clock, ("bob", "We agreed to hold the regatta in June."))
    tell(room, clock, ("bob", "The regatta is cancelled."))
    tell(room, clock, ("alice", "The terrace party is cancelled."))

    assert find(room, "slate").status is LandmarkStatus.OPEN
    assert find(room, "hold the regatta").status is LandmarkStatus.CANCELLED


def test_answer_is_listed_with_its_request_until_that_is_forgotten(
    nexus: Nexus, room: Place, clock: Clock
) -> None:
    asked = room.observe("alice", "can you water the plants?")
    tell(room, clock, ("bob", "Sure, I'll water them."))
    assert [each.text for each in room.landmarks(owner="bob")] == [
        "can you water the plants? Sure, I'll water them."
    ]

    report = nexus.workspace("acme").forget(event=asked)

    assert report.residue == 0
    assert not any("plants" in each.text for each in room.landmarks())
    assert "plants" not in room.compose("What is next?").text


def test_overdue_task_is_marked(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I will send the brochure by Friday."))
    assert not find(room, "brochure").is_overdue

    clock.advance(days=7)

    task = find(room, "brochure")
    assert task.is_overdue
    assert str(task.due_day) == "2026-03-06"
    text = room.compose("What is next?").text
    assert "action item, overdue since 2026-03-06" in text
    tell(room, clock, ("alice", "The brochure is sent."))
    assert room.compose("What is next?").section_items("landmarks") == ()


def test_status_at_an_earlier_time(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I will send the brochure by Friday."))
    between = clock.advance(days=10)
    tell(room, clock, ("alice", "The brochure is sent."))

    assert find(room, "brochure").status is LandmarkStatus.DONE
    for time in ({"as_of": between}, {"at": between}):
        earlier = find(room, "brochure", **time)
        assert (earlier.status, earlier.is_overdue) == (LandmarkStatus.OPEN, True)
        assert earlier.closed_by is None
    assert "overdue" in room.compose("What is next?", as_of=between).text


def test_forgetting_the_report_opens_the_task_again(nexus: Nexus, clock: Clock) -> None:
    dm = nexus.user("alice")
    tell(dm, clock, ("alice", "I will send the brochure by Friday."))
    report = dm.observe("alice", "The brochure is sent.")
    assert find(dm, "brochure").status is LandmarkStatus.DONE

    dm.forget(report)

    assert find(dm, "brochure").status is LandmarkStatus.OPEN


def test_forgetting_the_promise_forgets_its_status(nexus: Nexus, clock: Clock) -> None:
    dm = nexus.user("alice")
    promise = dm.observe("alice", "I will send the brochure by Friday.")
    tell(dm, clock, ("alice", "The brochure is sent."))
    task = find(dm, "brochure")

    dm.forget(promise)

    assert dm.landmarks() == []
    assert nexus.workspace("default").stats().get("link", 0) == 0
    assert task.id not in {each.id for each in dm.memories()}


def test_landmarks_of_other_places_stay_open(nexus: Nexus, room: Place, clock: Clock) -> None:
    other = nexus.workspace("acme").room("garden", agent="scribe", participants=["alice"])
    tell(room, clock, ("alice", "I will send the brochure."))
    tell(other, clock, ("alice", "The brochure is sent."), ("alice", "Done."))

    assert find(room, "brochure").status is LandmarkStatus.OPEN
    assert other.landmarks() == []


def test_sessions_of_one_agent_share_the_status(nexus: Nexus, clock: Clock) -> None:
    monday, friday = nexus.user("alice", session="mon"), nexus.user("alice", session="fri")
    tell(monday, clock, ("alice", "I will send the brochure."))
    tell(friday, clock, ("alice", "The brochure is sent."))

    assert find(monday, "brochure").status is LandmarkStatus.DONE
    assert find(friday, "brochure").status is LandmarkStatus.DONE
    assert find(nexus.user("alice"), "brochure").status is LandmarkStatus.DONE


def test_dm_closes_what_a_session_promised(nexus: Nexus, clock: Clock) -> None:
    session, dm = nexus.user("alice", session="mon"), nexus.user("alice")
    tell(session, clock, ("alice", "I will send the brochure."))
    session.flush()
    tell(dm, clock, ("alice", "The brochure is sent."))

    assert find(dm, "brochure").status is LandmarkStatus.DONE
    assert find(session, "brochure").status is LandmarkStatus.DONE


def test_decisions_come_before_open_tasks_by_due_date(room: Place, clock: Clock) -> None:
    tell(
        room,
        clock,
        ("alice", "We decided to use PostgreSQL for the ledger."),
        ("alice", "I prefer tea."),
        ("alice", "I will book the ferry."),
        ("alice", "I will pay the electrician by 2026-03-20."),
        ("alice", "I will send the brochure by 2026-03-10."),
        ("alice", "I will clean the gutter."),
        ("alice", "The gutter is cleaned."),
    )

    words = ("PostgreSQL", "brochure", "electrician", "ferry", "tea", "gutter")
    assert [word for each in room.landmarks() for word in words if word in each.text] == list(words)


def test_decision_stays_in_a_context_full_of_newer_tasks(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "We decided to use PostgreSQL for the ledger."))
    things = ("chairs", "tables", "lamps", "shelves", "carpets", "curtains", "mirrors", "clocks")
    colours = "red green blue black white brown grey pink gold cyan teal plum lime beige".split()
    texts = [f"I will buy the {colour} {thing}." for colour in colours for thing in things]
    assert len(texts) > MAX_LANDMARKS
    clock.advance(hours=1)
    room.observe_many({"speaker": "alice", "text": text, "at": clock.now} for text in texts)

    shown = room.compose("What is next?", budget=600).sections

    (pinned,) = [each.items for each in shown if each.part == "landmarks"]
    assert any("PostgreSQL" in item.text for item in pinned)
    assert len(pinned) < len(texts)


@pytest.mark.parametrize("is_learned_between", [True, False])
def test_task_of_a_project_is_closed_in_its_other_rooms(
    team: Team, *, is_learned_between: bool
) -> None:
    other = team.workspace.room(
        "dev", agent="scribe", participants=["alice", "bob"], project="apollo"
    )
    tell(team.room, team.clock, ("alice", "I will update the ledger schema by Friday."))
    if is_learned_between:
        assert [each.status.value for each in other.landmarks()] == ["open"]
    tell(team.room, team.clock, ("alice", "The ledger schema is updated."))

    assert [each.status.value for each in other.landmarks()] == ["done"]
    assert [each.status.value for each in team.room.landmarks()] == ["done"]


def test_private_report_closes_nothing_in_a_room(team: Team) -> None:
    tell(team.room, team.clock, ("alice", "I will update the ledger schema by Friday."))
    team.room.flush()
    tell(team.alices, team.clock, ("alice", "The ledger schema is updated."))

    assert [each.status.value for each in team.room.landmarks()] == ["open"]
    assert [each.status.value for each in team.bobs.landmarks()] == ["open"]


def test_rebuild_keeps_the_status(shared_url: str, open_nexus: Open, clock: Clock) -> None:
    nexus = open_nexus(shared_url)
    room = nexus.workspace("acme").room("office", agent="scribe", participants=["alice"])
    tell(room, clock, ("alice", "I will send the brochure."), ("alice", "The brochure is sent."))
    before = room.landmarks()

    nexus.workspace("acme").rebuild()

    assert room.landmarks() == before
    assert before[0].status is LandmarkStatus.DONE


def test_summary_marks_what_is_done(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I will send the brochure by Friday."))
    tell(room, clock, *(("bob", f"The lamp number {count} is broken.") for count in range(12)))
    tell(room, clock, ("alice", "The brochure is sent."))
    tell(room, clock, *(("bob", f"The desk number {count} is broken.") for count in range(40)))
    room.flush()

    summary = room.window().summary

    assert [line.text for line in summary.action_items]  # the summary quotes the promise
    sections = room.compose("What is next?").sections
    kinds = [
        str(item.why.get("kind", ""))
        for section in sections
        for item in section.items
        if "brochure by" in item.text and section.part in ("landmarks", "summary")
    ]
    assert kinds
    assert all(kind.endswith(", done") for kind in kinds)


def test_plain_user_sees_a_task_close_in_the_same_batch(open_nexus: Open, clock: Clock) -> None:
    alice = open_nexus().user("alice")
    alice.observe_many(
        [
            {"speaker": "alice", "text": "I will send the brochure by Friday."},
            {"speaker": "alice", "text": "Done, I mailed it."},
            {"speaker": "alice", "text": "I will book the ferry."},
        ]
    )

    assert sorted(statuses(alice).values()) == ["done", "open"]
    assert clock.now >= alice.landmarks(open=False)[0].at


def test_report_names_the_owner_and_not_the_task(room: Place, clock: Clock) -> None:
    promise = "Bob will send the lease to the agency."
    tell(room, clock, ("alice", promise), ("carol", "Ok."), ("alice", "Bob sent it last night."))

    assert find(room, "lease").status is LandmarkStatus.DONE


def test_name_that_owns_no_such_task_closes_nothing(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "I will send the lease."), ("carol", "Bob sent it last night."))

    assert find(room, "lease").status is LandmarkStatus.OPEN


def test_it_is_cancelled_reports_a_request_to_cancel(room: Place, clock: Clock) -> None:
    request = "Please cancel my parking permit at the earliest date."
    tell(room, clock, ("alice", request), ("bob", "All the best. It's cancelled."))

    assert find(room, "parking").status is LandmarkStatus.DONE


def test_ordered_is_not_yet_finished(room: Place, clock: Clock) -> None:
    tell(room, clock, ("alice", "todo this week: Bob – spare fuses, me – rota"))
    tell(room, clock, ("bob", "two are missing, I've ordered them"))

    assert find(room, "fuses").status is LandmarkStatus.OPEN
