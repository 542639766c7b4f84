"""Learner: claims tasks from the queue and runs the learning pipeline on them.

Memories are stored before they are embedded. So while an embedder does not answer, keyword search
finds new messages already, and their vectors follow.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from datetime import datetime
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..core.access import Grant, administrator_grant
from ..core.errors import LeaseLost, NexusError, Unavailable
from ..core.flows import feeds
from ..core.protocols.embedder import Embedder
from ..core.protocols.store import Store
from ..core.records import Stage, Task
from ..runtime.leases import HEARTBEAT
from ..telemetry.spans import Telemetry
from .extract.passages import IndexingSettings
from .settings import LearnSettings

if TYPE_CHECKING:  # the rules load with the first event
    from .flows import FlowStep
    from .model_pass.reader import ModelPass, ModelPassResult, ModelReader
    from .pipeline import BatchStep, EventPipeline, Extractor, TaskRetries

SUSPECT_ATTEMPTS = 2  # tasks that failed as often run alone, so that they delay no others
SMALL_BATCH = 64  # tasks claimed at a time while a caller waits
MAX_SOURCE_TASKS = 128  # tasks of a workspace that are looked at for places a query depends on
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
        tasks = self._store.queue.claim(
            administrator_grant(grant.workspace),
            now=self._clock(),
            limit=MAX_SOURCE_TASKS,
            leased=True,
            step=Stage.INDEXED,
        )
        wanted = [
            task
            for task in tasks
            if task.event.id not in done and feeds(task.event.scope, grant.scopes)
        ]
        if wanted:
            self._learn_before_query(wanted)
        return len(wanted)

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
        for step in (Stage.INDEXED, Stage.DERIVED):
            tried: set[str] = set()
            failed = step is Stage.INDEXED
            while tasks := self._claim_new_tasks(grant, tried, failed=failed, step=step):
                tried.update(task.event.id for task in tasks)
                self._process_tasks(tasks)
        return self._store.queue.count_pending(grant)

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
        BatchWork(self._pipeline, self._clock, tasks, reached).run(steps)

    def _run_model_pass(self, tasks: Sequence[Task]) -> None:
        """Add what a model reads; if the model fails, only this stage is retried later."""
        if not tasks:
            return
        model_pass = self._model_pass
        if model_pass is None:  # the model was switched off since
            self._store.queue.finish(tasks, reached=Stage.DERIVED, now=self._clock())
            return
        by_event = {(task.event.workspace, task.event.id): task for task in tasks}
        for result in model_pass.process_events([task.event for task in tasks]):
            done = [by_event[event.workspace, event.id] for event in result.events]
            if result.error:
                self._retry_model_later(done, result.error)
            else:
                self._store_result(result, done)

    def _store_result(self, result: ModelPassResult, tasks: Sequence[Task]) -> None:
        from .pipeline import MODEL_STEPS, BatchWork  # see `_run_batch`

        workspace = result.events[0].workspace
        work = BatchWork(self._pipeline, self._clock, tasks, Stage.DERIVED)
        work.drafts[workspace] += result.drafts
        if result.replaced_ids:
            work.replaced_ids[workspace] = result.replaced_ids
        work.run(MODEL_STEPS)

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
