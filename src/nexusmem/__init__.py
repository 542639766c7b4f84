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
        BadOutput,
        BudgetSpent,
        ConfigError,
        Conflict,
        Corrupt,
        EmbedderUnavailable,
        Forgotten,
        InvalidInput,
        JobFailed,
        LeaseLost,
        MissingExtra,
        ModelUnavailable,
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
    "BadOutput",
    "BudgetSpent",
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
    "JobFailed",
    "LeaseLost",
    "Memory",
    "MemoryPage",
    "MemoryVersion",
    "MissingExtra",
    "ModelUnavailable",
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
    "BadOutput": ".core.errors",
    "BudgetSpent": ".core.errors",
    "ConfigError": ".core.errors",
    "Conflict": ".core.errors",
    "Context": ".core.records.context",
    "Corrupt": ".core.errors",
    "EmbedderUnavailable": ".core.errors",
    "EntityView": ".recall.views.entities",
    "Event": ".core.records",
    "Fact": ".core.records",
    "FactTimeline": ".recall.views.fact_timeline",
    "Forgotten": ".core.errors",
    "Goal": ".core.records.goals",
    "Grant": ".core.access",
    "Hit": ".core.records",
    "Hits": ".core.records",
    "InvalidInput": ".core.errors",
    "JobFailed": ".core.errors",
    "LeaseLost": ".core.errors",
    "Memory": ".core.records",
    "MemoryPage": ".place.memories",
    "MemoryVersion": ".place.memories",
    "MissingExtra": ".core.errors",
    "ModelUnavailable": ".core.errors",
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
