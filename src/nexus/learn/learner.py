"""The flow from events to memories: take work from the outbox, derive, embed, done.

Deriving comes before embedding, and each is written on its own: while an embedder is away,
what was said is already found by its words, and its vectors follow.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ..core.access import Grant
from ..core.derive import embedded_text
from ..core.errors import ConfigError, LeaseLost, NexusError, Unavailable
from ..core.heartbeat import HEARTBEAT
from ..core.ids import WorkspaceId
from ..core.leases import LOST, MOST_LOST
from ..core.protocols import Embedder, Floats, Store
from ..core.records import Draft, Memory, Stage, Task
from ..core.retries import Waits, kept_error
from ..core.telemetry import Telemetry
from .learning import Learning
from .passages import Indexing

if TYPE_CHECKING:
    from .drafting import Drafter
    from .one_pass import OnePass
    from .second_reading import Read, SecondReading

WAITS = Waits(timedelta(seconds=1), timedelta(minutes=5))
SUSPECT = 2  # attempts; what failed so often is done alone, so that it takes nothing along
MOST_ATTEMPTS = 8  # of what cannot be read; then somebody has to look at it
SMALL_BATCH = 64  # for somebody who waits
CATCH_UP_LIMIT = 512  # events a question waits for; what is beyond follows in the background

log = logging.getLogger(__name__)


class Learner:
    """Derives everything the store's outbox asks for."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        indexing: Indexing,
        learning: Learning,
        clock: Callable[[], datetime],
        *,
        make_one_pass: Callable[[], OnePass] | None = None,
        every_turn: bool = True,
        telemetry: Telemetry | None = None,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._indexing = indexing
        self._learning = learning
        self._clock = clock
        self._make_one_pass = make_one_pass  # None: no model reads what was said
        self._every_turn = every_turn  # False: it reads when somebody calls `flush`
        self._telemetry = telemetry or Telemetry()

    def run_once(self) -> int:
        """Do one batch of whatever is due, for anybody; returns how much that was."""
        limit = self._indexing.batch_size
        step = None if self._every_turn else Stage.INDEXED
        tasks = self._store.queue.claim(None, now=self._clock(), limit=limit, step=step)
        usual = [task for task in tasks if task.attempts < SUSPECT]
        for some in (usual, *([task] for task in tasks if task.attempts >= SUSPECT)):
            self._do(some)
        return len(tasks)

    def catch_up(self, grant: Grant) -> int:
        """Learn what was acknowledged in these scopes, so that a question sees it; how much it was.

        An embedder in this process takes part. For one far away nobody waits here: words are
        found at once, and vectors follow in the background; so does what a model reads.
        """
        done: set[str] = set()
        while len(done) < CATCH_UP_LIMIT:
            tasks = self._fresh(grant, done, failed=False, step=Stage.INDEXED)
            if not tasks:
                break
            done.update(task.event.id for task in tasks)
            if self._embedder.local:
                self._learn_meanwhile(tasks)
            else:
                with self._telemetry.doing("learn", events=len(tasks)):
                    self._derive(tasks)
        return len(done)

    def _learn_meanwhile(self, tasks: Sequence[Task]) -> None:
        """For a question that waits: what cannot be learned is put off, and it is answered."""
        try:
            self._learn(tasks)
        except Unavailable:
            raise
        except Exception as error:
            log.exception("could not be learned")
            self._do_apart(tasks, error)

    def flush(self, grant: Grant) -> int:
        """Learn everything in these scopes now; returns how much could not be.

        What a model failed at is not asked for again before its time: each time costs.
        """
        for step in (Stage.INDEXED, Stage.DERIVED):
            tried: set[str] = set()
            failed = step is Stage.INDEXED
            while tasks := self._fresh(grant, tried, failed=failed, step=step):
                tried.update(task.event.id for task in tasks)
                self._do(tasks)
        return self._store.queue.pending(grant)

    def _do(self, tasks: Sequence[Task]) -> None:
        """All of this that is still ours; what fails is put off, and holds nothing else up."""
        queue, left = self._store.queue, list(tasks)
        while left:
            leases = [task.lease for task in left if task.lease]
            try:
                with self._store.holding(leases), HEARTBEAT.during(partial(self._renew, left)):
                    self._learn(left)
                    self._summarize(left)
            except LeaseLost:  # somebody else did some of it meanwhile
                left = queue.renew(left, now=self._clock())
            except Unavailable:  # nothing can be done, and it is nobody's fault
                raise
            except Exception as error:
                log.exception("could not be learned")
                self._do_apart(left, error)
                return
            else:
                return

    def _do_apart(self, tasks: Sequence[Task], error: Exception) -> None:
        """One of these cannot be learned; which one shows when each is tried alone."""
        if len(tasks) == 1:
            self._put_off(tasks, f"cannot be learned: {error!r}", most=MOST_ATTEMPTS)
        for task in tasks if len(tasks) > 1 else ():
            self._do([task])

    def _renew(self, tasks: Sequence[Task]) -> None:
        leased = [task for task in tasks if task.lease]
        if leased:
            self._store.queue.renew(leased, now=self._clock())

    def _summarize(self, tasks: Sequence[Task]) -> None:
        """Keep the summaries of places up to date; for a question that waits, composing does."""
        if not tasks or not self._learning.facts:
            return
        from .summary import after_learning  # noqa: PLC0415  # the rules load with it

        after_learning(self._store, [task.event for task in tasks], now=self._clock())

    def _fresh(self, grant: Grant, known: set[str], *, failed: bool, step: Stage) -> list[Task]:
        limit = len(known) + SMALL_BATCH
        tasks = self._store.queue.claim(
            grant, now=self._clock(), limit=limit, leased=True, failed=failed, step=step
        )
        return [task for task in tasks if task.event.id not in known]

    def _learn(self, tasks: Sequence[Task]) -> None:
        if tasks:
            with self._telemetry.doing("learn", events=len(tasks)):
                self._learn_all(tasks)

    def _learn_all(self, tasks: Sequence[Task]) -> None:
        self._index([task for task in tasks if task.step is Stage.INDEXED])
        self._read_again([task for task in tasks if task.step is Stage.DERIVED])

    def _index(self, tasks: Sequence[Task]) -> None:
        """Passages, what the rules know, and vectors."""
        lost = [task for task in tasks if task.error == LOST and task.attempts >= MOST_LOST]
        if lost:
            self._fail(lost, LOST, None)
            tasks = [task for task in tasks if task not in lost]
        healthy, memories = self._derive(tasks)
        reached = Stage.INDEXED if self._make_one_pass else Stage.DERIVED
        if self._embedded(memories, healthy):
            self._store.queue.finish(healthy, reached=reached, now=self._clock())

    def _read_again(self, tasks: Sequence[Task]) -> None:
        """What a model adds; if it cannot, its step waits, and everything else is there."""
        second = self._second_reading
        if second is None:  # the model was switched off since
            self._store.queue.finish(tasks, reached=Stage.DERIVED, now=self._clock())
            return
        by_event = {(task.event.workspace, task.event.id): task for task in tasks}
        for read in second.read([task.event for task in tasks]):
            done = [by_event[event.workspace, event.id] for event in read.events]
            if read.error:
                self._wait_for_the_model(done, read.error)
            else:
                self._keep(read, done)

    def _keep(self, read: Read, done: Sequence[Task]) -> None:
        workspace = read.events[0].workspace
        kept = self._store.memories.put(workspace, read.drafts) if read.drafts else []
        if read.replaced:
            self._store.memories.delete(workspace, read.replaced)
        if self._embedded(kept, done):
            self._store.queue.finish(done, reached=Stage.DERIVED, now=self._clock())

    def _wait_for_the_model(self, tasks: Sequence[Task], error: NexusError) -> None:
        from .one_pass import next_try  # noqa: PLC0415  # there, because a model is

        now = self._clock()
        attempts = max(task.attempts for task in tasks)
        again = next_try(error, attempts, now)
        self._fail(tasks, str(error), again)

    def _derive(self, tasks: Sequence[Task]) -> tuple[list[Task], list[Memory]]:
        """Derive what can be; an event that cannot be read is put off alone."""
        by_event = {(task.event.workspace, task.event.id): task for task in tasks}
        healthy: list[Task] = []
        by_workspace: dict[WorkspaceId, list[Draft]] = defaultdict(list)
        for event, drafts in self._drafter.read([task.event for task in tasks]):
            task = by_event[event.workspace, event.id]
            if isinstance(drafts, Exception):
                self._put_off([task], f"cannot be read: {drafts!r}", most=MOST_ATTEMPTS)
            else:
                by_workspace[event.workspace] += drafts
                healthy.append(task)
        kept: list[Memory] = []
        for workspace, made in by_workspace.items():
            kept += self._store.memories.put(workspace, made) if made else []
        return healthy, kept

    @cached_property
    def _drafter(self) -> Drafter:
        return self.drafter_of(self._store)

    def drafter_of(self, store: Store) -> Drafter:
        """Who reads events by the rules, in this store."""
        from .drafting import Drafter  # noqa: PLC0415  # the rules load with the first event

        return Drafter(store, self._embedder, self._indexing, self._learning)

    @cached_property
    def _second_reading(self) -> SecondReading | None:
        if self._make_one_pass is None:
            return None
        from .second_reading import SecondReading  # noqa: PLC0415  # the rules load with it

        return SecondReading(self._store, self._drafter, self._make_one_pass())

    def _embedded(self, memories: Sequence[Memory], tasks: Sequence[Task]) -> bool:
        """Whether these have vectors now; if an embedder is away or refused, their work waits."""
        try:
            self._embed(memories)
        except (Unavailable, ConfigError) as error:
            if isinstance(error, ConfigError):
                log.warning("will be learned when this is settled: %s", error)
            self._put_off(tasks, str(error))
            return False
        return True

    def _embed(self, memories: Sequence[Memory]) -> None:
        memories = [memory for memory in memories if memory.indexed_text != ""]
        if not memories:
            return
        rows = self._embedder.embed([embedded_text(memory) for memory in memories])
        by_workspace: dict[WorkspaceId, dict[str, Floats]] = defaultdict(dict)
        for memory, row in zip(memories, rows, strict=True):
            if row.any():  # zeros: the text means nothing to this embedder
                by_workspace[memory.workspace][memory.id] = row
        for workspace, vectors in by_workspace.items():
            self._store.vectors.put(workspace, self._embedder.profile, vectors)

    def _put_off(self, tasks: Sequence[Task], error: str, *, most: int | None = None) -> None:
        """Try again later; but after so `most` attempts only when somebody says so."""
        if not tasks:
            return
        longest = max(task.attempts for task in tasks)
        dead = most is not None and longest + 1 >= most
        self._fail(tasks, error, None if dead else self._clock() + WAITS.after(longest))

    def _fail(self, tasks: Sequence[Task], error: str, again: datetime | None) -> None:
        self._store.queue.fail(tasks, error=kept_error(error), retry_at=again)
