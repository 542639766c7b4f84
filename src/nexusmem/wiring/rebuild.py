"""Rebuild: derive memories again from the ledger."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core.errors import InvalidInput
from ..core.ids import WorkspaceId
from ..core.protocols.index_repair import DerivedLayer
from ..maintain.rebuild import RebuildTools, rebuild_layer
from ..runtime.progress import ProgressCallback, ignore_progress
from .parts import Parts
from .stores import make_scratch_store

if TYPE_CHECKING:
    from ..learn.relearn import Relearner


ALL_LAYERS = "all"


def rebuild_layers(
    parts: Parts,
    workspace: WorkspaceId,
    layer: str,
    *,
    rewrite_episodes: bool,
    report: ProgressCallback | None,
) -> dict[str, dict[str, int]]:
    """Derive the layers again in order of dependency; return the counts of each."""
    tools = make_rebuild_tools(parts)
    made = {
        each.value: rebuild_layer(
            tools,
            workspace,
            each,
            now=parts.now(),
            again=rewrite_episodes,
            report=report or ignore_progress,
        )
        for each in select_layers(layer)
    }
    parts.context_cache.evict_workspace(workspace)
    return made


def make_rebuild_tools(parts: Parts) -> RebuildTools:
    """Return the tools that derive the layers."""

    def make_relearner() -> Relearner:
        from ..learn.relearn import Relearner  # loads the rules

        make = parts.learner.make_pipeline
        return Relearner(parts.store, lambda: make_scratch_store(parts.store), make)

    return RebuildTools(parts.store, parts.embedder, make_relearner, parts.get_episodes)


def select_layers(layer: str) -> list[DerivedLayer]:
    """Return all layers, or the named one; raise InvalidInput for an unknown name."""
    names = [each.value for each in DerivedLayer]
    if layer != ALL_LAYERS and layer not in names:
        accepted = ", ".join([*names, ALL_LAYERS])
        raise InvalidInput(f"unknown layer {layer!r:.80}; accepted: {accepted}")
    return [each for each in DerivedLayer if layer in (ALL_LAYERS, each.value)]
