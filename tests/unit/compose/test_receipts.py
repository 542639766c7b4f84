"""Receipts of contexts come back as they were kept, with all that is told of each line."""

from __future__ import annotations

import json
from datetime import UTC, datetime

from nexus.compose.receipts import receipt_from_json, receipt_to_json
from nexus.core.context import ContextReceipt, Cut, Shown
from nexus.core.part import Part

RECEIPT = ContextReceipt(
    id="c",
    at=datetime(2026, 3, 1, 12, 30, tzinfo=UTC),
    question="Who makes the tea?",
    budget=900,
    tokens=40,
    plan={Part.LANDMARKS: "always", Part.RECALL: "asked"},
    sections={Part.LANDMARKS: 12, Part.RECALL: 20},
    frame=8,
    shown=(
        Shown(part=Part.RECALL, id="m", tokens=9, scope="room:tea", why={"score": 0.5, "by": "x"}),
        Shown(part=Part.LANDMARKS, id="n", tokens=4),
    ),
    cut=(Cut(part=Part.RECALL, id="o", tokens=7, why="budget"),),
    seconds={"plan": 0.001, "render": 0.002},
    degraded=("window: away",),
    cached=True,
)


def test_a_receipt_comes_back_as_it_was() -> None:
    assert receipt_from_json(json.loads(json.dumps(receipt_to_json(RECEIPT)))) == RECEIPT


def test_every_field_of_every_line_is_told() -> None:
    told = receipt_to_json(RECEIPT)

    assert told.keys() == set(ContextReceipt.__slots__)
    assert all(each.keys() == set(Shown.__slots__) for each in told["shown"])
    assert all(each.keys() == set(Cut.__slots__) for each in told["cut"])


def test_whoever_changes_what_was_told_does_not_change_the_receipt() -> None:
    receipt_to_json(RECEIPT)["shown"][0]["why"]["score"] = 1.0

    assert RECEIPT.shown[0].why["score"] == 0.5
