"""Relevance: what is not likely to help is withheld, and the answer comes first."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from nexusmem import Nexus
from nexusmem.core.errors import InvalidInput
from nexusmem.core.records.context import Context
from nexusmem.place.place import Place

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
ANSWER = "Our new kiln is a Rohde TE 150, it comes on Thursday."
CHATTER = (
    "The glaze test came out far too green again.",
    "Somebody left the back window open all night.",
    "I washed the aprons and hung them over the sink.",
    "The radio only finds one station since the storm.",
    "We are nearly out of the fine sandpaper.",
    "There was a heron on the roof when I came in.",
    "My bicycle has a flat tyre, so I walked today.",
    "The courier rang twice but nobody heard it.",
)


@pytest.fixture
def place() -> Place:
    """A room with one answer in the middle of a month of chatter, asked two days later."""
    now = [START]
    nexus = Nexus.open(":memory:", clock=lambda: now[0], background=False)
    room = nexus.workspace("pottery").room("studio", participants=["ida", "jon"])
    for number in range(120):
        now[0] += timedelta(hours=5)
        speaker = ("ida", "jon")[number % 2]
        room.observe(speaker, f"{CHATTER[number % len(CHATTER)]} Note {number}.")
        if number == 60:
            room.observe("ida", ANSWER, key="kiln")
            room.observe("jon", "Great, then I clear the corner on Wednesday.", key="corner")
    now[0] += timedelta(days=2)
    return room


def found_keys(context: Context) -> set[str]:
    return {section.part for section in context.sections if section.items}


@pytest.mark.requirement("X11", "D17")
@pytest.mark.parametrize("budget", [250, 500, 1_000, 4_000])
def test_answer_is_shown_at_every_budget(place: Place, budget: int) -> None:
    context = place.compose("Which kiln did we buy?", budget=budget)

    assert "Rohde TE 150" in context.text
    assert context.tokens <= budget
    assert sum(context.receipt.sections.values()) + context.receipt.frame == context.tokens


@pytest.mark.requirement("X11")
def test_best_hit_brings_the_reply_to_it(place: Place) -> None:
    context = place.compose("When does the new kiln come?")

    first = context.section_items("recall")[0]
    assert "it comes on Thursday" in first.text
    assert "jon: Great, then I clear the corner on Wednesday." in first.text
    assert len(first.events) >= 2


@pytest.mark.requirement("X11")
def test_hits_carry_a_probability_and_weak_ones_are_withheld(place: Place) -> None:
    every = place.recall("Which kiln did we buy?", limit=20, min_relevance=0.0001)
    likely = place.recall("Which kiln did we buy?", limit=20, min_relevance=0.2)

    best = every[0].relevance
    assert every[0].event_keys == ("kiln",)
    assert best is not None
    assert best > 0.2
    assert all(hit.relevance is not None and hit.relevance >= 0.2 for hit in likely)
    assert likely.withheld > 0
    assert len(likely) < len(every)
    assert likely[0].id == every[0].id


def test_without_a_minimum_nothing_is_withheld_or_rated(place: Place) -> None:
    found = place.recall("Which kiln did we buy?")

    assert found.withheld == 0
    assert [hit.relevance for hit in found] == [None] * len(found)


@pytest.mark.parametrize("minimum", [-0.1, 1.5, float("nan"), "0.5", True])
def test_wrong_minimum_is_refused(place: Place, minimum: object) -> None:
    with pytest.raises(InvalidInput, match="min_relevance must be between 0 and 1"):
        place.recall("kiln", min_relevance=minimum)  # type: ignore[arg-type]


@pytest.mark.requirement("X11")
@pytest.mark.parametrize("text", ["thanks!", "ok", "Great, perfect!", "Good night!"])
def test_small_talk_costs_little(place: Place, text: str) -> None:
    context = place.compose(text, recent_messages=1)

    assert found_keys(context) <= {"landmarks", "window"}
    assert context.tokens - context.receipt.sections.get("window", 0) <= 150


@pytest.mark.requirement("X11")
def test_related_lines_do_not_repeat_the_lines_above(place: Place) -> None:
    context = place.compose("Which kiln did we buy, and who clears the corner?")

    above = " ".join(
        item.text for part in ("landmarks", "recall") for item in context.section_items(part)
    )
    related = [item.text for item in context.section_items("related")]
    assert "Rohde TE 150" in above
    assert related
    assert not any(text in above or "Rohde" in text or "corner" in text for text in related)


@pytest.mark.requirement("X11")
def test_message_of_another_hour_is_not_shown_beside_a_hit() -> None:
    now = [START]
    nexus = Nexus.open(":memory:", clock=lambda: now[0], background=False)
    room = nexus.workspace("pottery").room("studio", participants=["ida", "jon"])
    for hours, speaker, text in (
        (0, "jon", "The courier rang twice but nobody heard it."),
        (5, "ida", ANSWER),
        (1, "jon", "Great, then I clear the corner on Wednesday."),
        (30, "ida", "Who waters the ferns?"),
        (1, "jon", "The radio only finds one station since the storm."),
    ):
        now[0] += timedelta(hours=hours)
        room.observe(speaker, text)
    now[0] += timedelta(days=40)

    (hit, *_) = room.compose("Which kiln did we buy?").section_items("recall")

    assert hit.text == f"{ANSWER}\njon: Great, then I clear the corner on Wednesday."


@pytest.mark.requirement("X11", "X8")
def test_mark_of_an_excerpt_belongs_to_its_first_speaker() -> None:
    now = [START]
    nexus = Nexus.open(":memory:", clock=lambda: now[0], background=False)
    dm = nexus.workspace("pottery").dm("ida", agent="scribe")
    dm.observe("ida", "I washed the aprons and hung them over the sink.")
    now[0] += timedelta(minutes=1)
    dm.observe("scribe", ANSWER, role="assistant")
    now[0] += timedelta(minutes=1)
    dm.observe("crm_search", "Rohde: 3 kilns in stock.", role="tool")
    now[0] += timedelta(days=40)

    text = dm.compose("Which kiln did we buy? It comes on Thursday.").text

    assert "- 2026-03-02 ida: I washed the aprons" in text
    assert f"\n    scribe: {ANSWER}\n    [external] crm_search: Rohde" in text


@pytest.mark.requirement("D17")
def test_sentence_that_no_shown_line_quotes_stays_in_its_message() -> None:
    """Facts and decisions quote sentences, but not all have room in a small context."""
    now = [START]
    nexus = Nexus.open(":memory:", clock=lambda: now[0], background=False)
    dm = nexus.workspace("pottery").dm("ida", agent="scribe")
    said = (
        "I can't eat shellfish, makes my throat swell. Keep that in mind when you suggest recipes.",
        "I live in Leeds and work at Lindqvist as an analyst. The commute is 4 km by bicycle.",
        "My sister Ilse lives in Ghent with two dogs. She is vegan and hates museums so much.",
        "I've decided against the cello, my wrist hurts. I returned it to the shop this morning.",
        "We decided to rent the small kiln. It costs 40 euros a week with the delivery.",
        "I'll call the landlord about the rent. He wants 500 kronor more from next May.",
        "We decided to paint the whole studio white before the exhibition in the spring.",
        "We decided to buy the glaze from Hadley instead of Moss, because it is cheaper.",
        "I'll order forty kilos of stoneware clay from the warehouse. My boss is Henrik Wall.",
        "I'll repair the back window of the studio with Jon. My brother Piet is a glazier.",
        "I'm allergic to cats, they make me sneeze. Remember it when you plan my visits.",
        *CHATTER,
    )
    for text in said:
        now[0] += timedelta(hours=5)
        dm.observe("ida", text)
    now[0] += timedelta(days=20)
    questions = (
        "What foods do I have to avoid?",
        "Who visits museums?",
        "What costs much?",
        "What makes me ill?",
    )

    shortened = 0
    for budget in (250, 300, 350, 400, 500, 700):
        for context in (dm.compose(each, budget=budget) for each in questions):
            for item in context.section_items("related"):
                (whole,) = (text for text in said if item.text in text)
                rest = whole.replace(item.text, "").strip()
                shortened += bool(rest)
                assert rest.rstrip(".") in context.text
    assert shortened
