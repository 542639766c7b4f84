"""The rolling summary of a place: what was said lately, in its own sentences, and what was decided.

It is made anew from the former one and every five further messages. Because a sentence's rank never
changes (`learn.telling`), the order and the portions in which messages come make no difference:
made again from the ledger it is the same to the last byte, as long as a week's talk in one place
is no more than `MOST_READ` messages.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta

from ..core.access import Grant, administrator_grant
from ..core.canonical import text_time
from ..core.errors import Unavailable
from ..core.ids import WorkspaceId
from ..core.protocols import Store
from ..core.records import Event, Memory, MemoryKind
from ..core.scope import Scope
from ..core.window import (
    Line,
    Slot,
    Summary,
    Upto,
    WindowItem,
    summary_from_json,
    summary_to_json,
)
from .around import RECENT, TALK
from .telling import MOST_LEAD, counts_as, length_of, lines_of, telling

__all__ = [
    "after_learning",
    "kept_summary",
    "landmarks_in",
    "rebuilt",
    "refreshed",
    "summarized",
    "telling",
    "within_room",
]

EVERY = 5  # messages
ROOM = 1_200  # bytes of sentences; with the two below about 500 tokens
ROOM_FOR_DECISIONS = ROOM_FOR_ACTION_ITEMS = 350  # and what the others leave
WHOLE = ROOM + ROOM_FOR_DECISIONS + ROOM_FOR_ACTION_ITEMS
REACH = timedelta(days=7)  # before the last message; what counts as older is let go
KEPT_FOR = timedelta(days=30)  # a place is resumed from it; after that it is made again
PORTION = 100  # events read at a time
MOST_READ = 1_000  # events looked at to make it again
MOST_MEMORIES = 100  # of one event, on the average
MOMENT = timedelta(microseconds=1)
KEY = "rolling"

DECISION = ("decision",)
ACTION_ITEM = ("action_item", "commitment")

Landmarks = Mapping[str, Sequence[Memory]]  # by the event that says it
Told = tuple[Event, Sequence[Event]]  # with those of its conversation before it


def after_learning(store: Store, events: Iterable[Event], *, now: datetime) -> None:
    """Bring the summaries of these events' places up to date: called when they were learned.

    While the window is away nothing is brought anywhere: a summary is made again from the ledger
    when somebody looks.
    """
    by_place: defaultdict[tuple[WorkspaceId, Scope], list[Event]] = defaultdict(list)
    for event in events:
        if event.kind in TALK:
            by_place[event.workspace, event.scope].append(event)
    for (workspace, scope), learned in by_place.items():
        with suppress(Unavailable):
            refreshed(store, workspace, scope, now=now, learned=learned)


def refreshed(
    store: Store,
    workspace: WorkspaceId,
    scope: Scope,
    *,
    now: datetime,
    former: Summary | None = None,
    learned: Sequence[Event] = (),
    every: int = EVERY,
) -> Summary:
    """The summary of a place, brought up to date if so many messages are not in it yet.

    `former` is the one that lies there, for whoever has just read it.
    Of `learned` events those it covers already are looked at again: they came late, or more is
    known of them now. What nobody has learned yet, after those, is left for later.
    """
    grant = administrator_grant(workspace).within([scope])
    former = kept_summary(store, grant, now) if former is None else former
    with store.moment():
        made = _next(store, grant, former, learned, every)
    if made != former:
        _keep(store, workspace, scope, made, now)
    return made


def kept_summary(store: Store, grant: Grant, now: datetime) -> Summary:
    """The one that lies in the window of the grant's one place; an empty one, if none does."""
    found = store.window.find(grant, slots=[Slot.SUMMARY], key=KEY, now=now)
    return summary_from_json(found[0].value) if found else Summary()  # type: ignore[arg-type]


def rebuilt(
    store: Store, grant: Grant, upto: Upto | None = None, *, as_of: datetime | None = None
) -> Summary:
    """The summary of the grant's one place, from the ledger and what was learned from it alone.

    With `as_of`, of what had been told by then.
    """
    made = Summary()
    for events in _backwards(store, grant, upto):
        last = made.upto or Upto.of(events[0])
        portion = [
            event
            for event in events
            if event.kind in TALK and (as_of is None or event.recorded_at <= as_of)
        ]
        made = replace(_with(store, grant, replace(made, upto=last), portion), upto=last)
        if not _in_reach(events[-1], last):
            break
    return made


def summarized(former: Summary, told: Sequence[Told], landmarks: Landmarks) -> Summary:
    """The former summary and further messages in one. Pure."""
    ids = {event.id for event, _ in told}
    events = [event for event, _ in told]
    last = max(map(Upto.of, events), key=_order, default=former.upto)
    upto = max((each for each in (former.upto, last) if each), key=_order, default=None)
    if upto is None:
        return former
    oldest = (upto.at - REACH).timestamp()

    def chosen(before: Iterable[Line], further: Iterable[Line], room: int) -> tuple[Line, ...]:
        lines = [*(line for line in before if line.event not in ids), *further]
        return telling((line for line in lines if counts_as(line) >= oldest), room=room)

    said = (line for event, recent in told for line in _sentences(event, recent, landmarks))
    marks = [mark for id in ids for mark in landmarks.get(id, ())]
    return Summary(
        lines=chosen(former.lines, said, ROOM),
        decisions=chosen(former.decisions, _marked(marks, DECISION), WHOLE),
        action_items=chosen(former.action_items, _marked(marks, ACTION_ITEM), WHOLE),
        upto=upto,
    )


def within_room(kept: Summary) -> Summary:
    """As much of a summary as is told at once: room that sentences leave goes to decisions.

    More is kept than is told, because sentences go, and then there is room for what was decided
    before. What is told depends on what is kept and on nothing else.
    """
    free = WHOLE - _bytes(kept.lines)
    promised = min(ROOM_FOR_ACTION_ITEMS, _bytes(kept.action_items))
    decisions = telling(kept.decisions, room=free - promised)
    action_items = telling(kept.action_items, room=free - _bytes(decisions))
    return replace(kept, decisions=decisions, action_items=action_items)


def _bytes(lines: Iterable[Line]) -> int:
    return sum(map(length_of, lines))


def _next(
    store: Store,
    grant: Grant,
    former: Summary,
    learned: Sequence[Event],
    every: int,
) -> Summary:
    """The former one, or one that covers more."""
    end = max(event.at for event in learned) + MOMENT if learned else None
    if former.upto is None:
        enough = store.ledger.find(grant, until=end, limit=every)
        last = Upto.of(enough[0]) if enough else None
        return rebuilt(store, grant, last) if len(enough) >= every else former
    upto = former.upto
    found = store.ledger.find(grant, since=upto.at, until=end, limit=MOST_READ + 1)
    if len(found) > MOST_READ:  # long not looked at
        return rebuilt(store, grant, Upto.of(found[0]))
    further = [event for event in found if event.kind in TALK and not upto.covers(event)]
    again = [event for event in learned if upto.covers(event) and _in_reach(event, upto)]
    if len(further) < every and not again:
        return former
    made = _with(store, grant, former, further) if len(further) >= every else former
    for event in again:
        made = _with(store, grant, made, [event])
    return made


def _in_reach(event: Event, upto: Upto) -> bool:
    """Whether a sentence of it could count as new enough."""
    return event.at + timedelta(seconds=MOST_LEAD) >= upto.at - REACH


def _with(store: Store, grant: Grant, former: Summary, events: Sequence[Event]) -> Summary:
    """With these, which follow one another."""
    if not events:
        return former
    told = list(_with_recent(store, grant, events))
    return summarized(former, told, landmarks_in(store, grant, events))


def _with_recent(store: Store, grant: Grant, events: Sequence[Event]) -> Iterator[Told]:
    first, last = (pick(event.at for event in events) for pick in (min, max))
    wanted = {event.id for event in events}
    before = store.ledger.find(grant, until=first, limit=3 * RECENT)
    inside = store.ledger.find(grant, since=first, until=last + MOMENT, limit=2 * MOST_READ)
    recent: list[Event] = []
    for event in reversed([*inside, *before]):
        if event.id in wanted:
            yield event, [each for each in recent if each.thread == event.thread]
        if event.kind in TALK:
            recent = [*recent, event][-RECENT:]


def _backwards(store: Store, grant: Grant, upto: Upto | None) -> Iterator[list[Event]]:
    """The events of a place in portions, newest first, from this one on."""
    end = upto.at + MOMENT if upto else None
    seen: set[str] = set()
    while len(seen) < MOST_READ:
        found = store.ledger.find(grant, until=end, limit=PORTION + len(seen))
        fresh = [
            event
            for event in found
            if event.id not in seen and (upto is None or upto.covers(event))
        ]
        if not fresh:
            return
        yield fresh
        seen.update(event.id for event in fresh)
        end = fresh[-1].at + MOMENT  # others may be of the same moment


def landmarks_in(store: Store, grant: Grant, events: Sequence[Event]) -> Landmarks:
    """What was learned to be a landmark, by the event that says it."""
    if not events:
        return {}
    times = [event.at for event in events]
    ids = store.memories.between(
        grant,
        min(times),
        max(times) + MOMENT,
        limit=MOST_MEMORIES * len(events),
        learned=True,
    )
    found: defaultdict[str, list[Memory]] = defaultdict(list)
    for memory in store.memories.get(grant, ids):
        if memory.kind is MemoryKind.LANDMARK:
            found[memory.sources[0]].append(memory)
    return found


def _sentences(event: Event, recent: Sequence[Event], landmarks: Landmarks) -> list[Line]:
    kinds = (*DECISION, *ACTION_ITEM)
    known = [mark.text for mark in landmarks.get(event.id, ()) if mark.body.get("kind") in kinds]
    return lines_of(event, recent, known)


def _marked(marks: Iterable[Memory], kinds: Sequence[str]) -> Iterator[Line]:
    for mark in marks:
        if mark.body.get("kind") in kinds:
            due = mark.body.get("due")
            yield Line(
                event=mark.sources[0],
                at=mark.at,
                speaker=mark.speaker or "",
                text=mark.text,
                trust=mark.trust,
                memories=(mark.id,),
                owner=mark.body.get("owner"),
                due=text_time(due) if due else None,
            )


def _order(upto: Upto) -> tuple[datetime, tuple[int, ...]]:
    """In the ledger's order: of the same moment, the smaller id is the later."""
    return upto.at, tuple(-ord(letter) for letter in upto.id)


def _keep(store: Store, workspace: WorkspaceId, scope: Scope, made: Summary, now: datetime) -> None:
    """Its time is the last message's: bringing it up to date is no activity in the place.

    If it cannot be kept, it is made again when somebody looks.
    """
    if made.upto is None:
        return
    item = WindowItem(
        scope=scope,
        slot=Slot.SUMMARY,
        key=KEY,
        value=summary_to_json(made),
        at=made.upto.at,
        expires_at=now + KEPT_FOR,
        rests_on=made.rests_on,
    )
    with suppress(Unavailable):
        store.window.put(workspace, [item])
