"""Protocol of derived indexes: layers that can be lost and rebuilt from memories.

A rebuild compares a layer with its source, batch by batch, and writes the differences only. So the
layer stays usable meanwhile, and an interrupted rebuild can start again.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from ..ids import WorkspaceId

Json = Any  # any JSON value


class DerivedLayer(StrEnum):
    """Layers that can be rebuilt, each one after those it depends on."""

    KNOWLEDGE = "knowledge"  # memories, from events
    EPISODES = "episodes"  # from events and memories
    KEYWORDS = "keywords"  # from memories, like the next two
    GRAPH = "graph"
    VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class IndexDamage:
    """An inconsistency between a layer and its source."""

    layer: DerivedLayer
    problem: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairResult:
    """Result of repairing one batch of a layer."""

    checked: int = 0  # memories
    changed: int = 0  # rows
    cursor: Json = None  # where to continue; None: this was the last batch


class DerivedIndexes(Protocol):
    """The layers inside a store: keywords, graph and vectors."""

    def find_damage(self, workspace: WorkspaceId) -> list[IndexDamage]:
        """Return inconsistencies, by comparing counts and sums without reading texts.

        A store cannot know which memories lack a vector, since embedders skip some texts.
        """
        ...

    def repair(
        self, workspace: WorkspaceId, layer: DerivedLayer, *, cursor: Json = None, limit: int
    ) -> RepairResult:
        """Compare and repair the next batch of about `limit` memories in one transaction.

        Invalid vectors are only deleted, since a store does not embed.
        """
        ...
