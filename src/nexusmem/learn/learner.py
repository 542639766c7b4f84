"""Learner: claims tasks from the queue and runs the learning pipeline on them.

Memories are stored before they are embedded. So while an embedder does not answer, keyword search
finds new messages already, and their vectors follow.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..core.access import Grant, administrator_grant
from ..core.errors import LeaseLost, NexusError, Unavailable
from ..core.flows import FLOW_SCOPES, TARGET_KINDS, FlowRule, feeds
from ..core.ids import WorkspaceId
from ..core.protocols.embedder import Embedder
from ..core.protocols.queue import BatchWait
from ..core.protocols.store import Store
from ..core.records import Event, EventKind, Stage, Task
from ..core.records.event import PROJECT_KEY, participants_of
from ..core.records.memory import is_copy
from ..core.scope import Scope, ScopeKind
from ..runtime.leases import HEARTBEAT, MAX_RENEWAL_SECONDS
from ..telemetry.spans import Telemetry
from .extract.passages import IndexingSettings
from .settings import LearnSettings

if TYPE_CHECKING:  # the rules load with the first event
    from .flows import FlowStep
    from .model_pass.reader import ModelPass, ModelPassResult, ModelReader
    from .pipeline import BatchStep, BatchWork, EventPipeline, Extractor, TaskRetries

SUSPECT_ATTEMPTS = 2  # tasks that failed as often run alone, so that they delay no others
SMALL_BATCH = 64  # tasks claimed at a time while a caller waits
MAX_SOURCE_TASKS = 128  # tasks of other places that a query waits for
MAX_ROOM_TASKS = 8_192  # tasks that are looked at to find them; others are in unrelated rooms
PAGE_GROWTH = 4
MAX_NEW_EVENTS = 256  # events since the start of a batch; with more, all copies are checked
POLL_SECONDS = 0.05  # between looks at tasks that another worker reads with the model
CATCH_UP_LIMIT = 512  # events that a query waits for; the worker learns the rest

log = logging.getLogger(__name__)


class Learner:
    """Derives memories from the events in a store's queue."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        indexing: IndexingSettings,
        settings: LearnSettings,
        clock: Callable[[], datetime],
        *,
        make_model_reader: Callable[[], ModelReader] | None = None,
        every_turn: bool = True,
        batch_wait: BatchWait | None = None,
        extractors: Sequence[Extractor] = (),
        make_flows: Callable[[Store], FlowStep] | None = None,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._indexing = indexing
        self._settings = settings
        self._clock = clock
        self._make_model_reader = make_model_reader  # None: no model reads messages
        self._every_turn = every_turn  # False: the model reads only during `flush`
        self._batch_wait = batch_wait  # of messages for the model; None: each is read at once
        self._extractors = tuple(extractors)  # plug-ins, run after the rules
        self._make_flows = make_flows  # None: memories stay where they were said
        self._telemetry = telemetry or Telemetry()

    @cached_property
    def _retries(self) -> TaskRetries:
        from .pipeline import TaskRetries  # the rules load with the first event

        return TaskRetries(self._store, self._clock)

    def run_once(self) -> int:
        """Process one batch of due tasks of all workspaces; return the number of tasks."""
        limit = self._indexing.batch_size
        step = None if self._every_turn else Stage.INDEXED
        tasks = self._store.queue.claim(None, now=self._clock(), limit=limit, step=step)
        usual = [task for task in tasks if task.attempts < SUSPECT_ATTEMPTS]
        for batch in (usual, *([task] for task in tasks if task.attempts >= SUSPECT_ATTEMPTS)):
            self._process_tasks(batch)
        return len(tasks)

    def catch_up(self, grant: Grant) -> int:
        """Learn pending events of these scopes before a query; return the number of events.

        A local embedder embeds them now. A query does not wait for a remote embedder or for a
        model: keyword search finds the events, and the worker does the rest.
        """
        done: set[str] = set()
        while len(done) < CATCH_UP_LIMIT:
            tasks = self._claim_new_tasks(grant, done, failed=False, step=Stage.INDEXED)
            if not tasks:
                break
            done.update(task.event.id for task in tasks)
            self._learn_before_query(tasks)
        return len(done) + self._catch_up_sources(grant, done)

    def _catch_up_sources(self, grant: Grant, done: set[str]) -> int:
        """Learn pending events of places from which knowledge flows to this grant.

        Without it, a session would not know what was said in another one a moment ago.
        """
        if grant.everything:
            return 0
        wanted = [task for task in self._find_source_tasks(grant) if task.event.id not in done]
        if wanted:
            self._learn_before_query(wanted)
        return len(wanted)

    def _find_source_tasks(self, grant: Grant) -> list[Task]:
        """Return the first tasks of places from which knowledge flows to this grant.

        What a reader finds must not depend on how much is pending elsewhere. So the queue leaves
        out other private places, and this method leaves out rooms of which nothing concerns the
        reader. The tasks of a chosen room are all learned: later messages build on earlier ones.
        """
        limit = MAX_SOURCE_TASKS
        while True:
            tasks = self._store.queue.claim(
                administrator_grant(grant.workspace),
                now=self._clock(),
                limit=limit,
                leased=True,
                step=Stage.INDEXED,
                in_scope=lambda scope: feeds(scope, grant.scopes),
            )
            places = {each.event.scope for each in tasks if _concerns(each.event, grant.scopes)}
            wanted = [task for task in tasks if task.event.scope in places]
            is_last_page = len(tasks) < limit or limit >= MAX_ROOM_TASKS
            if is_last_page or len(wanted) >= MAX_SOURCE_TASKS:
                return wanted[:MAX_SOURCE_TASKS]
            limit *= PAGE_GROWTH

    def _learn_before_query(self, tasks: Sequence[Task]) -> None:
        if self._embedder.is_local:
            self._learn_for_query(tasks)
        else:
            self._learn_keywords(tasks)

    def _learn_for_query(self, tasks: Sequence[Task]) -> None:
        """Learn tasks for a waiting query; failed tasks are retried later."""
        try:
            self._learn_tasks(tasks)
        except Unavailable:
            raise
        except Exception as error:
            log.exception("learning failed for %d tasks", len(tasks))
            self._process_one_by_one(tasks, error)

    def _learn_keywords(self, tasks: Sequence[Task]) -> None:
        """Store the memories without vectors; the tasks stay in the queue."""
        from .pipeline import KEYWORD_STEPS  # the rules load with the first event

        with self._telemetry.operation("learn", events=len(tasks)):
            self._run_batch(tasks, KEYWORD_STEPS)

    def flush(self, grant: Grant) -> int:
        """Learn all pending events of these scopes; return the number that could not be learned.

        A model that failed is not called again before its retry time: each call costs money.
        """
        tried: set[str] = set()
        while tasks := self._claim_new_tasks(grant, tried, failed=True, step=Stage.INDEXED):
            tried.update(task.event.id for task in tasks)
            self._process_tasks(tasks)
        self._flush_model_pass(grant)
        return self._store.queue.count_pending(grant)

    def _flush_model_pass(self, grant: Grant) -> None:
        """Read pending messages with the model, each by one worker: a second call costs again.

        Wait for messages that another worker is reading.
        """
        queue, step = self._store.queue, Stage.DERIVED
        ends_at = time.monotonic() + MAX_RENEWAL_SECONDS
        while time.monotonic() < ends_at:
            if tasks := queue.claim(grant, now=self._clock(), limit=SMALL_BATCH, step=step):
                self._process_tasks(tasks)
                ends_at = time.monotonic() + MAX_RENEWAL_SECONDS
            elif queue.claim(grant, now=self._clock(), limit=1, leased=True, step=step):
                time.sleep(POLL_SECONDS)
            else:
                return

    def _process_tasks(self, tasks: Sequence[Task]) -> None:
        """Learn tasks while their leases hold; a failing task does not delay the others."""
        queue, left = self._store.queue, list(tasks)
        while left:
            leases = [task.lease for task in left if task.lease]
            try:
                with (
                    self._store.with_leases(leases),
                    HEARTBEAT.keep_renewing(partial(self._renew_leases, left)),
                ):
                    self._learn_tasks(left)
                    self._update_summaries(left)
            except LeaseLost:  # another worker took some of the tasks
                left = queue.renew(left, now=self._clock())
            except Unavailable:  # the store does not answer: no task is at fault
                raise
            except Exception as error:
                log.exception("learning failed for %d tasks", len(left))
                self._process_one_by_one(left, error)
                return
            else:
                return

    def _process_one_by_one(self, tasks: Sequence[Task], error: Exception) -> None:
        """Run each task alone to find the one that fails; a single task is retried later."""
        if len(tasks) == 1:
            message = f"cannot be learned: {error!r}"
            from .pipeline import MAX_ATTEMPTS  # the rules load with the first event

            self._retries.retry_later(tasks, message, max_attempts=MAX_ATTEMPTS)
        for task in tasks if len(tasks) > 1 else ():
            self._process_tasks([task])

    def _renew_leases(self, tasks: Sequence[Task]) -> None:
        leased = [task for task in tasks if task.lease]
        if leased:
            self._store.queue.renew(leased, now=self._clock())

    def _update_summaries(self, tasks: Sequence[Task]) -> None:
        """Update conversation summaries; `catch_up` leaves that to the composer."""
        if not tasks or not self._settings.extract_facts:
            return
        from .summary import update_summaries  # the rules load with it

        update_summaries(self._store, [task.event for task in tasks], now=self._clock())

    def _claim_new_tasks(
        self, grant: Grant, seen_ids: set[str], *, failed: bool, step: Stage
    ) -> list[Task]:
        limit = len(seen_ids) + SMALL_BATCH
        tasks = self._store.queue.claim(
            grant, now=self._clock(), limit=limit, leased=True, failed=failed, step=step
        )
        return [task for task in tasks if task.event.id not in seen_ids]

    def _learn_tasks(self, tasks: Sequence[Task]) -> None:
        if not tasks:
            return
        from .pipeline import BATCH_STEPS  # the rules load with the first event

        with self._telemetry.operation("learn", events=len(tasks)):
            self._run_batch([task for task in tasks if task.step is Stage.INDEXED], BATCH_STEPS)
            self._run_model_pass([task for task in tasks if task.step is Stage.DERIVED])

    def _run_batch(self, tasks: Sequence[Task], steps: Sequence[BatchStep]) -> None:
        from .pipeline import BatchWork  # the rules load with the first event

        reached = Stage.INDEXED if self._make_model_reader else Stage.DERIVED
        ends = _read_ledger_ends(self._store, tasks)
        work = BatchWork(self._pipeline, self._clock, tasks, reached, self._batch_wait)
        _run_checked(work, steps, ends)

    def _run_model_pass(self, tasks: Sequence[Task]) -> None:
        """Add what a model reads; if the model fails, only this stage is retried later."""
        if not tasks:
            return
        model_pass = self._model_pass
        if model_pass is None:  # the model was switched off since
            self._store.queue.finish(tasks, reached=Stage.DERIVED, now=self._clock())
            return
        by_event = {(task.event.workspace, task.event.id): task for task in tasks}
        ends = _read_ledger_ends(self._store, tasks)
        for result in model_pass.process_events([task.event for task in tasks]):
            done = [by_event[event.workspace, event.id] for event in result.events]
            if result.error:
                self._retry_model_later(done, result.error)
            else:
                self._try_to_store(result, done, ends)

    def _try_to_store(
        self, result: ModelPassResult, tasks: Sequence[Task], ends: Mapping[WorkspaceId, int]
    ) -> None:
        """Store the results of one call; a failure repeats neither this call nor the others.

        The tasks are retried later with the same batch, which has an answer already.
        """
        from .pipeline import MAX_ATTEMPTS  # see `_run_batch`

        try:
            self._store_result(result, tasks, ends)
        except (LeaseLost, Unavailable):
            raise
        except Exception as error:
            log.exception("the results of a model were not stored for %d tasks", len(tasks))
            message = f"cannot be stored: {error!r}"
            self._retries.retry_later(tasks, message, max_attempts=MAX_ATTEMPTS)

    def _store_result(
        self, result: ModelPassResult, tasks: Sequence[Task], ends: Mapping[WorkspaceId, int]
    ) -> None:
        from .pipeline import MODEL_STEPS, BatchWork  # see `_run_batch`

        workspace = result.events[0].workspace
        work = BatchWork(self._pipeline, self._clock, tasks, Stage.DERIVED)
        work.drafts[workspace] += result.drafts
        if result.replaced_ids:
            work.replaced_ids[workspace] = result.replaced_ids
        _run_checked(work, MODEL_STEPS, {workspace: ends[workspace]})

    def _retry_model_later(self, tasks: Sequence[Task], error: NexusError) -> None:
        from .model_pass.reader import next_retry_time  # only with a model

        attempts = max(task.attempts for task in tasks)
        self._retries.fail(tasks, str(error), next_retry_time(error, attempts, self._clock()))

    @cached_property
    def _pipeline(self) -> EventPipeline:
        return self.make_pipeline(self._store)

    def make_pipeline(self, store: Store) -> EventPipeline:
        """Return the pipeline from events to drafts for a store."""
        from .pipeline import EventPipeline  # the rules load with the first event

        return EventPipeline(
            store,
            self._embedder,
            self._indexing,
            self._settings,
            self._extractors,
            self._make_flows(store) if self._make_flows else None,
        )

    @cached_property
    def _model_pass(self) -> ModelPass | None:
        if self._make_model_reader is None:
            return None
        from .model_pass.reader import ModelPass  # the rules load with it

        return ModelPass(self._store, self._pipeline, self._make_model_reader())


def _concerns(event: Event, reader: frozenset[Scope]) -> bool:
    """Return whether an event of a place that feeds a reader may change what the reader knows."""
    if event.scope.kind is not ScopeKind.ROOM or event.kind is EventKind.CONFIDENTIAL:
        return True
    named: dict[FlowRule, Sequence[object]] = {
        FlowRule.PROFILE: [event.speaker],
        FlowRule.PROJECT: [event.metadata.get(PROJECT_KEY)],
        FlowRule.ROOMS: participants_of(event),
    }
    return any(
        FLOW_SCOPES[rule] in reader and scope.kind is TARGET_KINDS[rule] and scope.ids[0] in names
        for rule, names in named.items()
        for scope in reader
    )


# -- copies of messages that are withdrawn meanwhile


def _read_ledger_ends(store: Store, tasks: Sequence[Task]) -> dict[WorkspaceId, int]:
    """Return the number of the last event of each workspace."""
    spaces = dict.fromkeys(task.event.workspace for task in tasks)
    return {
        each: store.ledger.events_since(administrator_grant(each), limit=1)[1] for each in spaces
    }


def _run_checked(
    work: BatchWork, steps: Sequence[BatchStep], ends: Mapping[WorkspaceId, int]
) -> None:
    """Run the steps; check the copies of messages directly after they were stored.

    A caller may withdraw a message after its drafts were made. At that time there is no copy to
    erase yet, and a query learns without a lease that would make the caller wait. `ends` are the
    ends of the ledger before the drafts were made.
    """
    from .pipeline import store_drafts  # the rules load with the first event

    checked: list[BatchStep] = []
    for step in steps:
        checked.append(step)
        if step is store_drafts:
            checked.append(partial(_drop_withdrawn, ends=ends))
    work.run(checked)


def _drop_withdrawn(work: BatchWork, *, ends: Mapping[WorkspaceId, int]) -> None:
    """Erase copies of withdrawn messages, and leave them out of the following steps."""
    flows = work.pipeline.flows
    if flows is None:
        return
    for workspace, end in ends.items():
        ids = [task.event.id for task in work.tasks if task.event.workspace == workspace]
        suspects = _find_suspects(work, flows.store, workspace, ids, end)
        withdrawn = withdraw_late_copies(flows, workspace, suspects, work.clock())
        if withdrawn:
            work.memories = [
                each
                for each in work.memories
                if each.workspace != workspace
                or not is_copy(each)
                or withdrawn.isdisjoint(each.sources)
            ]


def _find_suspects(
    work: BatchWork, store: Store, workspace: WorkspaceId, ids: Sequence[str], end: int
) -> set[str]:
    """Return the copied events that may be withdrawn: to ask for all of them would be slow.

    Either their place has new events since `end`, or they have copies that this run did not make:
    a run that crashed may have left them.
    """
    derived = store.eraser.list_derived(workspace, list(ids)) if ids else []
    copies = [memory for memory in derived if is_copy(memory)]
    if not copies:
        return set()
    put = {memory.id for memory in work.memories}
    suspects = {id for memory in copies if memory.id not in put for id in memory.sources}
    everything = administrator_grant(workspace)
    news, _ = store.ledger.events_since(everything, after=end, limit=MAX_NEW_EVENTS)
    if news:
        sources = sorted({id for memory in copies for id in memory.sources} - suspects)
        changed = {event.scope for event in news}
        is_full = len(news) >= MAX_NEW_EVENTS
        copied = store.ledger.get(everything, sources)
        suspects |= {event.id for event in copied if is_full or event.scope in changed}
    return suspects


def withdraw_late_copies(
    flows: FlowStep, workspace: WorkspaceId, events: Iterable[str], now: datetime
) -> set[str]:
    """Erase the copies of those of these events that were withdrawn; return their ids.

    Call it after a write of copies. A withdrawal is an event: either it is in the ledger by now,
    or it comes later and finds the copies itself.
    """
    from .flows import is_withdrawn, withdraw_copies  # the rules load with the first event

    store, ids = flows.store, sorted(events)
    copied = store.ledger.get(administrator_grant(workspace), ids) if ids else []
    withdrawn = {each.id for each in copied if is_withdrawn(store, each, flows.classifier)}
    if withdrawn:
        withdraw_copies(store, workspace, sorted(withdrawn), now)
    return withdrawn
