"""Catalogue of every read method of a store, so that one test can call all of them.

Each entry takes a store, a grant and the sample names, and returns the names of the records that
the read returned. A counting read returns a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.access import Grant, administrator_grant, check_grant
from ..core.filters import parse_filter
from ..core.ids import WorkspaceId
from ..core.protocols.store import Store
from ..core.protocols.usage_counts import NewUsage
from ..core.records import MemoryKind
from ..core.records.window import WindowItem, WindowSlot
from ..core.scope import Scope
from .samples import (
    ACME,
    LATER,
    NOON,
    TEST_PROFILE,
    append_events,
    make_draft,
    make_event,
    put_vectors,
    unit_vector,
)

ReadResult = set[str] | int


@dataclass(frozen=True, slots=True)
class SampleNames:
    """Names by id, for events and for the memory derived from each event."""

    events: dict[str, str] = field(default_factory=dict)
    memories: dict[str, str] = field(default_factory=dict)

    def event_names(self, ids: Iterable[str]) -> set[str]:
        return {self.events[id] for id in ids}

    def memory_names(self, ids: Iterable[str]) -> set[str]:
        return {self.memories[id] for id in ids}


def fact_fields(predicate: str) -> dict[str, Any]:
    body = {"subject": "tea", "predicate": predicate, "value": "hot"}
    return {"kind": MemoryKind.FACT, "body": body}


def fill_scopes(
    store: Store, scopes: Iterable[Scope], workspace: WorkspaceId = ACME, *, learned: bool = False
) -> SampleNames:
    """Write one event, one fact with a usage count, one vector and one note into each scope."""
    samples = SampleNames()
    for scope in scopes:
        name = str(scope)
        (source,) = append_events(store, make_event(name, "tea", scope=scope), workspace=workspace)
        drafted = make_draft(source, text="tea", scope=scope, learned=learned, **fact_fields(name))
        (memory,) = store.memories.put(workspace, [drafted])
        put_vectors(store, {memory.id: unit_vector(1)}, workspace)
        lying = WindowItem(scope=scope, slot=WindowSlot.NOTE, key="tea", value=name, at=NOON)
        store.window.put(workspace, [lying])
        store.usage_counts.add(
            workspace, [NewUsage(scope=scope, conversation="", ids=(memory.id,), at=NOON)]
        )
        samples.events[source] = samples.memories[memory.id] = name
    return samples


def _all_sources(store: Store, grant: Grant, samples: SampleNames) -> list[str]:
    """Return the sources of the sample memories, which a viewer may guess."""
    check_grant(grant)
    everything = administrator_grant(grant.workspace)
    written = store.memories.get(everything, list(samples.memories))
    return [source for memory in written for source in memory.sources]


StoreRead = Callable[[Store, Grant, SampleNames], ReadResult]

UNUSED_PROFILE = replace(TEST_PROFILE, revision="nobody has this")

STORE_READS: Mapping[str, StoreRead] = {
    "ledger.get": lambda store, grant, samples: samples.event_names(
        event.id for event in store.ledger.get(grant, list(samples.events))
    ),
    "ledger.find": lambda store, grant, samples: samples.event_names(
        event.id for event in store.ledger.find(grant)
    ),
    "ledger.load_keys": lambda store, grant, samples: set(
        store.ledger.load_keys(grant, list(samples.events)).values()
    ),
    "ledger.load_progress": lambda store, grant, samples: samples.event_names(
        store.ledger.load_progress(grant, list(samples.events))
    ),
    "queue.backlog": lambda store, grant, _: store.queue.backlog(grant).waiting,
    "queue.count_pending": lambda store, grant, _: store.queue.count_pending(grant),
    "queue.claim": lambda store, grant, samples: samples.event_names(
        task.event.id for task in store.queue.claim(grant, now=LATER, limit=999, leased=True)
    ),
    "queue.list_pending": lambda store, grant, samples: samples.event_names(
        each.event_id for each in store.queue.list_pending(grant, limit=999)
    ),
    "memories.get": lambda store, grant, samples: samples.memory_names(
        memory.id for memory in store.memories.get(grant, list(samples.memories))
    ),
    "memories.find": lambda store, grant, samples: samples.memory_names(
        memory.id for memory in store.memories.find(grant)
    ),
    "memories.find about": lambda store, grant, samples: samples.memory_names(
        memory.id for memory in store.memories.find(grant, where=parse_filter({"subject": "tea"}))
    ),
    "memories.search_keywords": lambda store, grant, samples: samples.memory_names(
        hit.id for hit in store.memories.search_keywords(grant, ["tea"], limit=999)
    ),
    "memories.search_keywords about": lambda store, grant, samples: samples.memory_names(
        hit.id
        for hit in store.memories.search_keywords(
            grant, ["tea"], where=parse_filter({"subject": "tea"}), limit=999
        )
    ),
    "memories.search_keywords learned": lambda store, grant, samples: samples.memory_names(
        hit.id for hit in store.memories.search_keywords(grant, ["tea"], limit=999, learned=True)
    ),
    "memories.count_matching": lambda store, grant, _: store.memories.count_matching(
        grant, ["tea"]
    ),
    "memories.count_matching learned": lambda store, grant, _: store.memories.count_matching(
        grant, ["tea"], learned=True
    ),
    "memories.load_candidates": lambda store, grant, samples: samples.memory_names(
        store.memories.load_candidates(grant, list(samples.memories), ["tea"])
    ),
    "memories.load_texts": lambda store, grant, samples: samples.memory_names(
        store.memories.load_texts(grant, list(samples.memories))
    ),
    "memories.ids_between": lambda store, grant, samples: samples.memory_names(
        store.memories.ids_between(grant, NOON, LATER, limit=999)
    ),
    "memories.ids_between learned": lambda store, grant, samples: samples.memory_names(
        store.memories.ids_between(grant, NOON, LATER, limit=999, learned=True)
    ),
    "memories.find_by_name": lambda store, grant, samples: samples.memory_names(
        memory.id for memory in store.memories.find_by_name(grant, ["Tea"], limit=999)
    ),
    "memories.find_by_name by kind": lambda store, grant, samples: samples.memory_names(
        memory.id
        for memory in store.memories.find_by_name(grant, ["Tea"], limit=999, kinds=[*MemoryKind])
    ),
    "memories.find_by_source": lambda store, grant, samples: samples.memory_names(
        memory.id
        for memory in store.memories.find_by_source(
            grant, _all_sources(store, grant, samples), kinds=[*MemoryKind]
        )
    ),
    "memories.fact_outlines": lambda store, grant, samples: samples.memory_names(
        fact.id for fact in store.memories.fact_outlines(grant, ["Tea"], limit=999)
    ),
    "memories.latest_facts": lambda store, grant, samples: samples.memory_names(
        fact.id for fact in store.memories.latest_facts(grant, ["tea"])
    ),
    "memories.find_neighbours": lambda store, grant, samples: samples.memory_names(
        id
        for one, (before, after) in store.memories.find_neighbours(
            grant, list(samples.memories), reach=2
        ).items()
        for id in (one, *before, *after)
    ),
    "graph.traverse": lambda store, grant, samples: samples.memory_names(
        memory.id
        for step in store.graph.traverse(grant, ["Tea"], depth=3, limit=999)
        for memory in step
    ),
    "graph.traverse explicit": lambda store, grant, samples: samples.memory_names(
        memory.id
        for step in store.graph.traverse(grant, ["Tea"], depth=1, limit=999, learned=False)
        for memory in step
    ),
    "vectors.score_ids": lambda store, grant, samples: samples.memory_names(
        store.vectors.score_ids(grant, TEST_PROFILE, unit_vector(1), list(samples.memories))
    ),
    "vectors.get": lambda store, grant, samples: samples.memory_names(
        store.vectors.get(grant, TEST_PROFILE, list(samples.memories))
    ),
    "vectors.find_nearest": lambda store, grant, samples: samples.memory_names(
        hit.id for hit in store.vectors.find_nearest(grant, TEST_PROFILE, unit_vector(1), limit=999)
    ),
    "vectors.find_nearest about": lambda store, grant, samples: samples.memory_names(
        hit.id
        for hit in store.vectors.find_nearest(
            grant, TEST_PROFILE, unit_vector(1), where=parse_filter({"subject": "tea"}), limit=999
        )
    ),
    "vectors.find_nearest learned": lambda store, grant, samples: samples.memory_names(
        hit.id
        for hit in store.vectors.find_nearest(
            grant, TEST_PROFILE, unit_vector(1), limit=999, learned=True
        )
    ),
    "vectors.list_missing": lambda store, grant, samples: samples.memory_names(
        memory.id for memory in store.vectors.list_missing(grant, UNUSED_PROFILE, limit=999)
    ),
    "vectors.coverage": lambda store, grant, _: sum(
        store.vectors.coverage(grant, UNUSED_PROFILE).values()
    ),
    "usage_counts.load_usage": lambda store, grant, samples: samples.memory_names(
        store.usage_counts.load_usage(grant, list(samples.memories))
    ),
    "window.find": lambda store, grant, _: {
        str(item.value) for item in store.window.find(grant, slots=[*WindowSlot], now=NOON)
    },
    "count events": lambda store, grant, _: store.count_records(grant)["events"],
    "count memories": lambda store, grant, _: store.count_records(grant).get("fact", 0),
    "count kinds": lambda store, grant, _: store.count_by_kind(grant).get("fact", 0),
    "count tiers": lambda store, grant, _: sum(
        each.memories for each in store.count_by_tier(grant).values()
    ),
    "count vectors": lambda store, grant, _: store.count_records(grant)["vectors"],
}


def run_all_reads(store: Store, grant: Grant, samples: SampleNames) -> dict[str, ReadResult]:
    return {way: read(store, grant, samples) for way, read in STORE_READS.items()}


SEARCHES = (
    "memories.search_keywords",
    "memories.count_matching",
    "memories.ids_between",
    "memories.latest_facts",
    "vectors.find_nearest",
    "graph.traverse explicit",
)
COUNTS = (
    "count ",
    "queue.backlog",
    "queue.count_pending",
    "memories.count_matching",
    "vectors.coverage",
)


def build_expected_reads(names: set[str], *, learned: bool = False) -> dict[str, ReadResult]:
    """Return the expected result of every read if exactly these names are visible.

    A search that filters by no kind returns no derived memory.
    """
    return {
        way: _expect_result(way, set() if learned and _excludes_learned(way) else names)
        for way in STORE_READS
    }


def _excludes_learned(read_name: str) -> bool:
    return read_name.startswith(SEARCHES) and not read_name.endswith(" learned")


def _expect_result(read_name: str, names: set[str]) -> ReadResult:
    return len(names) if read_name.startswith(COUNTS) else names
