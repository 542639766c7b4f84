"""Embedder switchover: whether the vectors of the configured embedder can be searched yet."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from enum import Enum

from ..core.access import Grant
from ..core.errors import EmbedderUnavailable
from ..core.ids import WorkspaceId
from ..core.protocols.embedder import Embedder
from ..core.protocols.vectors import Vectors, VectorStatus
from .wrappers import profile_mismatch_error

CHECK_INTERVAL_SECONDS = 2.0  # another process may switch the active profile


class SwitchState(Enum):
    """The relation of this process's embedder to the active vectors of a workspace."""

    SETTLED = "settled"  # its vectors are active, or there are no vectors yet
    SWITCHING = "changing"  # other vectors are active; this process is replacing them
    SUPERSEDED = "left behind"  # its vectors were active until another process replaced them


class EmbedderSwitch:
    """Tracks which vectors are active in each workspace.

    A process never reverts a switch of another process, because both would switch in turns forever.
    It continues with its own vectors as long as they exist.
    """

    def __init__(
        self, embedder: Embedder, vectors: Vectors, *, refuses_switch: bool = False
    ) -> None:
        self.embedder = embedder
        self.vectors = vectors
        self._refuses_switch = refuses_switch  # raise ConfigError instead of switching
        self.on_switch: Callable[[WorkspaceId], None] = (
            _do_nothing  # called once per workspace to switch
        )
        self._cached_states: dict[WorkspaceId, tuple[float, SwitchState]] = {}
        self._started: set[WorkspaceId] = set()
        self._is_all_settled = False  # all workspaces used this embedder at the start

    def get_state(self, workspace: WorkspaceId) -> SwitchState:
        """Return the state of a workspace, read at most every CHECK_INTERVAL_SECONDS.

        Raise ConfigError if other vectors are active and switching is refused.
        """
        checked_at, state = self._cached_states.get(workspace, (0.0, SwitchState.SETTLED))
        now = time.monotonic()
        if not checked_at or now - checked_at > CHECK_INTERVAL_SECONDS:
            has_previous = checked_at or self._is_all_settled
            state = self._read_state(workspace, state if has_previous else None)
            self._cached_states[workspace] = (now, state)
        return state

    def _read_state(self, workspace: WorkspaceId, previous: SwitchState | None) -> SwitchState:
        active = self.vectors.active_profile(workspace)
        if active is None or active == self.embedder.profile:
            return SwitchState.SETTLED
        if previous in (SwitchState.SETTLED, SwitchState.SUPERSEDED):
            return SwitchState.SUPERSEDED
        if self._refuses_switch:
            raise profile_mismatch_error([active], self.embedder.profile)
        if workspace not in self._started:
            self._started.add(workspace)
            self.on_switch(workspace)
        return SwitchState.SWITCHING

    def check_all(self, workspaces: Callable[[], Iterable[WorkspaceId]]) -> None:
        """Start switching every workspace with vectors of another embedder.

        `workspaces` is called only if the store has vectors of another embedder.
        """
        ours = self.embedder.profile
        if all(each == ours for each in self.vectors.list_profiles()):
            self._is_all_settled = True
            return
        for workspace in workspaces():
            self.get_state(workspace)

    def expire_state(self, workspace: WorkspaceId) -> None:
        """Make the next `get_state` read the workspace again."""
        cached = self._cached_states.get(workspace)
        if cached is not None:
            self._cached_states[workspace] = (float("-inf"), cached[1])

    def vector_status(self, grant: Grant) -> VectorStatus:
        """Return whether vector search works for this grant; counts only memories inside it."""
        state = self.get_state(grant.workspace)
        if state is SwitchState.SETTLED:
            return VectorStatus()
        ours = self.embedder.profile
        if state is SwitchState.SUPERSEDED:
            active = self.vectors.active_profile(grant.workspace)
            name = active.name if active else "another embedder"
            return VectorStatus(
                remark=f"this memory was switched to {name}, but this process still uses"
                f" {ours.name}: newer memories may have no vector for it"
            )
        counts = self.vectors.coverage(grant, ours)
        done, total = counts["embedded"], sum(counts.values())
        return VectorStatus(
            is_usable=False,
            remark=f"switching to {ours.name}, {done} of {total} memories embedded;"
            " until then only keywords are searched",
        )

    def check_ready(self, workspace: WorkspaceId) -> None:
        """Raise EmbedderUnavailable while the workspace is being switched."""
        if self.get_state(workspace) is SwitchState.SWITCHING:
            raise EmbedderUnavailable(f"switching to {self.embedder.profile.name}")


def _do_nothing(_workspace: WorkspaceId) -> None:
    """Default of `on_switch` without a background worker."""
