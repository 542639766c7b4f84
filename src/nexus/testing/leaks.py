"""Two worlds that differ only in one person's secrets.

In one of them everything happens; in the other everything but what nobody who watches may
read. Whatever a watcher asks must be answered the same in both: hits, order, scores, counts,
errors, archives. How long an answer takes is not compared.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core.access import Label, Viewer
from ..core.errors import MissingExtra, NexusError
from ..core.ids import AgentId, UserId, WorkspaceId
from ..core.protocols import Store
from .describe import described
from .housekeeping import Housekeeping
from .observations import LOOKS, Look, canonical
from .operations import (
    Derive,
    Forget,
    Jot,
    Operation,
    Ref,
    Take,
    World,
    archive_of,
)
from .shares import Share, Shared
from .shorten import shortened

try:
    from hypothesis import HealthCheck, Phase, Verbosity, settings
    from hypothesis import seed as start_from
    from hypothesis import strategies as some
    from hypothesis.stateful import (
        RuleBasedStateMachine,
        initialize,
        precondition,
        rule,
        run_state_machine_as_test,
    )

    from .worlds import LOOKALIKES, Cast, about, chores, tellings
except ImportError as error:
    raise MissingExtra("nexus leaktest", "testing") from error

BATCH = 5  # runs between two looks at the clock
STEPS = 20  # operations in a run, at most
GLANCE = 5  # things a watcher asks after each of them
SHORTENING_SECONDS = 20.0

HERE = WorkspaceId("w")
SETTINGS = settings(
    max_examples=BATCH,
    stateful_step_count=STEPS,
    phases=[Phase.generate],
    database=None,
    deadline=None,
    verbosity=Verbosity.quiet,
    suppress_health_check=list(HealthCheck),
)

MakeStore = Callable[[], Store]


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A watcher noticed a secret, and the shortest script that was found for it."""

    script: tuple[str, ...]
    asked: str
    with_secrets: str
    without: str

    def __str__(self) -> str:
        steps = "\n".join(f"  {number}. {step}" for number, step in enumerate(self.script, start=1))
        return (
            f"{steps}\n  then {self.asked}\n"
            f"  with the secrets:    {self.with_secrets:.600}\n"
            f"  without the secrets: {self.without:.600}"
        )


@dataclass(kw_only=True)
class LeakReport:
    """What a leak test did and what it found."""

    seed: int
    runs: int = 0
    operations: int = 0
    observations: int = 0
    seconds: float = 0.0
    violations: list[Violation] = field(default_factory=list)

    @property
    def clean(self) -> bool:
        return not self.violations

    def __str__(self) -> str:
        found = "no leak" if self.clean else f"{len(self.violations)} LEAK"
        return (
            f"{found}: {self.runs:,} runs, {self.operations:,} operations,"
            f" {self.observations:,} observations compared in {self.seconds:.1f} s"
            f" (seed {self.seed})"
        )


@dataclass(frozen=True)
class Plot:
    """Who watches, and who else is there."""

    watched: str
    others: tuple[Viewer, ...]
    watchers: tuple[Viewer, ...]

    @property
    def cast(self) -> Cast:
        return Cast((*self.others, *self.watchers))

    def is_secret(self, operation: Operation) -> bool:
        """Whether this is about something that no watcher may read."""
        return operation.label is not None and self.hides(operation.workspace, operation.label)

    def hides(self, workspace: WorkspaceId, label: Label) -> bool:
        here = (viewer.grant() for viewer in self.watchers if viewer.workspace == workspace)
        return not any(grant.allows(label) for grant in here)


@some.composite
def plots(draw: some.DrawFn) -> Plot:
    """V watches, from rooms with and without U, and has the same names for everything.

    Or some places watch and all the others keep secrets: what a person says in a DM is a secret
    in that person's rooms, too.
    """
    names = draw(some.permutations(draw(some.sampled_from(LOOKALIKES))))
    watched, watcher = map(UserId, names)
    together = draw(some.booleans())
    room = Viewer(
        workspace=HERE,
        agent=AgentId("bot"),
        room="r",
        participants=(watched, watcher) if together else (watcher,),
        project="p",
    )
    own = replace(room, room=None, participants=(), user=watcher)
    theirs = replace(own, user=watched)
    watchers = (
        room,
        replace(room, room="r 2", participants=(watcher,)),
        own,
        replace(own, session="s"),
        replace(own, agent=AgentId("bot 2"), project=None),
    )
    others = (
        theirs,
        replace(theirs, session="s"),
        replace(theirs, agent=AgentId("bot 2"), project="q"),
        replace(room, room="r 3", participants=(watched,), project="q"),
        replace(room, participants=(watched, watcher), project="q"),  # where a watcher is, too
        replace(own, workspace=WorkspaceId("w 2")),
    )
    if draw(some.booleans()):
        return Plot(watched.value, others, watchers)
    everyone = (*others, *watchers)
    chosen = draw(some.lists(some.sampled_from(everyone), min_size=1, max_size=3, unique=True))
    rest = tuple(viewer for viewer in everyone if viewer not in chosen)
    return Plot(draw(some.sampled_from(names)), rest, tuple(chosen))


class Leak(AssertionError):
    """The two worlds differ."""

    def __init__(self, operation: Operation, with_secrets: Any, without: Any) -> None:
        super().__init__(f"{operation} tells the two worlds apart")
        self.operation = operation
        self.answers = with_secrets, without


@dataclass
class Worlds:
    """The two, and what happened in them."""

    plot: Plot
    with_secrets: World
    without: World
    script: list[Operation] = field(default_factory=list)
    shared: Shared = field(default_factory=Shared)

    @property
    def told(self) -> list[Ref]:
        return self.with_secrets.known

    def do(self, operation: Operation) -> None:
        """Let it happen: in both, or in one if it is secret. Raise if a watcher can tell."""
        self.script.append(operation)
        secret = self.plot.is_secret(operation)
        for world in (self.with_secrets, self.without):
            world.know(operation)
        told = self.with_secrets.do(operation)
        instead = self.shared.instead(operation, told, self.with_secrets, self.plot.hides)
        told_without = None if secret else self.without.do(instead)
        self.shared.forget(self.with_secrets, self.without)
        if secret:
            return
        watched = getattr(operation, "viewer", None) in self.plot.watchers
        if watched and canonical(told) != canonical(told_without):
            raise Leak(operation, canonical(told), canonical(told_without))
        if isinstance(told, Exception) and not isinstance(told, NexusError):
            raise told

    def close(self) -> None:
        for world in (self.with_secrets, self.without):
            world.close()


MakeWorlds = Callable[[Plot], Worlds]


def replayed(make: MakeWorlds, plot: Plot, script: Iterable[Operation]) -> Leak | None:
    """The leak this script shows, if it shows one."""
    worlds = make(plot)
    try:
        for operation in script:
            worlds.do(operation)
    except Leak as leak:
        return leak
    finally:
        worlds.close()
    return None


class Machine(RuleBasedStateMachine):
    """Draws what happens and who looks. A subclass says over which stores."""

    make: MakeWorlds
    report: LeakReport
    found: list[tuple[Plot, list[Operation]]]
    worlds: Worlds

    @initialize(plot=plots())
    def begin(self, plot: Plot) -> None:
        self.worlds = type(self).make(plot)
        self.report.runs += 1

    @rule(data=some.data())
    def a_secret_is_told(self, data: Any) -> None:
        self._somebody_tells(data, self.worlds.plot.others)

    @rule(data=some.data())
    def a_watcher_tells(self, data: Any) -> None:
        self._somebody_tells(data, self.worlds.plot.watchers)

    @rule(data=some.data())
    def anybody_tells(self, data: Any) -> None:
        self._somebody_tells(data, self.worlds.plot.cast.viewers)

    def _somebody_tells(self, data: Any, viewers: Sequence[Viewer]) -> None:
        operation = data.draw(tellings(viewers, self.worlds.plot.cast.scopes))
        if isinstance(operation, Jot) and operation.what.endswith("question"):
            self._everything_is_learned()  # or it would be learned in one of the worlds only
        self._happens(data, operation)

    @precondition(lambda self: self.worlds.told)
    @rule(data=some.data())
    def something_comes_of_it(self, data: Any) -> None:
        operation = data.draw(about(self.worlds.plot.cast, self.worlds.told))
        if isinstance(operation, Derive | Forget | Share):
            self._everything_is_learned()  # or it would be learned in one of the worlds only
        self._happens(data, operation)

    @precondition(lambda self: self.worlds.told)
    @rule(data=some.data())
    def somebody_is_forgotten(self, data: Any) -> None:
        self._everything_is_learned()
        gone = [{"user": self.worlds.plot.watched}, {"room": "r 3"}, {"room": "r"}]
        self._happens(data, Forget(HERE, **data.draw(some.sampled_from(gone))))

    @rule(data=some.data())
    def somebody_asks_or_tidies_up(self, data: Any) -> None:
        viewers = self.worlds.plot.cast.viewers
        asks = some.builds(Look, some.sampled_from(viewers), some.sampled_from(sorted(LOOKS)))
        self._happens(data, data.draw(asks | chores(viewers)))

    @precondition(lambda self: self.worlds.told)
    @rule(data=some.data())
    def a_watcher_takes_in_an_archive_of_everything(self, data: Any) -> None:
        self._everything_is_learned()
        archive = archive_of(self.worlds.with_secrets, HERE)
        viewer = data.draw(some.sampled_from(self.worlds.plot.watchers))
        into = data.draw(some.none() | some.sampled_from(sorted(viewer.grant().scopes)))
        self._happens(data, Take(viewer, archive, into))

    def _everything_is_learned(self) -> None:
        self._do(Housekeeping("learn everything", self.worlds.plot.watchers[0]))

    def _happens(self, data: Any, operation: Operation) -> None:
        """Do it, and let a watcher ask a few things; which ones is drawn."""
        self.report.operations += 1
        self._do(operation)
        plot = self.worlds.plot
        start = data.draw(some.integers(0, len(LOOKS) - 1))
        glance = (*LOOKS, *LOOKS)[start : start + GLANCE]
        for other in data.draw(some.lists(some.sampled_from(plot.others), max_size=1)):
            self._look(other, glance)  # what is left in a cache must not matter
        self._look(data.draw(some.sampled_from(plot.watchers)), glance)

    def _look(self, viewer: Viewer, what: Iterable[str]) -> None:
        for each in what:
            self.report.observations += 1
            self._do(Look(viewer, each))

    def _do(self, operation: Operation) -> None:
        try:
            self.worlds.do(operation)
        except Leak:
            self.found.append((self.worlds.plot, self.worlds.script))
            raise

    def teardown(self) -> None:
        """At the end one of the watchers asks everything."""
        try:
            if not self.found:
                watchers = self.worlds.plot.watchers
                self._look(watchers[len(self.worlds.script) % len(watchers)], LOOKS)
        finally:
            self.worlds.close()


def run_leaktest(
    seconds: float,
    make_store: MakeStore,
    report: Callable[[str], None] | None = None,
    seed: int | None = None,
    *,
    reopen: Callable[[Store], Store] | None = None,
    discard: Callable[[Store], None] | None = None,
    most_runs: int | None = None,
) -> LeakReport:
    """Look for leaks in the stores `make_store` makes, until the time is up or one is found.

    Each of them is used for one run and closed. `reopen` closes a store and opens it again,
    to see what outlives a program; `discard` clears away what a closed one leaves behind.
    """
    done = LeakReport(seed=secrets.randbits(32) if seed is None else seed)
    started = time.monotonic()

    def make(plot: Plot) -> Worlds:
        one, other = (World(make_store(), reopen, discard) for _ in range(2))
        return Worlds(plot, one, other)

    found: list[tuple[Plot, list[Operation]]] = []
    while time.monotonic() < started + seconds and not found:
        if most_runs is not None and done.runs >= most_runs:
            break
        _run_batch(make, done, found)
        done.seconds = time.monotonic() - started
        if report:
            report(str(done))
    if found:
        done.violations.append(_violation(make, *found[0]))
    done.seconds = time.monotonic() - started
    return done


def _run_batch(
    make: MakeWorlds, done: LeakReport, found: list[tuple[Plot, list[Operation]]]
) -> None:
    facts = {"make": staticmethod(make), "report": done, "found": found}
    machine = start_from(done.seed + done.runs)(type("LeakMachine", (Machine,), facts))
    try:
        run_state_machine_as_test(machine, settings=SETTINGS)
    except BaseException:
        if not found:  # not a leak: something is broken
            raise


def _violation(make: MakeWorlds, plot: Plot, script: Sequence[Operation]) -> Violation:
    """The leak again, with the shortest script that shows it."""
    *before, last = script

    def leaks(part: list[Operation]) -> bool:
        return replayed(make, plot, [*part, last]) is not None

    told = [step for step in before if not isinstance(step, Look)]
    short = shortened(told if leaks(told) else before, leaks, seconds=SHORTENING_SECONDS)
    leak = replayed(make, plot, [*short, last])
    shown = leak.answers if leak else ("(it did not show again)", "(it did not show again)")
    secret = [("secretly: " if plot.is_secret(step) else "") + described(step) for step in short]
    return Violation(
        script=tuple(secret),
        asked=described(last),
        with_secrets=repr(shown[0]),
        without=repr(shown[1]),
    )
