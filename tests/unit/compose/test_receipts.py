"""JSON encoding of context receipts."""

from __future__ import annotations

import json

from nexusmem.compose.receipts import receipt_from_json, receipt_to_json
from nexusmem.core.records.context import ContextReceipt, CutItem, ShownItem
from nexusmem.testing.suites.window import full_context

RECEIPT = full_context().receipt  # every field has a value


def test_receipt_json_round_trip() -> None:
    assert receipt_from_json(json.loads(json.dumps(receipt_to_json(RECEIPT)))) == RECEIPT


def test_every_field_of_shown_and_cut_items_is_encoded() -> None:
    told = receipt_to_json(RECEIPT)

    assert told.keys() == set(ContextReceipt.__slots__)
    assert all(each.keys() == set(ShownItem.__slots__) for each in told["shown"])
    assert all(each.keys() == set(CutItem.__slots__) for each in told["cut"])


def test_encoded_receipt_is_a_copy() -> None:
    before = dict(RECEIPT.shown[0].why)

    receipt_to_json(RECEIPT)["shown"][0]["why"]["score"] = 7.0

    assert RECEIPT.shown[0].why == before
