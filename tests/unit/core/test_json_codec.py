"""JSON codec: events and memories round-trip unchanged."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as some
from tests.unit.making import ACME, NOON, event, json_values, memory, names, scopes, texts

from nexusmem.core.canonical import canonical_json, format_time
from nexusmem.core.json_codec import (
    encode_event,
    event_from_json,
    event_to_json,
    extract_text,
    memory_from_json,
    memory_to_json,
)
from nexusmem.core.records import (
    Attachment,
    Event,
    EventKind,
    Memory,
    MemoryKind,
    NewEvent,
    Tier,
    Trust,
)

metadata = some.dictionaries(texts, json_values, max_size=3)

events = some.builds(
    event,
    texts.filter(str.strip),
    scope=scopes,
    speaker=names,
    key=texts.filter(bool),
    role=some.sampled_from(["user", "assistant", "tool", "system"]),
    kind=some.sampled_from(EventKind),
    trust=some.sampled_from(Trust),
    thread=some.none() | names,
    metadata=metadata,
    attachments=some.lists(
        some.builds(
            Attachment, name=texts, url=some.none() | texts, size=some.none() | some.integers(0)
        )
    ).map(tuple),
)

memories = some.builds(
    memory,
    texts.filter(str.strip),
    scope=scopes,
    source_event=events,
    kind=some.sampled_from(MemoryKind),
    tier=some.sampled_from(Tier),
    slot=texts,
    indexed_text=some.none() | texts,
    confidence=some.floats(0, 1),
    salience=some.floats(0, 1),
    valid_from=some.none() | some.just(NOON),
    speaker=some.none() | names,
    tags=some.lists(texts).map(tuple),
    metadata=metadata,
    body=metadata,
)


@settings(max_examples=30)
@given(events)
def test_event_round_trips(one: Event) -> None:
    assert event_from_json(json.loads(canonical_json(event_to_json(one))), ACME) == one


@settings(max_examples=100)
@given(events)
def test_direct_encoding_equals_canonical_json(one: Event) -> None:
    """The ledger commits to these bytes, so both encoders must agree."""
    spelt = encode_event(
        one, one.id, str(one.scope), format_time(one.at), format_time(one.recorded_at)
    )
    assert spelt == canonical_json(event_to_json(one))


@settings(max_examples=30)
@given(memories)
def test_memory_round_trips(one) -> None:
    assert memory_from_json(json.loads(canonical_json(memory_to_json(one))), ACME) == one


def test_workspace_is_not_encoded() -> None:
    assert "workspace" not in event_to_json(event())
    assert "workspace" not in memory_to_json(memory())


def test_new_event_has_no_recorded_at() -> None:
    new = NewEvent(scope=event().scope, speaker="a", text="t", at=NOON, key="k")

    assert "recorded_at" not in event_to_json(new)
    assert new.id == event(speaker="a", text="t").id


@settings(max_examples=200)
@given(memories, texts, texts)
def test_text_is_extracted_from_canonical_json(told: Memory, other: str, quoted: str) -> None:
    """Any text and any other field of the same name."""
    text = f'{told.text}","thread":"{quoted}'
    nested = {"text": other, "deep": [{"text": f'","text":"{quoted}"', "thread": other}]}
    every = (
        told,
        replace(told, text=text, metadata=nested, body=nested),
        replace(told, tags=("text", '"text":"'), thread=quoted or None),
    )

    for each in every:
        assert extract_text(canonical_json(memory_to_json(each))) == each.text


def test_text_is_extracted_from_other_json() -> None:
    assert extract_text('{"thread": null, "text": "Tea at \\"four\\"."}') == 'Tea at "four".'
