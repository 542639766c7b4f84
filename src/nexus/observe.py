"""From what callers say to events, checked: messages, notes and facts."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import Any, TypedDict

from .core.access import Viewer
from .core.canonical import clean_json, clean_text, clean_time, time_text
from .core.errors import InvalidInput
from .core.ids import check_name
from .core.records import Attachment, EventKind, Fact, NewEvent, Trust
from .core.scope import Scope
from .learn.explicit import check_fact, fact_sentence

ROLES = ("user", "assistant", "tool", "system")
LONGEST_KEY = 500

TRUST = {
    "user": Trust.DIRECT,
    "tool": Trust.INTERNAL,
    "system": Trust.INTERNAL,
    "assistant": Trust.INFERRED,
}


class Told(TypedDict, total=False):
    """What may be said about anything that is written down."""

    at: datetime | None
    key: str | None
    thread: str | None
    metadata: Mapping[str, Any] | None
    tags: Iterable[str]


def message(
    viewer: Viewer,
    speaker: str,
    text: str,
    *,
    now: datetime,
    role: str | None = None,
    attachments: Iterable[Attachment | Mapping[str, Any]] = (),
    told: Told,
) -> NewEvent:
    """Somebody said something here."""
    role = role or ("assistant" if speaker == viewer.agent.value else "user")
    if role not in ROLES:
        raise InvalidInput(f"unknown role {role!r}; known are {', '.join(ROLES)}")
    kind = EventKind.TOOL if role == "tool" else EventKind.MESSAGE
    return NewEvent(
        scope=viewer.home,
        kind=kind,
        role=role,
        trust=TRUST[role],
        attachments=tuple(map(_attachment, attachments)),
        metadata=_metadata(told),
        **_common(speaker, text, now, told),
    )


def document(scope: Scope, speaker: str, text: str, *, now: datetime, told: Told) -> NewEvent:
    """A text from elsewhere, to be found in pieces."""
    return NewEvent(
        scope=scope,
        kind=EventKind.DOCUMENT,
        trust=Trust.EXTERNAL,
        metadata=_metadata(told),
        **_common(speaker, text, now, told),
    )


def note(viewer: Viewer, scope: Scope, text: str, *, now: datetime, told: Told) -> NewEvent:
    """Keep exactly this."""
    return _statement(
        viewer, scope, text, kind=EventKind.NOTE, now=now, metadata=_metadata(told), told=told
    )


def fact(
    viewer: Viewer,
    scope: Scope,
    fact: Fact,
    *,
    now: datetime,
    confidence: float = 1.0,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    told: Told,
) -> NewEvent:
    """Something is so."""
    for name in (fact.subject, fact.predicate, *filter(None, [fact.object])):
        check_name(name, "a name in a fact")
    checked = check_fact(fact, confidence)
    metadata = {
        **_metadata(told),
        "fact": clean_json(asdict(checked), "the value"),
        "confidence": confidence,
        **_interval(valid_from, valid_to),
    }
    text = fact_sentence(checked)
    return _statement(
        viewer, scope, text, kind=EventKind.FACT, now=now, metadata=metadata, told=told
    )


def _interval(valid_from: datetime | None, valid_to: datetime | None) -> dict[str, str]:
    edges = {"valid_from": valid_from, "valid_to": valid_to}
    spelt = {name: time_text(clean_time(at, name)) for name, at in edges.items() if at}
    if len(spelt) == len(edges) and spelt["valid_from"] > spelt["valid_to"]:
        raise InvalidInput("valid_from lies after valid_to")
    return spelt


def _statement(
    viewer: Viewer,
    scope: Scope,
    text: str,
    *,
    kind: EventKind,
    now: datetime,
    metadata: dict[str, Any],
    told: Told,
) -> NewEvent:
    """In a DM or a session its user says it; in a room nobody in particular, so the agent."""
    speaker = viewer.user.value if viewer.user else viewer.agent.value
    role = "user" if viewer.user else "system"
    return NewEvent(
        scope=scope,
        kind=kind,
        role=role,
        trust=TRUST[role],
        metadata=metadata,
        **_common(speaker, text, now, told),
    )


def _common(speaker: str, text: str, now: datetime, told: Told) -> dict[str, Any]:
    check_name(speaker, "the speaker")
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise InvalidInput("the text is empty")
    at = told.get("at")
    thread = told.get("thread")
    if thread is not None:
        check_name(thread, "the thread")
    return {
        "speaker": speaker,
        "text": cleaned,
        "at": clean_time(at) if at else now,
        "key": _key(told.get("key")),
        "thread": thread,
    }


def _key(key: str | None) -> str:
    """The caller's key, or one nobody else has."""
    if key is None:
        return f"auto-{secrets.token_hex(12)}"
    cleaned = clean_text(key, "the key")
    if not cleaned or len(cleaned) > LONGEST_KEY:
        raise InvalidInput(f"a key has 1 to {LONGEST_KEY} characters, not {len(cleaned)}")
    return cleaned


def _metadata(told: Told) -> dict[str, Any]:
    given = told.get("metadata") or {}
    if not isinstance(given, Mapping):
        raise InvalidInput(f"metadata is a mapping, not {type(given).__name__}")
    cleaned: dict[str, Any] = clean_json(dict(given))
    tags = told.get("tags") or ()
    if isinstance(tags, str):
        raise InvalidInput("tags is a list of texts, not one text")
    return {**cleaned, "tags": [clean_text(tag, "a tag") for tag in tags]} if tags else cleaned


def _attachment(given: Attachment | Mapping[str, Any]) -> Attachment:
    if not isinstance(given, Attachment):
        try:
            given = Attachment(**given)
        except TypeError as error:
            raise InvalidInput(
                f"an attachment has name, media_type, url and size: {error}"
            ) from None
    return Attachment(**clean_json(asdict(given), "an attachment"))
