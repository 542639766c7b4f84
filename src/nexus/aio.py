"""The awaited face: the same Nexus, each call on a thread of its own.

There is one implementation, and it is synchronous, because SQLite is. A call hops to a
thread once and stays there; the decision record 0001 has the measurements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from .core.access import Grant, Viewer
from .core.ids import WorkspaceId
from .core.scope import Scope
from .dossiers import Dossiers
from .goals import Goals
from .nexus import Nexus
from .notebook import Notebook
from .place import Place
from .procedures import Procedures
from .reviews import Reviews
from .workspace import Workspace

THREADS = 64  # how many calls may be under way; more wait their turn

P = ParamSpec("P")
R = TypeVar("R")


class _Face:
    """Something synchronous, and the threads it is called on."""

    def __init__(self, inner: Any, threads: ThreadPoolExecutor) -> None:
        self._inner = inner
        self._threads = threads


class _Awaited(Generic[P, R]):
    """A method of the synchronous face, awaited."""

    def __init__(self, method: Callable[Concatenate[Any, P], R]) -> None:
        self._method = method

    def __get__(self, face: _Face, owner: type[_Face]) -> Callable[P, Awaitable[R]]:
        def call(*args: P.args, **kwargs: P.kwargs) -> Awaitable[R]:
            around = copy_context()  # a trace of the caller goes on in the thread
            work = partial(around.run, self._method, face._inner, *args, **kwargs)  # noqa: SLF001
            return asyncio.get_running_loop().run_in_executor(face._threads, work)  # noqa: SLF001

        return call


class _Entered(Generic[P, R]):
    """A method that gives a further face, at once."""

    def __init__(self, method: Callable[Concatenate[Any, P], Any], face: type[R]) -> None:
        self._method = method
        self._face = face

    def __get__(self, face: _Face, owner: type[_Face]) -> Callable[P, R]:
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            inner = self._method(face._inner, *args, **kwargs)  # noqa: SLF001
            make: Callable[[Any, ThreadPoolExecutor], R] = self._face
            return make(inner, face._threads)  # noqa: SLF001

        return call


class _Known(Generic[R]):
    """Something the synchronous face knows without asking anybody: given at once."""

    def __init__(self, read: Callable[[Any], R]) -> None:
        self._read = read

    def __get__(self, face: _Face, owner: type[_Face]) -> R:
        return self._read(face._inner)  # noqa: SLF001


class AsyncReviews(_Face):
    """Reviews, awaited."""

    list = _Awaited(Reviews.list)
    get = _Awaited(Reviews.get)
    evidence = _Awaited(Reviews.evidence)
    accept = _Awaited(Reviews.accept)
    reject = _Awaited(Reviews.reject)
    undo = _Awaited(Reviews.undo)


class AsyncGoals(_Face):
    """Goals, awaited."""

    add = _Awaited(Goals.add)
    change = _Awaited(Goals.change)
    block = _Awaited(Goals.block)
    unblock = _Awaited(Goals.unblock)
    complete = _Awaited(Goals.complete)
    abandon = _Awaited(Goals.abandon)
    reopen = _Awaited(Goals.reopen)
    list = _Awaited(Goals.list)
    get = _Awaited(Goals.get)
    tree = _Awaited(Goals.tree)


class AsyncProcedures(_Face):
    """Procedures, awaited."""

    record = _Awaited(Procedures.record)
    finish = _Awaited(Procedures.finish)
    statistics = _Awaited(Procedures.statistics)
    find = _Awaited(Procedures.find)


class AsyncDossiers(_Face):
    """Dossiers, awaited."""

    get = _Awaited(Dossiers.get)
    ask = _Awaited(Dossiers.ask)
    drop = _Awaited(Dossiers.drop)
    questions = _Awaited(Dossiers.questions)
    answers = _Awaited(Dossiers.answers)
    list = _Awaited(Dossiers.list)
    refresh = _Awaited(Dossiers.refresh)


class AsyncNotebook(_Face):
    """A notebook, awaited."""

    scope = _Known[Scope](lambda notebook: notebook.scope)
    write = _Awaited(Notebook.write)
    delete = _Awaited(Notebook.delete)
    read = _Awaited(Notebook.read)
    history = _Awaited(Notebook.history)
    list = _Awaited(Notebook.list)
    sync = _Awaited(Notebook.sync)


class AsyncPlace(_Face):
    """A place, awaited."""

    viewer = _Known[Viewer](lambda place: place.viewer)
    grant = _Known[Grant](lambda place: place.grant)
    scope = _Known[Callable[[str | None], Scope]](lambda place: place.scope)
    observe = _Awaited(Place.observe)
    observe_many = _Awaited(Place.observe_many)
    remember = _Awaited(Place.remember)
    index = _Awaited(Place.index)
    set_fact = _Awaited(Place.set_fact)
    add_fact = _Awaited(Place.add_fact)
    recall = _Awaited(Place.recall)
    compose = _Awaited(Place.compose)
    before = _Awaited(Place.before)
    after = _Awaited(Place.after)
    compact = _Awaited(Place.compact)
    explain = _Awaited(Place.explain)
    recent = _Awaited(Place.recent)
    fact = _Awaited(Place.fact)
    facts = _Awaited(Place.facts)
    interpret = _Awaited(Place.interpret)
    entity = _Awaited(Place.entity)
    entities = _Awaited(Place.entities)
    reviews = _Entered(Place.reviews, AsyncReviews)
    goals = _Entered(Place.goals, AsyncGoals)
    dossiers = _Entered(Place.dossiers, AsyncDossiers)
    notebook = _Entered(Place.notebook, AsyncNotebook)
    procedures = _Entered(Place.procedures, AsyncProcedures)
    profile = _Awaited(Place.profile)
    sessions_knowing = _Awaited(Place.sessions_knowing)
    stale = _Awaited(Place.stale)
    episodes = _Awaited(Place.episodes)
    note = _Awaited(Place.note)
    notes = _Awaited(Place.notes)
    drop_note = _Awaited(Place.drop_note)
    think = _Awaited(Place.think)
    thoughts = _Awaited(Place.thoughts)
    set_goal = _Awaited(Place.set_goal)
    goal = _Awaited(Place.goal)
    window = _Awaited(Place.window)
    get = _Awaited(Place.get)
    strength = _Awaited(Place.strength)
    sources = _Awaited(Place.sources)
    share = _Awaited(Place.share)
    flush = _Awaited(Place.flush)
    progress = _Awaited(Place.progress)


class AsyncWorkspace(_Face):
    """A workspace, awaited."""

    id = _Known[WorkspaceId](lambda workspace: workspace.id)
    administrator = _Known[Grant](lambda workspace: workspace.administrator)
    room = _Entered(Workspace.room, AsyncPlace)
    dm = _Entered(Workspace.dm, AsyncPlace)
    session = _Entered(Workspace.session, AsyncPlace)
    place = _Entered(Workspace.place, AsyncPlace)
    forget = _Awaited(Workspace.forget)
    reviews = _Entered(Workspace.reviews, AsyncReviews)
    verify = _Awaited(Workspace.verify)
    audit = _Awaited(Workspace.audit)
    audit_after = _Awaited(Workspace.audit_after)
    verify_audit = _Awaited(Workspace.verify_audit)
    export_audit = _Awaited(Workspace.export_audit)
    rebuild = _Awaited(Workspace.rebuild)
    damage = _Awaited(Workspace.damage)
    learn_patterns = _Awaited(Workspace.learn_patterns)
    explain = _Awaited(Workspace.explain)
    learn_episodes = _Awaited(Workspace.learn_episodes)
    sessions_knowing = _Awaited(Workspace.sessions_knowing)
    stats = _Awaited(Workspace.stats)
    waiting = _Awaited(Workspace.waiting)
    retry = _Awaited(Workspace.retry)
    jobs = _Awaited(Workspace.jobs)
    run_job = _Awaited(Workspace.run_job)
    usage = _Awaited(Workspace.usage)
    quota = _Awaited(Workspace.quota)
    flush = _Awaited(Workspace.flush)
    export = _Awaited(Workspace.export)
    import_ = _Awaited(Workspace.import_)


class AsyncNexus(_Face):
    """One memory, awaited."""

    workspace = _Entered(Nexus.workspace, AsyncWorkspace)
    workspaces = _Awaited(Nexus.workspaces)
    wait = _Awaited(Nexus.wait)
    progress = _Awaited(Nexus.progress)
    reembed = _Awaited(Nexus.reembed)
    reembed_soon = _Awaited(Nexus.reembed_soon)
    shift = _Awaited(Nexus.shift)
    optimize = _Awaited(Nexus.optimize)
    metrics = _Awaited(Nexus.metrics)
    prometheus = _Awaited(Nexus.prometheus)

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Takes what `Nexus.open` takes."""
        threads = ThreadPoolExecutor(THREADS, thread_name_prefix="nexus")
        work = partial(Nexus.open, *args, **kwargs)
        return cls(await asyncio.get_running_loop().run_in_executor(threads, work), threads)

    async def close(self) -> None:
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, self._inner.close)
        self._threads.shutdown(wait=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.close()
