"""Shared state of every place: its viewer, the grant of that viewer, and the parts of Nexus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec, TypeVar

from ..core.access import Grant, Viewer
from ..core.errors import InvalidInput, QuotaExceeded
from ..core.filters import Condition, Filter, Op
from ..core.flows import memory_scopes
from ..core.records import NewEvent, Receipt
from ..core.scope import Scope, ScopeKind

if TYPE_CHECKING:
    from ..core.access import Viewer
    from ..wiring.parts import Parts


class PlaceBase:
    """One viewer in one room, DM or session; the base of the classes that make up `Place`."""

    _audit_prefix: ClassVar[str] = ""

    def __init__(self, parts: Parts, viewer: Viewer) -> None:
        self._parts = parts
        self.viewer = self._viewer = viewer
        self.grant: Grant = viewer.grant()

    def scope(self, name: str | None) -> Scope:
        """Return the scope that `name` means from this place.

        None is the place itself. A kind such as "project" or "user" is the viewer's own scope of
        that kind. "kind:id" names a scope exactly. Raises NotFound if the viewer cannot reach it.
        """
        return self.viewer.home if name is None else self.viewer.resolve_scope(name)

    def _narrow(self, scope: str | None) -> tuple[Grant, Filter | None]:
        """Return the grant for one scope, and the filter that a shared session needs."""
        if scope is None:
            return self.grant, None
        one = self.viewer.resolve_scope(scope)
        is_session = one.kind is ScopeKind.SESSION
        where = Condition("scope", Op.EQ, str(one)) if is_session else None
        return self.grant.narrow_to(memory_scopes(one)), where

    def _append_events(
        self, events: Sequence[NewEvent], now: datetime | None = None
    ) -> list[Receipt]:
        return self._parts.recorder.append(self.viewer.workspace, events, now or self._parts.now())


P = ParamSpec("P")
R = TypeVar("R")
W = TypeVar("W", bound=Any)  # a place, or one of its collections


def audit_read(method: Callable[Concatenate[W, P], R]) -> Callable[Concatenate[W, P], R]:
    """Count each call against the quota of reads, and record it if reads are audited.

    Audited methods called inside another one belong to the outer call. The administrator (no
    viewer) is neither limited nor recorded.
    """
    name = method.__name__

    @wraps(method)
    def call_audited(self: W, /, *args: P.args, **kwargs: P.kwargs) -> R:
        parts: Parts = self._parts
        viewer: Viewer | None = self._viewer
        if viewer is None or (parts.quotas.unlimited and not parts.audit.records_reads):
            return method(self, *args, **kwargs)
        action = f"{self._audit_prefix}{name}"
        question = next((each for each in (*args, *kwargs.values()) if isinstance(each, str)), None)
        return parts.audit.record_call(
            viewer,
            action,
            question,
            lambda: method(self, *args, **kwargs),
            first=lambda: _take_quota(parts, viewer, action),
        )

    return call_audited


def _take_quota(parts: Parts, viewer: Viewer, action: str) -> None:
    try:
        parts.quotas.check_recall(viewer.workspace)
    except QuotaExceeded as error:
        parts.telemetry.metrics.add("errors_total", (action, type(error).__name__))
        raise


def check_receipt(value: object) -> None:
    """Raise InvalidInput unless `value` is a Receipt; a bare event id lacks workspace and scope."""
    if not isinstance(value, Receipt):
        raise InvalidInput(f"a Receipt is required, got {type(value).__name__}")
