"""Ten weeks of a small company: what was planted is there when it is asked for, and only there.

The story, its questions and what counts as an answer are in `bench/story`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from nexus import Nexus, Place
from nexus.config import Settings
from nexus.core.context import Context

sys.path.append(str(Path(__file__).parents[2] / "bench"))  # a bench is no package
from story.story import (
    AGENT,
    Answer,
    Clock,
    Figures,
    Question,
    Said,
    Session,
    Story,
    Telling,
    read_story,
)

ENOUGH = 0.95
BEYOND_THE_WINDOW = 0.92  # of what is not among the last messages of the place


def opened(where: Path | str, clock: Clock) -> Nexus:
    return Nexus.open(where, settings=Settings(), clock=clock, background=False)


@dataclass
class Told:
    """The story in a file, and what was answered on the way."""

    file: Path
    figures: Figures
    until: Clock


@pytest.fixture(scope="module")
def story() -> Story:
    return read_story()


@pytest.fixture(scope="module")
def told(story: Story, tmp_path_factory: pytest.TempPathFactory) -> Told:
    file, clock = tmp_path_factory.mktemp("story") / "memory.db", Clock(story.sessions[0].at)
    with opened(file, clock) as nexus:
        answers = tuple(Telling(nexus, story, clock).run())
    return Told(file, Figures(answers), clock)


def explained(answers: list[Answer]) -> str:
    return "\n".join(map(str, answers))


def test_the_story_is_what_it_says_it_is(story: Story) -> None:
    assert [session.number for session in story.sessions] == list(range(1, 31))
    assert all(8 <= len(session.said) <= 20 for session in story.sessions)
    assert story.sessions[-1].at - story.sessions[0].at == timedelta(weeks=9)
    assert len(story.planted) >= 60
    asked = {question.key for question in story.questions if question.may_know}
    assert asked == story.planted.keys()


def test_its_answers_cannot_come_from_elsewhere(story: Story) -> None:
    """What is planted is said once, and no question says it."""
    lines = [line.text for session in story.sessions for line in session.said]
    for planted in story.planted.values():
        assert [text for text in lines if planted.within(text)] == [planted.text]
    for question in story.questions:
        assert not story.planted[question.key].within(question.text)


def test_its_questions_are_asked_where_the_grant_says_so(story: Story) -> None:
    clock = Clock(story.sessions[0].at)
    with opened(":memory:", clock) as nexus:
        telling = Telling(nexus, story, clock)
        for question in story.questions:
            scopes = telling.place(question.place).grant.scopes
            assert (story.planted[question.key].scope in scopes) == question.may_know


@pytest.mark.slow
def test_what_was_planted_is_there_across_sessions(told: Told) -> None:
    figures = told.figures

    assert len(figures.asked) >= 150
    assert figures.continuity >= ENOUGH, explained(figures.missed)
    assert len(figures.older) >= 80
    assert figures.continuity_beyond_the_window >= BEYOND_THE_WINDOW, explained(figures.missed)


@pytest.mark.slow
@pytest.mark.requirement("A10", "A11", "A12")
def test_it_is_never_where_it_may_not_be(told: Told) -> None:
    assert len(told.figures.forbidden) >= 50
    assert told.figures.leaks == []


@pytest.mark.slow
def test_every_context_keeps_to_its_budget(told: Told) -> None:
    tokens = [answer.context.tokens for answer in told.figures.answers]

    assert 0 < max(tokens) <= Settings().compose.budget


@pytest.mark.slow
def test_a_new_process_gives_the_same(story: Story, told: Told) -> None:
    last = story.sessions[-1].number
    before = [each for each in told.figures.answers if each.session == last][::4]
    with opened(told.file, told.until) as nexus:
        telling = Telling(nexus, story, told.until)
        after = [telling.answer(last, each.question) for each in before]

    assert [each.holds for each in after] == [each.holds for each in before]
    assert Figures(tuple(after)).leaks == []


# Through `before` and `after`, as a chat program uses them


@dataclass
class Chatting(Telling):
    """The same story, told in chat messages: `before` gives the context, `after` takes down."""

    said: list[dict[str, Any]] = field(default_factory=list)
    thread: str | None = None

    def hold(self, session: Session) -> Iterator[Answer]:
        self.said, self.thread = [], f"session {session.number}"
        yield from super().hold(session)

    def say(self, session: Session, line: Said) -> None:
        if line.kept:
            super().say(session, line)
            return
        self.said.append(message(line.speaker, line.text))
        self.place(session.place).after(self.said, thread=self.thread)
        self.heard(session, line)

    def ask_here(self, place: Place, question: str) -> Context:
        """Asked after what was said in this session, which the messages show already."""
        asks = {"role": "user", "content": question}
        return place.before([*self.said, asks], thread=self.thread)


def message(speaker: str, text: str) -> dict[str, Any]:
    if speaker == AGENT:
        return {"role": "assistant", "content": text}
    return {"role": "user", "name": speaker, "content": text}


def alone_with(story: Story, person: str) -> Story:
    """One person's DM out of the story, with what is asked there."""
    place = f"dm:{person}"
    sessions = [
        Session(
            number=session.number,
            at=session.at,
            place=place,
            lines=[line for line in session.lines if _belongs(line, session, place)],
        )
        for session in story.sessions
    ]
    kept = {session.number for session in story.sessions if session.place == place}
    known = {key: each for key, each in story.planted.items() if each.session in kept}
    return Story(sessions=tuple(each for each in sessions if each.lines), planted=known)


def _belongs(line: Said | Question, session: Session, place: str) -> bool:
    if isinstance(line, Said):
        return session.place == place
    return line.place == place and line.may_know and line.key != "vat"


@pytest.mark.parametrize("person", ["ana", "bram", "dalia"])
def test_before_and_after_carry_it_as_well(story: Story, tmp_path: Path, person: str) -> None:
    part = alone_with(story, person)
    clock = Clock(part.sessions[0].at)
    with opened(tmp_path / "memory.db", clock) as nexus:
        chatting = Chatting(nexus, part, clock)
        chatting.ask = chatting.ask_here
        figures = Figures(tuple(chatting.run()))
        kept = chatting.place(f"dm:{person}").recent(1_000)

    said = [each.text for session in part.sessions for each in session.said if not each.kept]
    assert sorted(event.text for event in kept) == sorted(said)
    assert len(figures.asked) >= 6
    assert figures.missed == [], explained(figures.missed)


@pytest.mark.slow
def test_it_is_the_same_without_a_file(story: Story, told: Told) -> None:
    clock = Clock(story.sessions[0].at)
    with opened(":memory:", clock) as nexus:
        figures = Figures(tuple(Telling(nexus, story, clock).run()))

    assert figures.leaks == []
    assert figures.continuity >= ENOUGH, explained(figures.missed)
    assert abs(figures.continuity - told.figures.continuity) < 0.02
