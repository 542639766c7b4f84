"""Profile section with landmarks that another section has loaded."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nexusmem.compose.request import MAX_LANDMARKS, SectionInput
from nexusmem.compose.router import ContextPlan
from nexusmem.compose.sections.profile import profile_items
from nexusmem.core.records import Draft, MemoryKind
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ALICE, make_event

MONDAY = datetime(2026, 3, 2, 9, tzinfo=UTC)
PREFERRED = "Alice prefers tea."


def landmark(store: ReferenceStore, number: int, text: str, kind: str) -> None:
    at = MONDAY + timedelta(minutes=number)
    told = make_event(f"{number}", text, scope=ALICE.home, at=at)
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


def asking(store: ReferenceStore) -> SectionInput:
    plan = ContextPlan(sections={}, question="", steps=())
    now = MONDAY + timedelta(days=1)
    return SectionInput(store=store, grant=ALICE.grant(), viewer=ALICE, plan=plan, now=now)


@pytest.mark.requirement("E30")
@pytest.mark.parametrize("more", [0, MAX_LANDMARKS - 1, MAX_LANDMARKS, MAX_LANDMARKS + 1])
def test_preference_is_shown_despite_many_later_landmarks(more: int) -> None:
    store = ReferenceStore()
    landmark(store, 0, PREFERRED, "preference_stated")
    for number in range(1, more + 1):
        landmark(store, number, f"Alice decided to take boat {number}.", "decision")

    assert [item.text for item in profile_items(asking(store))] == [PREFERRED]


@pytest.mark.requirement("E30")
def test_replay_shows_preference_before_it_was_repeated() -> None:
    store = ReferenceStore()
    landmark(store, 0, PREFERRED, "preference_stated")
    landmark(store, 10, PREFERRED, "preference_stated")
    before = replace(asking(store), now=MONDAY + timedelta(minutes=5), is_replay=True)

    told = profile_items(before)

    assert [(item.text, item.at) for item in told] == [(PREFERRED, MONDAY)]
