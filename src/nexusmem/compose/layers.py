"""Layers: what lies in each of the five layers of a place, from the context to the documents.

The layers are views: L0 is what the last context showed, L1 the window, L2 and L3 the memories of
the tiers short and long, and L4 the documents that are looked up. A document that was read is also
in L2 or L3, as passages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType

from ..core.access import Grant
from ..core.canonical import canonical_json
from ..core.errors import InvalidInput
from ..core.filters import Condition, Op
from ..core.protocols.store import Store
from ..core.records import Event, EventKind, Memory
from ..core.records.memory import Tier, drop_copies
from ..core.records.window import WindowSlot
from ..core.scope import Scope
from .receipts import receipt_from_json, viewer_from_json
from .settings import MAX_EVENTS
from .window import load_window

MAX_EXAMPLES = 100
MAX_DOCUMENTS = 10_000
READ_EXAMPLES = 2  # times as many memories are read: copies in other places are left out


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerItem:
    """An example of what lies in a layer."""

    kind: str  # "message", "note", "fact", "document", …
    text: str
    at: datetime
    id: str | None = None  # of the memory or event


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """What one viewer may see of a layer."""

    name: str  # L0 to L4
    title: str
    count: int
    oldest: datetime | None  # of `count` items
    newest: datetime | None
    examples: tuple[LayerItem, ...]  # newest first


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerInput:
    """What the layers of a place are read from."""

    store: Store
    grant: Grant
    home: Scope
    now: datetime
    idle: timedelta
    examples: int

    def __post_init__(self) -> None:
        if type(self.examples) is not int or not 1 <= self.examples <= MAX_EXAMPLES:
            raise InvalidInput(
                f"examples must be between 1 and {MAX_EXAMPLES}, got {self.examples!r:.80}"
            )


LAYERS: Mapping[str, str] = MappingProxyType(
    {
        "L0": "context: what the last context showed",
        "L1": "window: recent messages, summary, notes, thoughts and the active goal",
        "L2": "tier short: memories that fade",
        "L3": "tier long: memories that stay",
        "L4": "sources: documents that are looked up",
    }
)


def load_layer(name: str, inputs: LayerInput) -> Layer:
    """Return a layer by its name; raise InvalidInput if there is no such layer."""
    if name not in LAYERS:
        raise InvalidInput(f"layer must be one of {', '.join(LAYERS)}, got {name!r:.80}")
    return _LOADERS[name](name, inputs)


def _load_context(name: str, inputs: LayerInput) -> Layer:
    """Return the items of the newest context whose viewer saw no more than this grant allows."""
    store, grant = inputs.store, inputs.grant
    stored = store.window.find(grant, slots=[WindowSlot.CONTEXT], now=inputs.now, idle=inputs.idle)
    for item in stored:
        receipt = item.value
        if item.scope != inputs.home or not isinstance(receipt, dict):
            continue
        viewer = viewer_from_json(grant.workspace, receipt["viewer"])  # type: ignore[arg-type]
        if grant.allows(viewer.grant().scopes):
            shown = receipt_from_json(receipt).shown
            # A sentence of an event has the id `event:0`.
            ids = list(dict.fromkeys(each.id.partition(":")[0] for each in shown))
            with store.snapshot():
                memories, events = store.memories.get(grant, ids), store.ledger.get(grant, ids)
            items = [*map(_memory_item, memories), *map(_event_item, events)]
            return _make_layer(name, items, inputs.examples)
    return _make_layer(name, (), inputs.examples)


def _load_window(name: str, inputs: LayerInput) -> Layer:
    view = load_window(
        inputs.store, inputs.grant, inputs.home, inputs.now, MAX_EVENTS, idle=inputs.idle
    )
    summary = view.summary
    lines = (*summary.lines, *summary.decisions, *summary.action_items)
    items = [
        *map(_event_item, view.events),
        *(LayerItem(kind="summary", text=each.text, at=each.at) for each in dict.fromkeys(lines)),
        *(
            LayerItem(kind="note", text=f"{each.key} = {canonical_json(each.value)}", at=each.at)
            for each in view.notes
        ),
        *(LayerItem(kind="thought", text=each.text, at=each.at) for each in view.thoughts),
    ]
    if view.goal:
        items.append(LayerItem(kind="goal", text=view.goal.text, at=view.goal.at))
    return _make_layer(name, items, inputs.examples)


def _load_tier(tier: Tier) -> Callable[[str, LayerInput], Layer]:
    def load(name: str, inputs: LayerInput) -> Layer:
        store, grant = inputs.store, inputs.grant
        with store.snapshot():
            counted = store.count_by_tier(grant).get(tier)
            found = (
                store.memories.find(
                    grant,
                    where=Condition("tier", Op.EQ, tier),
                    limit=READ_EXAMPLES * inputs.examples,
                )
                if counted
                else []
            )
        return Layer(
            name=name,
            title=LAYERS[name],
            count=counted.memories if counted else 0,
            oldest=counted.oldest if counted else None,
            newest=counted.newest if counted else None,
            examples=tuple(map(_memory_item, drop_copies(found)[: inputs.examples])),
        )

    return load


def _load_documents(name: str, inputs: LayerInput) -> Layer:
    where = Condition("kind", Op.EQ, EventKind.DOCUMENT)
    found = inputs.store.ledger.find(inputs.grant, where=where, limit=MAX_DOCUMENTS)
    return _make_layer(name, map(_event_item, found), inputs.examples)


def _make_layer(name: str, items: Iterable[LayerItem], limit: int) -> Layer:
    ordered = sorted(items, key=lambda item: (item.at, item.id or item.text), reverse=True)
    return Layer(
        name=name,
        title=LAYERS[name],
        count=len(ordered),
        oldest=ordered[-1].at if ordered else None,
        newest=ordered[0].at if ordered else None,
        examples=tuple(ordered[:limit]),
    )


def _event_item(event: Event) -> LayerItem:
    return LayerItem(kind=event.kind.value, text=event.text, at=event.at, id=event.id)


def _memory_item(memory: Memory) -> LayerItem:
    return LayerItem(kind=memory.kind.value, text=memory.text, at=memory.at, id=memory.id)


_LOADERS: Mapping[str, Callable[[str, LayerInput], Layer]] = MappingProxyType(
    {
        "L0": _load_context,
        "L1": _load_window,
        "L2": _load_tier(Tier.SHORT),
        "L3": _load_tier(Tier.LONG),
        "L4": _load_documents,
    }
)
