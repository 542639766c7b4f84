"""Echo filter: injected memories and repetitions are not learned."""

from __future__ import annotations

import html
import textwrap
import time
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from tests.unit.making import NOON, event

from nexusmem.core.records import Event, EventKind, Trust
from nexusmem.learn.extract.echo_filter import (
    MAX_CONTEXTS,
    MAX_DIGESTS,
    RETRY_WINDOW,
    InjectedContexts,
    new_text,
    own_text,
    text_digests,
)
from nexusmem.text.fence import fence_text

TEA = "Alice drinks green tea in the morning."
PLAN = "The launch of Apollo was moved to the ninth of May, because Bob is ill."
CONTEXT = f"# What is known\n\n- {TEA}\n- [2026-03-01, bob] {PLAN}\n\nBob said: I am on holiday."
INJECTED = InjectedContexts().with_context(CONTEXT)
OWN = "Shall I put the kettle on for her?"


def by_agent(text: str, **rest: Any) -> Event:
    told = {"speaker": "scribe", "role": "assistant", "trust": Trust.INFERRED, "key": "a", **rest}
    return event(text, **told)


def by_tool(text: str) -> Event:
    return by_agent(text, speaker="notes", role="tool", kind=EventKind.TOOL)


# -- injected contexts


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
def test_pasted_memory_is_removed_from_agent_text(text: str, made: Any) -> None:
    left = own_text(made(text), INJECTED)

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
def test_other_words_of_an_agent_stay(text: str) -> None:
    assert own_text(by_agent(text), INJECTED) == text


def test_short_phrases_are_never_echoes() -> None:
    assert own_text(
        by_agent("Yes, of course."), InjectedContexts().with_context("Yes, of course.")
    ) == ("Yes, of course.")


def test_text_without_spaces_is_recognized() -> None:
    said = "爱丽丝每天早上都喝绿茶并且在花园里读书很久"

    assert (
        own_text(by_agent(f"{said}。\n{OWN}"), InjectedContexts().with_context(f"{said}。")) == OWN
    )


@pytest.mark.requirement("X8")
def test_person_may_repeat_an_injected_memory() -> None:
    assert own_text(event(TEA), INJECTED) == TEA
    assert new_text(event(TEA), (), INJECTED) == TEA


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("made", [event, by_agent, by_tool])
def test_fenced_block_is_removed(made: Any) -> None:
    said = made(f"{fence_text(TEA, id='1')}\n{OWN}")

    assert own_text(said) == OWN
    assert new_text(said) == OWN


def test_message_of_only_injected_text_is_empty() -> None:
    assert own_text(event(fence_text(TEA, id="1"))) == ""
    assert own_text(by_agent(f"- {PLAN}\n\n{TEA}\n"), INJECTED) == ""


def test_injected_contexts_hold_digests_only() -> None:
    assert "tea" not in repr(INJECTED)
    assert text_digests(TEA) == text_digests(f"  {TEA.upper()}  ")
    assert text_digests("Hi.") == frozenset()


def test_injected_contexts_can_be_stored_and_loaded() -> None:
    kept = [sorted(each) for each in INJECTED.contexts]

    assert InjectedContexts(tuple(map(frozenset, kept))) == INJECTED


def test_oldest_injected_contexts_are_dropped() -> None:
    many = InjectedContexts().with_context(TEA)
    for number in range(MAX_CONTEXTS):
        many = many.with_context(f"Context number {number} says that nothing happened.")
    large = "\n".join(f"Line {number} of a very large context." for number in range(MAX_DIGESTS))

    assert len(many.contexts) == MAX_CONTEXTS
    assert not many.contains_text(TEA)
    assert INJECTED.with_context(large).contexts == (text_digests(large),)


# -- repetitions


MOVED = "I moved to Berlin in March."


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("made", [by_agent, by_tool])
def test_agent_repeating_a_person_gives_no_second_fact(made: Any) -> None:
    recent = [event(f"Hello! {MOVED} And you?")]

    assert new_text(made(MOVED), recent) == ""
    assert new_text(made(f"> {MOVED}\n\nGot it, noted in the file."), recent) == (
        "Got it, noted in the file."
    )
    assert own_text(made(MOVED)) == MOVED  # the passage stays searchable


def test_ten_echoes_count_once() -> None:
    recent = [event(MOVED)]
    for number in range(10):
        echo = by_agent(f"{MOVED}", key=f"echo-{number}")
        assert new_text(echo, recent) == ""
        recent.append(echo)


@pytest.mark.requirement("X8")
@pytest.mark.parametrize("again", [MOVED, f" {MOVED} ", MOVED.upper(), MOVED.replace(" ", "\n")])
def test_message_sent_twice_counts_once(again: str) -> None:
    first = event(MOVED, key="live")
    imported = event(again, key="imported-17", trust=Trust.EXTERNAL)
    retry = event(again, key="retry", at=NOON + RETRY_WINDOW)

    assert new_text(imported, [first]) == ""
    assert new_text(retry, [first, by_agent("Sorry, please send that again.")]) == ""
    assert new_text(first, []) == MOVED


@pytest.mark.requirement("X8", "E21")
def test_person_may_say_the_same_again_later() -> None:
    first = event(MOVED, key="first")
    later = event(MOVED, key="later", at=NOON + RETRY_WINDOW + timedelta(seconds=1))
    between = event("I moved to Hamburg in May.", key="between", at=NOON + timedelta(seconds=20))
    soon = event(MOVED, key="soon", at=NOON + timedelta(seconds=40))

    assert new_text(later, [first]) == MOVED
    assert new_text(soon, [first, between]) == MOVED  # back again: no retry


def test_agent_that_says_the_same_again_is_an_echo() -> None:
    later = by_agent(MOVED, key="later", at=NOON + timedelta(weeks=2))

    assert new_text(later, [by_agent(MOVED, key="first")]) == ""


def test_another_person_may_state_the_same() -> None:
    assert new_text(event(MOVED, speaker="bob", key="b"), [event(MOVED)]) == MOVED


def test_person_may_answer_in_the_words_of_an_agent() -> None:
    said = "We use PostgreSQL for the ledger."

    assert new_text(event(said), [by_agent(said)]) == said


def test_event_is_no_echo_of_itself() -> None:
    assert new_text(event(MOVED), [event(MOVED)]) == MOVED


def test_new_words_of_an_agent_stay() -> None:
    recent = [event("We met Sarah in Lisbon.")]
    said = "Sarah works at Globex in Lisbon."

    assert new_text(by_agent(said), recent) == said


@given(some.text(max_size=200), some.text(max_size=200))
def test_any_text_can_be_compared(text: str, context: str) -> None:
    injected = InjectedContexts().with_context(context)

    assert len(own_text(by_agent(text), injected)) <= len(text)
    assert len(new_text(by_agent(text), [event(context)], injected)) <= len(text)


@given(some.text(max_size=200))
def test_nothing_is_removed_without_earlier_texts(text: str) -> None:
    assert new_text(by_agent(text), [event("x")], INJECTED) == text


@pytest.mark.slow
@pytest.mark.parametrize("piece", ["tea ", "a. ", "x\n", "\n\n", "[a] ", "a: ", "> ", "1. "])
def test_long_text_is_compared_in_linear_time(piece: str) -> None:
    text = piece * (300_000 // len(piece))
    began = time.process_time()

    own_text(by_agent(text), INJECTED)
    new_text(by_agent(text), [event(text)], INJECTED)

    assert time.process_time() - began < 10
