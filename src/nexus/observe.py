"""From what callers say to events, checked: messages, notes and facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from os import urandom
from typing import Any, TypedDict

from .core.access import Viewer
from .core.canonical import clean_json, clean_list, clean_text, clean_time, time_text
from .core.errors import InvalidInput
from .core.goals import GOAL, Deed, check_deed
from .core.ids import check_name
from .core.notebook import DOCUMENT, check_version
from .core.questions import QUESTION
from .core.quick import quickly
from .core.records import Attachment, EventKind, Fact, Memory, NewEvent, Trust
from .core.scope import Scope
from .core.sharing import SHARE, SHARED_FROM, TEXT, act_key, seal, told_along
from .core.zones import UTC_OFFSET, offset_of
from .learn.explicit import RESERVED, check_fact, fact_sentence
from .learn.learning import PROJECT

ROLES = ("user", "assistant", "tool", "system")
LONGEST_KEY = 500
_Message = quickly(NewEvent)

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
    return _Message(
        scope=viewer.home,
        kind=kind,
        role=role,
        trust=TRUST[role],
        attachments=() if attachments == () else _attachments(attachments),
        metadata=_of_project(viewer, _metadata(told)) if told or viewer.project else {},
        **_common(speaker, text, now, told),
    )


def _attachments(given: Iterable[Attachment | Mapping[str, Any]]) -> tuple[Attachment, ...]:
    return tuple(map(_attachment, clean_list(given, "attachments")))


def _of_project(viewer: Viewer, metadata: dict[str, Any]) -> dict[str, Any]:
    return {PROJECT: viewer.project, **metadata} if viewer.project else metadata


def document(scope: Scope, speaker: str, text: str, *, now: datetime, told: Told) -> NewEvent:
    """A text from elsewhere, to be found in pieces."""
    return NewEvent(
        scope=scope,
        kind=EventKind.DOCUMENT,
        trust=Trust.EXTERNAL,
        metadata=_metadata(told),
        **_common(speaker, text, now, told),
    )


def version(
    viewer: Viewer, scope: Scope, text: str, body: Mapping[str, Any], *, now: datetime, key: str
) -> NewEvent:
    """A version of a document with a path; an event has a text in any case."""
    check_version(body)
    said = text if text.strip() else f"{body['path']} is empty"
    kind, metadata = EventKind.DOCUMENT, {DOCUMENT: dict(body)}
    told: Told = {"key": key}
    return _statement(viewer, scope, said, kind=kind, now=now, metadata=metadata, told=told)


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
    said = {"predicate": fact.predicate, "object": fact.object}
    named = said if fact.exact else {**said, "subject": fact.subject}  # exact: a scope, checked
    for name, value in named.items():
        if value is not None:
            check_name(value, f"the {name}")
    checked = check_fact(replace(fact, value=clean_json(fact.value, "the value")), confidence)
    metadata: dict[str, Any] = {
        **_unreserved(_metadata(told)),
        "fact": asdict(checked),
        "confidence": confidence,
        **_interval(valid_from, valid_to),
    }
    metadata = clean_json(metadata, "the fact")
    text = fact_sentence(checked)
    return _statement(
        viewer, scope, text, kind=EventKind.FACT, now=now, metadata=metadata, told=told
    )


def goal(
    viewer: Viewer,
    scope: Scope,
    deed: Mapping[str, Any],
    text: str,
    *,
    now: datetime,
    told: Told,
) -> NewEvent:
    """Something was done about a goal."""
    metadata = {GOAL: {name: value for name, value in deed.items() if value is not None}}
    if deed["do"] == Deed.CHANGE:
        metadata = {GOAL: dict(deed)}  # nothing, there, takes something away
    check_deed(metadata[GOAL])
    kind = EventKind.GOAL
    return _statement(viewer, scope, text, kind=kind, now=now, metadata=metadata, told=told)


def deed(
    viewer: Viewer,
    kind: EventKind,
    body: Mapping[str, Any],
    text: str,
    *,
    now: datetime,
    told: Told,
) -> NewEvent:
    """The agent did something here: it used a tool, or ended a task."""
    metadata = {**_metadata(told), **clean_json(dict(body), "what was done")}
    return NewEvent(
        scope=viewer.home,
        kind=kind,
        role="tool",
        trust=TRUST["tool"],
        metadata=_of_project(viewer, metadata),
        **_common(viewer.agent.value, text, now, told),
    )


def question(viewer: Viewer, text: str, *, dropped: bool, now: datetime) -> NewEvent:
    """To be answered from now on, or no more."""
    kind, metadata = EventKind.QUESTION, {QUESTION: {"dropped": dropped}}
    told: Told = {}
    return _statement(viewer, viewer.home, text, kind=kind, now=now, metadata=metadata, told=told)


def share(
    viewer: Viewer,
    memory: Memory,
    sources: Iterable[str],
    *,
    to: Scope,
    now: datetime,
    key: str | None,
) -> tuple[NewEvent, NewEvent]:
    """A memory shall be readable there, too: the act of sharing it, and the copy."""
    secret = urandom(16).hex()
    kind, along = told_along(memory)
    told: Told = {"key": key}
    metadata = {**along, SHARED_FROM: seal(secret)}
    copy = _statement(viewer, to, memory.text, kind=kind, now=now, metadata=metadata, told=told)
    copy = replace(copy, trust=min(copy.trust, memory.trust))
    act = {
        "memory": memory.id,
        "sources": sorted(sources),
        "copy": copy.id,
        "key": copy.key,
        "secret": secret,
    }
    known: Told = {"key": act_key(memory, str(to), copy.speaker)}
    return _statement(
        viewer,
        memory.scope,
        TEXT,
        kind=EventKind.SHARE,
        now=now,
        metadata={SHARE: act},
        told=known,
    ), copy


def _unreserved(metadata: dict[str, Any]) -> dict[str, Any]:
    if taken := sorted(RESERVED & metadata.keys()):
        raise InvalidInput(f"a fact's metadata has no room for {', '.join(taken)}")
    return metadata


def _interval(valid_from: datetime | None, valid_to: datetime | None) -> dict[str, str]:
    edges = {"valid_from": valid_from, "valid_to": valid_to}
    spelt = {name: time_text(clean_time(at, name)) for name, at in edges.items() if at is not None}
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
    if told and (unknown := told.keys() - Told.__annotations__.keys()):
        raise InvalidInput(f"nothing is kept under {', '.join(sorted(unknown))} here")
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
        "at": now if at is None else clean_time(at),
        "key": _key(told.get("key")),
        "thread": thread,
    }


def _key(key: str | None) -> str:
    """The caller's key, or one nobody else has."""
    if key is None:
        return f"auto-{urandom(12).hex()}"
    cleaned = clean_text(key, "the key")
    if not cleaned or len(cleaned) > LONGEST_KEY:
        raise InvalidInput(f"a key has 1 to {LONGEST_KEY} characters, not {len(cleaned)}")
    return cleaned


def _metadata(told: Told) -> dict[str, Any]:
    offset = offset_of(told.get("at"))
    known = {UTC_OFFSET: offset} if offset else {}
    if "metadata" not in told and "tags" not in told:
        return known
    given = told.get("metadata")
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise InvalidInput(f"metadata is a mapping, not {type(given).__name__}")
    cleaned: dict[str, Any] = known | clean_json(dict(given))
    if SHARED_FROM in cleaned:
        raise InvalidInput(f"metadata has no room for {SHARED_FROM}: only share() tells that")
    given_tags = told.get("tags")
    tags = [] if given_tags is None else clean_list(given_tags, "tags")
    return {**cleaned, "tags": [clean_text(tag, "a tag") for tag in tags]} if tags else cleaned


def _attachment(given: Attachment | Mapping[str, Any]) -> Attachment:
    try:
        told = given if isinstance(given, Attachment) else Attachment(**given)
    except TypeError as error:
        raise InvalidInput(f"an attachment has name, media_type, url and size: {error}") from None
    return Attachment(**clean_json(asdict(told), "an attachment"))
