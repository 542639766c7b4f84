"""Landmarks of a scope that a new message may close, and the links that close them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ...core.access import Grant, administrator_grant
from ...core.filters import Condition, Op
from ...core.flows import FlowRule
from ...core.ids import WorkspaceId, digest
from ...core.protocols.memories import Memories
from ...core.protocols.store import Store
from ...core.records import Draft, Event, EventKind, Memory, MemoryKind
from ...core.records.landmark_status import (
    Closing,
    LandmarkOutline,
    closings_by_landmark,
    find_closed,
)
from ...core.records.links import LinkRelation, load_links
from ...core.records.memory import drop_copies, memory_id
from ..extract.event_context import EventContext
from .cues import find_cues
from .match import MatchedClosing, match_closings, may_close

MAX_LANDMARKS = 200  # newest first; an older landmark is not closed by a message
NO_COPY = (None, FlowRule.SESSIONS)  # flows of memories that stay with their place or agent
CLOSING_EVENTS = (EventKind.MESSAGE, EventKind.NOTE)


@dataclass(slots=True)
class ScopeLandmarks:
    """Stored landmarks of one scope, read on first use, and landmarks of the current batch."""

    store: Store
    grant: Grant
    made_by: str
    _stored: list[LandmarkOutline] | None = None
    _added: list[LandmarkOutline] = field(default_factory=list)
    _closings: dict[str, Closing] = field(default_factory=dict)
    _copies: set[str] = field(default_factory=set)  # ids of copies made in the current batch

    def close(self, context: EventContext, event: Event, drafts: Sequence[Draft]) -> list[Draft]:
        """Return links for the landmarks that an event closes; add its own landmarks.

        `event` has only the text that may be read. Call this for the events of a scope in the
        order in which they happened.
        """
        links: list[Draft] = []
        own = [LandmarkOutline.from_draft(event, each) for each in drafts if _is_landmark(each)]
        recent = context.recent
        cues = find_cues(event.text) if event.kind in CLOSING_EVENTS else []
        if event.kind in CLOSING_EVENTS and may_close(event, recent, cues):
            matched = match_closings(event, recent, cues, self._find_open(event.at, own))
            if own and cues:  # "it's cancelled" is a decision, and ends what it replaces
                before = match_closings(event, recent, cues, self._find_open(event.at))
                known = {each.landmark.id for each in matched}
                matched += [each for each in before if each.landmark.id not in known]
            links = [closing_draft(event, each, self.made_by) for each in matched]
            for each in matched:
                closing = Closing(status=each.status, at=event.at, by=event.id)
                self._closings.setdefault(each.landmark.id, closing)
        self._added += own
        return links

    def copy_closings(self, event: Event, drafts: Sequence[Draft]) -> list[Draft]:
        """Return copies of closing links for the copies of their landmarks in other scopes.

        `drafts` are those of the event with the copies that flows made. A closing is known in
        another scope only if something of its message is, too.
        """
        copies = [draft for draft in drafts if draft.flow not in NO_COPY]
        self._copies |= {draft.id for draft in copies if _is_landmark(draft)}
        closings = [draft for draft in drafts if is_closing(draft) and draft.flow in NO_COPY]
        targets = {(draft.scope, draft.flow): draft for draft in copies} if closings else {}
        outlines = {each.id: each for each in (*(self._stored or ()), *self._added)}
        made = [
            _copy_closing(closing, landmark, target)
            for closing in closings
            if (landmark := outlines.get(closing.body["members"][0]))
            for target in targets.values()
        ]
        if not made:
            return []
        ids = [draft.sources[-1] for draft in made]
        known = self._copies.union(
            each.id for each in self.store.memories.get(administrator_grant(event.workspace), ids)
        )
        return [draft for draft in made if draft.sources[-1] in known]

    def _find_open(
        self, now: datetime, new: Iterable[LandmarkOutline] = ()
    ) -> list[LandmarkOutline]:
        """Return the open landmarks, newest first; `new` ones may supersede others."""
        if self._stored is None:
            self._stored = self._load_landmarks()
        unique = {each.id: each for each in (*self._stored, *self._added, *new)}
        every = sorted(unique.values(), key=lambda each: (each.at, each.id), reverse=True)
        closed = find_closed(every, self._closings, now)
        return [each for each in every if each.id not in closed]

    def _load_landmarks(self) -> list[LandmarkOutline]:
        where = Condition("kind", Op.EQ, MemoryKind.LANDMARK)
        found = self.store.memories.find(self.grant, where=where, limit=MAX_LANDMARKS)
        memories = drop_copies(found)
        links = load_links(self.store, self.grant, [each.id for each in memories])
        self._closings = {**closings_by_landmark(links), **self._closings}
        return [LandmarkOutline.from_memory(each) for each in memories]


def closing_draft(event: Event, matched: MatchedClosing, made_by: str) -> Draft:
    """Return the link that closes a landmark.

    Its sources are the message and the landmark: erasing the message opens the landmark again.
    """
    landmark = matched.landmark
    return Draft(
        scope=event.scope,
        kind=MemoryKind.LINK,
        text=matched.status.value,
        indexed_text="",  # looked up by its member
        sources=(event.id, landmark.id),
        slot=digest("closes", landmark.id),
        at=event.at,
        speaker=event.speaker,
        role=event.role,
        source=made_by,
        thread=event.thread,
        learned=True,
        metadata={"made_by": [made_by]},
        body={
            "relation": LinkRelation.CLOSES.value,
            "members": [landmark.id],
            "status": matched.status.value,
        },
    )


def _copy_closing(closing: Draft, landmark: LandmarkOutline, target: Draft) -> Draft:
    """Return the link for the copy of a landmark in the scope of another copy of the message."""
    rule = str(target.flow)
    copy = memory_id(MemoryKind.LANDMARK, target.scope, f"{rule}:{landmark.slot}", landmark.sources)
    return replace(
        closing,
        scope=target.scope,
        flow=target.flow,
        slot=f"{rule}:{closing.slot}",
        sources=(closing.sources[0], copy),
        thread=None,
        body={**closing.body, "members": [copy]},
    )


def is_closing(record: Draft | Memory) -> bool:
    """Return whether a record is a link that closes a landmark."""
    return record.kind is MemoryKind.LINK and record.body.get("relation") == LinkRelation.CLOSES


def put_with_closings(
    memories: Memories, workspace: WorkspaceId, drafts: Sequence[Draft]
) -> list[Memory]:
    """Store drafts; the links that close landmarks come last, because these are their sources."""
    closings = [draft for draft in drafts if is_closing(draft)]
    put = memories.put(workspace, [draft for draft in drafts if not is_closing(draft)])
    return [*put, *memories.put(workspace, closings)] if closings else put


def _is_landmark(draft: Draft) -> bool:
    return draft.kind is MemoryKind.LANDMARK
