"""Leak test: two worlds that differ only in one user's secrets.

All operations run in the first world. The second world skips every operation of which no watcher
may know, neither in its place nor by a flow: `flow_oracle.py` decides. Each read by a watcher must
return the same in both worlds: hits, order, scores, counts, errors and archives. Durations are not
compared.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from textwrap import shorten
from typing import Any, TypeVar

from ...core.access import Label, Viewer
from ...core.errors import MissingExtra, NexusError
from ...core.flows import DEFAULT_SHARING, Sharing
from ...core.ids import AgentId, UserId, WorkspaceId
from ...core.protocols.store import Store
from ...core.scope import Scope
from .flow_oracle import CALL_BACK, ToldStatement, home_of, is_label_shown, may_know
from .observations import VIEWER_READS, ViewerRead, comparable_answer
from .operations import (
    ChangeMemory,
    DeriveMemory,
    EventRef,
    ForgetData,
    ImportArchive,
    MaintenanceStep,
    MarkConfidential,
    Operation,
    PlaceAction,
    RebuildEvent,
    SharedCopies,
    World,
    WriteEvent,
    export_archive,
)


def describe_operation(operation: Operation) -> str:
    """Return a one-line description."""
    viewer: Viewer | None = getattr(operation, "viewer", None)
    where = f"from {viewer.home} of {viewer.workspace.value!r}: " if viewer else ""
    answer = {f.name: getattr(operation, f.name) for f in fields(operation)}  # type: ignore[arg-type]
    shown = [
        f"{name}={_format_value(value)}"
        for name, value in answer.items()
        if name not in ("viewer", "label", "event_ref", "workspace") and value is not None
    ]
    return f"{where}{type(operation).__name__.lower()} {', '.join(shown)}"


def _format_value(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_format_value, value))})"
    lines = str(value).count("\n")
    return f"<{lines} lines>" if lines > 1 else shorten(str(value), 80, placeholder="…")


T = TypeVar("T")


def shorten_script(
    script: Sequence[T], fails: Callable[[list[T]], bool], *, seconds: float
) -> list[T]:
    """Return a shorter script that still fails. Given enough time, no step of it can be
    removed.
    """
    deadline = time.monotonic() + seconds
    kept = list(script)
    size = max(1, len(kept) // 2)
    while size:
        start, shrank = 0, False
        while start < len(kept) and time.monotonic() < deadline:
            without = kept[:start] + kept[start + size :]
            if fails(without):
                kept, shrank = without, True
            else:
                start += size
        size = size if shrank and size == 1 else size // 2
    return kept


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

    from .strategies import (
        LOOKALIKES,
        ViewerGroup,
        followup_operations,
        maintenance_steps,
        sharings,
        write_operations,
    )
except ImportError as error:
    raise MissingExtra("nexus leaktest", "testing") from error

RUNS_PER_BATCH = 5  # runs between two checks of the clock
MAX_STEPS = 20  # maximum number of operations in a run
READS_PER_STEP = 5  # reads by a watcher after each operation
SHORTEN_SECONDS = 20.0
CHARS_BEFORE_DIFFERENCE = 200

LEAK_WORKSPACE = WorkspaceId("w")
HYPOTHESIS_SETTINGS = settings(
    max_examples=RUNS_PER_BATCH,
    stateful_step_count=MAX_STEPS,
    phases=[Phase.generate],
    database=None,
    deadline=None,
    verbosity=Verbosity.quiet,
    suppress_health_check=list(HealthCheck),
)

MakeStore = Callable[[], Store]


@dataclass(frozen=True, kw_only=True)
class Violation:
    """A leak that a watcher observed, with the shortest script found for it."""

    script: tuple[str, ...]
    observation: str
    with_secrets: str
    without_secrets: str

    def __str__(self) -> str:
        steps = "\n".join(f"  {number}. {step}" for number, step in enumerate(self.script, start=1))
        return (
            f"{steps}\n  then {self.observation}\n"
            f"  with the secrets:    {self.with_secrets:.600}\n"
            f"  without the secrets: {self.without_secrets:.600}"
        )


@dataclass(kw_only=True)
class LeakReport:
    """Result of a leak test: what it ran and which violations it found."""

    seed: int
    runs: int = 0
    operations: int = 0
    observations: int = 0
    seconds: float = 0.0
    violations: list[Violation] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not self.violations

    def __str__(self) -> str:
        found = "no leak" if self.is_clean else f"{len(self.violations)} LEAK"
        return (
            f"{found}: {self.runs:,} runs, {self.operations:,} operations,"
            f" {self.observations:,} observations compared in {self.seconds:.1f} s"
            f" (seed {self.seed})"
        )


@dataclass(frozen=True)
class LeakScenario:
    """The viewers that watch, all other viewers, and the flows between which the run switches."""

    watched_user: str
    other_viewers: tuple[Viewer, ...]
    watchers: tuple[Viewer, ...]
    sharings: tuple[Sharing, ...] = (DEFAULT_SHARING,)
    promotes: bool = False  # one use of any fact may copy it to a profile

    @property
    def viewer_group(self) -> ViewerGroup:
        return ViewerGroup((*self.other_viewers, *self.watchers))

    def is_hidden(self, workspace: WorkspaceId, label: Label) -> bool:
        """Return whether no watcher may read this label."""
        return not any(
            is_label_shown(viewer, label, sharing)
            for viewer in self._watchers_of(workspace)
            for sharing in self.sharings
        )

    def is_unknown(self, statement: ToldStatement) -> bool:
        """Return whether no watcher may know a statement, in its place or by a flow."""
        return not any(
            may_know(viewer, statement, sharing, coarse=self.promotes)
            for viewer in self._watchers_of(statement.place.workspace)
            for sharing in self.sharings
        )

    def _watchers_of(self, workspace: WorkspaceId) -> list[Viewer]:
        return [viewer for viewer in self.watchers if viewer.workspace == workspace]


@some.composite
def leak_scenarios(draw: some.DrawFn) -> LeakScenario:
    """Generate scenarios.

    Either one user watches from several places, with and without the other user present. Or some
    places watch and all other places hold secrets: a direct message is secret in the rooms of the
    same user, too. The participants of rooms change, and the flows may be switched.
    """
    names = draw(some.permutations(draw(some.sampled_from(LOOKALIKES))))
    watched, watcher = map(UserId, names)
    together = draw(some.booleans())
    flows = draw(some.lists(sharings, min_size=1, max_size=2, unique=True))
    room = Viewer(
        workspace=LEAK_WORKSPACE,
        agent=AgentId("bot"),
        room="r",
        participants=(watched, watcher) if together else (watcher,),
        project="p",
        sharing=flows[0],
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
        replace(theirs, session="s", private=True),
        replace(theirs, agent=AgentId("bot 2"), project="q"),
        replace(room, room="r 3", participants=(watched,), project="q"),
        replace(room, room="r 3", participants=(watched, watcher)),  # a watcher who left
        replace(room, participants=(watched, watcher), project="q"),  # where a watcher is present
        replace(own, workspace=WorkspaceId("w 2")),
    )
    promotes = draw(some.integers(0, 2)) == 0
    if draw(some.booleans()):
        return LeakScenario(watched.value, others, watchers, tuple(flows), promotes)
    everyone = (*others, *watchers, replace(own, session="s 2", private=True))
    chosen = draw(some.lists(some.sampled_from(everyone), min_size=1, max_size=3, unique=True))
    rest = tuple(viewer for viewer in everyone if viewer not in chosen)
    user = draw(some.sampled_from(names))
    return LeakScenario(user, rest, tuple(chosen), tuple(flows), promotes)


class Leak(AssertionError):
    """Raised when the two worlds differ."""

    def __init__(self, operation: Operation, with_secrets: Any, without_secrets: Any) -> None:
        super().__init__(f"{operation} returns different results in the two worlds")
        self.operation = operation
        self.answers = with_secrets, without_secrets


class Course(StrEnum):
    """In which worlds an operation runs."""

    BOTH = "both"
    ONE = "one"  # only in the world with secrets
    NEITHER = "neither"  # a legitimate difference would follow


@dataclass
class Courses:
    """Decides in which worlds operations run, from what each world contains.

    An event is written in both worlds if a watcher may know it. What happens to an event runs in
    the same worlds as the event itself.
    """

    scenario: LeakScenario
    events: dict[EventRef, Course] = field(default_factory=dict)  # the first write of each

    def choose(self, operation: Operation) -> Course:
        match operation:
            case WriteEvent(event_ref=EventRef()):
                return self._choose_for_write(operation)
            case ChangeMemory() | RebuildEvent() | MarkConfidential():
                return self._choose_for_change(operation)
            case ForgetData(user=None):
                return self._choose_for_forgetting(operation)
            case DeriveMemory():
                return self._choose_for_derived(operation)
            case PlaceAction():
                return self._choose_for_action(operation)
            case _:
                is_secret = operation.label is not None and self._is_hidden(operation)
                return self._secret_if(is_secret)

    def _choose_for_action(self, operation: PlaceAction) -> Course:
        place = ToldStatement(
            place=operation.viewer,
            scope=home_of(operation.viewer),
            method=operation.action,
            speaker=operation.viewer.agent.value,
            text=operation.text,
        )
        is_read = operation.action == "question"
        return self._secret_if(not is_read and self.scenario.is_unknown(place))

    @staticmethod
    def _secret_if(secret: bool) -> Course:
        return Course.ONE if secret else Course.BOTH

    def _is_hidden(self, operation: Operation) -> bool:
        assert operation.label is not None
        return self.scenario.is_hidden(operation.workspace, operation.label)

    def _choose_for_write(self, write: WriteEvent) -> Course:
        ref, statement = write.event_ref, write.statement
        assert ref is not None
        assert statement is not None
        if ref in self.events:
            return self.events[ref]
        course = self._secret_if(self.scenario.is_unknown(statement))
        if statement.text == CALL_BACK and course is Course.ONE:
            course = self._choose_for_call_back(ref)
        if course is not Course.NEITHER:
            self.events[ref] = course
        return course

    def _choose_for_call_back(self, ref: EventRef) -> Course:
        """Choose for "keep that between us", which withdraws the message before it."""
        before = {course for each, course in self.events.items() if each.scope == ref.scope}
        if len(before) > 1:
            return Course.NEITHER  # the message before it may differ
        return before.pop() if before else Course.ONE

    def _course_of(self, ref: EventRef) -> Course:
        hidden = self.scenario.is_hidden(ref.workspace, frozenset({ref.scope}))
        return self.events.get(ref, self._secret_if(hidden))

    def _choose_for_change(
        self, operation: ChangeMemory | RebuildEvent | MarkConfidential
    ) -> Course:
        course = self._course_of(operation.ref)
        if not isinstance(operation, ChangeMemory) or not operation.text:
            return course
        ref, viewer = operation.ref, operation.viewer
        correction = ToldStatement(
            place=viewer,
            scope=ref.scope,
            method="remember",
            speaker=(viewer.user or viewer.agent).value,
            text=operation.text,
        )
        is_known = not self.scenario.is_unknown(correction)
        return Course.NEITHER if course is Course.ONE and is_known else course

    def _choose_for_forgetting(self, operation: ForgetData) -> Course:
        if ref := operation.event or operation.memory:
            return self._course_of(ref)
        room = Scope.room(operation.room or "")
        here = (course for ref, course in self.events.items() if ref.scope == room)
        return self._secret_if(self._is_hidden(operation) and Course.BOTH not in here)

    def _choose_for_derived(self, operation: DeriveMemory) -> Course:
        sources = [self._course_of(ref) for ref in operation.sources]
        if self.scenario.promotes and Course.ONE in sources:
            return Course.NEITHER  # the derived fact may be promoted
        if self.scenario.promotes:
            return Course.BOTH
        return self._secret_if(self._is_hidden(operation) or Course.ONE in sources)


@dataclass
class WorldPair:
    """Both worlds and the operations that ran in them."""

    scenario: LeakScenario
    with_secrets: World
    without_secrets: World
    script: list[Operation] = field(default_factory=list)
    shared_copies: SharedCopies = field(default_factory=SharedCopies)
    courses: Courses = field(init=False)

    def __post_init__(self) -> None:
        self.courses = Courses(self.scenario)

    @property
    def event_refs(self) -> list[EventRef]:
        return self.with_secrets.known_events

    def run(self, operation: Operation) -> None:
        """Run an operation in both worlds, or in one if it is secret. Raise Leak if a watcher sees
        a difference.
        """
        self.script.append(operation)
        course = self.courses.choose(operation)
        for world in (self.with_secrets, self.without_secrets):
            world.register_operation(operation)
        if course is Course.NEITHER:
            return
        secret = course is Course.ONE
        answer = self.with_secrets.run(operation)
        instead = self.shared_copies.replacement_for(
            operation, answer, self.with_secrets, self.scenario.is_hidden
        )
        other_answer = None if secret else self.without_secrets.run(instead)
        self.shared_copies.forget_orphans(self.with_secrets, self.without_secrets)
        if secret:
            return
        watched = getattr(operation, "viewer", None) in self.scenario.watchers
        if watched and comparable_answer(answer) != comparable_answer(other_answer):
            raise Leak(operation, comparable_answer(answer), comparable_answer(other_answer))
        if isinstance(answer, Exception) and not isinstance(answer, NexusError):
            raise answer

    def close(self) -> None:
        for world in (self.with_secrets, self.without_secrets):
            world.close()


MakeWorldPair = Callable[[LeakScenario], WorldPair]


def replay_script(
    make: MakeWorldPair, scenario: LeakScenario, script: Iterable[Operation]
) -> Leak | None:
    """Replay a script and return the leak it shows, or None."""
    worlds = make(scenario)
    try:
        for operation in script:
            worlds.run(operation)
    except Leak as leak:
        return leak
    finally:
        worlds.close()
    return None


class LeakStateMachine(RuleBasedStateMachine):
    """Draws operations and reads. A subclass chooses the stores."""

    make: MakeWorldPair
    report: LeakReport
    found: list[tuple[LeakScenario, list[Operation]]]
    worlds: WorldPair

    @initialize(plot=leak_scenarios())
    def start_run(self, plot: LeakScenario) -> None:
        self.worlds = type(self).make(plot)
        self.report.runs += 1

    @rule(data=some.data())
    def write_secret(self, data: Any) -> None:
        self._draw_write(data, self.worlds.scenario.other_viewers)

    @rule(data=some.data())
    def write_as_watcher(self, data: Any) -> None:
        self._draw_write(data, self.worlds.scenario.watchers)

    @rule(data=some.data())
    def write_as_anyone(self, data: Any) -> None:
        self._draw_write(data, self.worlds.scenario.viewer_group.viewers)

    def _draw_write(self, data: Any, viewers: Sequence[Viewer]) -> None:
        operation = data.draw(write_operations(viewers, self.worlds.scenario.viewer_group.scopes))
        if isinstance(operation, PlaceAction) and operation.action.endswith("question"):
            self._learn_everything()  # otherwise only one of the worlds would learn it
        self._run_and_observe(data, operation)

    @precondition(lambda self: self.worlds.event_refs)
    @rule(data=some.data())
    def run_followup(self, data: Any) -> None:
        operation = data.draw(
            followup_operations(self.worlds.scenario.viewer_group, self.worlds.event_refs)
        )
        if not isinstance(operation, RebuildEvent):
            self._learn_everything()  # otherwise only one of the worlds would learn it
        self._run_and_observe(data, operation)

    @precondition(lambda self: self.worlds.event_refs)
    @rule(data=some.data())
    def forget_user_or_room(self, data: Any) -> None:
        self._learn_everything()
        gone = [{"user": self.worlds.scenario.watched_user}, {"room": "r 3"}, {"room": "r"}]
        self._run_and_observe(
            data, ForgetData(LEAK_WORKSPACE, **data.draw(some.sampled_from(gone)))
        )

    @rule(data=some.data())
    def read_or_maintain(self, data: Any) -> None:
        viewers = self.worlds.scenario.viewer_group.viewers
        asks = some.builds(
            ViewerRead, some.sampled_from(viewers), some.sampled_from(sorted(VIEWER_READS))
        )
        self._run_and_observe(data, data.draw(asks | maintenance_steps(viewers)))

    @precondition(lambda self: self.worlds.event_refs)
    @rule(data=some.data())
    def import_full_archive(self, data: Any) -> None:
        self._learn_everything()
        archive = export_archive(self.worlds.with_secrets, LEAK_WORKSPACE)
        viewer = data.draw(some.sampled_from(self.worlds.scenario.watchers))
        into = data.draw(some.none() | some.sampled_from(sorted(viewer.grant().scopes)))
        self._run_and_observe(data, ImportArchive(viewer, archive, into))

    def _learn_everything(self) -> None:
        self._run_operation(MaintenanceStep("learn everything", self.worlds.scenario.watchers[0]))

    def _run_and_observe(self, data: Any, operation: Operation) -> None:
        """Run an operation, then let a watcher run a few randomly drawn reads."""
        self.report.operations += 1
        self._run_operation(operation)
        plot = self.worlds.scenario
        start = data.draw(some.integers(0, len(VIEWER_READS) - 1))
        glance = (*VIEWER_READS, *VIEWER_READS)[start : start + READS_PER_STEP]
        for other in data.draw(some.lists(some.sampled_from(plot.other_viewers), max_size=1)):
            self._read_as(other, glance)  # leftovers in a cache must not matter
        self._read_as(data.draw(some.sampled_from(plot.watchers)), glance)

    def _read_as(self, viewer: Viewer, names: Iterable[str]) -> None:
        for each in names:
            self.report.observations += 1
            self._run_operation(ViewerRead(viewer, each))

    def _run_operation(self, operation: Operation) -> None:
        try:
            self.worlds.run(operation)
        except Leak:
            self.found.append((self.worlds.scenario, self.worlds.script))
            raise

    def teardown(self) -> None:
        """Let one watcher run every read at the end."""
        try:
            if not self.found:
                watchers = self.worlds.scenario.watchers
                self._read_as(watchers[len(self.worlds.script) % len(watchers)], VIEWER_READS)
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
    max_runs: int | None = None,
) -> LeakReport:
    """Search for leaks in stores from `make_store` until the time is up or a leak is found.

    Each store serves one run and is closed. `reopen` closes a store and opens it again, which shows
    the state that survives a restart. `discard` removes what a closed store leaves on disk.
    """
    done = LeakReport(seed=secrets.randbits(32) if seed is None else seed)
    started = time.monotonic()

    def make_worlds(plot: LeakScenario) -> WorldPair:
        one, other = (
            World(make_store(), reopen, discard, plot.sharings, plot.promotes) for _ in range(2)
        )
        return WorldPair(plot, one, other)

    found: list[tuple[LeakScenario, list[Operation]]] = []
    while time.monotonic() < started + seconds and not found:
        if max_runs is not None and done.runs >= max_runs:
            break
        _run_batch(make_worlds, done, found)
        done.seconds = time.monotonic() - started
        if report:
            report(str(done))
    if found:
        done.violations.append(_minimize_violation(make_worlds, *found[0]))
    done.seconds = time.monotonic() - started
    return done


def _run_batch(
    make: MakeWorldPair, done: LeakReport, found: list[tuple[LeakScenario, list[Operation]]]
) -> None:
    facts = {"make": staticmethod(make), "report": done, "found": found}
    machine = start_from(done.seed + done.runs)(type("LeakMachine", (LeakStateMachine,), facts))
    try:
        run_state_machine_as_test(machine, settings=HYPOTHESIS_SETTINGS)
    except BaseException:
        if not found:  # an unexpected error is a defect, not a leak
            raise


def _minimize_violation(
    make: MakeWorldPair, scenario: LeakScenario, script: Sequence[Operation]
) -> Violation:
    """Return the violation with the shortest script that reproduces it."""
    *before, last = script

    def still_leaks(part: list[Operation]) -> bool:
        return replay_script(make, scenario, [*part, last]) is not None

    answer = [step for step in before if not isinstance(step, ViewerRead)]
    short = shorten_script(
        answer if still_leaks(answer) else before, still_leaks, seconds=SHORTEN_SECONDS
    )
    leak = replay_script(make, scenario, [*short, last])
    shown = leak.answers if leak else ("(it did not show again)", "(it did not show again)")
    courses = Courses(scenario)
    secret = [
        ("secretly: " if courses.choose(step) is Course.ONE else "") + describe_operation(step)
        for step in short
    ]
    first, second = _cut_before_difference(*map(repr, shown))
    return Violation(
        script=tuple(secret),
        observation=describe_operation(last),
        with_secrets=first,
        without_secrets=second,
    )


def _cut_before_difference(one: str, other: str) -> tuple[str, str]:
    """Return both texts from shortly before the first difference."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((place for place, (left, right) in pairs if left != right), 0)
    start = max(0, same - CHARS_BEFORE_DIFFERENCE)
    return ("…" + one[start:], "…" + other[start:]) if start else (one, other)
