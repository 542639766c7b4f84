"""Thirty sessions as they were written down in `sessions.txt`, and what is asked about them.

The story is told through the public API alone, in the order of its lines, and every question is
answered by a composed context. A context holds a planted thing if all its words are in its text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from nexus import Nexus, Place
from nexus.core.context import Context
from nexus.core.scope import Scope

FILE = Path(__file__).parent / "sessions.txt"
WORKSPACE = "ferries"
AGENT = "scribe"
PROJECT = "kestrel"
ROOMS = {
    "harbour": ["ana", "bram", "chidi", "dalia", "ewa"],
    "backend": ["ana", "bram", "chidi"],
    "money": ["ana", "ewa"],
}
PAUSE = timedelta(minutes=1)
WINDOW = 40  # messages: what was said before the last ones of a place has to be found

HEADING = re.compile(r"== (?P<number>\d+)  (?P<at>[\d-]+ [\d:]+)  (?P<place>\S+)")
SAID = re.compile(
    r"(?P<speaker>\w+)(?: \[(?P<key>[\w-]+)=(?P<words>[^]]+)\])?(?: > (?P<kept>\w+))?: (?P<text>.+)"
)
ASKED = re.compile(r"(?P<sort>[?!])(?: (?P<place>[a-z][\w:]*))? \[(?P<key>[\w-]+)\] (?P<text>.+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    speaker: str
    text: str
    kept: str | None = None  # "user" or "project": for more than the place it was said in


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    place: str
    key: str
    text: str
    may_know: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    number: int
    at: datetime
    place: str
    lines: list[Said | Question] = field(default_factory=list)

    @property
    def said(self) -> list[Said]:
        return [line for line in self.lines if isinstance(line, Said)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Planted:
    """Something that is asked about later."""

    key: str
    words: tuple[str, ...]
    text: str
    session: int
    scope: Scope  # where it may be known

    def within(self, text: str) -> bool:
        """Whether all its words stand in a text, each as a word of its own."""
        return self.stands_in(plain(text))

    def stands_in(self, plain_text: str) -> bool:
        return all(_stands(words, plain_text) for words in self.words)


def plain(text: str) -> str:
    """Without what line ends and capitals change."""
    return " ".join(text.split()).lower()


def _stands(words: str, plain_text: str) -> bool:
    wanted = words.lower()
    if wanted not in plain_text:  # nearly always, and much faster
        return False
    return bool(re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", plain_text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    sessions: tuple[Session, ...]
    planted: dict[str, Planted]

    @property
    def questions(self) -> list[Question]:
        return [q for each in self.sessions for q in each.lines if isinstance(q, Question)]


def read_story(file: Path = FILE) -> Story:
    sessions: list[Session] = []
    planted: dict[str, Planted] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("# ") or line == "#":
            continue
        if heading := HEADING.fullmatch(line):
            at = datetime.fromisoformat(heading["at"]).replace(tzinfo=UTC)
            place = heading["place"]
            sessions.append(Session(number=int(heading["number"]), at=at, place=place))
        elif asked := ASKED.fullmatch(line):
            sessions[-1].lines.append(_question(asked, sessions[-1]))
        elif said := SAID.fullmatch(line):
            _add_said(said, sessions[-1], planted)
        else:
            raise ValueError(f"cannot be read: {line!r}")
    return Story(sessions=tuple(sessions), planted=planted)


def _question(asked: re.Match[str], session: Session) -> Question:
    return Question(
        place=asked["place"] or session.place,
        key=asked["key"],
        text=asked["text"],
        may_know=asked["sort"] == "?",
    )


def _add_said(said: re.Match[str], session: Session, planted: dict[str, Planted]) -> None:
    line = Said(speaker=said["speaker"], text=said["text"], kept=said["kept"])
    session.lines.append(line)
    if said["key"]:
        planted[said["key"]] = Planted(
            key=said["key"],
            words=tuple(said["words"].split(" & ")),
            text=line.text,
            session=session.number,
            scope=scope_of(session.place, line),
        )


def scope_of(place: str, line: Said) -> Scope:
    if line.kept == "project":
        return Scope.project(PROJECT)
    if line.kept == "user":
        return Scope.user(line.speaker)
    return Scope.dm(place[3:], AGENT) if place.startswith("dm:") else Scope.room(place)


# Telling it


class Clock:
    """Time that passes only when the story says so."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question of the story, what came of it, and what of it may not have come."""

    session: int
    question: Question
    planted: Planted
    context: Context
    leaked: tuple[str, ...]  # keys of things that are shown where they may not be known
    lately: bool  # whether it is among the last messages of the place anyway

    @property
    def holds(self) -> bool:
        return self.planted.within(self.context.text)

    def __str__(self) -> str:
        sort = "must be there" if self.question.may_know else "must not be there"
        words = " & ".join(self.planted.words)
        asked = f"{self.question.place} in session {self.session}: {self.question.text}"
        return f"{asked} → {words!r} {sort}"


Ask = Callable[[Place, str], Context]


def compose(place: Place, question: str) -> Context:
    return place.compose(question)


@dataclass
class Telling:
    """A story on its way into a memory."""

    nexus: Nexus
    story: Story
    clock: Clock
    ask: Ask = compose
    last: dict[str, deque[str]] = field(default_factory=dict)  # place → what was said there lately

    def place(self, name: str) -> Place:
        """`harbour` is a room, `dm:ana` a DM, `run:ana` a session of hers."""
        workspace = self.nexus.workspace(WORKSPACE)
        kind, _, user = name.partition(":")
        if kind == "dm":
            return workspace.dm(user, agent=AGENT, project=PROJECT)
        if kind == "run":
            return workspace.session("report", user=user, agent=AGENT, project=PROJECT)
        return workspace.room(name, agent=AGENT, participants=ROOMS[name], project=PROJECT)

    def run(self) -> Iterator[Answer]:
        for session in self.story.sessions:
            yield from self.hold(session)

    def hold(self, session: Session) -> Iterator[Answer]:
        """Say and ask everything in its order."""
        self.clock.now = session.at
        for line in session.lines:
            if isinstance(line, Said):
                self.say(session, line)
            else:
                yield self.answer(session.number, line)

    def say(self, session: Session, line: Said) -> None:
        place = self.place(session.place)
        if line.kept:
            place.remember(line.text, scope=str(scope_of(session.place, line)))
        else:
            place.observe(line.speaker, line.text)
        self.heard(session, line)

    def heard(self, session: Session, line: Said) -> None:
        if not line.kept:
            self.last.setdefault(session.place, deque(maxlen=WINDOW)).append(line.text)
        self.clock.now += PAUSE

    def answer(self, session: int, question: Question) -> Answer:
        place = self.place(question.place)
        planted = self.story.planted[question.key]
        context = self.ask(place, question.text)
        return Answer(
            session=session,
            question=question,
            planted=planted,
            lately=planted.text in self.last.get(question.place, ()),
            context=context,
            leaked=self.leaked(place, context.text),
        )

    def leaked(self, place: Place, text: str) -> tuple[str, ...]:
        """Everything planted that may not be known there and is shown all the same."""
        shown = plain(text)
        hidden = (each for each in self._planted if each.scope not in place.grant.scopes)
        return tuple(each.key for each in hidden if each.stands_in(shown))

    @cached_property
    def _planted(self) -> list[Planted]:
        return list(self.story.planted.values())


@dataclass(frozen=True, slots=True)
class Figures:
    """How much of what was asked for was there, and what was there that may not be."""

    answers: tuple[Answer, ...]

    @property
    def asked(self) -> list[Answer]:
        return [each for each in self.answers if each.question.may_know]

    @property
    def forbidden(self) -> list[Answer]:
        return [each for each in self.answers if not each.question.may_know]

    @property
    def older(self) -> list[Answer]:
        """Questions about what is not among the last messages of the place."""
        return [each for each in self.asked if not each.lately]

    @property
    def missed(self) -> list[Answer]:
        return [each for each in self.asked if not each.holds]

    @property
    def leaks(self) -> list[str]:
        wrong = [str(each) for each in self.forbidden if each.holds]
        return wrong + [f"{each}: also {each.leaked}" for each in self.answers if each.leaked]

    @property
    def continuity(self) -> float:
        return share(self.asked)

    @property
    def continuity_beyond_the_window(self) -> float:
        return share(self.older)


def share(answers: list[Answer]) -> float:
    return sum(each.holds for each in answers) / len(answers) if answers else 0.0
