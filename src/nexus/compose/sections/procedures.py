"""How something is done, for questions that ask it."""

from __future__ import annotations

from ...core.context import Item
from ...core.records import Memory, MemoryKind
from ...core.text import query_terms, terms
from ..asking import Asking

MOST = 200


def procedures(asking: Asking) -> list[Item]:
    """Those that share words with the question, most first."""
    asked = set(query_terms(asking.plan.question))
    known = asking.of_kind(MemoryKind.PROCEDURE, limit=MOST)
    shares = [(_share(memory, asked), memory) for memory in known]
    fitting = sorted((pair for pair in shares if pair[0] > 0), key=lambda pair: -pair[0])
    return [
        asking.item(memory, share, strategy="how-to", kind="procedure", words=round(share, 3))
        for share, memory in fitting
    ]


def _share(memory: Memory, asked: set[str]) -> float:
    return len(asked & set(terms(memory.text))) / max(1, len(asked))
