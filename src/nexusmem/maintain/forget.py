"""Erasure with proof: delete events and everything derived from them, then search for residue.

Provenance leads from the target to all derived memories, which one transaction deletes. Memories
that also have other sources are derived again from those. At the end the files of the store are
searched for samples of the erased data.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from ..audit.records import ADMINISTRATOR, AuditEntry
from ..core.access import Viewer, administrator_grant
from ..core.canonical import canonical_json
from ..core.derive import is_span_episode
from ..core.errors import InvalidInput, NotFound
from ..core.filters import Condition, Op
from ..core.ids import WorkspaceId, check_name, digest, require_str
from ..core.protocols.store import Store
from ..core.records import ErasureCounts, Event, EventKind, Json, Memory, MemoryKind, Tombstone
from ..core.records.links import LinkRelation, share_event_ids
from ..core.records.memory import is_copy
from ..core.records.window import WindowItem
from ..core.scope import Scope
from .jobs.consolidate import refresh_representatives

PIECE_BYTES = 24  # long enough to be unique
ID_OR_TIME = re.compile(
    r"[0-9a-f]{32}(:\d+)?|\d{4}-\d\d-\d\dT[\d:.]+Z"
)  # ids and times are no proof of residue: other records contain them, too
MAX_PIECES = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgetReport:
    """Counts of erased records by layer, and the residue that a search of every file returned."""

    what: str
    erased: ErasureCounts
    derived_again: int
    tombstones: int
    files_searched: tuple[str, ...]  # or tables, if a server stores the files
    residue: int
    seconds: float
    by_file: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForgetTarget:
    """Events and memories to erase, together with everything derived from them."""

    description: str
    events: tuple[Event, ...] = ()
    memories: tuple[Memory, ...] = ()
    tombstones: tuple[tuple[str, str], ...] = ()
    names: tuple[str, ...] = ()  # that are erased from the audit log, too
    matches_scope: Callable[[Scope], bool] = lambda _: False  # scopes that are erased completely


def user_target(store: Store, workspace: WorkspaceId, user: str) -> ForgetTarget:
    """Target every event by this user, and every event in scopes that the user owns."""
    check_name(user, "the user")
    everything = store.ledger.find(administrator_grant(workspace))
    theirs = tuple(e for e in everything if user in (e.speaker, e.scope.owner))
    tombstone = ("user", digest("user", user))
    return ForgetTarget(
        f"user {user}",
        theirs,
        tombstones=(tombstone,),
        names=(user,),
        matches_scope=lambda scope: scope.owner == user,
    )


def scope_target(store: Store, workspace: WorkspaceId, scope: Scope) -> ForgetTarget:
    grant = administrator_grant(workspace).narrow_to([scope])
    tombstone = ("scope", digest("scope", str(scope)))
    events = tuple(store.ledger.find(grant))
    return ForgetTarget(
        str(scope),
        events,
        tombstones=(tombstone,),
        names=(str(scope),),
        matches_scope=lambda each: each == scope,
    )


def event_target(store: Store, workspace: WorkspaceId, id: str) -> ForgetTarget:
    events = store.ledger.get(administrator_grant(workspace), [id])
    if not events:
        raise NotFound(f"no event {id!r} in this workspace")
    return ForgetTarget(f"event {id}", tuple(events))


def memory_target(store: Store, workspace: WorkspaceId, id: str) -> ForgetTarget:
    """Target one memory. The event of a note is erased with it, because both have one text.

    A message stays in the ledger: the memory is only derived from it.
    """
    everything = administrator_grant(workspace)
    memories = store.memories.get(everything, [id])
    if not memories:
        raise NotFound(f"no memory {id!r} in this workspace")
    sources = store.ledger.get(everything, [id for memory in memories for id in memory.sources])
    notes = tuple(event for event in sources if event.kind is EventKind.NOTE)
    copies = find_copies(store, workspace, memories)
    stones = [("memory", each) for each in (id, *(copy.id for copy in copies))]
    return ForgetTarget(
        f"memory {id}", notes, memories=(*memories, *copies), tombstones=tuple(stones)
    )


def find_copies(store: Store, workspace: WorkspaceId, memories: Sequence[Memory]) -> list[Memory]:
    """Return the copies that flows made of what these memories were derived from."""
    sources = sorted({id for memory in memories for id in memory.sources})
    known = {memory.id for memory in memories}
    derived = store.eraser.list_derived(workspace, sources) if sources else []
    return [each for each in derived if is_copy(each) and each.id not in known]


def choose_target(
    store: Store, workspace: WorkspaceId, selectors: dict[str, str | Scope | None]
) -> ForgetTarget:
    """Return the target of the one selector that is not None; raise InvalidInput otherwise."""
    given = {kind: value for kind, value in selectors.items() if value is not None}
    if len(given) != 1:
        raise InvalidInput(f"forget takes one of {', '.join(selectors)}, got {len(given)}")
    ((kind, value),) = given.items()
    if isinstance(value, Scope):
        return scope_target(store, workspace, value)
    makers = {"user": user_target, "event": event_target, "memory": memory_target}
    return makers[kind](store, workspace, require_str(value, kind))


def forget(
    store: Store,
    workspace: WorkspaceId,
    target: ForgetTarget,
    *,
    now: datetime,
    by: Viewer | None = None,
) -> ForgetReport:
    """Erase the target and everything derived from it; `by` is the viewer for the audit log."""
    started = time.perf_counter()
    target = _add_dossiers(store, workspace, target)
    named = [memory.id for memory in target.memories]
    events, derived = _collect_derived(store, workspace, target)
    event_ids = list(events)
    doomed = {memory.id: memory for memory in (*target.memories, *derived)}
    stones = [Tombstone(kind=kind, digest=what, at=now) for kind, what in target.tombstones]
    stones += [Tombstone(kind="event", digest=id, at=now) for id in event_ids]
    ties = [*event_ids, *doomed, *(stone.digest for stone in stones)]
    pieces = list(_sample_records(store, workspace, events.values(), doomed.values()))
    pieces += _sample_windows(store.window.find_dependents(workspace, ties))
    recorded = store.audit.find_mentions(workspace, target.names) if target.names else {}
    pieces += _sample_audit(recorded.values())
    store.audit.erase_contents(workspace, list(recorded))
    with store.with_audit_entry(
        workspace, _audit_entry(target, now, len(doomed), len(recorded), by)
    ):
        erased = store.eraser.erase(
            workspace, events=event_ids, memories=list(doomed), tombstones=stones
        )
    remaining = _other_sources(store, workspace, doomed, {*event_ids, *named})
    again = store.queue.reset_events(workspace, remaining, now=now)
    _refresh_links(store, workspace, doomed.values())
    late = [memory.id for memory in _find_dossiers_for(store, workspace, target.matches_scope)]
    if late:  # a worker stored them during the erasure
        store.eraser.erase(workspace, events=[], memories=late, tombstones=[])
    residue = store.eraser.find_residue(workspace, pieces)
    return ForgetReport(
        what=target.description,
        erased=erased,
        derived_again=again,
        tombstones=len(stones),
        files_searched=tuple(residue),
        residue=sum(residue.values()),
        seconds=time.perf_counter() - started,
        by_file=residue,
    )


def erase_replaced(
    store: Store, workspace: WorkspaceId, memories: Sequence[Memory], *, now: datetime
) -> None:
    """Erase memories that a correction replaces; the events behind them stay in the ledger.

    Tombstones keep them from being derived again. Shared copies are erased, too. Memories that also
    have other source events are derived again without the replaced ones.
    """
    memories = [*memories, *find_copies(store, workspace, memories)]
    events, derived = _collect_derived(store, workspace, ForgetTarget("", memories=tuple(memories)))
    doomed = {memory.id: memory for memory in (*memories, *derived)}
    stones = [Tombstone(kind="memory", digest=memory.id, at=now) for memory in memories]
    stones += [Tombstone(kind="event", digest=id, at=now) for id in events]
    store.eraser.erase(workspace, events=list(events), memories=list(doomed), tombstones=stones)
    again = _other_sources(store, workspace, doomed, {*events, *(each.id for each in memories)})
    store.queue.reset_events(workspace, again, now=now)
    _refresh_links(store, workspace, doomed.values())


def _add_dossiers(store: Store, workspace: WorkspaceId, target: ForgetTarget) -> ForgetTarget:
    """Add dossiers built for readers of an erased scope, even if they cite nothing of it."""
    dossiers = _find_dossiers_for(store, workspace, target.matches_scope)
    return replace(target, memories=(*target.memories, *dossiers))


def _find_dossiers_for(
    store: Store, workspace: WorkspaceId, matches_scope: Callable[[Scope], bool]
) -> list[Memory]:
    kind = Condition("kind", Op.EQ, MemoryKind.DOSSIER)
    dossiers = store.memories.find(administrator_grant(workspace), where=kind)
    return [memory for memory in dossiers if any(map(matches_scope, memory.label))]


def _collect_derived(
    store: Store, workspace: WorkspaceId, target: ForgetTarget
) -> tuple[dict[str, Event], list[Memory]]:
    """Return the events to erase, including share events, and all memories derived from them."""
    everything = administrator_grant(workspace)
    events = {event.id: event for event in target.events}
    named = [memory.id for memory in target.memories]
    while True:
        derived = store.eraser.list_derived(workspace, [*events, *named])
        shares = [id for id in share_event_ids((*target.memories, *derived)) if id not in events]
        new = store.ledger.get(everything, shares)
        if not new:
            return events, derived
        events |= {event.id: event for event in new}


def _refresh_links(store: Store, workspace: WorkspaceId, doomed: Iterable[Memory]) -> None:
    """Choose new representatives for duplicates that remain of an erased group."""
    links = [memory for memory in doomed if memory.body.get("relation") == LinkRelation.SAME_AS]
    members = {id for link in links for id in link.body["members"]}
    left = store.memories.get(administrator_grant(workspace), sorted(members))
    refresh_representatives(store, workspace, left)


def _other_sources(
    store: Store, workspace: WorkspaceId, doomed: dict[str, Memory], gone: set[str]
) -> list[str]:
    """Return the remaining source events of erased memories, which are then learned again.

    Sources of episodes and links are left out: jobs rebuild these.
    """
    learned = (memory for memory in doomed.values() if not _is_rebuilt(memory))
    sources = {id for memory in learned for id in memory.sources}
    survivors = store.ledger.get(administrator_grant(workspace), sorted(sources - gone))
    return [event.id for event in survivors]


def _is_rebuilt(memory: Memory) -> bool:
    return is_span_episode(memory) or memory.kind is MemoryKind.LINK


def _sample_records(
    store: Store, workspace: WorkspaceId, events: Iterable[Event], memories: Iterable[Memory]
) -> Iterator[bytes]:
    """Yield samples of the records and vectors to erase, encoded as on disk."""
    memories = list(memories)
    events = list(events)
    texts = {event.text for event in events} | {memory.text for memory in memories}
    texts |= {
        str(event.scope) for event in events if event.scope.owner
    }  # such a scope contains a name
    samples = [piece for text in sorted(texts) for piece in _cut_pieces(text)]
    yield from samples[:: len(samples) // MAX_PIECES + 1]
    ids = [memory.id for memory in memories]
    for profile in store.vectors.list_profiles():
        vectors = store.vectors.get(administrator_grant(workspace), profile, ids)
        yield from filter(
            None, (_nonzero_piece(row.astype("<f4").tobytes()) for row in vectors.values())
        )


def _sample_windows(items: Iterable[WindowItem]) -> list[bytes]:
    """Return samples of the notes, thoughts, summaries and contexts to erase."""
    texts = sorted({text for item in items for text in _iter_texts([item.key, item.value])})
    samples = [piece for text in texts for piece in _cut_pieces(text)]
    return samples[:: len(samples) // MAX_PIECES + 1]


def _sample_audit(contents: Iterable[str]) -> list[bytes]:
    """Return samples of the questions and names in the audit entries to erase."""
    entries = [json.loads(content) for content in contents]
    texts = {name for each in entries for name in each["people"]}
    texts |= {each["detail"].get("question", "") for each in entries}
    samples = [piece for text in sorted(texts) for piece in _cut_pieces(text)]
    return samples[:: len(samples) // MAX_PIECES + 1]


def _audit_entry(
    target: ForgetTarget, now: datetime, memories: int, recorded: int, by: Viewer | None
) -> AuditEntry:
    """Return the audit entry: it has digests and counts, and no name or text of the target."""
    ids = [what for _, what in target.tombstones] or [event.id for event in target.events]
    detail: dict[str, Json] = {
        "what": target.description.partition(" ")[0].partition(":")[0],
        "ids": list(ids),
        "events": len(target.events),
        "memories": memories,
        "audit": recorded,
    }
    if by is None:
        return AuditEntry(at=now, action="forget", actor=ADMINISTRATOR, detail=detail)
    people = tuple(person.value for person in by.people)
    return AuditEntry(
        at=now,
        action="forget",
        actor=by.agent.value,
        place=str(by.home),
        people=people,
        detail=detail,
    )


def _iter_texts(value: Json) -> Iterator[str]:
    if isinstance(value, str) and not ID_OR_TIME.fullmatch(value):
        yield value
    elif isinstance(value, list | dict):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _iter_texts(inner)


def _nonzero_piece(vector: bytes) -> bytes:
    """Return a piece with few zero bytes: zeros are everywhere in a file."""
    cuts = (vector[cut : cut + PIECE_BYTES] for cut in range(0, len(vector) - PIECE_BYTES + 1, 4))
    return next((piece for piece in cuts if piece.count(0) <= PIECE_BYTES // 2), b"")


def _cut_pieces(text: str) -> Sequence[bytes]:
    encoded = canonical_json(text)[1:-1]
    cuts = range(0, len(encoded), PIECE_BYTES)
    pieces = [encoded[cut : cut + PIECE_BYTES].encode() for cut in cuts]
    return [piece for piece in pieces if len(piece) >= PIECE_BYTES // 2]
