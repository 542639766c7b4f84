"""Making a derived layer again from what it rests on: afterwards every answer is as before.

Nothing is dropped first. A layer is compared part by part with what it would be if it were made
now, and what is different is written; so readers have it all the time, a rebuild that was killed
is finished by the next one, and what was right costs no write. No event is touched: a layer
can be lost, what was said cannot.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import numpy as np

from ..core.access import administrator_grant
from ..core.derive import searched_by_text
from ..core.errors import ConfigError, Unavailable
from ..core.ids import WorkspaceId
from ..core.jobs import Step
from ..core.layers import Damage, Json, Layer
from ..core.protocols import Embedder, Store
from ..core.records import EmbeddingProfile, Memory
from ..core.report import Report, silent
from ..core.scope import parse_scope
from .consolidate import put_right_again
from .reembed import vectors_of

if TYPE_CHECKING:
    from ..learn.again import Relearner
    from ..learn.episodes import Episodes

STEP_SECONDS = 1.0
AT_ONCE = 250  # memories or events compared in one transaction
WEEK = timedelta(days=7)
EVERYBODY = EmbeddingProfile(provider="none", model="none", dimension=1)  # nothing has a vector


@dataclass(frozen=True, slots=True)
class Tools:
    """What makes the layers."""

    store: Store
    embedder: Embedder
    relearner: Callable[[], Relearner]
    episodes: Callable[[], Episodes]


def rebuild_some(
    tools: Tools,
    workspace: WorkspaceId,
    layer: Layer,
    *,
    now: datetime,
    cursor: Json = None,
    again: bool = False,
    seconds: float = STEP_SECONDS,
) -> Step:
    """Compare a layer for a while. With `again` a model tells its episodes once more."""
    if layer is Layer.EPISODES:
        return _retell(tools, workspace, now, again=again)
    part = {Layer.KNOWLEDGE: _relearn, Layer.VECTORS: _revector}.get(layer, _mend)
    counts: Counter[str] = Counter(looked=0, changed=0)
    deadline = time.monotonic() + seconds
    while True:
        step = part(tools, workspace, layer, cursor)
        counts.update(step.counts)
        cursor = step.cursor
        if cursor is None or time.monotonic() >= deadline:
            return Step(counts=dict(counts), cursor=cursor)


def rebuild(
    tools: Tools,
    workspace: WorkspaceId,
    layer: Layer,
    *,
    now: datetime,
    again: bool = False,
    report: Report = silent,
) -> dict[str, int]:
    """All of a layer, now: how much was looked at, and how much of it was put right."""
    counts: Counter[str] = Counter(looked=0, changed=0)
    total = _size(tools.store, workspace, layer)
    cursor: Json = None
    while True:
        step = rebuild_some(tools, workspace, layer, now=now, cursor=cursor, again=again)
        counts.update(step.counts)
        report(counts["looked"], max(total, counts["looked"]))
        cursor = step.cursor
        if cursor is None:
            return dict(counts)


def _size(store: Store, workspace: WorkspaceId, layer: Layer) -> int:
    counted = store.count(administrator_grant(workspace))
    if layer is Layer.KNOWLEDGE:
        return counted["events"]
    return sum(counted.values()) - counted["events"] - counted["vectors"]


def _mend(tools: Tools, workspace: WorkspaceId, layer: Layer, cursor: Json) -> Step:
    mended = tools.store.layers.mend(workspace, layer, cursor=cursor, limit=AT_ONCE)
    counts = {"looked": mended.looked, "changed": mended.changed}
    return Step(counts=counts, cursor=mended.cursor)


def _revector(tools: Tools, workspace: WorkspaceId, layer: Layer, cursor: Json) -> Step:
    """First what cannot be right goes, then every memory is embedded and compared."""
    store, embedder = tools.store, tools.embedder
    if cursor is None:
        gone = store.layers.mend(workspace, layer, limit=AT_ONCE).changed
        return Step(counts={"changed": gone}, cursor="")
    here = administrator_grant(workspace)
    batch = store.vectors.missing(here, EVERYBODY, limit=AT_ONCE, after=str(cursor))
    if not batch:
        return Step(counts={})
    made = vectors_of(embedder, batch)
    there = store.vectors.get(here, embedder.profile, [memory.id for memory in batch])
    changed = {
        id: row for id, row in made.items() if id not in there or not np.array_equal(there[id], row)
    }
    if changed:
        store.vectors.put(workspace, embedder.profile, changed)
    counts = {"looked": len(batch), "changed": len(changed)}
    return Step(counts=counts, cursor=batch[-1].id)


def lacking_vectors(store: Store, embedder: Embedder, workspace: WorkspaceId) -> list[Damage]:
    """Memories that should have a vector; not while work waits, or an embedder is changed.

    An embedder in this process is asked which texts mean nothing to it. One far away is not: it
    has a vector for whatever it is given, and wants to be paid.
    """
    here = administrator_grant(workspace)
    if store.queue.pending(here):
        return []
    try:
        profile = embedder.profile
    except (Unavailable, ConfigError):  # whoever asks a question is told so
        return []
    if store.vectors.in_use(workspace) not in (None, profile):
        return []
    count, after = 0, ""
    while batch := store.vectors.missing(here, profile, limit=AT_ONCE, after=after):
        count += len(vectors_of(embedder, batch) if embedder.local else batch)
        after = batch[-1].id
    return [Damage(Layer.VECTORS, f"memories without a vector: {count}")] if count else []


def _retell(tools: Tools, workspace: WorkspaceId, now: datetime, *, again: bool) -> Step:
    """What is missing is told; then what the rules told is told again and compared."""
    from ..learn.episodes.drafts import by_the_rules  # noqa: PLC0415  # the rules load with it

    episodes = tools.episodes()
    told = episodes.learn(workspace, now, again=again)
    checked = 0 if again else episodes.without_model.learn(workspace, now, again=by_the_rules)
    return Step(counts={"looked": max(told, checked), "changed": told})


def _relearn(tools: Tools, workspace: WorkspaceId, _layer: Layer, cursor: Json) -> Step:
    """Place by place, the cursor holds those to come; then what says the same, from a number on."""
    if isinstance(cursor, int):
        return put_right_again(tools.store, workspace, after=cursor)
    places = _places(tools.store, workspace) if cursor is None else cursor
    if not places:
        return Step(counts={})
    first, *rest = places
    learned = tools.relearner().learn(workspace, parse_scope(first))
    _embed_new(tools, workspace, learned.put)
    counts = {"looked": learned.events, "changed": learned.dropped + len(learned.put)}
    return Step(counts=counts, cursor=rest or 0)


def _embed_new(tools: Tools, workspace: WorkspaceId, memories: Sequence[Memory]) -> None:
    store, profile = tools.store, tools.embedder.profile
    searched = {memory.id: memory for memory in memories if searched_by_text(memory)}
    there = store.vectors.get(administrator_grant(workspace), profile, list(searched))
    new = [memory for id, memory in searched.items() if id not in there]
    if new:
        store.vectors.put(workspace, profile, vectors_of(tools.embedder, new))


def _places(store: Store, workspace: WorkspaceId) -> list[str]:
    """Every scope in which something was said, in order; read a week at a time."""
    everything = administrator_grant(workspace)
    found: set[str] = set()
    newest = store.ledger.find(everything, limit=1)
    while newest:
        start, until = newest[0].at - WEEK, newest[0].at + timedelta(microseconds=1)
        found |= {
            str(event.scope) for event in store.ledger.find(everything, since=start, until=until)
        }
        newest = store.ledger.find(everything, until=start, limit=1)
    return sorted(found)
