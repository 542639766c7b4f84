"""Questions in conversation: contexts search with what the last turns are about."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from tests.conftest import Clock, Open
from tests.stories.conftest import Team

from nexusmem import NotFound, Place
from nexusmem.core.errors import InvalidInput
from nexusmem.core.records.context import Context

TOLD = [
    "My sister Marta moved to Porto last spring.",
    "My brother Jonas lives in Leeds.",
    "Priya's birthday is on 4 March.",
    "Tom's birthday is on 19 October.",
    "We live in Vienna now.",
    *(f"The delivery number {number} came late again." for number in range(30)),
]


def chat(*texts: str) -> list[dict[str, str]]:
    """Return chat messages of a user and an assistant, who speaks second."""
    roles = ("user", "assistant")
    return [{"role": roles[at % 2], "content": text} for at, text in enumerate(texts)]


@pytest.fixture
def place(team: Team) -> Place:
    for text in TOLD:
        team.clock.advance(minutes=1)
        team.alices.observe("alice", text)
    team.clock.advance(days=3)  # so that the window shows none of it
    return team.alices


def first_hit(place: Place, context: Context) -> str:
    """Return the best hit of what was searched; sections above may show it instead of recall."""
    return place.recall(context.receipt.searched, limit=1)[0].text


def test_pronoun_is_searched_as_the_person_named_before(place: Place) -> None:
    messages = chat("My sister called.", "How is she?", "Fine. Where does she live again?")

    context = place.context_for(messages)

    assert "Marta moved to Porto" in context.text
    assert "Marta moved to Porto" in first_hit(place, context)
    assert context.receipt.question == "Fine. Where does she live again?"
    assert context.receipt.searched == "Where does my sister live again?"
    (added,) = context.receipt.added
    assert (added.words, added.why) == ("my sister", "instead of “she”")


def test_elliptic_question_is_searched_as_the_question_before(place: Place) -> None:
    context = place.context_for(chat("When is Tom's birthday?", "19 October.", "And Priya's?"))

    assert "4 March" in context.text
    assert "4 March" in first_hit(place, context)
    assert context.receipt.searched == "When is Priya's birthday?"
    assert "episodes" in context.receipt.plan  # the whole question asks about a time


def test_question_of_compose_continues_the_window(place: Place) -> None:
    place.observe("alice", "My sister called.")

    context = place.compose("Where does she live again?")

    assert context.receipt.searched == "Where does my sister live again?"
    assert "Marta moved to Porto" in context.text


def test_single_message_continues_the_window_of_its_thread(place: Place) -> None:
    place.observe("alice", "My sister called.", thread="family")
    place.observe("alice", "My brother called.", thread="work")
    asked = chat("Where do they live?")

    family = place.context_for(chat("Is she well?"), thread="family")
    work = place.context_for(chat("Is he well?"), thread="work")
    elsewhere = place.context_for(asked, thread="sport")

    assert family.receipt.searched == "Is my sister well?"
    assert work.receipt.searched == "Is my brother well?"
    assert elsewhere.receipt.searched == ""


def test_same_question_after_other_turns_is_another_context(place: Place) -> None:
    sister = place.context_for(chat("My sister called.", "Oh?", "Where does he or she live?"))
    brother = place.context_for(chat("My brother called.", "Oh?", "Where does he or she live?"))
    alone = place.context_for(chat("My sister called.", "Oh?", "Where does Ann's friend live?"))

    assert "my sister" in sister.receipt.searched
    assert "my brother" in brother.receipt.searched
    assert sister.id != brother.id
    assert alone.receipt.searched == ""
    assert alone.receipt.added == ()


@pytest.mark.parametrize("last", ["perfect, thanks a lot", "shorter please", "ok do that"])
def test_turn_that_needs_no_memory_searches_nothing(place: Place, last: str) -> None:
    context = place.context_for(chat("When is Tom's birthday?", "On 19 October.", last))

    assert "recall" not in context.receipt.plan
    assert context.receipt.searched == ""


def test_answer_to_a_greeting_searches_nothing(place: Place) -> None:
    greeting = chat("Morning!", "Good morning! How are you?", "Not bad, some sunshine at last")

    assert "recall" not in place.context_for(greeting).receipt.plan


@pytest.mark.requirement("X7")
def test_explanation_has_the_added_words(place: Place) -> None:
    context = place.context_for(chat("My sister called.", "Oh?", "Where does she live?"))

    assert place.explain(context.id).receipt == context.receipt


@pytest.mark.requirement("X6", "X7")
@pytest.mark.parametrize("is_recorded", [True, False])
def test_receipt_is_erased_with_the_message_its_words_come_from(
    place: Place, team: Team, is_recorded: bool
) -> None:
    before = chat("My sister Ludmila called.", "How is she?")
    if is_recorded:
        receipt, _ = place.record(before)
    else:
        receipt = place.observe("alice", before[0]["content"])
    context = place.context_for([*before, *chat("Where does she live?")])
    assert "Ludmila" in context.receipt.searched
    assert place.explain(context.id).receipt == context.receipt

    team.workspace.forget(event=receipt)

    with pytest.raises(NotFound):
        place.explain(context.id)


@pytest.mark.requirement("X2")
def test_turns_of_another_place_add_nothing(team: Team) -> None:
    team.alices.observe("alice", "My sister called.")

    assert team.room.compose("Where does she live?").receipt.searched == ""
    assert team.bobs.compose("Where does she live?").receipt.searched == ""


@pytest.mark.parametrize(
    "messages",
    [
        [],
        [{"role": "assistant", "content": "Hello."}],
        [{"role": "system", "content": "My sister called."}, *chat("Where does she live?")],
        [{"role": "tool", "content": "sister", "tool_call_id": "1"}, *chat("Is she in?")],
        [{"role": "user", "content": None}, *chat("Where does she live?")],
    ],
)
def test_messages_without_turns_before_the_question(
    team: Team, messages: list[dict[str, Any]]
) -> None:
    assert team.room.context_for(messages).receipt.searched == ""


def test_invalid_message_before_the_question_raises(team: Team) -> None:
    with pytest.raises(InvalidInput):
        team.room.context_for([{"role": "user", "content": 5}, *chat("Where does she live?")])


def test_thousands_of_long_turns_are_composed(open_nexus: Open, clock: Clock) -> None:
    clock.advance(days=1)
    place = open_nexus().workspace("acme").dm("alice", agent="scribe")
    long = "My sister Marta moved to Porto. " * 3_000
    messages = [*chat(long), *chat("Hm.", "Yes.") * 1_000, *chat("She called.", "Oh?", "And now?")]

    context = place.context_for(messages)

    assert context.receipt.seconds["plan"] < timedelta(seconds=1).total_seconds()
