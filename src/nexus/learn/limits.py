"""How much a language model reads at once."""

from __future__ import annotations

from dataclasses import dataclass

TURNS = 10
CHARACTERS = 12_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How much a model reads, and may say, at once."""

    turns: int = TURNS
    characters: int = CHARACTERS
    before: int = 4  # turns that were read already, to tell who "she" is
    items_per_turn: int = 20  # of each kind
