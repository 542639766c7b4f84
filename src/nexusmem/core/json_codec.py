"""JSON codec of events and memories, used by ledger, archives and interfaces.

This is the only module that encodes the fields of an event. Verification encodes stored events
again and compares them byte for byte. So a new field must be left out of the JSON while it has its
default value, and decoding must accept its absence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, field, fields, make_dataclass
from datetime import datetime
from functools import lru_cache, partial
from json.encoder import encode_basestring as _quoted
from typing import Any, TypeVar

from .access import Label
from .canonical import canonical_json, format_time, parse_time
from .ids import WorkspaceId, event_digest
from .records import Attachment, Event, EventKind, Memory, MemoryKind, NewEvent, Tier, Trust
from .scope import parse_scope

T = TypeVar("T")


def fast_constructor(cls: type[T]) -> type[T]:
    """Return a constructor of this frozen dataclass with slots; it takes fields by name."""

    def freeze(self: Any) -> None:
        self.__class__ = cls

    field_specs: list[tuple[str, Any, Any]] = [
        (each.name, each.type, field(default=each.default, default_factory=each.default_factory))
        for each in fields(cls)  # type: ignore[arg-type]  # `cls` is a dataclass
    ]
    namespace = {"__post_init__": freeze, "__doc__": cls.__doc__}
    mutable = make_dataclass(  # only its __init__ is used
        cls.__name__, field_specs, kw_only=True, repr=False, eq=False, namespace=namespace
    )
    return _mutable_subclass(cls, __init__=vars(mutable)["__init__"], __post_init__=freeze)


def unfrozen_factory(cls: type[T]) -> Callable[[], Any]:
    """Return a function that creates empty mutable instances of this frozen dataclass.

    The caller sets all fields and then freezes the instance with `made.__class__ = cls`.
    """
    return partial(object.__new__, _mutable_subclass(cls))


def _mutable_subclass(cls: type[T], **more: object) -> type[T]:
    """Return a subclass whose fields can be set."""
    free = {"__setattr__": object.__setattr__, "__delattr__": object.__delattr__}
    return type(cls.__name__, (cls,), {"__slots__": (), **free, **more})


# Hot path: a dict lookup is faster than calling the enum class.
EVENT_KINDS = {kind.value: kind for kind in EventKind}
MEMORY_KINDS = {kind.value: kind for kind in MemoryKind}
TIERS = {tier.value: tier for tier in Tier}
TRUSTS = {trust.name.lower(): trust for trust in Trust}
TRUST_NAMES = tuple(TRUSTS)  # indexed by the value of Trust
_blank_event, _blank_memory = unfrozen_factory(Event), unfrozen_factory(Memory)


def event_to_json(event: NewEvent, recorded_at: datetime | None = None) -> dict[str, Any]:
    """Return all fields of an event, without its workspace."""
    scope = str(event.scope)
    data: dict[str, Any] = {
        "id": event_digest(scope, event.key),
        "scope": scope,
        "kind": event.kind.value,
        "speaker": event.speaker,
        "role": event.role,
        "text": event.text,
        "at": format_time(event.at),
        "key": event.key,
        "thread": event.thread,
        "trust": TRUST_NAMES[event.trust],
        "attachments": list(map(asdict, event.attachments)),
        "metadata": dict(event.metadata),
    }
    recorded = event.recorded_at if isinstance(event, Event) else recorded_at
    if recorded:
        data["recorded_at"] = format_time(recorded)
    return data


def encode_event(event: NewEvent, id: str, scope: str, at: str, recorded_at: str) -> str:
    """Return `canonical_json(event_to_json(event))`, encoded directly because writers wait for it.

    Id, scope and both times are passed as text.
    """
    files = event.attachments
    attachments = canonical_json(list(map(asdict, files))) if files else "[]"
    metadata = canonical_json(event.metadata) if event.metadata else "{}"
    thread = "null" if event.thread is None else _quoted(event.thread)
    return (
        f'{{"at":"{at}","attachments":{attachments},"id":"{id}","key":{_quoted(event.key)}'
        f',"kind":{_quoted(event.kind)},"metadata":{metadata},"recorded_at":"{recorded_at}"'
        f',"role":{_quoted(event.role)},"scope":{_quoted(scope)}'
        f',"speaker":{_quoted(event.speaker)},"text":{_quoted(event.text)},"thread":{thread}'
        f',"trust":"{TRUST_NAMES[event.trust]}"}}'
    )


def event_from_json(data: Mapping[str, Any], workspace: WorkspaceId) -> Event:
    """Return the event that `event_to_json` encoded."""
    made = _blank_event()
    made.workspace = workspace
    made.scope = parse_scope(data["scope"])
    made.kind = EVENT_KINDS[data["kind"]]
    made.speaker = data["speaker"]
    made.role = data["role"]
    made.text = data["text"]
    made.at = parse_time(data["at"])
    made.recorded_at = parse_time(data["recorded_at"])
    made.key = data["key"]
    made.thread = data["thread"]
    made.trust = TRUSTS[data["trust"]]
    files = data["attachments"]
    made.attachments = tuple(Attachment(**each) for each in files) if files else ()
    made.metadata = data["metadata"]
    made.__class__ = Event
    event: Event = made
    return event


def memory_to_json(memory: Memory) -> dict[str, Any]:
    """Return all fields of a memory, without its workspace."""
    return {
        "id": memory.id,
        "scope": str(memory.scope),
        "label": sorted(map(str, memory.label)),
        "kind": memory.kind.value,
        "text": memory.text,
        "sources": list(memory.sources),
        "slot": memory.slot,
        "indexed_text": memory.indexed_text,
        "at": format_time(memory.at),
        "recorded_at": format_time(memory.recorded_at),
        "trust": memory.trust.name.lower(),
        "confidence": memory.confidence,
        "salience": memory.salience,
        "tier": memory.tier.value,
        "valid_from": _format_optional_time(memory.valid_from),
        "valid_to": _format_optional_time(memory.valid_to),
        "speaker": memory.speaker,
        "role": memory.role,
        "source": memory.source,
        "thread": memory.thread,
        "tags": list(memory.tags),
        "learned": memory.learned,
        "archived": memory.archived,
        "metadata": dict(memory.metadata),
        "body": dict(memory.body),
    }


def content_to_json(memory: Memory) -> dict[str, Any]:
    """Return the fields of a memory without its changeable state: tier and archive flag."""
    data = memory_to_json(memory)
    del data["tier"], data["archived"]
    return data


def memory_from_json(
    data: Mapping[str, Any],
    workspace: WorkspaceId,
    tier: str | None = None,
    archived: bool | None = None,
) -> Memory:
    """Return the memory, with the given state or else with the one in `data`."""
    made = _blank_memory()
    made.id = data["id"]
    made.workspace = workspace
    made.scope = parse_scope(data["scope"])
    made.label = _parse_label(*data["label"])
    made.kind = MEMORY_KINDS[data["kind"]]
    made.text = data["text"]
    made.sources = tuple(data["sources"])
    made.slot = data["slot"]
    made.indexed_text = data["indexed_text"]
    made.at = parse_time(data["at"])
    made.recorded_at = parse_time(data["recorded_at"])
    made.trust = TRUSTS[data["trust"]]
    made.confidence = data["confidence"]
    made.salience = data["salience"]
    made.tier = TIERS[tier or data["tier"]]
    made.valid_from = _parse_optional_time(data["valid_from"])
    made.valid_to = _parse_optional_time(data["valid_to"])
    made.speaker = data["speaker"]
    made.role = data["role"]
    made.source = data["source"]
    made.thread = data["thread"]
    made.tags = tuple(data["tags"])
    made.learned = data["learned"]
    made.archived = data["archived"] if archived is None else bool(archived)
    made.metadata = data["metadata"]
    made.body = data["body"]
    made.__class__ = Memory
    memory: Memory = made
    return memory


TEXT_START, TEXT_END = '"text":"', '","thread":'


def extract_text(content: str) -> str:
    """Return the text of a memory from its canonical JSON without parsing the other fields.

    Keys are sorted, so no later field contains a key `text`. A quote inside a JSON string is always
    escaped.
    """
    start = content.rfind(TEXT_START) + len(TEXT_START)
    end = content.find(TEXT_END, start)
    if start < len(TEXT_START) or end < 0:
        return str(json.loads(content)["text"])
    encoded = content[start:end]
    return str(json.loads(f'"{encoded}"')) if "\\" in encoded else encoded


@lru_cache(maxsize=10_000)
def _parse_label(*scopes: str) -> Label:
    return frozenset(map(parse_scope, scopes))


def _format_optional_time(at: datetime | None) -> str | None:
    return format_time(at) if at else None


def _parse_optional_time(text: str | None) -> datetime | None:
    return parse_time(text) if text else None
