"""Landmarks section: what is pinned is alive, weighty, small, and cheap to find."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from nexusmem.compose.request import SectionInput
from nexusmem.compose.router import ContextPlan
from nexusmem.compose.sections.landmarks import landmark_items
from nexusmem.compose.settings import ComposeSettings
from nexusmem.core.canonical import format_time
from nexusmem.core.protocols.store import Store
from nexusmem.core.records import Draft, MemoryKind
from nexusmem.core.records.landmark_status import concerns_behaviour
from nexusmem.core.records.links import LinkRelation
from nexusmem.stores.sqlite.store import SqliteStore
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, ALICE, make_event

START = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOW = START + timedelta(days=200)


@pytest.fixture(params=["reference", "sqlite"])
def store(request: pytest.FixtureRequest) -> Iterator[Store]:
    made: Store = ReferenceStore() if request.param == "reference" else SqliteStore(":memory:")
    yield made
    made.close()


def put_landmarks(
    store: Store, *landmarks: tuple[str, str, datetime, datetime | None]
) -> list[str]:
    """Store (kind, text, at, due) of each landmark; return their ids."""
    events = [
        make_event(f"{at:%j%H%M%S}-{text}", text, scope=ALICE.home, at=at)
        for _, text, at, _ in landmarks
    ]
    receipts = store.ledger.append(ACME, events, recorded_at=NOW)
    drafts = [
        Draft(
            scope=ALICE.home,
            kind=MemoryKind.LANDMARK,
            text=text,
            sources=(receipt.event_id,),
            body={"kind": kind, "owner": "alice", "due": format_time(due) if due else None},
            learned=True,
            salience=0.9 if kind == "decision" or due else 0.8,
        )
        for (kind, text, _, due), receipt in zip(landmarks, receipts, strict=True)
    ]
    return [memory.id for memory in store.memories.put(ACME, drafts)]


def pinned(store: Store, settings: ComposeSettings | None = None, now: datetime = NOW) -> list[str]:
    plan = ContextPlan(sections={}, question="", steps=())
    inputs = SectionInput(
        store=store,
        grant=ALICE.grant(),
        viewer=ALICE,
        plan=plan,
        now=now,
        settings=settings or ComposeSettings(),
    )
    return [f"{item.why['kind']}: {item.text}" for item in landmark_items(inputs)]


CHORES = "water the plants|buy milk|call the plumber|book a table|send the report".split("|")


def chores(count: int) -> list[tuple[str, str, datetime, None]]:
    return [
        (
            "action_item",
            f"I'll {CHORES[n % 5]} for guest {n}.",
            START + timedelta(hours=n + 1),
            None,
        )
        for n in range(count)
    ]


@pytest.mark.requirement("A15")
def test_founding_decision_and_promise_survive_chores(store: Store) -> None:
    put_landmarks(
        store,
        ("decision", "We decided to store everything in Postgres.", START, None),
        ("commitment", "I'll hand in the thesis.", START, NOW + timedelta(days=3)),
        ("preference_stated", "Please answer in bullet points.", START, None),
    )
    put_landmarks(store, *chores(150))

    lines = pinned(store)

    assert lines[:2] == [
        "decision: We decided to store everything in Postgres.",
        "preference: Please answer in bullet points.",
    ]
    assert lines[2].startswith("commitment, due 2026-09-2")
    assert "thesis" in lines[2]
    assert len(lines) == 7, "five tasks at most"


def test_landmark_closed_by_message_is_not_pinned(store: Store) -> None:
    (done, _) = put_landmarks(
        store,
        ("action_item", "I'll order the chairs.", START, NOW + timedelta(days=1)),
        ("action_item", "I'll paint the fence.", START, NOW + timedelta(days=2)),
    )
    (source,) = store.ledger.append(
        ACME,
        [make_event("done", "Chairs are ordered.", scope=ALICE.home, at=START)],
        recorded_at=NOW,
    )
    link = Draft(
        scope=ALICE.home,
        kind=MemoryKind.LINK,
        text="closed",
        sources=(source.event_id, done),
        body={"relation": LinkRelation.CLOSES, "members": [done], "status": "done"},
        indexed_text="",
        learned=True,
    )
    store.memories.put(ACME, [link])

    assert [line.partition(": ")[2] for line in pinned(store)] == ["I'll paint the fence."]


def test_tasks_are_sorted_by_due_date_and_overdue_is_marked(store: Store) -> None:
    put_landmarks(
        store,
        ("action_item", "I'll file the taxes.", START, NOW + timedelta(days=9)),
        ("action_item", "I'll fix the bike.", START, None),
        ("commitment", "I'll send the invoice.", START, NOW - timedelta(days=4)),
        ("action_item", "I'll renew the passport.", START, NOW + timedelta(days=2)),
        ("action_item", "I'll plan the 2025 party.", START, NOW - timedelta(days=150)),
    )

    assert [line.split(" 20")[0].partition(":")[0] for line in pinned(store)] == [
        "commitment, overdue since",
        "action item, due",
        "action item, due",
        "action item",
    ]
    assert "invoice" in pinned(store)[0]
    assert "passport" in pinned(store)[1]


def test_old_overdue_tasks_leave_room_for_those_due_next(store: Store) -> None:
    put_landmarks(
        store,
        *(
            ("action_item", f"I'll send invoice {n} to {name}.", START, NOW - timedelta(days=n + 1))
            for n, name in enumerate(["Ada", "Bo", "Cy", "Di", "Ed", "Flo"])
        ),
        *(
            ("action_item", f"I'll visit {name} in spring.", START, NOW + timedelta(days=n + 1))
            for n, name in enumerate(["Rome", "Oslo", "Bern", "Kyiv", "Riga"])
        ),
    )

    lines = pinned(store)

    assert [("overdue" in line) for line in lines] == [True, True, False, False, False]
    assert "Ada" in lines[1]
    assert "Rome" in lines[2]


@pytest.mark.parametrize("between", [0, 150])
def test_replaced_decision_is_not_shown_beside_its_successor(store: Store, between: int) -> None:
    put_landmarks(store, ("decision", "We decided to use Postgres.", START, None))
    put_landmarks(store, *chores(between))
    later = NOW - timedelta(days=1)
    put_landmarks(store, ("decision", "We decided to switch from Postgres to MySQL.", later, None))

    decisions = [line for line in pinned(store) if line.startswith("decision")]

    assert decisions == ["decision: We decided to switch from Postgres to MySQL."]


def test_distant_decision_is_not_replaced_because_of_one_shared_word(store: Store) -> None:
    founding = "We decided the annual budget review covers every office canteen."
    put_landmarks(store, ("decision", founding, START, None))
    put_landmarks(store, *chores(150))
    change = "We decided to change the canteen supplier, menu, opening hours and prices."
    put_landmarks(store, ("decision", change, NOW - timedelta(days=1), None))

    assert f"decision: {founding}" in pinned(store)


def test_passing_decisions_do_not_displace_lasting_ones(store: Store) -> None:
    put_landmarks(
        store,
        ("decision", "We decided to publish under the MIT license.", START, None),
        *(
            (
                "decision",
                f"We decided to have {food} for lunch today.",
                NOW - timedelta(hours=n),
                None,
            )
            for n, food in enumerate(["ramen", "pizza", "soup", "curry", "salad", "tacos"], start=1)
        ),
        ("decision", "Let's take the train on Friday.", NOW - timedelta(days=40), None),
        ("decision", "We meet every Monday at 9.", NOW - timedelta(days=40), None),
    )

    lines = pinned(store)

    assert "decision: We decided to publish under the MIT license." in lines
    assert "decision: We meet every Monday at 9." in lines
    assert not any("train" in line for line in lines)
    assert len(lines) == 5


def test_of_equal_decisions_both_ends_in_time_are_pinned(store: Store) -> None:
    names = "ada bo cy di ed flo gil hal".split()
    put_landmarks(
        store,
        *(
            (
                "decision",
                f"We decided that {name} owns module m{name}x.",
                START + timedelta(days=n),
                None,
            )
            for n, name in enumerate(names)
        ),
    )

    owners = [line.split()[4] for line in pinned(store)]

    assert owners == ["ada", "bo", "flo", "gil", "hal"]


def test_limits_are_settings(store: Store) -> None:
    put_landmarks(
        store,
        *chores(20),
        ("decision", "We decided to use Rust.", START, None),
        ("decision", "We decided to sell bicycles.", START + timedelta(days=1), None),
        ("preference_stated", "Never email me.", START, None),
    )
    settings = ComposeSettings(pinned_decisions=1, pinned_tasks=2, pinned_preferences=0)

    assert [line.split(":")[0] for line in pinned(store, settings)] == [
        "decision",
        "action item",
        "action item",
    ]
    larger = replace(settings, pinned_preferences=4).scale_to_budget(8_000, ())
    assert (larger.pinned_decisions, larger.pinned_tasks, larger.pinned_preferences) == (2, 4, 8)


def test_ten_thousand_landmarks_are_not_read() -> None:
    """The founding landmarks of 10,000 are pinned, for a bounded number of read memories."""
    store = SqliteStore(":memory:")
    put_landmarks(
        store,
        ("decision", "We decided that only humans approve payments.", START, None),
        ("preference_stated", "No calls before ten, please.", START, None),
        ("commitment", "I'll return the camera.", START, NOW + timedelta(days=12)),
    )
    words = [f"{a}{b}" for a in "bdfgklmnpr" for b in ("ax", "ex", "ix", "ox", "ux")]
    kinds = ("decision", "action_item", "action_item", "preference_stated", "correction")
    every = [
        (
            kinds[n % 5],
            f"{words[n % 50]} {words[n // 50 % 50]} {words[n // 2500]} matters to case {n}.",
            START + timedelta(minutes=n + 1),
            NOW + timedelta(days=n % 300 - 400) if n % 5 == 1 else None,
        )
        for n in range(9_997)
    ]
    for first in range(0, len(every), 500):
        put_landmarks(store, *every[first : first + 500])

    started = time.perf_counter()
    lines = pinned(store)
    seconds = time.perf_counter() - started

    assert "decision: We decided that only humans approve payments." in lines
    assert "preference: No calls before ten, please." in lines
    assert any("camera" in line for line in lines)
    assert len(lines) <= 15
    assert seconds < 1.0, "reading all of them takes longer"
    store.close()


# Written before the rule; the second half of each list was not read while writing it.
BEHAVIOUR = (
    "Please answer in bullet points.",
    "no calls before ten please",
    "I prefer short answers",
    "from now on always reply in German",
    "don't use emojis when you write to me",
    "keep your explanations brief",
    "never send me emails on weekends",
    "call me Kit, not Christopher",
    "always show me the code before you run it",
    "I like it when you cite your sources",
    "I'd prefer that you ask before booking anything",
    "use metric units with me",
)
TASTES = (
    "I prefer tea over coffee",
    "I love jazz",
    "my favourite colour is green",
    "I don't like horror films",
    "I prefer window seats",
    "I hate cilantro",
    "I like long walks",
    "I prefer Python to Java",
    "I enjoy hiking in short trousers",
    "my favourite answer is always pizza",
    "I prefer early flights",
    "I dislike loud bars",
)


@pytest.mark.parametrize("text", BEHAVIOUR)
def test_wish_about_the_agent_concerns_its_behaviour(text: str) -> None:
    assert concerns_behaviour(text)


@pytest.mark.parametrize("text", TASTES)
def test_taste_does_not_concern_the_behaviour_of_the_agent(text: str) -> None:
    assert not concerns_behaviour(text)
