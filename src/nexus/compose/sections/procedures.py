"""How something is done, for questions that ask it."""

from __future__ import annotations

from dataclasses import replace

from ...core.context import Item
from ...core.procedures import Strategy, strategies_of
from ...core.records import Memory, MemoryKind
from ...core.text import query_terms, terms
from ..asking import Asking

MOST = 1_000  # records looked at


def procedures(asking: Asking) -> list[Item]:
    """Those that share words with the question, most first; not what fails more than it works."""
    asked = set(query_terms(asking.plan.question))
    known = {memory.id: memory for memory in asking.of_kind(MemoryKind.PROCEDURE, limit=MOST)}
    strategies = [each for each in strategies_of(known.values()) if each.record.expected >= 0.5]
    practised = {id for each in strategies_of(known.values()) for id in each.memories}
    fresh = {memory.id for memory in asking.brought_up(known.values())}
    items = [
        _practice(asking, each, known[each.memories[0]], asked)
        for each in strategies
        if not fresh.isdisjoint(each.memories)  # one that was practised lately is not archived
    ]
    written = [known[id] for id in known if id in fresh and id not in practised]
    items += [_item(asking, memory, _share(memory.text, asked)) for memory in written]
    fitting = [item for item in items if item.worth > 0]
    return sorted(fitting, key=lambda item: (-item.worth, item.id))


def _practice(asking: Asking, strategy: Strategy, newest: Memory, asked: set[str]) -> Item:
    share = _share(f"{strategy.task} {strategy.task_type or ''}", asked)
    item = _item(asking, newest, share * strategy.record.expected)
    why = {**item.why, "worked": strategy.record.worked, "of": strategy.record.of}
    return replace(item, text=strategy.told, why=why)


def _item(asking: Asking, memory: Memory, worth: float) -> Item:
    return asking.item(memory, worth, strategy="how-to", kind="procedure", words=round(worth, 3))


def _share(text: str, asked: set[str]) -> float:
    return len(asked & set(terms(text))) / max(1, len(asked))
