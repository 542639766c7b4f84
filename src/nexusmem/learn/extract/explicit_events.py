"""Explicit events: drafts of notes, facts, goals, questions, shares and outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from datetime import datetime
from typing import Any

from ...core.access import Grant, administrator_grant
from ...core.canonical import parse_time
from ...core.filters import And, Condition, Op
from ...core.protocols.store import Store
from ...core.records import Draft, Event, EventKind, Fact, MemoryKind, Tier, Tombstone
from ...core.records.dossiers import QUESTION_KEY
from ...core.records.facts import RESERVED_KEYS, exact_text, fact_sentence
from ...core.records.goals import GOAL
from ...core.records.links import (
    LANDMARK,
    SHARE,
    SHARED_FROM,
    check_share,
    check_shared_landmark,
    is_shared_copy,
    share_link_draft,
    share_seal,
)
from ...core.records.procedures import OUTCOME, TOOL, extract_steps
from .passages import event_tags


def explicit_drafts(event: Event) -> Iterator[Draft]:
    """Yield drafts of a note, fact, goal or question exactly as the caller stated it."""
    if event.kind is EventKind.NOTE:
        yield _note_draft(event)
        if is_shared_copy(event) and LANDMARK in event.metadata:
            yield _landmark_draft(event)
    elif event.kind is EventKind.FACT:
        yield _fact_draft(event)
    elif event.kind is EventKind.GOAL:
        yield _goal_draft(event)
    elif event.kind is EventKind.QUESTION:
        yield _question_draft(event)


def _note_draft(event: Event) -> Draft:
    return Draft(
        scope=event.scope,
        kind=MemoryKind.PASSAGE,
        text=event.text,
        indexed_text=_redact_text(event.text),
        sources=(event.id,),
        speaker=event.speaker,
        role=event.role,
        source="note",
        thread=event.thread,
        tier=Tier.LONG,
        tags=event_tags(event),
        metadata=event.metadata,
    )


def _landmark_draft(event: Event) -> Draft:
    """Return the draft of a shared landmark, which is pinned in this scope, too."""
    return Draft(
        scope=event.scope,
        kind=MemoryKind.LANDMARK,
        text=event.text,
        sources=(event.id,),
        slot=LANDMARK,
        speaker=event.speaker,
        role=event.role,
        source="note",
        thread=event.thread,
        learned=True,
        body=dict(check_shared_landmark(event.metadata[LANDMARK])),
    )


def _fact_draft(event: Event) -> Draft:
    fact = Fact(**event.metadata["fact"])
    rest = {name: value for name, value in event.metadata.items() if name not in RESERVED_KEYS}
    return Draft(
        scope=event.scope,
        kind=MemoryKind.FACT,
        text=exact_text(fact) if fact.exact else event.text,
        indexed_text=_exact_index_text(fact) if fact.exact else _redact_text(event.text),
        sources=(event.id,),
        confidence=event.metadata.get("confidence", 1.0),
        tier=Tier.LONG,
        valid_from=_metadata_time(event, "valid_from"),
        valid_to=_metadata_time(event, "valid_to"),
        speaker=event.speaker,
        role=event.role,
        source="fact",
        thread=event.thread,
        tags=event_tags(event),
        metadata=rest,
        body=asdict(fact),
    )


def _exact_index_text(fact: Fact) -> str:
    """Return the words of an exact value for search, without secrets: its key as single words."""
    sentence = fact_sentence(fact)
    return _redact_text(sentence) or sentence


def _goal_draft(event: Event) -> Draft:
    return Draft(
        scope=event.scope,
        kind=MemoryKind.GOAL,
        text=event.text,
        indexed_text=_redact_text(event.text),
        sources=(event.id,),
        tier=Tier.LONG,
        speaker=event.speaker,
        role=event.role,
        source="goal",
        thread=event.thread,
        tags=event_tags(event),
        metadata={name: value for name, value in event.metadata.items() if name != GOAL},
        body=event.metadata[GOAL],
    )


def _question_draft(event: Event) -> Draft:
    """Return the draft of a standing question; search does not index its text."""
    return Draft(
        scope=event.scope,
        kind=MemoryKind.DOSSIER,
        text=event.text,
        indexed_text="",
        sources=(event.id,),
        tier=Tier.LONG,
        speaker=event.speaker,
        role=event.role,
        source="question",
        learned=True,  # derived memories are not searched by default
        body={QUESTION_KEY: event.text, **event.metadata.get(QUESTION_KEY, {})},
    )


def _redact_text(text: str) -> str | None:
    """Return the indexed text without secrets; None if the text has none."""
    from ...text.secrets import redact_secrets  # its patterns load with the first text

    seen = redact_secrets(text)
    return None if seen == text else seen


def _metadata_time(event: Event, name: str) -> Any:
    text = event.metadata.get(name)
    return parse_time(text) if text else None


def share_link_drafts(store: Store, share_event: Event) -> list[Draft]:
    """Return the link to a shared copy; nothing if the copy is missing or belongs to another share.

    If a source was erased before the link existed (an interrupted share), the copy is erased now.
    """
    share = check_share(share_event.metadata.get(SHARE))
    everything = administrator_grant(share_event.workspace)
    copies = store.ledger.get(everything, [share["copy"]])
    if not copies or copies[0].metadata.get(SHARED_FROM) != share_seal(share["secret"]):
        return []
    source_ids = [*share["sources"], share["memory"]]
    if store.eraser.any_erased(share_event.workspace, source_ids):
        erased = [share_event.id, share["copy"]]
        at = share_event.recorded_at
        tombstones = [Tombstone(kind="event", digest=id, at=at) for id in erased]
        store.eraser.erase(share_event.workspace, events=erased, memories=[], tombstones=tombstones)
        return []
    existing = {*store.ledger.load_keys(everything, source_ids)}
    existing |= {memory.id for memory in store.memories.get(everything, source_ids)}
    return [share_link_draft(share_event, tuple(id for id in source_ids if id in existing))]


MAX_TOOL_USES = 500  # for one task


def procedure_drafts(store: Store, event: Event) -> list[Draft]:
    """Return the procedure that led to an outcome, if its steps are known.

    A procedure has the names of the tools, not their arguments.
    """
    outcome = event.metadata[OUTCOME]
    here = administrator_grant(event.workspace).narrow_to([event.scope])
    uses = [] if outcome.get("steps") else _find_tool_uses(store, here, event)
    steps = outcome.get("steps") or extract_steps(
        (use.metadata[TOOL] for use in uses), success=outcome["success"]
    )
    return [_procedure_draft(event, tuple(steps), uses)] if steps else []


def _find_tool_uses(store: Store, grant: Grant, event: Event) -> list[Event]:
    """Return the tool events of this task since its previous outcome, oldest first."""
    task = event.metadata[OUTCOME]["task"]
    uses = _find_task_events(store, grant, EventKind.TOOL, f"{TOOL}.task", task)
    outcomes = _find_task_events(store, grant, EventKind.OUTCOME, f"{OUTCOME}.task", task)
    before = [each for each in outcomes if _time_order(each) < _time_order(event)]
    since = max(map(_time_order, before), default=None)
    during = [each for each in uses if _time_order(each) <= _time_order(event)]
    during = [each for each in during if since is None or _time_order(each) > since]
    return sorted(during, key=_time_order)[-MAX_TOOL_USES:]


def _find_task_events(
    store: Store, grant: Grant, kind: EventKind, path: str, task: str
) -> list[Event]:
    same_task = Condition(f"metadata.{path}", Op.EQ, task)
    where = And((Condition("kind", Op.EQ, kind), same_task))
    return store.ledger.find(grant, where=where, limit=2 * MAX_TOOL_USES)


def _time_order(event: Event) -> tuple[datetime, datetime]:
    return event.at, event.recorded_at


def _procedure_draft(event: Event, steps: tuple[str, ...], uses: list[Event]) -> Draft:
    outcome = event.metadata[OUTCOME]
    result = "worked" if outcome["success"] else "failed"
    return Draft(
        scope=event.scope,
        kind=MemoryKind.PROCEDURE,
        text=f"{outcome['task']}: {' → '.join(steps)} ({result})",
        indexed_text=" ".join(filter(None, (outcome["task"], outcome.get("task_type")))),
        sources=(event.id, *(use.id for use in uses)),
        slot="strategy",
        speaker=event.speaker,
        role=event.role,
        source="outcome",
        thread=event.thread,
        learned=True,
        metadata={"made_by": ["rules"]},
        body={
            "task": outcome["task"],
            "task_type": outcome.get("task_type"),
            "steps": list(steps),
            "success": outcome["success"],
        },
    )
