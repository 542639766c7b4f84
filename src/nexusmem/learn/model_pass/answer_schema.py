"""Answer schema: the JSON that the model pass asks a model for.

The lists are bounded, because small models repeat items without end.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from typing import Any

from ...core.records.landmarks import LandmarkKind
from ..rules.results import Certainty

SchemaNode = Mapping[str, Any]


class FactStatus(StrEnum):
    """What a speaker says about a fact."""

    TRUE = "true"
    ENDED = "ended"  # it was true and is no longer
    PAST = "past"  # it happened
    PLANNED = "planned"
    DENIED = "denied"


TEXT: SchemaNode = {"type": "string"}
NUMBER: SchemaNode = {"type": "integer"}
MAX_LIST_ITEMS = 64
MAX_NAMES = 24
MAX_TOPICS = 5
MAX_TURNS_PER_ITEM = 8


def _object_schema(**properties: SchemaNode) -> SchemaNode:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _nullable(node: SchemaNode) -> SchemaNode:
    return {"anyOf": [node, {"type": "null"}]}


def _enum(names: type[StrEnum]) -> SchemaNode:
    return {"type": "string", "enum": [name.value for name in names]}


def _list(node: SchemaNode, most: int) -> SchemaNode:
    return {"type": "array", "items": node, "maxItems": min(most, MAX_LIST_ITEMS)}


TURNS = _list(NUMBER, MAX_TURNS_PER_ITEM)
FACT = _object_schema(
    turns=TURNS,
    subject=TEXT,
    predicate=TEXT,
    object=TEXT,
    status=_nullable(_enum(FactStatus)),
    certainty=_nullable(_enum(Certainty)),
    by=_nullable(TEXT),
    when=_nullable(TEXT),
)
LANDMARK = _object_schema(
    turns=TURNS,
    kind=_enum(LandmarkKind),
    text=TEXT,
    owner=_nullable(TEXT),
    due=_nullable(TEXT),
    wrong=_nullable(TEXT),
    right=_nullable(TEXT),
)
NAME = _object_schema(name=TEXT, type=TEXT, aliases=_list(TEXT, MAX_NAMES))
LABEL = _object_schema(
    turn=NUMBER,
    label=TEXT,
    text=TEXT,
    topics=_list(TEXT, MAX_TOPICS),
    entities=_list(TEXT, MAX_NAMES),
)


@lru_cache(maxsize=256)
def answer_schema(turns: int, items_per_turn: int, *, labels: bool = False) -> SchemaNode:
    """Return the schema of an answer about this number of turns."""
    most = turns * items_per_turn
    lists = {
        "facts": _list(FACT, most),
        "landmarks": _list(LANDMARK, most),
        "names": _list(NAME, most),
        "right": _list(NUMBER, most),
        "wrong": _list(NUMBER, most),
    }
    return _object_schema(**lists, **({"labels": _list(LABEL, turns)} if labels else {}))
