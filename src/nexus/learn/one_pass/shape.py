"""What the model is to answer with, in the part of JSON Schema that every provider knows."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from ..rules.extracted import Category, Certainty, LandmarkKind, Temporal

Kind = Mapping[str, Any]

TEXT: Kind = {"type": "string"}
TEXTS: Kind = {"type": "array", "items": TEXT}
NUMBER: Kind = {"type": "integer"}
NUMBERS: Kind = {"type": "array", "items": NUMBER}
YES_OR_NO: Kind = {"type": "boolean"}


def _object(**properties: Kind) -> Kind:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def _or_null(kind: Kind) -> Kind:
    return {"anyOf": [kind, {"type": "null"}]}


def _one_of(names: type[StrEnum]) -> Kind:
    return {"type": "string", "enum": [name.value for name in names]}


def _list(kind: Kind) -> Kind:
    return {"type": "array", "items": kind}


WHEN = _object(words=TEXT, **{"from": _or_null(TEXT), "to": _or_null(TEXT)})
ENTITY = _object(turns=NUMBERS, name=TEXT, type=TEXT, aliases=TEXTS)
FACT = _object(
    turns=NUMBERS,
    subject=TEXT,
    predicate=TEXT,
    object=_or_null(TEXT),
    value=_or_null(TEXT),
    aspect=_or_null(TEXT),
    category=_one_of(Category),
    certainty=_one_of(Certainty),
    tense=_one_of(Temporal),
    negated=YES_OR_NO,
    sentence=TEXT,
    when=_or_null(WHEN),
)
LANDMARK = _object(
    turns=NUMBERS,
    kind=_one_of(LandmarkKind),
    text=TEXT,
    owner=_or_null(TEXT),
    due=_or_null(WHEN),
    wrong=_or_null(TEXT),
    right=_or_null(TEXT),
    certainty=_one_of(Certainty),
)
LABEL = _object(turn=NUMBER, label=TEXT, text=TEXT, topics=TEXTS, entities=TEXTS)
ANSWER = _object(
    entities=_list(ENTITY), facts=_list(FACT), landmarks=_list(LANDMARK), labels=_list(LABEL)
)
