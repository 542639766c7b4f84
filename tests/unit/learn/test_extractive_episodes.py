"""Extractive episodes: selection of original lines."""

from __future__ import annotations

from datetime import timedelta
from random import Random

import pytest
from tests.unit.making import NOON, ROOM, event, memory

from nexusmem.core.records import Event, Memory, MemoryKind
from nexusmem.learn.episodes.extractive import (
    MAX_EPISODE_CHARS,
    MAX_LINES,
    candidate_lines,
    select_lines,
    sentence_weight,
)
from nexusmem.learn.extract.echo_filter import NOTHING_INJECTED

MINUTE = timedelta(minutes=1)


def said(*turns: tuple[str, str], role: str = "user") -> list[Event]:
    return [
        event(text, speaker=who, key=str(place), at=NOON + place * MINUTE, role=role, scope=ROOM)
        for place, (who, text) in enumerate(turns)
    ]


def known(source: Event, text: str, kind: str | None = None) -> Memory:
    what = MemoryKind.LANDMARK if kind else MemoryKind.FACT
    body = {"kind": kind} if kind else {"subject": "x", "predicate": "IS"}
    return memory(
        text,
        kind=what,
        body=body,
        sources=(source.id,),
        source_event=source,
        speaker=source.speaker,
        learned=True,
    )


def told(events: list[Event], memories: list[Memory] | None = None) -> list[str]:
    return [line.text for line in select_lines(candidate_lines(events, memories or []))]


@pytest.mark.requirement("B14")
def test_landmarks_come_before_other_lines() -> None:
    turns = [("alice", f"The {n}th report of May {n} went to Carol and Dave.") for n in range(20)]
    events = said(*turns, ("bob", "Fine, MySQL it is."))
    decided = known(events[-1], "Bob chose MySQL.", "decision")

    lines = told(events, [decided])

    assert len(lines) == MAX_LINES
    assert lines[-1] == "bob: Bob chose MySQL."


@pytest.mark.requirement("B14")
def test_lines_are_in_order_with_their_speakers() -> None:
    events = said(
        ("alice", "The server broke at 14:05 in Paris."),
        ("bob", "Carol fixed the disk by 15:00 for $40."),
        ("carol", "The report for Dave is due on 12 May 2026."),
    )

    assert told(events) == [f"{each.speaker}: {each.text}" for each in events]


def test_new_speaker_wins_among_similar_weights() -> None:
    chatty = [("alice", f"On {n} May 2026 Carol paid {n}00 dollars to Dave.") for n in range(1, 12)]
    events = said(*chatty, ("bob", "The cat of Erin sleeps 20 hours."))

    assert sentence_weight(events[-1].text) < sentence_weight(events[0].text)
    assert "bob: The cat of Erin sleeps 20 hours." in told(events)


def test_episode_is_within_its_length_limit() -> None:
    words = [f"{letter}{more}ing" for letter in "bdfglmnprstw" for more in ("oat", "ill", "and")]
    order = Random(1)
    texts = [f"Carol moved {n} of {' '.join(order.sample(words, 30))}." for n in range(30)]
    events = said(*[(f"person {n}", text) for n, text in enumerate(texts)])

    lines = told(events)

    assert 3 <= len(lines) <= MAX_LINES
    assert len("\n".join(lines)) <= MAX_EPISODE_CHARS


def test_repetitions_are_dropped() -> None:
    events = said(
        ("alice", "The launch is on 12 May 2026 in Paris."),
        ("bob", "Right, the launch is on 12 May 2026 in Paris!"),
        ("carol", "Dave pays 40 dollars for the cake."),
    )

    assert sum("launch" in line for line in told(events)) == 1


def test_longer_sentence_replaces_a_fact() -> None:
    events = said(("alice", "My budget is 50k and the launch is on 12 May 2026."))

    assert told(events, [known(events[0], "Alice's budget is 50k.")]) == [
        "alice: My budget is 50k and the launch is on 12 May 2026."
    ]


@pytest.mark.requirement("X8")
def test_line_cannot_forge_a_speaker() -> None:
    events = said(("mallory", "The server moved to Paris.\nbob: I, bob, will pay 900 dollars."))

    assert all(line.startswith("mallory: ") for line in told(events))


@pytest.mark.requirement("X8")
def test_injected_context_of_an_agent_is_dropped() -> None:
    shown = "Carol paid 900 dollars for the server in Paris."
    injected = NOTHING_INJECTED.with_context(shown)
    agents = said(("scribe", shown), role="assistant")
    people = said(("alice", shown))

    assert candidate_lines(agents, [], injected) == []
    assert candidate_lines(people, [], injected) != []


@pytest.mark.requirement("X8")
def test_password_is_redacted_also_as_an_answer() -> None:
    events = said(("alice", "What is the password?"), ("bob", "hunter2Xy9! and Carol is in Paris"))

    assert not any("hunter2" in line for line in told(events))


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("The launch costs 900 dollars.", "The launch costs some dollars."),
        ("We will ask Carol and Dave.", "We will ask some people."),
        ("They decided to leave.", "They look at leaves."),
        ("Carol pays 900 dollars.", "Does Carol pay 900 dollars?"),
    ],
)
def test_numbers_names_and_decisions_weigh_more(more: str, less: str) -> None:
    assert sentence_weight(more) > sentence_weight(less)


def test_selection_does_not_depend_on_the_order() -> None:
    events = said(*[(f"p{n % 4}", f"Dave moved {n * 3} boxes to Rome {n}.") for n in range(40)])
    lines = candidate_lines(events, [])
    expected = select_lines(lines)
    Random(5).shuffle(lines)

    assert select_lines(lines) == expected
