"""Public benchmark conversations, told to a Nexus the way an application would.

The data is not part of this project: point `--data` or `$NEXUS_DATA` at a folder with
`locomo/locomo_dev.json` and `beam/100K/<n>/{chat,probing_questions}.json`.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from nexus import Nexus, Place
from nexus.config import Settings
from nexus.recall.query import Search

DEFAULT = Path(__file__).parents[2] / "shared" / "data"
TURN = re.compile(r"D\d+:\d+")
MARK = re.compile(r"\s*->->\s*[\d,]+\s*$")  # BEAM's own numbering at the end of a message


@dataclass(frozen=True)
class Question:
    text: str
    gold: frozenset[str]
    category: str


@dataclass(frozen=True)
class Conversation:
    name: str
    people: tuple[str, ...]
    messages: tuple[dict[str, Any], ...]
    questions: tuple[Question, ...]

    @property
    def sessions(self) -> dict[str, str]:
        return {message["key"]: message["thread"] for message in self.messages}


def data_folder(given: str | None = None) -> Path:
    return Path(given or os.environ.get("NEXUS_DATA") or DEFAULT)


def locomo(folder: Path) -> list[Conversation]:
    """Categories 1 to 4; the fifth asks for what was never said."""
    samples = json.loads((folder / "locomo" / "locomo_dev.json").read_text(encoding="utf-8"))
    return [_locomo(sample) for sample in samples]


def _locomo(sample: dict[str, Any]) -> Conversation:
    told = sample["conversation"]
    messages = tuple(_locomo_messages(told))
    known = {message["key"] for message in messages}
    questions = []
    for asked in sample["qa"]:
        cited = TURN.findall(" ".join(asked.get("evidence") or []))
        gold = frozenset(_turn(turn) for turn in cited) & known
        if gold and str(asked["category"]) != "5":
            questions.append(Question(asked["question"], gold, str(asked["category"])))
    people = (told["speaker_a"], told["speaker_b"])
    return Conversation(sample["sample_id"], people, messages, tuple(questions))


def _turn(text: str) -> str:
    session, number = text[1:].split(":")
    return f"D{int(session)}:{int(number)}"


def _locomo_messages(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for number in range(1, 100):
        at = told.get(f"session_{number}_date_time")
        for place, turn in enumerate(told.get(f"session_{number}", ())):
            shown = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            began = datetime.strptime(at, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
            yield {
                "speaker": turn["speaker"],
                "text": turn["text"] + shown,
                "key": turn["dia_id"],
                "thread": f"session {number}",
                "at": began + timedelta(seconds=place),
            }


def beam(folder: Path) -> list[Conversation]:
    """Every ability whose questions name the messages they rest on."""
    chats = sorted((folder / "beam" / "100K").iterdir(), key=lambda path: int(path.name))
    return [_beam(chat) for chat in chats]


def _beam(folder: Path) -> Conversation:
    batches = json.loads((folder / "chat.json").read_text(encoding="utf-8"))
    abilities = json.loads((folder / "probing_questions.json").read_text(encoding="utf-8"))
    messages = tuple(_beam_messages(batches))
    known = {message["key"] for message in messages}
    questions = [
        Question(asked["question"], gold, ability)
        for ability, several in abilities.items()
        for asked in several
        if (gold := frozenset(map(str, _numbers(asked.get("source_chat_ids", [])))) & known)
    ]
    return Conversation(f"beam-{folder.name}", ("user",), messages, tuple(questions))


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _numbers(each)
    elif isinstance(value, int) or (isinstance(value, str) and value.isdigit()):
        yield int(value)


def _beam_messages(batches: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    at = datetime(2024, 1, 1, tzinfo=UTC)
    for batch in batches:
        for round_number, messages in enumerate(batch["turns"]):
            for message in messages:
                if anchor := message.get("time_anchor"):
                    at = datetime.strptime(anchor, "%B-%d-%Y").replace(tzinfo=UTC)
                at += timedelta(milliseconds=1)
                yield {
                    "speaker": message["role"],
                    "role": message["role"],
                    "text": MARK.sub("", message["content"]),
                    "key": str(message["id"]),
                    "thread": f"batch {batch['batch_number']} round {round_number}",
                    "at": at,
                }


def told(conversation: Conversation, ranking: str) -> tuple[Nexus, Place]:
    """A memory that has heard it all, and the room it was heard in."""
    settings = Settings(search=Search(ranking=ranking))
    folder = Path(tempfile.mkdtemp(prefix="nexus-bench-"))
    nexus = Nexus.open(folder / "memory.db", settings=settings, background=False)
    room = nexus.workspace("bench").room("talk", participants=conversation.people)
    room.observe_many(conversation.messages)
    room.flush()
    return nexus, room
