"""Letting more people read a memory: explicit, written down, and undone when its source goes."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from . import observe as tell
from .core.access import Grant, Viewer
from .core.errors import Conflict, Forgotten, InvalidInput, NotFound
from .core.records import Event, EventKind, Memory, Receipt
from .core.scope import Scope
from .core.sharing import NEVER, SHARE

if TYPE_CHECKING:
    from .wiring import Parts


class Sharing:
    """The part of a place that reaches beyond it."""

    _parts: Parts
    viewer: Viewer
    grant: Grant

    def share(self, id: str, *, to: str | Sharing, key: str | None = None) -> Receipt:
        """Let those who read `to` read the text of this memory, too, as you say it there.

        `to` is a wider scope that can be reached from here, such as "project" or "user", or another
        place that you are in: `dm.share(id, to=room)`. They see the text and who shared it, and not
        where it comes from. Sharing it again is once; when the memory or what it rests on is
        forgotten, so is the copy. Returns the receipt of the copy.
        """
        memory = self._readable(id)
        home = self._target(to)
        if memory.kind in NEVER:
            raise InvalidInput(f"a memory of kind {memory.kind.value} has no words to share")
        if memory.label == {home}:
            raise InvalidInput(f"this lies in {home} already")
        sources = self._events_below(memory)
        now = self._parts.now()
        act, copy = tell.share(self.viewer, memory, sources, to=home, now=now, key=key)
        if before := self._shared_before(act.id, home):
            return before
        try:
            with self._recorded(memory, home, copy.id):
                receipt = self._parts.append(self.viewer.workspace, [act, copy], now)[1]
        except Conflict:  # somebody shared it at the same time, or the key is taken
            if before := self._shared_before(act.id, home):
                return before
            raise
        self._tie(act.id, id)
        return receipt

    def _recorded(self, memory: Memory, home: Scope, copy: str) -> AbstractContextManager[None]:
        """The trail tells the administrator what was shared with whom, in the same transaction."""
        owners = [scope.owner for scope in (*sorted(memory.label), home) if scope.owner]
        return self._parts.audit.writing(
            self.viewer.workspace,
            SHARE,
            by=self.viewer,
            people=dict.fromkeys([*owners, *([memory.speaker] if memory.speaker else [])]),
            memory=memory.id,
            readable_in=[str(scope) for scope in sorted(memory.label)],
            to=str(home),
            event=copy,
        )

    def _readable(self, id: str) -> Memory:
        found = self._parts.store.memories.get(self.grant, [id] if isinstance(id, str) else [])
        if not found:
            raise NotFound(f"no memory {id!r} here")
        return found[0]

    def _target(self, to: str | Sharing) -> Scope:
        """Where the copy is to lie; what one cannot reach is not there."""
        if isinstance(to, str):
            return self.viewer.scope(to)
        there = to.viewer
        same_wall = there.workspace == self.viewer.workspace and to._parts is self._parts  # noqa: SLF001
        user = self.viewer.user
        here_too = user in (*there.people, there.user) if user else there.agent == self.viewer.agent
        if not same_wall or not here_too:
            raise NotFound("you are not in that place")
        return there.home

    def _events_below(self, memory: Memory) -> list[str]:
        """Every event a memory rests on, also through other memories."""
        store, found, looked = self._parts.store, set[str](), set[str]()
        wanted = set(memory.sources)
        while wanted:
            events = set(store.ledger.keys(self.grant, sorted(wanted)))
            found |= events
            looked |= wanted
            between = store.memories.get(self.grant, sorted(wanted - events))
            wanted = {id for each in between for id in each.sources} - looked
        return sorted(found)

    def _shared_before(self, act: str, home: Scope) -> Receipt | None:
        """The receipt of the copy, if this was shared there already."""
        found = self._parts.store.ledger.get(self.grant, [act])
        if not found:
            return None
        if found[0].kind is not EventKind.SHARE:
            raise Conflict("something else was told under the key of this act of sharing")
        told = found[0].metadata[SHARE]
        if self._parts.store.eraser.gone(self.viewer.workspace, [told["copy"]]):
            raise Forgotten("this was shared there, and forgotten")
        return Receipt(
            workspace=self.viewer.workspace,
            scope=home,
            event_id=told["copy"],
            key=told["key"],
            repeated=True,
        )

    def _tie(self, act: str, memory: str) -> None:
        """Link the copy to its source now: nobody who forgets the source may come in between."""
        from .learn.sharing import shared  # noqa: PLC0415  # importing nexus does not wait for it

        store, workspace = self._parts.store, self.viewer.workspace
        written: list[Event] = store.ledger.get(self.grant, [act])
        drafts = [draft for event in written for draft in shared(store, event)]
        if not drafts or not store.memories.put(workspace, drafts):
            for event in written:  # it was forgotten meanwhile, and so is the copy
                shared(store, event)
            raise NotFound(f"no memory {memory!r} here")
