"""Everything one viewer can find out about a Nexus, as data.

The viewer knows every id, key and name of everybody, and asks for all of it.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from ..compose.explain import Explained
from ..core.access import Label, Viewer
from ..core.context import Context
from ..core.filters import parse_filter
from ..core.ids import WorkspaceId
from ..core.records import Found, MemoryKind
from ..core.text import query_terms
from ..core.window import Slot, WindowItem
from ..embedders.hashing import HashingEmbedder
from ..place import Place
from ..recall.episodes import episodes_for, pointed_at
from .operations import START, Ref, World

QUESTIONS = ("tea and secrets", "who likes the blue heron?", "ledger heron tea")
WORDS = " ".join(QUESTIONS).split()
SUBJECTS = ("tea", "heron", "ledger")  # of dossiers
ASKED = query_terms(" ".join(QUESTIONS))
MOST_KNOWN = 6  # events whose ids are tried, newest first
DAY = timedelta(days=1)

Ask = Callable[[World, Place, list[Ref]], Any]


def _recall(question: int = 0, **more: Any) -> Ask:
    return lambda _world, place, _known: place.recall(QUESTIONS[question], **more)


def _recall_in(scope: Callable[[Ref], str]) -> Ask:
    return lambda _world, place, known: [
        attempt(lambda: place.recall(QUESTIONS[0], scope=name))  # noqa: B023
        for name in sorted({scope(ref) for ref in known})
    ]


def _each(ask: Callable[[Place, Ref], Any]) -> Ask:
    def every(_world: World, place: Place, known: list[Ref]) -> Any:
        return [attempt(lambda: ask(place, ref)) for ref in known]  # noqa: B023

    return every


def _of_memories(ask: Callable[[Place, str], Any]) -> Ask:
    return _each(lambda place, ref: [attempt(lambda: ask(place, id)) for id in ref.memory_ids])  # noqa: B023


def _ids(known: list[Ref]) -> list[str]:
    return [id for ref in known for id in (ref.id, *ref.memory_ids)]


def _export(world: World, place: Place, _known: list[Ref]) -> str:
    out = io.StringIO()
    workspace = world.nexus.workspace(place.viewer.workspace.value)
    exported = workspace.export(out, grant=place.grant, vectors=True)
    return f"{exported}\n{out.getvalue()}"


def _nearest(world: World, place: Place, _known: list[Ref], *, learned: bool = False) -> Any:
    embedder = HashingEmbedder()
    vector = embedder.embed([QUESTIONS[0]])[0]
    return world.store.vectors.nearest(
        place.grant, embedder.profile, vector, limit=20, learned=learned
    )


def _vectors(world: World, place: Place, known: list[Ref]) -> Any:
    profile = HashingEmbedder().profile
    found = world.store.vectors.get(place.grant, profile, _ids(known))
    return {id: vector.tobytes() for id, vector in found.items()}


def _missing(world: World, place: Place, _known: list[Ref]) -> Any:
    profile = HashingEmbedder().profile
    return {m.id for m in world.store.vectors.missing(place.grant, profile, limit=999)}


def _audit(world: World, place: Place, _known: list[Ref]) -> Any:
    """What was asked up to here is written down: nobody but an administrator finds any of it."""
    place._parts.audit.flush()  # noqa: SLF001
    return world.store.audit.find(place.grant, limit=999)


# What depends on how far learning came stands first: asking questions learns.
LOOKS: Mapping[str, Ask] = {
    "progress": _each(lambda place, ref: place.progress(ref.receipt)),
    "pending": lambda world, place, _: world.store.queue.pending(place.grant),
    "waiting": lambda world, place, _: world.store.queue.waiting(place.grant, limit=999),
    "progress below": lambda world, place, known: world.store.ledger.progress(
        place.grant, [ref.id for ref in known]
    ),
    "count": lambda world, place, _: world.nexus.workspace(place.viewer.workspace.value).stats(
        grant=place.grant
    ),
    "missing": _missing,
    "coverage": lambda world, place, _: world.store.vectors.coverage(
        place.grant, HashingEmbedder().profile
    ),
    "audit": _audit,
    "epoch": lambda world, place, _: (
        world.store.epoch(place.grant) + world.store.window.epoch(place.grant)
    ),
    "get": _of_memories(lambda place, memory: place.get(memory)),
    "sources": _of_memories(lambda place, memory: place.sources(memory)),
    "get an event's id": _each(lambda place, ref: place.get(ref.id)),
    "recent": lambda _world, place, _: place.recent(),
    "recent, filtered": lambda _world, place, _: place.recent(
        5, where={"text": {"contains": "tea"}}, since=START, until=START + DAY
    ),
    "keys": lambda world, place, known: world.store.ledger.keys(
        place.grant, [ref.id for ref in known]
    ),
    "events below": lambda world, place, known: (
        world.store.ledger.find(place.grant),
        world.store.ledger.get(place.grant, _ids(known)),
    ),
    "recall": _recall(),
    "recall one": _recall(1, limit=1),
    "recall many": _recall(2, limit=50),
    "recall good ones": _recall(0, threshold=0.3),
    "recall facts": _recall(1, kinds=["fact"]),
    "recall what was learned": _recall(2, kinds=["fact", "entity", "episode", "landmark"]),
    "recall all kinds today": lambda _world, place, _: place.recall(
        f"{QUESTIONS[2]} today", kinds=[kind.value for kind in MemoryKind], explain=True
    ),
    "recall in time": _recall(0, since=START + timedelta(seconds=3), until=START + DAY),
    "recall explained": _recall(0, explain=True),
    "recall as of": _recall(1, as_of=START + timedelta(seconds=5)),
    "recall today": lambda _world, place, _: place.recall(f"{QUESTIONS[0]} today", explain=True),
    "recall filtered": _recall(2, where={"NOT": {"role": "assistant"}}),
    "recall by speaker": lambda _world, place, known: [
        place.recall(QUESTIONS[0], where={"OR": [{"speaker": name}, {"scope": str(ref.scope)}]})
        for ref in known[:2]
        for name in ref.scope.ids[:1]
    ],
    "recall in a scope": _recall_in(lambda ref: str(ref.scope)),
    "recall in a kind of scope": _recall_in(lambda ref: ref.scope.kind.value),
    "recall words nobody said": lambda _world, place, _: place.recall("zebra quagga ?!"),
    "matching": lambda world, place, _: world.store.memories.matching(place.grant, ASKED, limit=20),
    "matching learned": lambda world, place, _: (
        world.store.memories.matching(place.grant, ASKED, limit=20, learned=True),
        world.store.memories.holding(place.grant, ASKED),
        world.store.memories.holding(place.grant, ASKED, learned=True),
    ),
    "nearest": _nearest,
    "nearest learned": lambda world, place, _: _nearest(world, place, _, learned=True),
    "neighbours": lambda world, place, _: world.store.memories.neighbours(
        place.grant, [memory.id for memory in world.store.memories.find(place.grant)], reach=2
    ),
    "vectors": _vectors,
    "strength": _each(
        lambda place, ref: [attempt(lambda: place.strength(id)) for id in ref.memory_ids]  # noqa: B023
    ),
    "facts": lambda _world, place, _: place.facts(),
    "facts about people": lambda _world, place, known: [
        place.facts(subject) for ref in known for subject in (str(ref.scope), *ref.scope.ids)
    ],
    "interpret": lambda _world, place, known: [
        place.interpret(subject, "color", **when)
        for ref in known
        for subject in (str(ref.scope), *ref.scope.ids)
        for when in ({}, {"at": START + DAY}, {"as_of": START + timedelta(seconds=5)})
    ],
    "profile": lambda _world, place, known: [
        place.profile(name) for name in (*WORDS, *(name for ref in known for name in ref.scope.ids))
    ],
    "sessions": lambda _world, place, _: (
        place.sessions_knowing(" ".join(QUESTIONS)),
        place.sessions_knowing(WORDS, limit=50),
    ),
    "stale": lambda _world, place, known: [
        attempt(lambda: place.stale(scope))  # noqa: B023
        for scope in (None, *sorted({str(ref.scope) for ref in known}))
    ],
    "entity": _each(
        lambda place, ref: [attempt(lambda: place.entity(name)) for name in ref.scope.ids]  # noqa: B023
    ),
    "entities": lambda _world, place, _: place.entities(),
    "episodes": lambda world, place, _: (
        place.episodes(),
        place.episodes("day", since=START, until=START + DAY),
        episodes_for(world.store, place.grant, f"{QUESTIONS[2]} today", START + DAY, limit=50),
        episodes_for(
            world.store,
            place.grant,
            QUESTIONS[1],
            START,
            pointed=pointed_at(place._parts.embedder, place.grant.workspace, QUESTIONS[1]),  # noqa: SLF001
        ),
    ),
    "reviews": lambda _world, place, _: place.reviews().list(None),
    "procedures": lambda _world, place, _: (
        place.procedures().statistics(by_type=True),
        place.procedures().find(),
        place.procedures().find(QUESTIONS[0]),
    ),
    "notebook": lambda _world, place, _: [
        (place.notebook(str(scope)).list(), place.notebook(str(scope)).history("notes.md"))
        for scope in sorted(place.grant.scopes)
    ],
    "dossiers": lambda _world, place, _: (
        [attempt(lambda: place.dossiers().get(name)) for name in SUBJECTS],  # noqa: B023
        place.dossiers().answers(),
        place.dossiers().list(),
    ),
    "goals": lambda _world, place, _: (place.goals().list("any"), place.goals().tree("any")),
    "named and between": lambda world, place, known: (
        world.store.memories.named(
            place.grant, [name for ref in known for name in ref.scope.ids], limit=99
        ),
        world.store.memories.named(place.grant, WORDS, limit=99, kinds=[*MemoryKind]),
        world.store.memories.outlines(place.grant, WORDS, limit=99),
        world.store.memories.latest(place.grant, sorted(str(ref.scope) for ref in known)),
        world.store.memories.between(place.grant, START, START + DAY, limit=99),
        world.store.memories.between(place.grant, START, START + DAY, limit=99, learned=True),
        world.store.memories.texts(place.grant, _ids(known)),
    ),
    "fact": _each(lambda place, ref: place.fact(str(ref.scope), "color")),
    "memories below": lambda world, place, known: (
        world.store.memories.find(place.grant, where=parse_filter({"text": {"contains": "tea"}})),
        world.store.memories.get(place.grant, _ids(known)),
    ),
    "window": lambda _world, place, _: place.window(3),
    "window below": lambda world, place, known: [
        world.store.window.find(grant, slots=[*Slot], now=world.now)
        for grant in (
            place.grant,
            *(place.grant.within([ref.scope]) for ref in known),
        )
    ],
    "on the table": lambda _world, place, _: (place.notes(), place.thoughts(), place.goal()),
    "compose": lambda _world, place, _: [
        place.compose(question, budget=900, explain=True) for question in (*QUESTIONS, "tea today?")
    ],
    "compose as of": lambda _world, place, _: place.compose(
        QUESTIONS[0], as_of=START + timedelta(seconds=5)
    ),
    "before and explain": lambda _world, place, _: place.explain(
        place.before([{"role": "user", "content": QUESTIONS[2]}], model="claude").id
    ),
    "stuck": lambda _world, place, _: place.flush(),
    "export": _export,
}


@dataclass(frozen=True)
class Look:
    """One viewer asks one thing."""

    viewer: Viewer
    what: str
    label: Label | None = None
    tells: Ref | None = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    def do(self, world: World) -> Any:
        known = list(dict.fromkeys(reversed(world.known)))[:MOST_KNOWN]
        return canonical(attempt(lambda: LOOKS[self.what](world, world.place(self.viewer), known)))


def attempt(ask: Callable[[], Any]) -> Any:
    """The answer, or the error."""
    try:
        return ask()
    except Exception as error:  # noqa: BLE001  # an error is an answer, too
        return error


def canonical(answer: Any) -> Any:
    """Everything about an answer that may be compared: all but how long it took."""
    if isinstance(answer, Exception):
        return type(answer).__name__, str(answer)
    if isinstance(answer, dict):
        return {name: canonical(value) for name, value in answer.items()}
    if isinstance(answer, list | tuple):
        return [canonical(each) for each in answer]
    return _timeless(answer)


def _timeless(answer: Any) -> Any:
    """The same without how long it took, wherever that is told."""
    match answer:
        case Found():
            strategies = tuple(replace(each, seconds=0.0) for each in answer.strategies)
            return replace(answer, seconds=0.0, strategies=strategies)
        case Context() | Explained():
            return replace(answer, receipt=replace(answer.receipt, seconds={}))
        case WindowItem(slot=Slot.CONTEXT, value=dict() as receipt):
            return replace(answer, value={**receipt, "seconds": {}})
        case _:
            return answer
