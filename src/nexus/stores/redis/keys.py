"""The keys of a workspace's windows and contexts, and what is done with them in one go.

    nexus:{workspace}:places               the scopes of all places in which something lies
    nexus:{workspace}:epoch                grows with whatever is news anywhere
    nexus:{workspace}:place:epoch          grows with whatever is news there
    nexus:{workspace}:place:note           the notes, by digests of their keys; each slot so
    nexus:{workspace}:place:thought:order  when what was put, where only the newest stay
    nexus:{workspace}:contexts:memory      the composed contexts of one memory, by when they end
    nexus:{workspace}:ticket:memory        another one after every erasure
    nexus:{workspace}:composed:name        one of them

Workspaces, places, memories and names of contexts are digests, so no name stands in a key. The
braces keep all keys of a workspace on one node of a cluster, where a script may touch several at
once. Every key has a time to live, and is found by its name, by the places or by the contexts: no
key is ever searched for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...core.ids import WorkspaceId, digest
from ...core.scope import Scope
from ...core.window import MOST_KEPT, Slot

PUT, TAKE, TIDY, KEEP = (
    Path(__file__).with_name(f"{name}.lua").read_text(encoding="utf-8")
    for name in ("put", "take", "tidy", "keep")
)


@dataclass(frozen=True, slots=True)
class Keys:
    """All keys of one workspace."""

    workspace: WorkspaceId
    root: str

    @classmethod
    def of(cls, namespace: str, workspace: WorkspaceId) -> Keys:
        name = digest("window", namespace, workspace.value)
        return cls(workspace, f"nexus:{{{name}}}")

    @property
    def places(self) -> str:
        return f"{self.root}:places"

    @property
    def epoch(self) -> str:
        return f"{self.root}:epoch"

    def epoch_of(self, scope: Scope) -> str:
        return f"{self._place(scope)}:epoch"

    def items(self, scope: Scope, slot: Slot) -> str:
        return f"{self._place(scope)}:{slot.value}"

    def order(self, scope: Scope, slot: Slot) -> str:
        return f"{self.items(scope, slot)}:order"

    def every(self, scope: Scope) -> Iterator[str]:
        """Whatever there may be of one place."""
        yield self.epoch_of(scope)
        yield from (self.items(scope, slot) for slot in Slot)
        yield from (self.order(scope, slot) for slot in MOST_KEPT)

    def contexts(self, memory: str) -> str:
        return f"{self.root}:contexts:{memory}"

    def ticket(self, memory: str) -> str:
        return f"{self.root}:ticket:{memory}"

    def context(self, name: str) -> str:
        return f"{self.root}:composed:{name}"

    def _place(self, scope: Scope) -> str:
        return f"{self.root}:{digest('place', str(scope))}"


def field_of(key: str) -> str:
    """Under which an item lies among those of its slot."""
    return digest("key", key)
