"""Everything one viewer can observe of a Nexus, as plain data.

The viewer knows every id, key and name in the world and asks for all of them.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from ...compose.layers import LAYERS
from ...compose.receipts import ContextExplanation
from ...core.access import Label, Viewer
from ...core.filters import parse_filter
from ...core.ids import WorkspaceId
from ...core.records import Hits, MemoryKind
from ...core.records.context import Context
from ...core.records.window import WindowItem, WindowSlot
from ...core.scope import Scope
from ...embedders.feature_hash import HashingEmbedder
from ...place.place import Place
from ...recall.views.episodes import embed_question, find_episodes
from ...recall.views.message_neighbours import load_neighbours
from ...text.terms import query_terms
from .operations import START, EventRef, World

QUESTIONS = ("tea and secrets", "who likes the blue heron?", "ledger heron tea")
WORDS = " ".join(QUESTIONS).split()
NICKNAMES = ("bob", "Bob Hale", "robert")
NAME_QUESTIONS = (  # about one name, a connection, a list of two people, and with misspelt names
    *(f"Tell me about {name}" for name in ("heron", "ledger", "alice", "robert")),
    "How are alice and bob connected?",
    "what is the link between tea and the ledger?",
    "What pets do alice and bob have?",
    "What do Alice and Bob have in common?",
    "What does Allice say about the Herron and Rob?",
)
SUBJECTS = ("tea", "heron", "ledger")  # of dossiers
QUESTION_TERMS = query_terms(" ".join(QUESTIONS))
MAX_COPIED_EVENTS = 3
MAX_KNOWN_EVENTS = 6  # event ids that are tried, newest first
DAY = timedelta(days=1)

ReadCall = Callable[[World, Place, list[EventRef]], Any]


def _recall_question(question: int = 0, **more: Any) -> ReadCall:
    return lambda _world, place, _known: place.recall(QUESTIONS[question], **more)


def _recall_in(scope: Callable[[EventRef], str]) -> ReadCall:
    return lambda _world, place, known_events: [
        call_or_error(lambda: place.recall(QUESTIONS[0], scope=name))  # noqa: B023
        for name in sorted({scope(ref) for ref in known_events})
    ]


def _for_each_event(read: Callable[[Place, EventRef], Any]) -> ReadCall:
    def read_all(_world: World, place: Place, known_events: list[EventRef]) -> Any:
        return [call_or_error(lambda: read(place, ref)) for ref in known_events]  # noqa: B023

    return read_all


def _for_each_memory(read: Callable[[Place, str], Any]) -> ReadCall:
    return _for_each_event(
        lambda place, ref: [call_or_error(lambda: read(place, id)) for id in ref.memory_ids]  # noqa: B023
    )


def _all_ids(events: list[EventRef]) -> list[str]:
    return [id for ref in events for id in (ref.id, *ref.memory_ids)]


def _read_copies(world: World, place: Place, events: list[EventRef]) -> Any:
    """Read what flows may have copied from the newest events, by the ids of the copies."""
    people = sorted({name for ref in world.known_events for name in ref.scope.ids})
    profiles = [scope(name) for name in people for scope in (Scope.private, Scope.user)]
    targets = [*profiles, Scope.project("p"), Scope.project("q")]
    ids = [id for ref in events[:MAX_COPIED_EVENTS] for id in ref.copy_ids(targets)]
    return (
        world.store.memories.get(place.grant, ids),
        [call_or_error(lambda: place.why_visible(id)) for id in ids],  # noqa: B023
        world.store.ledger.get(place.grant, ids),
    )


def _export_archive(world: World, place: Place, _known: list[EventRef]) -> str:
    out = io.StringIO()
    workspace = world.nexus.workspace(place.viewer.workspace.value)
    exported = workspace.export(out, grant=place.grant, vectors=True)
    return f"{exported}\n{out.getvalue()}"


def _nearest_vectors(
    world: World, place: Place, _known: list[EventRef], *, learned: bool = False
) -> Any:
    embedder = HashingEmbedder()
    vector = embedder.embed([QUESTIONS[0]])[0]
    return world.store.vectors.find_nearest(
        place.grant, embedder.profile, vector, limit=20, learned=learned
    )


def _read_vectors(world: World, place: Place, events: list[EventRef]) -> Any:
    profile = HashingEmbedder().profile
    found = world.store.vectors.get(place.grant, profile, _all_ids(events))
    return {id: vector.tobytes() for id, vector in found.items()}


def _list_missing(world: World, place: Place, _known: list[EventRef]) -> Any:
    profile = HashingEmbedder().profile
    return {m.id for m in world.store.vectors.list_missing(place.grant, profile, limit=999)}


def _list_pages(place: Place) -> Any:
    """Return every page of the listing, including the cursors."""
    pages = [place.memories(limit=4)]
    while pages[-1].cursor:
        pages.append(place.memories(limit=4, cursor=pages[-1].cursor))
    return pages


def _read_audit(world: World, place: Place, _known: list[EventRef]) -> Any:
    """Flush pending read entries, then query the audit log. Only an administrator gets
    entries.
    """
    place._parts.audit.flush()  # noqa: SLF001
    return world.store.audit.find(place.grant, limit=999)


# Reads that depend on the progress of learning come first, because a question triggers learning.
VIEWER_READS: Mapping[str, ReadCall] = {
    "progress": _for_each_event(lambda place, ref: place.progress(ref.receipt)),
    "pending": lambda world, place, _: world.store.queue.count_pending(place.grant),
    "waiting": lambda world, place, _: world.store.queue.list_pending(place.grant, limit=999),
    "progress below": lambda world, place, known_events: world.store.ledger.load_progress(
        place.grant, [ref.id for ref in known_events]
    ),
    "count": lambda world, place, _: world.nexus.workspace(place.viewer.workspace.value).stats(
        grant=place.grant
    ),
    "missing": _list_missing,
    "coverage": lambda world, place, _: world.store.vectors.coverage(
        place.grant, HashingEmbedder().profile
    ),
    "audit": _read_audit,
    "epoch": lambda world, place, _: (
        world.store.epoch(place.grant) + world.store.window.epoch(place.grant)
    ),
    "get": _for_each_memory(lambda place, memory: place.get(memory)),
    "history": _for_each_memory(lambda place, memory: place.history(memory)),
    "sources": _for_each_memory(lambda place, memory: place.source_events(memory)),
    "why visible": _for_each_memory(lambda place, memory: place.why_visible(memory)),
    "copies": _read_copies,
    "get an event's id": _for_each_event(lambda place, ref: place.get(ref.id)),
    "memories": lambda _world, place, _: _list_pages(place),
    "memories of a kind": lambda _world, place, _: [
        place.memories(kind, where={"text": {"contains": "tea"}}) for kind in MemoryKind
    ],
    "landmarks": lambda _world, place, _: (
        place.landmarks(),
        place.landmarks("decision", owner=WORDS[0], open=True),
        place.landmarks(due_before=START + DAY, open=False),
        place.landmarks(at=START + DAY),
        place.landmarks(as_of=START + DAY),
    ),
    "recent": lambda _world, place, _: place.recent(),
    "recent, filtered": lambda _world, place, _: place.recent(
        5, where={"text": {"contains": "tea"}}, since=START, until=START + DAY
    ),
    "keys": lambda world, place, known_events: world.store.ledger.load_keys(
        place.grant, [ref.id for ref in known_events]
    ),
    "events below": lambda world, place, known_events: (
        world.store.ledger.find(place.grant),
        world.store.ledger.get(place.grant, _all_ids(known_events)),
    ),
    "recall": _recall_question(),
    "recall one": _recall_question(1, limit=1),
    "recall many": _recall_question(2, limit=50),
    "recall good ones": _recall_question(0, threshold=0.3),
    "recall likely ones": _recall_question(0, limit=30, min_relevance=0.01),
    "recall facts": _recall_question(1, kind=["fact"]),
    "recall what was learned": _recall_question(2, kind=["fact", "entity", "episode", "landmark"]),
    "recall all kinds today": lambda _world, place, _: place.recall(
        f"{QUESTIONS[2]} today", kind=[each.value for each in MemoryKind], explain=True
    ),
    "recall about names": lambda _world, place, _: [
        place.recall(question, explain=True) for question in NAME_QUESTIONS
    ],
    "recall in time": _recall_question(0, since=START + timedelta(seconds=3), until=START + DAY),
    "recall explained": _recall_question(0, explain=True),
    "recall as of": _recall_question(1, as_of=START + timedelta(seconds=5)),
    "recall today": lambda _world, place, _: place.recall(f"{QUESTIONS[0]} today", explain=True),
    "recall filtered": _recall_question(2, where={"NOT": {"role": "assistant"}}),
    "recall by speaker": lambda _world, place, known_events: [
        place.recall(QUESTIONS[0], where={"OR": [{"speaker": name}, {"scope": str(ref.scope)}]})
        for ref in known_events[:2]
        for name in ref.scope.ids[:1]
    ],
    "recall in a scope": _recall_in(lambda ref: str(ref.scope)),
    "recall in a kind of scope": _recall_in(lambda ref: ref.scope.kind.value),
    "recall words nobody said": lambda _world, place, _: place.recall("zebra quagga ?!"),
    "matching": lambda world, place, _: world.store.memories.search_keywords(
        place.grant, QUESTION_TERMS, limit=20
    ),
    "matching learned": lambda world, place, _: (
        world.store.memories.search_keywords(place.grant, QUESTION_TERMS, limit=20, learned=True),
        world.store.memories.count_matching(place.grant, QUESTION_TERMS),
        world.store.memories.count_matching(place.grant, QUESTION_TERMS, learned=True),
    ),
    "nearest": _nearest_vectors,
    "nearest learned": lambda world, place, _: _nearest_vectors(world, place, _, learned=True),
    "neighbours": lambda world, place, _: world.store.memories.find_neighbours(
        place.grant, [memory.id for memory in world.store.memories.find(place.grant)], reach=2
    ),
    "message neighbours": lambda world, place, _: load_neighbours(
        world.store, place.grant, world.store.memories.find(place.grant)
    ),
    "vectors": _read_vectors,
    "strength": _for_each_event(
        lambda place, ref: [call_or_error(lambda: place.strength(id)) for id in ref.memory_ids]  # noqa: B023
    ),
    "facts": lambda _world, place, _: place.facts(),
    "facts about people": lambda _world, place, known_events: [
        place.facts(subject) for ref in known_events for subject in (str(ref.scope), *ref.scope.ids)
    ],
    "interpret": lambda _world, place, known_events: [
        place.fact_timeline(subject, "color", **when)
        for ref in known_events
        for subject in (str(ref.scope), *ref.scope.ids)
        for when in ({}, {"at": START + DAY}, {"as_of": START + timedelta(seconds=5)})
    ],
    "timelines": lambda _world, place, known_events: [
        place.fact_timelines(subject, **when)
        for ref in known_events
        for subject in (str(ref.scope), *ref.scope.ids)
        for when in ({}, {"at": START + DAY}, {"as_of": START + timedelta(seconds=5)})
    ],
    "profile": lambda _world, place, known_events: [
        place.profile(name)
        for name in (*WORDS, *(name for ref in known_events for name in ref.scope.ids))
    ],
    "sessions": lambda _world, place, _: (
        place.find_sessions(" ".join(QUESTIONS)),
        place.find_sessions(WORDS, limit=50),
    ),
    "stale": lambda _world, place, known_events: [
        call_or_error(lambda: place.outdated_facts(scope))  # noqa: B023
        for scope in (None, *sorted({str(ref.scope) for ref in known_events}))
    ],
    "entity": _for_each_event(
        lambda place, ref: [call_or_error(lambda: place.entity(name)) for name in ref.scope.ids]  # noqa: B023
    ),
    "entities": lambda _world, place, _: place.entities(),
    "parts of names": lambda _world, place, _: [
        call_or_error(lambda: place.entity(word))  # noqa: B023
        for word in (*WORDS, *NICKNAMES)
    ],
    "find entities": lambda _world, place, _: [
        place.find_entities(question, limit=50) for question in (*QUESTIONS, "a person")
    ],
    "neighbourhood": lambda _world, place, known_events: [
        call_or_error(lambda: place.neighbourhood(name, depth=3))  # noqa: B023
        for name in dict.fromkeys(
            (*WORDS, *(name for ref in known_events for name in ref.scope.ids))
        )
    ],
    "episodes": lambda world, place, _: (
        place.episodes(),
        place.episodes("day", since=START, until=START + DAY),
        [place.episodes(about=word) for word in SUBJECTS],
        find_episodes(world.store, place.grant, f"{QUESTIONS[2]} today", START + DAY, limit=50),
        find_episodes(
            world.store,
            place.grant,
            QUESTIONS[1],
            START,
            query_vector=embed_question(place._parts.embedder, place.grant.workspace, QUESTIONS[1]),  # noqa: SLF001
        ),
    ),
    "reviews": lambda _world, place, _: place.reviews.list(None),
    "procedures": lambda _world, place, _: (
        place.procedures.statistics(by_type=True),
        place.procedures.find(),
        place.procedures.find(QUESTIONS[0]),
    ),
    "notebook": lambda _world, place, _: [
        (
            place.notebook.in_scope(str(scope)).list(),
            place.notebook.in_scope(str(scope)).history("notes.md"),
            place.notebook.in_scope(str(scope)).history(f"dossiers/{SUBJECTS[0]}.md"),
        )
        for scope in sorted(place.grant.scopes)
    ],
    "dossiers": lambda _world, place, _: (
        [call_or_error(lambda: place.dossiers.get(name)) for name in SUBJECTS],  # noqa: B023
        place.dossiers.answers(),
        place.dossiers.list(),
        [call_or_error(lambda: place.dossiers.history(name)) for name in SUBJECTS],  # noqa: B023
    ),
    "goals": lambda _world, place, _: (place.goals.list("any"), place.goals.tree("any")),
    "named and between": lambda world, place, known_events: (
        world.store.memories.find_by_name(
            place.grant, [name for ref in known_events for name in ref.scope.ids], limit=99
        ),
        world.store.memories.find_by_name(place.grant, WORDS, limit=99, kinds=[*MemoryKind]),
        world.store.memories.find_by_name(
            place.grant, WORDS, limit=99, kinds=[*MemoryKind], oldest_first=True
        ),
        world.store.memories.find_by_source(
            place.grant, [ref.id for ref in known_events], kinds=[*MemoryKind]
        ),
        world.store.memories.fact_outlines(place.grant, WORDS, limit=99),
        world.store.memories.latest_facts(
            place.grant, sorted(str(ref.scope) for ref in known_events)
        ),
        world.store.memories.ids_between(place.grant, START, START + DAY, limit=99),
        world.store.memories.ids_between(place.grant, START, START + DAY, limit=99, learned=True),
        world.store.memories.load_texts(place.grant, _all_ids(known_events)),
    ),
    "fact": _for_each_event(lambda place, ref: place.get_value(str(ref.scope), "color")),
    "memories below": lambda world, place, known_events: (
        world.store.memories.find(place.grant, where=parse_filter({"text": {"contains": "tea"}})),
        world.store.memories.get(place.grant, _all_ids(known_events)),
    ),
    "window": lambda _world, place, _: place.window(3),
    "window below": lambda world, place, known_events: [
        world.store.window.find(grant, slots=[*WindowSlot], now=world.now)
        for grant in (
            place.grant,
            *(place.grant.narrow_to([ref.scope]) for ref in known_events),
        )
    ],
    "on the table": lambda _world, place, _: (place.notes(), place.thoughts(), place.active_goal()),
    "layers": lambda _world, place, _: [place.layer(name) for name in LAYERS],
    "composed layer": lambda _world, place, _: (
        place.compose(QUESTIONS[0], template="json").text,
        place.layer("L0", examples=50),
    ),
    "compose": lambda _world, place, _: [
        place.compose(question, budget=900, explain=True) for question in (*QUESTIONS, "tea today?")
    ],
    "compose with tools": lambda _world, place, _: place.compose("hello", tools=["recall", "crm"]),
    "compose as of": lambda _world, place, _: place.compose(
        QUESTIONS[0], as_of=START + timedelta(seconds=5)
    ),
    "before and explain": lambda _world, place, _: place.explain(
        place.context_for([{"role": "user", "content": QUESTIONS[2]}], model="claude").id
    ),
    "stuck": lambda _world, place, _: place.flush(),
    "export": _export_archive,
}


@dataclass(frozen=True)
class ViewerRead:
    """One read by one viewer."""

    viewer: Viewer
    name: str
    label: Label | None = None
    event_ref: EventRef | None = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    def run(self, world: World) -> Any:
        known_events = list(dict.fromkeys(reversed(world.known_events)))[:MAX_KNOWN_EVENTS]
        return comparable_answer(
            call_or_error(
                lambda: VIEWER_READS[self.name](world, world.open_place(self.viewer), known_events)
            )
        )


def call_or_error(call: Callable[[], Any]) -> Any:
    """Call a function and return its result, or the error it raised."""
    try:
        return call()
    except Exception as error:  # an error is an answer, too  # noqa: BLE001
        return error


def comparable_answer(answer: Any) -> Any:
    """Return the comparable part of an answer: everything except durations."""
    if isinstance(answer, Exception):
        return type(answer).__name__, str(answer)
    if isinstance(answer, dict):
        return {name: comparable_answer(value) for name, value in answer.items()}
    if isinstance(answer, list | tuple):
        return [comparable_answer(each) for each in answer]
    return _without_seconds(answer)


def _without_seconds(answer: Any) -> Any:
    """Return the same data without any duration."""
    match answer:
        case Hits():
            strategies = tuple(replace(each, seconds=0.0) for each in answer.strategies)
            return replace(answer, seconds=0.0, strategies=strategies)
        case Context() | ContextExplanation():
            return replace(answer, receipt=replace(answer.receipt, seconds={}))
        case WindowItem(slot=WindowSlot.CONTEXT, value=dict() as receipt):
            return replace(answer, value={**receipt, "seconds": {}})
        case _:
            return answer
