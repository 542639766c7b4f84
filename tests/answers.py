"""What a model may say of a conversation, item by item."""

from __future__ import annotations

import json
from typing import Any

Item = dict[str, Any]


def answer(**items: list[Item]) -> Item:
    """A whole answer: these items, and nothing else."""
    return {"entities": [], "facts": [], "landmarks": [], "labels": [], **items}


def worded(**items: list[Item]) -> str:
    return json.dumps(answer(**items))


def entity(name: str = "PostgreSQL", **more: Any) -> Item:
    return {"turns": [1], "name": name, "type": "product", "aliases": [], **more}


def fact(object: str | None = "PostgreSQL", **more: Any) -> Item:
    said: Item = {
        "turns": [1],
        "subject": "alice",
        "predicate": "CHOSE",
        "object": object,
        "value": None,
        "aspect": None,
        "category": "projects",
        "certainty": "explicit",
        "tense": "past",
        "negated": False,
        "sentence": "Alice chose PostgreSQL.",
        "when": None,
    }
    return {**said, **more}


def landmark(text: str = "Alice decided to use PostgreSQL.", **more: Any) -> Item:
    said: Item = {
        "turns": [1],
        "kind": "decision",
        "text": text,
        "owner": None,
        "due": None,
        "wrong": None,
        "right": None,
        "certainty": "explicit",
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


def when(words: str, since: str | None = None, until: str | None = None) -> Item:
    return {"words": words, "from": since, "to": until}
