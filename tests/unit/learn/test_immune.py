"""Nexus does not learn from its own voice, and one origin counts once."""

from __future__ import annotations

import html
import textwrap
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import event

from nexus.core.fence import fenced
from nexus.core.records import Event, EventKind, Trust
from nexus.learn.immune import (
    MOST_CONTEXTS,
    MOST_DIGESTS,
    Injected,
    digests_of,
    new_words,
    own_words,
)

TEA = "Alice drinks green tea in the morning."
PLAN = "The launch of Apollo was moved to the ninth of May, because Bob is ill."
CONTEXT = f"# What is known\n\n- {TEA}\n- [2026-03-01, bob] {PLAN}\n\nBob said: I am on holiday."
INJECTED = Injected().plus(CONTEXT)
OWN = "Shall I put the kettle on for her?"


def by_agent(text: str, **rest: Any) -> Event:
    told = {"speaker": "scribe", "role": "assistant", "trust": Trust.INFERRED, "key": "a", **rest}
    return event(text, **told)


def by_tool(text: str) -> Event:
    return by_agent(text, speaker="notes", role="tool", kind=EventKind.TOOL)


# What was injected


ECHOES = {
    "alone": TEA,
    "with own words after it": f"{TEA} {OWN}",
    "with own words before it": f"{OWN} {TEA}",
    "as a line": f"{OWN}\n{TEA}\n",
    "as a paragraph": f"{OWN}\n\n{TEA}\n\n{OWN}",
    "in a list": f"{OWN}\n- {TEA}\n* {PLAN}",
    "numbered": f"1. {TEA}\n2. {PLAN}\n{OWN}",
    "quoted": f"> {TEA}\n> {PLAN}\n\n{OWN}",
    "wrapped": textwrap.fill(PLAN, 30) + f"\n\n{OWN}",
    "with a label": f"Memory: {TEA}\n{OWN}",
    "with its header": f"[2026-03-01, bob] {PLAN}\n{OWN}",
    "without its header": f"{PLAN}\n{OWN}",
    "in bold": f"**{TEA}**\n{OWN}",
    "in quotation marks": f"“{TEA}”\n{OWN}",
    "shouted": f"{TEA.upper()}\n{OWN}",
    "spaced": "  ".join(TEA.split()) + f"\n{OWN}",
    "without its full stop": f"{TEA[:-1]}\n{OWN}",
    "in html": f"<p>{html.escape(PLAN)}</p>\n{OWN}",
    "whole": f"{CONTEXT}\n\n{OWN}",
}


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("made", [by_agent, by_tool])
@pytest.mark.parametrize("text", ECHOES.values(), ids=ECHOES)
def test_an_agent_that_pastes_a_memory_back_says_nothing_with_it(text: str, made: Any) -> None:
    left = own_words(made(text), INJECTED)

    assert "green tea" not in left.lower()
    assert "launch" not in left.lower()
    assert (OWN in left) == (OWN in text)


@pytest.mark.parametrize(
    "text",
    [
        "Alice drinks green tea in the evening.",
        "Alice drinks tea.",
        "I told Bob that Alice drinks green tea in the morning, and he laughed.",
        OWN,
        "Of course!",
        "  kept as it is \n\n\n with its spaces ",
    ],
)
def test_other_words_are_its_own(text: str) -> None:
    assert own_words(by_agent(text), INJECTED) == text


def test_short_phrases_are_nobodys() -> None:
    assert own_words(by_agent("Yes, of course."), Injected().plus("Yes, of course.")) == (
        "Yes, of course."
    )


def test_words_without_spaces_are_recognised_too() -> None:
    said = "爱丽丝每天早上都喝绿茶并且在花园里读书很久"

    assert own_words(by_agent(f"{said}。\n{OWN}"), Injected().plus(f"{said}。")) == OWN


@pytest.mark.requirement("X8")
def test_a_person_is_believed_who_says_what_they_were_shown() -> None:
    assert own_words(event(TEA), INJECTED) == TEA
    assert new_words(event(TEA), (), INJECTED) == TEA


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("made", [event, by_agent, by_tool])
def test_a_fenced_block_is_nobodys_words(made: Any) -> None:
    said = made(f"{fenced(TEA, id='1')}\n{OWN}")

    assert own_words(said) == OWN
    assert new_words(said) == OWN


def test_a_message_of_nothing_else_is_empty() -> None:
    assert own_words(event(fenced(TEA, id="1"))) == ""
    assert own_words(by_agent(f"- {PLAN}\n\n{TEA}\n"), INJECTED) == ""


def test_injected_holds_digests_and_no_text() -> None:
    assert "tea" not in repr(INJECTED)
    assert digests_of(TEA) == digests_of(f"  {TEA.upper()}  ")
    assert digests_of("Hi.") == frozenset()


def test_injected_can_be_kept_elsewhere_and_made_again() -> None:
    kept = [sorted(each) for each in INJECTED.contexts]

    assert Injected(tuple(map(frozenset, kept))) == INJECTED


def test_injected_lets_the_oldest_go() -> None:
    many = Injected().plus(TEA)
    for number in range(MOST_CONTEXTS):
        many = many.plus(f"Context number {number} says that nothing happened.")
    large = "\n".join(f"Line {number} of a very large context." for number in range(MOST_DIGESTS))

    assert len(many.contexts) == MOST_CONTEXTS
    assert not many.holds(TEA)
    assert INJECTED.plus(large).contexts == (digests_of(large),)


# One origin counts once


MOVED = "I moved to Berlin in March."


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("made", [by_agent, by_tool])
def test_a_machine_that_repeats_a_person_makes_no_second_fact(made: Any) -> None:
    recent = [event(f"Hello! {MOVED} And you?")]

    assert new_words(made(MOVED), recent) == ""
    assert new_words(made(f"> {MOVED}\n\nGot it, noted in the file."), recent) == (
        "Got it, noted in the file."
    )
    assert own_words(made(MOVED)) == MOVED  # it was said, and can be found


def test_ten_echoes_are_one_voice() -> None:
    recent = [event(MOVED)]
    for number in range(10):
        echo = by_agent(f"{MOVED}", key=f"echo-{number}")
        assert new_words(echo, recent) == ""
        recent.append(echo)


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("again", [MOVED, f" {MOVED} ", MOVED.upper(), MOVED.replace(" ", "\n")])
def test_the_same_message_of_the_same_person_is_one_origin(again: str) -> None:
    first = event(MOVED, key="live")
    imported = event(again, key="imported-17", trust=Trust.EXTERNAL)

    assert new_words(imported, [first]) == ""
    assert new_words(first, []) == MOVED


def test_another_person_may_say_the_same_of_themselves() -> None:
    assert new_words(event(MOVED, speaker="bob", key="b"), [event(MOVED)]) == MOVED


def test_a_person_may_answer_an_agent_in_its_own_words() -> None:
    said = "We use PostgreSQL for the ledger."

    assert new_words(event(said), [by_agent(said)]) == said


def test_an_event_is_no_echo_of_itself() -> None:
    assert new_words(event(MOVED), [event(MOVED)]) == MOVED


def test_what_an_agent_adds_is_new() -> None:
    recent = [event("We met Sarah in Lisbon.")]
    said = "Sarah works at Globex in Lisbon."

    assert new_words(by_agent(said), recent) == said


@given(some.text(max_size=200), some.text(max_size=200))
def test_any_text_can_be_compared(text: str, context: str) -> None:
    injected = Injected().plus(context)

    assert len(own_words(by_agent(text), injected)) <= len(text)
    assert len(new_words(by_agent(text), [event(context)], injected)) <= len(text)


@given(some.text(max_size=200))
def test_without_anything_before_nothing_is_lost(text: str) -> None:
    assert new_words(by_agent(text), [event("x")], INJECTED) == text


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["tea ", "a. ", "x\n", "\n\n", "[a] ", "a: ", "> ", "1. "])
def test_a_long_text_is_compared_in_one_pass(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    began = time.process_time()

    own_words(by_agent(text), INJECTED)
    new_words(by_agent(text), [event(text)], INJECTED)

    assert time.process_time() - began < 10
