"""Your own conversations and questions, in a file that people write (docs/evaluation.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import yaml

from ..core.errors import InvalidInput
from .dataset import Conversation, Message, Question
from .files import find_file

FILES = ("questions.yaml", "questions.json")
FIRST = datetime(2026, 1, 1, 9, tzinfo=UTC)  # of messages without a time
ONE, SEVERAL = "one session", "across sessions"
MESSAGE = {"speaker", "text"}, {"key", "at", "session", "role"}
QUESTION = {"question"}, {"id", "evidence", "category", "at"}
CONVERSATION = {"messages", "questions"}, {"name"}


def read_own(given: Path) -> list[Conversation]:
    file = find_file(given, FILES, "questions of your own")
    try:
        told = yaml.safe_load(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError, RecursionError) as error:
        raise InvalidInput(f"cannot read {file}: {error}") from error
    listed = _listed(told, str(file))
    return [_conversation(each, f"conversation {n}") for n, each in enumerate(listed, start=1)]


def _conversation(told: Any, where: str) -> Conversation:
    given = _fields(told, CONVERSATION, where)
    name = str(given.get("name", where))
    listed = _listed(given["messages"], f"messages of {name}")
    messages = tuple(_message(each, n, name) for n, each in enumerate(listed, start=1))
    sessions = {message.key: message.thread for message in messages}
    if len(sessions) < len(messages):
        raise InvalidInput(f"two messages of {name} have the same key; give each its own")
    asked = enumerate(_listed(given["questions"], f"questions of {name}"), start=1)
    return Conversation(
        name=name,
        people=tuple(sorted({each.speaker for each in messages if each.role in (None, "user")})),
        messages=messages,
        questions=tuple(_question(each, n, name, sessions) for n, each in asked),
    )


def _message(told: Any, number: int, conversation: str) -> Message:
    where = f"message {number} of {conversation}"
    given = _fields(told, MESSAGE, where)
    return Message(
        speaker=str(given["speaker"]),
        text=str(given["text"]),
        key=str(given.get("key", number)),
        thread=str(given.get("session", "session 1")),
        at=_time(given.get("at", FIRST + timedelta(minutes=number)), where),
        role=given.get("role"),
    )


def _question(told: Any, number: int, conversation: str, sessions: Mapping[str, str]) -> Question:
    where = f"question {number} of {conversation}"
    given = _fields(told, QUESTION, where)
    evidence = given.get("evidence") or []
    gold = frozenset(map(str, _listed(evidence, f"evidence of {where}")))
    if unknown := sorted(gold - sessions.keys()):
        raise InvalidInput(f"{where} names {unknown[0]!r} as evidence; no message has that key")
    where_said = frozenset(sessions[key] for key in gold)
    return Question(
        id=f"{conversation}/{given.get('id', number)}",
        text=str(given["question"]),
        category=str(given.get("category", SEVERAL if len(where_said) > 1 else ONE)),
        gold=gold,
        gold_sessions=where_said,
        at=_time(given["at"], where) if "at" in given else None,
    )


def _listed(told: Any, where: str) -> Sequence[Any]:
    if not isinstance(told, list):
        raise InvalidInput(f"{where}: a list is expected here, see docs/evaluation.md")
    return told


def _fields(told: Any, names: tuple[set[str], set[str]], where: str) -> Mapping[str, Any]:
    """All that is needed and nothing that is misspelt."""
    needed, possible = names
    if not isinstance(told, Mapping) or not needed <= told.keys():
        raise InvalidInput(f"{where} needs {' and '.join(sorted(needed))}")
    if unknown := told.keys() - needed - possible:
        known = ", ".join(sorted(needed | possible))
        raise InvalidInput(f"{where} has {min(map(str, unknown))!r}; known are {known}")
    return told


def _time(told: Any, where: str) -> datetime:
    """Without a zone it is UTC; a day alone is its midnight."""
    try:
        at = told if isinstance(told, date) else datetime.fromisoformat(str(told))
    except ValueError as error:
        raise InvalidInput(f"the time of {where} cannot be read: {told!r}") from error
    at = at if isinstance(at, datetime) else datetime(at.year, at.month, at.day)  # noqa: DTZ001
    return at if at.tzinfo else at.replace(tzinfo=UTC)
