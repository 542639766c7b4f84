"""Operations on a Nexus as plain data, so that a script can be replayed, compared and
shortened.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, Protocol
from unittest.mock import patch

from ...client import Nexus
from ...config.settings import AuditSettings, Settings, SharingSettings
from ...core.access import Label, Viewer, administrator_grant
from ...core.canonical import format_time
from ...core.derive import is_text_searchable
from ...core.flows import DEFAULT_SHARING, Sharing
from ...core.ids import WorkspaceId, digest
from ...core.protocols.store import Store
from ...core.records import Draft, Fact, Memory, MemoryKind, Receipt, event_id
from ...core.scope import Scope, ScopeKind
from ...core.strength import StrengthSettings
from ...embedders.feature_hash import HashingEmbedder
from ...learn.flows import FlowStep
from ...maintain.settings import MaintainSettings
from ...observe import events as tell
from ...place.place import Place
from .flow_oracle import KnownTopics, ToldStatement, home_of

START = datetime(2026, 1, 1, 12, tzinfo=UTC)
CLOCK_STEP = timedelta(
    seconds=1
)  # between two operations, so that an additional one does not change the time of others
LEARNING_DELAY = timedelta(milliseconds=1)
WORLD_SETTINGS = Settings(
    audit=AuditSettings(level="verbose"),  # reads are written to the audit log
    maintain=MaintainSettings(  # one use promotes a fact to a user's profile
        strength=StrengthSettings(
            promote_min_confidence=0.5, promote_min_uses=1, promote_min_conversations=1
        )
    ),
)
NO_PROMOTION = MaintainSettings(strength=StrengthSettings(promote_min_uses=10**6))


@dataclass(frozen=True, slots=True)
class EventRef:
    """Reference to an event by workspace, scope and key."""

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
        """Return the ids of the memories learned from it: a passage, a fact or the first
        chunk.
        """
        shapes = (("passage", ""), ("fact", ""), ("passage", f"{0:06}"))
        return [digest("memory", kind, str(self.scope), slot, self.id) for kind, slot in shapes]

    def copy_ids(self, targets: Iterable[Scope]) -> list[str]:
        """Return the ids of the passages that flows may copy to these scopes."""
        rules = {
            ScopeKind.PRIVATE: ("agents", "everything", "rooms"),
            ScopeKind.USER: ("profile",),
            ScopeKind.PROJECT: ("project",),
        }
        return [
            digest("memory", "passage", str(target), f"{rule}:", self.id)
            for target in targets
            for rule in rules[target.kind]
        ]


@dataclass(slots=True)
class World:
    """A Nexus whose clock only moves when a test moves it."""

    store: Store
    reopen: Callable[[Store], Store] | None = None
    discard: Callable[[Store], None] | None = None
    sharings: Sequence[Sharing] = (DEFAULT_SHARING,)  # flows; a step switches to the next ones
    promotes: bool = True  # whether one use of a fact promotes it
    now: datetime = START
    known_events: list[EventRef] = field(
        default_factory=list
    )  # every event written so far, in either world
    visited_workspaces: set[WorkspaceId] = field(
        default_factory=set
    )  # includes scopes that were only read
    nexus: Nexus = field(init=False)

    def __post_init__(self) -> None:
        self._open_nexus()

    def _open_nexus(self) -> None:
        self.nexus = Nexus.open(
            self.store,
            settings=self._settings,
            embedder=HashingEmbedder(),
            clock=lambda: self.now,
            background=False,
        )
        use_known_topics(self.nexus, self.sharing)
        # A reader may learn events of other places first. That takes time, but no ticks.
        self.nexus._parts.learner._clock = lambda: self.now + LEARNING_DELAY  # noqa: SLF001

    @property
    def sharing(self) -> Sharing:
        """The flows that are switched on now."""
        return self.sharings[0]

    @property
    def _settings(self) -> Settings:
        settings = replace(WORLD_SETTINGS, sharing=SharingSettings(**asdict(self.sharing)))
        return settings if self.promotes else replace(settings, maintain=NO_PROMOTION)

    def switch_sharing(self) -> None:
        """Open the same store with the next flows."""
        self.sharings = (*self.sharings[1:], self.sharings[0])
        self.reopen_nexus()

    def reopen_nexus(self) -> None:
        self.store = self.reopen(self.store) if self.reopen else self.store
        self._open_nexus()

    def close(self) -> None:
        self.nexus.close()
        if self.discard:
            self.discard(self.store)

    def open_place(self, viewer: Viewer) -> Place:
        return self.nexus.workspace(viewer.workspace.value).place(viewer)

    def register_operation(self, operation: Operation) -> None:
        """Register the event of an operation, whether or not the operation runs in this
        world.
        """
        self.now += CLOCK_STEP
        self.visited_workspaces.add(operation.workspace)
        if operation.event_ref is not None:
            self.known_events.append(operation.event_ref)

    def run(self, operation: Operation) -> Any:
        """Run the operation and return its answer, or the error as its type and message."""
        try:
            with _patch_random_keys(str(self.now)):
                return operation.run(self)
        except Exception as error:  # an error is an answer, too  # noqa: BLE001
            return error


def use_known_topics(nexus: Nexus, sharing: Sharing) -> None:
    """Replace the classifier of flows by one that knows the sentences of the leak tests."""
    nexus._parts.learner._make_flows = lambda store: FlowStep(  # noqa: SLF001
        store, lambda _: sharing, KnownTopics()
    )


def _patch_random_keys(token: str) -> AbstractContextManager[object]:
    """Make `set_value` generate the same random key in both worlds."""
    return patch("nexusmem.observe.events.urandom", lambda _: bytes.fromhex(digest(token)))


class Operation(Protocol):
    """One step of a script."""

    @property
    def workspace(self) -> WorkspaceId: ...

    @property
    def label(self) -> Label | None:
        """Scopes of the records it writes, changes or deletes. None if no secret is involved."""
        ...

    @property
    def event_ref(self) -> EventRef | None:
        """The event it writes, or None."""
        ...

    def run(self, world: World) -> Any: ...


@dataclass(frozen=True)
class WriteEvent:
    """A write: observe, remember, add_document, add_fact, upsert_entity or a goal."""

    viewer: Viewer
    method: str
    arguments: tuple[Any, ...]
    key: str
    scope: str | None = None
    confidential: bool = False

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def event_ref(self) -> EventRef | None:
        home = resolve_scope(self.viewer, self.scope)
        return EventRef(self.viewer.workspace, home, self.key) if home else None

    @property
    def label(self) -> Label | None:
        return frozenset({self.event_ref.scope}) if self.event_ref else None

    @property
    def statement(self) -> ToldStatement | None:
        """What is said, for the oracle."""
        if self.event_ref is None:
            return None
        speaker = self.viewer.user or self.viewer.agent
        return ToldStatement(
            place=self.viewer,
            scope=self.event_ref.scope if self.scope else home_of(self.viewer),
            method=self.method,
            speaker=self.arguments[0] if self.method == "observe" else speaker.value,
            text=self.arguments[-1],
            confidential=self.confidential,
        )

    def run(self, world: World) -> Any:
        where: dict[str, Any] = {} if self.method == "observe" else {"scope": self.scope}
        if self.confidential:
            where["confidential"] = True
        place = world.open_place(self.viewer)
        write = getattr(place.goals if self.method == "add" else place, self.method)
        return write(*self.arguments, key=self.key, **where)


def resolve_scope(viewer: Viewer, name: str | None) -> Scope | None:
    """Return the scope that the viewer names, or None if the viewer cannot reach it.

    A session reaches its DM here even while sessions are not shared, since flows are switched.
    """
    most = replace(viewer, sharing=replace(viewer.sharing, sessions=True))
    try:
        return viewer.home if name is None else most.resolve_scope(name)
    except (ValueError, LookupError):
        return None


@dataclass(frozen=True)
class SetValue:
    viewer: Viewer
    scope: str
    name: str
    value: Any
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def label(self) -> Label | None:
        home = resolve_scope(self.viewer, self.scope)
        return frozenset({home}) if home else None

    def run(self, world: World) -> Any:
        return world.open_place(self.viewer).set_value(self.scope, self.name, self.value)


@dataclass(frozen=True)
class PlaceAction:
    """An action in a place: a note, a question, a tool call, a notebook document or a
    dossier.
    """

    viewer: Viewer
    action: str
    text: str
    ttl: float | None = None
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def label(self) -> Label | None:
        return frozenset({self.viewer.home})

    def run(self, world: World) -> Any:
        return PLACE_ACTIONS[self.action](world.open_place(self.viewer), self)


def _complete_goal(place: Place, _: PlaceAction) -> Any:
    """Complete one of the goals of this scope: goal actions are stored in the scope of the
    goal.
    """
    own = [each for each in place.goals.list() if each.scope == place.viewer.home]
    return [place.goals.complete(each.id) for each in own[:1]]


PLACE_ACTIONS: Mapping[str, Callable[[Place, PlaceAction], Any]] = {
    "note": lambda place, jot: place.set_note(jot.text.split()[0], jot.text, ttl=jot.ttl),
    "thought": lambda place, jot: place.add_thought(jot.text),
    "goal": lambda place, jot: place.set_active_goal(jot.text),
    "goal done": _complete_goal,
    "document": lambda place, jot: place.notebook.write("notes.md", jot.text),
    "question": lambda place, jot: (  # a returned hit counts as a use
        place.recall(jot.text),
        place.recall(jot.text, kind=["fact"]),
    ),
    "standing question": lambda place, jot: place.dossiers.add_question(jot.text),
    "tool": lambda place, jot: place.procedures.record(
        jot.text.split()[0], success=True, task=jot.text
    ),
    "tool output": lambda place, jot: place.observe(jot.text.split()[0], jot.text, role="tool"),
    "task done": lambda place, jot: place.procedures.finish(jot.text, success=jot.ttl is None),
}


def _learn_fields(kind: MemoryKind, body: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"kind": kind, "body": body, "slot": "learned", "learned": True, **more}


FIRST_DAY = format_time(START)

# Kinds of memories that a flow derives from two words of a text.
DRAFT_SHAPES: Mapping[str, Callable[[str, str], dict[str, Any]]] = {
    "episode": lambda _one, _other: {"kind": MemoryKind.EPISODE},
    "fact": lambda one, other: _learn_fields(
        MemoryKind.FACT,
        asdict(Fact(subject=one, predicate="LIKES", object=other, category="preferences")),
        metadata={"made_by": ["rules"]},
    ),
    "entity": lambda one, other: _learn_fields(
        MemoryKind.ENTITY, {"name": one, "type": "person", "aliases": [other]}
    ),
    "label": lambda one, other: _learn_fields(
        MemoryKind.EPISODE,
        {"span": "turn", "label": one, "topics": [], "entities": [one, other]},
        indexed_text="",
    ),
    "day": lambda one, other: _learn_fields(
        MemoryKind.EPISODE,
        {"span": "day", "start": FIRST_DAY, "end": FIRST_DAY, "entities": [one, other]},
    ),
    "landmark": lambda one, other: _learn_fields(
        MemoryKind.LANDMARK, {"kind": "decision", "owner": other, "due": None, "text": one}
    ),
}


@dataclass(frozen=True)
class DeriveMemory:
    """A flow stores a memory derived from several events, or from memories learned from them."""

    scope: Scope
    sources: tuple[EventRef, ...]
    text: str
    use_memory_ids: bool = False
    shape: str = "episode"
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.sources[0].workspace

    @property
    def label(self) -> Label | None:
        return frozenset({self.scope, *(ref.scope for ref in self.sources)})

    def run(self, world: World) -> Any:
        draft = Draft(
            scope=self.scope,
            text=self.text,
            sources=tuple(
                ref.memory_ids[0] if self.use_memory_ids else ref.id for ref in self.sources
            ),
            **DRAFT_SHAPES[self.shape](*self.text.split()[:2]),
        )
        kept = world.store.memories.put(self.workspace, [draft])
        put = list(filter(is_text_searchable, kept))
        vectors = HashingEmbedder().embed([memory.text for memory in put])
        named = {memory.id: row for memory, row in zip(put, vectors, strict=True) if row.any()}
        profile = HashingEmbedder().profile
        return world.store.vectors.put(self.workspace, profile, named)


@dataclass(frozen=True)
class ForgetData:
    """Erase one event, one memory, one room or one user."""

    workspace: WorkspaceId
    event: EventRef | None = None
    memory: EventRef | None = None
    room: str | None = None
    user: str | None = None
    event_ref = None

    @property
    def label(self) -> Label | None:
        if self.user is not None:
            return None
        ref = self.event or self.memory
        return frozenset({ref.scope if ref else Scope.room(self.room or "")})

    def run(self, world: World) -> Any:
        workspace = world.nexus.workspace(self.workspace.value)
        if self.event:
            return workspace.forget(event=self.event.id)
        if self.memory:
            return workspace.forget(memory=self.memory.memory_ids[0])
        return workspace.forget(room=self.room, user=self.user)


@dataclass(frozen=True)
class ChangeMemory:
    """A viewer corrects a memory of an event, or erases it if there is no text."""

    viewer: Viewer
    ref: EventRef
    text: str | None
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def label(self) -> Label | None:
        return frozenset({self.ref.scope})

    def run(self, world: World) -> Any:
        place, id = world.open_place(self.viewer), self.ref.memory_ids[0]
        return place.forget(id) if self.text is None else place.correct(id, self.text)


@dataclass(frozen=True)
class MarkConfidential:
    """A viewer marks a message as confidential, mostly in the place where it was said."""

    viewer: Viewer
    ref: EventRef
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def label(self) -> Label | None:
        return frozenset({self.ref.scope})

    def run(self, world: World) -> Any:
        return world.open_place(self.viewer).mark_confidential(self.ref.id)


@dataclass(frozen=True)
class RebuildEvent:
    """Learn one event again from the ledger."""

    ref: EventRef
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.ref.workspace

    @property
    def label(self) -> Label | None:
        return frozenset({self.ref.scope})

    def run(self, world: World) -> Any:
        return world.store.queue.reset_events(self.ref.workspace, [self.ref.id], now=world.now)


@dataclass(frozen=True)
class ImportArchive:
    """Import an archive that contains every known event, as if it came from another
    installation.
    """

    viewer: Viewer
    archive: str
    target: Scope | None = None
    label = None
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    def run(self, world: World) -> Any:
        place = world.open_place(self.viewer)
        workspace = world.nexus.workspace(self.viewer.workspace.value)
        return workspace.import_(io.StringIO(self.archive), grant=place.grant, scope=self.target)


def export_archive(world: World, workspace: WorkspaceId, viewer: Viewer | None = None) -> str:
    """Export everything that a viewer (or the administrator) may read as an archive."""
    out = io.StringIO()
    grant = viewer.grant() if viewer else administrator_grant(workspace)
    world.nexus.workspace(workspace.value).export(out, grant=grant, vectors=True)
    return out.getvalue()


MAINTENANCE_JOBS = (
    *("flows", "consolidate", "near_duplicates", "habits", "dossiers"),
    *("session_end", "promote", "decay", "cleanup"),
)


@dataclass(frozen=True)
class MaintenanceStep:
    """A step that involves no secret: flush, optimize, reopen, switch the flows, repeat a
    message, or advance the clock.
    """

    action: str
    viewer: Viewer
    label = None
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    def run(self, world: World) -> Any:
        if self.action == "reopen":
            world.reopen_nexus()
        elif self.action == "switch sharing":
            world.switch_sharing()
        elif self.action == "optimize":
            world.nexus.optimize()
        elif self.action == "flush":
            world.open_place(self.viewer).flush()
        elif self.action in ("learn everything", "build episodes", "rebuild"):
            for each in map(world.nexus.workspace, world.nexus.workspaces()):
                if self.action == "rebuild":
                    each.rebuild()
                else:
                    _ = (
                        each.flush()
                        if self.action == "learn everything"
                        else each.refresh_episodes()
                    )
        elif self.action == "three weeks pass":
            self._advance_time(world, timedelta(days=21), MAINTENANCE_JOBS)
        else:
            self._advance_time(world, timedelta(days=1), ["promote"])

    def _advance_time(self, world: World, elapsed: timedelta, jobs: Sequence[str]) -> None:
        world.now += elapsed
        for entered in sorted(world.visited_workspaces):
            for job in jobs:
                world.nexus.workspace(entered.value).run_job(job)


IsHidden = Callable[[WorkspaceId, Label], bool]  # true if no watcher may read the label


@dataclass(frozen=True)
class ShareMemory:
    """Share a memory learned from an event, into a scope or into a place of the sharer."""

    viewer: Viewer
    ref: EventRef
    to: str | Viewer
    key: str
    label = None  # No secret is involved in the call: a viewer without access gets NotFound.

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def target(self) -> Scope | None:
        return resolve_scope(self.viewer, self.to) if isinstance(self.to, str) else self.to.home

    @property
    def event_ref(self) -> EventRef | None:
        return EventRef(self.viewer.workspace, self.target, self.key) if self.target else None

    def run(self, world: World) -> Any:
        place = world.open_place(self.viewer)
        memory = self.find_memory(world)
        to = self.to if isinstance(self.to, str) else world.open_place(self.to)
        return place.share(memory.id if memory else self.ref.memory_ids[0], to=to, key=self.key)

    def find_memory(self, world: World) -> Memory | None:
        everything = administrator_grant(self.workspace)
        found = world.store.memories.get(everything, self.ref.memory_ids)
        return found[0] if found else None


@dataclass(frozen=True)
class WriteCopy:
    """The sharer writes the text of a memory as a new event without a source."""

    share: ShareMemory
    memory: Memory
    label = None
    event_ref = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.share.workspace

    def run(self, world: World) -> Any:
        viewer, target = self.share.viewer, self.share.target
        assert target is not None  # otherwise the share would have failed
        nowhere = replace(self.memory, id=digest("nowhere"), scope=viewer.home, sources=())
        now = world.nexus._parts.now()  # as the place itself does  # noqa: SLF001
        _, copy = tell.share_events(viewer, nowhere, [], to=target, now=now, key=self.share.key)
        return world.nexus._parts.recorder.append(viewer.workspace, [copy], now)[0]  # noqa: SLF001


@dataclass(slots=True)
class SharedCopies:
    """Memories shared in the world with secrets, with their plain copies in the other world."""

    copies: dict[str, WorkspaceId] = field(default_factory=dict)

    def replacement_for(
        self, operation: Operation, answer: Any, world: World, is_hidden: IsHidden
    ) -> Operation:
        """Return the operation for the world without secrets that corresponds to this one."""
        if not isinstance(operation, ShareMemory) or not isinstance(answer, Receipt):
            return operation
        memory = operation.find_memory(world)
        if memory is None or not is_hidden(operation.workspace, memory.label):
            return operation
        self.copies[answer.event_id] = operation.workspace
        return WriteCopy(operation, memory)

    def forget_orphans(self, with_secrets: World, without_secrets: World) -> None:
        """Erase a copy in the other world after its source was erased."""
        for id, workspace in list(self.copies.items()):
            if with_secrets.store.eraser.any_erased(workspace, [id]):
                del self.copies[id]
                if without_secrets.store.ledger.get(administrator_grant(workspace), [id]):
                    without_secrets.nexus.workspace(workspace.value).forget(event=id)
