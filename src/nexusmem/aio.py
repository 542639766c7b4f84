"""AsyncNexus, AsyncWorkspace, AsyncPlace: the synchronous classes, run in a thread pool.

There is one implementation, and it is synchronous, because SQLite is. Each awaited call runs in
one thread of the pool. Decision record 0001 has the measurements.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from types import TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar

from .client import Nexus
from .core.access import Grant, Viewer
from .core.flows import Sharing
from .core.ids import WorkspaceId
from .core.scope import Scope
from .place.dossiers import Dossiers
from .place.goals import Goals
from .place.notebook import Notebook
from .place.place import Place
from .place.procedures import Procedures
from .place.reviews import Reviews
from .workspace import Workspace

MAX_THREADS = 64  # concurrent calls; further calls wait

P = ParamSpec("P")
R = TypeVar("R")


class _AsyncWrapper:
    """A synchronous object, and the thread pool its methods run in."""

    def __init__(self, wrapped: Any, threads: ThreadPoolExecutor) -> None:
        self._wrapped = wrapped
        self._threads = threads

    def __repr__(self) -> str:
        return f"Async{self._wrapped!r}"


class _AsyncMethod(Generic[P, R]):
    """Descriptor: a synchronous method as an awaitable one."""

    def __init__(self, method: Callable[Concatenate[Any, P], R]) -> None:
        self._method = method

    def __get__(
        self, wrapper: _AsyncWrapper, owner: type[_AsyncWrapper]
    ) -> Callable[P, Awaitable[R]]:
        def call_in_thread(*args: P.args, **kwargs: P.kwargs) -> Awaitable[R]:
            context = copy_context()  # the caller's trace continues in the thread
            work = partial(context.run, self._method, wrapper._wrapped, *args, **kwargs)  # noqa: SLF001
            return asyncio.get_running_loop().run_in_executor(wrapper._threads, work)  # noqa: SLF001

        return call_in_thread


class _WrapperMethod(Generic[P, R]):
    """Descriptor: a method that returns another wrapper, without awaiting."""

    def __init__(self, method: Callable[Concatenate[Any, P], Any], wrapper_class: type[R]) -> None:
        self._method = method
        self._wrapper_class = wrapper_class

    def __get__(self, wrapper: _AsyncWrapper, owner: type[_AsyncWrapper]) -> Callable[P, R]:
        def call_and_wrap(*args: P.args, **kwargs: P.kwargs) -> R:
            inner = self._method(wrapper._wrapped, *args, **kwargs)  # noqa: SLF001
            make: Callable[[Any, ThreadPoolExecutor], R] = self._wrapper_class
            return make(inner, wrapper._threads)  # noqa: SLF001

        return call_and_wrap


class _WrapperAttribute(Generic[R]):
    """Descriptor: an attribute of the synchronous object, in its asynchronous class."""

    def __init__(self, read: Callable[[Any], Any], wrapper_class: type[R]) -> None:
        self._read = read
        self._wrapper_class = wrapper_class

    def __get__(self, wrapper: _AsyncWrapper, owner: type[_AsyncWrapper]) -> R:
        make: Callable[[Any, ThreadPoolExecutor], R] = self._wrapper_class
        return make(self._read(wrapper._wrapped), wrapper._threads)  # noqa: SLF001


class _SyncAttribute(Generic[R]):
    """Descriptor: an attribute that needs no input or output, read without awaiting."""

    def __init__(self, read: Callable[[Any], R]) -> None:
        self._read = read

    def __get__(self, wrapper: _AsyncWrapper, owner: type[_AsyncWrapper]) -> R:
        return self._read(wrapper._wrapped)  # noqa: SLF001


class AsyncReviews(_AsyncWrapper):
    """Asynchronous `Reviews`."""

    list = _AsyncMethod(Reviews.list)
    get = _AsyncMethod(Reviews.get)
    evidence = _AsyncMethod(Reviews.evidence)
    accept = _AsyncMethod(Reviews.accept)
    reject = _AsyncMethod(Reviews.reject)
    undo = _AsyncMethod(Reviews.undo)


class AsyncGoals(_AsyncWrapper):
    """Asynchronous `Goals`."""

    add = _AsyncMethod(Goals.add)
    update = _AsyncMethod(Goals.update)
    block = _AsyncMethod(Goals.block)
    unblock = _AsyncMethod(Goals.unblock)
    complete = _AsyncMethod(Goals.complete)
    cancel = _AsyncMethod(Goals.cancel)
    reopen = _AsyncMethod(Goals.reopen)
    list = _AsyncMethod(Goals.list)
    get = _AsyncMethod(Goals.get)
    tree = _AsyncMethod(Goals.tree)


class AsyncProcedures(_AsyncWrapper):
    """Asynchronous `Procedures`."""

    record = _AsyncMethod(Procedures.record)
    finish = _AsyncMethod(Procedures.finish)
    statistics = _AsyncMethod(Procedures.statistics)
    find = _AsyncMethod(Procedures.find)


class AsyncDossiers(_AsyncWrapper):
    """Asynchronous `Dossiers`."""

    get = _AsyncMethod(Dossiers.get)
    history = _AsyncMethod(Dossiers.history)
    add_question = _AsyncMethod(Dossiers.add_question)
    remove_question = _AsyncMethod(Dossiers.remove_question)
    questions = _AsyncMethod(Dossiers.questions)
    answers = _AsyncMethod(Dossiers.answers)
    list = _AsyncMethod(Dossiers.list)
    refresh = _AsyncMethod(Dossiers.refresh)


class AsyncNotebook(_AsyncWrapper):
    """Asynchronous `Notebook`."""

    scope = _SyncAttribute[Scope](lambda notebook: notebook.scope)
    in_scope: _WrapperMethod[[str], AsyncNotebook]
    write = _AsyncMethod(Notebook.write)
    delete = _AsyncMethod(Notebook.delete)
    read = _AsyncMethod(Notebook.read)
    history = _AsyncMethod(Notebook.history)
    list = _AsyncMethod(Notebook.list)
    sync = _AsyncMethod(Notebook.sync)


AsyncNotebook.in_scope = _WrapperMethod(Notebook.in_scope, AsyncNotebook)


class AsyncPlace(_AsyncWrapper):
    """Asynchronous `Place`: the same methods, awaited; `goals`, `notebook` … are properties."""

    viewer = _SyncAttribute[Viewer](lambda place: place.viewer)
    grant = _SyncAttribute[Grant](lambda place: place.grant)
    scope = _SyncAttribute[Callable[[str | None], Scope]](lambda place: place.scope)
    observe = _AsyncMethod(Place.observe)
    observe_many = _AsyncMethod(Place.observe_many)
    remember = _AsyncMethod(Place.remember)
    add_document = _AsyncMethod(Place.add_document)
    set_value = _AsyncMethod(Place.set_value)
    add_fact = _AsyncMethod(Place.add_fact)
    upsert_entity = _AsyncMethod(Place.upsert_entity)
    recall = _AsyncMethod(Place.recall)
    compose = _AsyncMethod(Place.compose)
    context_for = _AsyncMethod(Place.context_for)
    record = _AsyncMethod(Place.record)
    compact = _AsyncMethod(Place.compact)
    explain = _AsyncMethod(Place.explain)
    recent = _AsyncMethod(Place.recent)
    get_value = _AsyncMethod(Place.get_value)
    facts = _AsyncMethod(Place.facts)
    fact_timeline = _AsyncMethod(Place.fact_timeline)
    fact_timelines = _AsyncMethod(Place.fact_timelines)
    entity = _AsyncMethod(Place.entity)
    entities = _AsyncMethod(Place.entities)
    find_entities = _AsyncMethod(Place.find_entities)
    neighbourhood = _AsyncMethod(Place.neighbourhood)
    reviews = _WrapperAttribute(lambda place: place.reviews, AsyncReviews)
    goals = _WrapperAttribute(lambda place: place.goals, AsyncGoals)
    dossiers = _WrapperAttribute(lambda place: place.dossiers, AsyncDossiers)
    notebook = _WrapperAttribute(lambda place: place.notebook, AsyncNotebook)
    procedures = _WrapperAttribute(lambda place: place.procedures, AsyncProcedures)
    profile = _AsyncMethod(Place.profile)
    find_sessions = _AsyncMethod(Place.find_sessions)
    outdated_facts = _AsyncMethod(Place.outdated_facts)
    episodes = _AsyncMethod(Place.episodes)
    set_note = _AsyncMethod(Place.set_note)
    notes = _AsyncMethod(Place.notes)
    delete_note = _AsyncMethod(Place.delete_note)
    add_thought = _AsyncMethod(Place.add_thought)
    thoughts = _AsyncMethod(Place.thoughts)
    set_active_goal = _AsyncMethod(Place.set_active_goal)
    active_goal = _AsyncMethod(Place.active_goal)
    window = _AsyncMethod(Place.window)
    layer = _AsyncMethod(Place.layer)
    memories = _AsyncMethod(Place.memories)
    get = _AsyncMethod(Place.get)
    history = _AsyncMethod(Place.history)
    correct = _AsyncMethod(Place.correct)
    forget = _AsyncMethod(Place.forget)
    landmarks = _AsyncMethod(Place.landmarks)
    strength = _AsyncMethod(Place.strength)
    source_events = _AsyncMethod(Place.source_events)
    why_visible = _AsyncMethod(Place.why_visible)
    mark_confidential = _AsyncMethod(Place.mark_confidential)
    share = _AsyncMethod(Place.share)
    flush = _AsyncMethod(Place.flush)
    progress = _AsyncMethod(Place.progress)


class AsyncWorkspace(_AsyncWrapper):
    """Asynchronous `Workspace`."""

    id = _SyncAttribute[WorkspaceId](lambda workspace: workspace.id)
    admin_grant = _SyncAttribute[Grant](lambda workspace: workspace.admin_grant)
    sharing = _SyncAttribute[Sharing](lambda workspace: workspace.sharing)
    user = _WrapperMethod(Workspace.user, AsyncPlace)
    room = _WrapperMethod(Workspace.room, AsyncPlace)
    dm = _WrapperMethod(Workspace.dm, AsyncPlace)
    session = _WrapperMethod(Workspace.session, AsyncPlace)
    place = _WrapperMethod(Workspace.place, AsyncPlace)
    forget = _AsyncMethod(Workspace.forget)
    reviews = _WrapperAttribute(lambda workspace: workspace.reviews, AsyncReviews)
    verify = _AsyncMethod(Workspace.verify)
    audit = _AsyncMethod(Workspace.audit)
    audit_since = _AsyncMethod(Workspace.audit_since)
    verify_audit = _AsyncMethod(Workspace.verify_audit)
    export_audit = _AsyncMethod(Workspace.export_audit)
    rebuild = _AsyncMethod(Workspace.rebuild)
    apply_flows = _AsyncMethod(Workspace.apply_flows)
    check_indexes = _AsyncMethod(Workspace.check_indexes)
    refresh_habits = _AsyncMethod(Workspace.refresh_habits)
    explain = _AsyncMethod(Workspace.explain)
    refresh_episodes = _AsyncMethod(Workspace.refresh_episodes)
    find_sessions = _AsyncMethod(Workspace.find_sessions)
    stats = _AsyncMethod(Workspace.stats)
    pending_work = _AsyncMethod(Workspace.pending_work)
    retry = _AsyncMethod(Workspace.retry)
    jobs = _AsyncMethod(Workspace.jobs)
    run_job = _AsyncMethod(Workspace.run_job)
    usage = _AsyncMethod(Workspace.usage)
    quota = _AsyncMethod(Workspace.quota)
    flush = _AsyncMethod(Workspace.flush)
    export = _AsyncMethod(Workspace.export)
    import_ = _AsyncMethod(Workspace.import_)


class AsyncNexus(_AsyncWrapper):
    """Asynchronous `Nexus`: `async with await AsyncNexus.open("memory.db") as nexus`."""

    user = _WrapperMethod(Nexus.user, AsyncPlace)
    workspace = _WrapperMethod(Nexus.workspace, AsyncWorkspace)
    workspaces = _AsyncMethod(Nexus.workspaces)
    wait = _AsyncMethod(Nexus.wait)
    progress = _AsyncMethod(Nexus.progress)
    reembed = _AsyncMethod(Nexus.reembed)
    schedule_reembed = _AsyncMethod(Nexus.schedule_reembed)
    worker = _AsyncMethod(Nexus.worker)
    optimize = _AsyncMethod(Nexus.optimize)
    metrics = _AsyncMethod(Nexus.metrics)
    prometheus = _AsyncMethod(Nexus.prometheus)

    @classmethod
    async def open(cls, *args: Any, **kwargs: Any) -> Self:
        """Open a store; takes the arguments of `Nexus.open`."""
        threads = ThreadPoolExecutor(MAX_THREADS, thread_name_prefix="nexus")
        work = partial(Nexus.open, *args, **kwargs)
        return cls(await asyncio.get_running_loop().run_in_executor(threads, work), threads)

    async def close(self) -> None:
        """Close the store and stop the thread pool."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._threads, self._wrapped.close)
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
