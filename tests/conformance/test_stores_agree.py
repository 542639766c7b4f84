"""All stores return the same results to every viewer after random operations."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isclose
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from nexusmem.testing.leaks.observations import VIEWER_READS, ViewerRead
from nexusmem.testing.leaks.operations import (
    EventRef,
    ForgetData,
    Operation,
    World,
    WriteEvent,
    export_archive,
)
from nexusmem.testing.leaks.state_machine import shorten_script
from nexusmem.testing.leaks.strategies import ViewerGroup, operation_scripts
from nexusmem.testing.reference_store.store import ReferenceStore
from nexusmem.testing.samples import ACME, IN_ROOM

WANTED = os.environ.get("NEXUS_EXAMPLES")
FEW, SOME = 3, 5  # examples of the fast run, and of the slow run with all stores
HOW = settings(
    derandomize=not WANTED,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def agree(one: Any, other: Any) -> bool:
    """Return whether two results are equal, with a tolerance for floats."""
    if isinstance(one, float) and isinstance(other, float):
        return isclose(one, other, abs_tol=1e-6)
    if is_dataclass(one) and type(one) is type(other):
        return all(agree(getattr(one, f.name), getattr(other, f.name)) for f in fields(one))
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(agree, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(agree(one[name], other[name]) for name in one)
    return bool(one == other)


def run(kind: Any, script: list[Operation]) -> World:
    world = World(kind.make(), kind.reopen)
    for operation in script:
        world.register_operation(operation)
        world.run(operation)
    return world


def disagreements(kinds: list[Any], cast: ViewerGroup, script: list[Operation]) -> Iterator[str]:
    """Yield the differences between the stores after a script."""
    reference, *others = [run(kind, script) for kind in kinds]
    for look in [ViewerRead(viewer, what) for viewer in cast.viewers for what in VIEWER_READS]:
        expected = look.run(reference)
        for world in others:
            shown = look.run(world)
            if not agree(shown, expected):
                yield f"{world.store}: {look}\n{shown}\n{expected}"
    for workspace in cast.workspaces:
        if len({export_archive(world, workspace) for world in (reference, *others)}) > 1:
            yield f"the archives of {workspace} differ"
    for world in others:
        world.nexus.close()


def changes_on_the_way(
    kinds: list[Any], cast: ViewerGroup, script: list[Operation]
) -> Iterator[str]:
    """Yield the differences of an archive after one and two imports."""
    workspace = cast.workspaces[0]
    told = [step for step in script if not (isinstance(step, ForgetData) and step.memory)]
    archive = export_archive(run(kinds[0], told), workspace)
    for world in [World(kind.make()) for kind in kinds]:
        for times in ("once", "twice"):
            world.nexus.workspace(workspace.value).import_(io.StringIO(archive))
            if export_archive(world, workspace) != archive:
                yield f"{world.store}: the archive taken in {times} is another one"
        if not world.nexus.workspace(workspace.value).verify().is_intact:
            yield f"{world.store}: the chain is broken"
        world.nexus.close()


def refuse(find: Any, kinds: list[Any], cast: ViewerGroup, script: list[Operation]) -> None:
    """Fail with the shortest script that shows a difference."""
    if next(find(kinds, cast, script), None) is None:
        return

    def fails(part: list[Operation]) -> bool:
        return next(find(kinds, cast, part), None) is not None

    short = shorten_script(script, fails, seconds=20)
    steps = "\n".join(map(str, short))
    pytest.fail(f"{next(find(kinds, cast, short), None)}\nafter\n{steps}")


def look_for(find: Any, kinds: list[Any]) -> None:
    """Run `find` on generated scripts."""
    quick = [kind.name for kind in kinds] == ["reference", "memory", "sqlite"]

    @settings(HOW, max_examples=int(WANTED or (FEW if quick else SOME)))
    @given(play=operation_scripts())
    def each(play: tuple[ViewerGroup, list[Operation]]) -> None:
        refuse(find, kinds, *play)

    each()


@pytest.mark.requirement("C4", "X10")
def test_every_store_returns_the_same_to_each_viewer(kinds: list[Any]) -> None:
    look_for(disagreements, kinds)


@pytest.mark.requirement("X3", "X10")
def test_archive_round_trip_is_identical_in_every_store(kinds: list[Any]) -> None:
    look_for(changes_on_the_way, kinds)


@pytest.mark.requirement("X6")
def test_import_does_not_restore_erased_memory() -> None:
    room = IN_ROOM.home
    before = World(ReferenceStore())
    before.run(WriteEvent(IN_ROOM, "observe", ("alice", "The heron is blue."), "k1"))
    before.nexus.workspace("acme").flush()
    before.nexus.workspace("acme").forget(memory=EventRef(ACME, room, "k1").memory_ids[0])

    after = World(ReferenceStore())
    after.nexus.workspace("acme").import_(io.StringIO(export_archive(before, ACME)))

    assert list(after.open_place(IN_ROOM).recall("heron")) == []
