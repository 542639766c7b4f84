"""Records as JSON and back, unchanged."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as some
from tests.unit.making import ACME, NOON, event, json_values, memory, names, scopes, texts

from nexus.core.canonical import canonical_json, time_text
from nexus.core.codec import (
    event_from_json,
    event_json,
    memory_from_json,
    memory_json,
    spelt_event,
    text_in,
)
from nexus.core.records import (
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
def test_an_event_survives_json(one: Event) -> None:
    assert event_from_json(json.loads(canonical_json(event_json(one))), ACME) == one


@settings(max_examples=100)
@given(events)
def test_an_event_is_spelt_in_one_way(one: Event) -> None:
    """A ledger commits to these bytes, however they were put together."""
    spelt = spelt_event(one, one.id, str(one.scope), time_text(one.at), time_text(one.recorded_at))
    assert spelt == canonical_json(event_json(one))


@settings(max_examples=30)
@given(memories)
def test_a_memory_survives_json(one) -> None:
    assert memory_from_json(json.loads(canonical_json(memory_json(one))), ACME) == one


def test_a_workspace_is_not_part_of_a_record() -> None:
    assert "workspace" not in event_json(event())
    assert "workspace" not in memory_json(memory())


def test_an_event_has_no_time_of_recording_before_it_is_recorded() -> None:
    new = NewEvent(scope=event().scope, speaker="a", text="t", at=NOON, key="k")

    assert "recorded_at" not in event_json(new)
    assert new.id == event(speaker="a", text="t").id


@settings(max_examples=200)
@given(memories, texts, texts)
def test_the_text_of_a_memory_is_read_out_of_its_content(
    told: Memory, other: str, quoted: str
) -> None:
    """Whatever it says, and whatever else it holds under such a name."""
    text = f'{told.text}","thread":"{quoted}'
    nested = {"text": other, "deep": [{"text": f'","text":"{quoted}"', "thread": other}]}
    every = (
        told,
        replace(told, text=text, metadata=nested, body=nested),
        replace(told, tags=("text", '"text":"'), thread=quoted or None),
    )

    for each in every:
        assert text_in(canonical_json(memory_json(each))) == each.text


def test_a_content_that_is_spelt_otherwise_is_read_as_well() -> None:
    assert text_in('{"thread": null, "text": "Tea at \\"four\\"."}') == 'Tea at "four".'
