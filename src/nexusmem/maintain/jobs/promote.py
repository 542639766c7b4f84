"""Promotion job: from tier short to long, and from a scope to a user's own scope.

A memory is promoted if it is important when a session ends, or if it is used often. A certain and
often used fact is also stored in the user's scope. Promotion adds no reader: only sharing does.
Memories from untrusted sources are never promoted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime, timedelta
from functools import partial

from ...audit.records import WORKER, AuditEntry
from ...core.access import administrator_grant
from ...core.ids import WorkspaceId
from ...core.protocols.jobs import JobStep, Json, WorkspaceTurn
from ...core.protocols.store import Store
from ...core.records import Draft, Memory, MemoryKind, Tier, Trust
from ...core.records.links import LinkRelation, find_links
from ...core.records.projections import MemoryState
from ...core.scope import Scope
from ...core.strength import StrengthSettings, compute_importance
from ..settings import BATCH, USAGE_WINDOW
from .cleanup import StatePages, load_pages, next_cursor, set_states

USER_WIDE_SLOT = "user_wide"

UserScopes = Mapping[str, Scope]  # the id of a fact and its user


def promote_to_user(
    store: Store,
    workspace: WorkspaceId,
    ids: Sequence[str],
    entry: Callable[[UserScopes], AuditEntry],
    *,
    now: datetime,
) -> int:
    """Store the user-wide records that are missing for these facts and return their number."""
    everything = administrator_grant(workspace)
    known = find_links(store, everything, ids, LinkRelation.USER_WIDE)
    facts = store.memories.get(everything, [id for id in ids if id not in known])
    drafts = [
        user_wide_draft(fact, person, now) for fact in facts if (person := target_user_scope(fact))
    ]
    wanted = [draft for draft in drafts if not _is_forgotten(store, workspace, draft)]
    if not wanted:
        return 0
    people = {draft.body["members"][0]: draft.scope for draft in wanted}
    with store.with_audit_entry(workspace, entry(people)):
        return len(store.memories.put(workspace, wanted))


def _is_forgotten(store: Store, workspace: WorkspaceId, draft: Draft) -> bool:
    """Return whether the record or its whole scope was erased."""
    forgotten = store.eraser.any_erased(workspace, [draft.id])
    return forgotten or bool(store.eraser.scope_tombstones(workspace, [draft.scope]))


def target_user_scope(fact: Memory) -> Scope | None:
    """Return the user scope that receives the fact: of the scope's owner, or of the speaker. None
    if the fact is already there, or if neither exists.
    """
    person = fact.scope.owner or (fact.speaker if fact.role == "user" else None)
    wide = Scope.user(person) if person else None
    return None if wide == fact.scope else wide


def user_wide_draft(fact: Memory, person: Scope, now: datetime) -> Draft:
    """Return the user-wide draft, linked to its source fact."""
    return Draft(
        scope=person,
        kind=MemoryKind.LINK,
        text=fact.text,
        indexed_text="",  # looked up by its source fact, which has the same text
        sources=(fact.id,),
        slot=USER_WIDE_SLOT,
        at=now,
        confidence=fact.confidence,
        salience=fact.salience,
        tier=Tier.LONG,
        speaker=fact.speaker,
        role=fact.role,
        source=USER_WIDE_SLOT,
        learned=True,
        metadata={"made_by": [USER_WIDE_SLOT]},
        body={
            "relation": LinkRelation.USER_WIDE.value,
            "what": fact.kind.value,
            "members": [fact.id],
            "promoted_from": str(fact.scope),
        },
    )


SESSION_IDLE = timedelta(hours=1)
MOMENT = timedelta(microseconds=1)
MIN_RECHECK = timedelta(minutes=5)  # between two checks for ended conversations
MIN_TRUST = Trust.INFERRED  # documents, imports and untrusted tools are below


def promote(
    store: Store,
    turns: Sequence[WorkspaceTurn],
    *,
    now: datetime,
    settings: StrengthSettings,
    batch: int = BATCH,
) -> list[JobStep]:
    """Promote memories that were used often and in several conversations."""
    since = now - USAGE_WINDOW
    found = load_pages(store, dict(turns), limit=batch, used_since=since)
    used = {
        workspace: [state for state in page if state.was_used_since(since)]  # without hidden ones
        for workspace, page in found.items()
    }
    ripe = {
        workspace: [
            state for state in page if _is_promotable(state) and _is_needed(state, now, settings)
        ]
        for workspace, page in used.items()
    }
    wide = {
        workspace: _promote_proven_facts(store, workspace, page, now, settings)
        for workspace, page in used.items()
    }
    steps = _set_long_term(store, found, ripe, now=now, settings=settings, batch=batch)
    return [
        replace(step, counts={**step.counts, "user_wide": count})
        for step, count in zip(steps, wide.values(), strict=True)
    ]


def promote_after_session(
    store: Store,
    turns: Sequence[WorkspaceTurn],
    *,
    now: datetime,
    settings: StrengthSettings,
    batch: int = BATCH,
) -> list[JobStep]:
    """Promote important memories of conversations that ended an hour ago."""
    quiet = now - SESSION_IDLE
    found = load_pages(store, dict(turns), limit=batch, idle_since=quiet)
    ripe = {
        workspace: [
            state
            for state in page
            if _is_promotable(state)
            and compute_importance(state, now) >= settings.promote_min_importance
        ]
        for workspace, page in found.items()
    }
    steps = _set_long_term(store, found, ripe, now=now, settings=settings, batch=batch)
    return _schedule_recheck(store, dict(zip(found, steps, strict=True)), now)


def _schedule_recheck(
    store: Store, steps: Mapping[WorkspaceId, JobStep], now: datetime
) -> list[JobStep]:
    """Schedule the job for the time when an active conversation may have ended."""
    through = [workspace for workspace, step in steps.items() if step.cursor is None]
    grants = [administrator_grant(workspace) for workspace in through]
    last = store.memories.oldest_active_times(grants, since=now - SESSION_IDLE)
    again = {
        workspace: max(at + SESSION_IDLE + MOMENT, now + MIN_RECHECK)
        for workspace, at in zip(through, last, strict=True)
        if at
    }
    return [replace(step, again_at=again.get(workspace)) for workspace, step in steps.items()]


def _promote_proven_facts(
    store: Store,
    workspace: WorkspaceId,
    used: Sequence[MemoryState],
    now: datetime,
    settings: StrengthSettings,
) -> int:
    """Return the number of facts promoted to a user, including facts in tier long."""
    proven = {
        state.id: state
        for state in used
        if state.kind is MemoryKind.FACT and _is_trusted(state) and _is_proven(state, settings)
    }

    def make_entry(widened: UserScopes) -> AuditEntry:
        states = [proven[id] for id in widened]
        return _audit_entry(states, now=now, settings=settings, user_scopes=widened)

    return promote_to_user(store, workspace, list(proven), make_entry, now=now) if proven else 0


def _is_promotable(state: MemoryState) -> bool:
    return state.tier is Tier.SHORT and _is_trusted(state)


def _is_trusted(state: MemoryState) -> bool:
    return state.trust >= MIN_TRUST


def _is_needed(state: MemoryState, now: datetime, settings: StrengthSettings) -> bool:
    """Return whether a memory was used in several conversations and is important, or certain and
    often used.
    """
    several = state.usage.conversations >= settings.promote_min_conversations
    important = compute_importance(state, now) >= settings.promote_min_importance
    return _is_proven(state, settings) or (several and important)


def _is_proven(state: MemoryState, settings: StrengthSettings) -> bool:
    return (
        state.confidence >= settings.promote_min_confidence
        and state.usage.count >= settings.promote_min_uses
        and state.usage.conversations >= settings.promote_min_conversations
    )


def _set_long_term(
    store: Store,
    found: StatePages,
    ripe: Mapping[WorkspaceId, Sequence[MemoryState]],
    *,
    now: datetime,
    settings: StrengthSettings,
    batch: int,
) -> list[JobStep]:
    entry = partial(_audit_entry, now=now, settings=settings)
    promoted = set_states(store, ripe, entry, tier=Tier.LONG, archived=False)
    return [
        JobStep(
            counts={"looked_at": len(page), "promoted": promoted.get(workspace, 0)},
            cursor=next_cursor(page, batch),
        )
        for workspace, page in found.items()
    ]


def _audit_entry(
    ripe: Sequence[MemoryState],
    *,
    now: datetime,
    settings: StrengthSettings,
    user_scopes: UserScopes | None = None,
) -> AuditEntry:
    """Return the audit entry: promoted memories, reasons, thresholds and users."""
    grounds: list[Json] = [
        {
            "memory": state.id,
            "confidence": state.confidence,
            "uses": state.usage.count,
            "conversations": state.usage.conversations,
            "importance": round(compute_importance(state, now), 3),
            **({"to": str(user_scopes[state.id])} if user_scopes else {}),
        }
        for state in ripe
    ]
    detail: dict[str, Json] = {"promoted": grounds, "thresholds": asdict(settings)}
    people = sorted({scope.ids[0] for scope in user_scopes.values()}) if user_scopes else ()
    return AuditEntry(at=now, action="promote", actor=WORKER, people=tuple(people), detail=detail)
