"""Chat corpus run: observe labelled messages and read back what was learned from each of them.

The corpus is a JSON Lines file of single messages and of conversations with questions. Its labels
are never read here: only the fields that an application has, such as speaker, time and text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ..client import Nexus
from ..core.canonical import EARLIEST
from ..core.errors import InvalidInput
from ..core.records import MemoryKind
from ..place.place import Place
from ..runtime.progress import ProgressCallback, ignore_progress
from .benchmarks import find_file, report_format_errors
from .chat_format import SURE_CONFIDENCE, Record, describe_memories
from .chat_questions import ChatQuestion, answer_question

CORPUS_FILES = ("chat-dev/dev.jsonl", "dev.jsonl")
ROOM_NAME = "talk"
AGENT_REGISTERS = frozenset({"assistant", "coding_agent"})  # one person talks to an agent
READ_KINDS = (MemoryKind.FACT, MemoryKind.LANDMARK, MemoryKind.ENTITY, MemoryKind.EPISODE)
MAX_MEMORIES = 10_000  # of one conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatMessage:
    """One message, with the arguments of `observe`."""

    id: str
    speaker: str
    text: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatItem:
    """A single message, or a conversation with its questions."""

    id: str
    register: str
    messages: tuple[ChatMessage, ...]
    questions: tuple[ChatQuestion, ...] = ()

    @property
    def people(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(message.speaker for message in self.messages))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatRun:
    """The output of a run, one record per message and conversation, and what could not be read."""

    records: tuple[Record, ...]
    stuck: int  # messages that could not be learned, for example because a model failed


@dataclass(slots=True)
class ReplayClock:
    """A clock that shows the time of the message being observed; it never goes back."""

    time: datetime = EARLIEST

    def __call__(self) -> datetime:
        return self.time

    def advance(self, to: datetime) -> None:
        self.time = max(self.time, to)


def find_corpus(path: Path) -> Path:
    """Return the corpus file; `path` is the file or a folder that contains it."""
    return find_file(path, CORPUS_FILES, "chat corpus")


def load_lines(file: Path) -> list[Record]:
    """Parse a JSON Lines file; raise InvalidInput if it cannot be read or parsed."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    except OSError as error:
        raise InvalidInput(f"cannot read {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{file} is not JSON Lines: {error}") from error


def read_corpus(file: Path) -> list[ChatItem]:
    """Return the messages and conversations of a corpus, without their labels."""
    rows = load_lines(file)
    with report_format_errors("a chat corpus", file):
        return [_parse_item(row) for row in rows]


def _parse_item(row: Mapping[str, Any]) -> ChatItem:
    messages = row["messages"] if row["kind"] == "conversation" else [row]
    return ChatItem(
        id=row["id"],
        register=row["register"],
        messages=tuple(_parse_message(each) for each in messages),
        questions=tuple(_parse_question(each) for each in row.get("questions", ())),
    )


def _parse_message(row: Mapping[str, Any]) -> ChatMessage:
    at = datetime.fromisoformat(row["timestamp"])
    return ChatMessage(
        id=row["id"],
        speaker=row["speaker"],
        text=row["text"],
        at=at if at.tzinfo else at.replace(tzinfo=UTC),
    )


def _parse_question(row: Mapping[str, Any]) -> ChatQuestion:
    return ChatQuestion(
        id=row["id"],
        kind=row["kind"],
        text=row["text"],
        subject=row["subject"],
        predicates=(row["predicate"], *row.get("also", ())),
        day=datetime.fromisoformat(row["as_of"]).replace(tzinfo=UTC) if row.get("as_of") else None,
    )


@dataclass(slots=True)
class _Replay:
    """The place of one item, and the event of each of its messages."""

    item: ChatItem
    place: Place
    message_by_event: dict[str, str] = field(default_factory=dict)


def run_corpus(
    nexus: Nexus,
    clock: ReplayClock,
    items: Sequence[ChatItem],
    *,
    min_confidence: float = SURE_CONFIDENCE,
    report: ProgressCallback = ignore_progress,
) -> ChatRun:
    """Observe all messages in the order of their times; return what was learned from each.

    Each item has its own workspace. After its last message everything is learned, and its
    questions are asked. `clock` must be the clock of `nexus`.
    """
    replays = [_Replay(item, _open_place(nexus, item)) for item in items]
    records: list[Record] = []
    stuck = done = 0
    for replay, message in _order_messages(replays):
        clock.advance(message.at)
        receipt = replay.place.observe(message.speaker, message.text, at=message.at, key=message.id)
        replay.message_by_event[receipt.event_id] = message.id
        if len(replay.message_by_event) == len(replay.item.messages):
            stuck += replay.place.flush()
            clock.advance(clock.time + timedelta(seconds=1))  # "after the last message"
            records += _read_item(replay, min_confidence)
            done += 1
            report(done, len(items))
    return ChatRun(records=tuple(records), stuck=stuck)


def _open_place(nexus: Nexus, item: ChatItem) -> Place:
    workspace = nexus.workspace(f"eval-chat-{item.id}")
    if item.register in AGENT_REGISTERS and len(item.people) == 1:
        return workspace.dm(item.people[0])
    return workspace.room(ROOM_NAME, participants=item.people)


def _order_messages(replays: Sequence[_Replay]) -> Iterator[tuple[_Replay, ChatMessage]]:
    """Yield the messages of all items by time; those of one item stay in their order."""
    timed: list[tuple[datetime, int, int]] = []
    for number, replay in enumerate(replays):
        latest = EARLIEST
        for index, message in enumerate(replay.item.messages):
            latest = max(latest, message.at)
            timed.append((latest, number, index))
    for _, number, index in sorted(timed):
        yield replays[number], replays[number].item.messages[index]


def _read_item(replay: _Replay, min_confidence: float) -> Iterator[Record]:
    """Yield the output record of each message, then the answers to the questions."""
    place = replay.place
    memories = place.memories(READ_KINDS, limit=MAX_MEMORIES).items
    types = {view.name: view.types for view in place.entities(limit=MAX_MEMORIES)}
    for event, message in replay.message_by_event.items():
        own = [each for each in reversed(memories) if each.sources[0] == event]
        yield {"id": message, **describe_memories(own, types, min_confidence)}
    if replay.item.questions:
        answers = {
            question.id: answer_question(place, question, replay.item.people)
            for question in replay.item.questions
        }
        yield {"id": replay.item.id, "answers": answers}
