"""Whatever is written, every store shows each viewer the same."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from math import isclose
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from nexus.stores.inprocess import InProcessStore
from nexus.testing.observations import LOOKS, Look
from nexus.testing.operations import Forget, Operation, Ref, Tell, World, archive_of
from nexus.testing.samples import ACME, IN_ROOM
from nexus.testing.shorten import shortened
from nexus.testing.worlds import Cast, scripts

WANTED = os.environ.get("NEXUS_EXAMPLES")
FEW, SOME = 3, 5  # in the fast run, and in the slow one, where all the files are compared
HOW = settings(
    derandomize=not WANTED,
    database=None,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)


def agree(one: Any, other: Any) -> bool:
    """Equal, and scores as good as equal."""
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
        world.know(operation)
        world.do(operation)
    return world


def disagreements(kinds: list[Any], cast: Cast, script: list[Operation]) -> Iterator[str]:
    """What the stores show differently after this script."""
    reference, *others = [run(kind, script) for kind in kinds]
    for look in [Look(viewer, what) for viewer in cast.viewers for what in LOOKS]:
        expected = look.do(reference)
        for world in others:
            shown = look.do(world)
            if not agree(shown, expected):
                yield f"{world.store}: {look}\n{shown}\n{expected}"
    for workspace in cast.workspaces:
        if len({archive_of(world, workspace) for world in (reference, *others)}) > 1:
            yield f"the archives of {workspace} differ"
    for world in others:
        world.nexus.close()


def changes_on_the_way(kinds: list[Any], cast: Cast, script: list[Operation]) -> Iterator[str]:
    """What an archive loses when another store takes it in, or takes it in twice."""
    workspace = cast.workspaces[0]
    told = [step for step in script if not (isinstance(step, Forget) and step.memory)]
    archive = archive_of(run(kinds[0], told), workspace)
    for world in [World(kind.make()) for kind in kinds]:
        for times in ("once", "twice"):
            world.nexus.workspace(workspace.value).import_(io.StringIO(archive))
            if archive_of(world, workspace) != archive:
                yield f"{world.store}: the archive taken in {times} is another one"
        if not world.nexus.workspace(workspace.value).verify().sound:
            yield f"{world.store}: the chain is broken"
        world.nexus.close()


def refuse(find: Any, kinds: list[Any], cast: Cast, script: list[Operation]) -> None:
    """Fail with the shortest script that shows the difference."""
    if next(find(kinds, cast, script), None) is None:
        return
    fails = lambda part: next(find(kinds, cast, part), None) is not None  # noqa: E731
    short = shortened(script, fails, seconds=20)
    steps = "\n".join(map(str, short))
    pytest.fail(f"{next(find(kinds, cast, short), None)}\nafter\n{steps}")


def look_for(find: Any, kinds: list[Any]) -> None:
    """Try some scripts."""
    quick = [kind.name for kind in kinds] == ["inprocess", "sqlite"]

    @settings(HOW, max_examples=int(WANTED or (FEW if quick else SOME)))
    @given(play=scripts())
    def each(play: tuple[Cast, list[Operation]]) -> None:
        refuse(find, kinds, *play)

    each()


@pytest.mark.requirement("C4", "X10")
def test_every_store_shows_each_viewer_the_same(kinds: list[Any]) -> None:
    look_for(disagreements, kinds)


@pytest.mark.requirement("X3", "X10")
def test_an_archive_taken_into_any_store_is_the_same_archive(kinds: list[Any]) -> None:
    look_for(changes_on_the_way, kinds)


@pytest.mark.requirement("X6")
def test_a_forgotten_memory_does_not_come_back_with_an_archive() -> None:
    room = IN_ROOM.home
    before = World(InProcessStore())
    before.do(Tell(IN_ROOM, "observe", ("alice", "The heron is blue."), "k1"))
    before.nexus.workspace("acme").flush()
    before.nexus.workspace("acme").forget(memory=Ref(ACME, room, "k1").memory_ids[0])

    after = World(InProcessStore())
    after.nexus.workspace("acme").import_(io.StringIO(archive_of(before, ACME)))

    assert list(after.place(IN_ROOM).recall("heron")) == []
