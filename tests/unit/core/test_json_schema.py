"""JSON schema subset of all providers, and matching of values."""

from __future__ import annotations

import re

import pytest

from nexusmem.core.errors import InvalidInput
from nexusmem.core.protocols.models import check_schema, find_mismatch


def closed(**properties) -> dict:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


TEXT = {"type": "string"}
MAYBE = {"anyOf": [TEXT, {"type": "null"}]}
TREE = closed(name=TEXT, tags={"type": "array", "items": TEXT}, owner=closed(id=MAYBE))

REFUSED = {
    "not a mapping": ([], "must be a mapping"),
    "a keyword few know": ({"type": "string", "pattern": "a+"}, "'pattern'"),
    "several types": ({"type": ["string", "null"]}, "must have a type"),
    "no type": ({"description": "x"}, "must have a type"),
    "a type nobody knows": ({"type": "date"}, "must have a type"),
    "an open object": ({"type": "object", "properties": {}, "required": []}, "additionalProp"),
    "an optional property": ({**closed(a=TEXT), "required": []}, "require all"),
    "a list of anything": ({"type": "array"}, "items must be a mapping"),
    "deep inside": (closed(a={"type": "array", "items": closed(b={"type": "x"})}), r"a\.items\.b"),
    "in a choice": ({"anyOf": [TEXT, {"type": "x"}]}, r"anyOf\[1\]"),
}


@pytest.mark.parametrize(("schema", "reason"), REFUSED.values(), ids=REFUSED)
def test_unsupported_schema_is_rejected_with_its_path(schema, reason):
    with pytest.raises(InvalidInput, match=reason):
        check_schema(schema)


@pytest.mark.parametrize("schema", [TEXT, MAYBE, TREE, {"enum": ["a", 1, None]}, closed()], ids=str)
def test_supported_schema_is_accepted(schema):
    check_schema(schema)


FITS = [
    ("a", TEXT),
    (None, MAYBE),
    (1, {"type": "integer"}),
    (1, {"type": "number"}),
    (1.5, {"type": "number"}),
    (True, {"type": "boolean"}),
    (None, {"enum": ["a", None]}),
    ("a", {"type": "string", "enum": ["a", "b"]}),
    ([], {"type": "array", "items": TEXT}),
    ({}, closed()),
    ({"name": "x", "tags": ["a", "b"], "owner": {"id": None}}, TREE),
]
DIFFERS = [
    (1, TEXT, "it is not of type string"),
    (None, TEXT, "it is not of type string"),
    (True, {"type": "integer"}, "not of type integer"),
    (True, {"type": "number"}, "not of type number"),
    (1, {"type": "boolean"}, "not of type boolean"),
    (1.5, {"type": "integer"}, "not of type integer"),
    (float("nan"), {"type": "integer"}, "not of type integer"),
    (1, MAYBE, "it fits none of 2 choices"),
    (True, {"enum": [1, 2]}, "it is none of 1, 2"),
    ("c", {"type": "string", "enum": ["a", "b"]}, "it is none of a, b"),
    ([1], {"type": "array", "items": TEXT}, r"it\[0\] is not"),
    ({}, TREE, "it lacks name, owner, tags"),
    ({"a": 1}, closed(), "it holds more than"),
    ({"name": "x", "tags": [], "owner": {"id": 5}}, TREE, r"it\.owner\.id fits none"),
    ({"name": "x", "tags": ["a", 2], "owner": {"id": "5"}}, TREE, r"it\.tags\[1\]"),
]


@pytest.mark.parametrize(("value", "schema"), FITS, ids=str)
def test_matching_value_has_no_mismatch(value, schema):
    assert find_mismatch(value, schema) is None


@pytest.mark.parametrize(("value", "schema", "reason"), DIFFERS, ids=str)
def test_mismatch_names_the_path(value, schema, reason):
    assert re.search(reason, find_mismatch(value, schema) or "")


def test_mismatch_does_not_contain_the_value():
    assert "secret" not in str(find_mismatch({"secret": "secret"}, closed(a=TEXT)))
