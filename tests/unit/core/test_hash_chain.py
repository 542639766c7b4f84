"""Hash chain: commitments, links, and comparison of redelivered events."""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import timedelta

import pytest
from tests.unit.making import DM, NOON, event

from nexusmem.core.hash_chain import (
    GENESIS,
    chain_hash,
    event_content,
    has_same_content,
    make_commitment,
    new_salt,
)
from nexusmem.core.records import Attachment, Event, EventKind, Trust

EVENT = event()
SALT = bytes(16)

CHANGES = {
    "scope": DM,
    "speaker": "bob",
    "text": "We chose MySQL.",
    "at": NOON + timedelta(microseconds=1),
    "recorded_at": NOON + timedelta(microseconds=1),
    "key": "k2",
    "role": "assistant",
    "kind": EventKind.NOTE,
    "trust": Trust.UNKNOWN,
    "thread": "t",
    "attachments": (Attachment(name="a.pdf"),),
    "metadata": {"a": 1},
}


def test_changes_cover_every_field_of_an_event() -> None:
    """A new field must be part of the commitment, too."""
    assert CHANGES.keys() | {"workspace"} == {field.name for field in fields(Event)}


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("name", CHANGES)
def test_commitment_covers_all_fields_of_an_event(name: str) -> None:
    changed = replace(EVENT, **{name: CHANGES[name]})

    assert make_commitment(SALT, event_content(changed)) != make_commitment(
        SALT, event_content(EVENT)
    )


def test_commitment_is_deterministic_per_salt() -> None:
    assert make_commitment(SALT, event_content(EVENT)) == make_commitment(
        SALT, event_content(event())
    )
    assert make_commitment(new_salt(), event_content(EVENT)) != make_commitment(
        new_salt(), event_content(EVENT)
    )


def test_metadata_order_does_not_change_the_commitment() -> None:
    one, other = event(metadata={"a": 1, "b": 2}), event(metadata={"b": 2, "a": 1})

    assert make_commitment(SALT, event_content(one)) == make_commitment(SALT, event_content(other))


@pytest.mark.requirement("X3")
def test_link_covers_all_earlier_links() -> None:
    a, b, c = (make_commitment(SALT, event_content(event(key=key))) for key in "abc")

    head = chain_hash(chain_hash(chain_hash(GENESIS, a), b), c)

    assert head != chain_hash(chain_hash(chain_hash(GENESIS, b), a), c)
    assert head != chain_hash(chain_hash(GENESIS, a), c)
    assert head == chain_hash(chain_hash(chain_hash(GENESIS, a), b), c)


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("name", CHANGES)
def test_redelivered_event_is_equal_regardless_of_time(name: str) -> None:
    told_again = replace(EVENT, **{name: CHANGES[name]})

    assert has_same_content(EVENT, told_again) == (name in ("at", "recorded_at"))
