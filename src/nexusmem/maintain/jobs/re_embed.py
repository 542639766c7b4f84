"""Re-embedding job: compute vectors of a new embedder while the memory is in use, then switch.

The job runs in steps and skips memories that have a vector. An interruption or two concurrent runs
do no harm. A workspace uses its old vectors, or keywords only, until all memories have new vectors.
The switch is one row.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime

from ...audit.records import worker_entry
from ...core.access import administrator_grant
from ...core.derive import text_to_embed
from ...core.ids import WorkspaceId
from ...core.protocols.embedder import Embedder, Floats
from ...core.protocols.jobs import JobStep, Json
from ...core.protocols.store import Store
from ...core.records import EmbeddingProfile, Memory
from ...runtime.progress import ProgressCallback

REEMBED = "reembed"  # name of the job
BATCH = 256
STEP_SECONDS = 1.0
DROP_BATCH = 2_000  # vectors deleted in one transaction


def reembed_step(
    store: Store,
    embedder: Embedder,
    workspace: WorkspaceId,
    *,
    cursor: Json = None,
    seconds: float = STEP_SECONDS,
    now: datetime | None = None,
) -> JobStep:
    """Compute vectors for a limited time and activate the profile after a pass without missing
    vectors.

    A pass that computed vectors is followed by another, because other processes may have written
    memories. Texts with a zero vector are skipped. With `at`, the switch gets its own
    audit entry.
    """
    profile = embedder.profile
    here = administrator_grant(workspace)
    after, found = _parse_cursor(cursor, profile)
    deadline = time.monotonic() + seconds
    made = 0
    while batch := store.vectors.list_missing(here, profile, limit=BATCH, after=after):
        made += embed_memories(store, embedder, workspace, batch)
        after = batch[-1].id
        if time.monotonic() >= deadline:
            return JobStep(counts={"embedded": made}, cursor=[profile.name, after, found + made])
    if found + made:
        return JobStep(counts={"embedded": made}, cursor=[profile.name, "", 0])
    if store.vectors.active_profile(workspace) == profile:
        return JobStep(counts={"embedded": 0})
    with _audit_context(store, workspace, profile, now):
        store.vectors.activate_profile(workspace, profile)
    return JobStep(counts={"embedded": 0, "switched": 1})


def _audit_context(
    store: Store, workspace: WorkspaceId, profile: EmbeddingProfile, now: datetime | None
) -> AbstractContextManager[None]:
    if now is None:
        return nullcontext()
    return store.with_audit_entry(
        workspace, worker_entry(REEMBED, now, profile=profile.name, switched=1)
    )


def _parse_cursor(cursor: Json, profile: EmbeddingProfile) -> tuple[str, int]:
    """Return the last id and the number of vectors of this pass. Another profile starts over."""
    if not cursor or cursor[0] != profile.name:
        return "", 0
    return str(cursor[1]), int(cursor[2])


def embed_memories(
    store: Store, embedder: Embedder, workspace: WorkspaceId, memories: Sequence[Memory]
) -> int:
    """Compute and store vectors of these memories and return the number of memories with a
    vector.
    """
    return store.vectors.put(workspace, embedder.profile, compute_vectors(embedder, memories))


def compute_vectors(embedder: Embedder, memories: Sequence[Memory]) -> dict[str, Floats]:
    """Return vectors by memory id, without texts that have a zero vector."""
    rows = embedder.embed([text_to_embed(memory) for memory in memories])
    return {memory.id: row for memory, row in zip(memories, rows, strict=True) if row.any()}


def drop_old_vectors(store: Store, workspace: WorkspaceId, profile: EmbeddingProfile) -> int:
    """Delete some vectors of inactive profiles and return their number, 0 when none is left.

    Nothing is deleted unless this profile is active.
    """
    if store.vectors.active_profile(workspace) != profile:
        return 0
    left = DROP_BATCH
    for old in store.vectors.list_profiles():
        if old != profile and left:
            left -= store.vectors.delete_profile(workspace, old, limit=left)
    return DROP_BATCH - left


def reembed_job_step(
    store: Store, embedder: Embedder, workspace: WorkspaceId, cursor: Json, now: datetime
) -> JobStep:
    """Run one step of the daily job: compute missing vectors, then delete old ones after the
    switch.

    Without vectors of another embedder there is nothing to do: failed embeddings wait in the queue.
    """
    profile = embedder.profile
    if all(each == profile for each in store.vectors.list_profiles()):
        return JobStep()
    step = reembed_step(store, embedder, workspace, cursor=cursor, now=now)
    if step.cursor is not None or step.counts.get("switched"):
        return step
    gone = drop_old_vectors(store, workspace, profile)
    more = [profile.name, "", 0] if gone else None
    return JobStep(counts={**step.counts, "dropped": gone}, cursor=more)


def reembed_all(
    store: Store, embedder: Embedder, report: ProgressCallback, *, drop: bool = False
) -> dict[WorkspaceId, Counter[str]]:
    """Re-embed every workspace now and return the numbers of computed and deleted vectors of
    each.
    """
    workspaces = store.list_workspaces()
    total = sum(_count_missing(store, embedder, workspace) for workspace in workspaces)
    done = 0
    counts: dict[WorkspaceId, Counter[str]] = {}
    for workspace in workspaces:
        own = counts[workspace] = Counter(dict.fromkeys(("embedded", "switched", "dropped"), 0))
        cursor: Json = None
        while True:
            step = reembed_step(store, embedder, workspace, cursor=cursor)
            own.update(step.counts)
            done += step.counts["embedded"]
            report(done, max(total, done))
            cursor = step.cursor
            if cursor is None:
                break
        while drop and (gone := drop_old_vectors(store, workspace, embedder.profile)):
            own["dropped"] += gone
    return counts


def _count_missing(store: Store, embedder: Embedder, workspace: WorkspaceId) -> int:
    counted = store.vectors.coverage(administrator_grant(workspace), embedder.profile)
    return counted["missing"]
