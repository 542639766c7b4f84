"""Which vectors this process may ask, while a memory changes from one embedder to another."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from enum import Enum

from ..core.access import Grant
from ..core.errors import EmbedderUnavailable
from ..core.ids import WorkspaceId
from ..core.protocols import Embedder, Vectors
from ..core.standing import Standing
from .checked import refusal

LOOK_SECONDS = 2.0  # between two looks at what is in use; another process may have changed it


class State(Enum):
    """How this process's embedder stands to a workspace."""

    SETTLED = "settled"  # its vectors are in use, or there are none yet
    CHANGING = "changing"  # others are in use, and this process came to change them
    LEFT_BEHIND = "left behind"  # its own were in use, until somebody else changed them


class Changeover:
    """Looks now and then which vectors are in use in a workspace.

    A process never changes back what another one has changed: it would be changed again, and
    there would be no end to it. It goes on with its own vectors while they are there.
    """

    def __init__(self, embedder: Embedder, vectors: Vectors, *, refuses: bool = False) -> None:
        self.embedder = embedder
        self.vectors = vectors
        self._refuses = refuses  # to change anything by itself: then it says so
        self.begin: Callable[[WorkspaceId], None] = _nothing  # for one that is to be changed
        self._looked: dict[WorkspaceId, tuple[float, State]] = {}
        self._began: set[WorkspaceId] = set()
        self._all_settled = False  # when this process looked at all of them

    def state(self, workspace: WorkspaceId) -> State:
        looked_at, state = self._looked.get(workspace, (0.0, State.SETTLED))
        now = time.monotonic()
        if not looked_at or now - looked_at > LOOK_SECONDS:
            known = looked_at or self._all_settled
            state = self._look(workspace, state if known else None)
            self._looked[workspace] = (now, state)
        return state

    def _look(self, workspace: WorkspaceId, before: State | None) -> State:
        used = self.vectors.in_use(workspace)
        if used is None or used == self.embedder.profile:
            return State.SETTLED
        if before in (State.SETTLED, State.LEFT_BEHIND):
            return State.LEFT_BEHIND
        if self._refuses:
            raise refusal([used], self.embedder.profile)
        if workspace not in self._began:
            self._began.add(workspace)
            self.begin(workspace)
        return State.CHANGING

    def look_at_all(self, workspaces: Callable[[], Iterable[WorkspaceId]]) -> None:
        """Begin wherever another embedder's vectors are in use; if there is none, that is quick."""
        ours = self.embedder.profile
        if all(each == ours for each in self.vectors.profiles()):
            self._all_settled = True
            return
        for workspace in workspaces():
            self.state(workspace)

    def look_again(self, workspace: WorkspaceId) -> None:
        """This process has just changed something there."""
        known = self._looked.get(workspace)
        if known is not None:
            self._looked[workspace] = (float("-inf"), known[1])

    def standing(self, grant: Grant) -> Standing:
        """Whether questions of this grant can be asked by meaning. Counts only what it may see."""
        state = self.state(grant.workspace)
        if state is State.SETTLED:
            return Standing()
        ours = self.embedder.profile
        if state is State.LEFT_BEHIND:
            used = self.vectors.in_use(grant.workspace)
            name = used.name if used else "another embedder"
            return Standing(
                remark=f"this memory has changed over to {name}, and this process still asks"
                f" with {ours.name}: what is new since may have no vector of it"
            )
        counted = self.vectors.coverage(grant, ours)
        done, total = counted["embedded"], sum(counted.values())
        return Standing(
            usable=False,
            remark=f"changing over to {ours.name}, {done} of {total} memories done;"
            " words must do until then",
        )

    def check(self, workspace: WorkspaceId) -> None:
        """Raise if questions cannot be asked by meaning."""
        if self.state(workspace) is State.CHANGING:
            raise EmbedderUnavailable(f"changing over to {self.embedder.profile.name}")


def _nothing(_workspace: WorkspaceId) -> None:
    """Nobody works in the background here."""
