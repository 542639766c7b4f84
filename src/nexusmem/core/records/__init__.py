"""Frozen records without I/O. This package re-exports the most used ones."""

from __future__ import annotations

from .event import (
    Attachment,
    ErasureCounts,
    Event,
    EventKind,
    LedgerReport,
    Metadata,
    NewEvent,
    PendingTask,
    Progress,
    Receipt,
    Stage,
    Task,
    Tombstone,
    Trust,
    event_id,
)
from .hits import Explanation, Hit, Hits, StrategyReport
from .memory import (
    Draft,
    EmbeddingProfile,
    Fact,
    Json,
    Memory,
    MemoryKind,
    ModelCost,
    Tier,
    memory_id,
)

__all__ = [
    "Attachment",
    "Draft",
    "EmbeddingProfile",
    "ErasureCounts",
    "Event",
    "EventKind",
    "Explanation",
    "Fact",
    "Hit",
    "Hits",
    "Json",
    "LedgerReport",
    "Memory",
    "MemoryKind",
    "Metadata",
    "ModelCost",
    "NewEvent",
    "PendingTask",
    "Progress",
    "Receipt",
    "Stage",
    "StrategyReport",
    "Task",
    "Tier",
    "Tombstone",
    "Trust",
    "event_id",
    "memory_id",
]
