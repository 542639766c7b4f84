"""Nexus: memory for AI agents and the people they work with.

observe → events · learn: events → memories · maintain: memories → better memories ·
recall: question → hits · compose: hits → context
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .aio import AsyncNexus, AsyncPlace, AsyncWorkspace
    from .core.access import Grant, Viewer
    from .core.context import Context
    from .core.errors import (
        ConfigError,
        Conflict,
        Corrupt,
        EmbedderUnavailable,
        Forgotten,
        InvalidInput,
        MissingExtra,
        NexusError,
        NotFound,
        QuotaExceeded,
        StoreUnavailable,
        Unavailable,
    )
    from .core.goals import Goal
    from .core.ids import AgentId, UserId, WorkspaceId
    from .core.records import Attachment, Event, Fact, Found, Hit, Memory, Progress, Receipt, Stage
    from .core.scope import Scope
    from .nexus import Nexus
    from .place import Place
    from .recall.entities import EntityView
    from .recall.interpret import Interpretation
    from .reviews import Review
    from .workspace import Workspace

__all__ = [
    "AgentId",
    "AsyncNexus",
    "AsyncPlace",
    "AsyncWorkspace",
    "Attachment",
    "ConfigError",
    "Conflict",
    "Context",
    "Corrupt",
    "EmbedderUnavailable",
    "EntityView",
    "Event",
    "Fact",
    "Forgotten",
    "Found",
    "Goal",
    "Grant",
    "Hit",
    "Interpretation",
    "InvalidInput",
    "Memory",
    "MissingExtra",
    "Nexus",
    "NexusError",
    "NotFound",
    "Place",
    "Progress",
    "QuotaExceeded",
    "Receipt",
    "Review",
    "Scope",
    "Stage",
    "StoreUnavailable",
    "Unavailable",
    "UserId",
    "Viewer",
    "Workspace",
    "WorkspaceId",
]

_HOMES = {
    "AgentId": ".core.ids",
    "AsyncNexus": ".aio",
    "AsyncPlace": ".aio",
    "AsyncWorkspace": ".aio",
    "Attachment": ".core.records",
    "ConfigError": ".core.errors",
    "Conflict": ".core.errors",
    "Corrupt": ".core.errors",
    "EmbedderUnavailable": ".core.errors",
    "Context": ".core.context",
    "EntityView": ".recall.entities",
    "Event": ".core.records",
    "Fact": ".core.records",
    "Forgotten": ".core.errors",
    "Found": ".core.records",
    "Goal": ".core.goals",
    "Interpretation": ".recall.interpret",
    "Grant": ".core.access",
    "Hit": ".core.records",
    "InvalidInput": ".core.errors",
    "Memory": ".core.records",
    "MissingExtra": ".core.errors",
    "Nexus": ".nexus",
    "NexusError": ".core.errors",
    "NotFound": ".core.errors",
    "Place": ".place",
    "Progress": ".core.records",
    "QuotaExceeded": ".core.errors",
    "Receipt": ".core.records",
    "Review": ".reviews",
    "Scope": ".core.scope",
    "Stage": ".core.records",
    "StoreUnavailable": ".core.errors",
    "Unavailable": ".core.errors",
    "UserId": ".core.ids",
    "Viewer": ".core.access",
    "Workspace": ".workspace",
    "WorkspaceId": ".core.ids",
}


def __getattr__(name: str) -> Any:
    """Each name loads when somebody asks for it: `nexus --help` needs none of them."""
    if name not in _HOMES:
        raise AttributeError(f"module 'nexus' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name], __name__), name)
    globals()[name] = value
    return value
