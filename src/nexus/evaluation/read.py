"""Which benchmarks can be read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from ..core.errors import InvalidInput
from .beam import read_beam
from .dataset import Conversation
from .locomo import read_locomo
from .longmemeval import read_longmemeval
from .own import read_own

READERS: Mapping[str, Callable[[Path], list[Conversation]]] = {
    "locomo": read_locomo,
    "longmemeval": read_longmemeval,
    "beam": read_beam,
    "own": read_own,
}


def read_benchmark(name: str, data: Path) -> list[Conversation]:
    """Its conversations, of which at least one question can be scored."""
    if name not in READERS:
        raise InvalidInput(f"unknown benchmark {name!r}; known are {', '.join(READERS)}")
    conversations = READERS[name](data)
    if not any(conversation.scored for conversation in conversations):
        raise InvalidInput(f"no question in {data} names its evidence")
    return conversations
