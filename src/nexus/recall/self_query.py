"""What a question says about time, speaker and kind, read by a model and made a filter.

A filter that is wrong hides the answer, so whatever does not hold up is left out.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ..core.canonical import clean_time, time_text
from ..core.errors import InvalidInput
from ..core.filters import parse_filter
from ..core.models import LanguageModel
from ..core.records import MemoryKind
from .rewrite import Question, Rewritten, ask, searchable

KINDS = [kind.value for kind in MemoryKind]
PARTS = {
    "type": "object",
    "properties": {
        "text": {"type": "string"},
        "kinds": {"type": "array", "items": {"type": "string", "enum": KINDS}},
        "speaker": {"type": "string"},
        "since": {"type": "string"},
        "until": {"type": "string"},
    },
    "required": ["text", "kinds", "speaker", "since", "until"],
    "additionalProperties": False,
}
PRONOUNS = frozenset("i me my you your he him she her it we us our they them who".split())


def self_query(model: LanguageModel, question: Question, timeout: float) -> Rewritten:
    """The filter, and the rest of the question to search by meaning with."""
    said = ask(model, "self_query", question, PARTS, timeout)
    since, until = _window(said["since"], said["until"])
    conditions = {
        "kind": _kinds(said["kinds"]),
        "speaker": _speaker(said["speaker"], question),
        "since": {"at": {"gte": since}} if since else None,
        "until": {"at": {"lt": until}} if until else None,
    }
    held = {name: condition for name, condition in conditions.items() if condition}
    ignored = [name for name, value in _given(said).items() if value and name not in held]
    return Rewritten(
        meaning=searchable(said["text"]) if held else None,
        where=parse_filter({"AND": list(held.values())}) if held else None,
        why=tuple(f"self_query: {_told(condition)}" for condition in held.values()),
        degraded=tuple(f"self_query: {name} was not usable" for name in ignored),
    )


def _given(said: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "kind": said["kinds"],
        "speaker": said["speaker"].strip(),
        "since": said["since"].strip(),
        "until": said["until"].strip(),
    }


def _kinds(kinds: Sequence[str]) -> dict[str, Any] | None:
    """Asking for every kind is asking for none."""
    chosen = sorted(set(kinds))
    return {"kind": {"in": chosen}} if 0 < len(chosen) < len(KINDS) else None


def _speaker(name: str, question: Question) -> dict[str, Any] | None:
    """Somebody whom the question names: models like to guess who is meant."""
    wanted = name.strip().casefold()
    named = re.search(rf"(?<!\w){re.escape(wanted)}(?!\w)", question.text.casefold())
    if not wanted or wanted in PRONOUNS or not named:
        return None
    known = [person for person in question.people if person.casefold() == wanted]
    return {"speaker": {"in": known} if known else {"contains": wanted}}


def _window(since: str, until: str) -> tuple[datetime | None, datetime | None]:
    """Both edges, one or none; edges the wrong way round would find nothing."""
    start, end = _moment(since), _moment(until)
    return (None, None) if start and end and start >= end else (start, end)


def _moment(text: str) -> datetime | None:
    try:
        return clean_time(datetime.fromisoformat(text.strip()))
    except (ValueError, InvalidInput):
        return None


def _told(condition: Mapping[str, Any]) -> str:
    """`at gte 2026-03-01…`, for the trace."""
    [(field, test)] = condition.items()
    [(op, value)] = test.items()
    return f"{field} {op} {time_text(value) if isinstance(value, datetime) else value}"
