"""Nexus: memory for AI agents and the people they work with.

    from nexusmem import Nexus

    with Nexus.open("memory.db") as nexus:
        alice = nexus.user("alice")
        alice.observe("alice", "My sister's name is Mara.")
        print(alice.recall("What is my sister called?")[0].text)

Packages, in the order data flows through them: `observe` (messages → events), `learn`
(events → memories), `maintain` (memories → better memories), `recall` (question → hits),
`compose` (hits → context).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .aio import AsyncNexus, AsyncPlace, AsyncWorkspace
    from .client import Nexus
    from .core.access import Grant, Viewer
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
    from .core.ids import AgentId, UserId, WorkspaceId
    from .core.records import Attachment, Event, Fact, Hit, Hits, Memory, Progress, Receipt, Stage
    from .core.records.context import Context
    from .core.records.goals import Goal
    from .core.scope import Scope
    from .place.memories import MemoryPage, MemoryVersion
    from .place.place import Place
    from .place.reviews import Review
    from .recall.views.entities import EntityView
    from .recall.views.fact_timeline import FactTimeline
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
    "FactTimeline",
    "Forgotten",
    "Goal",
    "Grant",
    "Hit",
    "Hits",
    "InvalidInput",
    "Memory",
    "MemoryPage",
    "MemoryVersion",
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

_MODULES = {
    "AgentId": ".core.ids",
    "AsyncNexus": ".aio",
    "AsyncPlace": ".aio",
    "AsyncWorkspace": ".aio",
    "Attachment": ".core.records",
    "ConfigError": ".core.errors",
    "Conflict": ".core.errors",
    "Corrupt": ".core.errors",
    "EmbedderUnavailable": ".core.errors",
    "Context": ".core.records.context",
    "EntityView": ".recall.views.entities",
    "Event": ".core.records",
    "Fact": ".core.records",
    "Forgotten": ".core.errors",
    "Hits": ".core.records",
    "Goal": ".core.records.goals",
    "FactTimeline": ".recall.views.fact_timeline",
    "Grant": ".core.access",
    "Hit": ".core.records",
    "InvalidInput": ".core.errors",
    "Memory": ".core.records",
    "MemoryPage": ".place.memories",
    "MemoryVersion": ".place.memories",
    "MissingExtra": ".core.errors",
    "Nexus": ".client",
    "NexusError": ".core.errors",
    "NotFound": ".core.errors",
    "Place": ".place.place",
    "Progress": ".core.records",
    "QuotaExceeded": ".core.errors",
    "Receipt": ".core.records",
    "Review": ".place.reviews",
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
    """Import a public name on first access, so that `nexus --help` loads none of them."""
    if name not in _MODULES:
        raise AttributeError(f"module 'nexusmem' has no attribute {name!r}")
    value = getattr(import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value
