"""Receipts of contexts come back as they were kept, with all that is told of each line."""

from __future__ import annotations

import json

from nexus.compose.receipts import receipt_from_json, receipt_to_json
from nexus.core.context import ContextReceipt, Cut, Shown
from nexus.testing.suites.contexts import full_context

RECEIPT = full_context().receipt  # it has something in every field


def test_a_receipt_comes_back_as_it_was() -> None:
    assert receipt_from_json(json.loads(json.dumps(receipt_to_json(RECEIPT)))) == RECEIPT


def test_every_field_of_every_line_is_told() -> None:
    told = receipt_to_json(RECEIPT)

    assert told.keys() == set(ContextReceipt.__slots__)
    assert all(each.keys() == set(Shown.__slots__) for each in told["shown"])
    assert all(each.keys() == set(Cut.__slots__) for each in told["cut"])


def test_whoever_changes_what_was_told_does_not_change_the_receipt() -> None:
    before = dict(RECEIPT.shown[0].why)

    receipt_to_json(RECEIPT)["shown"][0]["why"]["score"] = 7.0

    assert RECEIPT.shown[0].why == before
