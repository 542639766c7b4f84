"""Currency: which memories state something that was superseded, corrected or ended later.

The facts and landmarks that were read from a message tell whether it still holds. They are read in
one batch, inside the grant: a change that the viewer may not see marks nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from ...core.access import Grant
from ...core.derive import normalize_name
from ...core.filters import Condition, Op
from ...core.protocols.store import Store
from ...core.records import HitStatus, Memory, MemoryKind, Validity
from ...core.records.landmark_status import LandmarkStatus
from ...core.records.links import load_links
from .fact_timeline import FactEnd, facts_about, find_fact_ends
from .landmarks import build_views

DERIVED_KINDS = (MemoryKind.FACT, MemoryKind.LANDMARK)
MARKED_KINDS = frozenset({MemoryKind.PASSAGE, *DERIVED_KINDS})
MAX_FACTS = 300  # newest facts read about the subjects of the memories
MAX_LANDMARKS = 40  # newest landmarks that may supersede others
OVER = (LandmarkStatus.SUPERSEDED, LandmarkStatus.CANCELLED)

IS_LANDMARK = Condition("kind", Op.EQ, MemoryKind.LANDMARK)

StatementEnds = dict[str, Validity | None]  # statement → its end, or None while it holds


def find_validities(
    store: Store, grant: Grant, memories: Iterable[Memory], now: datetime
) -> dict[str, Validity]:
    """Return the validity of each memory that no longer holds at `now`, by memory id.

    A message is partly former if another fact that it states still holds.
    """
    marked = [each for each in memories if each.kind in MARKED_KINDS]
    sources = sorted({source for each in marked for source in each.sources})
    if not sources:
        return {}
    derived = [
        each
        for each in store.memories.find_by_source(grant, sources, kinds=DERIVED_KINDS)
        if each.recorded_at <= now and not each.body.get("exact")
    ]
    facts = [each for each in derived if each.kind is MemoryKind.FACT]
    landmarks = [each for each in derived if each.kind is MemoryKind.LANDMARK]
    ends: StatementEnds = {}
    if facts:
        ends |= _find_fact_ends(store, grant, facts, now)
    if landmarks:
        ends |= _find_landmark_ends(store, grant, landmarks, now)
    if not any(ends.values()):
        return {}
    by_source: defaultdict[str, list[Memory]] = defaultdict(list)
    for each in derived:
        for source in each.sources:
            by_source[source].append(each)
    found = ((each.id, _sum_up(each, by_source, ends)) for each in marked)
    return {id: validity for id, validity in found if validity}


def _find_fact_ends(
    store: Store, grant: Grant, facts: Sequence[Memory], now: datetime
) -> StatementEnds:
    """Return the end of each fact; facts that state no current value are left out."""
    subjects = sorted({normalize_name(each.body["subject"]) for each in facts})
    known = {
        each.id: each
        for each in (
            *store.memories.find_by_name(grant, subjects, limit=MAX_FACTS, kinds=[MemoryKind.FACT]),
            *facts,
        )
        if each.recorded_at <= now
    }
    relations = {
        (normalize_name(each.body["subject"]), str(each.body["predicate"]).upper())
        for each in facts
    }
    wanted = {each.id for each in facts}
    ends: StatementEnds = {}
    for subject, predicate in sorted(relations):
        row = facts_about(known.values(), subject, predicate)
        own = [
            each.id
            for each in row
            if each.id in wanted and each.body["predicate"].upper() == predicate
        ]
        for id, end in find_fact_ends(row, own, now, predicate).items():
            ends[id] = _fact_validity(end) if end else None
    return ends


def _fact_validity(end: FactEnd) -> Validity:
    return Validity(
        status=HitStatus.FORMER,
        since=end.at,
        by=end.by.sources[0],
        is_corrected=end.is_correction,
    )


def _find_landmark_ends(
    store: Store, grant: Grant, landmarks: Sequence[Memory], now: datetime
) -> StatementEnds:
    """Return the end of each landmark that was superseded or cancelled; None for open ones.

    Tasks that were done are left out: what they state has not become wrong.
    """
    newest = store.memories.find(grant, where=IS_LANDMARK, limit=MAX_LANDMARKS)
    every = {each.id: each for each in (*newest, *landmarks) if each.recorded_at <= now}
    newest_first = sorted(every.values(), key=lambda each: (-each.at.timestamp(), each.id))
    ids = [each.id for each in landmarks]
    links = [each for each in load_links(store, grant, ids) if each.recorded_at <= now]
    ends: StatementEnds = {}
    for view in build_views(newest_first, links, now):
        if view.status is LandmarkStatus.OPEN:
            ends[view.id] = None
        elif view.status in OVER and view.closed_at and view.closed_by not in view.memory.sources:
            ends[view.id] = Validity(
                status=HitStatus.FORMER,
                since=view.closed_at,
                by=view.closed_by or view.memory.sources[0],
            )
    return ends


def _sum_up(
    memory: Memory, by_source: Mapping[str, Sequence[Memory]], ends: StatementEnds
) -> Validity | None:
    """Return the validity of a memory from the ends of the statements in its text."""
    if memory.kind is MemoryKind.FACT:
        return ends.get(memory.id)
    stated = list(_statements_in(memory, by_source))
    former = {each.id: end for each in stated if (end := ends.get(each.id))}
    if not former:
        return None
    last = max(former.values(), key=lambda end: (end.since, end.by))
    over = {each.text for each in stated if each.id in former}
    holds = any(
        each.id in ends and each.id not in former and not _restates(each, over) for each in stated
    )
    return replace(last, status=HitStatus.PARTLY_FORMER) if holds else last


def _statements_in(memory: Memory, by_source: Mapping[str, Sequence[Memory]]) -> Iterator[Memory]:
    """Yield the facts and landmarks that were read from this text, each once."""
    derived = {each.id: each for source in memory.sources for each in by_source.get(source, ())}
    is_piece = memory.kind is MemoryKind.LANDMARK or memory.slot != ""
    for each in derived.values():
        if each.id == memory.id or not is_piece or each.text in memory.text:
            yield each


def _restates(statement: Memory, former_texts: Iterable[str]) -> bool:
    """Return whether a landmark is the sentence of a fact that no longer holds."""
    return statement.kind is MemoryKind.LANDMARK and any(
        text in statement.text for text in former_texts
    )
