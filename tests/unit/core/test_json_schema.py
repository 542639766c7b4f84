"""JSON schema subset of all providers, and matching of values."""

from __future__ import annotations

import re

import pytest

from nexusmem.core.errors import InvalidInput
from nexusmem.core.protocols.models import SchemaFitter, check_schema, find_mismatch


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
    "a bound of a text": ({"type": "string", "maxItems": 2}, "maxItems"),
    "a bound in words": ({"type": "array", "items": TEXT, "maxItems": "two"}, "maxItems"),
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
    ({"a": 1}, closed(), "it has other keys than"),
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


MOOD = {"type": "string", "enum": ["very_good", "bad"]}
COUNT = {"type": "integer"}
FEW = {"type": "array", "items": TEXT, "maxItems": 2}
PETS = {"type": "array", "items": closed(name=TEXT, age=COUNT)}
REPAIRED = {
    "another key": ({"a": "x", "b": 1}, closed(a=TEXT), {"a": "x"}),
    "another spelling of a key": ({"Pet-Name": "x"}, closed(pet_name=TEXT), {"pet_name": "x"}),
    "a missing nullable key": ({"b": "x"}, closed(a=MAYBE, b=TEXT), {"a": None, "b": "x"}),
    "a missing list": ({"b": "x"}, closed(a=FEW, b=TEXT), {"a": [], "b": "x"}),
    "nothing": ({}, closed(a=MAYBE, b=FEW), {"a": None, "b": []}),
    "a word for null": ("None", MAYBE, None),
    "no word for null": ("none", TEXT, "none"),
    "a word for a list": ("null", FEW, []),
    "one item": ("x", FEW, ["x"]),
    "too many items": (["x", "y", "z"], FEW, ["x", "y"]),
    "a number as a text": ("12", COUNT, 12),
    "a whole number": (12.0, COUNT, 12),
    "a text as a number": (12, TEXT, "12"),
    "a word for true": ("Yes", {"type": "boolean"}, True),
    "another case": ("Very good", MOOD, "very_good"),
    "one pet": ({"name": "Rex", "age": 3}, PETS, [{"name": "Rex", "age": 3}]),
}


@pytest.mark.parametrize(("value", "schema", "fitted"), REPAIRED.values(), ids=REPAIRED)
def test_harmless_difference_is_repaired(value, schema, fitted):
    found = SchemaFitter([]).fit(value, schema)

    assert (found, find_mismatch(found, schema)) == (fitted, None)


def test_item_that_does_not_fit_is_dropped_with_its_fault():
    dropped: list[str] = []

    found = SchemaFitter(dropped).fit([{"name": "Rex"}, {"name": "Tom", "age": "4"}], PETS, "pets")

    assert found == [{"name": "Tom", "age": 4}]
    assert dropped == ["pets[0] lacks age"]


UNCLEAR = [
    ({"b": 1}, closed(a=MAYBE)),
    (["x"], TEXT),
    (True, COUNT),
    ("9" * 30, COUNT),
    ("some", COUNT),
    ("good", MOOD),
    ([{"name": "Rex"}], PETS),
    (None, closed(a=TEXT)),
]


@pytest.mark.parametrize(("value", "schema"), UNCLEAR, ids=str)
def test_unclear_difference_stays(value, schema):
    assert find_mismatch(SchemaFitter([]).fit(value, schema), schema) is not None
