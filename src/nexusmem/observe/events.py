"""Events: build validated events of messages, documents, notes, facts, goals and shares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime
from os import urandom
from typing import Any, TypedDict

from ..core.access import Viewer
from ..core.canonical import clean_json, clean_list, clean_text, clean_time, format_time
from ..core.errors import InvalidInput
from ..core.ids import check_name
from ..core.json_codec import fast_constructor
from ..core.records import Attachment, EventKind, Fact, Memory, NewEvent, Trust
from ..core.records.dossiers import QUESTION_KEY
from ..core.records.entities import ENTITY, check_entity
from ..core.records.event import (
    CONFIDENTIAL_KEY,
    PARTICIPANTS_KEY,
    PROJECT_KEY,
    confidential_mark_key,
)
from ..core.records.facts import RESERVED_KEYS, check_fact, exact_text, fact_sentence
from ..core.records.goals import GOAL, GoalAction, check_goal_action
from ..core.records.links import LINK_TEXT, SHARE, SHARED_FROM, copy_content, share_key, share_seal
from ..core.records.notebook import DOCUMENT, check_version
from ..core.scope import Scope
from ..text.utc_offset import UTC_OFFSET, format_utc_offset

ROLES = ("user", "assistant", "tool", "system")
MAX_KEY_CHARS = 500
_new_event = fast_constructor(NewEvent)

TRUST_BY_ROLE = {
    "user": Trust.DIRECT,
    "tool": Trust.EXTERNAL,  # it may quote a web page or a mail
    "system": Trust.INTERNAL,
    "assistant": Trust.INFERRED,
}


class EventOptions(TypedDict, total=False):
    """Optional arguments of every call that writes an event."""

    at: datetime | None
    key: str | None
    thread: str | None
    metadata: Mapping[str, Any] | None
    tags: Iterable[str]
    confidential: bool  # True: no flow copies it to another scope


def message_event(
    viewer: Viewer,
    speaker: str,
    text: str,
    *,
    now: datetime,
    role: str | None = None,
    attachments: Iterable[Attachment | Mapping[str, Any]] = (),
    options: EventOptions,
) -> NewEvent:
    """Return the event of a message or a tool result in the viewer's place."""
    role = role or ("assistant" if speaker == viewer.agent.value else "user")
    if role not in ROLES:
        raise InvalidInput(f"role must be one of {', '.join(ROLES)}, got {role!r:.80}")
    kind = EventKind.TOOL if role == "tool" else EventKind.MESSAGE
    return _new_event(
        scope=viewer.home,
        kind=kind,
        role=role,
        trust=TRUST_BY_ROLE[role],
        attachments=() if attachments == () else _parse_attachments(attachments),
        metadata=_with_place(viewer, _clean_metadata(options)),
        **_common_fields(speaker, text, now, options),
    )


def _parse_attachments(
    attachments: Iterable[Attachment | Mapping[str, Any]],
) -> tuple[Attachment, ...]:
    return tuple(map(_parse_attachment, clean_list(attachments, "attachments")))


def _with_place(viewer: Viewer, metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata with the project and, if rooms are shared, the participants."""
    own: dict[str, Any] = {PROJECT_KEY: viewer.project} if viewer.project else {}
    if viewer.room and viewer.sharing.rooms:
        own[PARTICIPANTS_KEY] = [person.value for person in viewer.participants]
    return {**metadata, **own} if own else metadata


def document_event(
    scope: Scope, speaker: str, text: str, *, now: datetime, options: EventOptions
) -> NewEvent:
    """Return the event of an external text, which is indexed in passages."""
    return NewEvent(
        scope=scope,
        kind=EventKind.DOCUMENT,
        trust=Trust.EXTERNAL,
        metadata=_clean_metadata(options),
        **_common_fields(speaker, text, now, options),
    )


def document_version_event(
    viewer: Viewer, scope: Scope, text: str, body: Mapping[str, Any], *, now: datetime, key: str
) -> NewEvent:
    """Return the event of a notebook document's version; an empty one gets a placeholder text."""
    check_version(body)
    content = text if text.strip() else f"{body['path']} is empty"
    return _viewer_event(
        viewer,
        scope,
        content,
        kind=EventKind.DOCUMENT,
        now=now,
        metadata={DOCUMENT: dict(body)},
        options={"key": key},
    )


def note_event(
    viewer: Viewer, scope: Scope, text: str, *, now: datetime, options: EventOptions
) -> NewEvent:
    """Return the event of a text to remember verbatim."""
    return _viewer_event(
        viewer,
        scope,
        text,
        kind=EventKind.NOTE,
        now=now,
        metadata=_clean_metadata(options),
        options=options,
    )


def fact_event(
    viewer: Viewer,
    scope: Scope,
    fact: Fact,
    *,
    now: datetime,
    confidence: float = 1.0,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    options: EventOptions,
) -> NewEvent:
    """Return the event of a fact; raise InvalidInput if a field is invalid."""
    names = {"predicate": fact.predicate, "object": fact.object}
    if not fact.exact:  # the subject of an exact value is a scope, which is valid
        names["subject"] = fact.subject
    for name, value in names.items():
        if value is not None:
            check_name(value, f"the {name}")
    checked = check_fact(replace(fact, value=clean_json(fact.value, "the value")), confidence)
    metadata: dict[str, Any] = {
        **_check_reserved_keys(_clean_metadata(options)),
        "fact": asdict(checked),
        "confidence": confidence,
        **_format_interval(valid_from, valid_to),
    }
    metadata = clean_json(metadata, "the fact")
    text = exact_text(checked) if checked.exact else fact_sentence(checked)
    return _viewer_event(
        viewer, scope, text, kind=EventKind.FACT, now=now, metadata=metadata, options=options
    )


def entity_event(
    viewer: Viewer, scope: Scope, stated: Mapping[str, Any], *, now: datetime, options: EventOptions
) -> NewEvent:
    """Return the event of a stated entity; raise InvalidInput if a field is invalid."""
    entity = check_entity(stated)
    given = {name: value for name, value in asdict(entity).items() if value}
    metadata = {**_clean_metadata(options), ENTITY: clean_json(given, "the entity")}
    return _viewer_event(
        viewer,
        scope,
        entity.text,
        kind=EventKind.ENTITY,
        now=now,
        metadata=metadata,
        options=options,
    )


def goal_event(
    viewer: Viewer,
    scope: Scope,
    action: Mapping[str, Any],
    text: str,
    *,
    now: datetime,
    options: EventOptions,
) -> NewEvent:
    """Return the event of an action on a goal, with `text` as its description."""
    metadata = {GOAL: {name: value for name, value in action.items() if value is not None}}
    if action["do"] == GoalAction.CHANGE:
        metadata = {GOAL: dict(action)}  # a None in a change clears that field
    check_goal_action(metadata[GOAL])
    kind = EventKind.GOAL
    return _viewer_event(
        viewer, scope, text, kind=kind, now=now, metadata=metadata, options=options
    )


def action_event(
    viewer: Viewer,
    kind: EventKind,
    body: Mapping[str, Any],
    text: str,
    *,
    now: datetime,
    options: EventOptions,
) -> NewEvent:
    """Return the event of an agent's action: a tool call or the outcome of a task."""
    metadata = {**_clean_metadata(options), **clean_json(dict(body), "the action")}
    return NewEvent(
        scope=viewer.home,
        kind=kind,
        role="tool",
        trust=Trust.INTERNAL,  # the agent's own account of what it did
        metadata=_with_place(viewer, metadata),
        **_common_fields(viewer.agent.value, text, now, options),
    )


def question_event(viewer: Viewer, text: str, *, dropped: bool, now: datetime) -> NewEvent:
    """Return the event that adds a standing question, or removes it if `dropped`."""
    kind, metadata = EventKind.QUESTION, {QUESTION_KEY: {"dropped": dropped}}
    return _viewer_event(
        viewer, viewer.home, text, kind=kind, now=now, metadata=metadata, options={}
    )


def confidential_event(viewer: Viewer, event: str, *, now: datetime) -> NewEvent:
    """Return the event that marks another event of the viewer's place as confidential."""
    return _viewer_event(
        viewer,
        viewer.home,
        "A message was marked as confidential.",
        kind=EventKind.CONFIDENTIAL,
        now=now,
        metadata={CONFIDENTIAL_KEY: event},
        options={"key": confidential_mark_key(event)},
    )


def share_events(
    viewer: Viewer,
    memory: Memory,
    sources: Iterable[str],
    *,
    to: Scope,
    now: datetime,
    key: str | None,
) -> tuple[NewEvent, NewEvent]:
    """Return two events: the share, in the memory's scope, and the copy, in the scope `to`.

    The share has a secret whose seal is in the copy, so that only this share can claim the copy.
    """
    secret = urandom(16).hex()
    sharer = viewer.user.value if viewer.user else viewer.agent.value
    kind, content = copy_content(memory, sharer)
    metadata = {**content, SHARED_FROM: share_seal(secret)}
    copy = _viewer_event(
        viewer, to, memory.text, kind=kind, now=now, metadata=metadata, options={"key": key}
    )
    copy = replace(copy, trust=min(copy.trust, memory.trust))
    share = {
        "memory": memory.id,
        "sources": sorted(sources),
        "copy": copy.id,
        "key": copy.key,
        "secret": secret,
    }
    share_event = _viewer_event(
        viewer,
        memory.scope,
        LINK_TEXT,
        kind=EventKind.SHARE,
        now=now,
        metadata={SHARE: share},
        options={"key": share_key(memory, str(to), copy.speaker)},
    )
    return share_event, copy


def _check_reserved_keys(metadata: dict[str, Any]) -> dict[str, Any]:
    if reserved := sorted(RESERVED_KEYS & metadata.keys()):
        raise InvalidInput(f"metadata of a fact must not contain {', '.join(reserved)}")
    return metadata


def _format_interval(valid_from: datetime | None, valid_to: datetime | None) -> dict[str, str]:
    edges = {"valid_from": valid_from, "valid_to": valid_to}
    interval = {
        name: format_time(clean_time(at, name)) for name, at in edges.items() if at is not None
    }
    if len(interval) == len(edges) and interval["valid_from"] > interval["valid_to"]:
        raise InvalidInput(
            "valid_from must not be after valid_to, got"
            f" {interval['valid_from']} and {interval['valid_to']}"
        )
    return interval


def _viewer_event(
    viewer: Viewer,
    scope: Scope,
    text: str,
    *,
    kind: EventKind,
    now: datetime,
    metadata: dict[str, Any],
    options: EventOptions,
) -> NewEvent:
    """Return an event by the viewer's user; in a room, which has none, by the agent as "system"."""
    speaker = viewer.user.value if viewer.user else viewer.agent.value
    role = "user" if viewer.user else "system"
    return NewEvent(
        scope=scope,
        kind=kind,
        role=role,
        trust=TRUST_BY_ROLE[role],
        metadata=metadata,
        **_common_fields(speaker, text, now, options),
    )


def _common_fields(speaker: str, text: str, now: datetime, options: EventOptions) -> dict[str, Any]:
    if options and (unknown := options.keys() - EventOptions.__annotations__.keys()):
        accepted = ", ".join(EventOptions.__annotations__)
        raise InvalidInput(f"unknown option {', '.join(sorted(unknown))}; accepted are {accepted}")
    check_name(speaker, "the speaker")
    cleaned = clean_text(text)
    if not cleaned.strip():
        raise InvalidInput("text must not be empty")
    at = options.get("at")
    thread = options.get("thread")
    if thread is not None:
        check_name(thread, "the thread")
    return {
        "speaker": speaker,
        "text": cleaned,
        "at": now if at is None else clean_time(at),
        "key": _event_key(options.get("key")),
        "thread": thread,
    }


def _event_key(key: str | None) -> str:
    """Return the caller's key, or a random one."""
    if key is None:
        return f"auto-{urandom(12).hex()}"
    cleaned = clean_text(key, "the key")
    if not cleaned or len(cleaned) > MAX_KEY_CHARS:
        raise InvalidInput(
            f"key must have between 1 and {MAX_KEY_CHARS} characters, got {len(cleaned)}"
        )
    return cleaned


# Flows decide by these, so a caller sets them only where the place can check them.
RESERVED_METADATA = {
    SHARED_FROM: "only share() sets it",
    PARTICIPANTS_KEY: "the room sets it; pass participants=… when you open the room",
    PROJECT_KEY: "the place sets it; pass project=… when you open the place",
    CONFIDENTIAL_KEY: "pass confidential=True instead",
}


def _clean_metadata(options: EventOptions) -> dict[str, Any]:
    offset = format_utc_offset(options.get("at"))
    own: dict[str, Any] = {UTC_OFFSET: offset} if offset else {}
    if (confidential := options.get("confidential", False)) is not False:
        if confidential is not True:
            raise InvalidInput(f"confidential must be true or false, got {confidential!r:.80}")
        own[CONFIDENTIAL_KEY] = True
    if "metadata" not in options and "tags" not in options:
        return own
    given = options.get("metadata")
    given = {} if given is None else given
    if not isinstance(given, Mapping):
        raise InvalidInput(f"metadata must be a mapping, got {type(given).__name__}")
    cleaned: dict[str, Any] = clean_json(dict(given))
    for name, hint in RESERVED_METADATA.items():
        if name in cleaned:
            raise InvalidInput(f"metadata must not contain {name!r}: {hint}")
    cleaned |= own
    given_tags = options.get("tags")
    tags = [] if given_tags is None else clean_list(given_tags, "tags")
    return {**cleaned, "tags": [clean_text(tag, "a tag") for tag in tags]} if tags else cleaned


def _parse_attachment(attachment: Attachment | Mapping[str, Any]) -> Attachment:
    try:
        parsed = attachment if isinstance(attachment, Attachment) else Attachment(**attachment)
    except TypeError as error:
        raise InvalidInput(
            f"an attachment must have name, media_type, url and size: {error}"
        ) from None
    return Attachment(**clean_json(asdict(parsed), "an attachment"))
