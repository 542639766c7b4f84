"""LongMemEval: each question has a history of its own, some of whose sessions answer it.

Wu et al. 2025, github.com/xiaowu0162/LongMemEval. Both sides of a chat are told and may be
evidence; the authors' own retrieval script indexes the user's side only.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from .dataset import Conversation, Message, Question
from .files import find_file, load_json, shaped_like

NAMES = ("longmemeval_s_cleaned.json", "longmemeval_s.json")
FILES = (*(f"longmemeval/{name}" for name in NAMES), *NAMES)
ABSTENTION = "_abs"  # at the end of a question's id


def read_longmemeval(given: Path) -> list[Conversation]:
    file = find_file(given, FILES, "LongMemEval")
    instances = load_json(file)
    with shaped_like("LongMemEval", file):
        return [_conversation(instance) for instance in instances]


def _conversation(instance: dict[str, Any]) -> Conversation:
    turns = list(_turns(instance))
    return Conversation(
        name=instance["question_id"],
        people=("user",),
        messages=tuple(message for message, _ in turns),
        questions=(_question(instance, turns),),
    )


def _turns(instance: dict[str, Any]) -> Iterator[tuple[Message, bool]]:
    """Each turn that says something, and whether it is evidence.

    Keys count sessions by their place: the same session may stand in a history twice.
    """
    named = ("haystack_session_ids", "haystack_dates", "haystack_sessions")
    sessions = zip(*(instance[name] for name in named), strict=True)
    for place, (session, date, turns) in enumerate(sessions, start=1):
        began = _time(date)
        for number, turn in enumerate(turns, start=1):
            if not turn["content"].strip():
                continue
            message = Message(
                speaker=turn["role"],
                role=turn["role"],
                text=turn["content"],
                key=f"S{place}:{number}",
                thread=session,
                at=began + timedelta(seconds=number - 1),
            )
            yield message, bool(turn.get("has_answer"))


def _question(instance: dict[str, Any], turns: list[tuple[Message, bool]]) -> Question:
    id = instance["question_id"]
    abstention = id.endswith(ABSTENTION)
    told = {message.thread for message, _ in turns}
    return Question(
        id=id,
        text=instance["question"],
        category="abstention" if abstention else instance["question_type"],
        gold=frozenset(message.key for message, evidence in turns if evidence),
        gold_sessions=frozenset(instance["answer_session_ids"]) & told,
        abstention=abstention,
        at=_time(instance["question_date"]),
    )


def _time(text: str) -> datetime:
    """`2023/05/30 (Tue) 23:40`; the name of the day says nothing the date does not."""
    date, _, time = text.split()
    return datetime.strptime(f"{date} {time}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
