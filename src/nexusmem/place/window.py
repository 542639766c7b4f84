"""Working memory of a place: notes, thoughts, the active goal and recent messages."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from ..core.errors import InvalidInput
from ..core.records import Json
from ..recall.query import check_limit
from .base import PlaceBase, audit_read

if TYPE_CHECKING:
    from ..compose.layers import Layer
    from ..core.records.window import ActiveGoal, Note, Thought, WindowView

MAX_MESSAGES = 1_000


class WindowMethods(PlaceBase):
    """The methods of a place for its working memory, which no other place shares."""

    def set_note(self, key: str, value: Json, *, ttl: float | timedelta | None = None) -> Note:
        """Set a note: a JSON value under a key, for `ttl` seconds or a timedelta.

        Without a `ttl` the note expires when the place is idle (`memory.compose.idle_hours`).
        """
        from ..compose import window  # loaded on first use

        return window.put_note(
            self._parts.store,
            self.viewer.workspace,
            self.viewer.home,
            key,
            value,
            now=self._parts.now(),
            by=self._author_name,
            ttl=_parse_ttl(ttl),
            idle=self._idle_time,
        )

    @audit_read
    def notes(self) -> list[Note]:
        """List the notes of this place, newest first."""
        from ..compose import window  # loaded on first use

        return window.list_notes(
            self._parts.store, self.grant, self.viewer.home, self._parts.now(), idle=self._idle_time
        )

    def delete_note(self, key: str) -> bool:
        """Delete a note; return whether it existed."""
        from ..compose import window  # loaded on first use

        return window.delete_note(self._parts.store, self.viewer.workspace, self.viewer.home, key)

    def add_thought(self, text: str) -> Thought:
        """Add a thought of the agent; the last fifty are stored."""
        from ..compose import window  # loaded on first use

        return window.add_thought(
            self._parts.store,
            self.viewer.workspace,
            self.viewer.home,
            text,
            now=self._parts.now(),
            by=self.viewer.agent.value,
            idle=self._idle_time,
        )

    @audit_read
    def thoughts(self) -> list[Thought]:
        """List the thoughts of the agent, oldest first."""
        from ..compose import window  # loaded on first use

        return window.list_thoughts(
            self._parts.store, self.grant, self.viewer.home, self._parts.now(), idle=self._idle_time
        )

    def set_active_goal(self, text: str, *, status: str = "active") -> ActiveGoal:
        """Set the goal that is worked on now; `status` is "active", "done" or "dropped"."""
        from ..compose import window  # loaded on first use

        return window.set_active_goal(
            self._parts.store,
            self.viewer.workspace,
            self.viewer.home,
            text,
            now=self._parts.now(),
            by=self._author_name,
            status=status,
            idle=self._idle_time,
        )

    @audit_read
    def active_goal(self) -> ActiveGoal | None:
        """Return the active goal, or None."""
        from ..compose import window  # loaded on first use

        return window.get_active_goal(
            self._parts.store, self.grant, self.viewer.home, self._parts.now(), idle=self._idle_time
        )

    @audit_read
    def window(self, limit: int = 50) -> WindowView:
        """Return recent messages, the summary, notes, thoughts and the active goal.

        `limit` is the number of messages. If the place is idle, only the summary is returned.
        """
        from ..compose import window  # loaded on first use

        most = check_limit(limit, MAX_MESSAGES)
        self._parts.learner.catch_up(self.grant.narrow_to([self.viewer.home]))
        now = self._parts.now()
        home, store = self.viewer.home, self._parts.store
        return window.load_window(store, self.grant, home, now, most, idle=self._idle_time)

    @audit_read
    def layer(self, name: str, *, examples: int = 5) -> Layer:
        """Return what lies in a layer: "L0" the last context, "L1" the window, "L2" memories of
        tier short, "L3" of tier long, "L4" documents.

        The result has the number of items that the viewer may see, the times of the oldest and the
        newest, and the newest `examples`.
        """
        from ..compose import layers  # loaded on first use

        self._parts.learner.catch_up(self.grant)
        self._parts.worker.drain()  # the receipt of the last context may wait
        inputs = layers.LayerInput(
            store=self._parts.store,
            grant=self.grant,
            home=self.viewer.home,
            now=self._parts.now(),
            idle=self._idle_time,
            examples=examples,
        )
        return layers.load_layer(name, inputs)

    @property
    def _idle_time(self) -> timedelta:
        return self._parts.settings.compose.idle_timeout

    @property
    def _author_name(self) -> str:
        user = self.viewer.user
        return user.value if user else self.viewer.agent.value


def _parse_ttl(ttl: float | timedelta | None) -> timedelta | None:
    if ttl is None or isinstance(ttl, timedelta):
        return ttl
    if isinstance(ttl, bool) or not isinstance(ttl, int | float):
        raise InvalidInput(f"ttl must be a number of seconds, got {type(ttl).__name__}")
    try:
        return timedelta(seconds=ttl)
    except (OverflowError, ValueError):
        raise InvalidInput(f"ttl must be a number of seconds, got {ttl}") from None
