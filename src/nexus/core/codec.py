"""Records as JSON and back: for the ledger's commitments, for archives, for doors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import datetime
from functools import lru_cache
from json.encoder import encode_basestring as _quoted
from typing import Any

from .access import Label
from .canonical import canonical_json, text_time, time_text
from .ids import WorkspaceId, event_digest
from .quick import open_for
from .records import Attachment, Event, EventKind, Memory, MemoryKind, NewEvent, Tier, Trust
from .scope import parse_scope

# A context reads a hundred records, and to look a value up is faster than to ask its class.
EVENT_KINDS = {kind.value: kind for kind in EventKind}
MEMORY_KINDS = {kind.value: kind for kind in MemoryKind}
TIERS = {tier.value: tier for tier in Tier}
TRUSTS = {trust.name.lower(): trust for trust in Trust}
TRUST_NAMES = tuple(TRUSTS)  # by their numbers
_open_event, _open_memory = open_for(Event), open_for(Memory)


def event_json(event: NewEvent, recorded_at: datetime | None = None) -> dict[str, Any]:
    """Everything the event says. Its workspace is left out: it is where the event is kept."""
    scope = str(event.scope)
    data: dict[str, Any] = {
        "id": event_digest(scope, event.key),
        "scope": scope,
        "kind": event.kind.value,
        "speaker": event.speaker,
        "role": event.role,
        "text": event.text,
        "at": time_text(event.at),
        "key": event.key,
        "thread": event.thread,
        "trust": TRUST_NAMES[event.trust],
        "attachments": list(map(asdict, event.attachments)),
        "metadata": dict(event.metadata),
    }
    recorded = event.recorded_at if isinstance(event, Event) else recorded_at
    if recorded:
        data["recorded_at"] = time_text(recorded)
    return data


def spelt_event(event: NewEvent, id: str, scope: str, at: str, recorded_at: str) -> str:
    """`canonical_json(event_json(event))`, without a detour: whoever writes an event waits for it.

    What it is known by, its scope and its two times are given as they are spelt.
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
    made = _open_event()
    made.workspace = workspace
    made.scope = parse_scope(data["scope"])
    made.kind = EVENT_KINDS[data["kind"]]
    made.speaker = data["speaker"]
    made.role = data["role"]
    made.text = data["text"]
    made.at = text_time(data["at"])
    made.recorded_at = text_time(data["recorded_at"])
    made.key = data["key"]
    made.thread = data["thread"]
    made.trust = TRUSTS[data["trust"]]
    files = data["attachments"]
    made.attachments = tuple(Attachment(**each) for each in files) if files else ()
    made.metadata = data["metadata"]
    made.__class__ = Event
    event: Event = made
    return event


def memory_json(memory: Memory) -> dict[str, Any]:
    """Everything a memory holds, its workspace left out."""
    return {
        "id": memory.id,
        "scope": str(memory.scope),
        "label": sorted(map(str, memory.label)),
        "kind": memory.kind.value,
        "text": memory.text,
        "sources": list(memory.sources),
        "slot": memory.slot,
        "indexed_text": memory.indexed_text,
        "at": time_text(memory.at),
        "recorded_at": time_text(memory.recorded_at),
        "trust": memory.trust.name.lower(),
        "confidence": memory.confidence,
        "salience": memory.salience,
        "tier": memory.tier.value,
        "valid_from": _time_or_none(memory.valid_from),
        "valid_to": _time_or_none(memory.valid_to),
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


def content_json(memory: Memory) -> dict[str, Any]:
    """What a memory holds, without the state that may change while it stays the same."""
    told = memory_json(memory)
    del told["tier"], told["archived"]
    return told


def memory_from_json(
    data: Mapping[str, Any],
    workspace: WorkspaceId,
    tier: str | None = None,
    archived: bool | None = None,
) -> Memory:
    """The memory; its state is the one given, or else the one it is told with."""
    made = _open_memory()
    made.id = data["id"]
    made.workspace = workspace
    made.scope = parse_scope(data["scope"])
    made.label = _label(*data["label"])
    made.kind = MEMORY_KINDS[data["kind"]]
    made.text = data["text"]
    made.sources = tuple(data["sources"])
    made.slot = data["slot"]
    made.indexed_text = data["indexed_text"]
    made.at = text_time(data["at"])
    made.recorded_at = text_time(data["recorded_at"])
    made.trust = TRUSTS[data["trust"]]
    made.confidence = data["confidence"]
    made.salience = data["salience"]
    made.tier = TIERS[tier or data["tier"]]
    made.valid_from = _parse_or_none(data["valid_from"])
    made.valid_to = _parse_or_none(data["valid_to"])
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


TEXT, AFTER_TEXT = '"text":"', '","thread":'


def text_in(content: str) -> str:
    """The text of a memory, read out of its canonical JSON; everything else there stays unread.

    Keys stand in order, so that nothing after its text has such a key of its own; and a quote
    inside of a string is never a bare one.
    """
    start = content.rfind(TEXT) + len(TEXT)
    end = content.find(AFTER_TEXT, start)
    if start < len(TEXT) or end < 0:
        return str(json.loads(content)["text"])
    spelt = content[start:end]
    return str(json.loads(f'"{spelt}"')) if "\\" in spelt else spelt


@lru_cache(maxsize=10_000)
def _label(*scopes: str) -> Label:
    return frozenset(map(parse_scope, scopes))


def _time_or_none(at: datetime | None) -> str | None:
    return time_text(at) if at else None


def _parse_or_none(text: str | None) -> datetime | None:
    return text_time(text) if text else None
