"""What a model may say of a conversation, item by item."""

from __future__ import annotations

import json
from typing import Any

Item = dict[str, Any]


def answer(**items: list[Any]) -> Item:
    """A whole answer: these items, and nothing else."""
    return {"facts": [], "landmarks": [], "names": [], "right": [], "wrong": [], **items}


def worded(**items: list[Any]) -> str:
    return json.dumps(answer(**items))


def named(name: str = "PostgreSQL", **more: Any) -> Item:
    return {"name": name, "type": "product", "aliases": [], **more}


def fact(object: str = "PostgreSQL", **more: Any) -> Item:
    said: Item = {
        "turns": [1],
        "subject": "alice",
        "predicate": "CHOSE",
        "object": object,
        "status": "past",
        "certainty": "explicit",
        "by": None,
        "when": None,
    }
    return {**said, **more}


def landmark(text: str = "I chose PostgreSQL", **more: Any) -> Item:
    said: Item = {
        "turns": [1],
        "kind": "decision",
        "text": text,
        "owner": None,
        "due": None,
        "wrong": None,
        "right": None,
    }
    return {**said, **more}


def label(turn: int = 1, **more: Any) -> Item:
    said: Item = {
        "turn": turn,
        "label": "PostgreSQL it is",
        "text": "Alice chose PostgreSQL.",
        "topics": ["database"],
        "entities": ["PostgreSQL"],
    }
    return {**said, **more}
