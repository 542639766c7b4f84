"""What a place keeps in a form of its own: reviews, goals, procedures, dossiers, the notebook."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .core.access import Grant, Viewer
from .core.errors import ModelUnavailable
from .core.records import Memory

if TYPE_CHECKING:
    from .core.scope import Scope
    from .dossiers import Dossiers
    from .goals import Goals
    from .notebook import Notebook
    from .procedures import Procedures
    from .reviews import Reviews
    from .wiring import Parts


class Books:
    """The part of a place where such things are opened; each loads when somebody asks for it."""

    _parts: Parts
    viewer: Viewer
    grant: Grant

    if TYPE_CHECKING:

        def scope(self, name: str | None) -> Scope: ...
        def _narrate(
            self, said: Sequence[tuple[str, str]], keep: Sequence[str]
        ) -> Sequence[str]: ...

    def reviews(self) -> Reviews:
        """Changes proposed to whoever is here: merges and contradictions."""
        from .reviews import Reviews  # noqa: PLC0415

        user = self.viewer.user
        by, role = (user.value, "user") if user else (self.viewer.agent.value, "system")
        return Reviews(self._parts, self.grant, by, role=role, viewer=self.viewer)

    def goals(self) -> Goals:
        """What is to be achieved: goals, their parts, and what is in their way."""
        from .goals import Goals  # noqa: PLC0415

        return Goals(self._parts, self.viewer, self.grant)

    def dossiers(self) -> Dossiers:
        """Documents about somebody or something, made again when what is known has changed."""
        from .dossiers import Dossiers  # noqa: PLC0415

        by_model = self._parts.settings.learning.episodes == "model"
        return Dossiers(
            self._parts, self.viewer, self.grant, self._told_by_model if by_model else None
        )

    def _told_by_model(self, _name: str, memories: Sequence[Memory]) -> tuple[str, ...] | None:
        """A beginning in a few sentences, if the model answers and invents nothing."""
        from .maintain.dossiers import in_words  # noqa: PLC0415

        try:
            return tuple(self._narrate(*in_words(memories)))
        except ModelUnavailable:
            return None

    def notebook(self, scope: str | None = None) -> Notebook:
        """Documents with a path: of this place, or of a wider `scope` ("workspace", "agent" …)."""
        from .notebook import Notebook  # noqa: PLC0415

        return Notebook(self._parts, self.viewer, self.grant, self.scope(scope))

    def procedures(self) -> Procedures:
        """How things are done: tools as they are used, tasks as they end, what works."""
        from .procedures import Procedures  # noqa: PLC0415

        return Procedures(self._parts, self.viewer, self.grant)
