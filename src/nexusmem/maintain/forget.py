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
from ..core.derive import is_span_episode, normalize_name
from ..core.errors import InvalidInput, NotFound
from ..core.filters import Condition, Op
from ..core.flows import ALL_FLOW_SCOPES, memory_scopes
from ..core.ids import WorkspaceId, check_name, digest, require_str
from ..core.protocols.store import Store
from ..core.records import ErasureCounts, Event, EventKind, Json, Memory, MemoryKind, Tombstone
from ..core.records.links import LinkRelation, share_event_ids
from ..core.records.memory import is_copy, statement_key
from ..core.records.window import WindowItem
from ..core.scope import Scope
from ..text.terms import normalize_words
from .dossiers import VERSION_SOURCE, version_prefix
from .jobs.consolidate import refresh_representatives

PIECE_BYTES = 24  # long enough to be unique
ID_OR_TIME = re.compile(
    r"[0-9a-f]{32}(:\d+)?|\d{4}-\d\d-\d\dT[\d:.]+Z"
)  # ids and times are no proof of residue: other records contain them, too
MAX_PIECES = 2_000
LEARNED_KINDS = (MemoryKind.FACT, MemoryKind.LANDMARK, MemoryKind.ENTITY, MemoryKind.EPISODE)
STATED_KINDS = (MemoryKind.FACT, MemoryKind.LANDMARK)
MIN_STATED_SHARE = 0.5  # of a statement's words: a passage with fewer of them says something else
MAX_NAMED = 100  # memories that are read to find another mention of a name


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
    copy_scopes: tuple[Scope, ...] = ()  # of these, the ones that flows copy to
    unlearned: tuple[str, ...] = ()  # events that stay, and are not learned again


def user_target(store: Store, workspace: WorkspaceId, user: str) -> ForgetTarget:
    """Target every event by this user, and all events and memories in scopes that the user owns.

    A flow may have copied there what other people said. Their events stay.
    """
    check_name(user, "the user")
    everything = administrator_grant(workspace)
    theirs = tuple(e for e in store.ledger.find(everything) if user in (e.speaker, e.scope.owner))
    owned = [each for each in store.memories.find(everything) if each.scope.owner == user]
    copies = _without_sources(owned, theirs)
    tombstone = ("user", digest("user", user))
    return ForgetTarget(
        f"user {user}",
        theirs,
        memories=copies,
        tombstones=(tombstone,),
        names=(user,),
        matches_scope=lambda scope: scope.owner == user,
        copy_scopes=(Scope.private(user), Scope.user(user)),
        unlearned=_source_ids(copies),
    )


def scope_target(store: Store, workspace: WorkspaceId, scope: Scope) -> ForgetTarget:
    grant = administrator_grant(workspace).narrow_to([scope])
    tombstone = ("scope", digest("scope", str(scope)))
    events = tuple(store.ledger.find(grant))
    copies = _without_sources(_find_in_scopes(store, workspace, [scope]), events)
    return ForgetTarget(
        str(scope),
        events,
        memories=copies,
        tombstones=(tombstone,),
        names=(str(scope),),
        matches_scope=lambda each: each == scope,
        copy_scopes=(scope,),
        unlearned=_source_ids(copies),
    )


def _find_in_scopes(
    store: Store, workspace: WorkspaceId, scopes: Sequence[Scope]
) -> Iterator[Memory]:
    """Yield the memories of these scopes, also those that flows copied there."""
    for scope in scopes:
        here = administrator_grant(workspace).narrow_to([scope, *ALL_FLOW_SCOPES])
        yield from (each for each in store.memories.find(here) if each.scope == scope)


def _without_sources(memories: Iterable[Memory], events: Sequence[Event]) -> tuple[Memory, ...]:
    """Return the memories of other events: those of these events are erased with them."""
    ids = {event.id for event in events}
    return tuple(each for each in memories if ids.isdisjoint(each.sources))


def _source_ids(memories: Iterable[Memory]) -> tuple[str, ...]:
    return tuple(sorted({id for memory in memories for id in memory.sources}))


def event_target(store: Store, workspace: WorkspaceId, id: str) -> ForgetTarget:
    events = store.ledger.get(administrator_grant(workspace), [id])
    if not events:
        raise NotFound(f"no event {id!r} in this workspace")
    return ForgetTarget(f"event {id}", tuple(events))


def memory_target(store: Store, workspace: WorkspaceId, id: str) -> ForgetTarget:
    """Target one memory with its copies. The event of a note has the same text and is erased, too.

    A message stays in the ledger: the memory is only derived from it. With a passage, what was
    learned from the same message is targeted, too, because it repeats the text.
    """
    everything = administrator_grant(workspace)
    memories = store.memories.get(everything, [id])
    if not memories:
        raise NotFound(f"no memory {id!r} in this workspace")
    sources = store.ledger.get(everything, [id for memory in memories for id in memory.sources])
    notes = tuple(event for event in sources if event.kind is EventKind.NOTE)
    learned = [] if notes else find_learned(store, workspace, memories[0])
    named = [*memories, *learned, *_find_versions(store, workspace, memories[0])]
    copies = find_copies(store, workspace, named)
    is_passage = memories[0].kind is MemoryKind.PASSAGE
    return ForgetTarget(
        f"memory {id}",
        notes,
        memories=(*named, *copies),
        tombstones=tuple(("memory", each.id) for each in (*named, *copies)),
        unlearned=tuple(event.id for event in sources) if is_passage else (),
    )


def _find_versions(store: Store, workspace: WorkspaceId, memory: Memory) -> list[Memory]:
    """Return the earlier versions of a dossier, which repeat parts of its text."""
    if memory.kind is not MemoryKind.DOSSIER or "mark" not in memory.body:
        return []
    here = administrator_grant(workspace).narrow_to(memory.label)
    where = Condition("source", Op.EQ, VERSION_SOURCE)
    prefix = version_prefix(memory.slot)
    return [each for each in store.memories.find(here, where=where) if each.slot.startswith(prefix)]


def copy_target(store: Store, workspace: WorkspaceId, copy: Memory) -> ForgetTarget:
    """Target one copy that a flow made; the original and the copies in other scopes stay.

    With the copy of a passage, its facts in the same scope are targeted, too.
    """
    named = [copy, *find_learned(store, workspace, copy)]
    return ForgetTarget(
        f"memory {copy.id}",
        memories=tuple(named),
        tombstones=tuple(("memory", each.id) for each in named),
        unlearned=copy.sources,
    )


def find_learned(store: Store, workspace: WorkspaceId, passage: Memory) -> list[Memory]:
    """Return what was learned from the message of a passage and is stated nowhere else.

    For a copied passage, these are copies in the same scope. Of a long message with several
    passages, the others keep what they state. Episodes that cite the message are erased, too.
    """
    if passage.kind is not MemoryKind.PASSAGE:
        return []
    source = passage.sources[0]
    derived = store.eraser.list_derived(workspace, [source])
    copied = is_copy(passage)
    own = [
        each
        for each in derived
        if each.sources[0] == source
        and is_copy(each) == copied
        and each.id != passage.id
        and (not copied or each.scope == passage.scope)
    ]
    others = [
        each for each in own if each.kind is MemoryKind.PASSAGE and each.scope == passage.scope
    ]
    learned = [
        each
        for each in own
        if each.kind in LEARNED_KINDS
        and not is_span_episode(each)
        and not any(_stated_share(other.text, each) == 1 for other in others)
    ]
    spans = [each for each in derived if is_span_episode(each) and source in each.sources]
    gone = {passage.id, *(each.id for each in (*learned, *spans))}
    return [
        each
        for each in (*learned, *([] if copied else spans))
        if each.kind is not MemoryKind.ENTITY or not _is_named_elsewhere(store, each, gone)
    ]


def _is_named_elsewhere(store: Store, entity: Memory, gone: set[str]) -> bool:
    """Return whether memories that stay have the name of an entity: it is recorded only once."""
    scopes = {*memory_scopes(entity.scope), *entity.label}
    here = administrator_grant(entity.workspace).narrow_to(scopes)
    names = [normalize_name(str(entity.body.get("name", "")))]
    found = store.memories.find_by_name(here, names, limit=MAX_NAMED)
    return any(each.id not in gone and each.kind is not MemoryKind.ENTITY for each in found)


def find_copies(store: Store, workspace: WorkspaceId, memories: Sequence[Memory]) -> list[Memory]:
    """Return the copies that flows made of these memories, and passages that state them."""
    sources = _source_ids(memories)
    known = {memory.id for memory in memories}
    derived = store.eraser.list_derived(workspace, sources) if sources else []
    copies = [each for each in derived if is_copy(each) and each.id not in known]
    return [each for each in copies if any(_repeats(each, memory) for memory in memories)]


def _repeats(copy: Memory, memory: Memory) -> bool:
    """Return whether a copy says what a memory says."""
    if copy.kind is MemoryKind.PASSAGE and memory.kind in STATED_KINDS:
        same_message = copy.sources[0] == memory.sources[0]
        return same_message and _stated_share(copy.text, memory) >= MIN_STATED_SHARE
    if statement_key(copy) != statement_key(memory):
        return False
    parts = {_part(copy), _part(memory)} - {""}  # of a long message; "": all or several of them
    return copy.kind is not MemoryKind.PASSAGE or len(parts) <= 1


def _part(passage: Memory) -> str:
    return passage.slot.partition(":")[2] if is_copy(passage) else passage.slot


def _stated_share(text: str, memory: Memory) -> float:
    """Return the share of the words of a fact, a landmark or an entity that a text has."""
    body = memory.body
    value = body.get("object") or body.get("value") or body.get("name") or memory.text
    words = set(normalize_words(str(value)).split())
    said = set(normalize_words(text).split())
    return len(words & said) / len(words) if words else 1.0


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
    copies = {memory.id for memory in target.memories}
    target = _add_dossiers(store, workspace, target)
    named = [memory.id for memory in target.memories]
    events, derived = _collect_derived(store, workspace, target)
    event_ids = list(events)
    doomed = {memory.id: memory for memory in (*target.memories, *derived)}
    copies -= {what for _, what in target.tombstones}
    stones = [Tombstone(kind=kind, digest=what, at=now) for kind, what in target.tombstones]
    stones += [Tombstone(kind="memory", digest=id, at=now) for id in sorted(copies)]
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
    remaining = _other_sources(store, workspace, doomed, {*event_ids, *named, *target.unlearned})
    again = store.queue.reset_events(workspace, remaining, now=now)
    _refresh_links(store, workspace, doomed.values())
    _erase_late(store, workspace, target, now)
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


def _erase_late(store: Store, workspace: WorkspaceId, target: ForgetTarget, now: datetime) -> None:
    """Erase dossiers and copies that a worker stored during the erasure."""
    dossiers = _find_dossiers_for(store, workspace, target.matches_scope)
    found = _find_in_scopes(store, workspace, target.copy_scopes)
    copies = [each.id for each in found if each.recorded_at <= now]
    late = [*(each.id for each in dossiers), *copies]
    if late:
        stones = [Tombstone(kind="memory", digest=id, at=now) for id in copies]
        store.eraser.erase(workspace, events=[], memories=late, tombstones=stones)


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
