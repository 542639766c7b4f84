"""A read of a place, whichever it is: one question of its workspace, recorded if that is wanted."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from .core.errors import InvalidInput, QuotaExceeded
from .core.records import Receipt

if TYPE_CHECKING:
    from .core.access import Viewer
    from .wiring import Parts

PLACES = ("Place", "Contexts", "Desk", "Knowing")  # their methods are known by name alone

P = ParamSpec("P")
R = TypeVar("R")
W = TypeVar("W", bound=Any)  # something people read from: a place, or a book in it


def audited(method: Callable[Concatenate[W, P], R]) -> Callable[Concatenate[W, P], R]:
    """Of a method that reads: a call is a question, of which a workspace has so many a minute.

    At the levels that record reads it is recorded. What it calls itself is a part of it.
    """
    owner, _, name = method.__qualname__.rpartition(".")
    action = name if owner in PLACES else f"{owner.lower()}_{name}"

    @wraps(method)
    def call(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R:
        parts: Parts = self._parts
        viewer: Viewer | None = self.viewer if owner in PLACES else self._viewer
        if viewer is None or (parts.quotas.unlimited and not parts.audit.reads):
            return method(self, *args, **kwargs)
        asked = next((each for each in (*args, *kwargs.values()) if isinstance(each, str)), None)
        return parts.audit.watch(
            viewer,
            action,
            asked,
            lambda: method(self, *args, **kwargs),
            first=lambda: _ask(parts, viewer, action),
        )

    return call


def _ask(parts: Parts, viewer: Viewer, action: str) -> None:
    try:
        parts.quotas.asking(viewer.workspace)
    except QuotaExceeded as error:
        parts.telemetry.metrics.add("errors_total", (action, type(error).__name__))
        raise


def check_receipt(value: object) -> None:
    """Refuse what is none: an id alone does not say where its event is."""
    if not isinstance(value, Receipt):
        raise InvalidInput(f"a receipt is needed, not {type(value).__name__}")
