"""Every way to read a store, so that a test can try them all.

Each takes a store, a grant and the shelf that was filled, and gives the names of what it
showed; a count gives a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.access import Grant
from ..core.filters import parse_filter
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.records import MemoryKind
from ..core.scope import Scope
from ..core.uses import NewUse
from ..core.window import Slot, WindowItem
from .samples import ACME, LATER, NOON, SPACE, draft, event, point, tell, towards

Shown = set[str] | int


@dataclass(frozen=True, slots=True)
class Shelf:
    """Names by id: of events, and of the memory that rests on each."""

    events: dict[str, str] = field(default_factory=dict)
    memories: dict[str, str] = field(default_factory=dict)

    def event_names(self, ids: Iterable[str]) -> set[str]:
        return {self.events[id] for id in ids}

    def memory_names(self, ids: Iterable[str]) -> set[str]:
        return {self.memories[id] for id in ids}


def fact_of(predicate: str) -> dict[str, Any]:
    body = {"subject": "tea", "predicate": predicate, "value": "hot"}
    return {"kind": MemoryKind.FACT, "body": body}


def fill(
    store: Store, scopes: Iterable[Scope], workspace: WorkspaceId = ACME, *, learned: bool = False
) -> Shelf:
    """One event, one fact with a use, one vector and one note in each scope, named after it."""
    shelf = Shelf()
    for scope in scopes:
        name = str(scope)
        (source,) = tell(store, event(name, "tea", scope=scope), workspace=workspace)
        drafted = draft(source, text="tea", scope=scope, learned=learned, **fact_of(name))
        (memory,) = store.memories.put(workspace, [drafted])
        point(store, {memory.id: towards(1)}, workspace)
        lying = WindowItem(scope=scope, slot=Slot.NOTE, key="tea", value=name, at=NOON)
        store.window.put(workspace, [lying])
        store.uses.add(workspace, [NewUse(place=scope, conversation="", ids=(memory.id,), at=NOON)])
        shelf.events[source] = shelf.memories[memory.id] = name
    return shelf


Read = Callable[[Store, Grant, Shelf], Shown]

ELSEWHERE = replace(SPACE, revision="nobody has this")

READS: Mapping[str, Read] = {
    "ledger.get": lambda store, grant, shelf: shelf.event_names(
        event.id for event in store.ledger.get(grant, list(shelf.events))
    ),
    "ledger.find": lambda store, grant, shelf: shelf.event_names(
        event.id for event in store.ledger.find(grant)
    ),
    "ledger.keys": lambda store, grant, shelf: set(
        store.ledger.keys(grant, list(shelf.events)).values()
    ),
    "ledger.progress": lambda store, grant, shelf: shelf.event_names(
        store.ledger.progress(grant, list(shelf.events))
    ),
    "queue.backlog": lambda store, grant, _: store.queue.backlog(grant).waiting,
    "queue.pending": lambda store, grant, _: store.queue.pending(grant),
    "queue.claim": lambda store, grant, shelf: shelf.event_names(
        task.event.id for task in store.queue.claim(grant, now=LATER, limit=999, leased=True)
    ),
    "queue.waiting": lambda store, grant, shelf: shelf.event_names(
        each.event_id for each in store.queue.waiting(grant, limit=999)
    ),
    "memories.get": lambda store, grant, shelf: shelf.memory_names(
        memory.id for memory in store.memories.get(grant, list(shelf.memories))
    ),
    "memories.find": lambda store, grant, shelf: shelf.memory_names(
        memory.id for memory in store.memories.find(grant)
    ),
    "memories.find about": lambda store, grant, shelf: shelf.memory_names(
        memory.id for memory in store.memories.find(grant, where=parse_filter({"subject": "tea"}))
    ),
    "memories.matching": lambda store, grant, shelf: shelf.memory_names(
        hit.id for hit in store.memories.matching(grant, ["tea"], limit=999)
    ),
    "memories.matching about": lambda store, grant, shelf: shelf.memory_names(
        hit.id
        for hit in store.memories.matching(
            grant, ["tea"], where=parse_filter({"subject": "tea"}), limit=999
        )
    ),
    "memories.matching learned": lambda store, grant, shelf: shelf.memory_names(
        hit.id for hit in store.memories.matching(grant, ["tea"], limit=999, learned=True)
    ),
    "memories.holding": lambda store, grant, _: store.memories.holding(grant, ["tea"]),
    "memories.holding learned": lambda store, grant, _: store.memories.holding(
        grant, ["tea"], learned=True
    ),
    "memories.describe": lambda store, grant, shelf: shelf.memory_names(
        store.memories.describe(grant, list(shelf.memories), ["tea"])
    ),
    "memories.texts": lambda store, grant, shelf: shelf.memory_names(
        store.memories.texts(grant, list(shelf.memories))
    ),
    "memories.between": lambda store, grant, shelf: shelf.memory_names(
        store.memories.between(grant, NOON, LATER, limit=999)
    ),
    "memories.between learned": lambda store, grant, shelf: shelf.memory_names(
        store.memories.between(grant, NOON, LATER, limit=999, learned=True)
    ),
    "memories.named": lambda store, grant, shelf: shelf.memory_names(
        memory.id for memory in store.memories.named(grant, ["Tea"], limit=999)
    ),
    "memories.named of kinds": lambda store, grant, shelf: shelf.memory_names(
        memory.id for memory in store.memories.named(grant, ["Tea"], limit=999, kinds=[*MemoryKind])
    ),
    "memories.outlines": lambda store, grant, shelf: shelf.memory_names(
        fact.id for fact in store.memories.outlines(grant, ["Tea"], limit=999)
    ),
    "memories.latest": lambda store, grant, shelf: shelf.memory_names(
        fact.id for fact in store.memories.latest(grant, ["tea"])
    ),
    "memories.neighbours": lambda store, grant, shelf: shelf.memory_names(
        id
        for one, (before, after) in store.memories.neighbours(
            grant, list(shelf.memories), reach=2
        ).items()
        for id in (one, *before, *after)
    ),
    "graph.around": lambda store, grant, shelf: shelf.memory_names(
        memory.id
        for step in store.graph.around(grant, ["Tea"], depth=3, limit=999)
        for memory in step
    ),
    "graph.around told": lambda store, grant, shelf: shelf.memory_names(
        memory.id
        for step in store.graph.around(grant, ["Tea"], depth=1, limit=999, learned=False)
        for memory in step
    ),
    "vectors.scores": lambda store, grant, shelf: shelf.memory_names(
        store.vectors.scores(grant, SPACE, towards(1), list(shelf.memories))
    ),
    "vectors.get": lambda store, grant, shelf: shelf.memory_names(
        store.vectors.get(grant, SPACE, list(shelf.memories))
    ),
    "vectors.nearest": lambda store, grant, shelf: shelf.memory_names(
        hit.id for hit in store.vectors.nearest(grant, SPACE, towards(1), limit=999)
    ),
    "vectors.nearest about": lambda store, grant, shelf: shelf.memory_names(
        hit.id
        for hit in store.vectors.nearest(
            grant, SPACE, towards(1), where=parse_filter({"subject": "tea"}), limit=999
        )
    ),
    "vectors.nearest learned": lambda store, grant, shelf: shelf.memory_names(
        hit.id for hit in store.vectors.nearest(grant, SPACE, towards(1), limit=999, learned=True)
    ),
    "vectors.missing": lambda store, grant, shelf: shelf.memory_names(
        memory.id for memory in store.vectors.missing(grant, ELSEWHERE, limit=999)
    ),
    "vectors.coverage": lambda store, grant, _: sum(
        store.vectors.coverage(grant, ELSEWHERE).values()
    ),
    "uses.of": lambda store, grant, shelf: shelf.memory_names(
        store.uses.of(grant, list(shelf.memories))
    ),
    "window.find": lambda store, grant, _: {
        str(item.value) for item in store.window.find(grant, slots=[*Slot], now=NOON)
    },
    "count events": lambda store, grant, _: store.count(grant)["events"],
    "count memories": lambda store, grant, _: store.count(grant).get("fact", 0),
    "count kinds": lambda store, grant, _: store.kinds(grant).get("fact", 0),
    "count vectors": lambda store, grant, _: store.count(grant)["vectors"],
}


def read_every_way(store: Store, grant: Grant, shelf: Shelf) -> dict[str, Shown]:
    return {way: read(store, grant, shelf) for way, read in READS.items()}


SEARCHES = (
    "memories.matching",
    "memories.holding",
    "memories.between",
    "memories.latest",
    "vectors.nearest",
    "graph.around told",
)
COUNTS = ("count", "queue.backlog", "queue.pending", "memories.holding", "vectors.coverage")


def every_way_shows(names: set[str], *, learned: bool = False) -> dict[str, Shown]:
    """What `read_every_way` gives when each way shows these and nothing else.

    What was learned is shown by no search that does not ask for it.
    """
    return {way: _shown(way, set() if learned and _is_for_told(way) else names) for way in READS}


def _is_for_told(way: str) -> bool:
    return way.startswith(SEARCHES) and not way.endswith(" learned")


def _shown(way: str, names: set[str]) -> Shown:
    return len(names) if way.startswith(COUNTS) else names
