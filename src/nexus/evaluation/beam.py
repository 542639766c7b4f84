"""BEAM: long chats of one user with an assistant; questions of ten abilities name messages.

Tavakoli et al. 2025, github.com/mohammadtavakoli78/BEAM.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ..core.errors import InvalidInput
from .dataset import Conversation, Message, Question
from .files import find_file, load_json, shaped_like

SIZE = "100K"  # of the folder taken where none is named
QUESTIONS = ("probing_questions.json", "probing_questions/probing_questions.json")
ABSTENTION = "abstention"
BEGAN = datetime(2024, 1, 1, tzinfo=UTC)  # of what is said before the first date
OWN_NUMBERING = re.compile(r"\s*->->\s*[\d,]+\s*$")  # at the end of a message; nobody said it


def read_beam(given: Path) -> list[Conversation]:
    return [_conversation(folder) for folder in _chats(given)]


def _chats(given: Path) -> list[Path]:
    """One chat, or the numbered ones of a size."""
    if (given / "chat.json").is_file():
        return [given]
    for folder in (given, given / SIZE, given / "beam" / SIZE, given / "chats" / SIZE):
        numbered = [file.parent for file in folder.glob("*/chat.json")]
        chats = [chat for chat in numbered if chat.name.isdecimal()]
        if chats:
            return sorted(chats, key=lambda chat: int(chat.name))
    raise InvalidInput(
        f"no BEAM at {given}; give a folder with chat.json, a folder of numbered ones ({SIZE}),"
        f" or what holds beam/{SIZE}"
    )


def _conversation(folder: Path) -> Conversation:
    file = find_file(folder, QUESTIONS, "BEAM")
    batches, abilities = load_json(folder / "chat.json"), load_json(file)
    with shaped_like("BEAM", folder):
        messages = tuple(_messages(batches))
        sessions = {message.key: message.thread for message in messages}
        return Conversation(
            name=f"beam-{folder.name}",
            people=("user",),
            messages=messages,
            questions=tuple(
                _question(f"beam-{folder.name}/{ability}/{number}", ability, asked, sessions)
                for ability, several in abilities.items()
                for number, asked in enumerate(several)
            ),
        )


def _messages(batches: list[dict[str, Any]]) -> Iterator[Message]:
    at = BEGAN
    for batch in batches:
        for number, messages in enumerate(batch["turns"]):
            for message in messages:
                if anchor := message.get("time_anchor"):
                    at = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
                at += timedelta(milliseconds=1)
                yield Message(
                    speaker=message["role"],
                    role=message["role"],
                    text=OWN_NUMBERING.sub("", message["content"]),
                    key=str(message["id"]),
                    thread=f"batch {batch['batch_number']} round {number}",
                    at=at,
                )


def _question(id: str, ability: str, asked: dict[str, Any], sessions: dict[str, str]) -> Question:
    gold = frozenset(map(str, _numbers(asked.get("source_chat_ids")))) & sessions.keys()
    return Question(
        id=id,
        text=asked["question"],
        category=ability,
        gold=gold,
        gold_sessions=frozenset(sessions[key] for key in gold),
        abstention=ability == ABSTENTION,
    )


def _numbers(value: Any) -> Iterator[int]:
    """Message numbers, wherever they lie: lists, lists by role, numbers written as text."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _numbers(each)
    elif isinstance(value, int) or (isinstance(value, str) and value.isdecimal()):
        yield int(value)
