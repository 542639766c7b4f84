"""Tell conversations to a memory and ask it their questions, as an application would."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from time import perf_counter

from ..core.errors import EmbedderUnavailable
from ..core.records import Found
from ..core.report import Report
from ..nexus import Nexus
from ..place import Place
from .dataset import Conversation, Question
from .metrics import measure, ranks

ROOM = "talk"
ASKED_FOR = 100  # hits a question: enough that their sessions fill the first places too
LISTED = 50  # of what was found, in a row


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What was found of one question's evidence, counted in messages or in sessions."""

    gold: tuple[str, ...]
    ranks: dict[str, int | None]
    found: tuple[str, ...]
    metrics: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One question and how it went; a level without gold is None. It holds no one's words."""

    id: str
    conversation: str
    category: str
    abstention: bool
    at: datetime | None
    milliseconds: float
    turn: Level | None
    session: Level | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """All rows of a run, and how long telling took."""

    rows: tuple[Row, ...]
    unscored: int  # questions without any evidence: not asked
    messages: int
    telling_seconds: float


def run(
    nexus: Nexus, conversations: Sequence[Conversation], *, name: str, report: Report
) -> Outcome:
    """Each conversation in a workspace of its own, so that none can answer for another."""
    asked = [conversation for conversation in conversations if conversation.scored]
    total = sum(len(conversation.scored) for conversation in asked)
    rows: list[Row] = []
    seconds = 0.0
    for number, conversation in enumerate(asked, start=1):
        began = perf_counter()
        place = tell(nexus, f"{name}-{number}", conversation)
        seconds += perf_counter() - began
        sessions = conversation.sessions
        for question in conversation.scored:
            rows.append(_ask(place, conversation.name, question, sessions))
            report(len(rows), total)
    return Outcome(
        rows=tuple(rows),
        unscored=sum(len(each.questions) - len(each.scored) for each in conversations),
        messages=sum(len(conversation.messages) for conversation in asked),
        telling_seconds=seconds,
    )


def tell(nexus: Nexus, workspace: str, conversation: Conversation) -> Place:
    """The room it was all said in, everything indexed."""
    place = nexus.workspace(workspace).room(ROOM, participants=conversation.people)
    place.observe_many(asdict(message) for message in conversation.messages)
    if stuck := place.flush():
        raise EmbedderUnavailable(f"{stuck} messages of {conversation.name} could not be indexed")
    return place


def _ask(place: Place, conversation: str, question: Question, sessions: dict[str, str]) -> Row:
    # Nobody can be asked as of a date yet; until then `at` is only handed on.
    began = perf_counter()
    found = place.recall(question.text, limit=ASKED_FOR)
    milliseconds = (perf_counter() - began) * 1_000
    if found.degraded:
        raise EmbedderUnavailable(f"{question.id} was only half answered: {found.degraded[0]}")
    keys = _keys(found)
    folded = list(dict.fromkeys(sessions[key] for key in keys))
    return Row(
        id=question.id,
        conversation=conversation,
        category=question.category,
        abstention=question.abstention,
        at=question.at,
        milliseconds=round(milliseconds, 3),
        turn=_level(keys, question.gold),
        session=_level(folded, question.gold_sessions),
    )


def _keys(found: Found) -> list[str]:
    """The messages the hits rest on. One that rests on several takes as many places."""
    return list(dict.fromkeys(key for hit in found for key in hit.event_keys))


def _level(found: Sequence[str], gold: frozenset[str]) -> Level | None:
    if not gold:
        return None
    return Level(
        gold=tuple(sorted(gold)),
        ranks=ranks(found, gold),
        found=tuple(found[:LISTED]),
        metrics=measure(found, gold),
    )
