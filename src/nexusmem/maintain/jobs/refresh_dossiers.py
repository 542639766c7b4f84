"""Job that refreshes dossiers and answers to standing questions.

Each dossier is rebuilt from its own label, which is everything its author could read
(`core.records.dossiers`). A dossier that no viewer opened for a long time is refreshed on its next
read instead.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from ...audit.records import worker_entry
from ...core.access import Grant, administrator_grant
from ...core.canonical import format_time, parse_time
from ...core.errors import Unavailable
from ...core.filters import And, Condition, Filter, Not, Op
from ...core.ids import WorkspaceId
from ...core.protocols.jobs import JobStep, Json
from ...core.protocols.store import Store
from ...core.records import Memory
from ...core.records.dossiers import REACH_KEY
from ...recall.search import Ranking
from ..dossier_builder import IS_DOSSIER, DossierBuilder, subject_of
from ..dossiers import VERSION_SOURCE, Narrate, model_input

if TYPE_CHECKING:
    from ...learn.episodes import ModelSummarizer

JOB = "dossiers"
BATCH_SIZE = 10  # checked per step, about a tenth of a second
PAGE_SIZE = 500  # rows read per step: dossiers without new data need no check
MAX_KNOWN_EPOCHS = 100_000  # dossiers with a known unchanged epoch
RETRY_AFTER = timedelta(minutes=15)  # retry delay after a failed search

IS_CURRENT = And((IS_DOSSIER, Not(Condition("source", Op.EQ, VERSION_SOURCE))))

NarratorFactory = Callable[[], "ModelSummarizer | None"]


class DossierRefresher:
    """Refreshes the dossiers of all workspaces."""

    def __init__(
        self,
        store: Store,
        ranking: Ranking,
        narrator: NarratorFactory,
        *,
        idle: timedelta,
    ) -> None:
        self._store = store
        self._ranking = ranking
        self._narrator = narrator
        self._idle = idle
        self._fresh_epochs: dict[tuple[WorkspaceId, str], int] = {}  # the epoch of the last check

    def run_step(self, workspace: WorkspaceId, now: datetime, cursor: Json) -> JobStep:
        """Check the next dossiers, newest first. A rebuilt dossier is not checked again in
        the same run.
        """
        before, seen, away = cursor or (None, [], 0)
        page, passed = self._load_page(workspace, before, seen), 0
        did = Counter({"looked_at": 0, "made": 0, "dropped": 0})
        tried = away + BATCH_SIZE
        while passed < len(page) and did["looked_at"] + away < tried:
            try:
                did.update(self._refresh_if_stale(workspace, page[passed], now))
            except Unavailable:  # it cannot be refreshed further now
                away += 1
            passed += 1
        if passed < len(page) or passed == PAGE_SIZE:
            return JobStep(counts=did, cursor=[*_next_cursor(page[:passed], before, seen), away])
        return JobStep(counts=did, again_at=now + RETRY_AFTER if away else None)

    def _load_page(
        self, workspace: WorkspaceId, before: str | None, seen: Sequence[str]
    ) -> list[Memory]:
        where: Filter = IS_CURRENT
        if before is not None:
            where = And((IS_CURRENT, Condition("at", Op.LTE, parse_time(before))))
        everything, limit = administrator_grant(workspace), PAGE_SIZE + len(seen)
        found = self._store.memories.find(everything, where=where, limit=limit)
        return [memory for memory in found if memory.id not in seen][:PAGE_SIZE]

    def _refresh_if_stale(
        self, workspace: WorkspaceId, memory: Memory, now: datetime
    ) -> Counter[str]:
        """Rebuild a stale dossier. Skip it if nothing was written in its reach."""
        if REACH_KEY not in memory.body:  # a standing question
            return Counter()
        grant = administrator_grant(workspace).narrow_to(memory.label)
        epoch = self._store.epoch(grant)
        if self._fresh_epochs.get((workspace, memory.id)) == epoch:
            return Counter()
        looked_at = self._last_viewed(grant, memory)
        if now - looked_at > self._idle:
            return Counter()
        did = self._rebuild_dossier(grant, memory, now, looked_at)
        if not did:
            self._remember_epoch(workspace, memory, epoch)
        return did + Counter(looked_at=1)

    def _rebuild_dossier(
        self, grant: Grant, memory: Memory, now: datetime, looked_at: datetime
    ) -> Counter[str]:
        weaver, subject = self._make_builder(grant, memory, now), subject_of(memory)
        with self._store.with_audit_entry(
            grant.workspace, worker_entry(JOB, now, memory=memory.id)
        ):
            if subject.question_id and subject not in weaver.find_questions().values():
                weaver.delete([memory, *weaver.list_versions(subject)])
                return Counter(dropped=1)
            woven = weaver.build(weaver.make_request(subject, looked_at=looked_at), now=now)
        what = "made" if woven.memory else "dropped"
        return Counter({what: 1}) if woven.changed else Counter()

    def _last_viewed(self, grant: Grant, memory: Memory) -> datetime:
        """Return the time of the last view, as far as views were counted."""
        told = parse_time(memory.body["looked_at"])
        use = self._store.usage_counts.load_usage(grant, [memory.id]).get(memory.id)
        return max(told, use.last_at) if use and use.last_at else told

    def _make_builder(self, grant: Grant, memory: Memory, now: datetime) -> DossierBuilder:
        return DossierBuilder(
            store=self._store,
            ranking=self._ranking,
            grant=grant,
            home=memory.scope,
            narrate=self._make_narrate(grant.workspace, now),
            complete_only=True,
            required_memory=memory.id,
        )

    def _make_narrate(self, workspace: WorkspaceId, now: datetime) -> Narrate | None:
        """Return a function that writes the text with the episode model, charged to this
        workspace.
        """
        from ...learn.episodes.model_written import SummaryTurn  # the rules load with it

        narrator = self._narrator()
        if narrator is None:
            return None

        def narrate_memories(_name: str, memories: Sequence[Memory]) -> tuple[str, ...] | None:
            said, keep = model_input(memories)
            turns = [SummaryTurn(now, speaker, text) for speaker, text in said]
            return narrator.summarize(workspace, "session", turns, keep).sentences or None

        return narrate_memories

    def _remember_epoch(self, workspace: WorkspaceId, memory: Memory, epoch: int) -> None:
        if len(self._fresh_epochs) >= MAX_KNOWN_EPOCHS:
            self._fresh_epochs.clear()
        self._fresh_epochs[workspace, memory.id] = epoch


def _next_cursor(
    page: Sequence[Memory], before: str | None, seen: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the cursor of the next step and the ids already seen at its time."""
    last = page[-1].at
    told = format_time(last)
    return told, [*(seen if told == before else ()), *(m.id for m in page if m.at == last)]
