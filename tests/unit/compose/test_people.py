"""Who is here, told with landmarks that another section has read."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nexus.compose.asking import MOST_PINNED, Asking
from nexus.compose.plan import Plan
from nexus.compose.sections.profile import people
from nexus.core.records import Draft, MemoryKind
from nexus.stores.inprocess import InProcessStore
from nexus.testing.samples import ACME, ALICE, event

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
PREFERRED = "Alice prefers tea."


def landmark(store: InProcessStore, number: int, text: str, kind: str) -> None:
    at = MONDAY + timedelta(minutes=number)
    told = event(f"{number}", text, scope=ALICE.home, at=at)
    (receipt,) = store.ledger.append(ACME, [told], recorded_at=at)
    draft = Draft(
        scope=ALICE.home,
        kind=MemoryKind.LANDMARK,
        text=text,
        sources=(receipt.event_id,),
        body={"kind": kind, "owner": "alice"},
        learned=True,
    )
    store.memories.put(ACME, [draft])


def asking(store: InProcessStore) -> Asking:
    plan = Plan(wanted={}, question="", steps=())
    now = MONDAY + timedelta(days=1)
    return Asking(store=store, grant=ALICE.grant(), viewer=ALICE, plan=plan, now=now)


@pytest.mark.requirement("E30")
@pytest.mark.parametrize("more", [0, MOST_PINNED - 1, MOST_PINNED, MOST_PINNED + 1])
def test_a_wish_is_told_however_much_was_decided_since(more: int) -> None:
    store = InProcessStore()
    landmark(store, 0, PREFERRED, "preference_stated")
    for number in range(1, more + 1):
        landmark(store, number, f"Alice decided to take boat {number}.", "decision")

    assert [item.text for item in people(asking(store))] == [PREFERRED]


@pytest.mark.requirement("E30")
def test_a_wish_is_told_of_a_moment_before_it_was_said_again() -> None:
    store = InProcessStore()
    landmark(store, 0, PREFERRED, "preference_stated")
    landmark(store, 10, PREFERRED, "preference_stated")
    before = replace(asking(store), now=MONDAY + timedelta(minutes=5), replayed=True)

    told = people(before)

    assert [(item.text, item.at) for item in told] == [(PREFERRED, MONDAY)]
