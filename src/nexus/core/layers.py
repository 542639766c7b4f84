"""What a store keeps beside its memories only to find them: it can be lost, and made again.

Memories rest on events, and these layers rest on memories. Making one again is comparing it with
what it rests on, a part at a time, and writing what is different. So nobody is without it
meanwhile, whoever breaks it off begins again without harm, and what was right is not touched.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from .ids import WorkspaceId

Json = Any  # what JSON can hold


class Layer(StrEnum):
    """What can be made again, in the order in which one rests on the other."""

    KNOWLEDGE = "knowledge"  # memories, of what was said
    EPISODES = "episodes"  # of events and of what is known
    KEYWORDS = "keywords"  # of memories, like the next two
    GRAPH = "graph"
    VECTORS = "vectors"


@dataclass(frozen=True, slots=True)
class Damage:
    """Something of a layer that does not fit what it rests on."""

    layer: Layer
    what: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Mended:
    """A part of a layer that was compared."""

    looked: int = 0  # memories
    changed: int = 0  # rows, or what stands for them
    cursor: Json = None  # where to go on; None: that was the last part


class Layers(Protocol):
    """The layers that lie in the store itself: keywords, graph and vectors."""

    def damage(self, workspace: WorkspaceId) -> list[Damage]:
        """What does not add up. Counts and sums are compared, and no text is read.

        Which memories should have a vector and have none, a store cannot know: some texts mean
        nothing to an embedder.
        """
        ...

    def mend(
        self, workspace: WorkspaceId, layer: Layer, *, cursor: Json = None, limit: int
    ) -> Mended:
        """Compare the next part, of about so many memories, and put it right; one transaction.

        Vectors that cannot be right are only removed: a store embeds nothing.
        """
        ...
