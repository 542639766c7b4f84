"""The hash chain: any change shows, and erasing keeps it whole."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
from tests.unit.making import DM, NOON, event

from nexus.core.chain import GENESIS, commitment, content_of, link, new_salt, same_content
from nexus.core.records import Attachment, EventKind, Trust

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


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("name", CHANGES)
def test_a_commitment_covers_everything_an_event_says(name: str) -> None:
    changed = replace(EVENT, **{name: CHANGES[name]})

    assert commitment(SALT, content_of(changed)) != commitment(SALT, content_of(EVENT))


def test_a_commitment_is_the_same_every_time_and_different_with_another_salt() -> None:
    assert commitment(SALT, content_of(EVENT)) == commitment(SALT, content_of(event()))
    assert commitment(new_salt(), content_of(EVENT)) != commitment(new_salt(), content_of(EVENT))


def test_metadata_in_another_order_is_the_same_event() -> None:
    one, other = event(metadata={"a": 1, "b": 2}), event(metadata={"b": 2, "a": 1})

    assert commitment(SALT, content_of(one)) == commitment(SALT, content_of(other))


@pytest.mark.requirement("X3")
def test_a_link_covers_all_links_before_it() -> None:
    a, b, c = (commitment(SALT, content_of(event(key=key))) for key in "abc")

    head = link(link(link(GENESIS, a), b), c)

    assert head != link(link(link(GENESIS, b), a), c)
    assert head != link(link(GENESIS, a), c)
    assert head == link(link(link(GENESIS, a), b), c)


@pytest.mark.requirement("X3")
@pytest.mark.parametrize("name", CHANGES)
def test_told_again_is_the_same_whenever_it_is_told(name: str) -> None:
    told_again = replace(EVENT, **{name: CHANGES[name]})

    assert same_content(EVENT, told_again) == (name in ("at", "recorded_at"))
