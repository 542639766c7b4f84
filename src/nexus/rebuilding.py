"""Derived layers made again, for the administrator of a workspace."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .core.errors import InvalidInput
from .core.ids import WorkspaceId
from .core.layers import Layer
from .core.report import Report, silent
from .maintain.rebuild import Tools, rebuild
from .storing import make_scratch
from .wiring import Parts

if TYPE_CHECKING:
    from .learn.again import Relearner

ALL = "all"


def rebuild_layers(
    parts: Parts, workspace: WorkspaceId, layer: str, *, again: bool, report: Report | None
) -> dict[str, dict[str, int]]:
    """Make these layers again, each after what it rests on; what each one took."""
    tools = make_tools(parts)
    made = {
        each.value: rebuild(
            tools, workspace, each, now=parts.now(), again=again, report=report or silent
        )
        for each in chosen(layer)
    }
    parts.contexts.forget(workspace)
    return made


def make_tools(parts: Parts) -> Tools:
    """What makes the layers, of these parts."""

    def relearner() -> Relearner:
        from .learn.again import Relearner  # noqa: PLC0415  # the rules load with it

        make = parts.learner.drafter_of
        return Relearner(parts.store, lambda: make_scratch(parts.store), make)

    return Tools(parts.store, parts.embedder, relearner, parts.episodes)


def chosen(layer: str) -> list[Layer]:
    """All of them, or this one."""
    known = [each.value for each in Layer]
    if layer != ALL and layer not in known:
        raise InvalidInput(f"no layer {layer!r:.80}; known are {', '.join([*known, ALL])}")
    return [each for each in Layer if layer in (ALL, each.value)]
