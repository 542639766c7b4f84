"""Changing the embedder of a memory while it is used: new vectors beside the old, then the switch.

It is done in steps, and what has a vector is left alone: whoever breaks it off, or does it twice
at once, loses and spoils nothing. A workspace is asked with its old vectors, or by words alone,
until every memory of it has a new one; the switch is one row.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from ..core.access import administrator_grant
from ..core.audit import by_worker
from ..core.derive import embedded_text
from ..core.ids import WorkspaceId
from ..core.jobs import Json, Step
from ..core.protocols import Embedder, Floats, Store
from ..core.records import EmbeddingProfile, Memory
from ..core.report import Report

REEMBED = "reembed"  # the name of the job
BATCH = 256
STEP_SECONDS = 1.0
OLD_AT_ONCE = 2_000  # vectors that are removed in one transaction


def reembed_some(
    store: Store,
    embedder: Embedder,
    workspace: WorkspaceId,
    *,
    cursor: Json = None,
    seconds: float = STEP_SECONDS,
    now: datetime | None = None,
) -> Step:
    """Make vectors for a while; when a whole pass has found nothing left to do, use them.

    A pass that made some is followed by another one: others may have written meanwhile, and
    texts that mean nothing to the embedder are passed over for good. With a time, the switch is
    recorded as something that was done then, and not a part of another thing.
    """
    profile = embedder.profile
    here = administrator_grant(workspace)
    after, found = _place(cursor, profile)
    deadline = time.monotonic() + seconds
    made = 0
    while batch := store.vectors.missing(here, profile, limit=BATCH, after=after):
        made += embed(store, embedder, workspace, batch)
        after = batch[-1].id
        if time.monotonic() >= deadline:
            return Step(counts={"embedded": made}, cursor=[profile.name, after, found + made])
    if found + made:
        return Step(counts={"embedded": made}, cursor=[profile.name, "", 0])
    if store.vectors.in_use(workspace) == profile:
        return Step(counts={"embedded": 0})
    with _recording(store, workspace, profile, now):
        store.vectors.use(workspace, profile)
    return Step(counts={"embedded": 0, "switched": 1})


def _recording(
    store: Store, workspace: WorkspaceId, profile: EmbeddingProfile, now: datetime | None
) -> AbstractContextManager[None]:
    if now is None:
        return nullcontext()
    return store.recording(workspace, by_worker(REEMBED, now, profile=profile.name, switched=1))


def _place(cursor: Json, profile: EmbeddingProfile) -> tuple[str, int]:
    """After which id to go on, and how many this pass has made; another embedder starts anew."""
    if not cursor or cursor[0] != profile.name:
        return "", 0
    return str(cursor[1]), int(cursor[2])


def embed(
    store: Store, embedder: Embedder, workspace: WorkspaceId, memories: Sequence[Memory]
) -> int:
    """Give these memories vectors; how many have one now."""
    return store.vectors.put(workspace, embedder.profile, vectors_of(embedder, memories))


def vectors_of(embedder: Embedder, memories: Sequence[Memory]) -> dict[str, Floats]:
    """The vectors of these, but for those whose text means nothing to the embedder."""
    rows = embedder.embed([embedded_text(memory) for memory in memories])
    return {memory.id: row for memory, row in zip(memories, rows, strict=True) if row.any()}


def drop_old(store: Store, workspace: WorkspaceId, profile: EmbeddingProfile) -> int:
    """Remove some of the vectors that were used before these; 0: none is left.

    Nothing goes while something else than this profile is in use.
    """
    if store.vectors.in_use(workspace) != profile:
        return 0
    left = OLD_AT_ONCE
    for old in store.vectors.profiles():
        if old != profile and left:
            left -= store.vectors.drop(workspace, old, limit=left)
    return OLD_AT_ONCE - left


def reembed_and_tidy(
    store: Store, embedder: Embedder, workspace: WorkspaceId, cursor: Json, now: datetime
) -> Step:
    """A step of the daily job: what is missing is made, and the run after the switch tidies up.

    Where no other embedder has left anything there is nothing to look for: what could not be
    embedded in its time waits in the outbox.
    """
    profile = embedder.profile
    if all(each == profile for each in store.vectors.profiles()):
        return Step()
    step = reembed_some(store, embedder, workspace, cursor=cursor, now=now)
    if step.cursor is not None or step.counts.get("switched"):
        return step
    gone = drop_old(store, workspace, profile)
    more = [profile.name, "", 0] if gone else None
    return Step(counts={**step.counts, "dropped": gone}, cursor=more)


def reembed(
    store: Store, embedder: Embedder, report: Report, *, drop: bool = False
) -> dict[WorkspaceId, Counter[str]]:
    """Change every workspace over, now; of each, how many vectors were made and dropped."""
    workspaces = store.workspaces()
    total = sum(_missing(store, embedder, workspace) for workspace in workspaces)
    done = 0
    counts: dict[WorkspaceId, Counter[str]] = {}
    for workspace in workspaces:
        own = counts[workspace] = Counter(dict.fromkeys(("embedded", "switched", "dropped"), 0))
        cursor: Json = None
        while True:
            step = reembed_some(store, embedder, workspace, cursor=cursor)
            own.update(step.counts)
            done += step.counts["embedded"]
            report(done, max(total, done))
            cursor = step.cursor
            if cursor is None:
                break
        while drop and (gone := drop_old(store, workspace, embedder.profile)):
            own["dropped"] += gone
    return counts


def _missing(store: Store, embedder: Embedder, workspace: WorkspaceId) -> int:
    counted = store.vectors.coverage(administrator_grant(workspace), embedder.profile)
    return counted["missing"]
