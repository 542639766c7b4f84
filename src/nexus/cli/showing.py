"""How a memory and its state are printed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from ..core.codec import memory_json
from ..core.records import Memory
from ..core.strength import Strength
from .output import one_line, print_json, print_record


def print_memory(memory: Memory, strength: Strength, *, as_json: bool) -> None:
    """What it says, and how strong it is with all that makes it so."""
    if as_json:
        print_json({**memory_json(memory), "strength": asdict(strength)})
        return
    print_record({**_told(memory), **_state(strength)})


def _told(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "kind": memory.kind.value,
        "scope": str(memory.scope),
        "at": memory.at.isoformat(timespec="seconds"),
        "text": one_line(memory.text),
    }


def _state(strength: Strength) -> dict[str, Any]:
    parts = " + ".join(f"{value:.2f} {name}" for name, value in strength.parts.items())
    return {
        "strength": f"{strength.value:.2f} ({strength.curve})",
        "importance": f"{strength.importance:.2f} = {parts}",
        "age": f"{strength.age_days:.1f} days since it was told or used",
        "uses": f"{strength.uses} in {strength.conversations} conversations",
        "tier": strength.tier.value,
        **({"promoted to": strength.promoted_to} if strength.promoted_to else {}),
        "archived": strength.archived,
        "pinned": strength.pinned,
    }
