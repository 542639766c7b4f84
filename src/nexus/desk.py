"""What lies on the table in a place: notes, thoughts, the goal, and the last messages."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from .core.access import Grant, Viewer
from .core.errors import InvalidInput
from .core.records import Json
from .reading import audited
from .recall.query import check_limit

if TYPE_CHECKING:
    from .core.window import ActiveGoal, Note, Thought, WindowView
    from .wiring import Parts

MOST_SHOWN = 1_000


class Desk:
    """The part of a place that is about the present. Everything here is of the place itself."""

    _parts: Parts
    viewer: Viewer
    grant: Grant

    def note(self, key: str, value: Json, *, ttl: float | timedelta | None = None) -> Note:
        """Keep a text or JSON under a key for `ttl` (seconds).

        Without a `ttl` it stays until nothing has happened here for a day.
        """
        from .compose import window  # noqa: PLC0415  # loads what it is made of

        return window.put_note(
            self._parts.store,
            self.viewer.workspace,
            self.viewer.home,
            key,
            value,
            now=self._parts.now(),
            by=self._whoever_is_here,
            ttl=_stretch(ttl),
            idle=self._idle,
        )

    @audited
    def notes(self) -> list[Note]:
        """The notes that lie here, newest first."""
        from .compose import window  # noqa: PLC0415

        return window.notes(
            self._parts.store, self.grant, self.viewer.home, self._parts.now(), idle=self._idle
        )

    def drop_note(self, key: str) -> bool:
        """Take a note away; whether it was there."""
        from .compose import window  # noqa: PLC0415

        return window.drop_note(self._parts.store, self.viewer.workspace, self.viewer.home, key)

    def think(self, text: str) -> Thought:
        """Append a thought of the agent's. The last fifty stay."""
        from .compose import window  # noqa: PLC0415

        return window.think(
            self._parts.store,
            self.viewer.workspace,
            self.viewer.home,
            text,
            now=self._parts.now(),
            by=self.viewer.agent.value,
            idle=self._idle,
        )

    @audited
    def thoughts(self) -> list[Thought]:
        """What the agent thought here, oldest first."""
        from .compose import window  # noqa: PLC0415

        return window.thoughts(
            self._parts.store, self.grant, self.viewer.home, self._parts.now(), idle=self._idle
        )

    def set_goal(self, text: str, *, status: str = "active") -> ActiveGoal:
        """Say what is being worked on here: "active", "done" or "dropped"."""
        from .compose import window  # noqa: PLC0415

        return window.set_goal(
            self._parts.store,
            self.viewer.workspace,
            self.viewer.home,
            text,
            now=self._parts.now(),
            by=self._whoever_is_here,
            status=status,
            idle=self._idle,
        )

    @audited
    def goal(self) -> ActiveGoal | None:
        """What is being worked on here."""
        from .compose import window  # noqa: PLC0415

        return window.goal(
            self._parts.store, self.grant, self.viewer.home, self._parts.now(), idle=self._idle
        )

    @audited
    def window(self, limit: int = 50) -> WindowView:
        """What is on the table: the last messages, the summary, notes, thoughts and the goal.

        After a day of silence there are no messages: the summary tells what was before it.
        """
        from .compose import window  # noqa: PLC0415

        most = check_limit(limit, MOST_SHOWN)
        self._parts.learner.catch_up(self.grant.within([self.viewer.home]))
        now = self._parts.now()
        home, store = self.viewer.home, self._parts.store
        return window.window_of(store, self.grant, home, now, most, idle=self._idle)

    @property
    def _idle(self) -> timedelta:
        return self._parts.settings.compose.idle

    @property
    def _whoever_is_here(self) -> str:
        user = self.viewer.user
        return user.value if user else self.viewer.agent.value


def _stretch(ttl: float | timedelta | None) -> timedelta | None:
    if ttl is None or isinstance(ttl, timedelta):
        return ttl
    if isinstance(ttl, bool) or not isinstance(ttl, int | float):
        raise InvalidInput(f"ttl is a number of seconds, not {type(ttl).__name__}")
    try:
        return timedelta(seconds=ttl)
    except (OverflowError, ValueError):
        raise InvalidInput(f"ttl is a number of seconds, not {ttl}") from None
