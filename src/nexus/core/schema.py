"""The part of JSON Schema that every provider can hold its model to.

Each of them knows another subset and refuses or ignores the rest, so that a schema that works
with one is an error with the next. This is what all know: `type` (one name), `properties`,
`required`, `additionalProperties: false`, `items`, `enum`, `anyOf`, `title` and `description`.
Objects are closed and all their properties required; what may be missing is an `anyOf` with null.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType
from typing import Any

from .errors import InvalidInput

KEYWORDS = frozenset(
    "type properties required additionalProperties items enum anyOf title description".split()
)
TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "boolean": (bool,),
    "integer": (int,),
    "number": (int, float),
    "null": (NoneType,),
}


def check_schema(schema: Any, at: str = "the schema") -> None:
    """InvalidInput if some provider would not understand it."""
    if not isinstance(schema, Mapping):
        raise InvalidInput(f"{at} must be a mapping, not {type(schema).__name__}")
    for keyword in schema.keys() - KEYWORDS:
        raise InvalidInput(f"{at} uses {keyword!r:.80}, which not every provider knows")
    for number, choice in enumerate(schema.get("anyOf", ())):
        check_schema(choice, f"{at}.anyOf[{number}]")
    kind = schema.get("type")
    if kind is None and ("anyOf" in schema or "enum" in schema):
        return
    if not isinstance(kind, str) or kind not in TYPES:
        raise InvalidInput(f"{at} must have a type of {', '.join(TYPES)}")
    if kind == "object":
        _check_object(schema, at)
    if kind == "array":
        check_schema(schema.get("items"), f"{at}.items")


def _check_object(schema: Mapping[str, Any], at: str) -> None:
    properties = schema.get("properties", {})
    if schema.get("additionalProperties") is not False:
        raise InvalidInput(f"{at} must say additionalProperties: false")
    if set(schema.get("required", ())) != set(properties):
        raise InvalidInput(f"{at} must require all its properties; let one be null instead")
    for name, inner in properties.items():
        check_schema(inner, f"{at}.{name}")


def mismatch(value: Any, schema: Mapping[str, Any], at: str = "it") -> str | None:
    """The first thing in which a value differs from a checked schema; None if it fits.

    Tells places and types and never the value itself, which may be private.
    """
    if "anyOf" in schema:
        differs = [mismatch(value, choice, at) for choice in schema["anyOf"]]
        return None if None in differs else f"{at} fits none of {len(differs)} choices"
    if "enum" in schema and not any(_same(value, known) for known in schema["enum"]):
        return f"{at} is none of {', '.join(map(str, schema['enum']))}"
    kind = schema.get("type")
    if kind is not None and not _is_a(value, kind):
        return f"{at} is not of type {kind}"
    if kind == "object":
        return _object_mismatch(value, schema["properties"], at)
    if kind == "array":
        places = (mismatch(item, schema["items"], f"{at}[{n}]") for n, item in enumerate(value))
        return next(filter(None, places), None)
    return None


def _object_mismatch(
    value: Mapping[str, Any], properties: Mapping[str, Any], at: str
) -> str | None:
    missing = properties.keys() - value.keys()
    if missing:
        return f"{at} lacks {', '.join(sorted(missing))}"
    if value.keys() - properties.keys():
        return f"{at} holds more than {', '.join(properties)}"
    places = (mismatch(value[name], inner, f"{at}.{name}") for name, inner in properties.items())
    return next(filter(None, places), None)


def _is_a(value: Any, kind: str) -> bool:
    """Python calls True an integer; JSON does not."""
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _same(left: Any, right: Any) -> bool:
    return bool(left == right and isinstance(left, bool) == isinstance(right, bool))
