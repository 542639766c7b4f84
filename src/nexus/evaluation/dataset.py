"""What every benchmark becomes: conversations to tell, and questions whose evidence is known."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One turn, with what `observe` takes."""

    speaker: str
    text: str
    key: str
    thread: str  # the session it was said in
    at: datetime
    role: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question, and where its answer was said."""

    id: str
    text: str
    category: str
    gold: frozenset[str]  # keys of messages
    gold_sessions: frozenset[str]
    abstention: bool = False  # it asks for what was never said; gold is what it sounds like
    at: datetime | None = None  # when it is asked, where a benchmark says so

    @property
    def scored(self) -> bool:
        """Whether there is any evidence to find: without it nothing can be measured."""
        return bool(self.gold or self.gold_sessions)


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """All that was said, in order, and the questions about it."""

    name: str
    people: tuple[str, ...]
    messages: tuple[Message, ...]
    questions: tuple[Question, ...]

    @property
    def sessions(self) -> dict[str, str]:
        """The session of each message, by its key."""
        return {message.key: message.thread for message in self.messages}

    @property
    def scored(self) -> tuple[Question, ...]:
        return tuple(question for question in self.questions if question.scored)

    @property
    def answerable(self) -> tuple[Question, ...]:
        """What the main figures are about: answered in the conversation, evidence known."""
        return tuple(question for question in self.scored if not question.abstention)


def first_questions(conversations: Sequence[Conversation], limit: int) -> Iterator[Conversation]:
    """As many conversations as hold the first `limit` questions that can be scored."""
    for conversation in conversations:
        asked = conversation.scored[:limit]
        if asked:
            yield replace(conversation, questions=asked)
        limit -= len(asked)
        if not limit:
            return
