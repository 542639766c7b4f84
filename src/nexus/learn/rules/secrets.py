"""Secrets as spans of a message: what the rules must not read."""

from __future__ import annotations

from collections.abc import Sequence

from ...core import secrets as core
from .extracted import Span


def secrets(text: str) -> list[Span]:
    """Where secrets stand, in order and without overlap."""
    return [Span(found.start, found.end) for found in core.secrets(text)]


def blanked(text: str, spans: Sequence[Span]) -> str:
    """The text with spaces in each secret's place: every other word stays where it was."""
    if not spans:
        return text
    pieces, place = [], 0
    for span in spans:
        pieces += [text[place : span.start], " " * (span.end - span.start)]
        place = span.end
    return "".join([*pieces, text[place:]])
