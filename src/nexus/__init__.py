"""Nexus: memory for AI agents and the people they work with.

observe → events · learn: events → memories · maintain: memories → better memories ·
recall: question → hits · compose: hits → context
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    StoreUnavailable,
    Unavailable,
)
from .core.ids import AgentId, UserId, WorkspaceId
from .core.records import Attachment, Event, Fact, Found, Hit, Memory, Progress, Receipt, Stage
from .core.scope import Scope
from .nexus import Nexus
from .place import Place
from .workspace import Workspace

if TYPE_CHECKING:
    from .aio import AsyncNexus, AsyncPlace, AsyncWorkspace

__all__ = [
    "AgentId",
    "AsyncNexus",
    "AsyncPlace",
    "AsyncWorkspace",
    "Attachment",
    "ConfigError",
    "Conflict",
    "Corrupt",
    "EmbedderUnavailable",
    "Event",
    "Fact",
    "Forgotten",
    "Found",
    "Grant",
    "Hit",
    "InvalidInput",
    "Memory",
    "MissingExtra",
    "Nexus",
    "NexusError",
    "NotFound",
    "Place",
    "Progress",
    "Receipt",
    "Scope",
    "Stage",
    "StoreUnavailable",
    "Unavailable",
    "UserId",
    "Viewer",
    "Workspace",
    "WorkspaceId",
]


def __getattr__(name: str) -> Any:
    """The awaited face loads when somebody asks for it: asyncio is a third of the import time."""
    if name in ("AsyncNexus", "AsyncPlace", "AsyncWorkspace"):
        from . import aio  # noqa: PLC0415

        return getattr(aio, name)
    raise AttributeError(f"module 'nexus' has no attribute {name!r}")
