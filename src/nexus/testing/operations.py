"""What can be done to a Nexus, as data: a script of it can be replayed, compared and shortened."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from unittest.mock import patch

from ..config import AuditSettings, Settings
from ..core.access import Label, Viewer, administrator_grant
from ..core.canonical import time_text
from ..core.derive import searched_by_text
from ..core.ids import WorkspaceId, digest
from ..core.protocols import Store
from ..core.records import Draft, Fact, MemoryKind, Receipt, event_id
from ..core.scope import Scope
from ..core.strength import Strengthening
from ..embedders.hashing import HashingEmbedder
from ..maintain.settings import Maintaining
from ..nexus import Nexus
from ..place import Place

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
TICK = timedelta(seconds=1)  # between two operations, so that one more changes no other's time
SETTINGS = Settings(
    audit=AuditSettings(level="verbose"),  # what is asked is written
    maintain=Maintaining(  # one use is enough to be known for a person
        strength=Strengthening(promote_confidence=0.5, promote_uses=1, promote_conversations=1)
    ),
)


@dataclass(frozen=True, slots=True)
class Ref:
    """An event, known by where it happened and by its key."""

    workspace: WorkspaceId
    scope: Scope
    key: str

    def __str__(self) -> str:
        return f"{self.key!r} in {self.scope}"

    @property
    def id(self) -> str:
        return event_id(self.scope, self.key)

    @property
    def receipt(self) -> Receipt:
        return Receipt(workspace=self.workspace, scope=self.scope, event_id=self.id, key=self.key)

    @property
    def memory_ids(self) -> list[str]:
        """What it is learned as: a passage, a fact, or the first piece of a document."""
        shapes = (("passage", ""), ("fact", ""), ("passage", f"{0:06}"))
        return [digest("memory", kind, str(self.scope), slot, self.id) for kind, slot in shapes]


@dataclass(slots=True)
class World:
    """A Nexus with a clock that is moved by hand."""

    store: Store
    reopen: Callable[[Store], Store] | None = None
    discard: Callable[[Store], None] | None = None
    now: datetime = START
    known: list[Ref] = field(default_factory=list)  # everything ever told, here or elsewhere
    entered: set[WorkspaceId] = field(default_factory=set)  # also where something was only asked
    nexus: Nexus = field(init=False)

    def __post_init__(self) -> None:
        self._open()

    def _open(self) -> None:
        self.nexus = Nexus.open(
            self.store,
            settings=SETTINGS,
            embedder=HashingEmbedder(),
            clock=lambda: self.now,
            background=False,
        )

    def open_again(self) -> None:
        self.store = self.reopen(self.store) if self.reopen else self.store
        self._open()

    def close(self) -> None:
        self.nexus.close()
        if self.discard:
            self.discard(self.store)

    def place(self, viewer: Viewer) -> Place:
        return self.nexus.workspace(viewer.workspace.value).place(viewer)

    def know(self, operation: Operation) -> None:
        """Take note of what an operation tells, whether or not it happens here."""
        self.now += TICK
        self.entered.add(operation.workspace)
        if operation.tells is not None:
            self.known.append(operation.tells)

    def do(self, operation: Operation) -> Any:
        """The answer, or the error as its type and its words."""
        try:
            with _keys(str(self.now)):
                return operation.do(self)
        except Exception as error:  # noqa: BLE001  # an error is an answer, too
            return error


def _keys(token: str) -> AbstractContextManager[object]:
    """Let `set_fact`, which makes up its key, make up the same one in every world."""
    return patch("nexus.observe.urandom", lambda _: bytes.fromhex(digest(token)))


class Operation(Protocol):
    """One step of a script."""

    @property
    def workspace(self) -> WorkspaceId: ...

    @property
    def label(self) -> Label | None:
        """The scopes of what it writes, changes or removes; None if it is about nothing secret."""
        ...

    @property
    def tells(self) -> Ref | None:
        """The event it writes, if it writes one."""
        ...

    def do(self, world: World) -> Any: ...


@dataclass(frozen=True)
class Tell:
    """Somebody writes something down: observe, remember, index, add_fact, a goal."""

    viewer: Viewer
    verb: str
    arguments: tuple[Any, ...]
    key: str
    scope: str | None = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def tells(self) -> Ref | None:
        home = reached(self.viewer, self.scope)
        return Ref(self.viewer.workspace, home, self.key) if home else None

    @property
    def label(self) -> Label | None:
        return frozenset({self.tells.scope}) if self.tells else None

    def do(self, world: World) -> Any:
        where = {} if self.verb == "observe" else {"scope": self.scope}
        place = world.place(self.viewer)
        told = getattr(place.goals() if self.verb == "add" else place, self.verb)
        return told(*self.arguments, key=self.key, **where)


def reached(viewer: Viewer, name: str | None) -> Scope | None:
    """The scope a viewer means, if it can be reached."""
    try:
        return viewer.home if name is None else viewer.scope(name)
    except (ValueError, LookupError):
        return None


@dataclass(frozen=True)
class SetFact:
    viewer: Viewer
    scope: str
    name: str
    value: Any
    tells = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def label(self) -> Label | None:
        home = reached(self.viewer, self.scope)
        return frozenset({home}) if home else None

    def do(self, world: World) -> Any:
        return world.place(self.viewer).set_fact(self.scope, self.name, self.value)


@dataclass(frozen=True)
class Jot:
    """Somebody puts something on the table, asks, or does something: a note, a tool, a document."""

    viewer: Viewer
    what: str
    text: str
    ttl: float | None = None
    tells = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def label(self) -> Label | None:
        return frozenset({self.viewer.home})

    def do(self, world: World) -> Any:
        return JOTS[self.what](world.place(self.viewer), self)


def _goal_done(place: Place, _: Jot) -> Any:
    """One of this place's own: what is done about a goal is told where the goal lies."""
    own = [each for each in place.goals().list() if each.scope == place.viewer.home]
    return [place.goals().complete(each.id) for each in own[:1]]


JOTS: Mapping[str, Callable[[Place, Jot], Any]] = {
    "note": lambda place, jot: place.note(jot.text.split()[0], jot.text, ttl=jot.ttl),
    "thought": lambda place, jot: place.think(jot.text),
    "goal": lambda place, jot: place.set_goal(jot.text),
    "goal done": _goal_done,
    "document": lambda place, jot: place.notebook().write("notes.md", jot.text),
    "question": lambda place, jot: (  # what is found counts as used
        place.recall(jot.text),
        place.recall(jot.text, kinds=["fact"]),
    ),
    "standing question": lambda place, jot: place.dossiers().ask(jot.text),
    "tool": lambda place, jot: place.procedures().record(
        jot.text.split()[0], success=True, task=jot.text
    ),
    "task done": lambda place, jot: place.procedures().finish(jot.text, success=jot.ttl is None),
}


def _learned(kind: MemoryKind, body: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": kind, "body": body, "slot": "learned", "learned": True, **more}


DAY_ONE = time_text(START)

# What flows make of two words of a text: told, or learned in each of the ways there are.
SHAPES: Mapping[str, Callable[[str, str], dict[str, Any]]] = {
    "episode": lambda _one, _other: {"kind": MemoryKind.EPISODE},
    "fact": lambda one, other: _learned(
        MemoryKind.FACT,
        asdict(Fact(subject=one, predicate="LIKES", object=other, category="preferences")),
        metadata={"made_by": ["rules"]},
    ),
    "entity": lambda one, other: _learned(
        MemoryKind.ENTITY, {"name": one, "type": "person", "aliases": [other]}
    ),
    "label": lambda one, other: _learned(
        MemoryKind.EPISODE,
        {"span": "turn", "label": one, "topics": [], "entities": [one, other]},
        indexed_text="",
    ),
    "day": lambda one, other: _learned(
        MemoryKind.EPISODE,
        {"span": "day", "start": DAY_ONE, "end": DAY_ONE, "entities": [one, other]},
    ),
    "landmark": lambda one, other: _learned(
        MemoryKind.LANDMARK, {"kind": "decision", "owner": other, "due": None, "text": one}
    ),
}


@dataclass(frozen=True)
class Derive:
    """A flow puts something that rests on several events, or on what was learned from them."""

    scope: Scope
    sources: tuple[Ref, ...]
    text: str
    deeper: bool = False
    shape: str = "episode"
    tells = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.sources[0].workspace

    @property
    def label(self) -> Label | None:
        return frozenset({self.scope, *(ref.scope for ref in self.sources)})

    def do(self, world: World) -> Any:
        draft = Draft(
            scope=self.scope,
            text=self.text,
            sources=tuple(ref.memory_ids[0] if self.deeper else ref.id for ref in self.sources),
            **SHAPES[self.shape](*self.text.split()[:2]),
        )
        kept = world.store.memories.put(self.workspace, [draft])
        put = list(filter(searched_by_text, kept))
        vectors = HashingEmbedder().embed([memory.text for memory in put])
        named = {memory.id: row for memory, row in zip(put, vectors, strict=True) if row.any()}
        profile = HashingEmbedder().profile
        return world.store.vectors.put(self.workspace, profile, named)


@dataclass(frozen=True)
class Forget:
    """One event, the memory made of it, a room or a person."""

    workspace: WorkspaceId
    event: Ref | None = None
    memory: Ref | None = None
    room: str | None = None
    user: str | None = None
    tells = None

    @property
    def label(self) -> Label | None:
        if self.user is not None:
            return None
        ref = self.event or self.memory
        return frozenset({ref.scope if ref else Scope.room(self.room or "")})

    def do(self, world: World) -> Any:
        workspace = world.nexus.workspace(self.workspace.value)
        if self.event:
            return workspace.forget(event=self.event.id)
        if self.memory:
            return workspace.forget(memory=self.memory.memory_ids[0])
        return workspace.forget(room=self.room, user=self.user)


@dataclass(frozen=True)
class Rebuild:
    """Learn an event again from the start."""

    ref: Ref
    tells = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.ref.workspace

    @property
    def label(self) -> Label | None:
        return frozenset({self.ref.scope})

    def do(self, world: World) -> Any:
        return world.store.queue.requeue(self.ref.workspace, [self.ref.id], now=world.now)


@dataclass(frozen=True)
class Take:
    """Somebody takes in an archive: everything that is known about, as a file from elsewhere."""

    viewer: Viewer
    archive: str
    into: Scope | None = None
    label = None
    tells = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    def do(self, world: World) -> Any:
        place = world.place(self.viewer)
        workspace = world.nexus.workspace(self.viewer.workspace.value)
        return workspace.import_(io.StringIO(self.archive), grant=place.grant, scope=self.into)


def archive_of(world: World, workspace: WorkspaceId, viewer: Viewer | None = None) -> str:
    """Everything a viewer (or the administrator) may see, as an archive."""
    out = io.StringIO()
    grant = viewer.grant() if viewer else administrator_grant(workspace)
    world.nexus.workspace(workspace.value).export(out, grant=grant, vectors=True)
    return out.getvalue()
