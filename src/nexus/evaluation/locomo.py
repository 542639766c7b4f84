"""LoCoMo: two people talk over months; questions name the turns that answer them.

Maharana et al. 2024, github.com/snap-research/locomo.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from .dataset import Conversation, Message, Question
from .files import find_file, load_json, shaped_like

FILES = ("locomo/locomo_dev.json", "locomo/locomo10.json", "locomo_dev.json", "locomo10.json")
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ADVERSARIAL = 5  # asks for what was never said; its evidence is the turn it was twisted from
SESSION = re.compile(r"session_(\d+)")
TURN = re.compile(r"D(\d+):(\d+)")


def read_locomo(given: Path) -> list[Conversation]:
    file = find_file(given, FILES, "LoCoMo")
    samples = load_json(file)
    with shaped_like("LoCoMo", file):
        return [_conversation(sample) for sample in samples]


def _conversation(sample: dict[str, Any]) -> Conversation:
    told = sample["conversation"]
    messages = tuple(_messages(told))
    sessions = {message.key: message.thread for message in messages}
    return Conversation(
        name=sample["sample_id"],
        people=(told["speaker_a"], told["speaker_b"]),
        messages=messages,
        questions=tuple(
            _question(f"{sample['sample_id']}/{number}", asked, sessions)
            for number, asked in enumerate(sample["qa"])
        ),
    )


def _messages(told: dict[str, Any]) -> Iterator[Message]:
    numbers = sorted(int(match[1]) for name in told if (match := SESSION.fullmatch(name)))
    for number in numbers:
        date = told[f"session_{number}_date_time"]
        began = datetime.strptime(date, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for place, turn in enumerate(told[f"session_{number}"]):
            shown = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            yield Message(
                speaker=turn["speaker"],
                text=turn["text"] + shown,
                key=turn["dia_id"],
                thread=f"session {number}",
                at=began + timedelta(seconds=place),
            )


def _question(id: str, asked: dict[str, Any], sessions: dict[str, str]) -> Question:
    gold = frozenset(turns(asked.get("evidence") or ())) & sessions.keys()
    category = int(asked["category"])
    return Question(
        id=id,
        text=asked["question"],
        category=CATEGORIES[category],
        gold=gold,
        gold_sessions=frozenset(sessions[key] for key in gold),
        abstention=category == ADVERSARIAL,
    )


def turns(evidence: Sequence[str]) -> Iterator[str]:
    """The turns named: several may share one string, numbers may have zeros in front.

    What is misspelt beyond that ("D:11:26") names nothing rather than perhaps the wrong turn.
    """
    for session, number in TURN.findall(" ".join(evidence)):
        yield f"D{int(session)}:{int(number)}"
