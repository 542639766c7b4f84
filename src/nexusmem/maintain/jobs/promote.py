"""Promotion job: from tier short to long, and from a place to a user's profile.

A memory is promoted if it is important when a session ends, or if it is used often. A certain and
often used fact is also copied to the profile of its user, by the rules of the table of flows: it is
then known to all agents of that user. Memories from untrusted sources are never promoted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from ...audit.records import WORKER, AuditEntry
from ...core.access import Grant, administrator_grant
from ...core.canonical import format_time
from ...core.derive import normalize_name
from ...core.flows import DEFAULT_SHARING, PRIVATE_KINDS, FlowRule, Sharing
from ...core.ids import WorkspaceId
from ...core.protocols.jobs import JobStep, Json, WorkspaceTurn
from ...core.protocols.store import Store
from ...core.records import Draft, Memory, MemoryKind, Tier, Trust
from ...core.records.facts import WRITTEN_BY_CALLER, current_confidence
from ...core.records.projections import MemoryState
from ...core.scope import Scope, ScopeKind
from ...core.strength import StrengthSettings, compute_importance
from ...learn.flows import is_withdrawn, must_stay
from ...learn.flows.decide import SentenceClassifier
from ...learn.flows.discretion import is_confidential, sensitive_topic
from ..settings import BATCH, USAGE_WINDOW
from .cleanup import StatePages, load_pages, next_cursor, set_states

PROMOTED_SLOT = "promoted"

UserScopes = Mapping[str, Scope]  # the id of a fact and its target


@dataclass(frozen=True, slots=True)
class FlowTools:
    """What decides which facts may rise: the flows of a workspace and their classifier."""

    sharing: Callable[[WorkspaceId], Sharing] = lambda _: DEFAULT_SHARING
    classifier: Callable[[], SentenceClassifier | None] = lambda: None


def promote_to_user(
    store: Store,
    workspace: WorkspaceId,
    ids: Sequence[str],
    entry: Callable[[UserScopes], AuditEntry],
    *,
    flows: FlowTools,
    now: datetime,
    min_confidence: float,
) -> int:
    """Store the user-wide copies that are missing for these facts; return their number.

    A fact whose confidence has fallen below `min_confidence` is not copied.
    """
    everything = administrator_grant(workspace)
    sharing, classifier = flows.sharing(workspace), flows.classifier()
    drafts: list[Draft] = []
    targets: dict[str, Scope] = {}
    for fact in store.memories.get(everything, ids):
        found = promotion_target(fact, sharing)
        if current_confidence(fact, now) < min_confidence:
            continue
        if found is None or _must_stay(store, fact, classifier):
            continue
        copies = user_wide_drafts(fact, *found, now)
        if not _is_known_or_erased(store, workspace, copies):
            has_message = _is_message_copied(store, fact, found[0])
            drafts += copies[:1] if has_message else copies
            targets[fact.id] = found[0]
    if not drafts:
        return 0
    with store.with_audit_entry(workspace, entry(targets)):
        store.memories.put(workspace, drafts)
    return len(targets)


def promotion_target(fact: Memory, sharing: Sharing) -> tuple[Scope, FlowRule] | None:
    """Return the scope and the rule that make a fact known to all agents of its user.

    Only a fact that users state about themselves rises: from a private place to the private
    profile, from a room to the shared profile, which other rooms read. With `agents: everything`
    any fact of a private place rises.
    """
    kind, owner = fact.scope.kind, fact.scope.owner
    is_own = fact.role == "user" and _is_about_speaker(fact)
    if kind in PRIVATE_KINDS and owner:
        if sharing.agents == "everything":
            return Scope.private(owner), FlowRule.EVERYTHING
        if sharing.agents == "profile" and is_own and fact.speaker == owner:
            return Scope.private(owner), FlowRule.AGENTS
        return None
    if kind is ScopeKind.ROOM and is_own and fact.speaker and _is_for_rooms(fact):
        return (Scope.user(fact.speaker), FlowRule.PROFILE) if sharing.profile else None
    return None


def _is_about_speaker(fact: Memory) -> bool:
    return normalize_name(str(fact.body.get("subject"))) == normalize_name(fact.speaker or "")


def _is_for_rooms(fact: Memory) -> bool:
    """Return whether the shared profile may hold a fact: not family, home or money."""
    return fact.body.get("category") not in ("personal", "social", "financial")


def _must_stay(store: Store, fact: Memory, classifier: SentenceClassifier | None) -> bool:
    """Return whether the fact or one of its messages is confidential or sensitive."""
    if is_confidential(fact.text) or sensitive_topic(fact.text):
        return True
    events = store.ledger.get(administrator_grant(fact.workspace), fact.sources)
    return not events or any(
        must_stay(each, classifier) or is_withdrawn(store, each, classifier) for each in events
    )


def _is_known_or_erased(store: Store, workspace: WorkspaceId, drafts: Sequence[Draft]) -> bool:
    """Return whether the copies exist already, or they or their scope were erased."""
    ids = [draft.id for draft in drafts]
    if store.memories.get(administrator_grant(workspace), ids):
        return True
    erased = store.eraser.any_erased(workspace, ids)
    return erased or bool(store.eraser.scope_tombstones(workspace, [drafts[0].scope]))


def _is_message_copied(store: Store, fact: Memory, target: Scope) -> bool:
    """Return whether a flow has copied the message of a fact to the profile."""
    derived = store.eraser.list_derived(fact.workspace, list(fact.sources))
    return any(each.kind is MemoryKind.PASSAGE and each.scope == target for each in derived)


def user_wide_drafts(fact: Memory, target: Scope, rule: FlowRule, now: datetime) -> list[Draft]:
    """Return the copies of a fact in a profile: the fact, and its sentence for search."""
    written = {} if fact.learned else {WRITTEN_BY_CALLER: True}
    copy = Draft(
        scope=target,
        kind=MemoryKind.FACT,
        text=fact.text,
        sources=(*fact.sources, fact.id),
        slot=f"{PROMOTED_SLOT}:{fact.slot}",
        confidence=fact.confidence,
        salience=fact.salience,
        tier=Tier.LONG,
        valid_from=fact.valid_from,
        valid_to=fact.valid_to,
        speaker=fact.speaker,
        role=fact.role,
        source=PROMOTED_SLOT,
        learned=True,
        metadata={"made_by": [PROMOTED_SLOT], "promoted_at": format_time(now), **written},
        body=fact.body,
        flow=rule,
    )
    passage = replace(copy, kind=MemoryKind.PASSAGE, learned=False, body={})
    return [copy, passage]


def find_promotion(store: Store, grant: Grant, fact: Memory, sharing: Sharing) -> Scope | None:
    """Return the profile that a fact was promoted to, if the grant can read the copy."""
    target = promotion_target(fact, sharing) if fact.kind is MemoryKind.FACT else None
    if target is None:
        return None
    (copy, _) = user_wide_drafts(fact, *target, fact.at)
    return target[0] if store.memories.get(grant, [copy.id]) else None


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
    flows: FlowTools = FlowTools(),
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
        workspace: _promote_proven_facts(
            store, workspace, page, now=now, settings=settings, flows=flows
        )
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
    *,
    now: datetime,
    settings: StrengthSettings,
    flows: FlowTools,
) -> int:
    """Return the number of facts promoted to a user, including facts in tier long.

    A search mostly shows the message of a fact. A use of the message counts for its facts.
    """
    often = {state.id: state for state in used if _is_trusted(state) and _is_often(state, settings)}
    proven = {
        id: state
        for id, state in often.items()
        if state.kind is MemoryKind.FACT and state.confidence >= settings.promote_min_confidence
    }
    messages = [id for id, state in often.items() if state.kind is MemoryKind.PASSAGE]
    for message in store.memories.get(administrator_grant(workspace), messages):
        for fact in store.eraser.list_derived(workspace, list(message.sources)):
            if fact.kind is MemoryKind.FACT and fact.scope == message.scope:
                proven.setdefault(fact.id, often[message.id]._replace(id=fact.id))

    def make_entry(widened: UserScopes) -> AuditEntry:
        states = [proven[id] for id in widened]
        return _audit_entry(states, now=now, settings=settings, user_scopes=widened)

    if not proven:
        return 0
    return promote_to_user(
        store,
        workspace,
        list(proven),
        make_entry,
        flows=flows,
        now=now,
        min_confidence=settings.promote_min_confidence,
    )


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
    return state.confidence >= settings.promote_min_confidence and _is_often(state, settings)


def _is_often(state: MemoryState, settings: StrengthSettings) -> bool:
    return (
        state.usage.count >= settings.promote_min_uses
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
