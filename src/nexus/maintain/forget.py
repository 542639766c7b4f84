"""Forgetting, with proof.

Follows provenance from what is to go to everything that rests on it, removes it all in one
transaction, has what also rested on other sources derived again from those, and then
searches the files for what should no longer be there.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..core.access import administrator_grant
from ..core.audit import ADMINISTRATOR, Entry
from ..core.canonical import canonical_json
from ..core.derive import tells_of_time
from ..core.errors import InvalidInput, NotFound
from ..core.filters import Condition, Op
from ..core.ids import WorkspaceId, check_name, digest, str_only
from ..core.links import Relation, shared_by
from ..core.protocols import Store
from ..core.records import Erased, Event, EventKind, Json, Memory, MemoryKind, Tombstone
from ..core.scope import Scope
from ..core.window import WindowItem
from .consolidate import refresh

PIECE = 24  # characters: long enough to be nobody else's by chance
NO_TEXT = re.compile(
    r"[0-9a-f]{32}(:\d+)?|\d{4}-\d\d-\d\dT[\d:.]+Z"
)  # ids, places in what has one, and times: others have them too
MOST_PIECES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """What was forgotten, layer by layer, and what a search of every file found of it after."""

    what: str
    erased: Erased
    derived_again: int
    tombstones: int
    files_searched: tuple[str, ...]  # or tables, where a server has the files
    residue: int
    seconds: float
    by_file: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Target:
    """What to forget: these events, these memories, and whatever rests on them."""

    what: str
    events: tuple[Event, ...] = ()
    memories: tuple[Memory, ...] = ()
    stones: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()  # what goes out of the audit, too
    drawer: Callable[[Scope], bool] = lambda _: False  # whether one goes as a whole


def user_target(store: Store, workspace: WorkspaceId, user: str) -> Target:
    """Everything this person said anywhere, and everything in the drawers that are theirs."""
    check_name(user, "the user")
    everything = store.ledger.find(administrator_grant(workspace))
    theirs = tuple(e for e in everything if user in (e.speaker, e.scope.owner))
    stone = ("user", digest("user", user))
    return Target(
        f"user {user}",
        theirs,
        stones=(stone,),
        names=(user,),
        drawer=lambda scope: scope.owner == user,
    )


def scope_target(store: Store, workspace: WorkspaceId, scope: Scope) -> Target:
    grant = administrator_grant(workspace).within([scope])
    stone = ("scope", digest("scope", str(scope)))
    events = tuple(store.ledger.find(grant))
    return Target(
        str(scope), events, stones=(stone,), names=(str(scope),), drawer=lambda each: each == scope
    )


def event_target(store: Store, workspace: WorkspaceId, id: str) -> Target:
    found = store.ledger.get(administrator_grant(workspace), [id])
    if not found:
        raise NotFound(f"no event {id!r} here")
    return Target(f"event {id}", tuple(found))


def memory_target(store: Store, workspace: WorkspaceId, id: str) -> Target:
    """One memory. A note is what its event says and nothing else, so that goes too.

    A message stays: somebody said it, and the memory is only what is known by it.
    """
    everything = administrator_grant(workspace)
    found = store.memories.get(everything, [id])
    if not found:
        raise NotFound(f"no memory {id!r} here")
    rested_on = store.ledger.get(everything, [id for memory in found for id in memory.sources])
    noted = tuple(event for event in rested_on if event.kind is EventKind.NOTE)
    return Target(f"memory {id}", noted, memories=tuple(found), stones=(("memory", id),))


def choose_target(
    store: Store, workspace: WorkspaceId, wanted: dict[str, str | Scope | None]
) -> Target:
    """Exactly one of user, room, event and memory."""
    given = {kind: value for kind, value in wanted.items() if value is not None}
    if len(given) != 1:
        raise InvalidInput(f"forget takes one of {', '.join(wanted)}; {len(given)} were given")
    ((kind, value),) = given.items()
    if isinstance(value, Scope):
        return scope_target(store, workspace, value)
    makers = {"user": user_target, "event": event_target, "memory": memory_target}
    return makers[kind](store, workspace, str_only(value, kind))


def forget(store: Store, workspace: WorkspaceId, target: Target, *, now: datetime) -> ForgetReport:
    started = time.perf_counter()
    target = _with_dossiers(store, workspace, target)
    named = [memory.id for memory in target.memories]
    events, resting = _all_that_goes(store, workspace, target)
    event_ids = list(events)
    doomed = {memory.id: memory for memory in (*target.memories, *resting)}
    stones = [Tombstone(kind=kind, digest=what, at=now) for kind, what in target.stones]
    stones += [Tombstone(kind="event", digest=id, at=now) for id in event_ids]
    ties = [*event_ids, *doomed, *(stone.digest for stone in stones)]
    pieces = list(_pieces(store, workspace, events.values(), doomed.values()))
    pieces += _pieces_of_windows(store.window.tied_to(workspace, ties))
    recorded = store.audit.naming(workspace, target.names) if target.names else {}
    pieces += _pieces_of_audit(recorded.values())
    store.audit.blank(workspace, list(recorded))
    with store.recording(workspace, _entry(target, now, len(doomed), len(recorded))):
        erased = store.eraser.erase(
            workspace, events=event_ids, memories=list(doomed), tombstones=stones
        )
    others = _other_sources(store, workspace, doomed, {*event_ids, *named})
    again = store.queue.requeue(workspace, others, now=now)
    _stand_in_again(store, workspace, doomed.values())
    late = [memory.id for memory in _made_for(store, workspace, target.drawer)]
    if late:  # somebody was just making them
        store.eraser.erase(workspace, events=[], memories=late, tombstones=[])
    residue = store.eraser.residue(workspace, pieces)
    return ForgetReport(
        what=target.what,
        erased=erased,
        derived_again=again,
        tombstones=len(stones),
        files_searched=tuple(residue),
        residue=sum(residue.values()),
        seconds=time.perf_counter() - started,
        by_file=residue,
    )


def _with_dossiers(store: Store, workspace: WorkspaceId, target: Target) -> Target:
    """And what was made for the readers of a drawer that goes: it may cite nothing of there."""
    made = _made_for(store, workspace, target.drawer)
    return replace(target, memories=(*target.memories, *made))


def _made_for(
    store: Store, workspace: WorkspaceId, drawer: Callable[[Scope], bool]
) -> list[Memory]:
    kind = Condition("kind", Op.EQ, MemoryKind.DOSSIER)
    found = store.memories.find(administrator_grant(workspace), where=kind)
    return [memory for memory in found if any(map(drawer, memory.label))]


def _all_that_goes(
    store: Store, workspace: WorkspaceId, target: Target
) -> tuple[dict[str, Event], list[Memory]]:
    """The events that go, those by which something of it was shared too, and what rests on them."""
    everything = administrator_grant(workspace)
    events = {event.id: event for event in target.events}
    named = [memory.id for memory in target.memories]
    while True:
        resting = store.eraser.derived(workspace, [*events, *named])
        acts = [id for id in shared_by((*target.memories, *resting)) if id not in events]
        fresh = store.ledger.get(everything, acts)
        if not fresh:
            return events, resting
        events |= {event.id: event for event in fresh}


def _stand_in_again(store: Store, workspace: WorkspaceId, doomed: Iterable[Memory]) -> None:
    """What is left of several that said the same has a representative of its own, if any."""
    links = [memory for memory in doomed if memory.body.get("relation") == Relation.SAME_AS]
    members = {id for link in links for id in link.body["members"]}
    left = store.memories.get(administrator_grant(workspace), sorted(members))
    refresh(store, workspace, left)


def _other_sources(
    store: Store, workspace: WorkspaceId, doomed: dict[str, Memory], gone: set[str]
) -> list[str]:
    """The events that what was removed also rested on, and that are still there.

    Not those of episodes and links: these are made again from what is left, and nothing is learned
    again.
    """
    others = (memory for memory in doomed.values() if not _told_otherwise(memory))
    rested_on = {id for memory in others for id in memory.sources}
    survivors = store.ledger.get(administrator_grant(workspace), sorted(rested_on - gone))
    return [event.id for event in survivors]


def _told_otherwise(memory: Memory) -> bool:
    return tells_of_time(memory) or memory.kind is MemoryKind.LINK


def _pieces(
    store: Store, workspace: WorkspaceId, events: Iterable[Event], memories: Iterable[Memory]
) -> Iterator[bytes]:
    """Samples of what is to go, as it is spelt on disk."""
    memories = list(memories)
    events = list(events)
    texts = {event.text for event in events} | {memory.text for memory in memories}
    texts |= {str(event.scope) for event in events if event.scope.owner}  # they hold a name
    samples = [piece for text in sorted(texts) for piece in _cut(text)]
    yield from samples[:: len(samples) // MOST_PIECES + 1]
    ids = [memory.id for memory in memories]
    for profile in store.vectors.profiles():
        vectors = store.vectors.get(administrator_grant(workspace), profile, ids)
        yield from filter(None, (_telling(row.astype("<f4").tobytes()) for row in vectors.values()))


def _pieces_of_windows(items: Iterable[WindowItem]) -> list[bytes]:
    """Samples of notes, thoughts, summaries and contexts that are to go."""
    texts = sorted({text for item in items for text in _texts_in([item.key, item.value])})
    samples = [piece for text in texts for piece in _cut(text)]
    return samples[:: len(samples) // MOST_PIECES + 1]


def _pieces_of_audit(contents: Iterable[str]) -> list[bytes]:
    """Samples of questions and names in entries that are to go."""
    told = [json.loads(content) for content in contents]
    texts = {name for each in told for name in each["people"]}
    texts |= {each["detail"].get("question", "") for each in told}
    samples = [piece for text in sorted(texts) for piece in _cut(text)]
    return samples[:: len(samples) // MOST_PIECES + 1]


def _entry(target: Target, now: datetime, memories: int, recorded: int) -> Entry:
    """What is recorded of it: no name and no word, but for the digests that tombstones have."""
    ids = [what for _, what in target.stones] or [event.id for event in target.events]
    detail: dict[str, Json] = {
        "what": target.what.partition(" ")[0].partition(":")[0],
        "ids": list(ids),
        "events": len(target.events),
        "memories": memories,
        "audit": recorded,
    }
    return Entry(at=now, action="forget", actor=ADMINISTRATOR, detail=detail)


def _texts_in(value: Json) -> Iterator[str]:
    if isinstance(value, str) and not NO_TEXT.fullmatch(value):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts_in(inner)


def _telling(vector: bytes) -> bytes:
    """A part that is not mostly zeros: those are everywhere in a file."""
    cuts = (vector[cut : cut + PIECE] for cut in range(0, len(vector) - PIECE + 1, 4))
    return next((piece for piece in cuts if piece.count(0) <= PIECE // 2), b"")


def _cut(text: str) -> Sequence[bytes]:
    spelt = canonical_json(text)[1:-1]
    pieces = [spelt[cut : cut + PIECE].encode() for cut in range(0, len(spelt), PIECE)]
    return [piece for piece in pieces if len(piece) >= PIECE // 2]
