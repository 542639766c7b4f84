"""Continuity story: the thirty sessions of `sessions.txt` and the questions about them.

The story is sent through the public API only, in the order of its lines. Every question is
answered by a composed context. A context shows a planted fact if its text contains all words of
the fact.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path

from nexusmem import Nexus, Place
from nexusmem.core.records.context import Context
from nexusmem.core.scope import Scope

FILE = Path(__file__).parent / "sessions.txt"
WORKSPACE = "ferries"
AGENT = "scribe"
PROJECT = "kestrel"
ROOMS = {
    "harbour": ["ana", "bram", "chidi", "dalia", "ewa"],
    "backend": ["ana", "bram", "chidi"],
    "money": ["ana", "ewa"],
}
PAUSE = timedelta(minutes=1)  # between messages
WINDOW = 40  # recent messages of a place; older facts have to be recalled

HEADING_LINE = re.compile(r"== (?P<number>\d+)  (?P<at>[\d-]+ [\d:]+)  (?P<place>\S+)")
MESSAGE_LINE = re.compile(
    r"(?P<speaker>\w+)(?: \[(?P<key>[\w-]+)=(?P<words>[^]]+)\])?(?: > (?P<wide>\w+))?: (?P<text>.+)"
)
QUESTION_LINE = re.compile(
    r"(?P<sort>[?!])(?: (?P<place>[a-z][\w:]*))? \[(?P<key>[\w-]+)\] (?P<text>.+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class StoryMessage:
    """One message of a session."""

    speaker: str
    text: str
    wider_scope: str | None = None  # "user" or "project": visible beyond its place


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One question, and whether its place may know the answer."""

    place: str
    key: str
    text: str
    may_know: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """One session: its place, its start and its lines."""

    number: int
    at: datetime
    place: str
    lines: list[StoryMessage | Question] = field(default_factory=list)

    @property
    def messages(self) -> list[StoryMessage]:
        return [line for line in self.lines if isinstance(line, StoryMessage)]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlantedFact:
    """A fact that a later question asks for."""

    key: str
    words: tuple[str, ...]
    text: str
    session: int
    scope: Scope  # the scope that may show it

    def is_shown_in(self, text: str) -> bool:
        """Return whether a text contains all words of the fact, each as separate words."""
        return self.is_shown_in_plain(normalize(text))

    def is_shown_in_plain(self, plain_text: str) -> bool:
        """Return whether a normalized text contains all words of the fact."""
        return all(_contains_words(words, plain_text) for words in self.words)


def normalize(text: str) -> str:
    """Return the text in lower case with single spaces."""
    return " ".join(text.split()).lower()


def _contains_words(words: str, plain_text: str) -> bool:
    needle = words.lower()
    if needle not in plain_text:  # fast path for most texts
        return False
    return bool(re.search(rf"(?<!\w){re.escape(needle)}(?!\w)", plain_text))


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """All sessions, and the planted facts by key."""

    sessions: tuple[Session, ...]
    planted: dict[str, PlantedFact]

    @property
    def questions(self) -> list[Question]:
        return [q for each in self.sessions for q in each.lines if isinstance(q, Question)]


def read_story(file: Path = FILE) -> Story:
    """Parse a story file.

    Raise ValueError for a line that is not a heading, a message, a question or a comment.
    """
    sessions: list[Session] = []
    planted: dict[str, PlantedFact] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        if not line or line.startswith("# ") or line == "#":
            continue
        if heading := HEADING_LINE.fullmatch(line):
            at = datetime.fromisoformat(heading["at"]).replace(tzinfo=UTC)
            place = heading["place"]
            sessions.append(Session(number=int(heading["number"]), at=at, place=place))
        elif match := QUESTION_LINE.fullmatch(line):
            sessions[-1].lines.append(_make_question(match, sessions[-1]))
        elif match := MESSAGE_LINE.fullmatch(line):
            _add_message(match, sessions[-1], planted)
        else:
            raise ValueError(
                f"expected a heading, a message, a question or a comment, got {line!r}"
            )
    return Story(sessions=tuple(sessions), planted=planted)


def _make_question(match: re.Match[str], session: Session) -> Question:
    return Question(
        place=match["place"] or session.place,
        key=match["key"],
        text=match["text"],
        may_know=match["sort"] == "?",
    )


def _add_message(match: re.Match[str], session: Session, planted: dict[str, PlantedFact]) -> None:
    line = StoryMessage(speaker=match["speaker"], text=match["text"], wider_scope=match["wide"])
    session.lines.append(line)
    if match["key"]:
        planted[match["key"]] = PlantedFact(
            key=match["key"],
            words=tuple(match["words"].split(" & ")),
            text=line.text,
            session=session.number,
            scope=message_scope(session.place, line),
        )


def message_scope(place: str, line: StoryMessage) -> Scope:
    """Return the scope of a message."""
    if line.wider_scope == "project":
        return Scope.project(PROJECT)
    if line.wider_scope == "user":
        return Scope.user(line.speaker)
    return Scope.dm(place[3:], AGENT) if place.startswith("dm:") else Scope.room(place)


# Replay


class Clock:
    """Clock that moves only when the story sets it."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A question of the story, its context, and planted facts that leaked into the context."""

    session: int
    question: Question
    planted: PlantedFact
    context: Context
    leaked: tuple[str, ...]  # keys of facts shown where access forbids them
    is_recent: bool  # among the recent messages of the place

    @property
    def has_fact(self) -> bool:
        """Whether the context shows the planted fact."""
        return self.planted.is_shown_in(self.context.text)

    def __str__(self) -> str:
        sort = "must be shown" if self.question.may_know else "must not be shown"
        words = " & ".join(self.planted.words)
        title = f"{self.question.place} in session {self.session}: {self.question.text}"
        return f"{title} → {words!r} {sort}"


Ask = Callable[[Place, str], Context]


def compose(place: Place, question: str) -> Context:
    return place.compose(question)


@dataclass
class StoryRunner:
    """Replays a story through a client and answers its questions."""

    nexus: Nexus
    story: Story
    clock: Clock
    ask: Ask = compose
    recent: dict[str, deque[str]] = field(default_factory=dict)  # place → recent messages

    def place(self, name: str) -> Place:
        """Return a room (`harbour`), a DM (`dm:ana`) or a session (`run:ana`)."""
        workspace = self.nexus.workspace(WORKSPACE)
        kind, _, user = name.partition(":")
        if kind == "dm":
            return workspace.dm(user, agent=AGENT, project=PROJECT)
        if kind == "run":
            return workspace.session("report", user=user, agent=AGENT, project=PROJECT)
        return workspace.room(name, agent=AGENT, participants=ROOMS[name], project=PROJECT)

    def run(self) -> Iterator[Answer]:
        """Replay all sessions and yield the answers."""
        for session in self.story.sessions:
            yield from self.run_session(session)

    def run_session(self, session: Session) -> Iterator[Answer]:
        """Replay one session: send its messages and answer its questions in order."""
        self.clock.now = session.at
        for line in session.lines:
            if isinstance(line, StoryMessage):
                self.send(session, line)
            else:
                yield self.answer(session.number, line)

    def send(self, session: Session, line: StoryMessage) -> None:
        """Send one message."""
        place = self.place(session.place)
        if line.wider_scope:
            place.remember(line.text, scope=str(message_scope(session.place, line)))
        else:
            place.observe(line.speaker, line.text)
        self.mark_sent(session, line)

    def mark_sent(self, session: Session, line: StoryMessage) -> None:
        """Add a sent message to the recent messages and advance the clock."""
        if not line.wider_scope:
            self.recent.setdefault(session.place, deque(maxlen=WINDOW)).append(line.text)
        self.clock.now += PAUSE

    def answer(self, session: int, question: Question) -> Answer:
        """Compose the context of a question and check it."""
        place = self.place(question.place)
        planted = self.story.planted[question.key]
        context = self.ask(place, question.text)
        return Answer(
            session=session,
            question=question,
            planted=planted,
            is_recent=planted.text in self.recent.get(question.place, ()),
            context=context,
            leaked=self.find_leaks(place, context.text),
        )

    def find_leaks(self, place: Place, text: str) -> tuple[str, ...]:
        """Return the keys of planted facts that the text shows but the place may not read."""
        shown = normalize(text)
        hidden = (each for each in self._planted if each.scope not in place.grant.scopes)
        return tuple(each.key for each in hidden if each.is_shown_in_plain(shown))

    @cached_property
    def _planted(self) -> list[PlantedFact]:
        return list(self.story.planted.values())


@dataclass(frozen=True, slots=True)
class StoryMetrics:
    """Continuity and leaks over all answers of a story."""

    answers: tuple[Answer, ...]

    @property
    def allowed(self) -> list[Answer]:
        """Answers in places that may know the fact."""
        return [each for each in self.answers if each.question.may_know]

    @property
    def forbidden(self) -> list[Answer]:
        """Answers in places that may not know the fact."""
        return [each for each in self.answers if not each.question.may_know]

    @property
    def older(self) -> list[Answer]:
        """Answers about facts that are not among the recent messages of the place."""
        return [each for each in self.allowed if not each.is_recent]

    @property
    def missed(self) -> list[Answer]:
        """Answers that do not show a fact they may show."""
        return [each for each in self.allowed if not each.has_fact]

    @property
    def leaks(self) -> list[str]:
        """Descriptions of answers that show facts they may not show."""
        wrong = [str(each) for each in self.forbidden if each.has_fact]
        return wrong + [f"{each}: also {each.leaked}" for each in self.answers if each.leaked]

    @property
    def continuity(self) -> float:
        return fact_share(self.allowed)

    @property
    def continuity_beyond_the_window(self) -> float:
        return fact_share(self.older)


def fact_share(answers: list[Answer]) -> float:
    """Return the share of answers that show their fact; 0.0 without answers."""
    return sum(each.has_fact for each in answers) / len(answers) if answers else 0.0
