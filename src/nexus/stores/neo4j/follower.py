"""Bringing the graph to where the records are, a batch at a time.

It may be killed at any moment and run in many processes at once: a batch and how far it came are
one transaction, which ends nowhere if somebody else was faster. Nothing waits for it, because a
walk takes what is not in the graph yet from the records.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from threading import Lock

from ...core.derive import looked_up_by
from ...core.ids import WorkspaceId, digest
from ..sql.feed import Feed
from ..sql.labels import LabelState
from .mirror import Followed, Mirror, Overtaken
from .rows import row_of

BATCH = 500  # memories read and written at once
STEP_SECONDS = 1.0  # of following before others get a turn
PATIENCE = 5  # times that somebody else may be faster


class Follower:
    """Follows every workspace of the records."""

    def __init__(self, feed: Feed, mirror: Mirror) -> None:
        self._feed = feed
        self._mirror = mirror
        self._counters: dict[WorkspaceId, int] = {}  # up to which a workspace was followed here
        self._wanted: set[WorkspaceId] = set()
        self._made_anew: set[WorkspaceId] = set()  # by this process, which does so once
        self._following = Lock()
        self._made_at: str | None = None

    def home(self, workspace: WorkspaceId) -> str:
        """How the graph knows a workspace of these records: those of another file are others."""
        self._made_at = self._made_at or self._feed.made_at()
        return digest("graph", self._made_at, workspace.value)

    def want(self, workspace: WorkspaceId) -> None:
        """Look at this workspace the next time: something may have left it."""
        self._wanted.add(workspace)

    def step(self) -> bool:
        """Follow for about a second; whether there is more to follow."""
        with self._following:
            deadline = time.monotonic() + STEP_SECONDS
            for workspace, counter in self._behind().items():
                self._wanted.discard(workspace)
                try:
                    if not self._follow(workspace, deadline):
                        self._wanted.add(workspace)
                        return True
                except BaseException:
                    self._wanted.add(workspace)
                    raise
                self._counters[workspace] = counter
        return False

    def _behind(self) -> dict[WorkspaceId, int]:
        counters = self._feed.counters()
        return {
            workspace: counter
            for workspace, counter in sorted(counters.items())
            if workspace in self._wanted or self._counters.get(workspace) != counter
        }

    def _follow(self, workspace: WorkspaceId, deadline: float) -> bool:
        """Whether this workspace was followed to its end."""
        home = self.home(workspace)
        try:
            followed = self._mirror.followed(home)
            while (further := self._next_batch(workspace, home, followed)) != followed:
                followed = further
                if time.monotonic() > deadline:
                    return False
            self._clean(workspace, home, followed)
        except Overtaken:
            return False
        return workspace in self._counters or self._whole(workspace, home)

    def _next_batch(self, workspace: WorkspaceId, home: str, followed: Followed) -> Followed:
        """Add what comes next; how far the graph has come now."""
        with self._feed.connections.reading():
            counter = self._feed.counter(workspace)
            found = self._feed.named(workspace, after=followed.reached, limit=BATCH)
        if followed.reached > counter:  # a backup of the records: its future never happened
            self._mirror.drop([home])
            raise Overtaken
        reached = found[-1][0] if len(found) == BATCH else counter
        if reached == followed.reached:
            return followed
        rows = [row_of(label, memory) for _, label, memory in found if looked_up_by(memory)]
        self._mirror.add(home, rows, version=followed.version, reached=reached)
        return replace(followed, version=followed.version + 1, reached=reached)

    def erase(self, workspace: WorkspaceId) -> set[str]:
        """Take out at once what has left the records; the ids of that."""
        home = self.home(workspace)
        with self._following:
            for _ in range(PATIENCE):
                try:
                    return self._clean(workspace, home, self._mirror.followed(home))
                except Overtaken:
                    continue
        raise Overtaken

    def _clean(self, workspace: WorkspaceId, home: str, followed: Followed) -> set[str]:
        """Take out what has left any label since it was last looked at."""
        every: set[str] = set()
        changed = [state.label for state in self._states(workspace) if _left(state, followed)]
        version = followed.version
        for label in changed:
            there = self._mirror.ids_in_label(home, label)
            with self._feed.connections.reading():
                (now,) = (state for state in self._states(workspace) if state.label == label)
                gone = there - self._feed.named_in(workspace, label)
            version = self._mirror.clean(
                home, label, sorted(gone), version=version, generation=now.generation
            )
            every |= gone
        return every

    def _whole(self, workspace: WorkspaceId, home: str) -> bool:
        """Whether as many memories are there as there should be; if not, it is made anew."""
        size, followed = self._mirror.size(home), self._mirror.followed(home)
        with self._feed.connections.reading():
            states = self._states(workspace)
            expected = sum(len(self._feed.named_in(workspace, each.label)) for each in states)
            moved = self._feed.counter(workspace) != followed.reached
            moved = moved or any(_left(state, followed) for state in states)
        if moved or size == expected or workspace in self._made_anew:
            return True
        self._made_anew.add(workspace)
        self._mirror.drop([home])
        return False

    def _states(self, workspace: WorkspaceId) -> Sequence[LabelState]:
        return self._feed.labels(workspace).labels

    def rebuild(self) -> None:
        """Drop everything of these records; it is filled in again."""
        with self._following:
            homes = [self.home(each) for each in self._feed.counters()]
            self._mirror.drop(homes)
            self._counters.clear()


def _left(state: LabelState, followed: Followed) -> bool:
    """Whether something may have left this label since it was last looked at."""
    return state.generation != followed.cleaned.get(state.label, 0)
