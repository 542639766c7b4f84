"""Sharing, as the leak test plays it.

Whoever shares a secret with a watcher tells it, so it is none any more. All the same nothing else
may show: in the world without secrets the sharer says the same words in the same place instead, and
the watcher must not be able to tell which of the two it was.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from .. import observe as tell
from ..core.access import Label, Viewer, administrator_grant
from ..core.ids import WorkspaceId, digest
from ..core.records import Memory, Receipt
from ..core.scope import Scope
from .operations import Operation, Ref, World, reached

Hides = Callable[[WorkspaceId, Label], bool]  # whether no watcher may read this


@dataclass(frozen=True)
class Share:
    """Somebody shares what was made of an event: into a drawer, or into a place they are in."""

    viewer: Viewer
    ref: Ref
    to: str | Viewer
    key: str
    label = None  # whether it happens is nobody's secret: whoever may not read it finds nothing

    @property
    def workspace(self) -> WorkspaceId:
        return self.viewer.workspace

    @property
    def target(self) -> Scope | None:
        return reached(self.viewer, self.to) if isinstance(self.to, str) else self.to.home

    @property
    def tells(self) -> Ref | None:
        return Ref(self.viewer.workspace, self.target, self.key) if self.target else None

    def do(self, world: World) -> Any:
        place = world.place(self.viewer)
        memory = self.memory(world)
        to = self.to if isinstance(self.to, str) else world.place(self.to)
        return place.share(memory.id if memory else self.ref.memory_ids[0], to=to, key=self.key)

    def memory(self, world: World) -> Memory | None:
        everything = administrator_grant(self.workspace)
        found = world.store.memories.get(everything, self.ref.memory_ids)
        return found[0] if found else None


@dataclass(frozen=True)
class SayOpenly:
    """The words of a memory are said by the sharer, as if they came from nowhere."""

    share: Share
    words: Memory
    label = None
    tells = None

    @property
    def workspace(self) -> WorkspaceId:
        return self.share.workspace

    def do(self, world: World) -> Any:
        viewer, target = self.share.viewer, self.share.target
        assert target is not None  # or nothing would have been shared
        nowhere = replace(self.words, id=digest("nowhere"), scope=viewer.home, sources=())
        now = world.nexus._parts.now()  # noqa: SLF001  # as the place itself does
        _, copy = tell.share(viewer, nowhere, [], to=target, now=now, key=self.share.key)
        return world.nexus._parts.append(viewer.workspace, [copy], now)[0]  # noqa: SLF001


@dataclass(slots=True)
class Shared:
    """What was shared in the world with secrets, and is said openly in the other."""

    copies: dict[str, WorkspaceId] = field(default_factory=dict)

    def instead(self, operation: Operation, told: Any, world: World, hides: Hides) -> Operation:
        """What happens in the world without secrets when this happened in the one with them."""
        if not isinstance(operation, Share) or not isinstance(told, Receipt):
            return operation
        memory = operation.memory(world)
        if memory is None or not hides(operation.workspace, memory.label):
            return operation
        self.copies[told.event_id] = operation.workspace
        return SayOpenly(operation, memory)

    def forget(self, with_secrets: World, without: World) -> None:
        """A copy that went with its source goes in the other world, too."""
        for id, workspace in list(self.copies.items()):
            if with_secrets.store.eraser.gone(workspace, [id]):
                del self.copies[id]
                if without.store.ledger.get(administrator_grant(workspace), [id]):
                    without.nexus.workspace(workspace.value).forget(event=id)
