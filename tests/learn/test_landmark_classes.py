"""Classes of landmarks: what settles something, gives somebody a task, or states a wish."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.learn.making import MONDAY, TWO, said

from nexusmem.learn.rules import MessageContext, SourceMessage

ONE_SECOND = timedelta(seconds=1)
AGENT = MessageContext(participants=("Alice", "assistant"))


def kinds(text: str, context: MessageContext = TWO) -> list[str]:
    """Return kind and owner of what is learned from a message of Alice to Bob."""
    return [f"{each.kind} of {each.owner}" for each in said(text, context=context).landmarks]


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "text",
    [
        "This melody reminds me of my grandmother.",
        "Evenings like that remind us what matters.",
        "Remind me what your cat is called?",
        "It's always lovely to hear from you.",
        "You never know what comes next.",
        "We always look forward to the autumn fair.",
        "Never give up on your dreams!",
        "Let's keep going!",
        "Let's keep it up!",
        "Let's do it!",
        "Let's talk soon!",
        "Agreed, Bob!",
        "It's not just a hobby, but a way of life.",
        "Not sure about the colours, but they will look fine.",
        "I'll do my best to be brave.",
        "I'm gonna give it a shot.",
        "I'll definitely check it out.",
        "We'll make a difference together!",
        "We need to do something about it.",
        "I'll make sure to have a safe trip.",
        "It shows how much work we still have to do.",
        "There is a chance I'll be visiting the island.",
        "We get to see the mountains every morning.",
        "We got to see some old castles.",
        "They'll help with the paperwork.",
        "We have the power to change the world.",
        "You're gonna make them proud!",
        "I chose them because they are kind.",
        "Anything you need, count on me!",
        "Perhaps I'll invite you to the studio.",
        "I'll be teaching pottery there.",
        "One day I'll write my own novel.",
        "No, this is not necessary.",
        "Sorry for not writing sooner.",
        "Make sure to take some time for yourself.",
        "Please don't worry about the noise.",
        "My favourite subject is history.",
        "Parking in Leeds costs nine pounds.",
        "They never promised to visit us.",
        "Olga is out until the 12th, ask Jens instead.",
        "The statue is moved by a crane on Friday.",
    ],
)
def test_friendly_talk_has_no_landmarks(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("The board approved the new budget.", "board"),
        ("Our client signed off the blue layout.", "client"),
        ("The rooftop option is dead, far too loud.", "Alice"),
        ("The picnic is off, it pours.", "Alice"),
        ("The second warehouse is off the table.", "Alice"),
        ("Ok, Lisbon it is.", "Alice"),
        ("The launch goes ahead.", "we"),
        ("The charter was adopted, all in favour.", "we"),
        ("We stick with the old printer.", "we"),
        ("We won't renew the lease.", "we"),
        ("We take the night train instead.", "we"),
        ("The shop closes at six from now on.", None),
        ("Everything goes through the ticket system.", "we"),
        ("Scrap the brochure, nobody reads it.", "Alice"),
        ("Parking the redesign until spring.", "Alice"),
    ],
)
def test_decisions(text: str, owner: str | None) -> None:
    assert f"decision of {owner}" in kinds(text)


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("Nina please take the banner down.", "Nina"),
        ("Nina can you collect the parcel?", "Nina"),
        ("Can you collect the parcel, Nina?", "Nina"),
        ("Somebody call the plumber about the tap.", None),
        ("Everyone bring a chair on Friday.", "everyone"),
        ("Nina to send the minutes by Friday.", "Nina"),
        ("Nina prints the posters by Thursday.", "Nina"),
        ("I need you to sign the form by Friday.", "Bob"),
        ("It would be great if everyone could fill the survey by Friday.", "everyone"),
        ("The drinks are on me.", "Alice"),
        ("The tax letter must be sent by Friday.", None),
        ("I've got to renew the passport.", "Alice"),
        ("Can you remind me to call the vet?", "Alice"),
        ("I call the roofer tomorrow.", "Alice"),
    ],
)
def test_tasks(text: str, owner: str | None) -> None:
    assert kinds(text) == [f"action_item of {owner}"]


@pytest.mark.requirement("A6")
def test_shares_of_work_are_tasks_of_their_owners() -> None:
    found = said("Jobs: Nina tickets, me sandwiches, Paul checks the tyres", context=TWO).landmarks
    assert [(each.owner, each.text) for each in found] == [
        ("Nina", "tickets"),
        ("Alice", "sandwiches"),
        ("Paul", "checks the tyres"),
    ]


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "text",
    [
        "Stop sending me voice notes.",
        "And please, no more surprise visits.",
        "No garlic in anything please.",
        "Pls nobody park in front of the gate.",
        "Better call than write.",
        "Use metric units, not inches.",
        "Keep the summaries short.",
        "Always quote the order number.",
        "Please always give us the totals in francs.",
        "I'll take a window seat over an aisle any day.",
        "Mornings suit me better.",
        "Please bill the company and not me.",
        "New rule: shoes off at the door.",
    ],
)
def test_preferences(text: str) -> None:
    assert kinds(text) == ["preference_stated of Alice"]


@pytest.mark.requirement("A6")
def test_promise_of_somebody_else_is_theirs() -> None:
    (found,) = said("Marta promised to repair the gate by Thursday.", context=TWO).landmarks
    assert (found.kind, found.owner) == ("commitment", "Marta")
    assert found.due is not None
    assert str((found.due - ONE_SECOND).date()) == "2026-03-05"
    (nobody,) = said("They promised to repair the gate by Thursday.", context=TWO).landmarks
    assert nobody.owner is None


@pytest.mark.requirement("A6")
def test_deadline_of_a_guarantee_is_no_new_date() -> None:
    text = "I guarantee the archive is moved by 20 March."
    assert kinds(text) == ["commitment of Alice"]


@pytest.mark.requirement("A6")
def test_agent_is_told_what_to_do_in_a_case() -> None:
    text = "If somebody asks for my number, send them to the front desk."
    assert kinds(text, AGENT) == ["preference_stated of Alice"]
    assert kinds(text) == []


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("They pushed the audit to March 27.", "2026-03-27"),
        ("The hearing is moved to March 12.", "2026-03-12"),
        ("They moved it! 28 March.", "2026-03-28"),
        ("No no, the recital is on March 9.", "2026-03-09"),
    ],
)
def test_new_dates_are_corrections(text: str, due: str) -> None:
    (found,) = said(text, context=TWO).landmarks
    assert found.kind == "correction"
    assert found.due is not None
    assert str((found.due - ONE_SECOND).date()) == due


@pytest.mark.requirement("A6")
def test_lines_of_notes() -> None:
    text = "Choir\n- Nina orders candles\n- new robes: no, too dear\n- concert 1 June -> 15 June"
    assert kinds(text) == [
        "action_item of Nina",
        "decision of None",
        "correction of None",
    ]


@pytest.mark.requirement("A6")
def test_task_of_tonight_is_due_today() -> None:
    (found,) = said("I'll send the draft tonight.", context=TWO).landmarks
    assert found.due is not None
    assert str((found.due - ONE_SECOND).date()) == "2026-03-02"


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("text", "owner", "what"),
    [
        ("ACTION (bob): fold the leaflets", "Bob", "fold the leaflets"),
        ("Action item [Bob]: fold the leaflets", "Bob", "fold the leaflets"),
        ("TODO(bob): rotate the keys", "Bob", "rotate the keys"),
        ("Todo for Bob: rotate the keys", "Bob", "rotate the keys"),
        ("TODO: rotate the keys (bob, by Friday)", "Bob", "rotate the keys"),
        ("TODO: rotate the keys @nina", "nina", "rotate the keys"),
        ("TODO: rotate the keys", "Alice", "rotate the keys"),
        ("- [ ] Bob: rent the van", "Bob", "rent the van"),
        ("[ ] rent the van (Bob)", "Bob", "rent the van"),
        ("- [ ] rent the van", "Alice", "rent the van"),
        ("Bob: rent the van by Friday", "Bob", "Bob: rent the van by Friday"),
    ],
)
def test_noted_tasks_have_the_owner_that_is_written(text: str, owner: str, what: str) -> None:
    (found,) = said(text, context=TWO).landmarks
    assert (found.kind, found.owner, found.text) == ("action_item", owner, what)


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("text", "owner"),
    [
        ("Don't let me forget to ring the dentist.", "Alice"),
        ("Make sure I don't forget to feed the cat.", "Alice"),
        ("I mustn't forget to return the drill.", "Alice"),
        ("I must remember to return the drill.", "Alice"),
        ("We mustn't forget to return the drill.", "we"),
        ("Somebody has got to mow the lawn.", None),
        ("Someone needs to extend the permit before June.", None),
        ("Nina, call Paul about the boiler please.", "Nina"),
        ("Please call Paul about the boiler.", "Bob"),
    ],
)
def test_more_tasks(text: str, owner: str | None) -> None:
    assert kinds(text) == [f"action_item of {owner}"]


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "text",
    [
        "Let's discuss tomorrow.",
        "Let's talk about it on Friday.",
        "Let's catch up next week.",
        "Nina Brandt is booked for the 20th.",
        "The hall is booked for Friday.",
        "We usually drink tea instead of coffee.",
    ],
)
def test_talk_and_bookings_are_no_tasks(text: str) -> None:
    assert kinds(text) == []


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "text",
    [
        "OK, decided: we use FastAPI instead of Django.",
        "Alright, agreed: the blue tiles.",
        "We use PostgreSQL instead of MySQL.",
        "We're taking the tram rather than the car.",
    ],
)
def test_choices_between_two_things_are_decisions(text: str) -> None:
    assert [each.split(" of ")[0] for each in kinds(text)] == ["decision"]


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("text", "due"),
    [
        ("Please sign the lease before June.", "2026-05-31"),
        ("Please sign the lease before June 6.", "2026-06-06"),
        ("Please sign the lease before the weekend.", "2026-03-06"),
        ("Please sign the lease by the weekend.", "2026-03-08"),
    ],
)
def test_ends_of_periods_are_due_dates(text: str, due: str) -> None:
    (found,) = said(text, context=TWO).landmarks
    assert found.due is not None
    assert str((found.due - ONE_SECOND).date()) == due


@pytest.mark.requirement("A6")
def test_answer_has_the_request_that_it_takes_up() -> None:
    asked = SourceMessage(speaker="Bob", text="Hi! Can you book Nina for Thursday?", at=MONDAY)
    context = replace(TWO, recent=(asked,))
    (found,) = said("Sure, I'll book her.", context=context).landmarks
    assert (found.owner, found.request) == ("Alice", "Can you book Nina for Thursday?")
    assert found.due is not None
    assert str((found.due - ONE_SECOND).date()) == "2026-03-05"
    (plain,) = said("Sure, I'll book the hall.", context=context).landmarks
    assert plain.request is None


@pytest.mark.requirement("A6")
def test_going_back_to_something_is_a_decision() -> None:
    back = "That's too much. Let's go back to Postgres for the audit log."
    assert kinds(back) == ["decision of Alice"]
    assert kinds("Let's switch back to the old supplier.") == ["decision of we"]
    assert kinds("Let's go back to bed.") == []
    assert kinds("Let's go back to the beginning.") == []


@pytest.mark.requirement("A6")
def test_request_that_is_only_a_name_has_the_sentence_before_it() -> None:
    asked = SourceMessage(speaker="Bob", text="One finding: sessions never end. Alice?", at=MONDAY)
    context = replace(TWO, recent=(asked,))
    (found,) = said("I'll fix it tomorrow.", context=context).landmarks
    assert found.request == "One finding: sessions never end. Alice?"
    alone = replace(context, recent=(replace(asked, text="Alice?"),))
    (bare,) = said("I'll fix it tomorrow.", context=alone).landmarks
    assert bare.request == "Alice?"
